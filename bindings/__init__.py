"""What a script sees, and the host functions behind it."""
