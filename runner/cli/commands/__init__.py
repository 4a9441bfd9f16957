"""Commands other than the run itself. Each is a click command that returns its exit code."""
