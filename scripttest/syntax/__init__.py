"""Scripts read by a parser of TypeScript, and the counters of `--coverage`. A run that passes loads nothing of it."""
