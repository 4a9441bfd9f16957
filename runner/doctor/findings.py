"""What a look at a machine and an application found, as values."""

from __future__ import annotations

from scripttest import Wall
from scripttest.values import Value


class Part(Value):
    """An optional part of this package."""

    name: str
    """As in `yao-test[NAME]`."""
    use: str
    """What it is for."""
    missing: tuple[str, ...]
    """Packages that are not installed; none: the part is."""


class AgentFindings(Value):
    """What one agent lacks."""

    id: str
    lacks: tuple[str, ...]
    """Sentences without full stops."""


class Findings(Value):
    """All of it."""

    walls: tuple[Wall, ...]
    parts: tuple[Part, ...]
    root: str
    """Of the application; empty when there is none here."""
    agents: tuple[AgentFindings, ...]
    """Sorted by id."""
