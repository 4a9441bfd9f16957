"""What a store has: the columns of its tables, which every read checks, and the records that are made of their rows."""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress, count
from operator import gt
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar

from runner.amounts import Estimate, mean_known
from runner.compare.change_report import judged_case
from runner.record.events import RunStart
from runner.record.model import Suite, TestResult
from runner.record.outcomes import Verdict
from runner.record.votes import score_in
from runner.record.writing import json_line
from runner.store.database import TABLES, damaged, understood
from scripttest.typing_names import Record
from scripttest.values import Value

LARGEST = 1 << 53
"""No number in a store is larger."""
RUNS_OF_A_TEST = 1_000_000
"""No test has more runs; with a much larger number, the statistics would take for ever."""
EXCERPT = 40
"""Characters of a damaged value that are shown."""
_OF_RUN = ("run", "id")
"""Columns that name a run."""
Parsed = TypeVar("Parsed", Record, list[Any])
Column = Callable[[Sequence[Any]], bool]
"""Whether a column may hold some values."""
Columns = dict[str, Column]


def _column(types: set[type], are_good: Column | None) -> Column:
    """A column with values of these types; `are_good` says which of them, other than NULL, it may hold."""

    def holds(values: Sequence[Any]) -> bool:
        found = set(map(type, values))
        if not found <= types or are_good is None or found == {NoneType}:
            return found <= types
        return are_good([value for value in values if value is not None] if NoneType in found else values)

    return holds


_TYPES: dict[str, set[type]] = {"TEXT": {str}, "INTEGER": {int}, "REAL": {int, float}, "BLOB": {str, bytes}}


def _between(least: int, most: int) -> Column:
    def holds(numbers: Sequence[Any]) -> bool:
        few: set[float] = {*numbers}
        return least <= min(few) and max(few) <= most

    return holds


def _are_alphanumeric(texts: Sequence[Any]) -> bool:
    return all(map(str.isalnum, texts))


_GOOD: dict[str, Column | None] = {
    "run": _are_alphanumeric,
    "runs.id": _are_alphanumeric,
    "position": None,
    "verdict": frozenset(map(str, Verdict)).issuperset,
    "score": _between(-LARGEST, LARGEST),
    "judged": _between(0, RUNS_OF_A_TEST),
    "results.passed": _between(0, RUNS_OF_A_TEST),
    "labels.passed": _between(0, 1),
    "cost_estimated": _between(0, 1),
}
"""What columns may hold, of one table or of all; other numbers are from 0 to `LARGEST`. The id of a run is part of the
name of a file."""


def _columns_in(statement: str) -> Columns:
    """The columns of a statement that creates a table."""
    table = statement.split(" (")[0].rpartition(" ")[2]
    found = {}
    for name, kind, is_required in re.findall(r"^    ([a-z_]+) ([A-Z]+)( NOT NULL| PRIMARY KEY)?", statement, re.M):
        good = None if kind in ("TEXT", "BLOB") else _between(0, LARGEST)
        good = _GOOD.get(f"{table}.{name}", _GOOD.get(name, good))
        found[name] = _column(_TYPES[kind] | (set() if is_required else {NoneType}), good)
    return found


RUNS, SUITES, RESULTS, REMARKS, FINGERPRINTS, LABELS = map(_columns_in, re.findall(r"CREATE TABLE[^;]+", TABLES))
TEXT, OPTIONAL_TEXT = RUNS["start"], RUNS["branch"]
COLUMNS = tuple(name for name in RESULTS if name not in ("seq", "run", "session"))
"""The columns of a result, besides its run."""


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
    with understood(folder):
        cursor = database.execute(statement, values)
        rows = cursor.fetchall()
    if rows:
        checked(folder, columns, [name for name, *_ in cursor.description], rows)
    return rows


def checked(
    folder: Path, columns: Columns, names: Sequence[str], rows: Iterable[Sequence[Any]]
) -> dict[str, tuple[Any, ...]]:
    """The columns of some rows, at least one, by these names. Raises StoreError if they are damaged."""
    found = dict(zip(names, zip(*rows, strict=True), strict=True))
    for name, values in found.items():
        holds = columns.get(name)
        if holds is not None and not holds(values):
            at = next(at for at, value in enumerate(values) if not holds([value]))
            raise damaged(folder, f"{name} is {excerpt(values[at])}{_run_of(found, at)}")
    if found.keys() >= {"passed", "judged"}:
        for at in compress(count(), map(gt, found["passed"], found["judged"])):
            said = f"passed is {found['passed'][at]} of {found['judged'][at]}"
            raise damaged(folder, said + _run_of(found, at))
    return found


