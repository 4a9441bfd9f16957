"""What workers say of tests, as outcomes with places in the sources. A run whose tests all plainly pass does not load
this."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from scripttest.compile.builds import Compiled
from scripttest.results import (
    Broken,
    Cause,
    CompileError,
    Failure,
    Inlined,
    Location,
    Outcome,
    ResultWarning,
    StackFrame,
    Status,
)
from scripttest.workers.answers import EarlyFailure, mocked_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from scripttest.diagnostics.stack import StackMapper
    from scripttest.shortcuts.slicing import Test

_CAUSES = {cause.value: cause for cause in (Cause.ERROR, Cause.TIMEOUT, Cause.INFRASTRUCTURE, Cause.INCONCLUSIVE)}
"""Kind of a failure in a worker's words → its cause; all other kinds are failed checks."""
_SAME = ("type", "reason", "expected", "actual", "expected_text", "actual_text", "diff")
"""What a failure has as a worker says it."""


class Outcomes:
    """Makes the outcomes of one module."""

    def __init__(
        self, compiled: Compiled, root: Path, called: Callable[[str], Compiled | None], timeout: float
    ) -> None:
        """`called` has the scripts that were called by `Process`; `timeout` is the time limit of a test in seconds."""
        self.tests: tuple[Test, ...] = ()
        """The tests, by their indexes; none before they are listed."""
        self._compiled, self._root, self._called, self._timeout = compiled, root, called, timeout
        self._file = str(compiled.source.test.resolve())

    @cached_property
    def mapper(self) -> StackMapper:
        """Maps positions in realms to the module's sources."""
        from scripttest.diagnostics.stack import StackMapper

        return StackMapper(self._compiled, self._root, self._called)

    def watched(self, stack: str, name: str, value: str) -> str:
        """The line of a call of `t.watch`, which is named by its first argument in the source if it has no name."""
        from scripttest.diagnostics.sources import first_argument

        frames = self.mapper.frames(stack)
        if not frames:
            return f"{name or 'value'} = {value}"
        at = frames[0].location
        file = os.path.relpath(at.file, self._root)
        return f"{file}:{at.line} {name or first_argument(at, 'watch') or 'value'} = {value}"

    def place(self, index: int | None) -> StackFrame:
        """Where a test is declared, or where the module begins: the place of failures that have no position."""
        file = Location(file=str(self._compiled.source.test), line=1, column=1)
        if index is None:
            return StackFrame(function="", location=file)
        test = self.tests[index]
        return StackFrame(
            function=test.name,
            location=(self.mapper.declaration(test.offset, test.entry) if test.offset >= 0 else None) or file,
        )

    def placed(self, failure: Failure, index: int | None) -> Failure:
        """A failure without a position, placed where the test is declared; None: where the module begins."""
        frame = self.place(index)
        code = _code_frame(frame.location) if index is not None else ""
        return failure.replace(frames=(frame,), code_frame=code)

    def outcome(self, record: dict[str, Any], name: str, index: int | None, seconds: float | None = None) -> Outcome:
        """The outcome in a worker's record, which `answers` has checked, with its positions mapped. `index` is that of
        the test, None: the module itself. `seconds` is the time limit that it had, None: that of every test."""
        failures = [self._failure(failure, index, seconds) for failure in record["failures"]]
        if any(failure.cause is Cause.ASSERTION for failure in failures):  # a check that said no decides
            failures.sort(key=lambda failure: failure.cause is Cause.INFRASTRUCTURE)
        steps = tuple([self.outcome(step, step["name"], index, seconds) for step in record["steps"]])
        return Outcome(
            name=name,
            status=Status(record["status"]),
            milliseconds=record.get("duration_ms", 0),
            failures=tuple(failures),
            assertions=record.get("assertions", 0),
            skip_reason=record.get("skip_reason"),
            steps=steps,
            warnings=tuple([self._warning(warning, index) for warning in record.get("warnings", ())]),
            mocked=mocked_of(record),
            inlined=tuple([self._inlined(item) for item in record.get("inlined") or ()]),
            todo=bool(record.get("todo")),
            only=bool(record.get("only")),
            not_judged=record.get("not_judged", 0) + sum([step.not_judged for step in steps]),
        )

    def _inlined(self, record: dict[str, Any]) -> Inlined:
        frames = self.mapper.frames(record.get("stack") or "")
        location = frames[0].location if frames else None
        source = self._compiled.text if location is not None and location.file == self._file else None
        return Inlined(text=record["text"], given=record.get("given"), location=location, source=source)

    def _warning(self, record: dict[str, Any], index: int | None) -> ResultWarning:
        message, frames = record["message"], tuple(self.mapper.frames(record.get("stack") or ""))
        if record.get("named"):
            name = frames[0].function if frames else ""
            message = (f"{name}()" if name else "An async function") + message
            frames = frames[1:] or frames
        frames = frames or (self.place(index),)
        return ResultWarning(
            kind=record["kind"], message=message, frames=frames, code_frame=_code_frame(frames[0].location)
        )

    def _returns(self, index: int) -> tuple[StackFrame, ...]:
        """The place where a test function returns."""
        test = self.tests[index]
        place = self.mapper.last_return(test.offset) if test.offset >= 0 else None
        return (StackFrame(function=test.name, location=place),) if place else ()

    def cut_short(self, reported: Sequence[EarlyFailure], index: int, failure: Failure, milliseconds: float) -> Outcome:
        """The outcome of a test that a failure ended early. It comes after the failures that the test had reported."""
        name = self.tests[index].name
        of_steps: dict[str, list[Failure]] = {}
        for one in reported:
            of_steps.setdefault(one.test, []).append(self._failure(one.record, index))
        own = of_steps.pop(name, [])
        failed = Outcome(name=name, status=Status.FAILED, milliseconds=milliseconds, failures=(*own, failure))
        steps = [failed.replace(name=step, milliseconds=0, failures=tuple(its)) for step, its in of_steps.items()]
        return failed.replace(steps=tuple(steps))

    def _failure(self, record: dict[str, Any], index: int | None, seconds: float | None = None) -> Failure:
        kind, phase = record["kind"], record.get("phase")
        stack = record.get("stack") or ""
        message, frames = self.mapper.error(record["message"], stack, record.get("misspelt") or "")
        if record.get("stopped"):
            frames = self.mapper.stopped(stack)
        if frames and record.get("type"):
            from scripttest.diagnostics.stack import at_call

            frames = (frames[0].replace(location=at_call(frames[0].location, record["type"])), *frames[1:])
        if record.get("origin") and kind != "timeout":
            frames = self._with_origin(frames, record["origin"])
        known = bool(frames) or index is not None
        if record.get("waits") and not frames and index is not None:
            frames = self._returns(index)
        frames = frames or (self.place(index),)
        cause = _CAUSES.get(kind, Cause.ASSERTION)
        if cause is Cause.TIMEOUT:
            said = timeout_text(seconds or self._timeout, of_module=index is None)
            message = f"{said}: {message}" if message else said
        elif cause is not Cause.INFRASTRUCTURE and phase in ("BeforeAll", "BeforeEach", "TestMain"):
            cause = Cause.SETUP
        return Failure(
            **{name: record[name] for name in _SAME if name in record},
            cause=cause,
            message=message,
            phase=phase,
            frames=frames,
            code_frame=_code_frame(frames[0].location) if known else "",
            details=self._details(record["details"]) if record.get("details") else _hint(message, record, frames),
        )

    def _with_origin(self, frames: tuple[StackFrame, ...], origin: str) -> tuple[StackFrame, ...]:
        """The frames of a failure, followed by those that set the timer from which it came, where none of the failure's
        is in the test file."""
        if any(frame.location.file == self._file for frame in frames):
            return frames
        set_by = self.mapper.frames(origin)
        of_test = [number for number, frame in enumerate(set_by) if frame.location.file == self._file]
        return (*frames, *set_by[of_test[0] if of_test else 0 :])

    def _details(self, details: list[dict[str, Any]]) -> str:
        """The details of an error besides its message, with the places of nested errors."""
        lines = []
        for detail in details:
            indent = "  " * detail["depth"]
            message, frames = self.mapper.error(detail["text"], detail.get("stack") or "")
            lines += [f"{indent}{line}" for line in message.split("\n")]
            if frames:
                at = frames[0].location
                lines.append(f"{indent}  at {at.file.removeprefix(f'{self._root}/')}:{at.line}:{at.column}")
        return "\n".join(lines)


