r"""Go's regular expressions, by RE2 itself: `compile` is for every pattern that an author, a script or a model writes.

RE2 has the syntax of Go (https://github.com/google/re2/wiki/Syntax) and searches in time that is linear in the text,
whatever the pattern. What C++ takes and Go does not is refused here: `\C`, a group name that is used twice, `(?)`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

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


def compile(pattern: str) -> Pattern:
    """Reads a pattern, as for `--run`: it is searched for, not anchored. Raises PatternError: Go would not accept
    it, or it is too long or too large."""
    known = _compiled.get(pattern)
    if known is None:
        if len(pattern) > MAX_LENGTH:
            raise PatternError(f"it is longer than {MAX_LENGTH} characters", pattern, None)
        import re2

        try:
            program = re2.compile(_utf8(pattern), _options())
        except re2.error as error:
            raise _refused(pattern, error.args[0].decode("utf-8", "replace")) from error
        _check_as_go(pattern)
        if len(_compiled) >= 500:
            _compiled.clear()
        known = _compiled[pattern] = Pattern(pattern, program)
    return known


def search(pattern: str, text: str) -> bool:
    """`compile(pattern).search(text)`."""
    return compile(pattern).search(text)


_compiled: dict[str, Pattern] = {}


@cache
def _options() -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    return options


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
