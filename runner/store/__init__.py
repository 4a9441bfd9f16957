"""Run history: a store of results, traces, fingerprints and labels in a folder, on SQLite."""
