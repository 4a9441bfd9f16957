"""The console: layouts of modules, cases and turns, the live line, and pieces of text that they share."""
