"""What the host reports, as records that end as JSON: one stream of them for a run; by what a
run of a test is known; and errors around scripts. Which functions of a test file are tests, their names say, as in Go.

ScriptError                     base class: a message, its place, and a hint
├── MissingScriptError          there is no script with this name
├── CompileError                the compiler refused a module
└── HostError                   the host itself failed: a worker or the compiler cannot be started or ended by itself"""

from __future__ import annotations

from enum import StrEnum

from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TEST, FUZZ, BENCHMARK = "Test", "Fuzz", "Benchmark"
"""How the names of the kinds of tests begin."""
EVERY_RUN = (TEST, FUZZ)
"""The kinds that a plain run has."""


class Status(StrEnum):
    """How a test ended, or a part of it. Reports write the same words."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Placed(Value):
    """A message with its place in the user's code."""

    frames: tuple[StackFrame, ...] = ()
    """The user's frames, innermost first."""
    code_frame: str = ""
    details: str = ""
    """The details of what was thrown: its own fields, what caused it, the errors within it; indented lines, with
    their places."""

    @property
    def location(self) -> Location | None:
        """The innermost place in the user's code."""
        return self.frames[0].location if self.frames else None


class Failure(Placed):
    """One reason why a test failed."""

    cause: Cause
    message: str
    """The user's message, or what was expected in words."""
    type: str | None = None
    """The assertion method, such as `Equal`."""
    reason: str | None = None
    """What the assertion expected, in words."""
    expected: Any = None
    """JSON value; a string with the printed form when the value is not JSON."""
    actual: Any = None
    expected_text: str | None = None
    """The printed form of the value; None when the assertion has none."""
    actual_text: str | None = None
    diff: str | None = None
    """Lines that start with `-` (expected), `+` (actual) or a space."""
    phase: str | None = None
    """Where it happened, if not in the test function: `BeforeEach`, `cleanup`, `unhandled rejection` ..."""


class ResultWarning(Placed):
    """Something about a test that is probably wrong and does not fail it, unless the run has `--strict`."""

    kind: str
    """What it is about, in one word: `pending` for unfinished work, `usage` for odd figures of a model's answer,
    `todo` for a test that is marked as unfinished and passes, `mask` for a mask of a snapshot that matches nothing,
    `cut` for an answer that is not whole, as its host says, `after` for a hook after a case that failed, `retried` for
    a result that a test had only when it ran again."""
    message: str


class Inlined(Value):
    """What a test wants written into its source: an inline snapshot."""

    text: str
    """As the value is printed."""
    given: str | None
    """The text that the source has now; None if it has none."""
    location: Location | None
    """Somewhere in the call; None where that is not known."""
    source: bytes | None
    """The test file as it was compiled; None when the call is elsewhere."""


class LogLine(Value):
    """What a script wrote with one call of `console`."""

    level: str
    """trace, debug, info, warn, error, or watch for a watched value."""
    text: str


class MockedCalls(Value):
    """Calls of one name that mocks have answered in a realm."""

    name: str
    count: int


class Outcome(Value):
    """How a test or subtest ended."""

    name: str
    """`TestX`, or `TestX/subtest`."""
    status: Status
    milliseconds: float
    failures: tuple[Failure, ...] = ()
    assertions: int = 0
    """How many checks were made."""
    skip_reason: str | None = None
    todo: bool = False
    """Whether it is skipped because `t.todo` marks it as unfinished."""
    only: bool = False
    """Whether it has called `t.only`, so that the tests beside it did not run."""
    steps: tuple[Outcome, ...] = ()
    """Subtests, in the order in which they ended."""
    warnings: tuple[ResultWarning, ...] = ()
    """Of the test and all of its subtests, which have none of their own."""
    not_judged: int = 0
    """How many checks no judge could judge, those of subtests included."""
    mocked: tuple[MockedCalls, ...] = ()
    """Calls that mocks have answered in the realm of the test."""
    inlined: tuple[Inlined, ...] = ()
    """Of the test and all of its subtests, which have none of their own."""

    @property
    def skip_text(self) -> str:
        """Why it was skipped, with `todo` before the reason if it is marked as unfinished; empty if it is not said."""
        return ": ".join(filter(None, ("todo" if self.todo else "", self.skip_reason)))

    @property
    def cause(self) -> Cause | None:
        """The cause of the failure that decides."""
        decisive = self.decisive
        return decisive.cause if decisive else None

    @property
    def decisive(self) -> Failure | None:
        """The failure that says best why it failed: a timeout, whatever had failed before it; else the first."""
        if not self.failures:
            return None
        late = next((failure for failure in self.failures if failure.cause == Cause.TIMEOUT), None)
        return late or self.failures[0]


