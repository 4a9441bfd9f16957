"""What a script sees, and the host functions behind it."""

from __future__ import annotations

from scripttest import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bindings.host_processes import HostProcesses
    from bindings.ledger import Answered, OutsideCall, called
    from bindings.mocks import Mock, Mocks, given_mocks
    from bindings.patterns import Pattern, PatternError, compile
    from bindings.policy import Policy
    from bindings.process_router import (
        ProcessRouter,
        Provider,
        answered_value,
        arguments_text,
        envelope,
        failure_envelope,
        revived,
    )
    from bindings.run_snapshots import RunSnapshots
    from bindings.script_globals import SCRIPT_GLOBALS
    from bindings.services import HostCall, HostFunction, ProcessError
    from bindings.snapshot_files import SnapshotFileError
    from bindings.translations import load_translations
    from bindings.world import World, Worlds

__all__ = [
    "Answered",
    "HostCall",
    "HostFunction",
    "HostProcesses",
    "Mock",
    "Mocks",
    "OutsideCall",
    "Pattern",
    "PatternError",
    "Policy",
    "ProcessError",
    "ProcessRouter",
    "Provider",
    "RunSnapshots",
    "SCRIPT_GLOBALS",
    "SnapshotFileError",
    "World",
    "Worlds",
    "answered_value",
    "arguments_text",
    "called",
    "compile",
    "envelope",
    "failure_envelope",
    "given_mocks",
    "load_translations",
    "revived",
]

__getattr__ = lazy_names(
    __name__,
    {
        "host_processes": ("HostProcesses",),
        "ledger": ("Answered", "OutsideCall", "called"),
        "mocks": ("Mock", "Mocks", "given_mocks"),
        "patterns": ("Pattern", "PatternError", "compile"),
        "policy": ("Policy",),
        "process_router": (
            "ProcessRouter",
            "Provider",
            "answered_value",
            "arguments_text",
            "envelope",
            "failure_envelope",
            "revived",
        ),
        "run_snapshots": ("RunSnapshots",),
        "script_globals": ("SCRIPT_GLOBALS",),
        "snapshot_files": ("SnapshotFileError",),
        "translations": ("load_translations",),
        "world": ("World", "Worlds"),
        "services": ("HostCall", "HostFunction", "ProcessError"),
    },
)
