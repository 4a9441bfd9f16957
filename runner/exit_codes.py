"""What the exit code of the command means."""

from __future__ import annotations

PASSED = 0
"""All tests passed; skipped ones are allowed."""
FAILED = 1
"""Some tests failed or could not be judged, or a budget ended the run."""
CONFIGURATION = 2
"""A bad flag, a file that cannot be read, a name that does not exist, or nothing to run (a `--run` without a match)."""
RUNTIME = 3
"""The tool itself failed, or a report could not be written."""
INTERRUPTED = 130
"""Ctrl-C; results up to then are in the reports."""
TERMINATED = 143
"""SIGTERM; results up to then are in the reports."""
