"""The criteria of a case by name, and which scores count."""

from __future__ import annotations

from collections.abc import Iterator

from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.results.case_result import CaseResult, CheckpointResult, CriterionResult

CRITERION, CHECKPOINT = "criterion", "checkpoint"


def score_in(value: Any) -> float | None:
    """A score from 0 to 1; None for anything else, such as NaN, a text, or a number outside of that."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= 1 else None


class Group(Value):
    """A group of cases: those of a `suite` or a `tag`, or those with a `criterion` or a `checkpoint`."""

    kind: str
    name: str

    def __hash__(self) -> int:
        return hash((self.kind, self.name))


def criteria_of(case: CaseResult) -> dict[str, float]:
    """Name of a criterion, its id or else its text → 1 or 0, or its score: of scores, of their assertions, and of
    checkpoints; the mean where there are several of a name. Those that nobody could judge are left out."""
    found: dict[str, list[float]] = {}
    for entry in case.scores:
        score = score_in(entry.score)
        if entry.name and score is not None:
            found.setdefault(entry.name, []).append(score)
    for group, check in _checks(case):
        value = _value(check)
        if group.name and value is not None:
            found.setdefault(group.name, []).append(value)
    return {name: sum(values) / len(values) for name, values in found.items()}


def groups_of(case: CaseResult) -> list[Group]:
    """The criteria and the checkpoints of a case, named as by `criteria_of`."""
    return [group for group in dict.fromkeys(group for group, _ in _checks(case)) if group.name]


def _checks(case: CaseResult) -> Iterator[tuple[Group, CriterionResult | CheckpointResult]]:
    for entry in case.scores:
        for criterion in entry.assertions:
            yield Group(kind=CRITERION, name=criterion.id or criterion.text), criterion
    for checkpoint in case.checkpoints or ():
        yield Group(kind=CHECKPOINT, name=checkpoint.id), checkpoint


def _value(check: CriterionResult | CheckpointResult) -> float | None:
    """1 or 0, or the score; None: it was not judged, or votes did not decide."""
    if not check.judged or check.inconclusive:
        return None
    score = score_in(getattr(check, "score", None))
    return float(check.passed) if score is None else score
