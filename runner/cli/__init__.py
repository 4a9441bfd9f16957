"""The command line: flags and their readers, the other commands, errors as text, exit codes."""
