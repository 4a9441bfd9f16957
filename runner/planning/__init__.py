"""Decides what will run: resolves inputs, applies filters and shards, reads cases, checks what they name, and finds
valid results of an earlier run."""
