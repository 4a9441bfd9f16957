"""The command line: flags and their readers, the commands beside the run, errors as text, exit codes."""