def _run_of(found: Mapping[str, Sequence[Any]], at: int) -> str:
    return next((f" in run {excerpt(found[key][at])}" for key in _OF_RUN if key in found), "")


def parsed(text: str, kind: type[Parsed], problem: Callable[[Parsed], str | None] = lambda _: None) -> Parsed:
    """A JSON object or a list. Raises ValueError for what is none, or has a `problem`."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{excerpt(text)} is not JSON") from error
    if not isinstance(value, kind):
        raise ValueError(f"{excerpt(text)} is not a JSON {'list' if kind is list else 'object'}")
    if said := problem(value):
        raise ValueError(said)
    return value


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
    """What names its suite in all runs; see `runner.store.stored.key_of`."""
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
    """None: the person takes the label away."""
    score: float | None = None
    why: str = ""
    person: str = ""
    made_at: str
    """UTC, RFC 3339."""


LONG = 1000
"""Characters from which on a line is compressed."""
MODULE, CASE_FILE, OTHER = "module", "file", "other"
"""Kinds of suites."""
NOT_ENDED = "cut_short"
"""The cause of a result whose run ended before it did."""


def kind_of(suite: Suite) -> str:
    """`module`, `file` for a file of cases, and `other` for cases that are in none."""
    if not suite.has_cases:
        return MODULE
    return CASE_FILE if suite.file else OTHER


def key_of(suite: Suite) -> str:
    """What names a suite in all runs, wherever they were started: the id of a test module, the file of cases from the
    repository; with its variant."""
    return suite.name_of(suite.file) if kind_of(suite) == CASE_FILE else suite.id


def row_of(suite: Suite, result: TestResult, line: str | None, attempt: int) -> tuple[Record, str | None]:
    """The row of a result, by the names of `COLUMNS`, and the digests of what it depends on, as JSON. `suite`: its
    suite, as reports have it. `line`: the line to store, without the fingerprint; None for a verdict without a line.
    `attempt`: 0 for the verdict on a test, otherwise the number of the run."""
    runs = judged_case([result], suite).runs
    fingerprint, case = result.fingerprint, result.case
    cost = mean_known(run.cost for run in runs)
    made_of = json.dumps(fingerprint, sort_keys=True, ensure_ascii=False) if fingerprint else None
    values = {
        "suite": key_of(suite),
        "position": result.position,
        "test": result.name,
        "attempt": attempt,
        "verdict": result.verdict.value,
        "cause": NOT_ENDED if result.cut_short else result.outcome.cause,
        "passed": sum(run.passed for run in runs),
        "judged": len(runs),
        "score": mean_known(score_in(run.score) for run in runs),
        "duration_ms": mean_known(run.duration_ms for run in runs) or round(result.outcome.milliseconds),
        "tokens": mean_known(run.tokens or None for run in runs),
        "cost": cost,
        "cost_estimated": int(isinstance(cost, Estimate)),
        "connector": (case.connector if case is not None else "") or suite.connector or None,
        "made_of": digest_of(made_of) if made_of is not None else None,
        "line": None if line is None else packed(line),
    }
    return values, made_of


def line_without_fingerprint(record: Record) -> str:
    """The line of a result, as it is kept."""
    return json_line({key: value for key, value in record.items() if key != "fingerprint"})


def line_with_fingerprint(line: str, fingerprint: str | None) -> str:
    """The line of a result, as a report has it."""
    return line if fingerprint is None else f'{line[:-1]}, "fingerprint": {fingerprint}}}'


def packed(line: str) -> str | bytes:
    """A line as it is kept."""
    return line if len(line) < LONG else zlib.compress(line.encode("utf-8", "backslashreplace"), 1)


def unpacked(kept: str | bytes) -> str:
    """The line that was kept. Raises ValueError when it is damaged."""
    try:
        return kept if isinstance(kept, str) else zlib.decompress(kept).decode()
    except zlib.error as error:
        raise ValueError(str(error)) from error


def digest_of(text: str) -> str:
    """A short name of a text."""
    from hashlib import blake2b

    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()
