r"""What authors, scripts and models write to search with: regular expressions and JSONPath, in bounded time.

Regular expressions are Go's, by RE2 itself (https://github.com/google/re2/wiki/Syntax), which searches in time that is
linear in the text, whatever the pattern. What C++ takes and Go does not is refused here: `\C`, a group name that is
used twice, `(?)`.

JSONPath is for `t.assert.JSONPath` and the `json_path` assertion. Plain paths (names, indexes and quoted names, with or
without `$` at the beginning) are evaluated here: `$.a.b[0].c`, `a.b`, `user-name`, `items[-1]` (from the end),
`$["a b"]`, `items.0`. All other paths (`..`, `*`, slices, unions, filters) are evaluated by jsonpath-ng, with limits on
memory and time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from scripttest.typing_names import Json

MAX_LENGTH = 10_000
"""Longest pattern, in characters."""
_GROUPS = {
    "(?=": "look-ahead",
    "(?!": "look-ahead",
    "(?<=": "look-behind",
    "(?<!": "look-behind",
    "(?>": "an atomic group",
    "(?#": "a comment",
    "(?(": "a conditional group",
    "(?|": "a branch reset",
    "(?R": "recursion",
    "(?&": "recursion",
    "(?P>": "recursion",
    "(?P=": "a back-reference",
}
"""Groups of other dialects → what they are."""
_REASONS = {
    "invalid perl operator": "unknown group or flag",
    "invalid escape sequence": "unknown escape `{}`",
    "no argument for repetition operator": "nothing to repeat before `{}`",
    "bad repetition operator": "a nested repetition `{}` is not supported",
    "invalid repetition size": "a repetition count over 1000, or an invalid one `{}`",
    "missing ]": "missing `]` for the character class",
    "invalid character class range": "unknown character class or invalid range `{}`",
    "invalid named capture group": "invalid group name",
    "trailing \\": "a single `\\` at the end",
    "pattern too large - compile failed": "its repetitions make it too large",
}
"""Errors of RE2 → what they mean, with the part of the pattern."""
_ECMA = (r"\k", r"\u", r"\b")
"""Escapes of ECMA-262 that RE2 does not have, the last one within a class."""
_TOKEN = re.compile(
    r"\\Q.*?(?:\\E|\Z)|(?P<byte>\\C)|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]"
    r"|\(\?P?<(?P<name>\w+)>|(?P<flags>\(\?\))|(?P<bracket>[()])",
    re.DOTALL,
)
"""What Go takes otherwise than RE2 in C++, brackets, and what may look like these."""


class PatternError(ValueError):
    """A pattern that Go would refuse; `position` counts characters from 0, and is None where it is not known.
    `is_ecma` says that what Go lacks is part of ECMA-262."""

    def __init__(self, reason: str, pattern: str, position: int | None, is_ecma: bool = False) -> None:
        where = "" if position is None else f" at position {position}"
        shown = pattern if len(pattern) <= 200 else pattern[:200] + "..."
        super().__init__(f"Cannot use pattern `{shown}`: {reason}{where}")
        self.reason = reason
        self.pattern = pattern
        self.position = position
        self.is_ecma = is_ecma


class Pattern:
    """A pattern that Go accepts. A search may run in several threads."""

    def __init__(self, source: str, program: Any) -> None:
        self.source = source
        self._program = program

    def search(self, text: str) -> bool:
        """Whether the pattern matches somewhere in the text."""
        return self._program.search(_utf8(text)) is not None

    def groups(self, text: str) -> dict[str, str | None] | None:
        """The groups of the first match, by number (`"0"` is the whole match) and by name. A group that did not take
        part is None. If nothing matches, the result is None."""
        match = self._program.search(_utf8(text))
        if match is None:
            return None
        found = [None if group is None else group.decode() for group in (match.group(), *match.groups())]
        names = {name.decode(): number for name, number in self._program.groupindex.items()}
        return {str(number): group for number, group in enumerate(found)} | {
            name: found[number] for name, number in names.items()
        }


@lru_cache(500)
def compile(pattern: str) -> Pattern:
    """Reads a pattern, as for `--run`: it is searched for, not anchored. Raises PatternError: Go would not accept
    it, or it is too long or too large."""
    if len(pattern) > MAX_LENGTH:
        raise PatternError(f"it is longer than {MAX_LENGTH} characters", pattern, None)
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        program = re2.compile(_utf8(pattern), options)
    except re2.error as error:
        raise _refused(pattern, error.args[0].decode("utf-8", "replace")) from error
    _check_as_go(pattern)
    return Pattern(pattern, program)


def search(pattern: str, text: str) -> bool:
    """`compile(pattern).search(text)`."""
    return compile(pattern).search(text)


def _utf8(text: str) -> bytes:
    """Half a surrogate pair is U+FFFD, as in Go."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _refused(pattern: str, error: str) -> PatternError:
    kind, _, part = error.partition(": ")
    if kind == "invalid perl operator":
        group = next(
            (one for one in _GROUPS if one in pattern and (one.startswith(part) or part.startswith(one))), None
        )
        if group is not None:
            reason = f"{_GROUPS[group]} `{group}` is not supported"
            return PatternError(reason, pattern, pattern.find(group), _GROUPS[group].startswith("look-"))
    if kind in ("missing )", "unexpected )"):
        return _unbalanced(pattern)
    position = pattern.find(part) if part and pattern.count(part) == 1 else None
    if kind == "invalid escape sequence" and part[1:2].isdigit():
        return PatternError(f"back-reference `{part}` is not supported", pattern, position, is_ecma=True)
    if kind == "bad repetition operator" and part.endswith("+"):
        return PatternError(f"possessive repetition `{part}` is not supported", pattern, position)
    is_ecma = part in _ECMA or kind == "invalid repetition size"
    return PatternError(_REASONS.get(kind, kind).format(part), pattern, position, is_ecma)


