"""What results are made of: a digest of each part, by its name, so that a later run knows which results still hold."""
