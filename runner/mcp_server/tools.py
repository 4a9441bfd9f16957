"""The tools, which `tools.toml` declares: what they take and give, in JSON Schema, and how arguments are checked. Their
answers: what matters first and short, as text and as an object, and a cursor with which the rest is had."""

from __future__ import annotations

import json
import tomllib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.errors import LISTED, ConfigurationError, did_you_mean, listed
from scripttest.typing_names import Record
from scripttest.values import Value


def schema_of(shape: object) -> Record:
    """The JSON Schema of a shape: the name of a type, a list with the shape of its items, or a mapping of keys; one
    that ends with `?` may be missing."""
    if isinstance(shape, Mapping):
        required = [key for key in shape if not key.endswith("?")]
        properties = {key.removesuffix("?"): schema_of(value) for key, value in shape.items()}
        return {"type": "object", "properties": properties} | ({"required": required} if required else {})
    if isinstance(shape, list):
        return {"type": "array", "items": schema_of(shape[0])}
    return {} if shape == "any" else {"type": shape}


class Tool(Value):
    """One tool."""

    name: str
    title: str
    description: str
    takes: Mapping[str, Sequence[str]] = {}
    """Argument → its type and what it is. The name of one that is required ends with `!`."""
    gives: Mapping[str, Any]
    """The shape of its answer; see `schema_of`."""
    writes: bool = False
    """Whether it may change a file of the application."""
    runs: bool = False
    """Whether it runs scripts or asks models."""
    pages: bool = True
    """Whether its answers may have a rest, which a cursor reaches."""

    @property
    def input_schema(self) -> Record:
        """What it takes."""
        properties = {
            name.removesuffix("!"): {"type": kind} | ({"description": said} if said else {})
            for name, (kind, said) in self._takes.items()
        }
        required = [name.removesuffix("!") for name in self.takes if name.endswith("!")]
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return schema | ({"required": required} if required else {})

    @property
    def output_schema(self) -> Record:
        """What it gives."""
        return schema_of({**self.gives, **({"cursor?": "string", "more?": "integer"} if self.pages else {})})

    @property
    def _takes(self) -> Mapping[str, Sequence[str]]:
        return {**self.takes, **({"cursor": ("string", "")} if self.pages else {})}

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call, without those that are null. Raises ConfigurationError with all that is wrong."""
        known = {name.removesuffix("!"): kind for name, (kind, _) in self._takes.items()}
        arguments = {name: value for name, value in given.items() if value is not None}
        wrong = []
        for name, value in arguments.items():
            if name not in known:
                there = f"Its arguments are {', '.join(known)}" if known else "It has none"
                wrong.append(f'{self.name} has no argument "{name}". {did_you_mean(name, known) or there}')
            elif not isinstance(value, TYPES[known[name]]) or (isinstance(value, bool) and known[name] != "boolean"):
                wrong.append(f"{name} must be {ARTICLES[known[name]]}, not {value!r}"[:200])
        missing = [name[:-1] for name in self.takes if name.endswith("!") and name[:-1] not in arguments]
        if missing and "cursor" not in arguments:
            wrong.append(f"{self.name} needs {' and '.join(missing)}: {self.takes[missing[0] + '!'][1]}")
        if wrong:
            raise ConfigurationError("; ".join(wrong))
        return arguments


ARTICLES = {"string": "a string", "boolean": "true or false", "integer": "a whole number"}
TYPES: Mapping[str, type] = {"string": str, "boolean": bool, "integer": int}


_DECLARED = tomllib.loads((Path(__file__).with_name("tools.toml")).read_text("utf-8"))
INSTRUCTIONS: str = _DECLARED["instructions"]
TOOLS = tuple(Tool(**declared) for declared in _DECLARED["tools"])
BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}

LARGEST = 19_000
"""At most about this many bytes of JSON are in an answer."""
KEPT = 64
"""Answers whose rest can be had."""
CHUNK = 400
"""Characters of each item of a long text."""


class Answer(Value):
    """What a tool has to say."""

    title: str
    """For people, and for models that see no object."""
    head: Mapping[str, Any] = {}
    """What each part of the answer has."""
    name: str = ""
    """The key below which the object has the items; empty: there are none."""
    items: Sequence[Any] = ()
    """Those that matter most come first; texts are pieces of one."""
    told: Callable[[Any], str] = str
    """An item as text."""
    first: int | None = None
    """How many items the first part may have; None: as many as fit."""
    ends: bool = False
    """Whether the last items matter most; they stay in their order."""

    def part(self, at: int) -> tuple[str, Record, int]:
        """Text and object with the items from `at` on, as many as fit, and how many items these are."""
        title, head = self.title, dict(self.head)
        for most in (3_000, 1_000, 300):
            if _size(title, head) > LARGEST * 2 // 3:
                title, head = _cut(title, 2 * most), _cut(head, most)
        left = LARGEST - _size(title, head)
        most = self.first if at == 0 and self.first is not None else len(self.items)
        chosen: list[Any] = []
        for item in (self.items[::-1] if self.ends else self.items)[at:]:
            size = _size(self.told(item), item)
            shown = item if size < LARGEST // 3 else _cut(item, CHUNK)
            left -= min(size, _size(self.told(shown), shown))
            if len(chosen) >= most or (chosen and left < 0):
                break
            chosen.append(shown)
        number = len(chosen)
        if self.ends:
            chosen.reverse()
        is_text = bool(self.items) and isinstance(self.items[0], str)
        text = ("" if is_text else "\n").join(map(self.told, chosen))
        found: Record = {self.name: "".join(chosen) if is_text else chosen} if self.name else {}
        return "\n".join(filter(None, (title, text))), {**head, **found}, number


class Answers:
    """The answers whose rest can be had. A cursor is the number of an answer and a place in it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[str, Answer]] = OrderedDict()
        self._made = 0

    def begin(self, tool: str, answer: Answer) -> tuple[str, Record]:
        """The first part of an answer, as text and object."""
        self._made += 1
        return self._part(tool, str(self._made), answer, 0)

    def more(self, tool: str, cursor: str) -> tuple[str, Record]:
        """The part of an answer behind a cursor. Raises ConfigurationError."""
        number, _, at = cursor.partition(".")
        kept = self._kept.get(number)
        if kept is None or not at.isdecimal():
            raise ConfigurationError(f'Unknown cursor "{cursor}"', f"Call {tool} again without cursor")
        if kept[0] != tool:
            raise ConfigurationError(f'The cursor "{cursor}" belongs to {kept[0]}', f"Call {kept[0]} with it")
        return self._part(tool, number, kept[1], int(at))

    def _part(self, tool: str, id: str, answer: Answer, at: int) -> tuple[str, Record]:
        text, found, number = answer.part(at)
        left = len(answer.items) - at - number
        if left <= 0:
            return text, found
        self._kept[id] = tool, answer
        self._kept.move_to_end(id)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        cursor = f"{id}.{at + number}"
        return f'{text}\n({left} more: the same call with cursor "{cursor}")', {**found, "cursor": cursor, "more": left}


