"""Converts failures and warnings to JSON records and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from scripttest import Cause, Failure, Location, ResultWarning, StackFrame, Status
from scripttest.typing_names import Record
from scripttest.values import fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEFAULTS = {
    name: default
    for name, default in fields_of(Failure(cause=Cause.ERROR, message="")).items()
    if name not in ("cause", "message", "frames")
}
_CAUSES = {cause.value: cause for cause in Cause}
_PLACE = r"(.+):(\d+):(\d+)"
"""A place as older reports have it, of warnings too."""

Named = Callable[[str], str]
"""Returns the path of a file that a report names."""


def failure_record(failure: Failure) -> Record:
    """`{cause, message, type?, reason?, expected?, actual?, expected_text?, actual_text?, diff?, phase?, code_frame?,
    details?, frames?}`: everything about a failure, the names of its fields as keys."""
    fields = vars(failure)
    record: Record = {"cause": failure.cause, "message": failure.message}
    for name, default in _DEFAULTS.items():
        if (value := fields[name]) is not default and value != default:
            record[name] = value
    if failure.frames:
        record["frames"] = frame_records(failure.frames)
    return record


def cause_of(word: Any) -> Cause:
    """The cause that a report names; `ERROR` for an unknown word."""
    return _CAUSES.get(str(word), Cause.ERROR)


def failures_of(record: Record, named: Named) -> tuple[Failure, ...] | None:
    """The failures of the record of a result, or of a subtest; None where it is of an earlier version, which wrote them
    down otherwise (`runner.results.older_reports`)."""
    if record["status"] != Status.FAILED:
        return ()
    found = record.get("failures")
    return tuple(failure_of(item, named) for item in found) if isinstance(found, list) else None


def failure_of(record: Record, named: Named) -> Failure:
    """The failure of a record."""
    texts = {name: record[name] for name in _DEFAULTS if name in record}
    frames = frames_of(record.get("frames"), named)
    return Failure(cause=cause_of(record["cause"]), message=record["message"], frames=frames, **texts)


def warning_record(warning: ResultWarning) -> Record:
    """`{kind, message, location?, frames?, code_frame?, details?}`; `frames` where a place says less."""
    record: Record = {"kind": warning.kind, "message": warning.message}
    if warning.frames:
        at = warning.frames[0].location
        record["location"] = f"{at.file}:{at.line}:{at.column}"
        if len(warning.frames) > 1 or warning.frames[0].function or at.length:
            record["frames"] = frame_records(warning.frames)
    more = {"code_frame": warning.code_frame, "details": warning.details}
    return record | {key: text for key, text in more.items() if text}


def warning_of(record: Record, named: Named) -> ResultWarning:
    """The warning of a record."""
    frames = frames_of(record["frames"], named) if record.get("frames") else frame_at(record.get("location"), named)
    return ResultWarning(
        kind=str(record.get("kind") or ""),
        message=record["message"],
        frames=frames,
        code_frame=record.get("code_frame") or "",
        details=record.get("details") or "",
    )


def frame_records(frames: Iterable[StackFrame]) -> list[Record]:
    """`[{function, file, line, column}]`, the innermost frame first."""
    return [{"function": frame.function, **_place_record(frame.location)} for frame in frames]


def _place_record(at: Location) -> Record:
    place: Record = {"file": at.file, "line": at.line, "column": at.column}
    return {**place, "length": at.length} if at.length else place


def frames_of(records: Iterable[Record] | None, named: Named) -> tuple[StackFrame, ...]:
    """The frames of records."""
    return tuple(
        StackFrame(
            function=record["function"],
            location=Location(
                file=named(record["file"]),
                line=record["line"],
                column=record["column"],
                length=record.get("length", 0),
            ),
        )
        for record in records or ()
    )


def frame_at(location: Any, named: Named) -> tuple[StackFrame, ...]:
    """The frame for a place `file:line:column`; empty if the text is not a place."""
    found = re.fullmatch(_PLACE, str(location or ""))
    if not found:
        return ()
    location = Location(file=named(found[1]), line=int(found[2]), column=int(found[3]))
    return (StackFrame(function="", location=location),)


def warnings_of(record: Record, named: Named) -> tuple[ResultWarning, ...]:
    """The warnings of the record of a result."""
    return tuple(warning_of(item, named) for item in record.get("warnings") or ())
