"""The models of cases other than plain standard ones (seeds 000 to 003; specification, 7 and 8): conversations, which
are graded, multi-turn cases, dynamic cases, and standard cases whose answer gets a score. `runner.modes` runs them,
each mode in its module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from runner.assertions.model import Assertions
from runner.cases.entries import Finding
from runner.cases.model import Case, Message, Reference
from runner.cases.turns import (
    Checkpoint,
    ConversationTurn,
    CriterionText,
    GradedBy,
    Grader,
    Graders,
    Interactive,
    OnMissingInput,
    Rubrics,
    Simulator,
    Turn,
    as_grader,
    findings_of_talk,
    references_of_talk,
)
from runner.shapes.declared import Field
from runner.shapes.shape import Shape


class _FurtherCase(Case):
    """A case that is no plain one."""

    def findings(self, folder: Path) -> Iterator[Finding]:
        """What the model cannot express."""
        yield from findings_of_talk(self, folder)

    def references(self, connector: str = "", simulator: str = "") -> Iterator[Reference]:
        """In addition what it has beyond a plain case."""
        yield from super().references(connector, simulator)
        yield from references_of_talk(self, connector, simulator if self.in_turns else "")


class MultiTurnCase(_FurtherCase):
    """A conversation in which the user's next words are given, simulated, or typed."""

    runs: ClassVar[str] = "multi_turn"
    run_by: ClassVar[str] = "multi_turn.MultiTurn"
    in_turns: ClassVar[bool] = True
    type: Literal["multi_turn", "single_turn"] | None = None  # type: ignore[assignment]
    """`multi_turn`, or `single_turn` for a case with one turn."""
    turns: list[Turn] = Field(default_factory=list)
    """The messages of the user, one after another."""
    simulator: Simulator | None = None
    """Speaks when no turns are left and the agent waits; without turns, until its goal is achieved."""
    interactive: Interactive = Field(default_factory=Interactive)
    """Whether a person may answer when there is no simulator."""
    on_missing_input: OnMissingInput | None = None
    """What to do when the agent waits and nobody answers: `skip`, `fail` or `end`."""
    turn_assertions: Assertions | None = None
    """Assertions on each answer."""
    final_assertions: Assertions | None = None
    """Assertions at the end, on the last output and the state of the conversation."""
    max_turns: int | None = Field(default=None, ge=1)
    """Maximum number of user messages. Default: the simulator's, else 20."""
    input_tools: list[str] | None = None
    """Tools whose call means that the agent waits for the user."""

    def findings(self, folder: Path) -> Iterator[Finding]:
        """What the model cannot express."""
        if self.type == "single_turn" and len(self.turns) > 1:
            text = f'"type" is "single_turn", but there are {len(self.turns)} turns'
            yield Finding(path=("type",), text=text, hint="A case with several turns is a multi-turn case")
        yield from super().findings(folder)


