"""Standard cases whose answer gets a score. `runner.modes.standard` runs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from runner.cases.conditions import GRADING, given, gives, graded, has_graders
from runner.cases.grader_checks import findings_of_grader, findings_of_graders
from runner.cases.graders import CriterionText, Graders, Rubrics
from runner.cases.model import Case
from runner.cases.problems import Finding
from runner.cases.references import Reference, agent_reference
from runner.shapes.declared import Field


class GradedCase(Case):
    """One call of the agent, whose answer gets a score."""

    graded: ClassVar[bool] = True
    assertions: Annotated[Graders | None, Field(spellings=("assert", "assertions"))] = None  # type: ignore[assignment]
    """Criteria in words, and other assertions on the answer."""
    rubrics: Rubrics | None = None
    """Criteria for the validator."""
    criteria: CriterionText | None = None
    """What the answer is about; graded when nothing else is."""
    threshold: float | None = Field(default=None, ge=0, le=1)
    """The score from which on it passes; `--threshold`, else 0.8."""
    grader: str | None = None
    """The validator agent; `workers.test.validator`."""

    @classmethod
    def claims(cls, entry: Mapping[str, Any]) -> bool:
        """A field of grading decides, or an assertion that gives a score."""
        return gives(entry, *GRADING) or has_graders(entry)

    @classmethod
    def condition(cls) -> dict[str, Any]:
        """The same as JSON Schema."""
        return {"anyOf": [*given(*GRADING), *graded()]}

    def findings(self, folder: Path) -> Iterator[Finding]:
        """What is wrong with its graders."""
        yield from findings_of_graders(self.assertions or (), ("assert",), self.expected is not None)
        yield from findings_of_grader(self.grader)

    def references(self, connector: str = "", simulator: str = "") -> Iterator[Reference]:
        """In addition its validator."""
        yield from super().references(connector, simulator)
        if self.grader:
            yield agent_reference(self.grader)
