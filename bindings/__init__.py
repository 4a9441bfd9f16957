"""What a script sees, and the host functions behind it."""

from __future__ import annotations

from scripttest import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bindings.calls import HostCalls, envelope, revived
    from bindings.patterns import Pattern, PatternError, compile
    from bindings.policy import Policy
    from bindings.script_globals import SCRIPT_GLOBALS
    from bindings.services import HostCall, HostFunction, ProcessError
    from bindings.snapshot_files import SnapshotFileError

__all__ = [
    "HostCall",
    "HostCalls",
    "HostFunction",
    "Pattern",
    "PatternError",
    "Policy",
    "ProcessError",
    "SCRIPT_GLOBALS",
    "SnapshotFileError",
    "compile",
    "envelope",
    "revived",
]

__getattr__ = lazy_names(
    __name__,
    {
        "calls": ("HostCalls", "envelope", "revived"),
        "patterns": ("Pattern", "PatternError", "compile"),
        "policy": ("Policy",),
        "script_globals": ("SCRIPT_GLOBALS",),
        "snapshot_files": ("SnapshotFileError",),
        "services": ("HostCall", "HostFunction", "ProcessError"),
    },
)
