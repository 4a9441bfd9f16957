"""Reads the verdicts of judges from a saved run: one for each answer and criterion, with its votes."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any

from runner.assertions.base import AssertionResult
from runner.record.case_result import CriterionResult, graded_turn
from runner.record.model import ResultKey, TestResult
from runner.record.result_texts import as_text, message_text
from runner.record.votes import score_in
from scripttest.values import Value

PREFERENCE = "preference"
TIED = 0.5
"""Score of a comparison of two answers whose verdict changes with their order."""
JUDGED = ("agent", PREFERENCE, "rubrics")
"""Types of assertions that are decided by judges."""


class JudgementKey(ResultKey):
    """What identifies a judgement: the result, and which verdict of it."""

    run: int
    """From 1."""
    turn: int
    """The turn, from 1; 0: the whole conversation. Of a script test: the number of the check."""
    criterion: str


class Judgement(Value):
    """The verdict of one judge or of several."""

    key: JudgementKey
    passed: bool
    score: float | None
    input: str
    output: str
    judge: str
    votes: tuple[bool, ...] = ()
    scores: tuple[float, ...] = ()
    """The scores of the votes that have one."""
    turned: bool | None = None
    """Of a preference: whether the verdict turned with the order of both answers. None if it is not a preference."""


class Prices(Value):
    """The prices of a further run and of a further vote, both in US dollars or both in tokens."""

    run: float
    """One run of the agent."""
    vote: float
    """One call of a judge's model."""


def judgements_in(results: Iterable[TestResult]) -> list[Judgement]:
    """All verdicts of judges in some results, each once, but for those that are undecided or could not be given."""
    found: dict[JudgementKey, Judgement] = {}
    for result in results:
        made: dict[JudgementKey, Judgement] = {}
        for judgement in _of_result(result):
            made[_free(judgement.key, made)] = judgement
        found |= {key: judgement.replace(key=key) for key, judgement in made.items()}
    return list(found.values())


def _free(key: JudgementKey, taken: Container[JudgementKey]) -> JudgementKey:
    """The key of a verdict on the same answer by the same words says which of them it is."""
    names = chain([key.criterion], (f"{key.criterion} ({number})" for number in count(2)))
    return next(named for name in names if (named := key.replace(criterion=name)) not in taken)


class _Check(Value):
    """What a judge may have been asked. Criteria do not say of which type they are; those of a score that compares
    answers do that, too."""

    check: AssertionResult | CriterionResult
    type: str | None
    id: str | None = None


def _of_result(result: TestResult) -> Iterator[Judgement]:
    of_all = JudgementKey(suite=result.suite, id=result.name, run=result.run or 1, turn=0, criterion="")
    case = result.case
    if case is None:
        for number, check in enumerate(result.judgements, 1):
            key = of_all.replace(turn=number if len(result.judgements) > 1 else 0)
            yield from _of_checks(_checks([check]), key, None, check.actual)
        return
    turns = {turn.turn: turn for turn in case.turns}
    outputs = {number: turn.response if turn.output is None else turn.output for number, turn in turns.items()}
    last = max(turns, default=0)
    outputs[0] = outputs[last] if last else case.output

    def on(number: int, checks: list[_Check]) -> Iterator[Judgement]:
        """Those on the answer of a turn; of the whole where there is no such turn."""
        turn = number if number in turns else 0
        return _of_checks(checks, of_all.replace(turn=turn), turns[turn].input if turn else case.input, outputs[turn])

    graded = {
        graded_turn(entry.name): [
            _Check(check=check, type=PREFERENCE if entry.type == PREFERENCE else None, id=check.id)
            for check in entry.assertions
        ]
        for entry in case.scores
    }
    for number in (0, *turns):
        checks = turns[number].assertions if number else () if case.in_turns else case.assertions
        yield from on(number, _named(_checks(checks), graded.pop(number, [])))
    for number, criteria in graded.items():
        yield from on(number, criteria)
    yield from on(0, _checks(case.final_assertions or ()))
    for checkpoint in case.checkpoints or ():
        yield from on(checkpoint.reached_at_turn or last, _checks(checkpoint.assertions))


def _checks(checks: Iterable[AssertionResult]) -> list[_Check]:
    return [_Check(check=check, type=check.type) for check in checks]


def _named(checks: list[_Check], graded: list[_Check]) -> list[_Check]:
    """The assertions on an answer, with the ids of criteria where it has a score, which may be all there is."""
    if graded and len(checks) != len(graded):
        return graded
    ids = [check.id for check in graded] or [None] * len(checks)
    return [check.replace(id=id) for check, id in zip(checks, ids, strict=True)]


def _of_checks(checks: Iterable[_Check], answer: JudgementKey, said: Any, output: Any) -> Iterator[Judgement]:
    for number, one in enumerate(checks, 1):
        check = one.check
        if details := getattr(check, "details", ()):
            yield from _of_checks(_checks(details), answer, said, output)
            continue
        is_asked = check.judge is not None or one.type in JUDGED
        if not is_asked or check.error or check.inconclusive or not check.judged:
            continue
        named = one.id or getattr(check, "text", None) or getattr(check, "expected", None) or f"assertion {number}"
        compares = one.type == PREFERENCE
        votes = [vote for vote in (() if compares else check.votes) if vote.passed is not None]  # two orders have two
        yield Judgement(
            key=answer.replace(criterion=message_text(named)),
            passed=check.passed,
            score=score_in(check.score),
            input=message_text(said),
            output="" if output is None else as_text(output),
            judge=check.judge or "",
            votes=tuple(bool(vote.passed) for vote in votes),
            scores=tuple(score for vote in votes if (score := score_in(vote.score)) is not None),
            turned=score_in(check.score) == TIED if compares else None,
        )


def prices_in(results: Iterable[TestResult]) -> Prices | None:
    """The prices of runs and votes, from the traces of some results; None when they do not have both."""
    traces = [result.case.trace for result in results if result.case is not None]
    totals = [trace.get("totals") for trace in traces if isinstance(trace, dict)]
    both = [one for one in totals if isinstance(one, dict) and all(isinstance(one.get(who), dict) for who in _WHO)]
    agents, judges = ([one[who] for one in both] for who in _WHO)
    calls = _sum(judges, "model_calls")
    for names in (("cost",), ("input_tokens", "output_tokens")):
        run, vote = (math.fsum(_sum(each, name) for name in names) for each in (agents, judges))
        if run and vote and calls:
            return Prices(run=run / len(agents), vote=vote / calls)
    return None


_WHO = ("agent", "judge")


def _sum(totals: Sequence[Mapping[str, Any]], name: str) -> float:
    return math.fsum(value for one in totals if isinstance(value := one.get(name), int | float))


def noise_of(judgements: Sequence[Judgement]) -> list[list[list[float]]]:
    """Scores, or 1 and 0, of the first two votes on each answer: case > run > vote, for `components_of`."""
    cases: dict[JudgementKey, list[list[float]]] = {}
    for one in judgements:
        values = one.scores if len(one.scores) == len(one.votes) else tuple(map(float, one.votes))
        if len(values) >= 2:
            cases.setdefault(one.key.replace(run=0), []).append(list(values[:2]))
    return list(cases.values())
