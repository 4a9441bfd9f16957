"""Worker processes from outside: messages, starting and ending them, modules and functions that run in them."""
