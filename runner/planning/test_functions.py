"""Finds the tests in the source text of a test file, for callers that must not run it, such as a shell that completes a
name. Tests that are imported from other files are found only in a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from runner.security.files import read_text
from scripttest import EVERY_RUN, kind_of
from scripttest.values import Value

_FUNCTION = re.compile(
    r"(?:\s*export\s+)?(?:default\s+)?"
    r"(?:(?:async\s+)?function\b\s*\*?\s*|(?:const|let|var)\s+(?![^=]*=\s*[\"'`\d\[{]))([A-Za-z][\w$]*)"
)


def function_of(line: str) -> str:
    """The name of the test that begins in a line; empty: none does."""
    found = _FUNCTION.match(line)
    return found[1] if found and found[1] != "TestMain" and kind_of(found[1]) else ""


def comments_in(lines: list[str]) -> list[bool]:
    """Which lines are comments or empty."""
    found = []
    inside = False
    for line in lines:
        text = line.strip()
        found.append(inside or not text or text.startswith(("//", "/*", "*")))
        if text.startswith("/*") or inside:
            inside = "*/" not in text
    return found


def functions_in(source: str) -> Iterator[tuple[str, int]]:
    """The tests of a run without `--fuzz` and `--bench`, each once, with their lines, counted from 1."""
    lines = source.split("\n")
    seen = set()
    for number, (line, is_comment) in enumerate(zip(lines, comments_in(lines), strict=True), 1):
        name = "" if is_comment else function_of(line)
        if kind_of(name) in EVERY_RUN and name not in seen:
            seen.add(name)
            yield name, number


def names_in(files: Iterable[Path]) -> Iterator[str]:
    """The names of the tests of these files; those that cannot be read have none."""
    for file in files:
        try:
            source = read_text(file, "replace")
        except OSError:
            continue
        yield from (name for name, _ in functions_in(source))


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
