"""Runs what was planned, and sends everything that happens as events: tests, cases, repeated runs, hooks, budgets, and
the end of the run."""
