"""Names that are there, for callers that must not run anything, such as a shell that completes one: the tests in the
source text of a test file (those that are imported from other files are found only in a run); and what somebody meant
who named a file, a folder, an agent or a test module that is not there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from runner.application.application import Application
from runner.errors import meant_or_listed
from runner.security.files import CASE_FILES, is_closed, is_collected, is_report, is_test, read_text, walk
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


def _lines_of(source: str) -> Iterator[tuple[int, str, bool]]:
    """The number of each line, counted from 1, the line, and whether it is a comment or empty."""
    inside = False
    for number, line in enumerate(source.split("\n"), 1):
        text = line.strip()
        yield number, line, inside or not text or text.startswith(("//", "/*", "*"))
        if text.startswith("/*") or inside:
            inside = "*/" not in text


def functions_in(source: str) -> Iterator[tuple[str, int]]:
    """The tests of a run without `--fuzz` and `--bench`, each once, with their lines, counted from 1."""
    seen = set()
    for number, line, is_comment in _lines_of(source):
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
    for number, line, is_comment in _lines_of(source):
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


_CLOSE = 0.6
"""How alike names must be, as `difflib` measures it."""


def nearest_path(path: str, directory: Path, application: Application | None) -> str | None:
    """The path, as it would be typed in `directory`, that is most like one which does not exist; None if none is like
    it. It is looked for part by part, then among the folders, test files and case files of the application's agents."""
    found = _part_by_part(path, directory)
    if found is not None or application is None:
        return found
    shown = [os.path.relpath(place, directory) for place in _testable(application)]
    tail = f"/{path.strip('./').lower()}"
    ends = [name for name in shown if f"/{name.lower()}".endswith(tail)]
    alike = closest(os.path.basename(path), map(os.path.basename, shown))
    return ends[0] if ends else closest(path, (name for name in shown if os.path.basename(name) == alike))


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like a name, in whatever case; None if none is close to it."""
    from difflib import get_close_matches

    by_lower = {one.lower(): one for one in known}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=_CLOSE)
    return by_lower[close[0]] if close else None


def missing_path_hint(path: str, directory: Path, application: Application | None) -> str | None:
    """A hint for a path that does not exist: the nearest one, else what is in its folder."""
    file, _, test = path.partition("::")
    if test and os.path.exists(directory / file):  # as pytest names a test
        return f"Type: yao-test {file} --run '{test.replace('::', '/')}'"
    near = nearest_path(path, directory, application)
    if near is not None:
        return f'Did you mean "{near}"?'
    parent = (directory / Path(path).expanduser()).parent
    if not parent.is_dir():
        return f"There is no folder {parent}"
    return meant_or_listed("", [name for name in _names(parent) if _may_be_tested(parent, name)])


def _may_be_tested(parent: Path, name: str) -> bool:
    if is_test(name) or (name.lower().endswith(CASE_FILES) and not is_report(name)):
        return True
    return not is_closed(name) and os.path.isdir(parent / name)


def _part_by_part(path: str, directory: Path) -> str | None:
    typed, place = "/" if path.startswith("/") else "", directory / ("/" if path.startswith("/") else "")
    for part in path.split("/"):
        if part and not os.path.lexists(place / part):
            near = closest(part, _names(place))
            if near is None:
                return None
            part = near
        typed, place = typed + (f"{part}/" if part else ""), place / part
    return typed.rstrip("/") or None


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _testable(application: Application) -> list[str]:
    found = []
    for folder in walk(application.assistants, root=application.root) if application.assistants.is_dir() else ():
        names = [name for name in folder.files if is_test(name) or is_collected(f"{folder.path}/{name}")]
        found += [folder.path, *(f"{folder.path}/{name}" for name in names)]
    return found
