"""Facts that reports of earlier versions say by their texts only."""

from __future__ import annotations

from scripttest.typing_names import Record

_CUT = ("interrupted", "terminated", "the terminal is gone", "given up by --fail-fast", "--max-")
"""How the reasons began for which a case was cut short."""


def has_no_next_turn(turn: Record) -> bool:
    """Whether nobody could answer in a turn."""
    return str(turn.get("skip_reason") or turn.get("error")).endswith("no next turn defined")


def was_cut_short(record: Record) -> bool:
    """Whether the run ended before a case did that it counts as skipped."""
    return "input" in record and str(record.get("skip_reason")).startswith(_CUT)
