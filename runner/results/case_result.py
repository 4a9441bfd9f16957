"""What a case's agent answered, and how that was judged: its turns, checkpoints and scores."""

from __future__ import annotations

from enum import StrEnum

from runner.assertions.base import Judged
from runner.results.value_texts import shown_answer
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.assertions.base import AssertionResult, ToolUse
    from scripttest import Status


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
    finish_reason: str = ""
    """Of the last answer of the model, as its host said it."""
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

    @property
    def answer(self) -> Any:
        """The answer as all output shows it."""
        return shown_answer(self.output, self.response)


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


class CriterionResult(Judged):
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
    finish_reason: str = ""
    """Of the last answer of the model, as its host said it."""
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
