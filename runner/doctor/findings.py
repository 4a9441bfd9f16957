"""What a look at a machine and an application found, as values; and the module of mocks that `doctor --write-mocks`
makes of it: a function for each agent. A mock that nobody has filled in ends the test that calls it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from enum import StrEnum

from scripttest import Wall
from scripttest.values import Value

_HEAD = """\
// Mocks for calls of this application's agents that nothing answers in a test. Each one fails the test that calls it
// until you fill it in: with a value, or a function of the call's arguments. A test begins with the function of its
// agent:
//
//   import {{ {example} }} from "{path}";
//   export function TestX(t: testing.T) {{ {example}(t); ... }}

function missing(t: testing.T, what: string, where: string): never {{
  t.fatal(`${{what}} is not mocked yet: fill in its mock. It is called in ${{where}}`);
}}
"""


class Extra(Value):
    """An optional part of this package."""

    name: str
    """The name of the extra of this package."""
    use: str
    """What it is for."""
    missing: tuple[str, ...]
    """Packages that are not installed; none: the part is."""


class NeedKind(StrEnum):
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

    __beside__ = "mocked"

    kind: NeedKind
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

    __members__ = "id needs lacks"
    __writers__ = {"lacks": lambda agent: [need.message for need in agent.lacks]}  # noqa: RUF012

    id: str
    needs: tuple[Need, ...]

    @property
    def lacks(self) -> tuple[Need, ...]:
        """The part of it that is missing."""
        return tuple(need for need in self.needs if need.missing)


class Findings(Value):
    """All of it."""

    walls: tuple[Wall, ...]
    parts: tuple[Extra, ...]
    root: str
    """The root of the application; empty when there is none here."""
    agents: tuple[AgentFindings, ...]
    """Sorted by id."""


def lacking(agents: Iterable[AgentFindings]) -> list[tuple[str, list[Need]]]:
    """The agents whose calls need mocks that are not there, and these."""
    found = [(agent.id, [need for need in agent.lacks if need.kind is NeedKind.MOCK]) for agent in agents]
    return [(id, needs) for id, needs in found if needs]


def mock_module(lacks: list[tuple[str, list[Need]]], path: str) -> str:
    """The text of the module in TypeScript; `path` is how a test would import it."""
    names: dict[str, str] = {}
    for id, _ in lacks:
        name = "mock" + "".join(word[:1].upper() + word[1:] for word in re.split(r"\W+|_", id))
        while name in names.values():
            name += "_"
        names[id] = name
    parts = [_HEAD.format(example=next(iter(names.values())), path=path)]
    for id, needs in lacks:
        lines = [f"\n/** Mocks for the agent {id}. */", f"export function {names[id]}(t: testing.T): void {{"]
        for need in needs:
            pattern = need.name.removeprefix("* ") if need.mocked == "http" else need.name
            what, where = json.dumps(need.name), json.dumps(", ".join(need.places))
            lines.append(f"  t.mock.{need.mocked}({json.dumps(pattern)}, () => missing(t, {what}, {where}));")
        parts.append("\n".join([*lines, "}\n"]))
    return "".join(parts)
