"""What a host function may ask of the run.

A host function is `(args, call) -> result`. `args` are the JSON values that the script passed; the result is a JSON
value or `bytes`. A `Uint8Array` of the script arrives as `bytes`, and `bytes` reach the script as a `Uint8Array`. The
function runs on its own thread and may block. It raises `ProcessError` for errors that the script gets as an
`Exception`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from scripttest.typing_names import Json
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bindings.policy import Policy
    from bindings.world import World


class ProcessError(Exception):
    """A process failed in a way that the script may catch; `code` is the HTTP-like code of Yao's exceptions."""

    def __init__(self, message: str, code: int = 500, missing: bool = False, infrastructure: bool = False) -> None:
        """`missing`: nothing answers it, neither a mock nor this host. `infrastructure`: what was asked broke, such as
        the host of a model; a test that this ends has no verdict."""
        super().__init__(message)
        self.message = message
        self.advice = ""
        """Added to the message for people. Scripts get only the message, which is that of Yao."""
        self.code = code
        self.missing = missing
        self.infrastructure = infrastructure
        self.hides_code = False
        """Whether scripts get an error without the code, as from Yao; reports show it."""


class ErrorValue(Value):
    """What a process answers that returns its error, and does not throw it: an `Error` for the script."""

    message: str


class HostCall(Value):
    """The surroundings of one call."""

    app_root: Path
    """Absolute path of the application."""
    policy: Policy
    """Folders, hosts and environment names that scripts may touch."""
    locale: str
    """Locale of the running context, such as `en-us`."""
    authorized: Mapping[str, Json]
    """The `authorized` block of the running context."""
    world: World
    """What belongs to the test: its session, clock, random numbers, and what is open for it."""
    scratch: Callable[[], str] = lambda: "/tmp"
    """The folder for what is temporary, made when it is asked for: a path in the volume `data`. Raises OSError."""


HostFunction = Callable[[list[Json], HostCall], Json]
