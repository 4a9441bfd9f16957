"""Runs one case: there is a module for each mode."""
