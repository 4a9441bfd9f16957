"""Cases of several turns: multi-turn, dynamic, conversation mode (seeds 000, 001, 002, 003; specification, 7 and 8).

What models cannot say is in `runner.cases.conversation_checks`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from runner.assertions import TYPES
from runner.assertions.model import Assertion, Assertions, OneOrMany
from runner.cases.kinds import model_of
from runner.cases.model import CallOptions, Case, Message, Mode, Part
from runner.durations import Duration
from runner.shapes.declared import Field, Model, Schema, Shaped, schema_of, validator_of
from runner.shapes.durations import DurationText
from runner.shapes.numbers import FreeObject, FreeValue

OnMissingInput = Literal["skip", "fail", "end"]


class Turn(Model):
    """The next message of the user, and assertions on the answer."""

    input: str | Message | list[Part]
    """A text, a message, or parts."""
    assertions: Annotated[Assertions | None, Field(spellings=("assert", "assertions"))] = None
    """Assertions on this turn's output."""
    options: CallOptions | None = None
    """Options of this call, over those of the case."""
    attachments: list[Part] = Field(default_factory=list)
    """Parts to add to the message."""


class Simulator(Model):
    """The agent or script that plays the user."""

    use: str | None = None
    """`agents:id`, `scripts:module`, or an agent's id; `--simulator` when it is missing."""
    options: CallOptions = Field(default_factory=CallOptions)
    """Options of its calls; `persona`, `goal` and `max_turns` may be in their metadata."""
    metadata: FreeObject = Field(default_factory=dict)
    """`persona`, `goal`, `max_turns`, and whatever else the simulator understands."""
    persona: str | None = None
    """Who the user is."""
    goal: str | None = None
    """What the user wants."""
    max_turns: int | None = Field(default=None, ge=1)
    """How many times the user may speak."""


class Interactive(Model):
    """Whether a person may answer."""

    enabled: bool = False
    """Ask the person at the terminal when the agent waits."""
    timeout: DurationText = Duration("5m")
    """How long the person has."""


class MultiTurnCase(Case):
    """A conversation in which the user's next words are given, simulated, or typed."""

    runs: ClassVar[Mode] = Mode.MULTI_TURN
    type: Literal["multi_turn", "single_turn"] | None = None  # type: ignore[assignment]
    """`multi_turn`; `single_turn` of a case with one turn, which ends with its answer."""
    turns: list[Turn] = Field(default_factory=list)
    """The messages of the user, one after another."""
    simulator: Simulator | None = None
    """Speaks when no turns are left and the agent waits; without turns, until its goal is achieved."""
    interactive: Interactive = Field(default_factory=Interactive)
    """Whether a person may answer when there is no simulator."""
    on_missing_input: OnMissingInput | None = None
    """What happens when the agent waits and nobody answers: `skip`, `fail`, or `end` of the conversation."""
    turn_assertions: Assertions | None = None
    """Assertions on each answer."""
    final_assertions: Assertions | None = None
    """Assertions at the end, on the last output and the state of the conversation."""
    max_turns: int | None = Field(default=None, ge=1)
    """How many times the user may speak; the simulator's, else 20."""
    input_tools: list[str] | None = None
    """Tools whose call means that the agent waits for the user."""


class Checkpoint(Model):
    """Something the agent has to reach."""

    id: Annotated[str, Field(pattern=r"\S")]
    """Names the checkpoint; no other of the case has it."""
    description: str | None = None
    """A description for people."""
    assertions: Annotated[Assertions, Field(spellings=("assertion", "assert", "assertions"))]
    """Assertions on the answer that reaches it."""
    after: list[str] = Field(default_factory=list)
    """Ids of checkpoints that must be reached before."""
    required: bool = True
    """Whether the case fails without it."""


class DynamicCase(Case):
    """A conversation with a simulated user, until all checkpoints are reached."""

    runs: ClassVar[Mode] = Mode.DYNAMIC
    simulator: Simulator = Field(default_factory=Simulator)
    """Plays the user; `--simulator` does when it is missing."""
    checkpoints: list[Checkpoint] = Field(min_length=1)
    """What the agent has to reach."""
    turn_assertions: Assertions | None = None
    """Assertions on each answer."""
    final_assertions: Assertions | None = None
    """Assertions at the end, on the last output and the conversation."""
    max_turns: int | None = Field(default=None, ge=1)
    """How many times the user may speak; 20."""


CriterionText = Annotated[str, Field(pattern=r"\S")]
"""A criterion for the validator, in words."""


class Criterion(Model):
    """One criterion of a rubric."""

    id: str | None = None
    """Names the criterion in results."""
    outcome: Annotated[str, Field(pattern=r"\S")]
    """What the answer must be like, in words."""
    weight: float = Field(default=1, gt=0, allow_inf_nan=False)
    """How much it counts."""
    required: bool = False
    """Whether the case fails without it."""


GraderType = Annotated[str, Shaped(lambda _: {"type": "literal", "expected": ["rubrics", *TYPES]})]


class Grader(Assertion):
    """An assertion with a weight, or `rubrics`: criteria for the validator."""

    type: GraderType = "equals"
    """Any assertion type, or `rubrics`."""
    criteria: str | list[CriterionText | Criterion] | None = None  # type: ignore[assignment]
    """For `rubrics`: a list of criteria, texts or objects; for `agent`: a text."""
    weight: float = Field(default=1, gt=0, allow_inf_nan=False)
    """How much it counts."""
    required: bool = False
    """Whether the case fails if it fails."""


Graders = Annotated[list[CriterionText | Grader], OneOrMany]
"""Plain texts are criteria for the validator."""
Rubrics = Annotated[list[CriterionText | Criterion], OneOrMany]
"""Criteria for the validator, texts or objects."""
_Graders = Annotated[Graders | None, Field(spellings=("assertions", "assert"))]