class Listed(Value):
    """A module has been evaluated and its tests are known."""

    module: str
    tests: tuple[str, ...]
    """Names of the tests that will run, in source order."""
    known: tuple[str, ...]
    """Names of all tests of the module, before filtering."""


class Broken(Value):
    """A module has no results: it does not compile, or evaluating it failed."""

    module: str
    failure: Failure
    others: tuple[CompilerMessage, ...] = ()
    """Further messages of the compiler."""
    hint: str | None = None


class Started(Value):
    """A test begins, or one of its runs."""

    module: str
    position: int
    """Position among the module's listed tests, from 0."""
    run: int = 1
    """Which run of the test it is, from 1."""
    again: bool = False
    """Whether it had begun before, and begins once more in a new realm: what it wrote so far counts no more."""


class Line(Value):
    """A test wrote something. Lines of a module's top-level code belong to each of its tests."""

    module: str
    position: int
    line: LogLine
    run: int = 1


class Ended(Value):
    """A test has ended. Every `Started` has exactly one."""

    module: str
    position: int
    outcome: Outcome
    run: int = 1


HostRecord = Listed | Broken | Started | Line | Ended


class Cause(StrEnum):
    """Why something failed. Reports write the same words."""

    ASSERTION = "assertion"
    """A check failed."""
    ERROR = "error"
    """Something was thrown, or could not be evaluated."""
    TIMEOUT = "timeout"
    CRASH = "crash"
    """The worker died."""
    SETUP = "setup"
    """What runs before the test failed."""
    INFRASTRUCTURE = "infrastructure"
    """Something that the test needs broke, so it could not be judged."""
    INCONCLUSIVE = "inconclusive"
    """It was judged, but the votes do not decide."""
    PENDING = "pending"
    """Work was left unfinished, and `--strict` does not allow that."""
    CUT = "cut"
    """What a model answered ended within a call of a tool, or, with `--strict`, within a text."""


class Location(Value):
    """A place in a source file."""

    file: str
    """Absolute path."""
    line: int
    """From 1; 0 when unknown."""
    column: int
    """From 1; 0 when unknown."""
    length: int = 0
    """Characters from the column on that the message is about."""

    def __str__(self) -> str:
        """As it stands before a message."""
        return f"{self.file}:{self.line}:{self.column}"


class StackFrame(Value):
    """One frame of the user's code."""

    function: str
    """Empty for anonymous code."""
    location: Location


class ScriptError(Exception):
    """Base of the tree; `hint` says what to do about it."""

    missing = False
    """Whether the script does not exist."""

    def __init__(self, message: str, location: Location | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.hint = hint


class MissingScriptError(ScriptError):
    """There is no script for the name of a process."""

    missing = True


class CompilerMessage(Value):
    """Something that the compiler says."""

    text: str
    location: Location | None

    def __str__(self) -> str:
        """With its place."""
        return self.text if self.location is None else f"{self.location}: {self.text}"


class CompileError(ScriptError):
    """The compiler refused a module, or could not compile it."""

    others: tuple[CompilerMessage, ...] = ()
    """Its further messages."""
    cause = Cause.ERROR
    """The cause: the module (`ERROR`), the compiler that ended (`CRASH`) or was killed (`INFRASTRUCTURE`), or the
    time that it took (`TIMEOUT`)."""


class HostError(ScriptError):
    """The host itself broke: the compiler or a worker cannot be started, or ended by itself."""


def kind_of(name: str) -> str:
    """The kind of a test by its name, or by that of one of its subtests; empty when it is none. After `Fuzz` and
    `Benchmark` no small letter follows, so that `Fuzzy` is a function like all others."""
    if name.startswith(TEST):
        return TEST
    for kind in (FUZZ, BENCHMARK):
        if name.startswith(kind) and not name[len(kind) : len(kind) + 1].islower():
            return kind
    return ""


class TestKey(Value):
    """Which run of which test something belongs to, in every table of tests."""

    __test__ = False  # pytest takes it for a class of tests otherwise

    suite: str
    """Id of the test module, or of the suite of a case."""
    test: str
    """Name of the test, or id of the case; empty: no test, but the loading of the module."""
    run: int = 1
    """Which of its runs, from 1; 0 in saved reports: the result of the test."""
    mutant: int = 0
    """The mutant that is switched on; 0: none."""

    @property
    def label(self) -> str:
        """The name of the test, with `#2` behind it in its second run, as snapshots are named."""
        return f"{self.test}#{self.run}" if self.run > 1 else self.test
