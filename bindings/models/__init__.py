"""The models of an application on SQLite, as Yao runs them: definitions, tables, rows, and the query language."""
