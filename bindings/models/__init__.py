"""Runs the models of an application on SQLite, as Yao does: definitions, tables, rows, and the query language."""