class ConversationTurn(Model):
    """The next message of the user, and how the answer is graded."""

    input: str | Message | list[Part]
    """A text, a message, or parts."""
    expected_output: FreeValue = None
    """A reference for grading; it never enters the conversation."""
    assertions: _Graders = None
    """Criteria in words, and other assertions on this turn's answer."""
    options: CallOptions | None = None
    """Options of this call, over those of the case."""
    attachments: list[Part] = Field(default_factory=list)
    """Parts to add to the message."""


def _one_of_two(messages: Any) -> Any:
    """Joins a message that is only a role with the next, if that has none: `- role: system` before `- input: ...`."""
    if not isinstance(messages, list):
        return messages
    joined: list[Any] = []
    for message in messages:
        half = joined and isinstance(joined[-1], dict) and joined[-1].keys() == {"role"}
        if half and isinstance(message, dict) and "role" not in message:
            joined[-1] = joined[-1] | message
        else:
            joined.append(message)
    return joined


def _joined(schema: Schema) -> Schema:
    return {"type": "function-before", "function": {"type": "no-info", "function": _one_of_two}, "schema": schema}


class ConversationCase(Case):
    """A conversation whose turns are graded, and the whole of it."""

    runs: ClassVar[Mode] = Mode.CONVERSATION
    mode: Literal["conversation"] | None = None
    """`conversation`; a talk with `rubrics`, `threshold`, `criteria` or `grader` is one also without it."""
    type: Literal["multi_turn"] | None = None  # type: ignore[assignment]
    """`multi_turn`, which it is anyway."""
    input: Annotated[str | Message | list[Message] | None, Field(in_order=True), Shaped(_joined)] = None
    """What comes before the turns: system prompt and context."""
    turns: list[ConversationTurn] = Field(default_factory=list)
    """The messages of the user, one after another; at least one, unless there is a simulator or a person."""
    simulator: Simulator | None = None
    """Speaks when no turns are left and the agent waits; without turns, until its goal is achieved."""
    interactive: Interactive = Field(default_factory=Interactive)
    """Whether a person may answer when there is no simulator."""
    on_missing_input: OnMissingInput | None = None
    """What happens when the agent waits and nobody answers: `skip`, `fail`, or `end` of the conversation."""
    max_turns: int | None = Field(default=None, ge=1)
    """How many times the user may speak; the simulator's, else 20."""
    input_tools: list[str] | None = None
    """Tools whose call means that the agent waits for the user."""
    checkpoints: list[Checkpoint] = Field(default_factory=list)
    """What the agent has to reach; once it has, a simulated user has nothing more to say."""
    turn_assertions: Graders | None = None
    """Criteria in words, and other assertions, on each answer."""
    final_assertions: Graders | None = None
    """Grade the whole transcript, in addition to `assertions`."""
    rubrics: Rubrics | None = None
    """Criteria for the validator on the whole transcript."""
    criteria: str | None = None
    """What the whole conversation is about; graded when nothing else is."""
    assertions: _Graders = None  # type: ignore[assignment]
    """Grade the whole transcript."""
    aggregation: Literal["mean", "min", "max"] = "mean"
    """How the scores become one."""
    on_turn_failure: Literal["continue", "stop"] = "continue"
    """Whether the turns after a failed one run, or are left out and scored 0."""
    window_size: int | None = Field(default=None, ge=1)
    """How many of the last turns graders see; all."""
    threshold: float | None = Field(default=None, ge=0, le=1)
    """The score from which on a verdict is `pass`; `--threshold`, else 0.8."""
    trials: int = Field(default=1, ge=1)
    """How often the conversation is held."""
    grader: str | None = None
    """The validator agent; `workers.test.validator`."""

    @property
    def is_written(self) -> bool:
        """Whether all that the user says is written down, and nothing is to be reached on the way; where the mode is
        not said, it is a multi-turn case with scores."""
        others = (self.simulator, self.on_missing_input, self.max_turns, self.input_tools, self.turn_assertions)
        if self.mode is None:
            return False
        return not (self.interactive.enabled or self.checkpoints or any(other is not None for other in others))

    def whole(self) -> list[str | Grader]:
        """What grades the whole conversation."""
        return [*(self.assertions or ()), *(self.final_assertions or ()), *as_grader(self.rubrics)]


class GradedCase(Case):
    """One call of the agent, whose answer gets a score."""

    graded: ClassVar[bool] = True
    assertions: Annotated[Graders | None, Field(spellings=("assert", "assertions"))] = None  # type: ignore[assignment]
    """Criteria in words, and other assertions on the answer."""
    rubrics: Rubrics | None = None
    """Criteria for the validator."""
    criteria: str | None = None
    """What the answer is about; graded when nothing else is."""
    threshold: float | None = Field(default=None, ge=0, le=1)
    """The score from which on it passes; `--threshold`, else 0.8."""
    grader: str | None = None
    """The validator agent; `workers.test.validator`."""


def as_grader(rubrics: list[str | Criterion] | None) -> list[Grader]:
    """Rubrics as one grader; none where there are none."""
    return [Grader(type="rubrics", criteria=rubrics)] if rubrics else []


def _mode_of(entry: Any) -> str | None:
    return model_of(entry).__name__ if isinstance(entry, dict) else None


_MODELS = (Case, MultiTurnCase, DynamicCase, ConversationCase, GradedCase)
CASES = validator_of(
    {
        "type": "list",
        "items_schema": {
            "type": "tagged-union",
            "discriminator": _mode_of,
            "choices": {model.__name__: schema_of(model) for model in _MODELS},
        },
    }
)
"""Reads entries of all modes."""
