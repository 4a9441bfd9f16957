"""Places in original sources, and what stands there: source maps (version 3, https://tc39.es/ecma426/), decoded only as
far as needed, code frames, and calls.

Of calls: for tools all those in a script, with their texts; what to write for a name of another test tool that a script
used, made of the arguments that stand in its source: `expect(total).toBe(3)` is `t.assert.Equal(total, 3)`; and the
first argument, to name its value."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from scripttest.files import anywhere, read_file
from scripttest.habits import filled, habit, row_of
from scripttest.results import CompileError, Location
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scripttest.compile.builds import Compiled


_DIGITS = {
    letter: value for value, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}
_UNDEFINED = r"ReferenceError: ([\w$]+) is not defined"
_NO_FUNCTION = r"TypeError: ((?:[\w$]+\.)?(?:assert|require|expect)\.([\w$]+)|t\.([\w$]+)) is not a function"
_OPPOSITE = dict(
    pair.split(":")
    for pair in (
        "Equal:NotEqual True:False False:True Nil:NotNil NotNil:Nil Contains:NotContains Match:NotMatch Panic:NoPanic"
        " Greater:LessOrEqual GreaterOrEqual:Less Less:GreaterOrEqual LessOrEqual:Greater"
    ).split()
)
"""Assertion → the one for `.not`."""
_OWN_MATCHERS = {
    "any": "t.any(",
    "objectContaining": "t.contains(",
    "arrayContaining": "t.contains(",
    "stringContaining": "t.contains(",
    "stringMatching": "t.matching(",
    "closeTo": "t.close(",
}
_MATCHERS = rf"\bexpect\.({'|'.join(_OWN_MATCHERS)})\("
_SIGN = r"""(?s)'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|[()\[\]{},]"""
"""A text, or what separates and surrounds arguments."""
_CALLED = ".count, 1)"
"""How what to write for a call that was made ends."""
MOST = 400
"""Characters of source that are read."""
_LONGEST = 80
"""Characters of an argument that are repeated."""


class SourceMap:
    """One map; positions go in and out counted from 1."""

    def __init__(self, text: bytes) -> None:
        document = json.loads(text)
        self._sources: list[str] = document["sources"]
        self._pending: list[str] = document["mappings"].split(";")
        self._lines: list[list[tuple[int, int, int, int]]] = []
        self._state = [0, 0, 0]

    def find(self, line: int, column: int) -> Location | None:
        """The original of a generated position: of the last segment that starts at or before it on its line. Its file
        is as written in the map."""
        while len(self._lines) < line:
            if len(self._lines) >= len(self._pending):
                return None
            self._decode()
        segments = self._lines[line - 1]
        at = bisect_right(segments, column - 1, key=lambda segment: segment[0]) - 1
        if not segments:
            return None
        _, source, original_line, original_column = segments[max(at, 0)]
        return Location(file=self._sources[source], line=original_line + 1, column=original_column + 1)

    def _decode(self) -> None:
        segments: list[tuple[int, int, int, int]] = []
        generated = 0
        state = self._state
        for text in self._pending[len(self._lines)].split(","):
            numbers = _vlq(text)
            if not numbers:
                continue
            generated += numbers[0]
            if len(numbers) >= 4:
                for field in range(3):
                    state[field] += numbers[field + 1]
                segments.append((generated, state[0], state[1], state[2]))
        self._lines.append(segments)


def _vlq(text: str) -> list[int]:
    numbers = []
    value = shift = 0
    for letter in text:
        digit = _DIGITS[letter]
        value |= (digit & 31) << shift
        if digit & 32:
            shift += 5
        else:
            numbers.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    return numbers


def code_frame(location: Location, around: int = 2) -> str:
    """The lines around a place with a marker under it; empty when the file cannot be read."""
    lines = lines_of(location.file)
    if not 1 <= location.line <= len(lines):
        return ""
    first = max(1, location.line - around)
    last = min(len(lines), location.line + around)
    width = len(str(last))
    out = []
    for number in range(first, last + 1):
        text = lines[number - 1].rstrip("\r")[:200]
        here = number == location.line
        out.append(f"{'>' if here else ' '} {number:>{width}} | {text}".rstrip())
        if here and location.column:
            indent = "".join("\t" if c == "\t" else " " for c in text[: location.column - 1])
            out.append(f"  {' ' * width} | {indent}{'^' * max(1, min(location.length, len(text) - len(indent)))}")
    return "\n".join(out)


