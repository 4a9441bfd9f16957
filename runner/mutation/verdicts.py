"""What became of mutants, and the score; statuses and the score are those of StrykerJS.

| status | of StrykerJS | when | in the score |
|---|---|---|---|
| killed | Killed | a test failed | noticed |
| timeout | Timeout | loops or functions went far more rounds than without it | noticed |
| survived | Survived | tests reached it, and all passed | not noticed |
| no coverage | NoCoverage | no test reached it | not noticed |
| broken | RuntimeError | a worker crashed, or something around the tests broke | no |
| undecided | Pending | the clock ended a test or the run; it is asked again | no |
| ignored | Ignored | a comment, a setting or a rule leaves it out | no |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from scripttest import Mutant, TestKey
from scripttest.values import Value


class Status(Enum):
    """What became of a mutant; the value is the word for it."""

    KILLED = "killed"
    TIMEOUT = "timeout"
    SURVIVED = "survived"
    NO_COVERAGE = "no coverage"
    BROKEN = "broken"
    UNDECIDED = "undecided"
    IGNORED = "ignored"


LONGEST = 60
"""Characters of a value that are shown."""
NOTICED = (Status.KILLED, Status.TIMEOUT)
MISSED = (Status.SURVIVED, Status.NO_COVERAGE)


class Point(Value):
    """The values at the point of a survivor."""

    test: TestKey | None = None
    """The test that has another value there with the mutant; None: no test has one."""
    without: str = ""
    """The first value that differs, without the mutant: JSON, or as JavaScript writes `undefined`; if all are the same,
    the last one. Empty where the code there did not run."""
    mutated: str = ""
    """That with it."""

    @property
    def text(self) -> str:
        """In words."""
        if self.test is None:
            return f"all tests give the same value here, such as {_shown(self.without)}: add one with another value"
        before, after = _shown(self.without), _shown(self.mutated)
        return f"the value here is {before}, with the mutant {after}, in {self.test.test}: no test checks it"


def _shown(value: str) -> str:
    if not value:
        return "none"
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"


class Verdict(Value):
    """What became of one mutant."""

    mutant: Mutant
    status: Status
    reached_by: tuple[TestKey, ...] = ()
    """The tests that reach it, in the order in which they were tried."""
    killed_by: TestKey | None = None
    reason: str = ""
    """What the test said that noticed it; why it is ignored, broken or undecided."""
    ran: int = 0
    """How many tests ran with it."""
    is_kept: bool = False
    """Whether the verdict is that of an earlier run."""
    point: Point | None = None
    """The values at the point of a survivor, where they can be told."""


class Score(Value):
    """How many mutants were noticed of those that count."""

    counts: dict[Status, int]

    @property
    def noticed(self) -> int:
        """Killed ones and timeouts."""
        return sum(self.counts.get(status, 0) for status in NOTICED)

    @property
    def counted(self) -> int:
        """Those that are in the score."""
        return self.noticed + sum(self.counts.get(status, 0) for status in MISSED)

    @property
    def share(self) -> float | None:
        """From 0 to 1; None when there is none to count."""
        return self.noticed / self.counted if self.counted else None


def score_of(verdicts: Iterable[Verdict]) -> Score:
    """The score of some mutants."""
    counts: dict[Status, int] = {}
    for verdict in verdicts:
        counts[verdict.status] = counts.get(verdict.status, 0) + 1
    return Score(counts=counts)


def place_of(mutant: Mutant) -> tuple[str, int, int, str, str]:
    """What mutants are ordered by."""
    return mutant.file, mutant.line, mutant.column, mutant.mutator, mutant.replacement


def by_file(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Path of a handler → the verdicts on its mutants, in the order of their places."""
    found: dict[str, list[Verdict]] = {}
    for verdict in sorted(verdicts, key=lambda one: place_of(one.mutant)):
        found.setdefault(verdict.mutant.file, []).append(verdict)
    return found


def by_function(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """Name of a function → the verdicts on the mutants in it; empty: those at the top of the module."""
    found: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.mutant.within, []).append(verdict)
    return found
