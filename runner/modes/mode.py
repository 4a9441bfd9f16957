"""How a case is run, in any mode, and what has come of it: the answers of its agent, what is kept of them for grading
them again, and the failures of assertions on them. In standard mode the agent is called once, with a message or a
history, and assertions look at its answer, or it gets a grade."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from runner.agents.answer import AgentError
from runner.agents.chat import ModelCall
from runner.assertions.base import AnsweredTurn, AssertionResult, Evidence
from runner.assertions.checking import check_all
from runner.assertions.model import Assertion
from runner.assertions.values import COMPARED, comparable, difference
from runner.cases.messages import described, input_of, messages_of, parts_of_case
from runner.connectors.base import Usage
from runner.connectors.usage import case_now
from runner.record.case_result import AnswerUsage, CaseResult, Regradable, TurnUsage
from scripttest import Cause, Failure
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.answer import Answer
    from runner.modes.base import CaseAttempt
    from runner.record.case_result import CheckpointResult, ScoreResult, TurnResult

LEFT_OUT = ("id", "input", "messages", "before", "after", "depends_on", "skip")
"""Fields of a case that are elsewhere in its result, or do not count when it is graded again."""
LONGEST = 100_000
"""Characters of a case that a report keeps."""
MOST_AGENTS = 1000
"""Agents that were asked for one answer and that a report keeps."""
ANSWER = "answer"
"""The name of the grade of a single answer."""
VALUE_LIMIT = 4000
"""Characters of an expected or actual value that are kept as text."""


ENDED = """\
  The agent ended with its tool calls: its hook script has no Next that answers. Add to src/index.ts:
  export function Next(ctx: agent.Context, payload: agent.Payload): agent.Next { return { data: payload.tools }; }
  Without hooks, the model gets the results of the tools and answers."""
"""The details of a failure whose output are the names of tools."""


class Mode:
    """How one case is run, and what has come of it so far. This one does not run."""

    def __init__(self, attempt: CaseAttempt) -> None:
        self.attempt = attempt
        self.answer: Answer | None = None
        self.finish_reason = ""
        """Of the last answer of the model, also one that cannot be used; empty if there was none."""
        self.messages = 0
        self.answers: list[AnswerUsage] = []
        """What is known of each answer, for grading it again."""
        self.assertions: list[AssertionResult] = []
        self.failures: list[Failure] = []
        self.skip_reason: str | None = None
        """Why the case is skipped; a failure outranks it."""
        self.transcript: list[dict[str, Any]] = []
        """The messages so far, in a case of several turns."""
        self.turns: list[TurnResult] = []
        self.said: list[AnsweredTurn] = []
        self.checkpoints: Sequence[CheckpointResult] = ()
        """Their state after the last answer."""
        self.final_assertions: tuple[AssertionResult, ...] | None = None
        self.score: float | None = None
        self.scores: list[ScoreResult] = []
        self.simulator: str | None = None
        self.threshold: float | None = None
        """The score from which on a graded case passes."""

    async def run(self) -> None:
        """Runs the case. Raises AgentError, RunnerError and ScriptError."""
        raise NotImplementedError

    def break_off(self, now: float, **fields: Any) -> None:
        """Ends the turn under way, if there is one, with fields of its result; `now` on the clock of the case."""

    @property
    def is_graded(self) -> bool:
        """Whether the case has assertions or a score."""
        of_turns = any(turn.assertions for turn in self.turns)
        return self.threshold is not None or any((self.assertions, self.checkpoints, self.final_assertions, of_turns))

    @property
    def not_judged(self) -> int:
        """How many judges could not judge. Of a graded answer, criteria are among the assertions."""
        scores = () if self.attempt.case.graded else self.scores
        criteria = sum(criterion.not_judged for entry in scores for criterion in entry.assertions)
        checkpoints = sum(checkpoint.not_judged for checkpoint in self.checkpoints)
        return criteria + checkpoints + sum(result.not_judged for result in self.assertions)

    def regradable(self) -> Regradable | None:
        """What a report needs so that the case can be graded again."""
        attempt = self.attempt
        if not self.answers or (attempt.environment.fingerprints is None and attempt.saved is None):
            return None
        kept = {key: value for key, value in attempt.written.items() if key not in LEFT_OUT}
        is_short = 2 * len(repr(kept)) <= LONGEST or len(json.dumps(kept, ensure_ascii=False)) <= LONGEST
        return Regradable(case=kept if is_short else None, answers=tuple(self.answers))

    def result(self) -> CaseResult:
        """The result, as reports show it."""
        attempt, answer = self.attempt, self.answer
        case, chat = attempt.case, attempt.chat
        usage = _sum(chat.model_calls)
        criteria = any(entry.assertions for entry in self.scores)
        return CaseResult(
            title=case.name,
            input=input_of(case),
            output=answer.output if answer else None,
            response=answer.content if answer else "",
            finish_reason=self.finish_reason,
            expected=case.expected,
            messages=self.messages,
            assertions=tuple(self.assertions),
            tools=tuple(chat.uses),
            connector=answer.connector if answer else "",
            model_calls=len(chat.model_calls),
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost=usage.cost,
            sent=tuple(chat.sent),
            line=attempt.line,
            tags=tuple(case.tags),
            metadata=case.metadata or None,
            mode=case.runs,
            in_turns=case.in_turns,
            scores_turns=case.scores_turns,
            simulator=self.simulator,
            turns=tuple(self.turns),
            checkpoints=tuple(self.checkpoints) if self.checkpoints or case.lists_checkpoints else None,
            final_assertions=self.final_assertions,
            score=self.score,
            scores=tuple(self.scores),
            transcript=tuple(self.transcript),
            threshold=self.threshold,
            checks_nothing=not (
                attempt.suite.is_message or self.assertions or self.checkpoints or criteria or self.simulator
            ),
            attachments=described(parts_of_case(case), attempt.folder),
            trace=attempt.trace(),
        )

    async def _ask(
        self,
        messages: list[dict[str, Any]],
        options: Mapping[str, Any],
        said: Any,
        start: int,
        turn: int = 1,
        **seen: Any,
    ) -> Exchange:
        """Sends messages to the agent; see `CaseAttempt.call_agent`. `start`: the place of the last one of the user;
        `turn`: the number of its turn; `seen`: what assertions see, instead of or beside what this knows."""
        attempt, chat = self.attempt, self.attempt.chat
        before, calls, asked = 0, 0, 0
        if attempt.case.in_turns:  # else those of the hook before the case count, too
            before, calls, asked = len(chat.uses), len(chat.model_calls), len(chat.agents)
        self.messages = len(messages)
        content = messages[start].get("content") if start < len(messages) else None
        started = case_now()
        try:
            answer = self.answer = await attempt.call_agent(messages, options, said)
        except AgentError as error:
            self.finish_reason = error.finish_reason
            self.said.append(AnsweredTurn(turn=turn, start=start, input=content, output=None))
            raise
        self.finish_reason = answer.finish_reason
        milliseconds = (case_now() - started) * 1000
        tools, made = tuple(chat.uses[before:]), tuple(chat.model_calls[calls:])
        others = tuple(use.replace(after=use.after - before) for use in chat.agents[asked:])
        self.said.append(AnsweredTurn(turn=turn, start=start, input=content, output=answer.output, tools=tools))
        took = usage_of(made)
        known = {
            "output": answer.output,
            "cut": answer.cut,
            "input": content,
            "tools": tools,
            "milliseconds": milliseconds,
            "tokens": tokens_of(took),
            "cost": took.cost,
            **attempt.known(len(made), others),
            "messages": (*messages, {"role": "assistant", "content": answer.text}),
            "case": attempt.case.id,
            "turns": tuple(self.said),
        }
        evidence = Evidence(**{**known, **seen})
        agents = evidence.agents
        self.answers.append(
            AnswerUsage(
                milliseconds=evidence.milliseconds,
                usage=None
                if took.unknown
                else TurnUsage(input_tokens=took.input_tokens, output_tokens=took.output_tokens, cost=took.cost),
                model_calls=evidence.model_calls,
                agents=None if agents is None or len(agents) > MOST_AGENTS else agents,
            )
        )
        return Exchange(answer=answer, evidence=evidence, calls=made)

    def _fail(self, cause: Cause, message: str) -> None:
        self.failures.append(Failure(cause=cause, message=message))

    def _judge(self, results: Sequence[AssertionResult], phase: str | None = None) -> None:
        """Adds assertions, and a failure for each failed one; `phase` is the place, such as `turn 2`."""
        self.assertions += results
        failures = [failure_of(result).replace(phase=phase) for result in results if not result.passed]
        if self.answer is not None and self.answer.ends_with_tools:
            output = self.answer.output
            failures = [one.replace(details=ENDED) if one.actual == output else one for one in failures]
        self.failures += failures


def usage_of(calls: Sequence[ModelCall]) -> Usage:
    """The tokens and costs of several calls of models; its cost is None when that of one is not known."""
    costs = [call.usage.cost for call in calls if call.usage.cost is not None or not call.free]
    usage = _sum(calls)
    return usage.replace(cost=None) if usage.cost is not None and None in costs else usage


def tokens_of(usage: Usage) -> int | None:
    """Input and output; None when they are not known."""
    return None if usage.unknown else usage.input_tokens + usage.output_tokens


def _sum(calls: Sequence[ModelCall]) -> Usage:
    return calls[0].usage if len(calls) == 1 else reduce(Usage.plus, (call.usage for call in calls), Usage())


class Exchange(Value):
    """A message to the agent and its answer."""

    answer: Answer
    evidence: Evidence
    calls: tuple[ModelCall, ...]


def failure_of(result: AssertionResult) -> Failure:
    """The failure of a failed assertion."""
    values = comparable(result.expected, result.actual) if result.type in COMPARED else None
    return Failure(
        cause=_cause_of(result),
        message=result.message or f"{result.type} failed",
        type=None if result.inconclusive else result.type,
        expected=result.expected,
        actual=result.actual,
        expected_text=_text(values[0] if values else result.expected),
        actual_text=_text(values[1] if values else result.actual),
        diff=difference(result.expected, result.actual) if values else None,
    )


def _cause_of(result: AssertionResult) -> Cause:
    if result.infrastructure:
        return Cause.INFRASTRUCTURE
    if result.inconclusive:
        return Cause.INCONCLUSIVE
    return Cause.ERROR if result.error else Cause.ASSERTION


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_LIMIT else f"{text[:VALUE_LIMIT]}... ({len(text)} characters)"


class SingleAnswer(Mode):
    """The mode of a standard case."""

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
        self.failures += failures_of_scores(self.scores, self.score, grading.threshold, self.failures)
