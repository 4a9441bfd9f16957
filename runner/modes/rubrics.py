"""The criteria by which a turn or a whole conversation is graded, each with its weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from runner.assertions import TYPES
from runner.assertions.results import shorten, show
from runner.cases.turns import Criterion as Rubric
from runner.cases.turns import Grader
from scripttest.values import Value

RUBRICS = "rubrics"
MATCHES = "Means the same as expected_output"
"""The criterion that a reference answer is."""
SHOWN = 200
"""Characters of an assertion's value in its text."""


class Criterion(Value):
    """One thing to be judged: by the validator, or by an assertion."""

    text: str
    weight: float = 1
    required: bool = False
    id: str | None = None
    grader: Grader | None = None
    """The assertion; None, or one of the type `rubrics`, when the validator judges."""
    reference: bool = False
    """Whether the validator compares the answer with `expected_output`."""

    @property
    def type(self) -> str:
        """The assertion type, or `rubrics`."""
        return self.grader.type if self.grader else RUBRICS


def criteria_of(graders: Sequence[str | Grader] | None, expected_output: Any = None) -> list[Criterion]:
    """All criteria, in the order in which they are written, the reference answer last. A weight and `required` of
    `rubrics` count for each criterion of it."""
    criteria = [criterion for grader in graders or () for criterion in _of(grader)]
    if expected_output is not None:
        criteria.append(Criterion(text=MATCHES, reference=True))
    return criteria


def type_of(criteria: Sequence[Criterion]) -> str:
    """The one assertion type that grades, else `rubrics`."""
    types = {criterion.type for criterion in criteria}
    return types.pop() if len(types) == 1 else RUBRICS


def _of(grader: str | Grader) -> Iterator[Criterion]:
    if isinstance(grader, str) and grader in TYPES:
        grader = Grader(type=grader)
    if isinstance(grader, str):
        yield Criterion(text=grader)
    elif grader.type != RUBRICS:
        yield Criterion(text=_text(grader), weight=grader.weight, required=grader.required, grader=grader)
    else:
        for item in grader.criteria if isinstance(grader.criteria, list) else [grader.criteria]:
            rubric = item if isinstance(item, Rubric) else _rubric(item)
            required = rubric.required or grader.required
            yield Criterion(
                text=rubric.outcome,
                weight=rubric.weight * grader.weight,
                required=required,
                id=rubric.id,
                grader=grader,
            )


def _rubric(item: Any) -> Rubric:
    return Rubric.model_validate(item if isinstance(item, dict) else {"outcome": item})


def _text(grader: Grader) -> str:
    """An assertion in short: `contains "CSS"`."""
    said = next((value for value in (grader.criteria, grader.value, grader.pattern, grader.name) if value), None)
    shown = f'"{shorten(" ".join(said.split()), SHOWN)}"' if isinstance(said, str) else show(said, SHOWN)
    parts = [grader.type, grader.path, None if said is None else shown]
    text = " ".join(part for part in parts if part)
    return f"not {text}" if grader.negate else text
