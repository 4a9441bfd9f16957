"""The `--run` filter, as in `go test -run`: alternatives that bars part, each with a pattern for every level of a name,
which slashes part; bars and slashes inside brackets belong to a pattern (`splitRegexp` in Go's `testing/match.go`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from runner.errors import ConfigurationError
from scripttest.values import Value

_PLAIN = re.compile(r"[\w^$.*|-]*")
"""Patterns that mean the same to every engine and cannot run away; the RE2-style one takes longer to load than a
test."""

Levels = tuple[str, ...]
"""The patterns of an alternative."""


class Match(Value):
    """A test or subtest that is to run."""

    partly: bool
    """Only for the sake of subtests below it."""


class Filter:
    """What `--run` selects among tests and subtests."""

    def __init__(self, text: str, flag: str = "--run") -> None:
        """Raises ConfigurationError, which names the flag, when a pattern is invalid."""
        self.text = text
        self._alternatives = [[matcher(level, flag) for level in levels] for levels in alternatives_of(text)]

    @property
    def names_subtests(self) -> bool:
        """Whether a pattern selects among subtests."""
        return any(len(levels) > 1 for levels in self._alternatives)

    def match(self, name: str) -> Match | None:
        """How `TestX` or `TestX/subtest` is selected; None when it is not."""
        parts = name.split("/")
        for levels in self._alternatives:
            if all(matches(part) for matches, part in zip(levels, parts, strict=False)):
                return Match(partly=len(parts) < len(levels))
        return None


def alternatives_of(text: str) -> list[Levels]:
    """The patterns of `--run`; blanks become underscores, as in the names of subtests."""
    alternatives = [[""]]
    in_class = in_group = 0
    for letter in re.findall(r"\\.?|.", text.replace(" ", "_"), re.DOTALL):
        if letter in ("/", "|") and not in_class and not in_group:
            if letter == "|":
                alternatives.append([""])
            else:
                alternatives[-1].append("")
            continue
        alternatives[-1][-1] += letter
        if letter == "[":
            in_class += 1
        elif letter == "]":
            in_class = max(0, in_class - 1)
        elif letter in ("(", ")") and not in_class:
            in_group += 1 if letter == "(" else -1
    for levels in alternatives:
        while len(levels) > 1 and not levels[-1]:  # `TestX/` names no subtest
            levels.pop()
    return [tuple(levels) for levels in alternatives]


def matcher(pattern: str, flag: str = "--run") -> Callable[[str], bool]:
    """A test for names, searching anywhere in them. Raises ConfigurationError, which names the flag, when the
    pattern is invalid."""
    if _PLAIN.fullmatch(pattern) and not re.search(r"(^|[*|^])\*", pattern):
        search = re.compile(pattern).search
        return lambda name: search(name) is not None
    from bindings import PatternError, compile

    try:
        compiled = compile(pattern)
    except PatternError as error:
        raise ConfigurationError(
            f'Cannot read {flag} "{pattern}": {error}', "It is a Go (RE2) regular expression"
        ) from error
    return compiled.search


def pattern_of(tests: Iterable[str]) -> str:
    """The value of `--run` that runs these tests of a suite, by their names."""
    return "|".join(f"^{_escaped(test)}$" for test in tests)


def _escaped(name: str) -> str:
    """A pattern of `--run` that matches a name. Spaces are `_` there, so any character is accepted for them, and for
    those that cannot be seen."""

    def escaped(letter: str) -> str:
        if letter == "\n":
            return r"\n"
        if letter in " /" or not letter.isprintable():
            return "."
        return f"\\{letter}" if letter.isascii() else letter

    return re.sub(r"[^\w-]", lambda match: escaped(match[0]), name)