def _unbalanced(pattern: str) -> PatternError:
    opened = []
    for token in _TOKEN.finditer(pattern):
        if token["bracket"] == "(" or token["name"] is not None:
            opened.append(token.start())
        elif token["bracket"] and not opened:
            return PatternError("unexpected `)`", pattern, token.start())
        elif token["bracket"]:
            opened.pop()
    return PatternError("missing `)` for the group", pattern, opened[-1] if opened else None)


def _check_as_go(pattern: str) -> None:
    names = set()
    for token in _TOKEN.finditer(pattern):
        if token["byte"] is not None:
            raise PatternError(r"unknown escape `\C`", pattern, token.start())
        if token["flags"] is not None:
            raise PatternError("missing flag", pattern, token.start())
        if token["name"] is not None and token["name"] in names:
            raise PatternError(f'group name "{token["name"]}" is used twice', pattern, token.start())
        names.add(token["name"])


MAX_PATH = 2000
"""Longest path, in characters."""
MAX_WORK = 300_000
"""Most values that a path may have to look at, as estimated beforehand."""

_STEP = re.compile(
    r"""
    (?: \.? \[ \s* (?: (?P<index> -?\d{1,15} ) | '(?P<single> [^'\\]* )' | "(?P<double> [^"\\]* )" ) \s* \]
      | \. (?P<name> [^\s.\[\]()'"`*?@$,:|&!=<>~+/\\]+ )
    )
    """,
    re.VERBOSE,
)


class JsonPathError(ValueError):
    """A path that cannot be read, or that is too much work for the value."""

    def __init__(self, path: str, reason: str) -> None:
        shown = path if len(path) <= 200 else path[:200] + "..."
        super().__init__(f"Cannot use JSONPath `{shown}`: {reason}")
        self.path = path
        self.reason = reason


def find(value: Json, path: str) -> list[Json]:
    """All values that a path matches, in document order; none if it matches nothing. Raises JsonPathError: the path
    is not a JSONPath, or takes too much work for this value."""
    steps = _plain_steps(path)
    if steps is None:
        return [match.value for match in _matches_of(value, path)]
    found = _follow(value, steps)
    return [] if found is None else [found[1]]


def places(value: Json, path: str) -> list[list[str | int]]:
    """The places of all values that a path matches, each as the keys and indexes on the way to it. Raises
    JsonPathError: as `find` does."""
    steps = _plain_steps(path)
    if steps is None:
        return [_place(match) for match in _matches_of(value, path)]
    found = _follow(value, steps)
    return [] if found is None else [found[0]]