def lines_of(file: str) -> list[str]:
    """The lines of a source; none when it cannot be read."""
    try:
        return read_file(file, anywhere).decode("utf-8-sig", "replace").split("\n")
    except OSError:
        return []


def what_to_write(message: str, place: Location | None) -> str | None:
    """A hint for an error about a name of another tool at a place; None for any other error."""
    text = _source(place) if place is not None else ""
    if found := re.fullmatch(_UNDEFINED, message):
        line = _for_name(found[1], text)
    elif found := re.fullmatch(_NO_FUNCTION, message):
        line = _for_matcher(found[2] or found[3], text)
    else:
        return None
    return f"Write: {line}" if line else None


def _for_name(name: str, text: str) -> str | None:
    path = re.match(rf"{re.escape(name)}(?:\.[\w$]+)*", text)
    parts = path[0].split(".") if path else [name]
    arguments, rest = _arguments(text[path.end() :] if path else "")
    if name == "expect" and len(parts) == 1 and (line := _expectation(arguments, rest)):
        return line
    if name in ("assert", "require") and len(parts) == 2 and parts[1][0].isupper():
        given = arguments[1:] if arguments[:1] == ["t"] else arguments  # as in Go
        return f"t.{name}.{parts[1]}({', '.join(given)})"
    word = next((one for at in range(len(parts), 0, -1) if row_of("name", one := ".".join(parts[:at]))), "")
    if word in ("process.env", "Deno.env", "Bun.env") and parts[2:]:
        return f'Process("utils.env.Get", "{parts[2]}")'
    titled = "".join(part[:1].upper() + part[1:] for part in re.findall(r"\w+", arguments[0])) if arguments else ""
    return habit("name", word, name=titled[:40] or "Name", **_given(arguments)) if word else None


def _expectation(arguments: list[str], rest: str) -> str | None:
    """The assertion for what is expected, from what follows `expect(...)`."""
    chain = re.match(r"((?:\s*\.\s*[\w$]+)+)", rest)
    if chain is None:
        return None
    words = re.findall(r"[\w$]+", chain[1])
    others, _ = _arguments(rest[chain.end() :])
    matcher = next((word for word in reversed(words) if word not in ("not", "be") and row_of("matcher", word)), "")
    row = row_of("matcher", matcher)
    if row is None:
        return None
    line = filled(row[0], **_given([*(arguments[:1] or ["..."]), ", ".join(others) or "..."]))
    if "not" in words:
        line = line.removesuffix(_CALLED) + ".count, 0)" if line.endswith(_CALLED) else line
        line = re.sub(r"(?<=^t\.assert\.)\w+", lambda match: _OPPOSITE.get(match[0], match[0]), line)
    if words[0] in ("rejects", "resolves"):
        line = f"await {line}" if words[0] == "rejects" else line.replace("(", "(await ", 1)
    return line


def _for_matcher(name: str, text: str) -> str | None:
    if name == "expect":
        return _for_name(name, text)
    arguments, _ = _arguments(text[len(name) :] if text.startswith(name) else "")
    return habit("matcher", name, **_given(arguments)) if row_of("matcher", name) else None


def _given(arguments: list[str]) -> dict[str, str]:
    """The arguments for a line of the table, with matchers of this tool for those of `expect`."""
    own = [re.sub(_MATCHERS, lambda found: _OWN_MATCHERS[found[1]], text) for text in arguments]
    own = [re.sub(r"\bt\.any\((String|Number|Boolean|Object|Array)\)", _named_type, text) for text in own]
    return {f"_{at}": text if len(text) <= _LONGEST else "..." for at, text in enumerate(own)}


def _named_type(found: re.Match[str]) -> str:
    return f't.any("{found[1].lower()}")'


