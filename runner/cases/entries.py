"""Splits the text of a case file into its entries: JSON objects, one on each line or over several lines, with blank
lines, comments (`//`, `#`), commas between them and brackets around them.

A line with a whole object is used as it is. Any other line is read token by token to find the end of the object. After
a broken object, reading continues with the next object that begins in the same column, so that all problems of a file
are found at once.

The object around the cases of a file has the list as `tests` or `cases`, and also `name`, `description` and `defaults`,
which are fields for cases that do not have them. Defaults count as if each case had them. A field of a case has
priority; in `metadata`, `options` and `mocks` this holds for each key.

What is wrong with a file is collected while it is read, and reported together."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from runner.application.documents import JsonMember, JsonPath, Position, members_of
from runner.errors import ConfigurationError, did_you_mean
from runner.shapes.declared import FREE
from runner.shapes.shape import json_of
from scripttest import habit
from scripttest.values import Value, fields_of

SHOWN = 20
"""How many problems are shown in full; the others are only counted."""

LINE = "Write: "
"""How a hint begins that is the line to write for words of another tool."""
LONG_HINT = 80
"""A hint with more characters that is no line to write is shown only if there is a single problem."""
Places = dict[JsonPath, Position]
"""Where each key and element is."""
STRING = r'"(?:[^"\\\n]|\\.)*+"'
COMMENT = r"//[^\n]*|#[^\n]*"
_TOKEN = re.compile(rf'{STRING}|{COMMENT}|[{{}}\[\],:"]|[^\s"{{}}\[\],:/#]+|/')
_NOISE = rf"{STRING}|{COMMENT}|,(?=(?>\s|{COMMENT}|(?!))*+[\]}}])"
_LARGE = 1_000_000
"""Characters of an entry beyond which its parts are not looked for: that would take longer than to read it."""
_CLOSES = {"}": "{", "]": "["}
LISTS = ("tests", "cases")
DEFAULTS = "defaults"
_TEXTS = ("name", "description")
_INSTEAD = (("input", "messages"), ("assert", "assertions"))
"""Fields of which a case has one: its own keeps the other's default away."""
_BY_KEY = {"metadata": 1, "options": 2, "mocks": 2}
"""Fields of which each key has a default of its own → how deep."""


class Finding(Value):
    """Something wrong within a case."""

    path: JsonPath
    text: str
    hint: str | None = None
    unknown: bool = False
    """It is a field that does not exist."""
    absent: bool = False
    """It is a file that is not there, which matters when the case runs."""


class Problem(Value):
    """One thing that is wrong, and where."""

    position: Position
    """Without a line when the case is in no file."""
    text: str
    hint: str | None = None

    def __str__(self) -> str:
        is_line = self.hint is not None and self.hint.startswith(LINE)
        return f"{self.text}. {self.hint}" if self.hint and (is_line or len(self.hint) < LONG_HINT) else self.text


class Problems:
    """A bounded list of problems of one file."""

    def __init__(self, name: str) -> None:
        self.name = name
        """The file, as the user wrote it, or what else the cases come from."""
        self.count = 0
        self._shown: list[Problem] = []

    @property
    def wanting(self) -> bool:
        """Whether the next one will be shown in full."""
        return self.count < SHOWN

    def add(self, problem: Problem) -> None:
        """Takes one more."""
        if self.wanting:
            self._shown.append(problem)
        self.count += 1

    def lines(self) -> list[str]:
        """Each with its place, from the top of the file downward, and how many more there are."""
        ordered = sorted(self._shown, key=lambda one: (one.position.line, one.position.column))
        lines = [f"{self._place(problem)}: {problem}" for problem in ordered]
        if self.count > SHOWN:
            lines.append(f"and {self.count - SHOWN} more")
        return lines

    def raise_any(self) -> None:
        """Raises ConfigurationError when there are some."""
        if self.count:
            raise ConfigurationError(*self.said())

    def said(self) -> tuple[str, str | None]:
        """Message and hint of the error with all problems, of which there is at least one."""
        if self.count == 1:
            (problem,) = self._shown
            return f"Cannot read cases from {self._place(problem)}: {problem.text}", problem.hint
        listing = "".join(f"\n  {line}" for line in self.lines())
        foreign = sum((problem.hint or "").startswith(LINE) for problem in self._shown) > 1
        hint = "No cases were run" + f"; convert cases of another tool with: yao-test convert {self.name}" * foreign
        return f"Cannot read cases from {self.name}: {self.count} problems{listing}", hint

    def _place(self, problem: Problem) -> str:
        return f"{self.name}:{problem.position}" if problem.position.line else self.name


