"""Checks of what cases of several turns have in common, which models cannot express."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bindings import agent_id
from runner.application.json_parts import JsonPath
from runner.cases.attachments import parts_of_turn
from runner.cases.checks import findings_of_assertions, findings_of_parts
from runner.cases.conversations import Checkpoint, Simulator, Turn
from runner.cases.graph import faults
from runner.cases.model import Case, Message
from runner.cases.problems import Finding

if TYPE_CHECKING:
    from runner.cases.conversations import ConversationTurn


def output_outside(path: JsonPath, entry: Mapping[str, Any]) -> Finding | None:
    """What to say of a reference for the answer that is not in a turn, where there are turns."""
    if path != ("expected_output",) or "turns" not in entry:
        return None
    text = '"expected_output" is a field of turns, not of the whole case'
    return Finding(path=path, text=text, hint="Move it into its turn")


def findings_of_checkpoints(checkpoints: Sequence[Checkpoint]) -> Iterator[Finding]:
    """What is wrong with checkpoints: their ids, their assertions, what they wait for."""
    numbers: dict[str, int] = {}
    for index, checkpoint in enumerate(checkpoints):
        if checkpoint.id in numbers:
            text = f'the id "{checkpoint.id}" is taken by checkpoint {numbers[checkpoint.id] + 1}'
            yield Finding(
                path=("checkpoints", index, "id"), text=text, hint="Each checkpoint of a case has an id of its own"
            )
        numbers.setdefault(checkpoint.id, index)
        place: JsonPath = ("checkpoints", index, "assert")
        if not checkpoint.assertions:
            yield Finding(path=place, text=f'checkpoint "{checkpoint.id}" has no assertion, so it is never reached')
        yield from findings_of_assertions(checkpoint.assertions, place)
    waits = {checkpoint.id: checkpoint.after for checkpoint in checkpoints}
    for fault in faults(waits, numbers, "checkpoint"):
        yield Finding(path=("checkpoints", numbers[fault.name], "after", fault.which), text=fault.text, hint=fault.hint)


def without(case: Case, what: str, **hints: str) -> Iterator[Finding]:
    """Fields of standard cases that others do not have, each with what to do instead."""
    for name, hint in hints.items():
        if getattr(case, name) is not None:
            place = "assert" if name == "assertions" else name
            yield Finding(path=(place,), text=f'{what} has no "{name}" of its own', hint=hint)


def findings_of_turn(turn: Turn | ConversationTurn, index: int, folder: Path) -> Iterator[Finding]:
    """What is wrong with what the user says; relative files count from the folder."""
    place: JsonPath = ("turns", index)
    said = turn.input.content if isinstance(turn.input, Message) else turn.input
    if said is None or said == [] or (isinstance(said, str) and not said.strip()):
        yield Finding(
            path=(*place, "input"), text=f"turn {index + 1} says nothing", hint='What the user says is in "input"'
        )
    if isinstance(turn.input, Message) and turn.input.role != "user":
        text = f"turn {index + 1} is what the user says, not the {turn.input.role}"
        yield Finding(path=(*place, "input", "role"), text=text, hint='What was said before is in "input" of the case')
    yield from findings_of_parts(parts_of_turn(turn, place), folder)


def findings_of_simulator(simulator: Simulator) -> Iterator[Finding]:
    """What is wrong with who plays the user."""
    use = simulator.use
    if use is not None and not agent_id(use).removeprefix("scripts:").strip():
        hint = 'It is an agent or a script, such as "workers.test.user-simulator"'
        yield Finding(path=("simulator", "use"), text='"simulator.use" names nobody', hint=hint)
    places: list[tuple[JsonPath, Mapping[str, Any]]] = [
        (("simulator", "metadata"), simulator.metadata),
        (("simulator", "options", "metadata"), simulator.options.metadata),
    ]
    for place, metadata in places:
        count = metadata.get("max_turns", 1)
        if type(count) is not int or count < 1:
            text = f'"{".".join(map(str, place))}.max_turns" must be a whole number from 1 up'
            yield Finding(path=(*place, "max_turns"), text=text)
