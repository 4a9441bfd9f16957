"""Kept answers of models: recordings of cases, and the journal of a run."""
