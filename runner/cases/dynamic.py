"""Dynamic cases (seed 001; specification, 7). `runner.modes.dynamic` runs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from runner.assertions.model import Assertions
from runner.cases.checks import findings_of_assertions
from runner.cases.conditions import GIVEN, gives, has
from runner.cases.conversation_checks import findings_of_checkpoints, findings_of_simulator, without
from runner.cases.conversations import Checkpoint, Simulator, references_of_simulator
from runner.cases.model import Case, Kind
from runner.cases.problems import Finding
from runner.cases.references import Reference, references_of_assertions
from runner.shapes.declared import Field


class DynamicCase(Case):
    """A conversation with a simulated user, until all checkpoints are reached."""

    runs: ClassVar[str] = "dynamic"
    in_turns: ClassVar[bool] = True
    lists_checkpoints: ClassVar[bool] = True
    kind: ClassVar[Kind] = Kind(
        one="a dynamic case", several="dynamic cases", hint='Add "simulator" and "checkpoints"', refuses=("type",)
    )
    schema_rules: ClassVar[Mapping[str, Any]] = {}
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

    @classmethod
    def claims(cls, entry: Mapping[str, Any]) -> bool:
        """Checkpoints decide."""
        return gives(entry, "checkpoints")

    @classmethod
    def condition(cls) -> dict[str, Any]:
        """The same as JSON Schema."""
        return has("checkpoints", GIVEN)

    def findings(self, folder: Path) -> Iterator[Finding]:
        """What the model cannot express."""
        yield from without(self, "a dynamic case", type="Its other fields say what it is")
        has_expected = self.expected is not None
        yield from findings_of_assertions(self.assertions or (), ("assert",), has_expected=has_expected)
        yield from findings_of_simulator(self.simulator)
        yield from findings_of_checkpoints(self.checkpoints)
        yield from findings_of_assertions(self.turn_assertions or (), ("turn_assertions",))
        yield from findings_of_assertions(self.final_assertions or (), ("final_assertions",))

    def references(self, connector: str = "", simulator: str = "") -> Iterator[Reference]:
        """In addition what its checkpoints and its simulator name."""
        yield from super().references(connector, simulator)
        yield from references_of_assertions(self.turn_assertions)
        yield from references_of_assertions(self.final_assertions)
        for checkpoint in self.checkpoints:
            yield from references_of_assertions(checkpoint.assertions)
        yield from references_of_simulator(self.simulator, simulator)
