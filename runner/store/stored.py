"""What a store has: the columns of its tables, which every read checks, and the records that are made of their rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from runner.record.checks import result_problem
from runner.record.events import RunStart
from runner.record.model import KINDS
from runner.record.saved import start_in
from runner.record.verdict import Verdict
from runner.store.database import damaged, understood
from scripttest.typing_names import Record
from scripttest.values import Value

LARGEST = 1 << 53
"""No number in a store is larger."""
RUNS_OF_A_TEST = 1_000_000
"""No test has more runs; with a much larger number, the statistics would take for ever."""
BATCH = 2000
"""Rows that are in memory at a time where many are read."""
EXCERPT = 40
"""Characters of a damaged value that are shown."""
_OF_RUN = ("run", "id")
"""Columns that name a run."""
_OF_SUITE = ("id", "kind", "label", "file", "agent", "connector")


class Column(Value):
    """What a column may hold."""

    types: frozenset[type]
    """Those of its values; `NoneType` for NULL."""
    is_good: Callable[[Any], bool] | None = None
    """Whether it may hold a value of these types, other than NULL."""

    def holds(self, values: Sequence[Any]) -> bool:
        """Whether it may hold all of these values."""
        if not set(map(type, values)) <= self.types:
            return False
        return self.is_good is None or all(map(self.is_good, set(values) - {None}))


Columns = dict[str, Column]


def _is_counted(number: float) -> bool:
    return 0 <= number <= LARGEST


def _optional(column: Column) -> Column:
    return column.replace(types=column.types | {type(None)})


TEXT = Column(types=frozenset({str}))
OPTIONAL_TEXT = _optional(TEXT)
_NUMBER = Column(types=frozenset({int}), is_good=_is_counted)
_FIGURE = Column(types=frozenset({int, float}), is_good=_is_counted)
_SCORE = _optional(Column(types=_FIGURE.types, is_good=lambda score: abs(score) <= LARGEST))
_RUNS = Column(types=_NUMBER.types, is_good=lambda number: 0 <= number <= RUNS_OF_A_TEST)
_ID = Column(types=TEXT.types, is_good=str.isalnum)
"""It is part of the name of a file."""

RUNS: Columns = {
    "id": _ID,
    "session": _NUMBER,
    "started_at": TEXT,
    **dict.fromkeys(("ended_at", "status", "branch", "revision", "profile", "place"), OPTIONAL_TEXT),
    "reports": TEXT,
    "start": TEXT,
    "summary": OPTIONAL_TEXT,
}
SUITES: Columns = {
    "run": _ID,
    "suite": TEXT,
    "name": TEXT,
    "kind": TEXT,
    "session": _NUMBER,
    "selected": _optional(_NUMBER),
    "total": _optional(_NUMBER),
    "ended": _NUMBER,
}
RESULTS: Columns = {
    "seq": _NUMBER,
    "run": _ID,
    "session": _NUMBER,
    "suite": TEXT,
    "position": Column(types=_NUMBER.types),
    "test": TEXT,
    "attempt": _NUMBER,
    "verdict": Column(types=TEXT.types, is_good=frozenset(Verdict).__contains__),
    "cause": OPTIONAL_TEXT,
    "passed": _RUNS,
    "judged": _RUNS,
    "score": _SCORE,
    "duration_ms": _FIGURE,
    "tokens": _optional(_FIGURE),
    "cost": _optional(_FIGURE),
    "cost_estimated": Column(types=_NUMBER.types, is_good=frozenset((0, 1)).__contains__),
    "connector": OPTIONAL_TEXT,
    "made_of": OPTIONAL_TEXT,
    "line": Column(types=frozenset({str, bytes, type(None)})),
}
REMARKS: Columns = {"seq": _NUMBER, "run": _ID, "session": _NUMBER, "line": TEXT}
FINGERPRINTS: Columns = {"digest": TEXT, "content": TEXT}
LABELS: Columns = {
    "run": _ID,
    "suite": TEXT,
    "test": TEXT,
    "attempt": _NUMBER,
    "turn": _NUMBER,
    "criterion": TEXT,
    "passed": _optional(Column(types=_NUMBER.types, is_good=frozenset((0, 1)).__contains__)),
    "score": _SCORE,
    "why": TEXT,
    "person": TEXT,
    "made_at": TEXT,
}


def read(
    folder: Path, database: sqlite3.Connection, columns: Columns, statement: str, values: Sequence[Any] = ()
) -> list[Any]:
    """The result of a query on a store. Raises StoreError if it cannot be read or is damaged.

    Args:
        folder: folder of the store.
        database: of this store.
        columns: what is checked, by the names that the query gives to its columns; others are what it computes.
        statement: the query.
        values: for its places."""
    return [row for rows in batches(folder, database, columns, statement, values) for row in rows]


def batches(
    folder: Path, database: sqlite3.Connection, columns: Columns, statement: str, values: Sequence[Any] = ()
) -> Iterator[list[Any]]:
    """The same, some rows at a time."""
    with understood(folder):
        cursor = database.execute(statement, values)
    names = [name for name, *_ in cursor.description]
    while True:
        with understood(folder):
            rows = cursor.fetchmany(BATCH)
        if not rows:
            return
        for name, values_of_rows in zip(names, zip(*rows, strict=True), strict=False):
            column = columns.get(name)
            if column is not None and not column.holds(values_of_rows):
                at, value = next((at, one) for at, one in enumerate(values_of_rows) if not column.holds([one]))
                run = next((f" in run {excerpt(rows[at][names.index(key)])}" for key in _OF_RUN if key in names), "")
                raise damaged(folder, f"{name} is {excerpt(value)}{run}")
        yield rows


def run_start_in(text: str) -> RunStart:
    """The first line of the report of a run. Raises ValueError when it is damaged."""
    start = record_in(text)
    suites = start.get("suites")
    if not isinstance(suites, list) or not all(map(_is_suite, suites)):
        raise ValueError("the start of a run does not name its suites")
    if not isinstance(start.get("flags", []), list):
        raise ValueError("the start of a run does not name its flags")
    return start_in(start)


def summary_in(text: str | None) -> Record:
    """The last line of the report of a run; empty if there is none. Raises ValueError when it is damaged."""
    summary = {} if text is None else record_in(text)
    if not isinstance(summary.get("usage", {}), dict):
        raise ValueError("the summary of a run has no usage")
    return summary


def reports_in(text: str) -> tuple[str, ...]:
    """The names of the reports of a run. Raises ValueError when they are damaged."""
    names = _parsed(text)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("the reports of a run are not a list of names")
    return tuple(names)


def result_in(text: str) -> Record:
    """The line of a result. Raises ValueError when it is damaged."""
    result = record_in(text)
    if problem := result_problem(result):
        raise ValueError(problem)
    return result


def record_in(text: str) -> Record:
    """A JSON object. Raises ValueError for what is none."""
    record = _parsed(text)
    if not isinstance(record, dict):
        raise ValueError(f"{excerpt(text)} is not a JSON object")
    return record


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{excerpt(text)} is not JSON") from error


def _is_suite(value: object) -> bool:
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(name), str) for name in _OF_SUITE)
        and value["kind"] in KINDS
    )


def excerpt(value: object) -> str:
    """A value of a store, for a message."""
    text = "NULL" if value is None else repr(value)
    return text if len(text) <= EXCERPT else f"{text[:EXCERPT]}…"


UNDER_WAY, CUT_SHORT = "under way", "cut short"
"""States of runs without an end: their process is running, or has ended."""


class StoredRun(Value):
    """A run in a store."""

    id: str
    started_at: str
    """UTC, RFC 3339."""
    ended_at: str | None
    """None while it is running, and if it was cut short."""
    state: str
    """How it ended, as reports say it (`passed`, `failed`, `error`, `interrupted`), `under way` or `cut short`."""
    branch: str | None
    commit: str | None
    place: str | None
    """Which application on which machine it was made in; see `runner.store.places.place_of`."""
    profile: str | None
    connectors: tuple[str, ...]
    """What its tests have asked so far, in the order of their names."""
    reports: tuple[str, ...]
    """Its `.jsonl` reports, which `--resume` takes."""
    start: RunStart
    """As its report has it."""
    summary: Record
    """The last line of it; empty while there is none."""
    session: int
    """How often it was resumed."""
    counts: dict[str, int]
    """Verdict (`passed`, `failed`, `skipped`, `broken`, `inconclusive`) → how many tests have it so far."""
    last_seq: int
    """The highest number of a result that it has; 0: none."""
    labels: int
    """How many labels people have put on its answers."""

    @property
    def is_over(self) -> bool:
        """Whether it ended by itself."""
        return self.ended_at is not None


class StoredResult(Value):
    """A result, without its transcript; that is `Store.line`."""

    seq: int
    """Rises with each result that is written."""
    run: str
    suite: str
    """What names its suite in all runs; see `runner.store.rows.key_of`."""
    position: int
    """In its suite, from 0."""
    test: str
    attempt: int
    """0: the verdict on the test; else one of its several runs, from 1."""
    verdict: str
    """`passed`, `failed`, `skipped`, `broken` or `inconclusive`."""
    cause: str | None
    """As in reports; `cut_short` where the run ended before the test did."""
    passed: int
    """Runs of it that passed ..."""
    judged: int
    """... of those that passed or failed."""
    score: float | None
    """0 to 1, the mean of its runs, as are the following ones."""
    duration_ms: float
    tokens: float | None
    cost: float | None
    """US dollars, an `Estimate` where one run has one."""
    cost_estimated: int
    """1 for an estimate."""
    connector: str | None
    made_of: str | None
    """The digest of its fingerprint; see `Store.fingerprint`."""


class StoredLabel(Value):
    """The label of a person on an answer."""

    run: str
    suite: str
    """As in `StoredResult`."""
    test: str
    attempt: int = 0
    turn: int = 0
    """The turn of a conversation, from 1; 0: the whole conversation."""
    criterion: str = ""
    """As a judge was asked; empty: of the answer as such."""
    passed: bool | None
    """None: the person has taken the label away. `Store.labels` leaves such ones out."""
    score: float | None = None
    why: str = ""
    person: str = ""
    made_at: str
    """UTC, RFC 3339."""
