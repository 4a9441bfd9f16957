"""`depends_on`: decides when a case may begin, and whether a case that it depends on keeps it from running."""

from __future__ import annotations

from collections.abc import Sequence

from scripttest import Status


class DependencyState:
    """Remembers how the cases ended that others depend on."""

    def __init__(self, ids: frozenset[str]) -> None:
        self._ids = ids
        self._ended: dict[str, Status] = {}

    def end(self, id: str, status: Status) -> bool:
        """Records the status of a case, and returns whether other cases wait for it. The first one counts: in rounds,
        that of the first run."""
        if id not in self._ids or id in self._ended:
            return False
        self._ended[id] = status
        return True

    def waits(self, depends_on: Sequence[str]) -> bool:
        """Whether a case has to wait: a case that it depends on has not ended, and no other one keeps it from
        running."""
        return any(id not in self._ended for id in depends_on) and self.obstacle(depends_on) is None

    def obstacle(self, depends_on: Sequence[str]) -> str | None:
        """Why a case cannot run; None when all cases that it depends on and that have ended have passed."""
        for id in depends_on:
            status = self._ended.get(id, Status.PASSED)
            if status != Status.PASSED:
                return f'depends on "{id}", which {"failed" if status == Status.FAILED else "was skipped"}'
        return None
