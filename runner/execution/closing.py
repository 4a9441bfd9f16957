"""Turns exceptions that break a run into errors of the run, so that the run ends like any other."""

from __future__ import annotations

from runner import exit_codes
from runner.errors import RunnerError
from runner.reporters.stream import describe
from runner.results.events import RunError
from runner.security.secrets import UnwrittenError
from scripttest import ScriptError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from runner.environment import Environment
    from runner.execution.stopping import Stop

AGAIN = "Run it again with -v -v to see where it broke"


def error_of(error: BaseException, doing: str = "") -> RunError:
    """The error of a run that an exception becomes; `doing` is what was being done, such as "running the tests"; empty
    when that is not known."""
    during = f" while {doing}" if doing else ""
    if isinstance(error, RunnerError | ScriptError):
        return RunError(message=error.message, hint=error.hint)
    if isinstance(error, MemoryError):
        return RunError(message=f"Out of memory{during}", hint="Run fewer tests at a time, with --parallel")
    if isinstance(error, UnwrittenError):
        return RunError(message=f"Cannot write the output: {error.strerror}")
    if isinstance(error, OSError):
        return RunError(message=f"Cannot go on{doing and f' {doing}'}: {describe(error)}")
    return RunError(message=f"yao-test broke{during}: {describe(error)}", hint=AGAIN)


class Guarded:
    """A context manager that sends every exception as an error of the run. KeyboardInterrupt stops the run.

    `with guarded("running the tests"): ...`
    """

    def __init__(
        self, send: Callable[[RunError], None], stop: Stop, environment: Environment, with_traceback: bool
    ) -> None:
        """`with_traceback`: also writes the traceback to standard error."""
        self.broke = False
        """Whether an exception was caught."""
        self._send = send
        self._stop = stop
        self._environment = environment
        self._with_traceback = with_traceback
        self._doing = ""

    def __call__(self, doing: str) -> Guarded:
        """Names what is being done, for the error message."""
        self._doing = doing
        return self

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if error is None:
            return False
        if isinstance(error, KeyboardInterrupt):
            self._stop.code = self._stop.code or exit_codes.INTERRUPTED
            self._stop.request("interrupted", 0)
            return True
        self.broke = True
        if self._with_traceback:
            from traceback import format_exception

            self._environment.stderr.write("".join(format_exception(kind, error, traceback)))
        self._send(error_of(error, self._doing))
        return True
