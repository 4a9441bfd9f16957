"""The names in a case that refer to something else: agents, functions of scripts, connectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from bindings import agent_id
from runner.assertions import TYPES
from runner.assertions.checking import type_named
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.assertions.model import Assertion


class Reference(Value):
    """Something that a case, or a flag, names."""

    kind: Literal["agent", "connector", "generator", "hook", "judge", "simulator"]
    """An agent, a connector, or a function of a script, for the part that it has."""
    text: str
    """The id of an agent; anything else as it is written."""

    @property
    def is_agent(self) -> bool:
        """Whether it is an agent; else, where it may be either, a function of a script."""
        return self.kind == "agent"


def agent_reference(name: str) -> Reference:
    """An agent, which may be written with `agents:` before its id."""
    return Reference(kind="agent", text=agent_id(name))


def simulator_reference(use: str) -> Reference:
    """What plays the user: an agent, or a function of a script."""
    is_script = use.startswith(("scripts:", "scripts."))
    return Reference(kind="simulator", text=use) if is_script else agent_reference(use)


def generator_reference(name: str) -> Reference:
    """What makes cases: an agent, with `agents:` before it, or a function of a script."""
    return agent_reference(name) if agent_id(name) != name else Reference(kind="generator", text=name)


def references_of_assertions(assertions: Iterable[Assertion | str] | None) -> Iterator[Reference]:
    """What assertions name."""
    for assertion in assertions or ():
        if isinstance(assertion, str):
            continue
        kind = type_named(assertion.type) if assertion.type in TYPES else None
        if kind is not None:
            if kind.asks == "agent" and assertion.use:
                yield agent_reference(assertion.use)
            if kind.asks == "script":
                yield Reference(kind="judge", text=assertion.script or assertion.use or "")
            if kind.inner is not None:
                yield from references_of_assertions(kind.inner(assertion))
        if assertion.judge is not None:
            yield from map(agent_reference, assertion.judge.judges)
        if assertion.options.connector:
            yield Reference(kind="connector", text=assertion.options.connector)
