"""Assertions on an agent's answer: the table of types.

A new type is a module here with its `Kind` in `ASSERTIONS`, a line in `TYPES`, and a section in
`docs/case-assertions.md`.
"""

from __future__ import annotations

TYPES = {
    "equals": "equality",
    "contains": "text",
    "not_contains": "text",
    "icontains": "text",
    "starts_with": "text",
    "regex": "pattern",
    "json_path": "paths",
    "type": "paths",
    "json_schema": "schema",
    "tool_called": "tools",
    "tool_result": "tools",
    "tool_sequence": "sequence",
    "tool_not_called": "tool_not_called",
    "tool_arguments": "tool_arguments",
    "tool_calls": "tool_calls",
    "no_repeated_calls": "no_repeated_calls",
    "delegated": "delegated",
    "trajectory": "trajectory",
    "trajectory:tool-used": "trajectory_names",
    "trajectory:tool-args-match": "trajectory_names",
    "trajectory:tool-sequence": "trajectory_names",
    "trajectory:step-count": "trajectory_names",
    "script": "script",
    "agent": "agent",
    "preference": "preference",
    "any_of": "composition",
    "all_of": "composition",
    "latency_ms": "measures",
    "seconds": "measures",
    "model_calls": "measures",
    "tokens": "measures",
    "cost": "measures",
    "snapshot": "snapshot",
    "file_exists": "workspace",
    "file_contains": "workspace",
    "workspace": "workspace",
}
"""Every type → the module here that has its kind, which is imported on use."""
EQUATIONS = frozenset({"json_path"})
"""Types that short texts have as `path = value`, without their name."""
