"""What cases of several turns have in common: turns, simulators, people, checkpoints. Each mode has a module of its own
beside this one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from runner.assertions.model import Assertions
from runner.cases.graders import GradedBy
from runner.cases.model import CallOptions, Message, Part
from runner.cases.references import Reference, references_of_assertions, simulator_reference
from runner.durations import Duration
from runner.shapes.declared import Field, Model
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


class ConversationTurn(Model):
    """The next message of the user, and how the answer is graded."""

    input: str | Message | list[Part]
    """A text, a message, or parts."""
    expected_output: FreeValue = None
    """A reference for grading; it never enters the conversation."""
    assertions: GradedBy = None
    """Criteria in words, and other assertions on this turn's answer."""
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


def references_of_turn(turn: Turn | ConversationTurn, connector: str) -> Iterator[Reference]:
    """What a turn names; `connector` as in `Case.references`."""
    yield from references_of_assertions(turn.assertions)
    if turn.options is not None and turn.options.connector and not connector:
        yield Reference(kind="connector", text=turn.options.connector)


def references_of_simulator(simulator: Simulator | None, fallback: str) -> Iterator[Reference]:
    """Who plays the user, by the case or else by the flag, and its connector."""
    use = (simulator.use if simulator else None) or fallback
    if use:
        yield simulator_reference(use)
    if simulator is not None and simulator.options.connector:
        yield Reference(kind="connector", text=simulator.options.connector)
