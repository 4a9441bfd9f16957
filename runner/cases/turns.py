"""What cases have beyond one call and plain assertions: turns, simulators, people, checkpoints, and assertions that
give a score; and the checks of them that models cannot express."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from bindings import agent_id
from runner.amounts import Duration
from runner.application.documents import JsonPath
from runner.assertions import TYPES
from runner.assertions.checking import problem_with_assertion
from runner.assertions.model import Assertion, Assertions, one_or_many
from runner.cases.entries import Finding
from runner.cases.kinds import RUBRICS
from runner.cases.messages import findings_of_parts, parts_of_said
from runner.cases.model import (
    Message,
    MessagePart,
    Reference,
    agent_reference,
    references_of_assertions,
    simulator_reference,
)
from runner.cases.validation import faults
from runner.shapes.declared import Field, Model
from runner.shapes.fields import CallOptions, DurationText, FreeObject, FreeValue
from runner.shapes.shape import words

OnMissingInput = Literal["skip", "fail", "end"]
CriterionText = Annotated[str, Field(pattern=r"\S")]
"""A criterion for the validator, in words."""
GraderType = Annotated[str, lambda _: words(("rubrics", *TYPES))]
_RUBRICS_TAKE = ("criteria", "options", "judge", "weight", "required", "message", "type")


class Turn(Model):
    """The next message of the user, and assertions on the answer."""

    input: str | Message | list[MessagePart]
    """A text, a message, or parts."""
    assertions: Annotated[Assertions | None, Field(spellings=("assert", "assertions"))] = None
    """Assertions on this turn's output."""
    options: CallOptions | None = None
    """Options of this call, over those of the case."""
    attachments: list[MessagePart] = Field(default_factory=list)
    """Parts to add to the message."""


class ConversationTurn(Turn):
    """The next message of the user, and how the answer is graded."""

    assertions: GradedBy = None  # type: ignore[assignment]
    """Criteria in words, and other assertions on this turn's answer."""
    expected_output: FreeValue = None
    """A reference for grading; it never enters the conversation."""


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
    """Maximum number of user messages."""


class Interactive(Model):
    """Whether a person may answer."""

    enabled: bool = False
    """Ask the person at the terminal when the agent waits."""
    timeout: DurationText = Duration("5m")
    """Time limit for the person to answer."""


class Checkpoint(Model):
    """Something the agent has to reach."""

    id: Annotated[str, Field(pattern=r"\S")]
    """Id of the checkpoint, unique in the case."""
    description: str | None = None
    """A description for people."""
    assertions: Annotated[Assertions, Field(spellings=("assertion", "assert", "assertions"))]
    """Assertions on the answer that reaches it."""
    after: list[str] = Field(default_factory=list)
    """Ids of checkpoints that must be reached before."""
    required: bool = True
    """Whether the case fails without it."""


class Criterion(Model):
    """One criterion of a rubric."""

    id: str | None = None
    """Names the criterion in results."""
    outcome: Annotated[str, Field(pattern=r"\S")]
    """What the answer must be like, in words."""
    weight: float = Field(default=1, gt=0)
    """How much it counts."""
    required: bool = False
    """Whether the case fails without it."""


class Grader(Assertion):
    """An assertion with a weight, or `rubrics`: criteria for the validator."""

    type: GraderType = "equals"
    """Any assertion type, or `rubrics`."""
    criteria: CriterionText | list[CriterionText | Criterion] | None = None  # type: ignore[assignment]
    """For `rubrics`: a list of criteria, texts or objects; for `agent`: a text."""
    weight: float = Field(default=1, gt=0)
    """How much it counts."""
    required: bool = False
    """Whether the case fails if it fails."""


def references_of_talk(case: Any, connector: str, simulator: str) -> Iterator[Reference]:
    """What a case of any mode names beyond `Case.references`: in its turns and checkpoints, its simulator, or else the
    one of the flag, and its validator."""
    yield from references_of_assertions(getattr(case, "turn_assertions", None))
    for turn in getattr(case, "turns", ()):
        yield from references_of_assertions(turn.assertions)
        if turn.options is not None and turn.options.connector and not connector:
            yield Reference(kind="connector", text=turn.options.connector)
    yield from references_of_assertions(getattr(case, "final_assertions", None))
    for checkpoint in getattr(case, "checkpoints", ()):
        yield from references_of_assertions(checkpoint.assertions)
    plays: Simulator | None = getattr(case, "simulator", None)
    if use := (plays.use if plays else None) or simulator:
        yield simulator_reference(use)
    if plays is not None and plays.options.connector:
        yield Reference(kind="connector", text=plays.options.connector)
    if grader := getattr(case, "grader", None):
        yield agent_reference(grader)


