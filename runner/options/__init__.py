"""The flags of a run: what each of them says, takes and means for other runs."""
