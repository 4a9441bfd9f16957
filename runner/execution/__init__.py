"""Runs what was planned, and sends what happens as events: script tests, cases, repetitions, hooks, budgets, stopping.
"""
