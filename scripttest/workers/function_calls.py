"""A call of a single function of a script, what it returns, and how it can fail."""

from __future__ import annotations

from scripttest.results import LogLine, ScriptError, StackFrame
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


class FunctionCall(Value):
    """A call of a function of a script."""

    script: Path
    """Absolute path of the file that is loaded."""
    function: str
    """Name of a top-level or exported function."""
    arguments: str
    """JSON list."""
    context: str
    """JSON of `ContextData` in `bindings/src/kernel.ts`."""
    mocks: str = "null"
    """JSON of `mocks` in `bindings/src/realm/invoke.ts`."""
    module: Path | None = None
    """The script that a test file belongs to, loaded with it."""
    context_at: int | None = None
    """Index of the argument that is replaced by the context."""


class Returned(Value):
    """What a function returned."""

    value: Any
    """JSON value."""
    sent: tuple[dict[str, Any], ...]
    """What `ctx.Send` and its siblings sent."""
    logs: tuple[LogLine, ...]
    """What it wrote."""


class FunctionError(ScriptError):
    """A function failed, or its script could not be loaded."""

    frames: tuple[StackFrame, ...] = ()
    """The user's frames, innermost first."""
    code: int | None = None
    """The code of an `Exception`."""
    logs: tuple[LogLine, ...] = ()
    infrastructure: bool = False
    """Whether something outside killed its worker or the compiler, or a service that it called broke and thereby ended
    it."""
    loading: bool = False
    """Whether its script threw while it was loaded, so that the function never ran."""


class MissingFunctionError(ScriptError):
    """The script has no such function; `known` lists what it declares."""

    known: tuple[str, ...] = ()
