"""Connectors, which reach models: what a connector is (`base`), where it comes from (`load`), and one module for
each type."""
