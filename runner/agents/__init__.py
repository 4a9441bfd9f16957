"""Agents that really run: an assistant's folder, its prompts, its hooks, its tools, and one call of all of them."""
