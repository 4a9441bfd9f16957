"""How often the runs of several variants were compared during a run, and how often that was planned."""

from __future__ import annotations

from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_LOOKS = 5
"""At most this many rounds are planned."""


class Looks(Value):
    """Rounds of runs, after each of which the variants are compared."""

    made: int = 1
    planned: int = 1

    @property
    def ended_early(self) -> bool:
        """Whether the variants differed clearly before all rounds were made."""
        return self.made < self.planned


ONCE = Looks()


def looks_record(looks: Looks) -> dict[str, int] | None:
    """`{made, planned}` for `rounds` of a summary; None when only one round was planned."""
    return {"made": looks.made, "planned": looks.planned} if looks.planned > 1 else None


def looks_in(summary: dict[str, Any]) -> Looks:
    """Reads `rounds` of a summary, which may have any form."""
    said = summary.get("rounds")
    if not isinstance(said, dict) or not all(isinstance(said.get(key), int) for key in ("made", "planned")):
        return ONCE
    found = Looks(made=said["made"], planned=said["planned"])
    return found if 1 <= found.made <= found.planned <= MOST_LOOKS else ONCE