def pieces(text: str) -> list[str]:
    """A long text as items."""
    return [text[at : at + CHUNK] for at in range(0, len(text), CHUNK)] or [""]


def shown(value: object) -> str:
    """A value as JSON in one line."""
    return json.dumps(value, ensure_ascii=False, default=str)


def nearest(name: str, known: Iterable[str], what: str) -> str:
    """A hint with the known name that is most like one, else with some of them; `what` they are."""
    from runner.planning.names import closest

    names = list(dict.fromkeys(known))
    if near := closest(name, names) or (names[0] if len(names) == 1 else ""):
        return f'Did you mean "{near}"?'
    return f"There are: {listed(names, LISTED)}" if names else f"There are no {what}"


def _cut(value: Any, most: int) -> Any:
    """A JSON value whose texts have at most so many bytes, and whose lists have few items."""
    if isinstance(value, str):
        return value if len(value.encode()) <= most else value.encode()[:most].decode(errors="ignore") + "..."
    if isinstance(value, list):
        return [_cut(one, most) for one in value[:10]]
    return {key: _cut(one, most) for key, one in value.items()} if isinstance(value, dict) else value


def _size(text: str, value: object) -> int:
    """Bytes that a text and a value take in an answer: the text is a string of JSON in it, and a line break is two."""
    return len(json.dumps(text, ensure_ascii=False).encode()) + len(shown(value).encode())
