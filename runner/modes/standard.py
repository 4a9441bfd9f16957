"""Standard mode: one call of the agent, with a message or a history, and assertions on its answer, or a grade."""

from __future__ import annotations

from runner.assertions.base import Evidence
from runner.assertions.checking import check_all
from runner.assertions.model import Assertion
from runner.cases.messages import input_of, messages_of
from runner.modes.base import CaseAttempt
from runner.modes.mode import Mode

ANSWER = "answer"


def mode_of(attempt: CaseAttempt) -> Mode:
    """The mode of a standard case."""
    return _SingleAnswer(attempt)


class _SingleAnswer(Mode):
    async def run(self) -> None:
        """Calls the agent and judges its answer. Raises AgentError."""
        attempt, case = self.attempt, self.attempt.case
        messages = messages_of(case, attempt.folder)
        users = [place for place, message in enumerate(messages) if message["role"] == "user"]
        start = users[-1] if users else len(messages)
        given = input_of(case)
        files = attempt.files if attempt.saved is None else None
        seen = {"input": given, "expected": case.expected, "files": files}
        evidence = (await self._ask(messages, attempt.options_of(), given, start, **seen)).evidence
        if case.graded:
            await self._grade(evidence)
            return
        assertions = case.assertions
        if assertions is None and case.expected is not None:
            assertions = [Assertion(type="equals", value=case.expected)]
        self._judge(await check_all(assertions or [], evidence, attempt.judges))

    async def _grade(self, evidence: Evidence) -> None:
        """Grades the answer by its criteria, their weights and a threshold, and adds what the case fails for."""
        from runner.cases.other_cases import GradedCase
        from runner.cases.turns import Grader, as_grader
        from runner.modes.grading import Grading, criteria_of, failures_of_scores

        case = self.attempt.case
        assert isinstance(case, GradedCase)
        given = [*(case.assertions or ()), *as_grader(case.rubrics)]
        if case.assertions is None and case.expected is not None:
            given.append(Grader(type="equals", value=case.expected))
        grading = Grading(self.attempt, case, criteria_of(given))
        self.threshold = grading.threshold
        try:
            graded = await grading.grade(ANSWER, grading.whole, evidence)
        finally:
            grading.close()
        self.assertions += graded.results
        self.scores, self.score = [graded.score], graded.score.score
        self.failures += failures_of_scores(self)
