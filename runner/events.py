"""The one stream that everything else comes from: console, reports and exit code.

Events are records of JSON-shaped fields that refer to each other by name, so that a run can be stored and replayed into
any reporter. They come in the order in which things happen:

| event | when |
| --- | --- |
| RunStart | first, once |
| SuiteStart | the tests of one test module or case file are known; `order` is its place among the run's suites |
| TestStart | a test begins; several may be under way |
| TestEnd | exactly one for each TestStart |
| SuiteEnd | no more events of that suite |
| RunError | something broke outside any test |
| RunEnd | last, once, whatever happened |
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from scripttest import Outcome

RunStatus = Literal["passed", "failed", "error", "interrupted"]


class Suite(NamedTuple):
    """One source of tests."""

    id: str
    """Such as `scripts.expense.setup`."""
    kind: str
    """`script_test` for test modules."""
    label: str
    """Its file, for people: `expense/src/setup_test.ts`."""
    file: str
    """Absolute path of its file."""
    agent: str
    """Agent id."""


class TestResult(NamedTuple):
    """How one attempt of one test ended."""

    suite: str
    name: str
    position: int
    """Position in the suite, from 0."""
    outcome: Outcome
    logs: tuple[tuple[str, str], ...] = ()
    """Captured lines: level (trace, debug, info, warn, error) and text."""


class RunStart(NamedTuple):
    """The inputs are resolved."""

    started_at: str
    """UTC, RFC 3339."""
    version: str
    suites: tuple[Suite, ...]
    environment: dict[str, str]
    """`user_id`, `team_id` and `locale` of the context."""


class SuiteStart(NamedTuple):
    """The tests of a suite are known."""

    suite: str
    tests: tuple[str, ...]
    """Names of the tests that will run, in order."""
    total: int
    """How many there are without `--run`."""


class TestStart(NamedTuple):
    """A test begins."""

    suite: str
    name: str
    position: int


class TestEnd(NamedTuple):
    """A test has ended."""

    result: TestResult


class SuiteEnd(NamedTuple):
    """A suite has ended."""

    suite: str


class RunError(NamedTuple):
    """Something broke outside any test; the run does not pass."""

    message: str
    hint: str | None = None


class RunEnd(NamedTuple):
    """The run is over."""

    status: RunStatus
    seconds: float
    completed_at: str
    """UTC, RFC 3339."""


Event = RunStart | SuiteStart | TestStart | TestEnd | SuiteEnd | RunError | RunEnd
