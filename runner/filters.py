"""The `--run` filter: one pattern a level, separated by slashes outside brackets, as in `go test -run`."""

from __future__ import annotations

import re
from collections.abc import Callable

from runner.errors import ConfigurationError

_PLAIN = re.compile(r"[\w^$.*|-]*")
"""Patterns that mean the same to every engine and cannot run away; the RE2-style one takes longer to load than a
test."""


def levels_of(pattern: str) -> tuple[str, ...]:
    """The patterns of the levels; blanks become underscores, as in the names of subtests."""
    parts, depth, current = [], 0, ""
    for letter in pattern.replace(" ", "_"):
        depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(letter, 0)
        if letter == "/" and depth <= 0:
            parts.append(current)
            current = ""
        else:
            current += letter
    return (*parts, current)


def matcher(pattern: str) -> Callable[[str], bool]:
    """A test for names, searching anywhere in them. Raises ConfigurationError when the pattern is invalid."""
    if _PLAIN.fullmatch(pattern) and not re.search(r"(^|[*|^])\*", pattern):
        search = re.compile(pattern).search
        return lambda name: search(name) is not None
    from bindings import PatternError, compile

    try:
        compiled = compile(pattern)
    except PatternError as error:
        raise ConfigurationError(
            f'Cannot read --run "{pattern}": {error}', "It is a Go (RE2) regular expression"
        ) from error
    return compiled.search
