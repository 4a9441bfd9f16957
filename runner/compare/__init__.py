"""Two or more runs compared: what changed, and whether one is worse beyond the noise of its runs."""
