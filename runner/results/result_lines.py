"""The `result` line of each result, which all formats are made from. It is made once for all reporters of a run: it
costs as much as some formats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runner.results.attachments import SHORTEST, without_content
from runner.results.case_records import case_record
from runner.results.events import Suite, TestResult
from runner.results.places import relative
from runner.results.plain import is_utf8, json_line, plain
from runner.results.run_records import runs_of
from runner.results.script_records import result_record

Record = dict[str, Any]

KEPT = 32
"""Results whose lines are kept for those who ask later. More would take memory that the processor has at hand."""

_made: dict[int, tuple[TestResult, Record, str]] = {}
"""What was made of the last results: record and, if somebody asked for it, JSON."""
_asked = False
"""Whether anybody asked for records, and lines are kept at all: a `.jsonl` report alone asks for each text once."""


def result_line(result: TestResult, suite: Suite) -> Record:
    """The `result` line of a result: `{type, suite, position, id, ...}`. Who asks for that of one of the last results
    gets the same record, and must not change it."""
    global _asked
    _asked = True
    known = _made.get(id(result))
    if known is not None and known[0] is result:
        return known[1]
    record = result.record
    if record is None:
        record = _record(result, suite)
        record = _cleaned(record) if _is_odd(record.values()) else record
        _keep(result, record, "")
    return record


def result_text(result: TestResult, suite: Suite) -> str:
    """The same line as JSON."""
    known = _made.get(id(result)) if _asked else None
    if known is not None and known[0] is result:
        if known[2]:
            return known[2]
        record = known[1]
    else:
        record = result.record or _record(result, suite)
    text = json_line(record)
    if ";base64," in text or "input_audio" in text or '"data": "' in text or ("\\" in text and r"\\ud" in text):
        record = _cleaned(record)
        text = json_line(record)
    if _asked:
        _keep(result, record, text)
    return text


def _keep(result: TestResult, record: Record, text: str) -> None:
    if len(_made) >= KEPT:
        del _made[next(iter(_made))]
    _made[id(result)] = (result, record, text)


def _cleaned(record: Record) -> Record:
    """A record without the content of attachments, and without halves of surrogate pairs."""
    cleaned: Record = plain(without_content(record))
    return cleaned


def _is_odd(values: Iterable[Any]) -> bool:
    """Whether there is something to clean among JSON values."""
    for item in values:
        kind = type(item)
        if kind is str:
            if (not item.isascii() and not is_utf8(item)) or (len(item) >= SHORTEST and ";base64," in item):
                return True
        elif kind is dict:
            if item and ("input_audio" in item or ("data" in item and "type" in item) or _is_odd(item.values())):
                return True
        elif (kind is list or kind is tuple) and item and _is_odd(item):
            return True
    return False


def suite_id(suite: Suite) -> str:
    """How a report names a suite; a case file by its label, so that reports of several machines agree."""
    return suite.label if suite.kind == "agent_test" else suite.id


def _record(result: TestResult, suite: Suite) -> Record:
    record: Record
    if result.case is not None:
        record = case_record(result, suite_id(suite))
    else:
        record = {"type": "result", "suite": suite_id(suite), "position": result.position}
        own = result_record(result)
        record |= {"id": own.pop("name"), "script": result.suite, **own}
    if result.run:
        record["run"] = result.run
    elif result.attempts:
        record |= runs_of(result.stability, result.attempts)
    return relative(record, suite.root)
