"""What a result depends on, part by part: their names in words, and which differ. `runner.fingerprints.parts` lists the
kinds and makes digests of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from runner.errors import listed
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Dependency(Value):
    """Something that a result depends on, such as the prompts of an agent."""

    kind: str
    """Such as `prompts`."""
    name: str
    """Which of its kind, such as the id of the agent."""

    def __hash__(self) -> int:
        return hash((self.kind, self.name))  # each case notes what it uses

    @property
    def text(self) -> str:
        """Its key in a stored fingerprint, such as `prompts expense`."""
        return f"{self.kind} {self.name}"


@cache
def part(kind: str, name: str) -> Dependency:
    """The part of a kind; the same one at each call, which tables find at once."""
    return Dependency(kind=kind, name=name)


def dependency_in(key: str) -> Dependency | None:
    """The part of a key of a stored fingerprint; None for keys of what each result has of its own, such as `flags`."""
    kind, space, name = key.partition(" ")
    return Dependency(kind=kind, name=name) if space else None


def stored_dependencies(parts: Mapping[Dependency, str]) -> dict[str, str]:
    """Parts with their digests, as a fingerprint stores them."""
    return {part.text: digest for part, digest in parts.items()}


_WHOLE = {
    "format": "format of fingerprints",
    "context": "context",
    "case": "case",
    "variant": "variant",
    "attachments": "attachments",
    "coverage": "--coverage",
}
_NAMED = {
    "agent": "package.yao of {}",
    "asks": "connector of {}",
    "prompts": "prompts of {}",
    "replies": "replies of {}",
    "runner": "runner.yml of {}",
    "model": "model of {}",
    "connector": "connector {}",
    "server": "MCP server {}",
    "program": "program of the MCP server {}",
    "script": "{}",
    "module": "{}",
    "handler": "handler {}",
    "missing": "provider of {}",
    "models": "data models",
    "fixture": "fixture {}",
    "corpus": "corpus {}",
    "recording": "recording {}",
    "env": "$ENV.{}",
}
ASKS = "asks"
"""The kind of parts that name the connector of an agent."""
OWN = "env"
"""The kind of parts whose digests can be compared only within one report."""
COUNTED = {"script", "module"}
"""Kinds whose digests can be compared only if both runs measured coverage, or neither did."""
SAID = 4
ARROW = " → "
"""In what names both values, in place of a key: `connector: good → bad`."""
_OF_CONNECTORS = {"model", "connector", "replies", "runner"}
"""Kinds of parts that come and go with the connector of an agent."""
_NAME_CONNECTORS = ("--connector", "--judge-connector", "--embedding-connector")


def described(keys: Iterable[str]) -> str:
    """The parts of these keys in words, such as `connector (good → bad), prompts of expense`."""
    return listed([_name_of(key) for key in keys], SAID)


def asked_by(connector: str | None, fingerprint: Any) -> str:
    """The model that a result has asked through a connector, such as `openai gpt-4o`; empty when it is not known."""
    return str(fingerprint.get(f"model {connector}", "")) if isinstance(fingerprint, Mapping) else ""


def changed(before: Any, after: Any, connector: str | None = None, other: str | None = None) -> tuple[str, ...]:
    """The keys of the parts that differ between two fingerprints; none of those that cannot be compared, or are
    missing. `connector` and `other` are what the tested agent has asked: if they differ, `connector: good → bad` is
    said in place of all that differs with them, as is `connector of helper: good → bad`."""
    is_another = connector and other and connector != other
    switches = [f"connector: {connector}{ARROW}{other}"] if is_another else []
    if not isinstance(before, Mapping) or not isinstance(after, Mapping) or before.get("format") != after.get("format"):
        return tuple(switches)
    both = [(key, before[key], after[key]) for key in before if key in after]
    own = (connector, other)
    asked = [(dependency_in(key), was, now) for key, was, now in both if was != now and (was, now) != own]
    others = [(part.name, was, now) for part, was, now in asked if part is not None and part.kind == ASKS]
    switches += [f"connector of {agent}: {was}{ARROW}{now}" for agent, was, now in others]
    moved = switches or any(before.get(flag) != after.get(flag) for flag in _NAME_CONNECTORS)
    left_out = {OWN, ASKS}
    if before.get("coverage") != after.get("coverage"):
        left_out |= COUNTED

    def counts(key: str) -> bool:
        part = dependency_in(key)
        if part is None:
            return key != "--connector" or not is_another
        follows = moved and part.kind in _OF_CONNECTORS and not (key in before and key in after)
        return part.kind not in left_out and not follows

    keys = dict.fromkeys([*before, *after])
    return (*switches, *(key for key in keys if before.get(key) != after.get(key) and counts(key)))


def _name_of(key: str) -> str:
    if ARROW in key:
        return f"{key.replace(': ', ' (', 1)})"
    part = dependency_in(key)
    return _NAMED[part.kind].format(part.name) if part and part.kind in _NAMED else _WHOLE.get(key, key)
