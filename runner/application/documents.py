"""Readers of the formats that an application is written in; keys that occur twice in them, of which parsers silently
use the last one, are errors; and where the parts of a JSON text are."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from runner.errors import ConfigurationError
from runner.security.files import read_text
from scripttest import written_files
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

JsonPath = tuple[str | int, ...]
"""Keys and indexes, from the outermost value inwards."""
KEEP_ONE = "Keep one of the two"
MERGE_ONCE = "Merge several mappings with a list: <<: [*first, *second]"
_TOKEN = r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^\s"{}\[\],:]+'
_SKIP = r'"(?:[^"\\]|\\.)*+"|//[^\n]*+|/\*.*?\*/|,(?=(?>\s|//[^\n]*+|/\*.*?\*/|(?!))*+[\]}])'
ALIASED = 1_000_000
"""Most values that all aliases of a YAML file may expand to,"""
ALIASED_BY_CHARACTER = 10
"""and how many more for each character of the file."""
_NO_VALUE = "is not a JSON value"
_TOO_LARGE = "is too large for a number"
_SHOWN = 40
"""Characters that a message quotes of a number."""
_SAID = {
    "found character that cannot start any token": "a tab, or another character that cannot start a value, is here; "
    "indent YAML with spaces, and quote strings that begin with @ or `",
    "found unhashable key": "a key is a list or a mapping; keys must be strings",
}
"""PyYAML's message → our message."""
_MERGE = "tag:yaml.org,2002:merge"


class JsonMember(Value):
    """A value in a text; offsets are in characters."""

    path: JsonPath
    start: int
    """Of its key, or of the value where that has none."""
    value: int
    end: int
    """Behind the value."""
    around: int
    """Of the object or the list that it is in; -1: of none."""


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


class _NumberError(ValueError):
    """What Python reads as a number, and JSON cannot hold."""

    def __init__(self, written: str, why: str) -> None:
        shown = written if len(written) <= _SHOWN else f"{written[:_SHOWN]}..."
        super().__init__(f"{shown} {why}")
        self._written = written

    def found_in(self, text: str) -> int:
        """Where it stands in the text of the file."""
        found = re.finditer(rf'"(?:[^"\\]|\\.)*+"|{re.escape(self._written)}', text)
        return next(match.start() for match in found if match[0] == self._written)


class RepeatedKey(Value):
    """A key that a mapping of a YAML document has already."""

    key: str
    place: Position
    first: Position
    """Its first occurrence."""
    hint: str
    """What to do about it."""


def by_script(what: str) -> ConfigurationError:
    """The refusal of a file that defines something, or is a program, and was written by a script in this run."""
    return ConfigurationError(
        f"{what}: a script wrote it in this run, and files written by scripts are data only",
        "Definitions and programs must exist before the run starts",
    )


def read_json(path: Path, purpose: str, *, is_data: bool = False) -> Any:
    """The value in a JSON file, which may have comments and trailing commas. Raises ConfigurationError with the
    position; and for what a script wrote in this run, unless it `is_data`."""
    text = re.sub(_SKIP, _blank, text_of(path, purpose, is_data), flags=re.DOTALL)
    try:
        value = json.loads(text, parse_constant=_no_value, parse_float=_finite, parse_int=_whole)
    except _NumberError as error:
        where = f"{path}:{_place(text, error.found_in(text))}"
        raise ConfigurationError(f"Cannot read {purpose} {where}: {error}", "It can be a string") from error
    except json.JSONDecodeError as error:
        message = f"Cannot read {purpose} {path}:{error.lineno}:{error.colno}: {error.msg}"
        raise ConfigurationError(message, "It must be JSON; comments and trailing commas are fine") from error
    except RecursionError as error:
        raise ConfigurationError(f"Cannot read {purpose} {path}: it is nested too deeply") from error
    for found in repeated_keys(text):
        where, before = (f"{path}:{_place(text, offset)}" for offset in (found.again, found.first))
        raise ConfigurationError(f"Cannot read {purpose} {where}: {given_twice(found.key, before)}", KEEP_ONE)
    return value


def place_in_json(path: Path, at: tuple[str | int, ...]) -> str:
    """Line and column, `7:15`, of a value in a file that `read_json` can read: the innermost one on the way to `at`,
    keys and indexes, that is there."""
    text = re.sub(_SKIP, _blank, read_text(path), flags=re.DOTALL)
    starts = {part.path: part.start for part in members_of(text)}
    depth = next(depth for depth in range(len(at), -1, -1) if at[:depth] in starts)
    return _place(text, starts[at[:depth]])


