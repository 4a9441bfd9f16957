"""Stores the snapshots of a run, and finds those that no test uses any more.

A snapshot is obsolete if its test ran to its end, passed and did not use it, or if there is no such test or
test file any more. Only a whole run can know that: with `--run`, `--shard`, `--resume`, or if it was stopped, none is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bindings import SnapshotError
from runner.record.events import STALE, AttemptEnd, Event, RunError, SnapshotCounts, SuiteEnd, TestEnd
from runner.record.fold import Execution
from runner.reporters.stream import Reporter
from scripttest import Cause, Failure, StackFrame, Status, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bindings import InlineSnapshots
    from runner.execution.run import Run
    from scripttest import Outcome


class SnapshotKeeper(Reporter):
    """A reporter that stores snapshots when tests end, and remembers how tests ended, to find obsolete ones. It comes
    before those that write results, so that no result is written without its snapshots when the command is killed."""

    def __init__(self, run: Run, *, stores: bool, watches: bool) -> None:
        """`stores`: they are stored before the end of the run, too. `watches`: obsolete ones are looked for."""
        self._run, self._snapshots = run, run.snapshots
        self._stores, self._watches = stores, watches
        self._outcomes: dict[str, dict[str, Outcome]] = {}

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Stores new snapshots. A snapshot that cannot be stored is tried again at the end of the run, which reports
        the error."""
        if self._watches and isinstance(event, TestEnd):
            self._outcomes.setdefault(event.result.suite, {})[event.result.name] = event.result.outcome
        if not self._stores:
            return
        inline = self._run.inline_snapshots
        try:
            if isinstance(event, (TestEnd, AttemptEnd)):
                self._snapshots.save()
            if inline is not None and isinstance(event, SuiteEnd):
                inline.save(event.suite)
        except (OSError, SnapshotError):
            self._stores = False

    def finish(self, so_far: Execution, send: Callable[[RunError], None], *, looks: bool) -> SnapshotCounts | None:
        """Stores the snapshots of the run, and sends its errors; what was done with snapshots, None when nothing was.
        `looks`: whether obsolete ones are looked for."""
        snapshots, inline = self._snapshots, self._run.inline_snapshots
        options, stop = self._run.options, self._run.stop
        try:
            try:
                snapshots.save()
            finally:
                if inline is not None and stop.reason != STALE:
                    inline.save()
            part = options.selecting or options.shard or options.resume or stop.reason
            left = sum(listed.selected for listed in so_far.listed.values()) - so_far.counts.total
            if self._watches and looks and not part and not left and not so_far.cut:
                self._look(so_far)
        except SnapshotError as error:
            send(RunError(message=str(error)))
        except OSError as error:
            send(RunError(message=f"Cannot store the snapshots: {error.strerror or error}: {error.filename}"))
        counts = SnapshotCounts(
            written=snapshots.written + (inline.written if inline else 0),
            updated=snapshots.updated + (inline.updated if inline else 0),
            removed=snapshots.removed,
            obsolete=tuple(snapshots.obsolete),
        )
        return counts if counts != SnapshotCounts() else None

    def _look(self, run: Execution) -> None:
        snapshots = self._snapshots
        shared = Counter(snapshots.files.values())
        for suite in run.suites.values():
            if suite.id in run.ended and suite.file and shared[Path(suite.file)] == 1:
                is_script = not suite.has_cases
                if is_script and not all(map(kind_of, run.listed[suite.id].tests)):
                    continue  # the module could not be loaded, and its tests are not known
                try:
                    snapshots.find_obsolete(suite.id, partial(self._is_obsolete, suite.id, is_script))
                except SnapshotError:
                    if not run.counts_by_suite[suite.id].bad:  # else its tests have said so
                        raise
        snapshots.find_left()

    def _is_obsolete(self, suite: str, is_script: bool, key: str) -> bool:
        outcomes = self._outcomes.get(suite, {})
        owner = re.split("[ /]", key, maxsplit=1)[0] if is_script else key
        while owner and owner not in outcomes:
            owner = owner.rpartition(" ")[0]
        outcome = outcomes.get(owner)
        if outcome is None:
            return True
        return outcome.status == Status.PASSED and not any(
            key.startswith((f"{name} ", f"{name}/")) for name in _skipped(outcome)
        )


def _skipped(outcome: Outcome) -> Iterator[str]:
    for step in outcome.steps:
        if step.status == Status.SKIPPED:
            yield step.name
        yield from _skipped(step)


def with_inlined(module: str, outcome: Outcome, inline: InlineSnapshots) -> Outcome:
    """Takes the inline snapshots of an outcome to be written; a snapshot that cannot be written becomes a failure."""
    failures = []
    for inlined in outcome.inlined:
        try:
            inline.take(module, outcome.name, inlined)
        except SnapshotError as error:
            frames = (StackFrame(function="", location=inlined.location),) if inlined.location else ()
            failures.append(
                Failure(
                    cause=Cause.ASSERTION,
                    message=f"Cannot store the inline snapshot: {error}",
                    type="Snapshot",
                    actual=inlined.text,
                    actual_text=inlined.text,
                    frames=frames,
                )
            )
    if not failures:
        return outcome
    return outcome.replace(status=Status.FAILED, failures=(*outcome.failures, *failures), skip_reason=None)
