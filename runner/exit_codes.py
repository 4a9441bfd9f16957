"""What the exit code of the command means."""

from __future__ import annotations

PASSED = 0
"""All tests passed; skipped ones are allowed."""
FAILED = 1
"""Some tests failed or could not be judged, or a budget ended the run."""
CONFIGURATION = 2
"""A bad flag, a file that cannot be read, a name that leads nowhere, or nothing to run, also because of `--run`."""
RUNTIME = 3
"""The tool itself broke, or a report could not be written."""
INTERRUPTED = 130
"""Ctrl-C; what had ended is in the reports."""
TERMINATED = 143
"""SIGTERM; what had ended is in the reports."""
