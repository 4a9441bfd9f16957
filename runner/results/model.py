"""The results of a run as values: its suites, and the result of each test with its attempts.

Events carry these values (`runner.results.events`), one fold counts them (`runner.results.fold`), and the modules named
`..._json` write and read them. What a case has in addition is in `runner.results.case_result`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from runner.results.test_place import TestPlace
from scripttest import LogLine, Outcome, TestKey
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from bindings import OutsideCall
    from runner.assertions.base import AssertionResult
    from runner.results.case_result import CaseResult
    from runner.results.judging import Judging
    from runner.results.regradable import Regradable
    from runner.results.repeating import Repeat
    from runner.results.verdict import Verdict


class SuiteKind(Enum):
    """Where the tests of a suite come from."""

    MODULE = 1
    """A test module with script tests. All other kinds have cases."""
    CASE_FILE = 2
    MESSAGE = 3
    """A message on the command line."""
    GENERATED = 4
    """Cases that an agent or a script made for this run."""


class Suite(Value):
    """One source of tests."""

    id: str
    """Such as `scripts.expense.setup`; no other suite of the run has it."""
    kind: SuiteKind
    label: str
    """Its name for people: the path `expense/src/setup_test.ts`, a message in quotes, or the id of a generator."""
    file: str
    """Absolute path of its file; empty when there is none."""
    agent: str
    """Agent id."""
    connector: str = ""
    """What the run uses instead of the agent's own connector."""
    multi_turn: bool = False
    """Whether some of its cases have several turns."""
    variant: str = ""
    """The variant that its cases run with; empty: the run has no variants."""
    root: str = ""
    """The folder from which reports name files: the repository, else the application; empty when it is not known."""

    @property
    def without_variant(self) -> str:
        """The id of its input, which is the same for all variants."""
        return self.id.removesuffix(f" [{self.variant}]") if self.variant else self.id

    @property
    def has_cases(self) -> bool:
        """Whether its tests are cases, rather than script tests."""
        return self.kind is not SuiteKind.MODULE

    @property
    def is_message(self) -> bool:
        """Whether its only case is a message on the command line."""
        return self.kind is SuiteKind.MESSAGE

    @property
    def is_generated(self) -> bool:
        """Whether its cases were made for this run."""
        return self.kind is SuiteKind.GENERATED

    @property
    def name(self) -> str:
        """The name in the console and in reports. A suite of cases is named by its label, so that reports of several
        machines agree."""
        name = self.label if self.has_cases else self.id
        return self.name_of(name)

    def name_of(self, test: str) -> str:
        """What names a test where the suite is not named beside it, as `ResultKey.name` does."""
        return f"{test} [{self.variant}]" if self.variant else test

    @property
    def input(self) -> str:
        """The value of `-i` that runs it."""
        return self.label[1:-1] if self.is_message else self.label if self.has_cases else self.id


class Attempt(Value):
    """One run of a test."""

    run: int
    """From 1."""
    verdict: Verdict
    duration_ms: int
    answer: str
    """Its output as a text that is equal for equal outputs; see `normalised`."""
    output: Any = None
    error: str | None = None
    """Its first failure."""
    score: float | None = None
    """Of a conversation, 0 to 1."""
    tokens: int = 0
    cost: float | None = None
    """US dollars."""
    not_judged: int = 0
    """How many of its criteria no judge could judge."""
    judged: bool = True
    """False: it passed, and nothing of it was judged."""
    criteria: Mapping[str, float] | None = None
    """Id of a criterion → 1 or 0, or its score; None: it has none."""
    judging: Judging | None = None
    """The result of several votes of judges; None if there were none."""

    @property
    def status(self) -> str:
        """`passed`, `failed` or `skipped`."""
        return self.verdict.status


class Stability(Value):
    """What the runs of a test have in common."""

    judged: int
    """Runs that passed or failed."""
    passed: int
    failed: int
    errors: int | None
    """Runs that broke; None: none did."""
    pass_rate: float
    """Percent; see `pass_rate`."""
    consistency: float
    """Share of the runs whose output is the most frequent one, 0 to 1."""
    stable: bool
    """Whether all passed."""
    classification: str
    """`stable`, `mostly stable`, `unstable` or `highly unstable`."""
    avg_duration_ms: int
    min_duration_ms: int
    max_duration_ms: int
    std_deviation_ms: float
    """Standard deviation of the population: these runs are not a sample."""
    confidence_interval: tuple[float, float]
    """Wilson score interval of the pass rate at 95 %, in percent."""
    pass_at_k: dict[int, float]
    """k → probability that at least one of k runs passes."""
    pass_hat_k: dict[int, float]
    """k → probability that all of k runs pass."""
    avg_tokens: int | None = None
    avg_cost: float | None = None
    """US dollars."""


class TestResult(Value):
    """How a test ended, or one run of it."""

    suite: str
    name: str
    position: int
    """Position in the suite, from 0."""
    outcome: Outcome
    logs: tuple[LogLine, ...] = ()
    """What its scripts wrote, and what the run noted."""
    case: CaseResult | None = None
    """The result of a case; None for a script test."""
    run: int = 0
    """Which of several runs it is, from 1; 0: the result of the test."""
    earlier_errors: tuple[str, ...] = ()
    """Why it broke in the passes before the one that this is the result of (`--retry-errors`)."""
    attempts: tuple[Attempt, ...] = ()
    """The runs of a test that was run several times. All else is of the first of them that ended like the test, but for
    the duration, which is their mean, what a case took, which is their sum, and the warnings: those of all, each once.
    """
    stability: Stability | None = None
    """What the runs have in common; None when there were none, or all were skipped."""
    policy: Any = None
    """In the result of one run: the policy of its case, as its file has it; None: it has none."""
    repeat: Repeat | None = None
    """The state of the case's policy after its runs."""
    record: dict[str, Any] | None = None
    """Its line in the report of an earlier run, which this one resumes; None: it is of this run."""
    fingerprint: Mapping[str, Any] | None = None
    """The digests of what it depends on, for a run that resumes this one; see `runner.fingerprints`."""
    regradable: Regradable | None = None
    """What grading it again needs in addition."""
    outside: tuple[OutsideCall, ...] = ()
    """The calls that left its scripts, in the order of their first, and who answered them."""
    judgements: tuple[AssertionResult, ...] = ()
    """The verdicts of judges that a script has asked with `t.assert.Agent`."""
    cut_short: bool = False
    """Whether the run ended before the case did: it is skipped, and has no verdict."""
    calls: dict[str, Any] | None = None
    """The calls of a script test, for spans: those of agents, models and tools, as in the trace of a case."""

    @property
    def place(self) -> TestPlace:
        """Where its test stands in the run."""
        return TestPlace(suite=self.suite, position=self.position, run=self.run)

    @property
    def key(self) -> TestKey:
        """The run of a test that it is of, also when that is the only one."""
        return TestKey(suite=self.suite, test=self.name, run=self.run or 1)
