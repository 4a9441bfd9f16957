"""What results depend on: a digest of each part, by its name, so that a later run knows which results are still
valid."""
