"""Grades the one answer of a standard case: its criteria, their weights, a score and a threshold."""

from __future__ import annotations

from runner.assertions.base import Evidence
from runner.cases.other_cases import GradedCase
from runner.cases.turns import Grader, as_grader
from runner.modes.base import CaseAttempt
from runner.modes.grading import Grading, judge_scores
from runner.modes.rubrics import Criterion, criteria_of

ANSWER = "answer"
"""Name of its score."""


async def grade(attempt: CaseAttempt, evidence: Evidence) -> None:
    """Grades the answer, and adds what the case fails for."""
    case = attempt.case
    assert isinstance(case, GradedCase)
    given = [*(case.assertions or ()), *as_grader(case.rubrics)]
    if case.assertions is None and case.expected is not None:
        given.append(Grader(type="equals", value=case.expected))
    criteria = criteria_of(given)
    background = case.criteria if criteria else None
    if not criteria and case.criteria:
        criteria = [Criterion(text=case.criteria, required=True)]
    threshold = attempt.environment.threshold if case.threshold is None else case.threshold
    attempt.threshold = threshold
    grading = Grading(attempt, case.grader, threshold)
    try:
        graded = await grading.grade(ANSWER, criteria, evidence.replace(criteria=background))
    finally:
        grading.close()
    attempt.assertions += graded.results
    attempt.scores, attempt.score = [graded.score], graded.score.score
    judge_scores(attempt, threshold)
