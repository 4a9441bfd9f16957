"""Assertions on an agent's answer: the table of types.

A new type is an row in `ASSERTIONS` of a module here, its name in `TYPES`, and a section in
`docs/case-assertions.md`."""

from __future__ import annotations

TYPES = {
    "equals": "json_values",
    "contains": "text",
    "not_contains": "text",
    "icontains": "text",
    "starts_with": "text",
    "regex": "text",
    "json_path": "json_values",
    "type": "json_values",
    "json_schema": "json_values",
    "tool_called": "tools",
    "tool_result": "tools",
    "tool_sequence": "trajectory",
    "tool_not_called": "tools",
    "tool_arguments": "tools",
    "tool_calls": "tools",
    "no_repeated_calls": "tools",
    "delegated": "trajectory",
    "trajectory": "trajectory",
    "script": "judges",
    "agent": "judges",
    "preference": "judges",
    "similar": "measures",
    "any_of": "checking",
    "all_of": "checking",
    "latency_ms": "measures",
    "seconds": "measures",
    "model_calls": "measures",
    "tokens": "measures",
    "cost": "measures",
    "snapshot": "snapshots",
    "file_exists": "snapshots",
    "file_contains": "snapshots",
    "workspace": "snapshots",
}
"""Every type → the module here that has it in `ASSERTIONS`, which is imported on use."""
EQUATIONS = frozenset({"json_path"})
"""Types that short texts have as `path = value`, without their name."""
