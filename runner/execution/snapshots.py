"""What a run did with snapshots, and which of them nothing asks for any more.

A snapshot is obsolete when its test ran to its end, passed and did not ask for it, or when there is no such test or
test file any more. Only a whole run can tell: with `--run`, `--shard`, `--resume`, or when it was stopped, none is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bindings import RunSnapshots, SnapshotFileError
from runner.results.events import AttemptEnd, Event, RunError, SnapshotCounts, SuiteEnd, SuiteStart, TestEnd
from runner.results.fold import Execution
from scripttest import Status

if TYPE_CHECKING:
    from runner.cli.options import RunOptions
    from runner.execution.stopping import Stop
    from scripttest import Outcome


class SnapshotWriter:
    """A reporter that stores snapshots as tests end. It comes before those that write results, so that no result is
    kept without its snapshots when the command is killed."""

    def __init__(self, snapshots: RunSnapshots) -> None:
        self._snapshots = snapshots
        self._works = True

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Stores what is new. What cannot be stored is tried again at the end of the run, which says why."""
        used = self._snapshots.used
        if used is None or not self._works or not isinstance(event, (TestEnd, AttemptEnd)):
            return
        try:
            used.save()
        except (OSError, SnapshotFileError):
            self._works = False

    def close(self) -> None:
        """Nothing is left to do."""


class SnapshotWatch:
    """A reporter that keeps how tests ended, for what beside them has snapshots."""

    def __init__(self) -> None:
        self._listed: dict[str, tuple[str, ...]] = {}
        self._ended: set[str] = set()
        self._outcomes: dict[str, dict[str, Outcome]] = {}

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Keeps what is to be known."""
        if isinstance(event, SuiteStart):
            self._listed[event.suite] = event.tests
        elif isinstance(event, TestEnd):
            result = event.result
            self._outcomes.setdefault(result.suite, {})[result.name] = result.outcome
        elif isinstance(event, SuiteEnd):
            self._ended.add(event.suite)

    def close(self) -> None:
        """Nothing is left to do."""

    def look(self, all_of_run: RunSnapshots, run: Execution) -> None:
        """Finds what is obsolete. Raises SnapshotFileError and OSError."""
        snapshots = all_of_run.stored()
        shared = Counter(all_of_run.files.values())
        for suite in run.suites.values():
            if suite.id in self._ended and suite.file and shared[Path(suite.file)] == 1:
                is_script = not suite.has_cases
                if is_script and not all(name.startswith("Test") for name in self._listed[suite.id]):
                    continue  # the module could not be loaded, and its tests are not known
                try:
                    snapshots.find_obsolete(suite.id, partial(self._is_obsolete, suite.id, is_script))
                except SnapshotFileError:
                    if not run.of_suite[suite.id].bad:  # else its tests have said so
                        raise
        snapshots.find_left()

    def _is_obsolete(self, suite: str, is_script: bool, key: str) -> bool:
        outcomes = self._outcomes.get(suite, {})
        if is_script:
            owner = re.split("[ /]", key, maxsplit=1)[0]
        else:
            owner = max((name for name in outcomes if key == name or key.startswith(f"{name} ")), key=len, default="")
        outcome = outcomes.get(owner)
        if outcome is None:
            return True
        return outcome.status == Status.PASSED and not any(
            key.startswith((f"{name} ", f"{name}/")) for name in _skipped(outcome)
        )


def _skipped(outcome: Outcome) -> Iterator[str]:
    """Names of subtests that did not run to their end."""
    for step in outcome.steps:
        if step.status == Status.SKIPPED:
            yield step.name
        yield from _skipped(step)


def finish(
    snapshots: RunSnapshots, watch: SnapshotWatch | None, options: RunOptions, stop: Stop, run: Execution
) -> tuple[SnapshotCounts | None, RunError | None]:
    """Stores the snapshots of a run; what was done with them, and what went wrong."""
    problem = None
    try:
        used = snapshots.used
        if used is not None:
            used.save()
        part = options.selecting or options.shard or options.resume or stop.reason
        left = sum(listed.selected for listed in run.listed.values()) - run.counts.total
        if watch is not None and not part and not left and not run.cut:
            watch.look(snapshots, run)
    except SnapshotFileError as error:
        problem = RunError(message=str(error))
    except OSError as error:
        problem = RunError(message=f"Cannot store the snapshots: {error.strerror or error}: {error.filename}")
    used = snapshots.used
    if used is None or not (used.written or used.updated or used.removed or used.obsolete):
        return None, problem
    return SnapshotCounts(
        written=used.written, updated=used.updated, removed=used.removed, obsolete=tuple(used.obsolete)
    ), problem
