"""Controls worker processes: messages, start and end, and the modules and functions that run in them."""
