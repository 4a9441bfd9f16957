"""Results as JSON, and back: each `*_record` has a function that gives the same value again."""
