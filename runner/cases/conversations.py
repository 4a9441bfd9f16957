"""Cases of several turns: multi-turn, dynamic, conversation mode (seeds 000, 001, 002, 003; specification, 7 and 8)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field

from runner.cases.model import Assertion, Assertions, CallOptions, Case, Message, Model, Part

OnMissingInput = Literal["skip", "fail", "end"]


class Turn(Model):
    """What the user says next, and how the answer has to be."""

    input: str | Message | list[Part]
    """A text, a message, or parts."""
    assertions: Annotated[Assertions | None, Field(validation_alias=AliasChoices("assert", "assertions"))] = None
    """What has to hold for this turn's output."""
    options: CallOptions | None = None
    """Options of this call, over those of the case."""
    attachments: list[Part] = Field(default_factory=list)
    """Parts to add to the message."""


class Simulator(Model):
    """The agent or script that plays the user."""

    use: str | None = None
    """`agents:id`, `scripts:module`, or an agent's id; `--simulator` when it is missing."""
    options: CallOptions = Field(default_factory=CallOptions)
    """Options of its calls; `persona`, `goal` and `max_turns` may stand in their metadata."""
    metadata: dict[str, Any] = Field(default_factory=dict)
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
    timeout: str = "5m"
    """How long the person has."""


class MultiTurnCase(Case):
    """A conversation in which the user's next words are given, simulated, or typed."""

    type: Literal["multi_turn", "single_turn"] | None = None
    turns: list[Turn] = Field(default_factory=list)
    """What the user says, one after another."""
    simulator: Simulator | None = None
    """Speaks when there are no turns left."""
    interactive: Interactive = Field(default_factory=Interactive)
    on_missing_input: OnMissingInput | None = None
    """What happens when the agent waits and nobody answers: `skip`, `fail`, or `end` of the conversation."""
    final_assertions: Assertions | None = None
    """What has to hold at the end, for the last output and the state of the conversation."""
    max_turns: int | None = Field(default=None, ge=1)
    """How many times the user may speak; 20."""
    input_tools: list[str] | None = None
    """Tools whose call means that the agent waits for the user."""


class Checkpoint(Model):
    """Something the agent has to reach."""

    id: Annotated[str, Field(pattern=r"\S")]
    description: str | None = None
    assertions: Annotated[Assertions, Field(validation_alias=AliasChoices("assertion", "assert", "assertions"))]
    """What has to hold for the answer that reaches it."""
    after: list[str] = Field(default_factory=list)
    """Ids of checkpoints that must be reached before."""
    required: bool = True
    """Whether the case fails without it."""


class DynamicCase(Case):
    """A conversation with a simulated user, until all checkpoints are reached."""

    simulator: Simulator
    checkpoints: list[Checkpoint] = Field(min_length=1)
    max_turns: int | None = Field(default=None, ge=1)
    """How many times the user may speak; 20."""


class Criterion(Model):
    """One criterion of a rubric."""

    id: str | None = None
    outcome: Annotated[str, Field(pattern=r"\S")]
    """What the answer has to be like, in words."""
    weight: float = Field(default=1, gt=0, strict=False)
    required: bool = False
    """Whether the case fails without it."""


class Grader(Assertion):
    """An assertion with a weight, or `rubrics`: criteria for the validator."""

    type: Any = "equals"
    """Any assertion type, or `rubrics`."""
    criteria: Any = None
    """Of `rubrics`: a list of criteria, texts or objects; of `agent`: a text."""
    weight: float = Field(default=1, gt=0, strict=False)
    required: bool = False
    """Whether the case fails when it does not hold."""


Graders = list[str | Grader]
"""Plain texts are criteria for the validator."""
_WholeGraders = Annotated[Graders | None, Field(validation_alias=AliasChoices("assertions", "assert"))]


class ConversationTurn(Model):
    """What the user says next, and how the answer is graded."""

    input: str | Message | list[Part]
    expected_output: Any = None
    """A reference for grading; it never enters the conversation."""
    assertions: Annotated[Graders | None, Field(validation_alias=AliasChoices("assertions", "assert"))] = None
    attachments: list[Part] = Field(default_factory=list)


class ConversationCase(Case):
    """A conversation whose turns are graded, and the whole of it."""

    mode: Literal["conversation"]
    turns: list[ConversationTurn] = Field(min_length=1)
    criteria: str | None = None
    """What the whole conversation is about; graded when nothing else is."""
    assertions: _WholeGraders = None  # type: ignore[assignment]
    """Grade the whole transcript."""
    aggregation: Literal["mean", "min", "max"] = "mean"
    """How the scores become one."""
    on_turn_failure: Literal["continue", "stop"] = "continue"
    window_size: int | None = Field(default=None, ge=1)
    """How many of the last turns graders see; all."""
    threshold: float | None = Field(default=None, ge=0, le=1, strict=False)
    """The score from which on a verdict is `pass`; `--threshold`, else 0.8."""
    depends_on: list[str] = Field(default_factory=list)
    """Ids of cases that have to pass before."""
    trials: int = Field(default=1, ge=1)
    """How often the conversation is held."""
    grader: str | None = None
    """The validator agent; `workers.test.validator`."""