class Entry(Value):
    """The text of one object, perhaps broken."""

    line: int
    column: int
    text: str
    """JSON; it may have comments and trailing commas."""
    places: Places | None = None
    """Where its parts are, if that is not to be read off the text."""
    sources: tuple[Entry, Entry] | None = None
    """Its own text and that of its defaults, if it was combined from both."""

    @property
    def start(self) -> Position:
        """Where it begins."""
        return Position(line=self.line, column=self.column)

    def place(self, path: JsonPath) -> Position:
        """Where a part is, or the closest one around it."""
        if self.sources is not None:
            return self.sources[self.inherits(path)].place(path)
        places = self.places or _places(self)
        while path not in places and path:
            path = path[:-1]
        return places.get(path) or self.start

    def holds(self, path: JsonPath) -> bool:
        """Whether there is such a part."""
        if self.sources is not None:
            return any(source.holds(path) for source in self.sources)
        return path in (self.places or _places(self))

    def inherits(self, path: JsonPath) -> bool:
        """Whether a part, or the closest one around it, comes from the defaults."""
        if self.sources is None:
            return False
        own, defaults = self.sources
        while path and not own.holds(path):
            if defaults.holds(path):
                return True
            path = path[:-1]
        return False

    def at(self, offset: int) -> Position:
        """Where an offset in the text is."""
        line = self.text.count("\n", 0, offset)
        start = self.text.rfind("\n", 0, offset) + 1
        return Position(line=self.line + line, column=offset - start + (1 if line else self.column))


class Splitter:
    """Splits a text that comes in pieces of whole lines. What is neither an object nor a comment is a problem."""

    def __init__(self, problems: Problems) -> None:
        self.number = 0
        """Lines that have been read."""
        self.idle = True
        """Whether it is between entries."""
        self._problems = problems
        self._list: Position | None = None
        self._begin = Position(line=0, column=0)
        self._parts: list[str] = []
        self._open: list[str] = []
        self._last = ""
        self._skipping = False

    def split(self, lines: Iterable[str]) -> Iterator[Entry]:
        """The entries that end in these lines, lazily."""
        for line in lines:
            self.number += 1
            if self.idle:
                text = line.strip(" \t\n,")
                if text[:1] == "{" and text[-1] == "}" and _is_whole(text):
                    yield Entry(line=self.number, column=line.index("{") + 1, text=text)
                    continue
            yield from self._read(line)

    def objects_of(self, line: Entry) -> Iterator[Entry]:
        """The entries of a line that was read as one."""
        self.number = line.line
        yield from self._read(" " * (line.column - 1) + line.text)
        yield from self.end()

    def end(self) -> Iterator[Entry]:
        """What is left when the text ends."""
        if not self.idle and not self._skipping:
            yield self._take("")
        if self._list:
            text = "the list that begins here is not closed"
            self._problems.add(Problem(position=self._list, text=text, hint='A "]" is missing'))

    def _read(self, line: str) -> Iterator[Entry]:
        if self._skipping:
            if not self._starts_anew(line):
                return
            self._skipping, self.idle = False, True
        if not self.idle and self._interrupts(line):
            yield self._take("")
        start = 0
        for match in _TOKEN.finditer(line):
            token = match[0]
            if token[0] == "#" or token.startswith("//"):
                continue
            if self.idle:
                if token == "{":
                    start = match.start()
                    self._begin = Position(line=self.number, column=start + 1)
                    self.idle, self._open, self._last = False, ["{"], "{"
                elif not self._between(token, match.start() + 1):
                    return
            elif not self._inside(token):
                self._skipping = True
                yield self._take(line[start:])
                return
            elif not self._open:
                yield self._take(line[start : match.end()])
        if not self.idle:
            self._parts.append(line[start:])

    def _between(self, token: str, column: int) -> bool:
        if token == "[" and not self._list:
            self._list = Position(line=self.number, column=column)
        elif token == "]" and self._list:
            self._list = None
        elif token != ",":
            text = f"`{token[:40]}` is not a case: a JSON object was expected"
            hint = 'A case looks like {"id": "T1", "input": "Hello"}'
            self._problems.add(Problem(position=Position(line=self.number, column=column), text=text, hint=hint))
            return False
        return True

    def _inside(self, token: str) -> bool:
        """False when the object is broken."""
        if token in ("{", "["):
            self._open.append(token)
        elif token in ("}", "]"):
            if self._open.pop() != _CLOSES[token]:
                return False
        elif token == '"':
            return False
        self._last = token[0]
        return True

    def _starts_anew(self, line: str) -> bool:
        text = line.lstrip(" \t")
        return (text.startswith("{") and len(line) - len(text) + 1 == self._begin.column) or line.startswith("]")

    def _interrupts(self, line: str) -> bool:
        """Whether a new entry begins although the last one is not closed."""
        if self._last in ("[", ":") or (self._last == "," and self._open[-1] == "["):
            return False
        return self._starts_anew(line) and line.lstrip(" \t")[0] == "{"

    def _take(self, rest: str) -> Entry:
        text = "".join(self._parts) + rest
        self._parts.clear()
        self.idle = not self._skipping
        return Entry(line=self._begin.line, column=self._begin.column, text=text.rstrip())


def without_noise(text: str) -> str:
    """The text with spaces for comments and trailing commas, so that positions stay true."""
    return re.sub(_NOISE, lambda match: match[0] if match[0][0] == '"' else " " * len(match[0]), text)


