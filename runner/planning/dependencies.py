"""`depends_on`: which cases of a file have to be run beside the chosen ones, and when a case may begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scripttest import Status
from scripttest.values import Value


class Needs(Value):
    """What the chosen cases of a file depend on."""

    ids: frozenset[str]
    """Cases that others wait for."""
    added: Mapping[str, str]
    """Cases that are not chosen, and run all the same → the case that depends on each."""


def needs_of(dependencies: Mapping[str, Sequence[str]], left_out: frozenset[str]) -> Needs:
    """What has to run, by id.

    Args:
        dependencies: case → what it depends on; only cases that depend on something, left-out ones too.
        left_out: the cases that are not chosen.
    """
    added: dict[str, str] = {}
    waited: set[str] = set()
    pending = [id for id in dependencies if id not in left_out]
    while pending:
        id = pending.pop()
        for needed in dependencies.get(id, ()):
            waited.add(needed)
            if needed in left_out and needed not in added:
                added[needed] = id
                pending.append(needed)
    return Needs(ids=frozenset(waited), added=added)


class Progress:
    """How the cases ended that others wait for."""

    def __init__(self, ids: frozenset[str]) -> None:
        self._ids = ids
        self._ended: dict[str, Status] = {}

    def end(self, id: str, status: Status) -> bool:
        """Notes how a case ended; whether others wait for it."""
        if id not in self._ids:
            return False
        self._ended[id] = status
        return True

    def waits(self, depends_on: Sequence[str]) -> bool:
        """Whether a case has to wait: a dependency has not ended, and none that has keeps it from running."""
        return any(id not in self._ended for id in depends_on) and self.obstacle(depends_on) is None

    def obstacle(self, depends_on: Sequence[str]) -> str | None:
        """Why a case cannot run; None when what it depends on has passed so far."""
        for id in depends_on:
            status = self._ended.get(id, Status.PASSED)
            if status != Status.PASSED:
                return f'depends on "{id}", which {"failed" if status == Status.FAILED else "was skipped"}'
        return None
