"""The interfaces between workers and their owner: what a host asks its owner, what the owner may ask the realm of a
test, and calls of single functions of scripts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from scripttest.results import LogLine, Outcome, ScriptError, StackFrame, TestKey
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


Backed = Callable[[str | None, str], None]
"""Gets the answer of a realm and what the realm reports of its world; None: the test has ended."""
AskBack = Callable[[str, str, Backed], None]
"""Asks the realm of a test that waits for the answer to a host call, and returns at once; from any thread. It takes the
name of a function in `bindings/src/mocks/host-questions.ts`, a JSON list of arguments, and what is called once, on any
thread, with the JSON envelope of the answer."""


class Selected(Value):
    """Which tests of a module run, and what `t.only` does in it."""

    tests: Collection[str]
    only: Collection[str] = ()
    """Those of them that call `t.only`, so that the others do not run."""
    forbidden: bool = False
    """Whether a test that calls it fails."""
    focuses: bool = True
    """Whether subtests that call it leave out those beside them."""


class Services:
    """What the host asks its owner. The owner overrides these methods."""

    def call(self, test: TestKey, name: str, arguments: str, world: str, link: AskBack) -> str:
        """Answers a host call. Runs on its own thread and may block. Returns a JSON envelope: `{"ok": ...}`,
        `{"bytes": base64}` or `{"error": {"message", "code"}}`.

        Args:
            test: the run of a test that calls; without a name while a module is loaded.
            name: name of the process.
            arguments: JSON.
            world: state of the test's world, see `protocol`.
            link: asks the realm of the test back, until the call is answered."""
        raise NotImplementedError

    def library(self, module: str, script: str) -> Path:
        """The file of the script that `Process("scripts.a.b.Fn")` names without its function. Raises ScriptError."""
        raise NotImplementedError

    def selected(self, module: str, tests: Mapping[str, str]) -> Selected:
        """Which tests of a module run. `tests` are all that it has, in their order: name → the source of its
        function."""
        raise NotImplementedError

    def arranged(self, module: str, tests: Sequence[str]) -> Sequence[int]:
        """The positions of the tests of a module that run, in the order in which they run."""
        return range(len(tests))

    def wanted(self) -> str | None:
        """The only test that may begin now. Who changes it wakes the host; None: all may begin."""
        return None

    def seconds_after(self, test: TestKey, name: str) -> float | None:
        """Seconds that a fuzz test or a benchmark has again once it has its answer to a host call of its own kind
        (`fuzz.*`, `benchmark.*`), during which its clock stands; None: as many as any test."""
        return None

    def settled(self, test: TestKey, outcome: Outcome) -> Outcome | None:
        """The outcome of a fuzz test or a benchmark whose realm has ended; None: it runs again, in a new realm."""
        return outcome


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
    seed: int | None = None
    """That of its random numbers where `mocks` has none; None: nobody has to draw them again."""


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
