"""Keys that occur twice in a mapping of a YAML document: parsers silently use the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import yaml

from runner.application.json_parts import KEEP_ONE, MERGE_ONCE
from runner.application.positions import Position
from scripttest.values import Value

_MERGE = "tag:yaml.org,2002:merge"


class RepeatedKey(Value):
    """A key that a mapping of a YAML document has already."""

    key: str
    place: Position
    first: Position
    """Its first occurrence."""

    @property
    def hint(self) -> str:
        """What to do about it."""
        return MERGE_ONCE if self.key == "<<" else KEEP_ONE


def repeated_yaml_keys(loader: Any, document: Any, same: Callable[[Any], Any]) -> Iterator[RepeatedKey]:
    """The keys that occur twice in a mapping of a composed document. Keys that `<<` merges in do not count.

    Args:
        same: returns what two equal keys have in common; raises TypeError or ValueError for a value that cannot be a
            key.
    """
    seen: set[int] = set()
    nodes = [document]
    while nodes:
        node = nodes.pop()
        if id(node) in seen or not isinstance(node, yaml.CollectionNode):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            nodes += reversed(node.value)
            continue
        nodes += [value for _, value in reversed(node.value)]
        first: dict[Any, Any] = {}
        for key, _ in node.value:
            try:
                value = "<<" if key.tag == _MERGE else same(loader.construct_object(key))
                before = first.setdefault((key.tag == _MERGE, value), key)
            except (yaml.YAMLError, TypeError, ValueError):
                loader.recursive_objects.clear()
                continue  # said when its mapping is made
            if before is not key:
                yield RepeatedKey(key=str(key.value), place=place_of(key), first=place_of(before))


def place_of(node: Any) -> Position:
    """Where a YAML node begins."""
    return position_of(node.start_mark)


def position_of(mark: Any) -> Position:
    """A mark of the YAML library, which counts from 0."""
    return Position(line=mark.line + 1, column=mark.column + 1)
