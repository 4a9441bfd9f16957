"""What a conversion has made so far, and what it could not."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, count
from typing import Any

from bindings import PatternError, compile

Record = dict[str, Any]
SAME_MEANING = "Means the same as: {}"
"""The criterion of a judge that compares an answer with a reference."""
JUDGE = "agents:workers.test.validator"


class Converted:
    """Cases in the form of case files, and what has no counterpart in them."""

    def __init__(self) -> None:
        self.cases: list[Record] = []
        self._ids: set[str] = set()
        self.lacking: dict[str, list[str]] = {}
        """What has no counterpart, and what to do instead → the cases that have it; none where it concerns them all."""

    def lacks(self, what: str, case: str = "") -> None:
        """Takes note of something without a counterpart, of one case or of all."""
        places = self.lacking.setdefault(what, [])
        if case and case not in places:
            places.append(case)

    def add(self, id: str, said: Record, checks: Iterable[Record], **more: Any) -> None:
        """Adds a case: what is said to the agent, and the assertions. Fields that are empty are left out.
        Assertions that are `lost` stay beside the others, where no run reads them."""
        id = next(one for one in chain([id], (f"{id}-{number}" for number in count(2))) if one not in self._ids)
        self._ids.add(id)
        found = list(checks)
        if lost := more.pop("lost", None):
            more["x-not-converted"] = lost
        fields = {"assert": found[0] if len(found) == 1 else found, **more}
        self.cases.append({"id": id, **said, **{name: value for name, value in fields.items() if value}})


def judged(criteria: str) -> Record:
    """An assertion by the judge that there is in every application."""
    return {"type": "agent", "use": JUDGE, "criteria": criteria}


def pattern_problem(pattern: object) -> str | None:
    """Why a regular expression of another tool cannot be used here; None: it can."""
    try:
        compile(str(pattern))
    except PatternError as error:
        return str(error)
    return None


def one_of(type: str, values: Iterable[Any], negate: bool = False) -> Record:
    """An assertion that holds for one of some values."""
    checks = [{"type": type, "value": value} for value in values]
    return (checks[0] if len(checks) == 1 else {"type": "any_of", "value": checks}) | (
        {"negate": True} if negate else {}
    )
