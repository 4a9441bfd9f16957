"""Case files: their content, how they are read, which cases run."""
