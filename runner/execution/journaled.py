"""Tells the journal of model calls which tests have results, so that it can delete their answers."""

from __future__ import annotations

from runner.results.events import AttemptEnd, Event, TestEnd
from runner.results.verdict import Verdict, verdict_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.execution.services import RunServices
    from runner.execution.stopping import Stop
    from runner.results.fold import Execution


class JournalWatch:
    """A reporter that writes nothing. It comes after the reporter of the report: when answers are deleted, their result
    is already written."""

    def __init__(self, services: RunServices, stop: Stop) -> None:
        self._services = services
        self._stop = stop

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Records the end of a test, or of one of its runs."""
        journal = self._services.journal
        if journal is None or not isinstance(event, AttemptEnd | TestEnd) or event.result.attempts:
            return
        result, verdict = event.result, verdict_on(event.result)
        if verdict is Verdict.SKIPPED and self._stop.reason is not None:
            return  # it was cut short, and continues in a later run
        journal.end(result.key, broke=verdict is Verdict.BROKEN)

    def close(self) -> None:
        """Does nothing."""
