"""Labels: the verdicts of people on answers that judges have judged. As lines of JSON or as a table for spreadsheets,
with `suite`, `id`, `run`, `turn`, `criterion`, `input`, `output`, `passed` (true, false, or nothing) and perhaps
`score`; a line may have `why`, which nothing reads but people."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.cells import as_cell, from_cell
from runner.errors import ConfigurationError
from runner.judging.judgements import Judgement, JudgementKey
from runner.record.votes import score_in
from runner.security.files import read_bytes
from scripttest.values import Value

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
    table = io.StringIO()
    writer = csv.DictWriter(table, FIELDS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for record in records:
        passed = record["passed"]
        words = {**record, "passed": "" if passed is None else str(passed).lower()}
        writer.writerow({key: as_cell(value) for key, value in words.items()})
    return table.getvalue()


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
