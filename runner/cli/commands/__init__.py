"""Commands beside the run itself, each a click command that returns its exit code."""
