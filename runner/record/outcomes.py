"""How tests end: the verdict on them, which no other module decides; and their status, failures, warnings, subtests,
and what they wrote, in lines of reports and back."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from scripttest import Cause, Failure, Location, LogLine, Outcome, ResultWarning, StackFrame, Status
from scripttest.typing_names import Record
from scripttest.values import fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Verdict(StrEnum):
    """The verdict of a result on what was tested."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    BROKEN = "broken"
    """None: something that the test needs broke. Reports write `failed` with the cause `infrastructure`."""
    INCONCLUSIVE = "inconclusive"
    """None: the judges did not decide. Reports write `failed` with the cause `inconclusive`."""

    @property
    def cause(self) -> Cause | None:
        """Why there is no verdict; None where there is one."""
        return CAUSES.get(self)

    @property
    def is_none(self) -> bool:
        """Whether the test ran but has no verdict."""
        return self in _WITHOUT

    @property
    def status(self) -> Status:
        """The status that a test with this verdict has."""
        return Status.FAILED if self.is_none else Status(self.value)

    @property
    def counted(self) -> str:
        """The word under which summaries count it: the status, or `errors`."""
        return "errors" if self.is_none else self.value


CAUSES = {Verdict.BROKEN: Cause.INFRASTRUCTURE, Verdict.INCONCLUSIVE: Cause.INCONCLUSIVE}
_WITHOUT = tuple(CAUSES)
_NONE: dict[str, Verdict] = {cause: verdict for verdict, cause in CAUSES.items()}
_OF_STATUS: dict[str, Verdict] = {verdict.value: verdict for verdict in Verdict}
DECIDED = (Verdict.PASSED, Verdict.FAILED)
"""The verdicts that say something of what was tested."""


def verdict_of(status: str, cause: str | None) -> Verdict:
    """The verdict on something that ended with a status, and with the cause of its decisive failure."""
    return _NONE[cause] if cause in _NONE and status == Status.FAILED else _OF_STATUS[status]


def verdict_in(line: Mapping[str, Any]) -> Verdict:
    """The same of a result, an attempt or a subtest as a report has it, by its `status` and `cause`."""
    return verdict_of(line["status"], line.get("cause"))


def shown(verdict: str) -> str:
    """A verdict as people read it: `error` for `broken`."""
    return "error" if verdict == Verdict.BROKEN else verdict


_APART = ("cause", "message", "frames")
_DEFAULTS = {k: v for k, v in fields_of(Failure(cause=Cause.ERROR, message="")).items() if k not in _APART}
_CAUSES = {cause.value: cause for cause in Cause}
_CHECK = "assertion failed: "
_LEVEL = r"\[(trace|debug|warn|error|watch)\] "


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
            found["assertion"] = {name: getattr(checked, name) for name in ("type", "expected", "actual", "message")}
        if decisive.frames:
            found |= {"location": place(decisive), "stack_trace": stack_trace(decisive)}
        if len(failures) > 1:
            found["errors"] = list(map(error_text, failures))
        found["failures"] = list(map(_failure_record, failures))
    if outcome.assertions:
        found["assertion_count"] = outcome.assertions
    if outcome.skip_reason is not None:
        found["skip_reason"] = outcome.skip_reason
    found |= {name: value for name in ("todo", "only", "not_judged") if (value := getattr(outcome, name))}
    if outcome.steps:
        found["steps"] = [{"name": step.name} | outcome_members(step) for step in outcome.steps]
    if outcome.warnings:
        found["warnings"] = list(map(_warning_record, outcome.warnings))
    return found


def outcome_in(line: Record, root: str = "") -> Outcome:
    """How a test, or a subtest, ended; `root` is the folder from which the line names files."""
    return Outcome(
        name=str(line["name"] if "id" not in line else line["id"]),
        status=Status(line["status"]),
        milliseconds=line.get("duration_ms") or 0,
        failures=_failures_in(line, root) if line["status"] == Status.FAILED else (),
        assertions=line.get("assertion_count") or 0,
        skip_reason=line.get("skip_reason"),
        todo=line.get("todo") is True,
        only=line.get("only") is True,
        steps=tuple(outcome_in(step, root) for step in line.get("steps") or ()),
        warnings=tuple(_warning(item, root) for item in line.get("warnings") or ()),
        not_judged=line.get("not_judged") or 0,
    )


