"""What a result depends on, part by part; `runner.fingerprints.parts` lists the kinds and makes digests of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from scripttest.values import Value


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
