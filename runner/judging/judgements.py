"""Reads the verdicts of judges from a saved run, one for each answer and criterion, with its votes; and labels, the
verdicts of people on these answers. Labels are lines of JSON or a table for spreadsheets, with `suite`, `id`, `run`,
`turn`, `criterion`, `input`, `output`, `passed` (true, false, or nothing) and perhaps `score`; a line may have `why`,
which nothing reads but people."""

from __future__ import annotations

import csv
import io
import json
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from runner.assertions.base import AssertionResult
from runner.cells import from_cell, table_text
from runner.errors import ConfigurationError
from runner.record.case_result import CriterionResult, graded_turn
from runner.record.model import ResultKey, TestResult
from runner.record.result_texts import as_text, message_text
from runner.record.votes import score_in
from runner.security.files import read_bytes
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
            key = judgement.key  # of a verdict on the same answer by the same words, it says which of them it is
            names = chain([key.criterion], (f"{key.criterion} ({number})" for number in count(2)))
            made[next(one for name in names if (one := key.replace(criterion=name)) not in made)] = judgement
        found |= {key: judgement.replace(key=key) for key, judgement in made.items()}
    return list(found.values())


_Check = tuple[AssertionResult | CriterionResult, str | None, str | None]
"""What a judge may have been asked, its type and its id. Criteria do not say of which type they are; those of a score
that compares answers do that, too."""


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

    def on(number: int, checks: Sequence[_Check]) -> Iterator[Judgement]:
        """Those on the answer of a turn; of the whole where there is no such turn."""
        turn = number if number in turns else 0
        return _of_checks(checks, of_all.replace(turn=turn), turns[turn].input if turn else case.input, outputs[turn])

    graded = {
        graded_turn(entry.name): [
            (check, PREFERENCE if entry.type == PREFERENCE else None, check.id) for check in entry.assertions
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
    return [(check, check.type, None) for check in checks]


def _named(checks: Sequence[_Check], graded: Sequence[_Check]) -> Sequence[_Check]:
    """The assertions on an answer, with the ids of criteria where it has a score, which may be all there is."""
    if graded and len(checks) != len(graded):
        return graded
    ids = [id for _, _, id in graded] or [None] * len(checks)
    return [(check, type, id) for (check, type, _), id in zip(checks, ids, strict=True)]


def _of_checks(checks: Iterable[_Check], answer: JudgementKey, said: Any, output: Any) -> Iterator[Judgement]:
    for number, (check, type, id) in enumerate(checks, 1):
        if details := getattr(check, "details", ()):
            yield from _of_checks(_checks(details), answer, said, output)
            continue
        is_asked = check.judge is not None or type in JUDGED
        if not is_asked or check.error or check.inconclusive or not check.judged:
            continue
        named = id or getattr(check, "text", None) or getattr(check, "expected", None) or f"assertion {number}"
        compares = type == PREFERENCE
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


FIELDS = ("suite", "id", "run", "turn", "criterion", "input", "output", "passed", "score")
YES, NO = ("true", "yes", "y", "1", "pass", "passed"), ("false", "no", "n", "0", "fail", "failed")
HINT = "yao-test label writes such files; passed is true, false, or empty if there is no label yet"
_COMMENTS = ("//", "#")
_TEXTS = ("suite", "id", "criterion", "why")


class Label(Value):
    """The verdict of one person on one answer."""

    key: JudgementKey
    passed: bool | None
    """None if there is no verdict yet."""
    score: float | None = None
    why: str = ""
    """The reason, in the person's own words."""


def drawn(judgements: Sequence[Judgement], count: int) -> list[Judgement]:
    """As many answers, the same each time: half of them pass, half fail, as far as there are so many of each."""
    draw = random.Random(0)
    passed = [one for one in judgements if one.passed]
    failed = [one for one in judgements if not one.passed]
    for part in (passed, failed):
        draw.shuffle(part)
    of_failed = min(len(failed), max(count // 2, count - len(passed)))
    chosen = passed[: count - of_failed] + failed[:of_failed]
    draw.shuffle(chosen)
    return chosen


def text_of_labels(judgements: Sequence[Judgement], labels: Mapping[JudgementKey, Label], *, as_table: bool) -> str:
    """The labels as the text of a file. It does not contain the verdict of the judge, which would influence people."""
    records = [_record(one, labels.get(one.key)) for one in judgements]
    if not as_table:
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    words = {None: "", True: "true", False: "false"}
    return table_text(FIELDS, ({**record, "passed": words[record["passed"]]} for record in records))


def read_labels(path: Path, shown: str) -> list[Label]:
    """Reads a file of labels. Raises ConfigurationError, which names the invalid line."""
    try:
        text = read_bytes(path, None).decode("utf-8-sig")
    except OSError as error:
        raise ConfigurationError(f"Cannot read the labels {shown}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _unread(shown, "it is not UTF-8 text") from error
    rows = _table if path.suffix.lower() == ".csv" else _lines
    return [_label(row, f"{shown}:{number}") for number, row in rows(text, shown)]


def _record(one: Judgement, label: Label | None) -> dict[str, Any]:
    record = {**one.key.record, "input": one.input, "output": one.output, "passed": label.passed if label else None}
    if label is not None and label.score is not None:
        record["score"] = label.score
    return record | ({"why": label.why} if label is not None and label.why else {})


def _lines(text: str, shown: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith(_COMMENTS):
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _unread(f"{shown}:{number}", "it is not JSON") from error
        if not isinstance(row, dict):
            raise _unread(f"{shown}:{number}", "it is not an object")
        yield number, row


def _table(text: str, shown: str) -> Iterator[tuple[int, dict[str, Any]]]:
    first = text.partition("\n")[0]
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # an answer may be longer
    reader = csv.DictReader(
        io.StringIO(text, newline=""), delimiter=";" if first.count(";") > first.count(",") else ","
    )
    try:
        if missing := {"suite", "id", "passed"}.difference(reader.fieldnames or ()):
            raise _unread(shown, f"there is no column {', '.join(sorted(missing))}")
        for row in reader:
            yield reader.line_num, {name: from_cell(cell) for name, cell in row.items()}
    except csv.Error as error:
        raise _unread(f"{shown}:{reader.line_num}", str(error)) from error


def _label(row: dict[str, Any], where: str) -> Label:
    suite, id, criterion, why = ("" if row.get(name) is None else str(row[name]) for name in _TEXTS)
    if not suite or not id:
        raise _unread(where, "a row has no suite or no id")
    run, turn = _number(row.get("run"), 1, where), _number(row.get("turn"), 0, where)
    return Label(
        key=JudgementKey(suite=suite, id=id, run=run, turn=turn, criterion=criterion),
        passed=_passed(row.get("passed"), where),
        score=_score(row.get("score"), where),
        why=why,
    )


def _number(value: Any, otherwise: int, where: str) -> int:
    try:
        return otherwise if value in (None, "") else int(value)
    except (OverflowError, TypeError, ValueError) as error:
        raise _unread(where, f"{value!r} is not a run or turn number") from error


def _passed(value: Any, where: str) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word not in ("", *YES, *NO):
        raise _unread(where, f'passed is "{value}"')
    return word in YES if word else None


def _score(value: Any, where: str) -> float | None:
    if value in (None, ""):
        return None
    try:
        score = score_in(float(value))
    except (TypeError, ValueError):
        score = None
    if score is None:
        raise _unread(where, f'score is "{value}", not a number from 0 to 1')
    return score


def _unread(where: str, why: str) -> ConfigurationError:
    return ConfigurationError(f"Cannot read the labels {where}: {why}", HINT)
