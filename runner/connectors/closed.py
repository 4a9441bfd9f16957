"""Runs in which no real model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scripttest import TestKey


class ClosedModels:
    """Why real models are not asked in a run, and on whose behalf they would have been."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        """For people."""
        self.wanted: set[TestKey] = set()
        """Runs of tests and cases that came to a real model."""
