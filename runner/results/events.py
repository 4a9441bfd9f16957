"""The one stream that everything else comes from: console, reports and exit code.

Events are records of JSON-shaped fields that refer to each other by name, so that a run can be stored and replayed into
any reporter. They come in the order in which things happen:

| event | when |
| --- | --- |
| RunStart | first, once |
| SuiteStart | the tests of one test module or case file are known; `order` is its place among the run's suites |
| TestStart | a test begins, or one of its runs; several may be under way |
| TurnStart | the user speaks to the agent, in a case of several turns |
| AttemptEnd | with `--runs`: exactly one for each TestStart |
| TestEnd | exactly one for each test that has begun, after all of its runs |
| SuiteEnd | no more events of that suite |
| RunError | something broke outside any test |
| Warned | the user should know something |
| RunEnd | last, once, whatever happened |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from scripttest import Outcome, Status
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.assertions.base import AssertionResult, ToolUse
    from runner.results.stability import Attempt, Stability

RunStatus = Literal["passed", "failed", "error", "interrupted"]


class Suite(Value):
    """One source of tests."""

    id: str
    """Such as `scripts.expense.setup`."""
    kind: str
    """`script_test` for test modules, `agent_test` for case files and messages."""
    label: str
    """Its file, for people: `expense/src/setup_test.ts`."""
    file: str
    """Absolute path of its file; empty for a message."""
    agent: str
    """Agent id."""
    connector: str = ""
    """What the run uses in the place of the agent's own connector."""
    multi_turn: bool = False
    """Whether some of its cases have several turns."""
    root: str = ""
    """The folder from which reports name files: the repository, else the application; empty when it is not known."""

    @property
    def is_message(self) -> bool:
        """Whether it is one message of the command line."""
        return is_message(self.id)

    @property
    def is_generated(self) -> bool:
        """Whether its cases were made for this run."""
        return self.id.startswith(("agents:", "scripts:"))


def is_message(suite: str) -> bool:
    """Whether a suite, by its id, is one message of the command line."""
    return suite.startswith("message ")


class TurnResult(Value):
    """One message to the agent and its answer, within a case."""

    turn: int
    """From 1."""
    input: Any
    source: str
    """Who said it: `static`, `initial`, `simulated` or `human`; empty when nobody did."""
    status: Status
    output: Any = None
    response: str = ""
    """Text of the completion."""
    awaiting_input: bool = False
    awaiting_reason: str = ""
    """What decided it: `agent_declared`, `tool_requires_confirmation`, `finish_reason`, `content_is_question`,
    `completed`."""
    input_hint: str | None = None
    assertions: tuple[AssertionResult, ...] = ()
    tools: tuple[ToolUse, ...] = ()
    milliseconds: float = 0
    error: str | None = None
    skip_reason: str | None = None
    note: str | None = None
    """What else to say: `Goal achieved: ...`."""
    question: str | None = None
    """What the agent had asked, where nobody answered."""
    attachments: tuple[dict[str, Any], ...] = ()
    """The files that were sent with the input, as in `CaseResult`."""


class CheckpointResult(Value):
    """A checkpoint of a dynamic case."""

    id: str
    description: str | None
    required: bool
    reached_at_turn: int | None
    """None: not reached."""
    message: str = ""
    """Why its assertion last did not hold."""
    judged: bool = True
    """False: it counts as reached, but nothing of it was judged."""
    not_judged: int = 0
    """How many judges could not judge when it was last tried, while it is not reached."""


class CriterionResult(Value):
    """One criterion or assertion of a graded turn."""

    text: str
    passed: bool
    score: float | None
    """None: it was not judged."""
    weight: float = 1
    required: bool = False
    reason: str = ""
    error: bool = False
    """It could not be graded."""
    id: str | None = None
    """The criterion's own, if it has one."""
    infrastructure: bool = False
    """It could not be graded because a judge, or the way to it, broke."""
    judged: bool = True
    """False: its judge could not judge; it counts in no score."""
    not_judged: int = 0
    """How many judges could not judge; several where it is a composition."""


class ScoreResult(Value):
    """The grade of one turn, or of the whole conversation."""

    name: str
    """`turn-1`, `turn-2` ..., `assertions`."""
    type: str
    """`rubrics`, or the one assertion type that was used."""
    score: float | None
    """None: nothing of it was judged."""
    verdict: str
    """`pass`, `fail` or `skip`."""
    assertions: tuple[CriterionResult, ...] = ()


class TrialResult(Value):
    """One of several times that a conversation was held."""

    trial: int
    """From 1."""
    score: float | None
    """None: it was not held to its end, or nothing of it was judged."""
    status: Status
    milliseconds: float
    error: str | None = None
    """Its first failure."""


