"""Runs test modules on workers."""
