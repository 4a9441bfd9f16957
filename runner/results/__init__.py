"""The results of a run: events, the one place that counts, stability, comparison, and results as JSON, both ways."""
