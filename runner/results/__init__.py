"""The results of a run: its events, all counts, stability, comparison, and the conversion of results to JSON
and back."""
