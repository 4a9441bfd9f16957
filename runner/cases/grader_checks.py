"""Checks of assertions that give a score, which their model cannot express."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bindings import agent_id
from runner.application.json_parts import JsonPath
from runner.assertions import TYPES
from runner.assertions.checking import problem_with_assertion
from runner.cases.conditions import RUBRICS
from runner.cases.graders import Grader
from runner.cases.problems import Finding

_RUBRICS_TAKE = ("criteria", "options", "judge", "weight", "required", "message", "type")


def findings_of_graders(graders: Sequence[str | Grader], place: JsonPath, has_expected: bool) -> Iterator[Finding]:
    """What is wrong with a list of graders at a place of a case."""
    for index, grader in enumerate(graders):
        if isinstance(grader, str):
            if grader not in TYPES:
                continue
            grader = Grader(type=grader)
        if grader.type == RUBRICS:
            problem = _problem_of_rubrics(grader)
        else:
            problem = problem_with_assertion(grader, has_expected=has_expected)
        if problem:
            yield Finding(path=(*place, index), text=f"assertion {index + 1}: {problem}")


def findings_of_grader(grader: str | None) -> Iterator[Finding]:
    """What is wrong with the name of a validator."""
    if grader is not None and not agent_id(grader).strip():
        yield Finding(
            path=("grader",), text='"grader" must not be empty', hint='It is an agent, such as "workers.test.validator"'
        )


def _problem_of_rubrics(grader: Grader) -> str | None:
    given = (name for name in sorted(grader.model_fields_set) if getattr(grader, name) not in (None, False))
    other = next((name for name in given if name not in _RUBRICS_TAKE), None)
    if other:
        return f'"{RUBRICS}" does not take "{other}"; it takes criteria, weight, required, options and message'
    if not grader.criteria:
        return f'"{RUBRICS}" needs "criteria": a list of texts, or of {{"outcome": ...}}'
    return None
