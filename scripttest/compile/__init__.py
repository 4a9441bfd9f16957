"""From TypeScript to scripts that a realm can run, and which files may be read for it."""
