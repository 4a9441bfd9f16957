"""Judges and trust: the verdicts of judges in saved runs, labels of people, and how far they agree."""
