"""How one case is run, a module a mode."""