def _place(match: Any) -> list[str | int]:
    """The keys and indexes on the way to a match of the library."""
    place: list[str | int] = []
    while match.context is not None:
        path = match.path
        place += path.fields if hasattr(path, "fields") else path.indices if hasattr(path, "indices") else []
        match = match.context
    return place[::-1]


def _plain_steps(path: str) -> list[str | int] | None:
    """Names and indexes of a plain path; None when it is not one. Raises JsonPathError when it is too long."""
    if len(path) > MAX_PATH:
        raise JsonPathError(path, f"it is longer than {MAX_PATH} characters")
    path = path.strip()
    if path == "$":
        return []
    if path.startswith("$"):
        path = path[1:]
    elif path and path[0] not in ".[":
        path = "." + path
    steps: list[str | int] = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            return None
        kind = match.lastgroup or ""
        steps.append(int(match[kind]) if kind == "index" else match[kind])
        at = match.end()
    return steps or None


def _follow(value: Json, steps: list[str | int]) -> tuple[list[str | int], Json] | None:
    """The place that plain steps lead to, and the value there; None when there is none."""
    place: list[str | int] = []
    for step in steps:
        if isinstance(value, list):
            if isinstance(step, str) and not (step.isascii() and step.isdigit() and len(step) < 16):
                return None
            step = int(step)
            if not -len(value) <= step < len(value):
                return None
            step %= len(value)
        elif not (isinstance(value, dict) and isinstance(step, str) and step in value):
            return None
        place.append(step)
        value = value[step]
    return place, value


def _matches_of(value: Json, path: str) -> list[Any]:
    """What the library finds."""
    parse = _library()
    try:
        tree = parse(path)
    except Exception as error:  # the library raises its own errors, and bare ones for bad escapes and functions
        raise JsonPathError(path, _reason(error)) from error
    _check_work(value, path, tree)
    try:
        return list(tree.find(value))
    except RecursionError as error:
        raise JsonPathError(path, "the path or the value is nested too deeply") from error
    except Exception as error:  # comparing or sorting values of different kinds, a pattern that Go refuses
        raise JsonPathError(path, _reason(error)) from error


def _library() -> Any:
    from jsonpath_ng.ext import filter as filters
    from jsonpath_ng.ext.parser import parse

    filters.OPERATOR_MAP["=~"] = _matches  # the library's own backtracks
    return parse


def _matches(text: Any, pattern: Any) -> bool:
    return isinstance(text, str) and search(str(pattern), text)


def _reason(error: Exception) -> str:
    text = str(error) or type(error).__name__
    return text[0].lower() + text[1:].rstrip("!.")


def _check_work(value: Json, path: str, tree: Any) -> None:
    """Refuses what costs more than it can be worth: each `..` after the first multiplies the work by the depth."""
    descents, choices = 0, 1
    for node in _nodes(tree):
        kind = type(node).__name__.strip("_")
        if kind in ("Operation", "Sub"):
            raise JsonPathError(path, "arithmetic and sub() are not supported")
        descents += kind == "Descendants"
        choices *= 2 if kind == "Union" else max(len(getattr(node, "fields", ())), len(getattr(node, "indices", ())), 1)
        if choices > MAX_WORK:
            raise JsonPathError(path, "too many alternatives")
    count, depth = _measure(value)
    if descents > 8 or count * choices * depth ** max(descents - 1, 0) > MAX_WORK:
        raise JsonPathError(path, f"too slow for a value with {count} parts")


def _nodes(tree: Any) -> Iterator[Any]:
    """Every node of a parsed path, filters included."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (list, tuple)):
            waiting.extend(node)
        elif type(node).__module__.startswith("jsonpath_ng"):
            yield node
            waiting.extend(vars(node).values())


def _measure(value: Json) -> tuple[int, int]:
    """How many values are in a value, itself included, and how deeply they are nested."""
    count = depth = 0
    level = [value]
    while level:
        count += len(level)
        depth += 1
        level = [
            child
            for item in level
            if isinstance(item, (list, dict))
            for child in (item.values() if isinstance(item, dict) else item)
        ]
    return count, depth
