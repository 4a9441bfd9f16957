"""Where the parts of a JSON text are, and which keys occur twice: parsers silently use the last one; and `Position`, a
place in a text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from scripttest.values import Value

JsonPath = tuple[str | int, ...]
"""Keys and indexes, from the outermost value inwards."""
KEEP_ONE = "Keep one of the two"
MERGE_ONCE = "Merge several mappings with a list: <<: [*first, *second]"
_TOKEN = r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^\s"{}\[\],:]+'


class JsonMember(Value):
    """A value in a text; offsets are in characters."""

    path: JsonPath
    start: int
    """Of its key, or of the value where that has none."""
    value: int
    end: int
    """Behind the value."""


class Repeated(Value):
    """A key that an object has already."""

    key: str
    first: int
    """Offset of its first occurrence."""
    again: int


class _RepeatedError(Exception):
    pass


class Position(Value):
    """A place in a text."""

    line: int
    """From 1; 0 when there is no text."""
    column: int
    """From 1."""

    def __str__(self) -> str:
        """As it stands behind the name of a file."""
        return f"{self.line}:{self.column}"


def members_of(text: str) -> Iterator[JsonMember]:
    """The values in valid JSON, each after those in it."""
    open_parts: list[tuple[JsonPath, int, int]] = []
    is_list: list[bool] = []
    path: JsonPath = ()
    start: int | None = None
    takes_key = False
    for match in re.finditer(_TOKEN, text):
        token, at = match[0], match.start()
        if token == ":":
            continue
        if token == ",":
            takes_key = not is_list[-1]
            if is_list[-1]:
                index = path[-1]
                assert isinstance(index, int)
                path, start = (*path[:-1], index + 1), None
            else:
                path = path[:-1]
        elif token in ("{", "["):
            open_parts.append((path, at if start is None else start, at))
            is_list.append(token == "[")
            takes_key = token == "{"
            path, start = (path, None) if takes_key else ((*path, 0), None)
        elif token in ("}", "]"):
            is_list.pop()
            path, begin, value = open_parts.pop()
            takes_key = False
            yield JsonMember(path=path, start=begin, value=value, end=match.end())
        elif takes_key:
            path, start, takes_key = (*path, str(json.loads(token))), at, False
        else:
            yield JsonMember(path=path, start=at if start is None else start, value=at, end=match.end())


def repeats_keys(text: str) -> bool:
    """Whether an object in valid JSON has a key twice, however it is spelled. Takes about ten microseconds a
    thousand letters."""
    try:
        _DECODER.decode(text)
    except _RepeatedError:
        return True
    return False


def repeated_keys(text: str) -> list[Repeated]:
    """The keys that occur twice in an object of valid JSON, in their order in the text."""
    if not repeats_keys(text):
        return []
    found = []
    first: dict[tuple[int, str], int] = {}
    open_objects: list[int] = []
    takes_key = False
    for match in re.finditer(_TOKEN, text):
        token, at = match[0], match.start()
        if token in ("{", "["):
            open_objects.append(at)
            takes_key = token == "{"
        elif token in ("}", "]"):
            open_objects.pop()
        elif token == ",":
            takes_key = text[open_objects[-1]] == "{"
        elif token != ":" and takes_key:
            takes_key = False
            key = str(json.loads(token))
            begin = first.setdefault((open_objects[-1], key), at)
            if begin != at:
                found.append(Repeated(key=key, first=begin, again=at))
    return found


def given_twice(key: str, before: str) -> str:
    """The message about a key that occurs twice in one object; `before` is its first occurrence."""
    return f'"{key}" is set twice, first at {before}'


def _check(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) != len(pairs):
        raise _RepeatedError


_DECODER = json.JSONDecoder(object_pairs_hook=_check)