def read_yaml(path: Path, purpose: str, prepare: Callable[[str], str] = str, kept: Path | None = None) -> Any:
    """The value in a YAML file, whose text goes through `prepare` first; the folder `kept` may have it. Raises
    ConfigurationError with the position, and for what a script wrote in this run."""
    text = prepare(text_of(path, purpose))
    if kept is None:
        return _read_yaml(path, purpose, text)
    from runner.application.kept_yaml import KeptYaml

    return KeptYaml(kept).value(text, lambda: _read_yaml(path, purpose, text))


def _read_yaml(path: Path, purpose: str, text: str) -> Any:
    import yaml

    try:
        loader = yaml_loader()(text)
        node = loader.get_single_node()
        for again in repeated_yaml_keys(loader, node, lambda key: (type(key) is str, key)):
            where, before = (f"{path}:{place}" for place in (again.place, again.first))
            raise ConfigurationError(f"Cannot read {purpose} {where}: {given_twice(again.key, before)}", again.hint)
        return None if node is None else loader.construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f":{place_of(mark)}" if mark else ""
        problem = in_words(error)
        raise ConfigurationError(f"Cannot read {purpose} {path}{where}: {problem}", "It must be YAML") from error
    except RecursionError as error:
        raise ConfigurationError(f"Cannot read {purpose} {path}: it is nested too deeply") from error


def line_in_yaml(path: Path, index: int) -> int:
    """The line of an item of the list in a file that `read_yaml` can read as it is."""
    return place_of(yaml_loader()(read_text(path)).get_single_node().value[index]).line


def in_words(error: Any) -> str:
    """The problem in a `yaml.YAMLError`, as text."""
    problem = getattr(error, "problem", None) or getattr(error, "context", None) or str(error).partition("\n")[0]
    return _SAID.get(problem, problem)


@cache
def yaml_loader() -> Any:
    """A loader of PyYAML that reads as Yao does: `yes`, `no`, `on`, `off` and dates are texts. Aliases must not expand
    to much more than what is written. What JSON cannot hold is refused where it stands.

    It raises `yaml.YAMLError`, also if aliases expand too much, and RecursionError if the document is nested too
    deeply. Its nodes are made in Python, because the implementation in C crashes then."""
    import yaml
    from yaml.composer import Composer

    from bindings.processes.formats import resolve_like_yao

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(*(base,) if issubclass(base, Composer) else (Composer, base)):  # type: ignore[misc]
        def __init__(self, stream: Any) -> None:
            base.__init__(self, stream)
            Composer.__init__(self)
            self._values = self._aliased = 0
            self._sizes: dict[yaml.Node, int] = {}

        def compose_node(self, parent: Any, index: Any) -> Any:
            event: Any = self.peek_event()
            before = self._values
            node: Any = Composer.compose_node(self, parent, index)
            if not isinstance(event, yaml.AliasEvent):
                self._values += 1
                if event.anchor is not None:
                    self._sizes[node] = self._values - before
                return node
            size = self._sizes.get(node, 0)
            self._values += size
            self._aliased += size
            place: Any = event.start_mark
            if not size or self._aliased > ALIASED + ALIASED_BY_CHARACTER * place.index:
                why = "its aliases expand to too many values" if size else "an alias refers to a value that contains it"
                raise yaml.composer.ComposerError(None, None, why, place)
            return node

    tag = "tag:yaml.org,2002:"
    resolve_like_yao(Loader)
    for letter, resolvers in Loader.yaml_implicit_resolvers.items():
        Loader.yaml_implicit_resolvers[letter] = [row for row in resolvers if row[0] != f"{tag}timestamp"]
    for kind in ("bool", "int", "float"):
        Loader.add_constructor(tag + kind, _scalar(kind, getattr(base, f"construct_yaml_{kind}")))
    for kind in ("binary", "set", "timestamp"):
        Loader.add_constructor(tag + kind, _refused(f"a value of !!{kind} {_NO_VALUE}"))
    return Loader


def repeated_yaml_keys(loader: Any, document: Any, same: Callable[[Any], Any]) -> Iterator[RepeatedKey]:
    """The keys that occur twice in a mapping of a composed document. Keys that `<<` merges in do not count. `same`:
    returns what two equal keys have in common; raises TypeError or ValueError for a value that cannot be a key."""
    import yaml

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
                hint = MERGE_ONCE if key.value == "<<" else KEEP_ONE
                yield RepeatedKey(key=str(key.value), place=place_of(key), first=place_of(before), hint=hint)


