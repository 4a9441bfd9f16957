"""Standard mode: one call of the agent, with a message or a history, and assertions on its answer, or a grade."""

from __future__ import annotations

from runner.assertions.base import Evidence
from runner.assertions.checking import check_all
from runner.assertions.model import Assertion
from runner.cases.messages import input_of, messages_of
from runner.modes.base import CaseAttempt

ANSWER = "answer"
"""Name of the score of a graded answer."""


async def run(attempt: CaseAttempt) -> None:
    """Calls the agent and judges its answer. Raises AgentError."""
    case = attempt.case
    messages = messages_of(case, attempt.folder)
    attempt.messages = len(messages)
    started = attempt.now()
    attempt.answer = await attempt.call_agent(messages, attempt.options, input_of(case))
    evidence = attempt.evidence((attempt.now() - started) * 1000, messages)
    if case.graded:
        await _grade(attempt, evidence)
        return
    assertions = case.assertions
    if assertions is None and case.expected is not None:
        assertions = [Assertion(type="equals", value=case.expected)]
    attempt.judge(await check_all(assertions or [], evidence, attempt.judges))


async def _grade(attempt: CaseAttempt, evidence: Evidence) -> None:
    """Grades the answer by its criteria, their weights and a threshold, and adds what the case fails for."""
    from runner.cases.other_cases import GradedCase
    from runner.cases.turns import Grader, as_grader
    from runner.modes.grading import Criterion, Grading, criteria_of, judge_scores

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
