"""Reads the verdicts of judges from a saved run: one for each answer and criterion, with its votes."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any

from runner.results.criteria import objects_in, score_in
from runner.results.result_keys import ResultKey
from runner.results.turn_json import graded_turn
from runner.results.value_texts import as_text, text_of
from scripttest.typing_names import Record
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
    """The votes that did not break, in their order."""
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


def judgements_in(results: Iterable[Mapping[str, Any]]) -> list[Judgement]:
    """All verdicts of judges in some results, each once. Verdicts that nobody could give or that votes did not decide
    are left out."""
    found: dict[JudgementKey, Judgement] = {}
    for record in results:
        made: dict[JudgementKey, Judgement] = {}
        for judgement in _of_result(record):
            made[_free(judgement.key, made)] = judgement
        found |= {key: judgement.replace(key=key) for key, judgement in made.items()}
    return list(found.values())


def _free(key: JudgementKey, taken: Container[JudgementKey]) -> JudgementKey:
    """The key of a verdict on the same answer by the same words says which of them it is."""
    names = chain([key.criterion], (f"{key.criterion} ({number})" for number in count(2)))
    return next(named for name in names if (named := key.replace(criterion=name)) not in taken)


def _of_result(record: Mapping[str, Any]) -> Iterator[Judgement]:
    run = record.get("run") if isinstance(record.get("run"), int) else 1
    of_all = JudgementKey(suite=str(record.get("suite")), id=str(record.get("id")), run=run or 1, turn=0, criterion="")
    turns = {_number(turn.get("turn")): turn for turn in objects_in(record.get("turns"))}
    last = turns[max(turns)] if turns else {}
    whole = _Answer(number=0, said=record.get("input"), output=last.get("output", record.get("output")))
    answers = {
        number: _Answer(number=number, said=turn.get("input"), output=turn.get("output"))
        for number, turn in turns.items()
    }
    scores = objects_in(record.get("scores"))
    graded = {graded_turn(str(entry.get("name") or "")): _criteria_in(entry) for entry in scores}
    for number, answer in [(0, whole), *answers.items()]:
        checks = objects_in(turns[number].get("assertions") if number else record.get("assertions"))
        yield from _of_checks(_named(checks, graded.pop(number, [])), of_all, answer)
    for number, checks in graded.items():
        yield from _of_checks(checks, of_all, answers.get(number, whole))
    yield from _of_checks(objects_in(record.get("final_assertions")), of_all, whole)
    for checkpoint in objects_in(record.get("checkpoints")):
        at = _number(checkpoint.get("reached_at_turn")) or (max(turns) if turns else 0)
        yield from _of_checks(objects_in(checkpoint.get("assertions")), of_all, answers.get(at, whole))
    of_script = objects_in(record.get("judgements"))
    for number, check in enumerate(of_script, 1):
        judged = _Answer(number=number if len(of_script) > 1 else 0, said=None, output=check.get("actual"))
        yield from _of_checks([check], of_all, judged)


class _Answer(Value):
    """An answer that was judged."""

    number: int
    """The number of the turn; 0: the whole conversation."""
    said: Any
    output: Any


def _number(turn: Any) -> int:
    return turn if isinstance(turn, int) else 0


def _criteria_in(entry: Mapping[str, Any]) -> list[Record]:
    """Criteria do not say of which type they are; those of an entry that compares answers do that, too."""
    kind = {"type": PREFERENCE} if entry.get("type") == PREFERENCE else {}
    return [{**kind, **check} for check in objects_in(entry.get("assertions"))]


def _named(checks: list[Record], graded: list[Record]) -> list[Record]:
    """The assertions on an answer. Where it has a score, each stands there again, with the id of its criterion. A
    score may also be all there is of them."""
    if not checks or (graded and len(checks) != len(graded)):
        return graded
    ids = [check.get("id") for check in graded] or [None] * len(checks)
    return [{**check, "id": id} if id else check for check, id in zip(checks, ids, strict=True)]


def _of_checks(checks: Iterable[Record], of_all: JudgementKey, answer: _Answer) -> Iterator[Judgement]:
    for number, check in enumerate(checks, 1):
        if details := objects_in(check.get("details")):
            yield from _of_checks(details, of_all, answer)
            continue
        judge = check.get("judge")
        if (judge is None and check.get("type") not in JUDGED) or not isinstance(check.get("passed"), bool):
            continue
        if check.get("error") or check.get("inconclusive") or check.get("judged") is False:
            continue
        named = check.get("id") or check.get("text") or check.get("expected") or f"assertion {number}"
        compares = check.get("type") == PREFERENCE
        cast = () if compares else check.get("votes")  # those on a preference are on two orders
        votes = [vote for vote in objects_in(cast) if isinstance(vote.get("passed"), bool)]
        scores = [score for vote in votes if (score := score_in(vote.get("score"))) is not None]
        yield Judgement(
            key=of_all.replace(turn=answer.number, criterion=text_of(named)),
            passed=check["passed"],
            score=score_in(check.get("score")),
            input="" if answer.said is None else text_of(answer.said),
            output="" if answer.output is None else as_text(answer.output),
            judge=str(judge or ""),
            votes=tuple(bool(vote["passed"]) for vote in votes),
            scores=tuple(scores),
            turned=score_in(check.get("score")) == TIED if compares else None,
        )


def prices_in(results: Iterable[Mapping[str, Any]]) -> Prices | None:
    """The prices of runs and votes, from the traces of some results; None when they do not have both."""
    agents: list[Mapping[str, Any]] = []
    judges: list[Mapping[str, Any]] = []
    for record in results:
        trace = record.get("trace")
        totals = trace.get("totals") if isinstance(trace, dict) else None
        if isinstance(totals, dict) and isinstance(totals.get("agent"), dict) and isinstance(totals.get("judge"), dict):
            agents.append(totals["agent"])
            judges.append(totals["judge"])
    calls = _sum(judges, "model_calls")
    for names in (("cost",), ("input_tokens", "output_tokens")):
        run, vote = (math.fsum(_sum(each, name) for name in names) for each in (agents, judges))
        if run and vote and calls:
            return Prices(run=run / len(agents), vote=vote / calls)
    return None


def _sum(totals: Sequence[Mapping[str, Any]], name: str) -> float:
    return math.fsum(value for one in totals if isinstance(value := one.get(name), int | float))


def noise_of(judgements: Sequence[Judgement]) -> list[list[list[float]]]:
    """Scores, or 1 and 0, of the first two votes on each answer: case > run > vote, for `components_of`."""
    cases: dict[JudgementKey, list[list[float]]] = {}
    for one in judgements:
        values = list(one.scores) if len(one.scores) == len(one.votes) else [float(vote) for vote in one.votes]
        if len(values) >= 2:
            cases.setdefault(one.key.replace(run=0), []).append(values[:2])
    return list(cases.values())
