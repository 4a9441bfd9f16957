"""What a conversion has made so far, and what it could not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runner.assertions import TYPES

Record = dict[str, Any]
SAME_MEANING = "Means the same as: {}"
"""The criterion of a judge that compares an answer with a reference."""


class Converted:
    """Cases in the form of case files, and what has no counterpart in them."""

    def __init__(self) -> None:
        self.cases: list[Record] = []
        self.lacking: dict[str, list[str]] = {}
        """What has no counterpart, and what to do instead → the cases that have it; none where it concerns them all."""

    def lacks(self, what: str, case: str = "") -> None:
        """Takes note of something without a counterpart, of one case or of all."""
        places = self.lacking.setdefault(what, [])
        if case and case not in places:
            places.append(case)

    def add(self, id: str, said: Record, checks: Iterable[Record], **more: Any) -> None:
        """Adds a case: what is said to the agent, and the assertions. Fields that are empty are left out."""
        found = list(checks)
        fields = {"assert": found[0] if len(found) == 1 else found, **more}
        self.cases.append({"id": id, **said, **{name: value for name, value in fields.items() if value}})


def one_of(type: str, values: Iterable[Any], negate: bool = False) -> Record:
    """An assertion that holds for one of some values."""
    checks = [{"type": type, "value": value} for value in values]
    return (checks[0] if len(checks) == 1 else {"type": "any_of", "value": checks}) | (
        {"negate": True} if negate else {}
    )


def similar(value: str, threshold: float) -> Record | None:
    """An assertion that the answer is similar to a text; None where there is no such type."""
    return {"type": "similar", "value": value, "threshold": threshold} if "similar" in TYPES else None
