"""What this machine enforces, what is installed, and what is missing for each agent of an application."""
