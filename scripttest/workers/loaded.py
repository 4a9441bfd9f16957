"""A compiled script whose functions are called: the data for its realms, and how their answers are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripttest.compile.compiler import Compiled
from scripttest.errors import Cause, CompileError, StackFrame
from scripttest.results import LogLine
from scripttest.workers.boots import Boots
from scripttest.workers.function_calls import FunctionCall, FunctionError, MissingFunctionError, Returned
from scripttest.workers.protocol import encode

if TYPE_CHECKING:
    from scripttest.diagnostics.stack import StackMapper


class LoadedScript:
    """A compiled script and what its realms need."""

    def __init__(self, compiled: Compiled, root: Path, boots: Boots, called: Callable[[str], Compiled | None]) -> None:
        from scripttest.shortcuts.scan import scan

        self.compiled = compiled
        self._root = root
        self._boots = boots
        self._called = called
        scanned = scan("\n".join(script.code for script in compiled.scripts), boots.names)
        self._boot = boots.own(scanned)
        self._mapper: StackMapper | None = None
        self.declared = compiled.declared
        parts = ["", "", ""]
        for script in compiled.scripts:
            parts += [str(script.first_line), script.code]
        self.module_frame = encode("module", *parts)

    def frame(self, call: FunctionCall) -> bytes:
        """The frame that calls a function."""
        at = "null" if call.context_at is None else str(call.context_at)
        own = f'{self._boot[:-1]},"shared":true,"mocks":{call.mocks},"contextAt":{at}}}'
        function = self.compiled.exports.get(call.function, call.function)
        return encode("invoke", own, self._boots.nested, call.context, function, call.arguments)

    def read(self, record: dict[str, Any], function: str, logs: tuple[LogLine, ...]) -> Returned:
        """Reads a worker's answer."""
        if "ok" in record:
            return Returned(value=record["ok"], sent=tuple(record.get("sent") or ()), logs=logs)
        if record.get("missing"):
            missing = MissingFunctionError(f"there is no function {function} in {self.compiled.source.test}")
            missing.known = tuple(sorted(self.declared))
            raise missing
        failure = record["error"]
        message, frames = self.mapper.error(failure["message"], failure.get("stack") or "")
        error = FunctionError(message, frames[0].location if frames else None)
        error.frames = frames
        error.code = failure.get("code")
        error.logs = logs
        error.infrastructure = failure.get("broke") is True
        error.loading = record.get("unloaded") is True
        raise error

    def stopped(self, record: dict[str, Any]) -> tuple[StackFrame, ...]:
        """Where a function was whose time was up, from its worker's answer; nothing when it had ended."""
        failure = record.get("error", {})
        stack = failure.get("stack") or ""
        return self.mapper.stopped(stack) if failure.get("stopped") else tuple(self.mapper.frames(stack))

    @property
    def mapper(self) -> StackMapper:
        """Maps positions in realms to the sources."""
        if self._mapper is None:
            from scripttest.diagnostics.stack import StackMapper

            self._mapper = StackMapper(self.compiled, self._root, self._called)
        return self._mapper


def compile_failure(error: CompileError) -> FunctionError:
    """The answer to a call of a script that cannot be compiled."""
    failure = FunctionError(error.message, error.location, error.hint)
    failure.infrastructure = error.cause == Cause.INFRASTRUCTURE
    if error.location and error.location.line:
        failure.frames = (StackFrame(function="", location=error.location),)
    return failure
