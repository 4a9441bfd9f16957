"""The stream of events, of which console, reports and exit code are made. A run can be stored, and replayed into any
reporter. Events come in the order in which things happen:

| event | when |
| --- | --- |
| RunStart | first, once |
| SuiteStart | the tests of a test module or case file are known; `order` is its position among the run's suites |
| HookOutput | a hook around all cases of a suite has printed something |
| TestStart | a test begins, or one of its runs; several may be running |
| TurnStart | the user speaks to the agent, in a case of several turns |
| AttemptEnd | with `--runs`: exactly one for each TestStart |
| TestEnd | exactly one for each test that has begun, after all of its runs |
| SuiteEnd | no more events of that suite follow |
| RunError | something broke outside any test |
| Warned | a warning to the user |
| RunEnd | last, once, whatever happened |"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum

from runner.record.model import Suite, TestPlace, TestResult
from scripttest import LogLine
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.record.coverage import CoverageReport


STALE = "a file changed"
"""The reason to stop a watched run whose results are out of date."""


class Event(Value):
    """Something that has happened in a run."""


class RunStatus(StrEnum):
    """How a run ended. Reports write the same words."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    INTERRUPTED = "interrupted"


MOST_LOOKS = 5
"""At most this many rounds are planned."""


class InterimLooks(Value):
    """Rounds of runs, after each of which the variants are compared."""

    made: int = 1
    planned: int = 1
    __members__ = "made! planned!"

    @property
    def ended_early(self) -> bool:
        """Whether the variants differed clearly before all rounds were made."""
        return self.made < self.planned


ONCE = InterimLooks()


def looks_in(summary: dict[str, Any]) -> InterimLooks:
    """Reads `rounds` of a summary, which may have any form."""
    from runner.shapes.codec import fitting

    said = summary.get("rounds")
    found = fitting(InterimLooks, said) if isinstance(said, dict) else ONCE
    return found if 1 <= found.made <= found.planned <= MOST_LOOKS else ONCE


def new_run() -> str:
    """An id that no other run has."""
    return os.urandom(6).hex()


def _environment_in(line: dict[str, Any]) -> dict[str, str]:
    known = said if isinstance(said := line.get("environment"), dict) else {}
    return {**known, **{key: str(known.get(key, "")) for key in ("user_id", "team_id", "locale")}}


class RunStart(Event):
    """The inputs are resolved, and the run begins."""

    started_at: str
    """UTC, RFC 3339."""
    version: str
    suites: tuple[Suite, ...]
    environment: dict[str, str]
    """`user_id`, `team_id` and `locale` of the context; of several ones, those of the run."""
    who_of: Mapping[str, Mapping[str, str]] = {}
    """Agent → the same, of its tests; empty: that of the run."""
    total_cases: int | None = None
    """How many cases will run; None when there are script tests, whose number is known later."""
    runs: int = 1
    min_pass_rate: float = 100
    """Percent of its runs that have to pass for a test to pass."""
    resume: dict[str, Any] | None = None
    """What a later run needs to resume this one; see `runner.planning.resume`."""
    notes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """The flags that may affect results, as words of a command line."""
    shard: str | None = None
    """Which part of all tests this run has, such as `1/3`."""
    regraded_from: str | None = None
    """The report whose transcripts are graded; no agent is asked."""
    result_flags: tuple[str, ...] = ()
    """The flags that change results, wherever set, with paths from the application; empty: `flags` has them."""
    run_id: str | None = None
    """The id of the run, which no other run has, and under which a store keeps it; None for several runs as one."""
    run_ids: tuple[str, ...] = ()
    """The ids of the runs whose answers it has, if these are others."""
    __members__ = (
        "started_at version environment suites flags shard notes regraded_from result_flags run_id run_ids"
        " runs min_pass_rate"
    )
    __keys__ = {"started_at": "timestamp", "runs": "runs_per_case"}  # noqa: RUF012
    __beside__ = "who_of total_cases resume"
    __writers__ = {"min_pass_rate": lambda start: ... if start.runs == 1 else start.min_pass_rate}  # noqa: RUF012
    __readers__ = {"environment": _environment_in, "notes": lambda _: ()}  # noqa: RUF012

    @property
    def all_run_ids(self) -> tuple[str, ...]:
        """The ids of the runs whose answers it has; none where it names none."""
        return self.run_ids or ((self.run_id,) if self.run_id else ())

    @property
    def in_report(self) -> RunStart:
        """It as reports have it."""
        return self.replace(suites=tuple(suite.in_report for suite in self.suites))


class SuiteStart(Event):
    """The tests of a suite are known."""

    suite: str
    selected: int
    total: int
    """How many tests there are before filters such as `--run`."""
    tests: tuple[str, ...] = ()
    """The names of the tests of a module, in order."""


class HookOutput(Event):
    """What a hook around all cases of a suite has printed. Only the console shows it."""

    suite: str
    hook: str
    logs: tuple[LogLine, ...]


class TestStart(TestPlace, Event):
    """A test begins, or one of its runs."""

    name: str


class TurnStart(TestPlace, Event):
    """The user speaks to the agent, in a running case."""

    turn: int
    """From 1."""


class AttemptEnd(Event):
    """One of several runs of a test has ended."""

    result: TestResult


class TestEnd(Event):
    """A test has ended."""

    result: TestResult


class SuiteEnd(Event):
    """A suite has ended."""

    suite: str


class RunError(Event):
    """Something broke outside any test; the run does not pass."""

    message: str
    hint: str | None = None


class Warned(Event):
    """A warning, which fails nothing."""

    message: str


class SnapshotCounts(Value):
    """How many snapshots a run wrote, changed and removed."""

    written: int = 0
    updated: int = 0
    removed: int = 0
    obsolete: tuple[str, ...] = ()
    """File and name of each snapshot that no test uses any more."""


class RunEnd(Event):
    """The run is over."""

    status: RunStatus
    seconds: float
    completed_at: str
    """UTC, RFC 3339."""
    stopped: str | None = None
    """Why the run ended early: `interrupted`, `terminated`, or the budget that is used up."""
    not_run: int = 0
    """How many of the known tests have no verdict because of that, those that were cut short included."""
    looks: InterimLooks = ONCE
    snapshots: SnapshotCounts | None = None
    """None when the run did nothing with snapshots."""
    coverage: CoverageReport | None = None

    @property
    def milliseconds(self) -> int:
        """How long the run took."""
        return round(self.seconds * 1000)
