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
