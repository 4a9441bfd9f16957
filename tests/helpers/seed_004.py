"""The application in `tests/apps/seed_004`, and what the seed says about its output."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from command import Application

ROOT = Path(__file__).parents[2]
APP = ROOT / "tests/apps/seed_004"
DOUBLE = "═" * 79
SINGLE = "─" * 79
HEADER = f"""\
{DOUBLE}
  Script Test: scripts.expense.setup
{DOUBLE}
  Script: expense/src/setup_test.ts
  Tests: 6 functions
  User: test-user
  Team: test-team
{SINGLE}
  Running Tests
{SINGLE}
"""
ASSERTIONS = {
    "True": ("1 === 1", "1 === 2"),
    "False": ("1 === 2", "1 === 1"),
    "Equal": ("{ a: [1] }, { a: [1] }", "{ a: [1] }, { a: [2] }"),
    "NotEqual": ("[1, 2], [2, 1]", "[1, 2], [1, 2]"),
    "Nil": ("undefined", "0"),
    "NotNil": ("0", "null"),
    "Contains": ('"expense", "pens"', '"expense", "pencil"'),
    "NotContains": ('"expense", "pencil"', '"expense", "pens"'),
    "Len": ("[1, 2], 2", '"abc", 2'),
    "Greater": ("2, 1", "2, 2"),
    "GreaterOrEqual": ("2, 2", "1, 2"),
    "Less": ("1, 2", "2, 2"),
    "LessOrEqual": ("2, 2", "2, 1"),
    "Error": ('new Error("late")', "null"),
    "NoError": ("undefined", 'new Error("late")'),
    "Panic": ('() => { throw new Error("late"); }', "() => 1"),
    "NoPanic": ("() => 1", '() => { throw new Error("late"); }'),
    "Match": ('"A-1042", "(?i)a-\\\\d+"', '"A-1042", "^\\\\d"'),
    "NotMatch": ('"A-1042", "^\\\\d"', '"A-1042", "(?i)a-\\\\d+"'),
    "JSONPath": ('{ a: [{ b: 1 }] }, "$.a[0].b", 1', '{ a: [{ b: 1 }] }, "a[0].b", 2'),
    "Type": ('[1], "array"', '[1], "object"'),
}
"""Arguments that hold and arguments that do not, of every assertion in the table of the seed."""


def copied(tmp_path: Path) -> Application:
    """A copy of the application in this repository."""
    home = tmp_path / "home"
    home.mkdir()
    shutil.copytree(APP, tmp_path / "app")
    return Application(tmp_path / "app", home)


def without_times(output: str) -> str:
    """Console output with every duration written 0ms."""
    return re.sub(r"\((\d+ms|\d+\.\d\ds)", "(0ms", output)


def shown(own: Application, *arguments: str) -> dict[str, Any]:
    """The context that `TestContextIsShown` saw."""
    record = own.report("-i", "scripts.expense.tools", "--run", "TestContextIsShown", *arguments, code=0)
    (line,) = record["results"][0]["logs"]
    seen: dict[str, Any] = json.loads(line)
    return seen
