"""Runs what was planned and sends what happens as events: tests, cases, repetitions, hooks, budgets, stopping."""
