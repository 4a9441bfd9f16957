"""The ids of agents, as people write them."""

from __future__ import annotations

PREFIX = "agents:"
"""Says that a name is that of an agent, where it could be that of a script."""


def agent_id(name: str) -> str:
    """The id of an agent, which may be written with `agents:` before it. What cases, flags and scripts say goes through
    here once; from there on it is the id."""
    return name.removeprefix(PREFIX)
