"""The stream of a run whose model calls are recorded or replayed: it tells recordings of the cases that have ended, and
fails a case that missed a recorded answer, even when the case took that for something else."""

from __future__ import annotations

from collections.abc import Callable

from runner.record.events import AttemptEnd, Event, RunEnd, RunError, RunStatus, TestEnd, TestStart, Warned
from runner.record.model import TestResult
from runner.record.outcomes import Verdict
from runner.reporters.stream import Multiplexer, describe
from scripttest import Cause, Failure, Status
from scripttest.typing_names import TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.answers.recording import Recording
    from runner.execution.services import RunServices
    from runner.execution.stopping import Stop
    from runner.record.fold import Execution
    from runner.reporters.stream import Reporter
    from runner.security.secrets import Secrets


T = TypeVar("T")


class RecordedStream(Multiplexer):
    """A `Multiplexer` of a run with recordings."""

    def __init__(self, reporters: list[Reporter], secrets: Secrets, recording: Recording, whole: bool) -> None:
        """`whole`: all cases run, so recordings that none of them uses are obsolete."""
        super().__init__(reporters, secrets)
        self._recording = recording
        self._whole = whole
        self._broken = False
        self._started: set[tuple[str, str]] = set()
        """Tests that have begun. A test that ends without having begun was taken from an earlier run."""

    def send(self, event: Event) -> None:
        """Sends an event; before the last one, errors and warnings about the recordings."""
        if isinstance(event, AttemptEnd | TestEnd) and event.result.cut_short and not event.result.attempts:
            self._recording.give_up(event.result.key)
        if isinstance(event, TestStart):
            self._started.add((event.suite, event.name))
        elif isinstance(event, TestEnd):
            suite, name, status = event.result.suite, event.result.name, event.result.outcome.status
            if (suite, name) in self._started:
                self._started.discard((suite, name))
                self._try(lambda: self._recording.end(suite, name, status))
            else:
                self._recording.keep(suite, name)
        elif isinstance(event, RunEnd):
            whole = self._whole and event.status != RunStatus.INTERRUPTED
            warning = self._try(lambda: self._recording.finish(whole))
            if warning:
                super().send(Warned(message=warning))
            if self.execution.errors and event.status in (RunStatus.PASSED, RunStatus.FAILED):
                event = event.replace(status=RunStatus.ERROR)
        super().send(event)

    def close(self) -> None:
        """Closes the reporters, which may have asked models until now."""
        super().close()
        try:
            self._recording.close()
        except Exception as error:
            self.untold.append(_cannot_write(error))
            self.execution.add(self.untold[-1])

    def checked(self, result: TestResult) -> TestResult:
        """The result of an attempt; it is failed if a recorded answer was missing."""
        outcome = result.outcome
        misses = self._recording.misses(result.key)
        said = [failure.message for failure in outcome.failures]
        unsaid = [miss for miss in misses if not any(miss.partition("\n")[0] in text for text in said)]
        if not unsaid:
            return result
        failures = (*(Failure(cause=Cause.INFRASTRUCTURE, message=miss) for miss in unsaid), *outcome.failures)
        return result.replace(
            cut_short=False, outcome=outcome.replace(status=Status.FAILED, failures=failures, skip_reason=None)
        )

    def _try(self, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except Exception as error:
            if not self._broken:  # one word is enough of a disk that is full
                self._broken = True
                super().send(_cannot_write(error))
            return None


def _cannot_write(error: Exception) -> RunError:
    return RunError(message=f"Cannot write recordings: {describe(error)}", hint="Calls of some cases are not recorded")


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
        result, verdict = event.result, event.result.verdict
        if verdict is Verdict.SKIPPED and self._stop.reason is not None:
            return  # it was cut short, and continues in a later run
        journal.end(result.key, broke=verdict is Verdict.BROKEN)

    def close(self) -> None:
        """Does nothing."""