class ConversationCase(MultiTurnCase):
    """A conversation whose turns are graded, and the whole of it."""

    runs: ClassVar[str] = "conversation"
    run_by: ClassVar[str] = "conversation.GradedConversation"
    scores_turns: ClassVar[bool] = True
    mode: Literal["conversation"] | None = None
    """`conversation`; optional with `rubrics`, `threshold`, `criteria` or `grader`."""
    type: Literal["multi_turn"] | None = None
    """`multi_turn`, the default."""
    input: Annotated[str | Message | list[Message] | None, _joined] = None
    """What comes before the turns: system prompt and context."""
    turns: list[ConversationTurn] = Field(default_factory=list)  # type: ignore[assignment]
    """The messages of the user, one after another; at least one, unless there is a simulator or a person."""
    checkpoints: list[Checkpoint] = Field(default_factory=list)
    """What the agent has to reach; then a simulated user stops."""
    turn_assertions: Graders | None = None  # type: ignore[assignment]
    """Criteria in words, and other assertions, on each answer."""
    final_assertions: Graders | None = None  # type: ignore[assignment]
    """Grade the whole transcript, in addition to `assertions`."""
    rubrics: Rubrics | None = None
    """Criteria for the validator on the whole transcript."""
    criteria: CriterionText | None = None
    """What the whole conversation is about; graded when nothing else is."""
    assertions: GradedBy = None  # type: ignore[assignment]
    """Grade the whole transcript."""
    aggregation: Literal["mean", "min", "max"] = "mean"
    """How scores are combined."""
    on_turn_failure: Literal["continue", "stop"] = "continue"
    """Whether turns after a failed one run, or are skipped with score 0."""
    window_size: int | None = Field(default=None, ge=1)
    """Number of last turns that graders see. Default: all."""
    threshold: float | None = Field(default=None, ge=0, le=1)
    """Minimum score of the verdict `pass`. Default: `--threshold`, else 0.8."""
    trials: int = Field(default=1, ge=1)
    """Number of times to run the conversation."""
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

    def findings(self, folder: Path) -> Iterator[Finding]:
        """What the model cannot express."""
        if self.expected is not None:
            hint = '"expected_output" in a turn is a reference for its answer'
            yield Finding(path=("expected",), text='"expected" cannot be set in a conversation', hint=hint)
        if not self.turns and self.simulator is None and not self.interactive.enabled:
            if "turns" in self.model_fields_set:
                yield Finding(path=("turns",), text='"turns" must not be empty')
            else:
                yield Finding(path=(), text='"turns" is missing')
        yield from super().findings(folder)

    def references(self, connector: str = "", simulator: str = "") -> Iterator[Reference]:
        """The simulator of the flag counts only in place of one that it has."""
        yield from super().references(connector, simulator if self.simulator is not None else "")


class DynamicCase(_FurtherCase):
    """A conversation with a simulated user, until all checkpoints are reached."""

    runs: ClassVar[str] = "dynamic"
    run_by: ClassVar[str] = "multi_turn.Dynamic"
    in_turns: ClassVar[bool] = True
    lists_checkpoints: ClassVar[bool] = True
    simulator: Simulator = Field(default_factory=Simulator)
    """Plays the user; `--simulator` does when it is missing."""
    checkpoints: list[Checkpoint] = Field(min_length=1)
    """What the agent has to reach."""
    turn_assertions: Assertions | None = None
    """Assertions on each answer."""
    final_assertions: Assertions | None = None
    """Assertions at the end, on the last output and the conversation."""
    max_turns: int | None = Field(default=None, ge=1)
    """Maximum number of user messages. Default: 20."""

    def findings(self, folder: Path) -> Iterator[Finding]:
        """What the model cannot express."""
        if self.type is not None:
            hint = "The type follows from the other fields"
            yield Finding(path=("type",), text='"type" cannot be set in a dynamic case', hint=hint)
        yield from super().findings(folder)


class GradedCase(_FurtherCase):
    """One call of the agent, whose answer gets a score."""

    graded: ClassVar[bool] = True
    assertions: Annotated[Graders | None, Field(spellings=("assert", "assertions"))] = None  # type: ignore[assignment]
    """Criteria in words, and other assertions on the answer."""
    rubrics: Rubrics | None = None
    """Criteria for the validator."""
    criteria: CriterionText | None = None
    """What the answer is about; graded when nothing else is."""
    threshold: float | None = Field(default=None, ge=0, le=1)
    """Minimum score to pass. Default: `--threshold`, else 0.8."""
    grader: str | None = None
    """The validator agent; `workers.test.validator`."""


def _one_of_two(messages: list[Any]) -> list[Any]:
    """Joins a message that is only a role with the next, if that has none: `- role: system` before `- input: ...`."""
    joined: list[Any] = []
    for message in messages:
        half = joined and isinstance(joined[-1], dict) and joined[-1].keys() == {"role"}
        if half and isinstance(message, dict) and "role" not in message:
            joined[-1] = joined[-1] | message
        else:
            joined.append(message)
    return joined


def _joined(shape: Shape) -> Shape:
    take = shape.takes[list]
    return shape.like({**shape.takes, list: lambda messages: take(_one_of_two(messages))})