def list_of(keys: Mapping[str, Any]) -> str | None:
    """The key of the list, when an object is one around cases."""
    return next((name for name in LISTS if name in keys), None)


def check_beside(key: str, is_text: bool, place: Position, listed: str, problems: Problems) -> None:
    """Adds what is wrong with a field beside the list; `is_text` tells of its value, if that is not null."""
    if key in _TEXTS and not is_text:
        problems.add(Problem(position=place, text=f'"{key}" must be a string'))
    elif key not in (*_TEXTS, DEFAULTS) and not key.startswith(FREE):
        known = (*_TEXTS, DEFAULTS, listed)
        hint = did_you_mean(key, known) or (f"Write: {line}" if (line := habit("field", key)) else None)
        hint = hint or f'Besides "{listed}", the allowed fields are {", ".join(known[:-1])}, and x- fields'
        problems.add(Problem(position=place, text=f'unknown field "{key}"', hint=hint))


def entries_in(listing: Entry, value: dict[str, Any], problems: Problems) -> Iterator[Entry]:
    """The cases of a JSON object with a list of them, with their defaults."""
    text = without_noise(listing.text)
    parts = {part.path: part for part in members_of(text) if len(part.path) in (1, 2)}
    listed = list_of(value)
    assert listed is not None
    for key, inner in value.items():
        if key != listed:
            check_beside(key, inner is None or isinstance(inner, str), listing.at(parts[key,].start), listed, problems)
    defaults = _slice(listing, text, parts[DEFAULTS,]) if value.get(DEFAULTS) is not None else None
    if defaults is not None and not is_usable(defaults, problems):
        defaults = None
    cases = value[listed]
    whole = [cases] if isinstance(cases, dict) else cases if isinstance(cases, list) else []
    if cases is not None and not isinstance(cases, list | dict):
        place = listing.at(parts[listed,].value)
        problems.add(Problem(position=place, text=f'"{listed}" must be a list of cases'))
    for index, case in enumerate(whole):
        part = parts[listed,] if case is cases else parts[listed, index]
        entry = _slice(listing, text, part)
        if isinstance(case, dict):
            yield with_defaults(entry, defaults)
        else:
            said = f"`{entry.text[:40]}` is not a case: a JSON object was expected"
            problems.add(Problem(position=entry.start, text=said))


def is_usable(defaults: Entry, problems: Problems) -> bool:
    """Whether defaults are an object; adds what is wrong with them to the problems."""
    if not isinstance(value := json_of(defaults.text), dict):
        hint = 'It contains default fields, such as {"timeout": "30s"}'
        problems.add(Problem(position=defaults.start, text='"defaults" must be an object', hint=hint))
        return False
    if "id" in value:
        text = 'defaults: "id" identifies one case and cannot have a default'
        problems.add(Problem(position=defaults.place(("id",)), text=text))
    return True


def with_defaults(entry: Entry, defaults: Entry | None) -> Entry:
    """An entry whose missing fields are those of the defaults."""
    if defaults is None:
        return entry
    own, others = json_of(without_noise(entry.text)), json_of(without_noise(defaults.text))
    given = {name for name, value in own.items() if value is not None}
    given |= {name for names in _INSTEAD if not given.isdisjoint(names) for name in names}
    merged = dict(own)
    for name, value in others.items():
        if name in _BY_KEY and name in own:
            merged[name] = _joined(value, own[name], _BY_KEY[name])
        elif name not in given and value is not None and name != "id":
            merged[name] = value
    text = json.dumps(merged, ensure_ascii=False)
    return Entry(line=entry.line, column=entry.column, text=text, sources=(entry, defaults))


def _is_whole(text: str) -> bool:
    """Whether a line that begins and ends with braces is a whole object, and its last brace is not in a comment."""
    if text.count("{") != text.count("}") or text.count("[") != text.count("]"):
        return False
    return ("#" not in text and "//" not in text) or without_noise(text).rstrip().endswith("}")


def _places(entry: Entry) -> Places:
    """Places of the keys and elements of valid JSON; none of a large one."""
    if len(entry.text) > _LARGE:
        return {}
    starts = [0, *(match.end() for match in re.finditer("\n", entry.text))]

    def at(offset: int) -> Position:
        line = bisect_right(starts, offset) - 1
        return Position(line=entry.line + line, column=offset - starts[line] + (1 if line else entry.column))

    return {part.path: at(part.start) for part in members_of(without_noise(entry.text)) if part.path}


def _joined(default: Any, own: Any, depth: int) -> Any:
    if own is None:
        return default
    if not depth or not isinstance(default, dict) or not isinstance(own, dict):
        return own
    joined = {**default, **own}
    return joined | {key: _joined(default[key], own[key], depth - 1) for key in own if key in default}


def _slice(around: Entry, text: str, part: JsonMember) -> Entry:
    return Entry(**fields_of(around.at(part.value)), text=text[part.value : part.end])
