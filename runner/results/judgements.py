"""What judges said in a saved run: each verdict on each answer, with its votes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from runner.results.criteria import objects_in, score_in
from runner.results.value_texts import text_of
from scripttest.values import Value

Record = dict[str, Any]
Key = tuple[str, str, int, int, str]
"""Suite, id, run (from 1), turn (0: the whole) and criterion."""
PREFERENCE = "preference"
TIED = 0.5
"""Score of a preference that turned."""
JUDGED = ("agent", PREFERENCE, "rubrics")
"""Types of assertions that judges decide."""


class Judgement(Value):
    """One verdict of a judge, or of several."""

    key: Key
    passed: bool
    score: float | None
    input: str
    output: str
    judge: str
    votes: tuple[bool, ...] = ()
    """Those that did not break, in their order."""
    scores: tuple[float, ...] = ()
    """Of the votes that have one."""
    turned: bool | None = None
    """Of a preference: whether the verdict turned with the order of both answers. None: it is no preference."""


class Prices(Value):
    """What is paid for more runs and for more votes, both in US dollars or both in tokens."""

    run: float
    """One run of the agent."""
    vote: float
    """One call of a judge's model."""


def judgements_in(results: Iterable[Mapping[str, Any]]) -> list[Judgement]:
    """All verdicts of judges in some results; what could not be judged, and what is inconclusive, is none."""
    found: dict[Key, Judgement] = {}
    for record in results:
        for judgement in _of_result(record):
            found[judgement.key] = judgement
    return list(found.values())


def _of_result(record: Mapping[str, Any]) -> Iterator[Judgement]:
    run = record.get("run") if isinstance(record.get("run"), int) else 1
    head = (str(record.get("suite")), str(record.get("id")), run or 1)
    said, output = record.get("input"), record.get("output")
    turns = {turn.get("turn"): turn for turn in objects_in(record.get("turns"))}
    last = turns[max(turns, key=lambda number: number or 0)] if turns else {}
    whole = last.get("output", output)
    for key in ("assertions", "final_assertions"):
        yield from _of_checks(record.get(key), head, 0, said, whole)
    for number, turn in turns.items():
        yield from _of_checks(turn.get("assertions"), head, int(number or 0), turn.get("input"), turn.get("output"))
    for entry in objects_in(record.get("scores")):
        name = str(entry.get("name") or "")
        at = int(name[5:]) if name.startswith("turn-") and name[5:].isdecimal() else 0
        turn = turns.get(at, last)
        of = str(entry.get("type") or "")
        yield from _of_checks(entry.get("assertions"), head, at, turn.get("input"), turn.get("output"), of)


def _of_checks(
    checks: Any, head: tuple[str, str, int], turn: int, said: Any, output: Any, of: str = ""
) -> Iterator[Judgement]:
    for number, check in enumerate(objects_in(checks), 1):
        judge = check.get("judge")
        if (judge is None and check.get("type") not in JUDGED) or not isinstance(check.get("passed"), bool):
            continue
        if check.get("error") or check.get("inconclusive") or check.get("judged") is False:
            continue
        named = check.get("id") or check.get("text") or check.get("expected") or f"assertion {number}"
        compares = (check.get("type") or of) == PREFERENCE
        cast = () if compares else check.get("votes")  # those on a preference are on two orders
        votes = [vote for vote in objects_in(cast) if isinstance(vote.get("passed"), bool)]
        scores = [score for vote in votes if (score := score_in(vote.get("score"))) is not None]
        yield Judgement(
            key=(*head, turn, text_of(named)),
            passed=check["passed"],
            score=score_in(check.get("score")),
            input="" if said is None else text_of(said),
            output="" if output is None else text_of(output),
            judge=str(judge or ""),
            votes=tuple(bool(vote["passed"]) for vote in votes),
            scores=tuple(scores),
            turned=score_in(check.get("score")) == TIED if compares else None,
        )


def prices_in(results: Iterable[Mapping[str, Any]]) -> Prices | None:
    """What runs and votes took, by the traces of some results; None where these do not say it of both."""
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
    cases: dict[tuple[str, str, int, str], list[list[float]]] = {}
    for one in judgements:
        values = list(one.scores) if len(one.scores) == len(one.votes) else [float(vote) for vote in one.votes]
        if len(values) >= 2:
            suite, id, _, turn, criterion = one.key
            cases.setdefault((suite, id, turn, criterion), []).append(values[:2])
    return list(cases.values())
