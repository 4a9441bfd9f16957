"""The results of a run as values: its suites, and the result of each test with its attempts, turns, checks and scores.

Events carry these values (`runner.results.events`), one fold counts them (`runner.results.fold`), and the modules named
`..._json` write and read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum

from runner.results.test_place import TestPlace
from scripttest import LogLine, Outcome, Status, TestKey
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from bindings import OutsideCall
    from runner.assertions.base import AssertionResult, ToolUse, Vote
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
        return f"{name} [{self.variant}]" if self.variant else name

    @property
    def input(self) -> str:
        """The value of `-i` that runs it."""
        return self.label[1:-1] if self.is_message else self.label if self.has_cases else self.id


class TurnUsage(Value):
    """The tokens and costs of all model calls in a turn."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """US dollars; None when it is not known."""


class TurnResult(Value):
    """A message to the agent, and its answer, within a case."""

    turn: int
    """From 1."""
    input: Any
    source: str
    """Where the message came from: `static`, `initial`, `simulated` or `human`; empty when nobody answered
    the agent."""
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
    """A remark such as `Goal achieved: ...`."""
    question: str | None = None
    """The agent's question to which nobody answered."""
    no_next_turn: bool = False
    """Whether the agent waited and nobody was there who could answer: no further turn, no simulator, no person."""
    attachments: tuple[dict[str, Any], ...] = ()
    """The files that were sent with the input, as in `CaseResult`."""
    usage: TurnUsage | None = None
    """The tokens and costs of the answer; None when they are not known."""


class CheckpointResult(Value):
    """A checkpoint of a case."""

    id: str
    description: str | None
    required: bool
    reached_at_turn: int | None
    """None: not reached."""
    message: str = ""
    """Why its assertion failed the last time."""
    judged: bool = True
    """False: it counts as reached, but nothing of it was judged."""
    not_judged: int = 0
    """How many judges could not judge when it was last tried, while it is not reached."""
    inconclusive: bool = False
    """It is not reached, and may have been: votes on it, or on what it comes after, do not decide."""
    assertions: tuple[AssertionResult, ...] = ()
    """What judges said of it: when it was reached, when votes did not decide, or else when it was last tried; empty
    where no judge was asked."""


class CriterionResult(Value):
    """The result of one criterion or assertion of a graded turn."""

    text: str
    passed: bool
    score: float | None
    """None: it was not judged."""
    weight: float = 1
    required: bool = False
    reason: str = ""
    error: bool = False
    """Why it could not be graded."""
    id: str | None = None
    """The id of the criterion, if it has one."""
    infrastructure: bool = False
    """It could not be graded because a judge, or the way to it, broke."""
    judged: bool = True
    """False: its judge could not judge; it counts in no score."""
    not_judged: int = 0
    """How many judges could not judge; a composition may have several judges."""
    votes: tuple[Vote, ...] = ()
    """The votes, where there were several."""
    agreement: float | None = None
    """Share of equal pairs of votes."""
    inconclusive: bool = False
    """It was judged, and the votes do not decide."""
    judge: str | None = None
    """Id of the agent that judged."""
    judge_connector: str | None = None
    """The connector that it used; of several judges, all of their connectors."""
    options: Mapping[str, Any] | None = None
    """The options of the judge, as the case has them: `{connector?, metadata?}`."""


class ScoreVerdict(StrEnum):
    """The verdict of a score on a turn or a conversation. Reports write the same words."""

    PASS = "pass"
    FAIL = "fail"
    SKIP = "skip"
    """Nothing was judged, or nothing asked for it."""


class ScoreResult(Value):
    """The grade of one turn, or of the whole conversation."""

    name: str
    """`turn-1`, `turn-2` ..., `assertions`."""
    type: str
    """`rubrics`, or the one assertion type that was used."""
    score: float | None
    """None: nothing was judged."""
    verdict: ScoreVerdict
    assertions: tuple[CriterionResult, ...] = ()


class TrialResult(Value):
    """One of several trials of a conversation."""

    trial: int
    """From 1."""
    score: float | None
    """None: the trial did not reach its end, or nothing of it was judged."""
    status: Status
    milliseconds: float
    error: str | None = None
    """Its first failure."""


class TrialsNoise(Value):
    """The standard error of the mean score of trials, and where it comes from."""

    error: float
    """The standard error, computed from the scores of the trials."""
    judge: float
    """The variance of the score of one trial that comes from the votes of judges; 0 when there are too few votes."""
    agent: float
    """The rest of the variance, which comes from the agent and a simulated user."""


class CaseResult(Value):
    """What a case's agent answered, and how that was judged."""

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
    """How many messages were sent to the agent."""
    assertions: tuple[AssertionResult, ...] = ()
    tools: tuple[ToolUse, ...] = ()
    """The calls of tools, in their order."""
    connector: str = ""
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """US dollars."""
    sent: tuple[dict[str, Any], ...] = ()
    """What scripts sent to the user besides the answer."""
    line: int = 0
    """Line of the case in its file; 0 when there is none."""
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] | None = None
    mode: str = "standard"
    """How it was run, such as `standard` or `conversation`."""
    in_turns: bool = False
    """Whether the user could speak several times in this mode."""
    scores_turns: bool = False
    """Whether each turn has a score; the report has the whole transcript then."""
    simulator: str | None = None
    """Who played the user."""
    turns: tuple[TurnResult, ...] = ()
    checkpoints: tuple[CheckpointResult, ...] | None = None
    """None if a case like this has none."""
    final_assertions: tuple[AssertionResult, ...] | None = None
    score: float | None = None
    """Of a conversation, 0 to 1."""
    scores: tuple[ScoreResult, ...] = ()
    transcript: tuple[dict[str, Any], ...] = ()
    """All messages of a conversation."""
    threshold: float | None = None
    """The lowest score with which a conversation passes."""
    trials: tuple[TrialResult, ...] = ()
    """Of a conversation that is held several times; all else but `score` and what it took is of the worst one."""
    trials_noise: TrialsNoise | None = None
    """Set when two or more trials have a score."""
    checks_nothing: bool = False
    """Nothing but an error could have failed it: no assertion, no checkpoint, no criterion, no simulated user. A
    message of the command line is not meant to check anything."""
    attachments: tuple[dict[str, Any], ...] = ()
    """The files of the case itself: `{type, name?, media_type?, size?, source?}`, `size` in bytes."""
    trace: dict[str, Any] | None = None
    """The calls of models and tools: see `runner.modes.tracing`."""


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