def findings_of_talk(case: Any, folder: Path) -> Iterator[Finding]:
    """What is wrong with what cases of the different modes have: assertions, turns, a simulator, checkpoints, a
    validator; relative files count from the folder."""
    has_expected = case.expected is not None
    yield from _findings_of_graders(case.assertions, ("assert",), has_expected)
    yield from _findings_of_graders(getattr(case, "turn_assertions", None), ("turn_assertions",), False)
    yield from _findings_of_graders(getattr(case, "final_assertions", None), ("final_assertions",), has_expected)
    for index, turn in enumerate(getattr(case, "turns", ())):
        yield from _findings_of_turn(turn, index, folder)
        has_reference = getattr(turn, "expected_output", None) is not None
        yield from _findings_of_graders(turn.assertions, ("turns", index, "assert"), has_reference)
    if simulator := getattr(case, "simulator", None):
        yield from _findings_of_simulator(simulator)
    yield from _findings_of_checkpoints(getattr(case, "checkpoints", ()))
    grader = getattr(case, "grader", None)
    if grader is not None and not agent_id(grader).strip():
        hint = 'Use an agent, such as "workers.test.validator"'
        yield Finding(path=("grader",), text='"grader" must not be empty', hint=hint)


def _findings_of_checkpoints(checkpoints: Sequence[Checkpoint]) -> Iterator[Finding]:
    """What is wrong with checkpoints: their ids, their assertions, what they wait for."""
    numbers: dict[str, int] = {}
    for index, checkpoint in enumerate(checkpoints):
        if checkpoint.id in numbers:
            text = f'the id "{checkpoint.id}" is already used by checkpoint {numbers[checkpoint.id] + 1}'
            hint = "Give each checkpoint of a case its own id"
            yield Finding(path=("checkpoints", index, "id"), text=text, hint=hint)
        numbers.setdefault(checkpoint.id, index)
        place: JsonPath = ("checkpoints", index, "assert")
        if not checkpoint.assertions:
            yield Finding(path=place, text=f'checkpoint "{checkpoint.id}" has no assertion, so it is never reached')
        yield from _findings_of_graders(checkpoint.assertions, place, False)
    waits = {checkpoint.id: checkpoint.after for checkpoint in checkpoints}
    for name, finding in faults(waits, numbers, "checkpoint"):
        yield finding.replace(path=("checkpoints", numbers[name], "after", *finding.path))


def _findings_of_turn(turn: Turn, index: int, folder: Path) -> Iterator[Finding]:
    """What is wrong with what the user says; relative files count from the folder."""
    place: JsonPath = ("turns", index)
    said = turn.input.content if isinstance(turn.input, Message) else turn.input
    if said is None or said == [] or (isinstance(said, str) and not said.strip()):
        hint = 'Put the message of the user in "input"'
        yield Finding(path=(*place, "input"), text=f"turn {index + 1} has no message", hint=hint)
    if isinstance(turn.input, Message) and turn.input.role != "user":
        text = f"turn {index + 1} must be from the user, not the {turn.input.role}"
        yield Finding(path=(*place, "input", "role"), text=text, hint='Put earlier messages in "input" of the case')
    yield from findings_of_parts(parts_of_said(turn.input, turn.attachments, place), folder)


def _findings_of_simulator(simulator: Simulator) -> Iterator[Finding]:
    """What is wrong with who plays the user."""
    use = simulator.use
    if use is not None and not agent_id(use).removeprefix("scripts:").strip():
        hint = 'Use an agent or a script, such as "workers.test.user-simulator"'
        yield Finding(path=("simulator", "use"), text='"simulator.use" is empty', hint=hint)
    places: list[tuple[JsonPath, Mapping[str, Any]]] = [
        (("simulator", "metadata"), simulator.metadata),
        (("simulator", "options", "metadata"), simulator.options.metadata),
    ]
    for place, metadata in places:
        count = metadata.get("max_turns", 1)
        if type(count) is not int or count < 1:
            text = f'"{".".join(map(str, place))}.max_turns" must be a whole number of at least 1'
            yield Finding(path=(*place, "max_turns"), text=text)


def as_grader(rubrics: list[str | Criterion] | None) -> list[Grader]:
    """Rubrics as one grader; none where there are none."""
    return [Grader(type="rubrics", criteria=rubrics)] if rubrics else []


def _findings_of_graders(
    graders: Sequence[str | Assertion] | None, place: JsonPath, has_expected: bool
) -> Iterator[Finding]:
    """What is wrong with a list of assertions, or of graders, at a place of a case."""
    for index, grader in enumerate(graders or ()):
        if isinstance(grader, str):
            if grader not in TYPES:
                continue
            grader = Grader(type=grader)
        if isinstance(grader, Grader) and grader.type == RUBRICS:
            problem = _problem_of_rubrics(grader)
        else:
            problem = problem_with_assertion(grader, has_expected=has_expected)
        if problem:
            yield Finding(path=(*place, index), text=f"assertion {index + 1}: {problem}")


def _problem_of_rubrics(grader: Grader) -> str | None:
    given = (name for name in sorted(grader.model_fields_set) if getattr(grader, name) not in (None, False))
    other = next((name for name in given if name not in _RUBRICS_TAKE), None)
    if other:
        return f'"{RUBRICS}" does not accept "{other}"; it accepts criteria, weight, required, options and message'
    if not grader.criteria:
        return f'"{RUBRICS}" needs "criteria": a list of strings, or of {{"outcome": ...}}'
    return None


Graders = Annotated[list[CriterionText | Grader], one_or_many]
"""Plain texts are criteria for the validator."""
Rubrics = Annotated[list[CriterionText | Criterion], one_or_many]
"""Criteria for the validator, texts or objects."""
GradedBy = Annotated[Graders | None, Field(spellings=("assertions", "assert"))]
