"""How tests end, in lines of reports and back: their status, failures, warnings, subtests, and what they wrote."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence

from scripttest import Cause, Failure, Location, LogLine, Outcome, ResultWarning, StackFrame, Status
from scripttest.typing_names import Record
from scripttest.values import fields_of

_DEFAULTS = {
    name: default
    for name, default in fields_of(Failure(cause=Cause.ERROR, message="")).items()
    if name not in ("cause", "message", "frames")
}
_CAUSES = {cause.value: cause for cause in Cause}
_CHECK = "assertion failed: "
_LEVEL = r"\[(trace|debug|warn|error|watch)\] "

_Named = Callable[[str], str]
"""Returns the path of a file that a report names."""


def outcome_members(outcome: Outcome) -> Record:
    """What a test, or a subtest, says of how it ended: `{status, duration_ms, error?, cause?, assertion?, location?,
    stack_trace?, errors?, failures?, assertion_count?, skip_reason?, todo?, only?, not_judged?, steps?, warnings?}`;
    `todo`: it is skipped because it is marked as unfinished, `only`: tests beside it did not run."""
    decisive, failures = outcome.decisive, outcome.failures
    found: Record = {"status": outcome.status, "duration_ms": round(outcome.milliseconds)}
    if decisive is not None:
        found |= {"error": error_text(decisive), "cause": decisive.cause}
        checked = next((failure for failure in failures if failure.type), None)
        if checked is not None:
            names = ("type", "expected", "actual", "message")
            found["assertion"] = {name: getattr(checked, name) for name in names}
        if decisive.frames:
            found |= {"location": place(decisive), "stack_trace": stack_trace(decisive)}
        if len(failures) > 1:
            found["errors"] = list(map(error_text, failures))
        found["failures"] = list(map(_failure_record, failures))
    if outcome.assertions:
        found["assertion_count"] = outcome.assertions
    if outcome.skip_reason is not None:
        found["skip_reason"] = outcome.skip_reason
    found |= {name: True for name in ("todo", "only") if getattr(outcome, name)}
    if outcome.not_judged:
        found["not_judged"] = outcome.not_judged
    if outcome.steps:
        found["steps"] = [{"name": step.name} | outcome_members(step) for step in outcome.steps]
    if outcome.warnings:
        found["warnings"] = list(map(_warning_record, outcome.warnings))
    return found


def outcome_in(line: Record, root: str = "") -> Outcome:
    """How a test, or a subtest, ended; `root` is the folder from which the line names files."""

    def named(file: str) -> str:
        return os.path.join(root, file) if root and file else file

    return Outcome(
        name=str(line["name"] if "id" not in line else line["id"]),
        status=Status(line["status"]),
        milliseconds=line.get("duration_ms") or 0,
        failures=_failures_in(line, named),
        assertions=line.get("assertion_count") or 0,
        skip_reason=line.get("skip_reason"),
        todo=line.get("todo") is True,
        only=line.get("only") is True,
        steps=tuple(outcome_in(step, root) for step in line.get("steps") or ()),
        warnings=_warnings_in(line, named),
        not_judged=line.get("not_judged") or 0,
    )


def log_members(logs: Sequence[LogLine]) -> Record:
    """`{logs, log_levels?}`: captured lines, with their level at the head where it is not `info`; the level of each
    where that does not go without saying."""
    if not logs:
        return {"logs": []}
    lines = [line.text if line.level == "info" else f"[{line.level}] {line.text}" for line in logs]
    is_plain = all(line.level == "info" and not line.text.startswith("[") for line in logs)
    return {"logs": lines} if is_plain else {"logs": lines, "log_levels": [line.level for line in logs]}


def logs_in(line: Record) -> tuple[LogLine, ...]:
    """The captured lines of a result; their levels are only at their heads where no level is given."""
    lines = line.get("logs") or []
    levels = line.get("log_levels")
    if not levels:
        levels = [found[1] if (found := re.match(_LEVEL, text)) else "info" for text in lines]
    return tuple(
        LogLine(level=level, text=text if level == "info" else text.removeprefix(f"[{level}] "))
        for level, text in zip(levels, lines, strict=False)
    )


def _failure_record(failure: Failure) -> Record:
    """`{cause, message, type?, reason?, expected?, actual?, expected_text?, actual_text?, diff?, phase?, code_frame?,
    details?, frames?}`: everything about a failure, the names of its fields as keys."""
    fields = vars(failure)
    record: Record = {"cause": failure.cause, "message": failure.message}
    for name, default in _DEFAULTS.items():
        if (value := fields[name]) is not default and value != default:
            record[name] = value
    if failure.frames:
        record["frames"] = _frame_records(failure.frames)
    return record


def _failures_in(record: Record, named: _Named) -> tuple[Failure, ...]:
    """The failures of a result, or of a subtest. Other tools write only the text of the error, its cause and place, and
    what was compared."""
    if record["status"] != Status.FAILED:
        return ()
    if record.get("failures") is not None:
        return tuple(_failure(item, named) for item in record["failures"])
    if not (record.get("error") or record.get("cause")):
        return ()
    error = str(record.get("error") or "it failed")
    is_check = error.startswith(_CHECK)
    given = record.get("assertion")
    check: Record = given if is_check and isinstance(given, dict) else {}
    return (
        Failure(
            cause=_CAUSES.get(str(record.get("cause")), Cause.ASSERTION if is_check else Cause.ERROR),
            message=error.removeprefix(_CHECK),
            type=str(check.get("type") or Cause.ASSERTION) if is_check else None,
            expected=check.get("expected"),
            actual=check.get("actual"),
            frames=_frame_at(record.get("location"), named),
        ),
    )


def _failure(record: Record, named: _Named) -> Failure:
    texts = {name: default if (value := record.get(name)) is None else value for name, default in _DEFAULTS.items()}
    cause = _CAUSES.get(str(record.get("cause")), Cause.ERROR)
    return Failure(cause=cause, message=record["message"], frames=_frames(record.get("frames"), named), **texts)


def _warning_record(warning: ResultWarning) -> Record:
    """`{kind, message, location?, frames?, code_frame?, details?}`; `frames` where a place says less."""
    record: Record = {"kind": warning.kind, "message": warning.message}
    if warning.frames:
        at = warning.frames[0].location
        record["location"] = f"{at.file}:{at.line}:{at.column}"
        if len(warning.frames) > 1 or warning.frames[0].function or at.length:
            record["frames"] = _frame_records(warning.frames)
    more = {"code_frame": warning.code_frame, "details": warning.details}
    return record | {key: text for key, text in more.items() if text}


def _warnings_in(record: Record, named: _Named) -> tuple[ResultWarning, ...]:
    """The warnings of a result."""
    return tuple(
        ResultWarning(
            kind=str(item.get("kind") or ""),
            message=item["message"],
            frames=_frames(item["frames"], named) if item.get("frames") else _frame_at(item.get("location"), named),
            code_frame=item.get("code_frame") or "",
            details=item.get("details") or "",
        )
        for item in record.get("warnings") or ()
    )


def _frame_records(frames: Iterable[StackFrame]) -> list[Record]:
    """`[{function, file, line, column, length?}]`, the innermost frame first."""
    return [
        {
            key: value
            for key, value in {"function": frame.function, **fields_of(frame.location)}.items()
            if key != "length" or value
        }
        for frame in frames
    ]


def _frames(records: Iterable[Record] | None, named: _Named) -> tuple[StackFrame, ...]:
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


def _frame_at(location: object, named: _Named) -> tuple[StackFrame, ...]:
    """The frame for a place `file:line:column`; empty if the text is not a place."""
    found = re.fullmatch(r"(.+):(\d+):(\d+)", str(location or ""))
    if not found:
        return ()
    return (StackFrame(function="", location=Location(file=named(found[1]), line=int(found[2]), column=int(found[3]))),)


def error_text(failure: Failure) -> str:
    """The error in one line: `assertion failed: ...` for a check, else the message."""
    where = ""
    if failure.phase and failure.phase not in ("deadlock", "load", "subtest"):
        where = f" ({failure.phase})" if failure.phase.startswith("after ") else f" (in {failure.phase})"
    prefix = "assertion failed: " if failure.type else ""
    return f"{prefix}{failure.message}{where}"


def stack_trace(failure: Failure) -> str:
    """The stack trace: a line `at function (file:line:column)` for each frame, and the indented details of
    the error."""
    return "\n".join([*(f"at {_frame(frame)}" for frame in failure.frames), *filter(None, [failure.details])])


def _frame(frame: StackFrame) -> str:
    at = frame.location
    return f"{frame.function or '<anonymous>'} ({at.file}:{at.line}:{at.column})"


def place(of: Failure | ResultWarning) -> str | None:
    """`file:line:column` with an absolute path."""
    location = of.location
    return f"{location.file}:{location.line}:{location.column}" if location else None
