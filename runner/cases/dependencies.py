"""`depends_on`: which cases of a file have to run in addition to the chosen ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scripttest.values import Value


class Needs(Value):
    """What the chosen cases of a file depend on."""

    ids: frozenset[str]
    """Cases that others wait for."""
    added: Mapping[str, str]
    """Cases that are not chosen, and run all the same → the case that depends on each."""


def needs_of(dependencies: Mapping[str, Sequence[str]], left_out: frozenset[str]) -> Needs:
    """The cases that must run, by id.

    Args:
        dependencies: case → the cases it depends on; only cases with dependencies, also those that are not selected.
        left_out: the cases that are not selected.
    """
    added: dict[str, str] = {}
    waited: set[str] = set()
    pending = [id for id in dependencies if id not in left_out]
    while pending:
        id = pending.pop()
        for needed in dependencies.get(id, ()):
            waited.add(needed)
            if needed in left_out and needed not in added:
                added[needed] = id
                pending.append(needed)
    return Needs(ids=frozenset(waited), added=added)
