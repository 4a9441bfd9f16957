"""Assertions that give a score: criteria in words, and assertions with weights."""

from __future__ import annotations

from typing import Annotated

from runner.assertions import TYPES
from runner.assertions.model import Assertion, OneOrMany
from runner.shapes.declared import Field, Model, Shaped

CriterionText = Annotated[str, Field(pattern=r"\S")]
"""A criterion for the validator, in words."""


class Criterion(Model):
    """One criterion of a rubric."""

    id: str | None = None
    """Names the criterion in results."""
    outcome: Annotated[str, Field(pattern=r"\S")]
    """What the answer must be like, in words."""
    weight: float = Field(default=1, gt=0, allow_inf_nan=False)
    """How much it counts."""
    required: bool = False
    """Whether the case fails without it."""


GraderType = Annotated[str, Shaped(lambda _: {"type": "literal", "expected": ["rubrics", *TYPES]})]


class Grader(Assertion):
    """An assertion with a weight, or `rubrics`: criteria for the validator."""

    type: GraderType = "equals"
    """Any assertion type, or `rubrics`."""
    criteria: CriterionText | list[CriterionText | Criterion] | None = None  # type: ignore[assignment]
    """For `rubrics`: a list of criteria, texts or objects; for `agent`: a text."""
    weight: float = Field(default=1, gt=0, allow_inf_nan=False)
    """How much it counts."""
    required: bool = False
    """Whether the case fails if it fails."""


Graders = Annotated[list[CriterionText | Grader], OneOrMany]
"""Plain texts are criteria for the validator."""
Rubrics = Annotated[list[CriterionText | Criterion], OneOrMany]
"""Criteria for the validator, texts or objects."""
GradedBy = Annotated[Graders | None, Field(spellings=("assertions", "assert"))]


def as_grader(rubrics: list[str | Criterion] | None) -> list[Grader]:
    """Rubrics as one grader; none where there are none."""
    return [Grader(type="rubrics", criteria=rubrics)] if rubrics else []
