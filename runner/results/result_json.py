"""Converts a result to JSON and back: the `result` line of a JSONL report, from which all other formats are made."""

from __future__ import annotations

import os
from collections.abc import Iterable

from runner.results.attachments import SHORTEST, without_content
from runner.results.json_text import is_utf8, json_line, plain
from runner.results.model import Suite, TestResult
from runner.results.places import relative
from runner.results.script_json import logs_of, outcome_of, result_record
from runner.results.stability_json import attempts_in, repeat_in, runs_of
from scripttest.typing_names import Protocol, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from bindings import OutsideCall
    from runner.assertions.base import AssertionResult


class ResultLine:
    """The line of one result. It is made on the first use and then shared, because it costs as much as writing some
    formats."""

    __slots__ = ("_record", "_text", "result", "suite")

    def __init__(self, result: TestResult, suite: Suite) -> None:
        self.result = result
        self.suite = suite
        self._record = result.record
        self._text = ""

    @property
    def record(self) -> Record:
        """`{type, suite, position, id, ...}`. It is shared by all readers and must not be changed."""
        if self._record is None:
            record = _record(self.result, self.suite)
            self._record = _cleaned(record) if _is_odd(record.values()) else record
        return self._record

    @property
    def text(self) -> str:
        """The record as JSON."""
        if not self._text:
            record = self._record or _record(self.result, self.suite)
            text = json_line(record)
            if ";base64," in text or "input_audio" in text or '"data": "' in text or ("\\" in text and r"\\ud" in text):
                record = _cleaned(record)
                text = json_line(record)
            self._record, self._text = record, text
        return self._text


class LastLine(Protocol):
    """The run so far, which keeps the line of the result that ended last; see `runner.results.fold`."""

    suites: dict[str, Suite]
    line: ResultLine | None


def line_of(result: TestResult, so_far: LastLine) -> ResultLine:
    """The line of a result. Reporters that ask for the result that ended last share one line."""
    line = so_far.line
    if line is None or line.result is not result:
        line = so_far.line = ResultLine(result, so_far.suites[result.suite])
    return line


def result_line(result: TestResult, suite: Suite) -> Record:
    """The line of one result, as a record."""
    return ResultLine(result, suite).record


def _cleaned(record: Record) -> Record:
    """A record without the content of attachments, and without halves of surrogate pairs."""
    cleaned: Record = plain(without_content(record))
    return cleaned


def _is_odd(values: Iterable[Any]) -> bool:
    """Whether a JSON value has attachments or texts that `_cleaned` has to replace."""
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


def _record(result: TestResult, suite: Suite) -> Record:
    record: Record
    if result.case is not None:
        from runner.results.case_json import case_record

        record = case_record(result, suite.name)
    else:
        record = {"type": "result", "suite": suite.name, "position": result.position}
        own = result_record(result)
        record |= {"id": own.pop("name"), "script": result.suite, **own}
    if suite.variant:
        record["variant"] = suite.variant
    if result.judgements:
        from runner.results.turn_json import assertion_records

        record["judgements"] = assertion_records(result.judgements)
    if result.outside:
        from runner.results.outside_json import outside_records

        record["outside"] = outside_records(result.outside)
    if result.run:
        record["run"] = result.run
        if result.policy is not None:
            record["repeat"] = result.policy
    elif result.attempts:
        record |= runs_of(result.stability, result.attempts, result.repeat)
    return relative(record, suite.root)


def result_of(suite: Suite, position: int, record: Record, root: str = "") -> TestResult:
    """The result of a record; `root` is the folder from which the record names files."""

    def named(file: str) -> str:
        return os.path.join(root, file) if root and file else file

    if not suite.has_cases:
        outcome, case = outcome_of({**record, "name": str(record["id"])}, named), None
        cut_short = False
    else:
        from runner.results.case_json import case_of, is_cut_short, outcome_of_case

        outcome, case = outcome_of_case(record, named), case_of(record)
        cut_short = is_cut_short(record)
    attempts, stability = attempts_in(record)
    outside: tuple[OutsideCall, ...] = ()
    if record.get("outside"):
        from runner.results.outside_json import outside_of

        outside = outside_of(record["outside"])
    judgements: tuple[AssertionResult, ...] = ()
    if record.get("judgements"):
        from runner.results.turn_json import assertions_of

        judgements = assertions_of(record["judgements"])
    return TestResult(
        suite=suite.id,
        name=outcome.name,
        position=position,
        outcome=outcome,
        logs=logs_of(record),
        case=case,
        run=record.get("run", 0),
        earlier_errors=tuple(record.get("earlier_errors") or ()),
        attempts=attempts,
        stability=stability,
        policy=record.get("repeat"),
        repeat=repeat_in(record),
        outside=outside,
        judgements=judgements,
        cut_short=cut_short,
    )
