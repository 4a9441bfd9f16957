"""`--watch`: runs again what depends on a file that was saved, until somebody ends it."""
