"""What a script sees, and the host functions behind it."""

from __future__ import annotations

from scripttest import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bindings.host_processes import HostProcesses
    from bindings.patterns import Pattern, PatternError, compile
    from bindings.policy import Policy
    from bindings.process_router import ProcessRouter, Provider, envelope, revived
    from bindings.run_snapshots import RunSnapshots
    from bindings.script_globals import SCRIPT_GLOBALS
    from bindings.services import HostCall, HostFunction, ProcessError
    from bindings.snapshot_files import SnapshotFileError
    from bindings.translations import load_translations

__all__ = [
    "HostCall",
    "HostFunction",
    "HostProcesses",
    "Pattern",
    "PatternError",
    "Policy",
    "ProcessError",
    "ProcessRouter",
    "Provider",
    "RunSnapshots",
    "SCRIPT_GLOBALS",
    "SnapshotFileError",
    "compile",
    "envelope",
    "load_translations",
    "revived",
]

__getattr__ = lazy_names(
    __name__,
    {
        "host_processes": ("HostProcesses",),
        "patterns": ("Pattern", "PatternError", "compile"),
        "policy": ("Policy",),
        "process_router": ("ProcessRouter", "Provider", "envelope", "revived"),
        "run_snapshots": ("RunSnapshots",),
        "script_globals": ("SCRIPT_GLOBALS",),
        "snapshot_files": ("SnapshotFileError",),
        "translations": ("load_translations",),
        "services": ("HostCall", "HostFunction", "ProcessError"),
    },
)