def log_members(logs: Sequence[LogLine]) -> Record:
    """`{logs, log_levels?}`: captured lines, with `[level] ` before other levels than `info`; all levels if need be."""
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
    """Everything about a failure, the names of its fields as keys; what goes without saying is left out."""
    fields = vars(failure)
    record: Record = {"cause": failure.cause, "message": failure.message}
    for name, default in _DEFAULTS.items():
        if (value := fields[name]) is not default and value != default:
            record[name] = value
    return record | ({"frames": _frame_records(failure.frames)} if failure.frames else {})


def _failures_in(line: Record, root: str) -> tuple[Failure, ...]:
    """The failures of a result or subtest. Other tools write only the error, its cause and place, and values."""
    if line.get("failures") is not None:
        return tuple(_failure(item, root) for item in line["failures"])
    if not (line.get("error") or line.get("cause")):
        return ()
    error = str(line.get("error") or "it failed")
    is_check = error.startswith(_CHECK)
    check = given if is_check and isinstance(given := line.get("assertion"), dict) else {}
    return (
        Failure(
            cause=_CAUSES.get(str(line.get("cause")), Cause.ASSERTION if is_check else Cause.ERROR),
            message=error.removeprefix(_CHECK),
            type=str(check.get("type") or Cause.ASSERTION) if is_check else None,
            expected=check.get("expected"),
            actual=check.get("actual"),
            frames=_frame_at(line.get("location"), root),
        ),
    )


def _failure(record: Record, root: str) -> Failure:
    texts = {name: default if (value := record.get(name)) is None else value for name, default in _DEFAULTS.items()}
    cause = _CAUSES.get(str(record.get("cause")), Cause.ERROR)
    return Failure(cause=cause, message=record["message"], frames=_frames(record.get("frames"), root), **texts)


def _warning_record(warning: ResultWarning) -> Record:
    """`{kind, message, location?, frames?, code_frame?, details?}`; `frames` where a place says less."""
    record: Record = {"kind": warning.kind, "message": warning.message}
    if warning.frames:
        record["location"] = place(warning)
        if len(warning.frames) > 1 or warning.frames[0].function or warning.frames[0].location.length:
            record["frames"] = _frame_records(warning.frames)
    more = {"code_frame": warning.code_frame, "details": warning.details}
    return record | {key: text for key, text in more.items() if text}


def _warning(item: Record, root: str) -> ResultWarning:
    return ResultWarning(
        kind=str(item.get("kind") or ""),
        message=item["message"],
        frames=_frames(item.get("frames"), root) or _frame_at(item.get("location"), root),
        code_frame=item.get("code_frame") or "",
        details=item.get("details") or "",
    )


def _frame_records(frames: Iterable[StackFrame]) -> list[Record]:
    """`[{function, file, line, column, length?}]`, the innermost frame first."""
    found = [{"function": frame.function, **fields_of(frame.location)} for frame in frames]
    return [{key: value for key, value in one.items() if key != "length" or value} for one in found]


def _frames(records: Iterable[Record] | None, root: str) -> tuple[StackFrame, ...]:
    return tuple(
        StackFrame(
            function=record["function"],
            location=Location(
                file=os.path.join(root, record["file"]) if record["file"] else "",
                line=record["line"],
                column=record["column"],
                length=record.get("length", 0),
            ),
        )
        for record in records or ()
    )


def _frame_at(location: object, root: str) -> tuple[StackFrame, ...]:
    """The frame for a place `file:line:column`; empty if the text is not a place."""
    found = re.fullmatch(r"(.+):(\d+):(\d+)", str(location or ""))
    if not found:
        return ()
    return _frames([{"function": "", "file": found[1], "line": int(found[2]), "column": int(found[3])}], root)


def error_text(failure: Failure) -> str:
    """The error in one line: `assertion failed: ...` for a check, else the message."""
    where = ""
    if failure.phase and failure.phase not in ("deadlock", "load", "subtest"):
        where = f" ({failure.phase})" if failure.phase.startswith("after ") else f" (in {failure.phase})"
    return f"{_CHECK if failure.type else ''}{failure.message}{where}"


def stack_trace(failure: Failure) -> str:
    """The stack trace: `at function (file:line:column)` for each frame, then the indented details of the error."""
    lines = [f"at {frame.function or '<anonymous>'} ({frame.location})" for frame in failure.frames]
    return "\n".join([*lines, *filter(None, [failure.details])])


def place(of: Failure | ResultWarning) -> str | None:
    """`file:line:column` with an absolute path."""
    return str(of.location) if of.location else None
