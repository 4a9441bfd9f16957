"""The `result` line of each result, which all formats are made from. It is made once for all reporters of a run: it
costs as much as some formats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runner.events import Suite, TestResult
from runner.reporters.attachments import without_content
from runner.reporters.plain import is_utf8, json_line, plain
from runner.reporters.run_records import record_of, runs_record

Record = dict[str, Any]

KEPT = 8
"""Results whose lines are kept for those who ask later. More would take memory that the processor has at hand."""

_made: dict[int, tuple[TestResult, Record]] = {}


def result_line(result: TestResult, suite: Suite) -> Record:
    """The `result` line of a result: `{type, suite, position, id, ...}`. Who asks for that of one of the last results
    gets the same record, and must not change it."""
    record = _known(result)
    if record is None:
        record = _record(result, suite)
        record = _cleaned(record) if _is_odd(record.values()) else record
        _keep(result, record)
    return record


def result_text(result: TestResult, suite: Suite) -> str:
    """The same line as JSON."""
    record = _known(result) or _record(result, suite)
    text = json_line(record)
    if ";base64," in text or '"input_audio"' in text or r"\\ud" in text:
        record = _cleaned(record)
        text = json_line(record)
    _keep(result, record)
    return text


def _known(result: TestResult) -> Record | None:
    known = _made.get(id(result))
    return known[1] if known is not None and known[0] is result else result.record


def _keep(result: TestResult, record: Record) -> None:
    if len(_made) >= KEPT:
        del _made[next(iter(_made))]
    _made[id(result)] = (result, record)


def _cleaned(record: Record) -> Record:
    """A record without the content of attachments, and without halves of surrogate pairs."""
    cleaned: Record = plain(without_content(record))
    return cleaned


def _is_odd(values: Iterable[Any]) -> bool:
    """Whether there is something to clean among JSON values."""
    for item in values:
        kind = type(item)
        if kind is str:
            if ";base64," in item or not is_utf8(item):
                return True
        elif kind is dict:
            if item and ("input_audio" in item or _is_odd(item.values())):
                return True
        elif (kind is list or kind is tuple) and item and _is_odd(item):
            return True
    return False


def suite_id(suite: Suite) -> str:
    """How a report names a suite; a case file by its label, so that reports of several machines agree."""
    return suite.label if suite.kind == "agent_test" else suite.id


def _record(result: TestResult, suite: Suite) -> Record:
    record: Record = {"type": "result", "suite": suite_id(suite), "position": result.position}
    own = record_of(result)
    record |= own if result.case is not None else {"id": own.pop("name"), "script": result.suite, **own}
    if result.run:
        record["run"] = result.run
    elif result.stability is not None:
        record["runs"] = runs_record(result.stability, result.attempts)
    return record
