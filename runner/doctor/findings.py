"""What a look at a machine and an application found, as values."""

from __future__ import annotations

from enum import StrEnum

from scripttest import Wall
from scripttest.values import Value


class Part(Value):
    """An optional part of this package."""

    name: str
    """The name of the extra of this package."""
    use: str
    """What it is for."""
    missing: tuple[str, ...]
    """Packages that are not installed; none: the part is."""


class Kind(StrEnum):
    """What would answer what an agent calls. Reports write the same words."""

    MOCK = "mock"
    """A mock of its tests: nothing here answers it."""
    KEY = "key"
    """A variable of the environment."""
    EXTRA = "extra"
    """An optional part of this package."""
    FILE = "file"
    """A file of the application, which is not there or cannot be used."""
    UNKNOWN = "unknown"
    """Nobody knows: the name is made at run time."""


class Need(Value):
    """What one agent needs that this tool does not provide."""

    kind: Kind
    name: str
    """The name of a process, agent, variable, part or file, or `METHOD address`; `*` is what is known only
    at run time."""
    missing: bool
    """Whether it is not there: no test has such a mock, the variable is not set, the part is not installed."""
    message: str
    """Why it is needed, as a sentence without its full stop."""
    places: tuple[str, ...]
    """Where it is called, as `file:line`, or the file that names it; below the application."""
    mocked: str = ""
    """For a mock: its method of `t.mock`."""


class AgentFindings(Value):
    """What one agent needs."""

    id: str
    needs: tuple[Need, ...]

    @property
    def lacks(self) -> tuple[Need, ...]:
        """The part of it that is missing."""
        return tuple(need for need in self.needs if need.missing)


class Findings(Value):
    """All of it."""

    walls: tuple[Wall, ...]
    parts: tuple[Part, ...]
    root: str
    """The root of the application; empty when there is none here."""
    agents: tuple[AgentFindings, ...]
    """Sorted by id."""
