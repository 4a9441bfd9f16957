"""The failures in reports of earlier versions, and in `.json` documents, which have the shape of the design documents:
there were the decisive error, the texts of the others, and the values of the first check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from runner.assertions.values import COMPARED, comparable, difference
from runner.results.failure_json import Named, cause_of
from runner.results.turn_json import assertions_of
from runner.results.value_texts import text_of
from scripttest import Cause, Failure, Location, StackFrame
from scripttest.typing_names import Record

if TYPE_CHECKING:
    from runner.assertions.base import AssertionResult

_FRAME = re.compile(r"at (.*) \(((?:[^ ]| (?!\())*):(\d++):(\d++)\)")
_PHASE = re.compile(r" \(in [^()]*\)$")


def script_failures(record: Record, named: Named) -> Iterator[Failure]:
    """What made a script test fail; the values that were compared belong to the first failed check."""
    assertion = record.get("assertion")
    decisive = record.get("error") or "it failed"
    cause = record.get("cause", "error")
    for error in record.get("errors") or [decisive]:
        frames = _frames(record, named) if error == decisive else ()
        is_check = error.startswith("assertion failed: ")
        message = error.removeprefix("assertion failed: ")
        if not is_check:
            phase = "subtest" if re.fullmatch(r"subtest .* failed", error) else None
            own = Cause.ASSERTION if cause == Cause.TIMEOUT and error != decisive else cause
            yield Failure(cause=own, message=message, phase=phase, frames=frames)
        elif assertion is None:
            yield Failure(cause=Cause.ASSERTION, message=message, type=Cause.ASSERTION, frames=frames)
        else:
            yield Failure(
                cause=Cause.ASSERTION,
                message=message,
                type=assertion.get("type"),
                expected_text=_shown(assertion.get("expected")),
                actual_text=_shown(assertion.get("actual")),
                frames=frames,
            )
            assertion = None


def case_failures(record: Record, named: Named) -> Iterator[Failure]:
    """What made a case fail."""
    failed = {result.message or f"{result.type} does not hold": result for result in _failed_checks(record)}
    errors = [record.get("error"), *(record.get("assertion_errors") or [])]
    frames = _frames(record, named)
    for error in dict.fromkeys(error for error in errors if error):
        message = error.removeprefix("assertion failed: ")
        check = failed.get(message) or failed.get(_PHASE.sub("", message))
        if check is not None:
            values = comparable(check.expected, check.actual) if check.type in COMPARED else None
            expected, actual = map(text_of, values or (check.expected, check.actual))
            diff = difference(check.expected, check.actual) if values else None
            yield Failure(
                cause=Cause.ASSERTION,
                message=message,
                type=check.type,
                expected_text=expected,
                actual_text=actual,
                diff=diff,
                frames=frames,
            )
        else:
            type = "assertion" if message != error else None
            yield Failure(
                cause=Cause.ASSERTION if type else cause_of(record.get("cause")),
                message=message,
                type=type,
                frames=frames,
            )
        frames = ()


def _frames(record: Record, named: Named) -> tuple[StackFrame, ...]:
    found = (_FRAME.fullmatch(line) for line in (record.get("stack_trace") or "").splitlines())
    return tuple(
        StackFrame(function=frame[1], location=Location(file=named(frame[2]), line=int(frame[3]), column=int(frame[4])))
        for frame in found
        if frame
    )


def _shown(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _failed_checks(record: Record) -> list[AssertionResult]:
    parts = [record, *(record.get("turns") or [])]
    found = [result for part in parts for result in assertions_of(part.get("assertions"))]
    found += assertions_of(record.get("final_assertions"))
    return [result for result in found if not result.passed]
