"""The inputs of a search, given to the realms of its test: many to one realm, since that is quick; one that has failed,
and what it is made smaller to, each to a realm of its own, so that what is found fails by itself."""

from __future__ import annotations

from runner.fuzzing.search import InputsResult, Request, Search, SearchPlan
from scripttest import Cause, Outcome

IN_ONE_REALM = 200
"""Inputs that share a realm at the most."""


class SearchRealms:
    """The realms of one search."""

    def __init__(self, plan: SearchPlan) -> None:
        """Begins when the first input is asked for."""
        self._plan = plan
        self.search: Search | None = None
        """None: it has not begun."""
        self.is_over = False
        """Whether the search has ended."""
        self._running: Request | None = None
        self._held: Request | None = None
        """What waits for the next realm."""
        self._result: InputsResult = None
        """The result of the last inputs."""
        self._ran = 0
        """Inputs that this realm has run."""
        self._lone = False
        """Whether this realm is for one input only."""

    def next(self, result: InputsResult) -> Request | None:
        """Takes the results of the last inputs, and returns the next ones of this realm, or None. Blocks."""
        if self._running is not None:
            self._ran += len(self._running.inputs)
            self._running, self._result = None, result
        self.search = self.search or Search(self._plan)
        request, self._held = self._held or self.search.next(self._result), None
        if request is None:
            self.is_over = True
        elif self._ran and (request.fresh or self._lone or self._ran >= IN_ONE_REALM):
            request, self._held = None, request
        else:
            self._running, self._lone = request, request.fresh
        return request

    def close(self) -> None:
        """Ends the search, unless it was ended before."""
        self.is_over = True
        if self.search is not None:
            self.search.close()

    def ended(self, outcome: Outcome, silent: str) -> None:
        """The realm has ended: in an input, if one is under way, which has failed then; `silent` is what did not answer
        it, if it waited for that."""
        if self._running is not None:
            self._running = None
            steps = [step for step in outcome.steps if step.failures]
            failures = (steps[-1] if steps else outcome).failures
            cause = failures[0].cause if failures else Cause.ERROR
            message = failures[0].message if failures else "its realm has ended"
            if cause is Cause.TIMEOUT and silent:
                cause, message = Cause.INFRASTRUCTURE, silent
            self._result = {"kind": cause, "message": message}
        self._ran, self._lone = 0, False
