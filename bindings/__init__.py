"""The globals and modules that scripts can use, and the host functions that answer their calls."""
# mypy: implicit-reexport
# ruff: noqa: F401

from __future__ import annotations

from scripttest import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bindings.calls import (
        DATABASE,
        HostProcesses,
        KeptCall,
        Worlds,
        answered_value,
        arguments_text,
        envelope,
        failure_envelope,
        is_served,
        revived,
    )
    from bindings.errors import ProcessError
    from bindings.inline_snapshots import InlineSnapshots
    from bindings.ledger import SCRIPT_GLOBALS, SCRIPT_PARTS, AnsweredBy, OutsideCall, agent_id, called
    from bindings.models.database import APPLICATION_ID
    from bindings.models.databases import Contents, Databases, Fixture, ModelFiles, OwnDatabase
    from bindings.models.definition import Model, ModelFileError, read_definition
    from bindings.models.store import built_in_models
    from bindings.patterns import Pattern, PatternError, compile
    from bindings.policy import HostCall, HostFunction, Policy, host_problem
    from bindings.snapshots import SnapshotError, Snapshots
    from bindings.workspace import Workspace, opened_workspace, workspace_of
    from bindings.world import CLOCK_STANDS, Mock, Mocks, PendingQuestion, World, given_mocks


_HOMES = {
    "calls": "DATABASE HostProcesses KeptCall Worlds answered_value arguments_text envelope"
    " failure_envelope is_served revived",
    "errors": "ProcessError",
    "inline_snapshots": "InlineSnapshots",
    "ledger": "AnsweredBy OutsideCall SCRIPT_GLOBALS SCRIPT_PARTS agent_id called",
    "models.database": "APPLICATION_ID",
    "models.databases": "Contents Databases Fixture ModelFiles OwnDatabase",
    "models.definition": "Model ModelFileError read_definition",
    "models.store": "built_in_models",
    "patterns": "Pattern PatternError compile",
    "policy": "HostCall HostFunction Policy host_problem",
    "snapshots": "SnapshotError Snapshots",
    "workspace": "Workspace opened_workspace workspace_of",
    "world": "CLOCK_STANDS Mock Mocks PendingQuestion World given_mocks",
}
__all__ = sorted(" ".join(_HOMES.values()).split())
__getattr__ = lazy_names(__name__, _HOMES)
