"""What keeps secrets inside."""