def _hint(message: str, record: dict[str, Any], frames: Sequence[StackFrame]) -> str:
    """What to write instead of what a test wrote, as a line of details; empty where nobody knows."""
    if not message.startswith(("ReferenceError: ", "TypeError: ")):
        return ""
    from scripttest.diagnostics.sources import what_to_write

    hint = what_to_write(message, frames[0].location if frames else None)
    if hint is None and record.get("meant"):
        hint = f"There is no assertion {record['misspelt']}: did you mean {record['meant']}?"
    return f"  {hint}" if hint else ""


def failures_of(record: Mapping[str, Any]) -> Iterator[Failure]:
    """The failures in a worker's record, and in those of subtests, without places."""
    for failure in record["failures"]:
        yield Failure(cause=_CAUSES.get(failure["kind"], Cause.ASSERTION), message=failure["message"])
    for step in record["steps"]:
        yield from failures_of(step)


def timeout_text(seconds: float, of_module: bool) -> str:
    """The message for a test, or a module, whose time is up."""
    more = ": the top-level code of the module did not finish" if of_module else ""
    return f"timeout after {seconds:g}s{more}"


def _code_frame(location: Location) -> str:
    from scripttest.diagnostics.sources import code_frame

    return code_frame(location)


def broken_by(module: str, error: CompileError) -> Broken:
    """The record of a module that cannot be compiled."""
    frames = (StackFrame(function="", location=error.location),) if error.location and error.location.line else ()
    frame = _code_frame(error.location) if error.location else ""
    failure = Failure(cause=error.cause, message=error.message, frames=frames, code_frame=frame)
    return Broken(module=module, failure=failure, others=error.others, hint=error.hint)
