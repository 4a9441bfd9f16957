"""The tools that are compared: which files each needs, how it is called, and how its output says what it ran.

Every tool gets its fastest usual setup. Tools from npm are called directly, without npm or npx; deno and bun are
called in their platform packages, so that no install script has to run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from workloads import Dialect, Workload, write_workload

HERE = Path(__file__).resolve().parent
NODE_MODULES = HERE / "node_modules"


class BenchError(Exception):
    """The benchmark cannot be run, or a tool did not do its work."""


class Tool(NamedTuple):
    """One tool."""

    name: str
    program: Callable[[], list[str]]
    """How the command begins."""
    flags: tuple[str, ...]
    dialect: Dialect
    patterns: tuple[str, ...]
    """All have to match the output; `{tests}` and `{modules}` are what must have run."""
    version: Callable[[], str]
    prepare: Callable[[Path], None] = lambda folder: None
    """Writes what else belongs into the folder."""
    sources: str = "."
    """Where the modules are, below the folder."""
    inputs: Callable[[Workload], list[str]] = lambda workload: []
    """How the command ends."""

    def command(self, workload: Workload) -> list[str]:
        """The command for a workload, to be run in the folder of the files."""
        return [*self.program(), *self.flags, *self.inputs(workload)]

    def write(self, folder: Path, workload: Workload, broken: bool = False) -> None:
        """Writes all files of a workload."""
        write_workload(folder / self.sources, self.dialect, workload, broken)
        self.prepare(folder)

    def mismatch(self, output: str, workload: Workload) -> str | None:
        """What is missing in the output of a run in which every test must pass, or None."""
        for pattern in self.patterns:
            wanted = pattern.format(tests=workload.total, modules=workload.modules)
            if not re.search(wanted, output, re.MULTILINE):
                return wanted
        return None


_YAO = Dialect(
    test_file="{}_test.ts",
    head="",
    imports='import {{ total, summary, label }} from "./{}";\n',
    test="export {async}function {name}(t: testing.T, ctx: agent.Context) {{\n{body}\n}}\n",
    equal="t.assert.Equal({0}, {1});",
    deep="t.assert.Equal({0}, {1});",
    contains="t.assert.Contains({0}, {1});",
    true="t.assert.True({0});",
    throws="t.assert.Panic(() => {0});",
    language="typescript",
)
_NODE = Dialect(
    test_file="{}.test.js",
    head='const test = require("node:test");\nconst assert = require("node:assert");\n',
    imports='const {{ total, summary, label }} = require("./{}");\n',
    test='test("{title}", {async}() => {{\n{body}\n}});\n',
    equal="assert.strictEqual({0}, {1});",
    deep="assert.deepStrictEqual({0}, {1});",
    contains="assert.ok({0}.includes({1}));",
    true="assert.ok({0});",
    throws="assert.throws(() => {0});",
)
_STRIPPED = _NODE._replace(
    test_file="{}.test.ts",
    head='import test from "node:test";\nimport assert from "node:assert";\n',
    imports='import {{ total, summary, label }} from "./{}.ts";\n',
    language="typescript",
)
_JEST = _NODE._replace(
    head="",
    equal="expect({0}).toBe({1});",
    deep="expect({0}).toEqual({1});",
    contains="expect({0}).toContain({1});",
    true="expect({0}).toBe(true);",
    throws="expect(() => {0}).toThrow();",
)
_ESM_IMPORT = 'import {{ total, summary, label }} from "./{}.js";\n'
_VITEST = _JEST._replace(head='import { expect, test } from "vitest";\n', imports=_ESM_IMPORT, language="esm")
_BUN = _VITEST._replace(head='import { expect, test } from "bun:test";\n')
_DENO = _NODE._replace(
    head='import assert from "node:assert";\n',
    imports=_ESM_IMPORT,
    test=_NODE.test.replace("test(", "Deno.test("),
    language="esm",
)


def all_tools(yao_test: str | None = None, node: str | None = None) -> dict[str, Tool]:
    """Every tool by name; nothing is looked up before it is used.

    Args:
        yao_test: the command to measure; None takes the one beside this interpreter, else the one on PATH.
        node: the Node.js to use; None takes the one of the lock file, else the one on PATH.
    """
    tools = (
        Tool(
            name="yao-test",
            program=lambda: [_yao_test(yao_test)],
            flags=(),
            dialect=_YAO,
            patterns=(r"Summary: {tests} passed, 0 failed, 0 skipped \(\S+\)(?: in {modules} modules)?$",),
            version=lambda: _version([_yao_test(yao_test), "--version"]),
            prepare=lambda folder: _put(folder / "assistants/bench/package.yao", {"name": "bench"}),
            sources="assistants/bench/src",
            inputs=lambda workload: ["-i", "scripts.bench.calc" if workload.modules == 1 else "scripts.bench.*"],
        ),
        Tool(
            name="node",
            program=lambda: [_node(node)],
            flags=("--test",),
            dialect=_NODE,
            patterns=(r"^[#ℹ] tests {tests}$", r"^[#ℹ] pass {tests}$", r"^[#ℹ] fail 0$"),
            version=lambda: _version([_node(node), "--version"]),
            prepare=lambda folder: _put(folder / "package.json", {"private": True}),
        ),
        Tool(
            name="node-shared",
            program=lambda: [_node(node)],
            flags=("--test", "--test-isolation=none"),
            dialect=_STRIPPED,
            patterns=(r"^[#ℹ] tests {tests}$", r"^[#ℹ] pass {tests}$", r"^[#ℹ] fail 0$"),
            version=lambda: _version([_node(node), "--version"]),
            prepare=lambda folder: _put(folder / "package.json", {"private": True, "type": "module"}),
        ),
        Tool(
            name="jest",
            program=lambda: [_node(node), _script("jest", "bin/jest.js")],
            flags=("-w", "2"),
            dialect=_JEST,
            patterns=(r"^Tests: +{tests} passed, {tests} total$", r"^Test Suites: +{modules} passed, {modules} total$"),
            version=lambda: _npm_version("jest"),
            prepare=_prepare_jest,
        ),
        Tool(
            name="vitest",
            program=lambda: [_node(node), _script("vitest", "vitest.mjs")],
            flags=("run",),
            dialect=_VITEST,
            patterns=(r"^ *Tests +{tests} passed \({tests}\)$", r"^ *Test Files +{modules} passed \({modules}\)$"),
            version=lambda: _npm_version("vitest"),
            prepare=_prepare_vitest,
        ),
        Tool(
            name="deno",
            program=lambda: [_binary("@deno/*/deno*")],
            flags=("test", "--parallel"),
            dialect=_DENO,
            patterns=(r"^ok \| {tests} passed \| 0 failed",),
            version=lambda: _npm_version("deno"),
        ),
        Tool(
            name="bun",
            program=lambda: [_binary("@oven/bun-*/bin/bun*")],
            flags=("test",),
            dialect=_BUN,
            patterns=(r"^ *{tests} pass$", r"^ *0 fail$", r"^Ran {tests} tests? across {modules} files?"),
            version=lambda: _npm_version("bun"),
        ),
    )
    return {tool.name: tool for tool in tools}


def environment(folder: Path) -> dict[str, str]:
    """The environment that every command gets: nothing of the user's settings but where Python finds packages, caches
    inside `folder`."""
    python_path = {"PYTHONPATH": path} if (path := os.environ.get("PYTHONPATH")) else {}
    return {
        **python_path,
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "DENO_DIR": str(folder / "deno"),
        "DENO_NO_UPDATE_CHECK": "1",
    }


def _put(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def _prepare_jest(folder: Path) -> None:
    settings = {"transform": {}, "watchman": False, "cacheDirectory": "<rootDir>/.jest"}
    _put(folder / "package.json", {"private": True, "jest": settings})


def _prepare_vitest(folder: Path) -> None:
    """Its own node_modules with links to the packages, because vitest keeps a cache there."""
    _put(folder / "package.json", {"private": True, "type": "module"})
    modules = folder / "node_modules"
    modules.mkdir(exist_ok=True)
    for package in NODE_MODULES.iterdir():
        if not package.name.startswith("."):
            (modules / package.name).symlink_to(package)


def _yao_test(named: str | None) -> str:
    beside = Path(sys.executable).parent / "yao-test"
    found = named or (str(beside) if beside.is_file() else shutil.which("yao-test"))
    if found is None or shutil.which(found) is None:
        raise BenchError("Cannot find yao-test: run this with the Python that it is installed in, or use --yao-test")
    return str(Path(found).absolute()) if os.sep in found else found


def _node(named: str | None) -> str:
    """Which one matters: jest takes 2.7 times as long with version 20 as with 26 (200 files)."""
    packaged = [str(path) for path in NODE_MODULES.glob("node-linux-*/bin/node")]
    found = shutil.which(named or next(iter(packaged), "node"))
    if found is None:
        raise BenchError("Cannot find node: install the peers with npm ci --prefix tests/bench")
    return found


def _script(package: str, path: str) -> str:
    script = NODE_MODULES / package / path
    if not script.is_file():
        raise BenchError(f"Cannot find {package}: install the peers with npm ci --prefix tests/bench")
    return str(script)


def _binary(pattern: str) -> str:
    """The first binary of a platform package that runs here."""
    for path in sorted(NODE_MODULES.glob(pattern)):
        try:
            if subprocess.run([path, "--version"], capture_output=True).returncode == 0:
                return str(path)
        except OSError:
            continue
    raise BenchError(f"Cannot find {pattern}: install the peers with npm ci --prefix tests/bench")


def _version(argv: list[str]) -> str:
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    return said.strip().rpartition(" ")[2].removeprefix("v")


def _npm_version(package: str) -> str:
    return str(json.loads((NODE_MODULES / package / "package.json").read_text())["version"])
