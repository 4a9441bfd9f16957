"""Multi-turn cases (seeds 000 and 002; specification, 7). `runner.modes.multi_turn` runs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from runner.application.json_parts import JsonPath
from runner.assertions.model import Assertions
from runner.cases.checks import findings_of_assertions
from runner.cases.conditions import CONVERSATION_MODE, GIVEN, given, gives, has
from runner.cases.conversation import ConversationCase
from runner.cases.conversation_checks import findings_of_simulator, findings_of_turn, output_outside
from runner.cases.conversations import (
    ConversationTurn,
    Interactive,
    OnMissingInput,
    Simulator,
    Turn,
    references_of_simulator,
    references_of_turn,
)
from runner.cases.model import Case, Kind
from runner.cases.problems import Finding
from runner.cases.references import Reference, references_of_assertions
from runner.shapes.declared import Field
from runner.shapes.fields import known_fields


class MultiTurnCase(Case):
    """A conversation in which the user's next words are given, simulated, or typed."""

    runs: ClassVar[str] = "multi_turn"
    in_turns: ClassVar[bool] = True
    kind: ClassVar[Kind] = Kind(one="a multi-turn case", several="multi-turn cases", hint='Add "type": "multi_turn"')
    schema_rules: ClassVar[Mapping[str, Any]] = {
        "allOf": [{"if": has("type", {"const": "single_turn"}), "then": {"properties": {"turns": {"maxItems": 1}}}}]
    }
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

    @classmethod
    def claims(cls, entry: Mapping[str, Any]) -> bool:
        """Turns decide, or a simulator if there are no checkpoints."""
        if gives(entry, "turns") or entry.get("type") == "multi_turn":
            return True
        return gives(entry, "simulator") and not gives(entry, "checkpoints")

    @classmethod
    def condition(cls) -> dict[str, Any]:
        """The same as JSON Schema."""
        simulated = {"allOf": [has("simulator", GIVEN), {"not": has("checkpoints", GIVEN)}]}
        return {"anyOf": [*given("turns"), has("type", {"const": "multi_turn"}), simulated]}

    @classmethod
    def misplaced(cls, path: JsonPath, entry: Mapping[str, Any]) -> Finding | None:
        """Fields that it would have as a conversation."""
        name = str(path[-1])
        if len(path) == 3 and path[0] == "turns":
            if name not in known_fields(ConversationTurn):
                return None
            text = f'"{name}" in "turns[{path[1]}]" needs {CONVERSATION_MODE}'
            return Finding(path=path, text=text, hint='Add it beside "turns"')
        if len(path) != 1:
            return None
        if outside := output_outside(path, entry):
            return outside
        if name == "checkpoints" and "turns" in entry:
            text = '"turns" and "checkpoints" cannot be used together'
            return Finding(path=path, text=text, hint=f"Add {CONVERSATION_MODE}, which has both")
        if name not in known_fields(ConversationCase):
            return None
        return Finding(path=path, text=f'"{name}" needs {CONVERSATION_MODE}', hint=f'Add it, or leave "{name}" out')

    def findings(self, folder: Path) -> Iterator[Finding]:
        """What the model cannot express."""
        if self.type == "single_turn" and len(self.turns) > 1:
            text = f'"type" is "single_turn", but there are {len(self.turns)} turns'
            yield Finding(path=("type",), text=text, hint="Several turns are a multi-turn case")
        yield from findings_of_assertions(self.turn_assertions or (), ("turn_assertions",))
        for index, turn in enumerate(self.turns):
            yield from findings_of_turn(turn, index, folder)
            yield from findings_of_assertions(turn.assertions or (), ("turns", index, "assert"))
        if self.simulator:
            yield from findings_of_simulator(self.simulator)
        has_expected = self.expected is not None
        yield from findings_of_assertions(self.assertions or (), ("assert",), has_expected=has_expected)
        yield from findings_of_assertions(self.final_assertions or (), ("final_assertions",), has_expected=has_expected)

    def references(self, connector: str = "", simulator: str = "") -> Iterator[Reference]:
        """In addition what its turns and its simulator name."""
        yield from super().references(connector, simulator)
        yield from references_of_assertions(self.turn_assertions)
        for turn in self.turns:
            yield from references_of_turn(turn, connector)
        yield from references_of_assertions(self.final_assertions)
        yield from references_of_simulator(self.simulator, simulator)
