"""Runs of generated cases."""

from __future__ import annotations

from typing import Any

from agent_files import run_cases
from command import Application

SAID = '- reply: "{{ messages.-1.content }}"'
"""An agent that repeats what it is told."""


def generated(app: Application, input: str, *arguments: str, code: int = 0) -> dict[str, Any]:
    """The records of generated cases, by id."""
    return run_cases(app, "-i", input, "-n", "demo", *arguments, code=code)
