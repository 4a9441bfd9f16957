"""Grades answers by criteria, each with its weight: all criteria of a turn at the same time, then one score and one
verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bindings import agent_id
from runner.assertions import TYPES
from runner.assertions.base import AnsweredTurn, AssertionResult, Evidence, NotEvaluated
from runner.assertions.checking import check, type_named
from runner.assertions.judges import seen_of, without_files
from runner.assertions.results import how_judged, judged_by, not_evaluated, result_of, shorten, show
from runner.cases.turns import Criterion as Rubric
from runner.cases.turns import Grader
from runner.modes.base import CaseAttempt, CaseJudges
from runner.record.case_result import CriterionResult, ScoreResult, ScoreVerdict
from runner.record.combining import below, reaches, shortfall
from scripttest import Cause, Failure, Status
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.chat import Chat
    from runner.cases.other_cases import ConversationCase, GradedCase

VALIDATOR = "workers.test.validator"
WHOLE = "assertions"
AGGREGATIONS: dict[str, Callable[[list[float]], float]] = {
    "mean": lambda scores: sum(scores) / len(scores),
    "min": min,
    "max": max,
}
RUBRICS = "rubrics"
MATCHES = "Means the same as expected_output"
SHOWN = 200
"""Characters of an assertion's value in its text."""
STOPPED = "an earlier turn failed, and on_turn_failure is stop"


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


class Grade(Value):
    """The combined grade of a turn, and the grades of its graders."""

    score: ScoreResult
    results: tuple[AssertionResult, ...]
    error: str | None
    """Why it failed, in short."""

    @property
    def failed(self) -> bool:
        """Whether it is too low."""
        return self.score.verdict == ScoreVerdict.FAIL

    @property
    def of_turn(self) -> dict[str, Any]:
        """The fields of the result of the turn."""
        status = Status.FAILED if self.failed else Status.PASSED
        return {"status": status, "assertions": self.results, "error": self.error}


