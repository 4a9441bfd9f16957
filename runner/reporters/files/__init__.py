"""Reports in files, one module for each format."""