def _source(place: Location) -> str:
    """The source from a place on."""
    lines = lines_of(place.file)[place.line - 1 : place.line + 9]
    return "\n".join([lines[0][max(place.column - 1, 0) :], *lines[1:]])[:MOST] if lines else ""


def _arguments(text: str) -> tuple[list[str], str]:
    """The arguments of the call that a text begins with, and what follows it; none when it is no whole call."""
    if not text.startswith("("):
        return [], text
    found, depth, begins = [], 0, 1
    for match in re.finditer(_SIGN, text):
        sign = match[0]
        depth += (sign in ("(", "[", "{")) - (sign in (")", "]", "}"))
        if not depth or (depth == 1 and sign == ","):
            found.append(" ".join(text[begins : match.start()].split()))
            begins = match.end()
            if not depth:
                return [one for one in found if one], text[begins:]
    return [], ""


def first_argument(at: Location, method: str) -> str:
    """The first argument of the call of a method at a place, in one line; empty where it cannot be read, or is long."""
    text = "\n".join(lines_of(at.file)[at.line - 1 : at.line + 20])
    calls = [found.end() - 1 for found in re.finditer(rf"\.\s*{method}\s*\(", text.partition("\n")[0])]
    start = next((call for call in calls if call + 1 >= at.column), calls[-1] if calls else len(text))
    first = next(iter(_arguments(text[start:])[0]), "")
    return first if len(first) <= _LONGEST else ""


class WrittenCall(Value):
    """A call, or a property that is given a text."""

    callee: str
    """As it is written, such as `Process`, `ctx.agent.Call` or `new Query`; of a property its name and a colon, such as
    `process:`."""
    arguments: tuple[str | None, ...]
    """The first ones: texts, with `*` for what is made at run time; None for what is not a text."""
    file: str
    """Below the application."""
    line: int
    """From 1."""
    within: str = ""
    """The callee among whose arguments it stands, the innermost."""
    beside: frozenset[str] = frozenset()
    """Of a property: the names of all properties of its object."""


class WrittenCalls:
    """Compiles scripts of an application, each once, and reads them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[Path, tuple[WrittenCall, ...] | CompileError] = {}
        self._declared: dict[Path, frozenset[str]] = {}

    def of(self, scripts: Iterable[Path]) -> Mapping[Path, tuple[WrittenCall, ...] | CompileError]:
        """The calls in each script and in what it imports, or why it cannot be compiled. Blocks. Raises HostError when
        there is no compiler."""
        from scripttest.compile.at_once import compile_all
        from scripttest.compile.builds import Source

        wanted = list(dict.fromkeys(scripts))
        new = [Source(key=str(path), test=path, script=None) for path in wanted if path not in self._read]
        for source, result in compile_all(self._root, new).items():
            if isinstance(result, CompileError):
                self._read[source.test] = result
            else:
                self._read[source.test] = tuple(_calls(result))
                self._declared[source.test] = result.declared
        return {script: self._read[script] for script in wanted}

    def declared(self, script: Path) -> frozenset[str] | None:
        """The names that a script exports or declares at its top level; None when it cannot be compiled. Blocks. Raises
        HostError when there is no compiler."""
        self.of([script])
        return self._declared.get(script)


def _calls(compiled: Compiled) -> Iterator[WrittenCall]:
    """The calls in a script; none in code that the parser cannot read."""
    from scripttest.syntax.parser import UnreadableError, parser

    for script in compiled.scripts:
        source_map = SourceMap(script.source_map)
        lines = [0, *(match.end() for match in re.finditer("\n", script.code))]
        try:
            calls = parser().ask("callsIn", script.code)
        except UnreadableError:
            continue
        for found in calls:
            line = bisect_right(lines, found["start"])
            place = source_map.find(line + script.skipped, found["start"] - lines[line - 1] + 1)
            if place is not None:
                yield WrittenCall(
                    callee=found["callee"],
                    arguments=tuple(found["arguments"]),
                    file=place.file,
                    line=place.line,
                    within=found["within"],
                    beside=frozenset(found["beside"]),
                )
