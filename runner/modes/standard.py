"""Standard mode: one call of the agent, with a message or a history, and assertions on its answer, or a grade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.agents.chat import totals_of
from runner.assertions.base import AnsweredTurn, Evidence
from runner.assertions.checking import check_all
from runner.assertions.model import Assertion
from runner.cases.messages import input_of, messages_of
from runner.connectors.timing import case_now
from runner.modes.base import CaseAttempt, Mode
from runner.modes.outcome import answered

if TYPE_CHECKING:
    from runner.agents.answer import Answer

ANSWER = "answer"
"""Name of the score of a graded answer."""


def mode_of(attempt: CaseAttempt) -> Mode:
    """The mode of a standard case."""
    return _SingleAnswer(attempt)


class _SingleAnswer(Mode):
    async def run(self) -> None:
        """Calls the agent and judges its answer. Raises AgentError."""
        attempt, case = self.attempt, self.attempt.case
        messages = messages_of(case, attempt.folder)
        started = case_now()
        answer = await self._ask(messages, attempt.options, input_of(case))
        evidence = self._evidence(answer, (case_now() - started) * 1000, messages)
        self._answers.append(answered(evidence, attempt.chat.model_calls))
        if case.graded:
            await self._grade(evidence)
            return
        assertions = case.assertions
        if assertions is None and case.expected is not None:
            assertions = [Assertion(type="equals", value=case.expected)]
        self._judge(await check_all(assertions or [], evidence, attempt.judges))

    def _evidence(self, answer: Answer, milliseconds: float, messages: list[dict[str, Any]]) -> Evidence:
        """The evidence for assertions on the answer; `messages` are the messages to the agent."""
        attempt, case, chat = self.attempt, self.attempt.case, self.attempt.chat
        users = [place for place, message in enumerate(messages) if message["role"] == "user"]
        start = users[-1] if users else len(messages)
        said = messages[start].get("content") if users else None
        took, uses = totals_of(chat.model_calls), tuple(chat.uses)
        return Evidence(
            output=answer.output,
            content=answer.content,
            cut=answer.cut,
            input=input_of(case),
            expected=case.expected,
            tools=uses,
            milliseconds=milliseconds,
            tokens=took.tokens,
            cost=took.cost,
            **attempt.known(len(chat.model_calls), chat.agents),
            messages=(*messages, {"role": "assistant", "content": answer.text}),
            metadata=case.metadata,
            files=attempt.files if attempt.saved is None else None,
            case=case.id,
            turns=(AnsweredTurn(turn=1, start=start, input=said, output=answer.output, tools=uses),),
        )

    async def _grade(self, evidence: Evidence) -> None:
        """Grades the answer by its criteria, their weights and a threshold, and adds what the case fails for."""
        from runner.cases.other_cases import GradedCase
        from runner.cases.turns import Grader, as_grader
        from runner.modes.grading import Criterion, Grading, criteria_of, failures_of_scores

        case = self.attempt.case
        assert isinstance(case, GradedCase)
        given = [*(case.assertions or ()), *as_grader(case.rubrics)]
        if case.assertions is None and case.expected is not None:
            given.append(Grader(type="equals", value=case.expected))
        criteria = criteria_of(given)
        background = case.criteria if criteria else None
        if not criteria and case.criteria:
            criteria = [Criterion(text=case.criteria, required=True)]
        self._threshold = self.attempt.environment.options.score_threshold if case.threshold is None else case.threshold
        grading = Grading(self.attempt, case.grader, self._threshold)
        try:
            graded = await grading.grade(ANSWER, criteria, evidence.replace(criteria=background))
        finally:
            grading.close()
        self._assertions += graded.results
        self._scores, self._score = [graded.score], graded.score.score
        self._failures += failures_of_scores(self.outcome())