class Grading:
    """Grades one conversation or answer. What graders ask models counts for the case, and for no turn of it."""

    def __init__(
        self,
        attempt: CaseAttempt,
        case: ConversationCase | GradedCase,
        whole: list[Criterion],
        has_others: bool = False,
    ) -> None:
        """`whole`: the criteria of the whole. `has_others`: whether there are others, of turns. Where there are none at
        all, the `criteria` of the case are one; else graders get them in addition to their own."""
        self._attempt = attempt
        self._grader = agent_id(case.grader) if case.grader else VALIDATOR
        self.threshold = attempt.environment.options.score_threshold if case.threshold is None else case.threshold
        """The score from which on a grade passes."""
        has_any = bool(whole) or has_others
        self.whole = whole if has_any or not case.criteria else [Criterion(text=case.criteria, required=True)]
        self._background = case.criteria if has_any else None
        self._chats: list[tuple[Chat, int]] = []
        """The chats of the graders, each with the number of model calls that it had at the start."""

    async def grade(self, name: str, criteria: Sequence[Criterion], evidence: Evidence, reference: Any = None) -> Grade:
        """Grades an answer, or the last answer of a conversation. Raises nothing: a criterion that cannot be judged
        fails with `error`. `name`: name of the score, such as `turn-1`. `evidence`: its `input` is the conversation
        that validators see. `reference`: the expected answer."""
        judges = self._judges(evidence.turns[-1].turn if evidence.turns else 0)
        evidence = evidence.replace(case=f"{self._attempt.case.id} {name}", criteria=self._background)
        results = await asyncio.gather(*(self._judge(criterion, evidence, reference, judges) for criterion in criteria))
        score = self._scored(name, criteria, results)
        failed = score.verdict == ScoreVerdict.FAIL
        error = below(score.score, self.threshold, [score]) if failed else None
        return Grade(score=score, results=tuple(results), error=error)

    def close(self) -> None:
        """Adds what graders asked models to the case's own calls."""
        for chat, before in self._chats:
            self._attempt.chat.model_calls += chat.model_calls[before:]
        self._chats.clear()

    def _judges(self, turn: int) -> CaseJudges:
        """Judges of a turn: they share what the conversation remembers, but not its tools and model calls."""
        own = self._attempt.chat
        chat = own.beside(own.role)
        chat.turn, chat.logs, chat.judged_by = turn, own.logs, own.judged_by
        chat.model_calls = own.model_calls[-1:]
        self._chats.append((chat, len(chat.model_calls)))
        return CaseJudges(self._attempt, chat)

    async def _judge(
        self, criterion: Criterion, evidence: Evidence, reference: Any, judges: CaseJudges
    ) -> AssertionResult:
        if criterion.grader is not None and criterion.type != RUBRICS:
            result = await check(criterion.grader, evidence, judges)
            return result.replace(score=None) if criterion.grader.negate else result
        payload: dict[str, Any] = {
            "output": evidence.output,
            "input": evidence.input,
            **seen_of(evidence),
            "criteria": criterion.text,
            "test_id": self._attempt.case.id,
        }
        if criterion.reference:
            payload["expected_output"] = reference
        options: dict[str, Any] = {}
        if criterion.grader is not None:
            options = criterion.grader.options.model_dump(exclude_defaults=True)
            payload |= criterion.grader.options.metadata
        panel = criterion.grader.judge if criterion.grader is not None else None
        try:
            verdict = await judged_by(judges, self._grader, panel, payload, options)
        except NotEvaluated as error:
            return not_evaluated(RUBRICS, error, str(error), criterion.text, evidence.output)
        verdict = verdict.replace(expected=criterion.text, actual=evidence.output)
        return result_of(RUBRICS, verdict, judges.flags.required)

    def _scored(self, name: str, criteria: Sequence[Criterion], results: Sequence[AssertionResult]) -> ScoreResult:
        """What was not judged has no say, unless a judge is required."""
        graded = tuple(
            _graded(criterion, result, self.threshold) for criterion, result in zip(criteria, results, strict=True)
        )
        scored = [(result.score, result.weight) for result in graded if result.score is not None]
        weight = sum(weight for _, weight in scored)
        score = sum(score * weight for score, weight in scored) / weight if scored else None if graded else 1.0
        missing = any(not result.judged and not result.passed for result in graded)
        holds = not missing and (score is None or reaches(score, self.threshold))
        verdict = ScoreVerdict.PASS if holds else ScoreVerdict.FAIL
        types = {criterion.type for criterion in criteria}
        kind = types.pop() if len(types) == 1 else RUBRICS
        return ScoreResult(name=name, type=kind, score=score, verdict=verdict, assertions=graded)


def seen_by_graders(
    transcript: Sequence[dict[str, Any]], said: Sequence[AnsweredTurn], size: int | None
) -> tuple[list[dict[str, Any]], list[AnsweredTurn]]:
    """The messages that graders of the newest turn see: all, or system messages and the last turns."""
    if size is None or size >= len(said):
        return list(transcript), list(said)
    start = said[-size].start
    system = [message for message in transcript[:start] if message["role"] in ("system", "developer")]
    turns = [turn.replace(start=turn.start - start + len(system)) for turn in said[-size:]]
    return [*system, *transcript[start:]], turns


def failures_of_scores(
    scores: Sequence[ScoreResult],
    score: float | None,
    threshold: float,
    others: Sequence[Failure],
    aggregation: str = "mean",
    *,
    trials: int = 1,
) -> list[Failure]:
    """What a case fails for by its scores and their `aggregation`, beside `others`. Of several trials the mean counts,
    which is not known yet, and where something broke the score is not what the answers deserve: then only single
    criteria fail it."""
    found = _problems_of(scores)
    if trials > 1 or any(failure.cause == Cause.INFRASTRUCTURE for failure in (*others, *found)):
        return found
    failed = shortfall(score, threshold, scores, aggregation)
    return found if failed is None else [*found, failed]


