"""Failures as text: in one line, with their place, and with their stack frames."""

from __future__ import annotations

from scripttest import Failure, ResultWarning, StackFrame


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
