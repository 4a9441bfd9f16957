"""What came of a run: events, the one place that counts, stability, comparison, and results as JSON, both ways."""