def for_graders(message: dict[str, Any]) -> dict[str, Any]:
    """A message without the content of its files, which would be sent to every grader."""
    content = message.get("content")
    return {**message, "content": without_files(content)} if isinstance(content, list) else message


def criteria_of(graders: Sequence[str | Grader] | None, expected_output: Any = None) -> list[Criterion]:
    """All criteria, in the order in which they are written, the reference answer last. A weight and `required` of
    `rubrics` count for each criterion of it."""
    criteria = [criterion for grader in graders or () for criterion in _of(grader)]
    if expected_output is not None:
        criteria.append(Criterion(text=MATCHES, reference=True))
    return criteria


def _problems_of(scores: Sequence[ScoreResult]) -> list[Failure]:
    """What fails a case whatever its score: criteria that could not be judged, then required ones."""
    errors: list[Failure] = []
    required: list[Failure] = []
    for name, criterion in ((entry.name, one) for entry in scores for one in entry.assertions):
        said = f'{name}: "{criterion.text}": {criterion.reason}'
        if criterion.error:
            cause = Cause.INFRASTRUCTURE if criterion.infrastructure else Cause.ERROR
            said = f'{name}: cannot grade "{criterion.text}": {criterion.reason}'
            errors.append(Failure(cause=cause, message=said))
        elif criterion.inconclusive:
            errors.append(Failure(cause=Cause.INCONCLUSIVE, message=said))
        elif not criterion.passed and (criterion.required or not criterion.judged):
            if criterion.judged:
                said = f'{name}: the required criterion "{criterion.text}" is not met'
                said += f": {criterion.reason}" if criterion.reason else ""
            required.append(Failure(cause=Cause.ASSERTION, message=said))
    return errors + required


def _graded(criterion: Criterion, result: AssertionResult, threshold: float) -> CriterionResult:
    score: float | None = 1.0 if result.passed else 0.0
    reason = result.message
    if not result.judged or result.inconclusive:
        score = None
    elif result.score is not None and 0 <= result.score <= 1:
        # a judge gives the verdict, and the score beside it; a measured score decides by itself
        is_asked = criterion.type == RUBRICS or type_named(criterion.type).asks is not None
        if not result.passed and is_asked and reaches(result.score, threshold):
            said = f"the verdict is no, so the score {result.score:g} does not count"
            reason = f"{reason} ({said})" if reason else said
        else:
            score = float(result.score)
    return CriterionResult(
        text=criterion.text,
        passed=result.passed,
        score=score,
        weight=criterion.weight,
        required=criterion.required,
        reason=reason,
        error=result.error,
        id=criterion.id,
        infrastructure=result.infrastructure,
        judged=result.judged,
        not_judged=result.not_judged,
        **how_judged(result),
    )


def _of(grader: str | Grader) -> Iterator[Criterion]:
    if isinstance(grader, str):
        if grader not in TYPES:
            yield Criterion(text=grader)
            return
        grader = Grader(type=grader)
    if grader.type != RUBRICS:
        yield Criterion(text=_text(grader), weight=grader.weight, required=grader.required, grader=grader)
        return
    for item in grader.criteria if isinstance(grader.criteria, list) else [grader.criteria]:
        rubric = item if isinstance(item, Rubric) else Rubric(outcome=str(item))
        yield Criterion(
            text=rubric.outcome,
            weight=rubric.weight * grader.weight,
            required=rubric.required or grader.required,
            id=rubric.id,
            grader=grader,
        )


def _text(grader: Grader) -> str:
    """An assertion in short: `contains "CSS"`."""
    said = next((value for value in (grader.criteria, grader.value, grader.pattern, grader.name) if value), None)
    shown = f'"{shorten(" ".join(said.split()), SHOWN)}"' if isinstance(said, str) else show(said, SHOWN)
    parts = [grader.type, grader.path, None if said is None else shown]
    text = " ".join(part for part in parts if part)
    return f"not {text}" if grader.negate else text
