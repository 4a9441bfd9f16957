"""Shapes of JSON objects as classes: their fields, what is checked of them, and numbers that fit."""
