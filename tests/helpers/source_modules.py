"""The modules of this project, and what is written in them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
PACKAGES = {
    "scripttest": set(),
    "bindings": {"scripttest"},
    "runner": {"scripttest", "bindings"},
}
"""Package → the packages of this project that it may import."""
FLOORS = {
    "scripttest/__init__.py": "scripttest/__init__",
    "bindings/__init__.py": "bindings/router",
    "bindings/calls.py": "bindings/router",
    "runner/__main__.py": "runner/__main__",
}
"""Modules that stand above the folder in which they are: module → its room. All others belong to their folder."""


class Written(NamedTuple):
    """What the tests look at in a module."""

    imports: list[ast.Import | ast.ImportFrom]
    underscores: list[tuple[str, str, int]]
    """Attributes whose name begins with an underscore: of what, name, line."""
    classes: list[tuple[str, list[str]]]
    """Name, and what it is derived from."""
    functions: list[tuple[str, str]]
    """Name, and what it returns."""
    for_types: set[int]
    """Lines that only type checkers read."""


@cache
def modules() -> list[Path]:
    return sorted(
        path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "node_modules" not in path.parts
    )


@cache
def written(path: Path) -> Written:
    """Each module is read once, for all tests: it takes some seconds for all of them."""
    found = Written([], [], [], [], set())
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.imports.append(node)
        elif isinstance(node, ast.Attribute):
            if node.attr.startswith("_") and not node.attr.endswith("__"):
                found.underscores.append((ast.unparse(node.value), node.attr, node.lineno))
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            found.for_types.update(range(node.lineno, (node.end_lineno or 0) + 1))
        elif isinstance(node, ast.ClassDef):
            found.classes.append((node.name, [ast.unparse(base) for base in node.bases]))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            found.functions.append((node.name, ast.unparse(node.returns)))
    return found


def imports_of(path: Path) -> list[tuple[str, int]]:
    found = []
    for node in written(path).imports:
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        else:
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            found.append((node.module or "", node.lineno))
    return found


MODULES = {
    path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__"): path
    for path in modules()
}


def room_of(path: Path) -> str:
    return FLOORS.get(path.relative_to(ROOT).as_posix(), path.parent.relative_to(ROOT).as_posix())


def imported_modules(path: Path) -> list[tuple[str, int]]:
    """The modules of this project that a module imports; `from package import module` counts as the module."""
    found = []
    for node in written(path).imports:
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        else:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = names & MODULES.keys()
            found += [(name, node.lineno) for name in sorted(modules)]
            if names != modules:
                found.append((node.module or "", node.lineno))
    return [(name, line) for name, line in found if name.partition(".")[0] in PACKAGES]
