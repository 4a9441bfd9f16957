"""What this machine enforces, what is installed, and what each agent of an application lacks."""
