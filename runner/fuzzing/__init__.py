"""`--fuzz`, and the inputs that fuzz tests have in every run."""