def place_of(at: Any) -> Position:
    """Where a YAML node begins, or a mark of the YAML library is, which counts from 0."""
    mark = getattr(at, "start_mark", at)
    return Position(line=mark.line + 1, column=mark.column + 1)


def text_of(path: Path, purpose: str, is_data: bool = False) -> str:
    """The text of a file. Raises ConfigurationError, also for what a script wrote in this run, unless it `is_data`."""
    if not is_data and written_files.refuse(path):
        raise by_script(f"Cannot use {purpose} {path}")
    try:
        return read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigurationError(f"Cannot read {purpose} {path}: {why}") from error


def _refused(problem: str) -> Callable[[Any, Any], NoReturn]:
    import yaml

    def refuse(_: Any, node: Any) -> NoReturn:
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)

    return refuse


def _scalar(kind: str, construct: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A constructor that refuses a text which is not of the kind that its tag says, such as `!!int x`, and what JSON
    has no number for."""

    def checked(loader: Any, node: Any) -> Any:
        try:
            value = construct(loader, node)
        except (ValueError, LookupError, AttributeError):
            problem = f'"{node.value[:_SHOWN]}" cannot be read as {kind}'
        else:
            if abs(value) <= sys.float_info.max:
                return value
            is_written = any(letter.isdigit() for letter in node.value)
            problem = f"{node.value[:_SHOWN]} {_TOO_LARGE if is_written else _NO_VALUE}"
        return _refused(problem)(loader, node)

    return checked


def _no_value(written: str) -> Any:
    raise _NumberError(written, _NO_VALUE)


def _finite(written: str) -> float:
    number = float(written)
    if math.isinf(number):
        raise _NumberError(written, _TOO_LARGE)
    return number


def _whole(written: str) -> int:
    _finite(written)
    return int(written)


def _place(text: str, offset: int) -> str:
    return f"{text.count(chr(10), 0, offset) + 1}:{offset - text.rfind(chr(10), 0, offset)}"


def _blank(match: re.Match[str]) -> str:
    """Strings stay; comments and trailing commas become spaces, so that positions stay true."""
    text = match[0]
    return text if text.startswith('"') else re.sub(r"[^\n]", " ", text)


def members_of(text: str) -> Iterator[JsonMember]:
    """The values in valid JSON, each after those in it."""
    open_parts: list[tuple[JsonPath, int, int, bool]] = []
    path: JsonPath = ()
    start: int | None = None
    takes_key = False
    for match in re.finditer(_TOKEN, text):
        token, at = match[0], match.start()
        around = open_parts[-1][2] if open_parts else -1
        if token == ":":
            continue
        if token == ",":
            takes_key = not open_parts[-1][3]
            path = path[:-1] if takes_key else (*path[:-1], int(path[-1]) + 1)
            start = start if takes_key else None
        elif token in ("{", "["):
            takes_key = token == "{"
            open_parts.append((path, at if start is None else start, at, not takes_key))
            path, start = path if takes_key else (*path, 0), None
        elif token in ("}", "]"):
            path, begin, value, _ = open_parts.pop()
            takes_key = False
            around = open_parts[-1][2] if open_parts else -1
            yield JsonMember(path=path, start=begin, value=value, end=match.end(), around=around)
        elif takes_key:
            path, start, takes_key = (*path, str(json.loads(token))), at, False
        else:
            begin = at if start is None else start
            yield JsonMember(path=path, start=begin, value=at, end=match.end(), around=around)


def repeated_keys(text: str) -> list[Repeated]:
    """The keys that occur twice in an object of valid JSON, however they are spelled, in their order in the text. Where
    there are none it takes about ten microseconds a thousand letters."""
    try:
        _DECODER.decode(text)
        return []
    except _RepeatedError:
        keyed = sorted((one for one in members_of(text) if one.path), key=lambda one: one.start)
    found = []
    first: dict[tuple[int, str | int], int] = {}
    for one in keyed:
        begin = first.setdefault((one.around, key := one.path[-1]), one.start)
        if begin != one.start:
            found.append(Repeated(key=str(key), first=begin, again=one.start))
    return found


def given_twice(key: str, before: str) -> str:
    """The message about a key that occurs twice in one object; `before` is its first occurrence."""
    return f'"{key}" is set twice, first at {before}'


def _check(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) != len(pairs):
        raise _RepeatedError


_DECODER = json.JSONDecoder(object_pairs_hook=_check)
