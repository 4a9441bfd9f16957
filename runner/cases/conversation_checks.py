"""Checks of a case with several turns that its model cannot express."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bindings import agent_id
from runner.application.json_parts import JsonPath
from runner.assertions import TYPES
from runner.assertions import problem as assertion_problem
from runner.cases.attachments import parts_of_turn
from runner.cases.checks import findings_of_assertions, findings_of_parts
from runner.cases.conversations import (
    Checkpoint,
    ConversationCase,
    ConversationTurn,
    DynamicCase,
    GradedCase,
    Grader,
    MultiTurnCase,
    Simulator,
    Turn,
)
from runner.cases.graph import faults
from runner.cases.model import Case, Message
from runner.cases.problems import Finding

RUBRICS = "rubrics"
_RUBRICS_TAKE = ("criteria", "options", "judge", "weight", "required", "message", "type")


def findings_of_turns(case: Case, folder: Path) -> Iterator[Finding]:
    """What is wrong with a multi-turn, dynamic or conversation case; relative files count from the folder."""
    if isinstance(case, MultiTurnCase):
        yield from _of_multi_turn(case, folder)
    elif isinstance(case, DynamicCase):
        yield from _of_dynamic(case)
    elif isinstance(case, ConversationCase):
        yield from _of_conversation(case, folder)


def _of_multi_turn(case: MultiTurnCase, folder: Path) -> Iterator[Finding]:
    if case.type == "single_turn" and len(case.turns) > 1:
        hint = "Several turns are a multi-turn case"
        yield Finding(path=("type",), text=f'"type" is "single_turn", but there are {len(case.turns)} turns', hint=hint)
    yield from findings_of_assertions(case.turn_assertions or (), ("turn_assertions",))
    for index, turn in enumerate(case.turns):
        yield from _of_turn(turn, index, folder)
        yield from findings_of_assertions(turn.assertions or (), ("turns", index, "assert"))
    if case.simulator:
        yield from _of_simulator(case.simulator)
    has_expected = case.expected is not None
    yield from findings_of_assertions(case.assertions or (), ("assert",), has_expected=has_expected)
    yield from findings_of_assertions(case.final_assertions or (), ("final_assertions",), has_expected=has_expected)


def _of_dynamic(case: DynamicCase) -> Iterator[Finding]:
    yield from _without(case, "a dynamic case", type="Its other fields say what it is")
    has_expected = case.expected is not None
    yield from findings_of_assertions(case.assertions or (), ("assert",), has_expected=has_expected)
    yield from _of_simulator(case.simulator)
    yield from _of_checkpoints(case.checkpoints)
    yield from findings_of_assertions(case.turn_assertions or (), ("turn_assertions",))
    yield from findings_of_assertions(case.final_assertions or (), ("final_assertions",))


def _of_checkpoints(checkpoints: Sequence[Checkpoint]) -> Iterator[Finding]:
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


def findings_of_graded(case: GradedCase) -> Iterator[Finding]:
    """What is wrong with the graders of a standard case."""
    yield from _of_graders(case.assertions or (), ("assert",), case.expected is not None)
    yield from _of_grader(case.grader)


def _of_conversation(case: ConversationCase, folder: Path) -> Iterator[Finding]:
    hint = '"expected_output" in a turn is a reference for its answer'
    yield from _without(case, "a conversation", expected=hint)
    if not case.turns and case.simulator is None and not case.interactive.enabled:
        if "turns" in case.model_fields_set:
            yield Finding(path=("turns",), text='"turns" must not be empty')
        else:
            yield Finding(path=(), text='"turns" is missing')
    if case.simulator is not None:
        yield from _of_simulator(case.simulator)
    yield from _of_checkpoints(case.checkpoints)
    yield from _of_graders(case.turn_assertions or (), ("turn_assertions",), False)
    yield from _of_graders(case.final_assertions or (), ("final_assertions",), False)
    for index, turn in enumerate(case.turns):
        yield from _of_turn(turn, index, folder)
        has_expected = turn.expected_output is not None
        yield from _of_graders(turn.assertions or (), ("turns", index, "assert"), has_expected)
    yield from _of_graders(case.assertions or (), ("assert",), False)
    yield from _of_grader(case.grader)


def _of_grader(grader: str | None) -> Iterator[Finding]:
    if grader is not None and not agent_id(grader).strip():
        yield Finding(
            path=("grader",), text='"grader" must not be empty', hint='It is an agent, such as "workers.test.validator"'
        )


def _without(case: Case, what: str, **hints: str) -> Iterator[Finding]:
    """Fields of standard cases that others do not have, each with what to do instead."""
    for name, hint in hints.items():
        if getattr(case, name) is not None:
            place = "assert" if name == "assertions" else name
            yield Finding(path=(place,), text=f'{what} has no "{name}" of its own', hint=hint)


def _of_turn(turn: Turn | ConversationTurn, index: int, folder: Path) -> Iterator[Finding]:
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


def _of_simulator(simulator: Simulator) -> Iterator[Finding]:
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


def _of_graders(graders: Sequence[str | Grader], place: JsonPath, has_expected: bool) -> Iterator[Finding]:
    for index, grader in enumerate(graders):
        if isinstance(grader, str):
            if grader not in TYPES:
                continue
            grader = Grader(type=grader)
        if grader.type == RUBRICS:
            problem = _problem_of_rubrics(grader)
        elif grader.type == "agent" and isinstance(grader.criteria, list):
            problem = f'"agent" takes its criteria as one text; a list of them is of the type "{RUBRICS}"'
        else:
            problem = assertion_problem(grader, has_expected=has_expected)
        if problem:
            yield Finding(path=(*place, index), text=f"assertion {index + 1}: {problem}")


def _problem_of_rubrics(grader: Grader) -> str | None:
    given = (name for name in sorted(grader.model_fields_set) if getattr(grader, name) not in (None, False))
    other = next((name for name in given if name not in _RUBRICS_TAKE), None)
    if other:
        return f'"{RUBRICS}" does not take "{other}"; it takes criteria, weight, required, options and message'
    if not grader.criteria:
        return f'"{RUBRICS}" needs "criteria": a list of texts, or of {{"outcome": ...}}'
    return None
