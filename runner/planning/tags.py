"""`// @tag smoke slow` above a function of a test file: finds the tags of tests in source text."""

from __future__ import annotations

import re

from runner.planning.test_functions import comments_in, function_of
from scripttest.values import Value

_TAG = re.compile(r"(?://|/?\*+)\s*@tag\s+(.*?)\s*(?:\*/)?")


class Tags(Value):
    """The tags of one test file."""

    of: dict[str, frozenset[str]]
    """Function → its tags, for functions that have some."""
    stray: tuple[tuple[int, str], ...]
    """Line and text of tags that are above no test."""


def tags_in(source: str) -> Tags:
    """Finds the tags in a source text. Between a tag and its function, there may be only comments and empty lines."""
    found: dict[str, frozenset[str]] = {}
    stray: list[tuple[int, str]] = []
    pending: list[tuple[int, str]] = []
    lines = source.split("\n")
    for number, (line, is_comment) in enumerate(zip(lines, comments_in(lines), strict=True), 1):
        text = line.strip()
        if tag := _TAG.fullmatch(text):
            pending.append((number, tag[1]))
        if is_comment or not pending:
            continue
        if test := function_of(text):
            found[test] = frozenset(word for _, words in pending for word in re.split(r"[\s,]+", words) if word)
        else:
            stray += pending
        pending = []
    return Tags(of=found, stray=(*stray, *pending))
