"""What a case's agent answered, and how that was judged, as reports have it (`runner.shapes.codec`)."""

from __future__ import annotations

from enum import StrEnum

from runner.amounts import Cost, Milliseconds, cost_in
from runner.assertions.base import AgentUse, AssertionResult, Judged, ToolUse
from runner.shapes.codec import json_of as json_of
from runner.shapes.json_value import JsonValue
from scripttest import Status
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from scripttest.typing_names import Record


def graded_turn(name: str) -> int:
    """The turn that a score of this name grades; 0: the whole, or the one answer there is."""
    turn, _, number = name.partition("-")
    return int(number) if turn == "turn" and number.isdecimal() else 0


def _response_in(turn: Record) -> str:
    said = turn.get("output")
    response = turn.get("response")
    return (said if isinstance(said, str) else "") if response is None else response


def _output_in(turn: Record) -> Any:
    """The output of the agent; None where the text of its answer, or nothing, stands for it."""
    output = turn.get("output")
    is_unanswered = output == "" and bool(turn.get("error") or turn.get("skip_reason"))
    return None if is_unanswered or ("response" in turn and turn["response"] == output) else output


def _tool_call(tool: ToolUse) -> Record:
    outcome = {"result": tool.result} if tool.error is None else {"error": tool.error}
    return {"name": tool.name, "args": tool.arguments, "server": tool.server, **outcome}


class TurnUsage(Value):
    """The tokens and costs of all model calls in a turn."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: Cost | None = None
    """None when it is not known."""
    __members__ = "input_tokens! output_tokens!"


class AnswerUsage(Value):
    """The time, tokens and calls of one answer of the agent, without those of judges and simulators."""

    milliseconds: Milliseconds
    model_calls: int | None = None
    """None: not known."""
    usage: TurnUsage | None = None
    """None: not known."""
    agents: tuple[AgentUse, ...] | None = ()
    """The other agents that were asked, `after` counted from the first tool of the answer; None: not known."""
    __writers__ = {  # noqa: RUF012
        "agents": lambda answer: (
            ... if answer.agents == () else None if answer.agents is None else list(map(json_of, answer.agents))
        ),
    }


class Regradable(Value):
    """What `yao-test regrade` needs besides the line: the case as its file had it, and more on each answer."""

    case: Mapping[str, Any] | None = None
    """As in its file, without `id` and `input`; None if it is too long to be stored."""
    answers: tuple[AnswerUsage, ...]
    """In their order."""


class TurnResult(JsonValue):
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
    milliseconds: Milliseconds = 0
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
    __members__ = (
        "turn input source status output! response tools finish_reason awaiting_input! awaiting_reason attachments"
        " input_hint assertions assertion_errors error skip_reason question no_next_turn note usage milliseconds!"
    )
    __keys__ = {"source": "input_source", "tools": "tool_calls"}  # noqa: RUF012
    __writers__ = {  # noqa: RUF012
        "output": lambda turn: turn.response if turn.output is None else turn.output,
        "response": lambda turn: (
            ... if turn.response == (turn.output if isinstance(turn.output, str) else "") else turn.response
        ),
        "tool_calls": lambda turn: list(map(_tool_call, turn.tools)) or ...,
    }
    __readers__ = {"output": _output_in, "response": _response_in}  # noqa: RUF012

    @property
    def answer(self) -> Any:
        """The answer as all output shows it."""
        return self.response or None if self.output in (None, "") else self.output

    @property
    def assertion_errors(self) -> list[str]:
        """Why assertions failed."""
        return [result.message for result in self.assertions if not result.passed]


class CheckpointResult(Value):
    """A checkpoint of a case."""

    id: str
    description: str | None = None
    required: bool = True
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
    """What judges said of it when it was reached, undecided, or last tried; empty where none was asked."""
    __members__ = "id reached_at_turn passed required! judged description message not_judged inconclusive assertions"
    __readers__ = {  # noqa: RUF012
        "reached_at_turn": lambda line: line.get("reached_at_turn") if line.get("passed", True) else None
    }

    @property
    def passed(self) -> bool:
        """Whether it was reached."""
        return self.reached_at_turn is not None


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
    __members__ = (
        "text passed score weight! required reason error id infrastructure judged not_judged"
        " judge judge_connector options votes agreement inconclusive similarity measured_by"
    )
    __writers__ = {  # noqa: RUF012
        **Judged.__writers__,
        "score": lambda one: one.score if one.judged else ...,
        "not_judged": lambda one: one.not_judged if one.not_judged != int(not one.judged) else ...,
    }
    __readers__ = {  # noqa: RUF012
        "not_judged": lambda line: line.get("not_judged", int(not line.get("judged", True))),
    }


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
    verdict: ScoreVerdict = ScoreVerdict.SKIP
    assertions: tuple[CriterionResult, ...] = ()
    __members__ = "name type score verdict! assertions!"


class TrialResult(Value):
    """One of several trials of a conversation."""

    trial: int
    """From 1."""
    score: float | None
    """None: the trial did not reach its end, or nothing of it was judged."""
    status: Status
    milliseconds: Milliseconds
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


def _is_graded(case: CaseResult) -> bool:
    return case.scores_turns or (not case.in_turns and bool(case.scores))


def _usage(case: CaseResult) -> Any:
    usage = TurnUsage(input_tokens=case.input_tokens, output_tokens=case.output_tokens, cost=case.cost)
    return json_of(usage) if case.tokens or case.cost is not None else ...


def _usage_in(name: str) -> Any:
    return lambda line: (line.get("usage") or {}).get(name) or 0


class CaseResult(JsonValue):
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
    cost: Cost | None = None
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
    __keys__ = {"title": "name", "messages": "messages_count"}  # noqa: RUF012
    __members__ = "title input! output! expected! response! messages! usage total_turns final_output"
    __beside__ = "input_tokens output_tokens cost in_turns scores_turns transcript"
    __writers__ = {  # noqa: RUF012
        "name": lambda case: ... if case.title is None else case.title,
        "output": lambda case: list(case.transcript) if case.scores_turns else case.output,
        "final_output": lambda case: (
            case.output if case.scores_turns and case.output != (case.response or None) else ...
        ),
        "assertions": lambda case: ... if case.in_turns else list(map(json_of, case.assertions)),
        "mode": lambda case: case.mode if case.in_turns else ...,
        "turns": lambda case: list(map(json_of, case.turns)) if case.in_turns else ...,
        "total_turns": lambda case: (
            sum(turn.status != Status.SKIPPED and turn.input is not None for turn in case.turns)
            if case.in_turns
            else ...
        ),
        "score": lambda case: case.score if _is_graded(case) else ...,
        "scores": lambda case: list(map(json_of, case.scores)) if _is_graded(case) else ...,
        "threshold": lambda case: (
            case.threshold if _is_graded(case) and (case.threshold is not None or not case.in_turns) else ...
        ),
        "usage": _usage,
    }
    __readers__ = {  # noqa: RUF012
        "output": lambda line: (
            line.get("final_output", line.get("response") or None) if "test_id" in line else line.get("output")
        ),
        "in_turns": lambda line: "mode" in line,
        "scores_turns": lambda line: "test_id" in line,
        "transcript": lambda line: tuple(line.get("output") or ()) if "test_id" in line else (),
        "input_tokens": _usage_in("input_tokens"),
        "output_tokens": _usage_in("output_tokens"),
        "cost": lambda line: cost_in(line.get("usage") or {}),
    }

    @property
    def answer(self) -> Any:
        """The answer as all output shows it; of a conversation the last one."""
        return self.response or None if self.output in (None, "") else self.output

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.input_tokens + self.output_tokens
