"""Conversations, which are graded (seed 003; specification, 8). `runner.modes.conversation` runs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from runner.application.json_parts import JsonPath
from runner.cases.conditions import CONVERSATION_MODE, GIVEN, GRADING, given, gives, graded, has, has_graders
from runner.cases.conversation_checks import (
    findings_of_checkpoints,
    findings_of_simulator,
    findings_of_turn,
    output_outside,
    without,
)
from runner.cases.conversations import (
    Checkpoint,
    ConversationTurn,
    Interactive,
    OnMissingInput,
    Simulator,
    references_of_simulator,
    references_of_turn,
)
from runner.cases.grader_checks import findings_of_grader, findings_of_graders
from runner.cases.graders import CriterionText, GradedBy, Grader, Graders, Rubrics, as_grader
from runner.cases.model import Case, Kind, Message
from runner.cases.problems import Finding
from runner.cases.references import Reference, agent_reference, references_of_assertions
from runner.shapes.declared import Field, Schema, Shaped


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

    runs: ClassVar[str] = "conversation"
    in_turns: ClassVar[bool] = True
    scores_turns: ClassVar[bool] = True
    kind: ClassVar[Kind] = Kind(
        one="a conversation",
        several="conversations",
        hint=f"Add {CONVERSATION_MODE} and turns",
        refuses=("expected",),
        has_all=True,
    )
    schema_rules: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            has("turns", {"type": "array", "minItems": 1}),
            has("simulator", GIVEN),
            has("interactive", {"type": "object", **has("enabled", {"const": True})}),
        ]
    }
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
    criteria: CriterionText | None = None
    """What the whole conversation is about; graded when nothing else is."""
    assertions: GradedBy = None  # type: ignore[assignment]
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

    @classmethod
    def claims(cls, entry: Mapping[str, Any]) -> bool:
        """Its name decides, or that a talk, or one of its turns, is graded."""
        if gives(entry, "mode"):
            return True
        if not gives(entry, "turns", "simulator", "checkpoints") and entry.get("type") != "multi_turn":
            return False
        turns = entry.get("turns")
        return gives(entry, *GRADING) or (isinstance(turns, list) and any(map(has_graders, turns)))

    @classmethod
    def condition(cls) -> dict[str, Any]:
        """The same as JSON Schema."""
        talk = {"anyOf": [*given("turns", "simulator", "checkpoints"), has("type", {"const": "multi_turn"})]}
        turns = has("turns", {"type": "array", "contains": {"type": "object", "anyOf": graded()}})
        return {"anyOf": [*given("mode"), {"allOf": [talk, {"anyOf": [*given(*GRADING), turns]}]}]}

    @classmethod
    def misplaced(cls, path: JsonPath, entry: Mapping[str, Any]) -> Finding | None:
        """A reference for its whole, which turns have."""
        return output_outside(path, entry)

    def findings(self, folder: Path) -> Iterator[Finding]:
        """What the model cannot express."""
        hint = '"expected_output" in a turn is a reference for its answer'
        yield from without(self, "a conversation", expected=hint)
        if not self.turns and self.simulator is None and not self.interactive.enabled:
            if "turns" in self.model_fields_set:
                yield Finding(path=("turns",), text='"turns" must not be empty')
            else:
                yield Finding(path=(), text='"turns" is missing')
        if self.simulator is not None:
            yield from findings_of_simulator(self.simulator)
        yield from findings_of_checkpoints(self.checkpoints)
        yield from findings_of_graders(self.turn_assertions or (), ("turn_assertions",), False)
        yield from findings_of_graders(self.final_assertions or (), ("final_assertions",), False)
        for index, turn in enumerate(self.turns):
            yield from findings_of_turn(turn, index, folder)
            has_expected = turn.expected_output is not None
            yield from findings_of_graders(turn.assertions or (), ("turns", index, "assert"), has_expected)
        yield from findings_of_graders(self.assertions or (), ("assert",), False)
        yield from findings_of_grader(self.grader)

    def references(self, connector: str = "", simulator: str = "") -> Iterator[Reference]:
        """In addition what its turns, its checkpoints and those who take part in it name."""
        yield from super().references(connector, simulator)
        if self.grader:
            yield agent_reference(self.grader)
        for turn in self.turns:
            yield from references_of_turn(turn, connector)
        yield from references_of_assertions(self.turn_assertions)
        yield from references_of_assertions(self.final_assertions)
        for checkpoint in self.checkpoints:
            yield from references_of_assertions(checkpoint.assertions)
        if self.simulator is not None:
            yield from references_of_simulator(self.simulator, simulator)
