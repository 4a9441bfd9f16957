"""What is kept of a run, as rows: made of the lines and records of a report, in one place for runs that are under way
and for those that are read from files."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from runner.amounts import Estimate
from runner.compare.judged_cases import judged_case
from runner.record.model import Suite, TestResult
from runner.record.texts import json_line
from runner.record.votes import score_in
from scripttest.typing_names import Record
from scripttest.values import Value

LONG = 1000
"""Characters from which on a line is compressed."""
MODULE, CASE_FILE, OTHER = "module", "file", "other"
"""Kinds of suites."""
NOT_ENDED = "cut_short"
"""The cause of a result whose run ended before it did."""
COLUMNS = (
    "suite position test attempt verdict cause passed judged score duration_ms tokens cost cost_estimated connector "
    "made_of line"
).split()
"""The columns of a result, besides its run."""


class Row(Value):
    """The row of a result."""

    values: Mapping[str, Any]
    """By the names of `COLUMNS`."""
    fingerprint: str | None
    """The digests of what it depends on, as JSON."""


def kind_of(suite: Suite) -> str:
    """`module`, `file` for a file of cases, and `other` for cases that are in none."""
    if not suite.has_cases:
        return MODULE
    return CASE_FILE if suite.file else OTHER


def key_of(suite: Suite) -> str:
    """What names a suite in all runs, wherever they were started: the id of a test module, the file of cases from the
    repository; with its variant."""
    return suite.name_of(suite.file) if kind_of(suite) == CASE_FILE else suite.id


def id_of(start: Record) -> str:
    """The id of the run with this start line: its own, or one that is computed from the line."""
    own = start.get("run_id")
    if isinstance(own, str) and own.isalnum():
        return own
    told = {key: start.get(key) for key in ("timestamp", "version", "environment", "flags", "shard", "runs_per_case")}
    suites = [suite["id"] for suite in start.get("suites") or ()]
    return digest_of(json.dumps([told, suites], sort_keys=True))


def row_of(suite: Suite, result: TestResult, line: str | None, attempt: int) -> Row:
    """The row of a result. `suite`: its suite, as reports have it. `line`: the line to store, without the
    fingerprint; None for a verdict without a line. `attempt`: 0 for the verdict on a test, otherwise the number of
    the run."""
    runs = judged_case([result], suite).runs
    fingerprint, case = result.fingerprint, result.case
    cost = _mean([run.cost for run in runs])
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
        "score": _mean([score_in(run.score) for run in runs]),
        "duration_ms": _mean([run.duration_ms for run in runs]) or round(result.outcome.milliseconds),
        "tokens": _mean([run.tokens or None for run in runs]),
        "cost": cost,
        "cost_estimated": int(isinstance(cost, Estimate)),
        "connector": (case.connector if case is not None else "") or suite.connector or None,
        "made_of": digest_of(made_of) if made_of is not None else None,
        "line": None if line is None else packed(line),
    }
    return Row(values=values, fingerprint=made_of)


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
    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


def _mean(figures: list[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) / len(known) if known else None
