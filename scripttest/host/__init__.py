"""Runs test modules in worker processes."""
