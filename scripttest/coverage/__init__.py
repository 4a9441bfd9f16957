"""`--coverage`: counters in handlers, and what they say. Nothing here is loaded by a run without it."""
