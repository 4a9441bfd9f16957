"""Rules for all modules: names with an underscore, exceptions, and what functions return."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path

from source_modules import ROOT, imports_of, modules, room_of, written

ERRORS = {
    "scripttest": "CompileError GitError HostError MessageError MissingScriptError RefusedFileError ScriptError",
    "scripttest/syntax": "UnreadableError",
    "scripttest/workers": "FunctionError MissingFunctionError",
    "bindings": "PatternError ProcessError SnapshotError",
    "bindings/models": "ModelFileError UnknownColumnsError",
    "runner/security": "UnwrittenError",
    "runner/statistics": "PolicyError",
    "runner": "BrokenError ConfigurationError MissingError RunnerError",
    "runner/connectors": "AnswerTooLarge ConnectorError HttpError",
    "runner/shapes": "Misfit",
    "runner/assertions": "NotEvaluated",
    "runner/cases": "AbsentFilesError",
    "runner/agents/mcp": "ToolError",
    "runner/agents": "AgentError ScriptReferenceError",
    "runner/reporters": "ReportError",
}
"""Room → its exceptions that other rooms know. All others are caught in it."""
UNDERSCORE_MODULES = {"__future__", "_thread", "_quickjs"}
"""Modules whose names begin with an underscore and that are used: the documentation of Python has `_thread`, and
`_quickjs` is the engine."""
UNDERSCORES = {
    "os._exit": "public in spite of its name",
    "runner/cases/reader.py: file._check": "a class method of the same class",
    "scripttest/diagnostics/stack.py: mapper._callees": "a function of the same module",
    "scripttest/diagnostics/stack.py: mapper._locate": "a function of the same module",
    "scripttest/diagnostics/stack.py: mapper._loop": "a function of the same module",
}
"""Underscore name of something else → why it is used all the same."""


def reached_underscores(path: Path) -> Iterator[str]:
    place, found = path.relative_to(ROOT).as_posix(), written(path)
    reached = [
        (alias.name, node.lineno)
        for node in found.imports
        if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("_")
        for alias in node.names
        if alias.name.startswith("_")
    ]
    reached += [
        (f"{owner}.{name}", line) for owner, name, line in found.underscores if owner not in ("self", "cls", "super()")
    ]
    reached += [
        (name, line)
        for name, line in imports_of(path)
        if name.startswith("_") and name.partition(".")[0] not in UNDERSCORE_MODULES
    ]
    for name, line in reached:
        if name not in UNDERSCORES and f"{place}: {name}" not in UNDERSCORES:
            yield f"{place}:{line}: {name}"


def test_nobody_reaches_for_underscore_names() -> None:
    """What begins with an underscore belongs to its module and its object. Only `self`, `cls` and `super()` reach it."""
    assert [problem for path in modules() for problem in reached_underscores(path)] == []


def exceptions() -> dict[str, str]:
    """The exception classes of this project, each with its room."""
    rooms: dict[str, str] = {}
    known = {name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, Exception)}
    while True:
        before = len(rooms)
        for path in modules():
            for name, bases in written(path).classes:
                if known.intersection(bases):
                    known.add(name)
                    rooms[name] = room_of(path)
        if len(rooms) == before:
            return rooms


def test_few_exceptions_leave_a_room() -> None:
    """Those of the table, which the page on architecture has too."""
    known = exceptions()
    left: dict[str, set[str]] = {}
    for path in modules():
        for node in written(path).imports:
            names = [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                if known.get(name, room_of(path)) != room_of(path):
                    left.setdefault(known[name], set()).add(name)
    assert {room: " ".join(sorted(names)) for room, names in left.items()} == ERRORS
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    section = page.partition("\n## Exceptions\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w/]+)` \| (.*?) \|", section, re.M)
    assert {room: " ".join(sorted(re.findall(r"`(\w+)`", names))) for room, names in rows} == ERRORS


def test_nothing_is_returned_beside_the_reason_why_it_is_not_there() -> None:
    """What fails a test is a `Failure`, and no pair of a cause and a text; an exception is raised, or is the answer."""
    wrong = [
        f"{path.relative_to(ROOT)}: {name} -> {returns}"
        for path in modules()
        for name, returns in written(path).functions
        if re.match(r"tuple\[.*\b(Cause|\w+Error)\b", returns)
    ]
    assert wrong == []


def test_records_are_values() -> None:
    """Built by keyword, and never taken apart by position."""
    sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in modules()}
    assert [place for place, text in sources.items() if re.search(r"\bNamedTuple\b|\bnamedtuple\b", text)] == []


def test_a_possessive_group_ends_where_its_last_round_began() -> None:
    """Before Python 3.11.5 `(?:ab?c)*+` goes on behind what its last round read in vain. It goes on at the right place
    when the last alternative fails at once: `(?:ab?c|(?!))*+`; or has no repeat in it, as in texts: `[^"]|\\.`."""
    group = re.compile(r"(?<!\|\(\?!\))(?<!\\\.)\)(?:[*+?]|\{+[0-9,]+\}+)\+")
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in modules()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if group.search(line)
    ]
    assert wrong == []
