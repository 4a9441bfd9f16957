"""How tests end: the verdict on them, which no other module decides; their failures as texts; and what they wrote, in
lines of reports and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from scripttest import Cause, Failure, LogLine, ResultWarning, Status
from scripttest.typing_names import Record

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


CHECK = "assertion failed: "


def log_members(logs: Sequence[LogLine]) -> Record:
    """`{logs, log_levels?}`: captured lines, with `[level] ` before other levels than `info`; all levels if need be."""
    lines = [line.text if line.level == "info" else f"[{line.level}] {line.text}" for line in logs]
    is_plain = all(line.level == "info" and not line.text.startswith("[") for line in logs)
    return {"logs": lines} if is_plain else {"logs": lines, "log_levels": [line.level for line in logs]}


def logs_in(line: Record) -> tuple[LogLine, ...]:
    """The captured lines of a result."""
    lines = line.get("logs") or []
    levels = line.get("log_levels") or ["info"] * len(lines)
    return tuple(
        LogLine(level=level, text=text if level == "info" else text.removeprefix(f"[{level}] "))
        for level, text in zip(levels, lines, strict=False)
    )


def error_text(failure: Failure) -> str:
    """The error in one line: `assertion failed: ...` for a check, else the message."""
    where = ""
    if failure.phase and failure.phase not in ("deadlock", "load", "subtest"):
        where = f" ({failure.phase})" if failure.phase.startswith("after ") else f" (in {failure.phase})"
    return f"{CHECK if failure.type else ''}{failure.message}{where}"


def stack_trace(failure: Failure) -> str:
    """The stack trace: `at function (file:line:column)` for each frame, then the indented details of the error."""
    lines = [f"at {frame.function or '<anonymous>'} ({frame.location})" for frame in failure.frames]
    return "\n".join([*lines, *filter(None, [failure.details])])


def place(of: Failure | ResultWarning) -> str | None:
    """`file:line:column` with an absolute path."""
    return str(of.location) if of.location else None
