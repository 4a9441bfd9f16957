"""Case files: what they hold, how they are read, which cases run."""
