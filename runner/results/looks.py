"""How often the runs of a run with variants were looked at, and how many looks were planned."""

from __future__ import annotations

from typing import Any

from scripttest.values import Value

MOST_LOOKS = 5
"""Rounds that are ever planned."""


class Looks(Value):
    """Rounds of runs, with a look after each: whether their variants are told apart."""

    made: int = 1
    planned: int = 1

    @property
    def ended_early(self) -> bool:
        """Whether the variants were told apart before all rounds were made."""
        return self.made < self.planned


ONCE = Looks()


def looks_record(looks: Looks) -> dict[str, int] | None:
    """`rounds` of a summary, `{made, planned}`; None where one round was planned."""
    return {"made": looks.made, "planned": looks.planned} if looks.planned > 1 else None


def looks_in(summary: dict[str, Any]) -> Looks:
    """The looks by what a summary says, whatever that is."""
    said = summary.get("rounds")
    if not isinstance(said, dict) or not all(isinstance(said.get(key), int) for key in ("made", "planned")):
        return ONCE
    found = Looks(made=said["made"], planned=said["planned"])
    return found if 1 <= found.made <= found.planned <= MOST_LOOKS else ONCE