class CaseResult(Value):
    """What a case's agent answered and how it was judged."""

    title: str | None
    """The case's `name`."""
    input: Any
    """As the case file has it."""
    output: Any = None
    """JSON value."""
    response: str = ""
    """Text of the last completion."""
    expected: Any = None
    messages: int = 0
    """How many messages the agent got."""
    assertions: tuple[AssertionResult, ...] = ()
    tools: tuple[ToolUse, ...] = ()
    """In the order of the calls."""
    connector: str = ""
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """US dollars."""
    sent: tuple[dict[str, Any], ...] = ()
    """What scripts sent to the user beside the answer."""
    line: int = 0
    """Line of the case in its file; 0 when there is none."""
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] | None = None
    mode: str = "standard"
    """`standard`, `multi_turn`, `dynamic` or `conversation`."""
    simulator: str | None = None
    """Who played the user."""
    turns: tuple[TurnResult, ...] = ()
    checkpoints: tuple[CheckpointResult, ...] = ()
    final_assertions: tuple[AssertionResult, ...] | None = None
    score: float | None = None
    """Of a conversation, 0 to 1."""
    scores: tuple[ScoreResult, ...] = ()
    transcript: tuple[dict[str, Any], ...] = ()
    """Of a conversation: all messages."""
    threshold: float | None = None
    """Of a conversation: the score from which on it passes."""
    trials: tuple[TrialResult, ...] = ()
    """Of a conversation that is held several times; all else but `score` and what it took is of the worst one."""
    checks_nothing: bool = False
    """Nothing but an error could have failed it: no assertion, no checkpoint, no criterion, no simulated user. A
    message of the command line is not meant to check anything."""
    attachments: tuple[dict[str, Any], ...] = ()
    """The files of the case itself: `{type, name?, media_type?, size?, source?}`, `size` in bytes."""


class TestResult(Value):
    """How a test ended, or one run of it."""

    suite: str
    name: str
    position: int
    """Position in the suite, from 0."""
    outcome: Outcome
    logs: tuple[tuple[str, str], ...] = ()
    """Captured lines: level (trace, debug, info, warn, error) and text."""
    case: CaseResult | None = None
    """Of a case; a script test has none."""
    run: int = 0
    """Which of several runs it is, from 1; 0: the result of the test."""
    attempts: tuple[Attempt, ...] = ()
    """The runs of a test that was run several times. All else is of the first of them that ended like the test, but for
    the duration, which is their mean, what a case took, which is their sum, and the warnings: those of all, each once.
    """
    stability: Stability | None = None
    """What the runs have in common; None when there were none, or all were skipped."""
    record: dict[str, Any] | None = None
    """Its line in the report of an earlier run, which this one resumes; None: it is of this run."""
    digest: str = ""
    """A hash of its case, for a run that resumes this one."""


class RunStart(Value):
    """The inputs are resolved."""

    started_at: str
    """UTC, RFC 3339."""
    version: str
    suites: tuple[Suite, ...]
    environment: dict[str, str]
    """`user_id`, `team_id` and `locale` of the context."""
    total_cases: int | None = None
    """How many cases will run; None when there are script tests too, whose number is known later."""
    runs: int = 1
    """How often each test runs."""
    min_pass_rate: float = 100
    """Percent of its runs that have to pass for a test to pass."""
    resume: dict[str, Any] | None = None
    """What the run is made of, for one that resumes it; see `runner.planning.resume`."""
    flags: tuple[str, ...] = ()
    """The flags that a result may depend on, as words of the command."""


class SuiteStart(Value):
    """The tests of a suite are known."""

    suite: str
    selected: int
    """How many tests will run."""
    total: int
    """How many there are without `--run`."""
    tests: tuple[str, ...] = ()
    """Their names, in order; of a case file only in a dry run."""


class TestStart(Value):
    """A test begins, or one of its runs."""

    suite: str
    name: str
    position: int
    run: int = 0
    """Which of several runs it is, from 1; 0: there is only one."""


class TurnStart(Value):
    """The user speaks to the agent, in a case that is under way."""

    suite: str
    position: int
    turn: int
    """From 1."""
    run: int = 0
    """As in `TestStart`."""


class AttemptEnd(Value):
    """One of several runs of a test has ended."""

    result: TestResult


class TestEnd(Value):
    """A test has ended."""

    result: TestResult


class SuiteEnd(Value):
    """A suite has ended."""

    suite: str


class RunError(Value):
    """Something broke outside any test; the run does not pass."""

    message: str
    hint: str | None = None


class Warned(Value):
    """Something that the user should know, and that fails nothing."""

    message: str


class SnapshotCounts(Value):
    """What a run did with snapshots."""

    written: int = 0
    """How many are new."""
    updated: int = 0
    """How many were replaced by `--update-snapshots`."""
    removed: int = 0
    """How many were obsolete, and removed by it."""
    obsolete: tuple[str, ...] = ()
    """Those that no test asks for any more: file and name of each."""


class RunEnd(Value):
    """The run is over."""

    status: RunStatus
    seconds: float
    completed_at: str
    """UTC, RFC 3339."""
    stopped: str | None = None
    """Why it ended before its time: `interrupted`, `terminated`, or the budget that is used up."""
    not_run: int = 0
    """How many of the tests that were known have no verdict because of that; those that were cut short, and say so in
    their results, are among them."""
    snapshots: SnapshotCounts | None = None
    """None when there is nothing to say of them."""


Event = RunStart | SuiteStart | TestStart | TurnStart | AttemptEnd | TestEnd | SuiteEnd | RunError | Warned | RunEnd
