"""The record of a run: events, results, and the report that they make; written, read and counted."""
