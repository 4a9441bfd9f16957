"""`yao-test types [FOLDER]`: installs the TypeScript declarations into an application."""

from __future__ import annotations

import os
import re
from json import dumps
from pathlib import Path

from runner import exit_codes
from runner.application.application import Application, TestModule, find_root
from runner.commands import tables
from runner.commands.inputs import write_file, writing
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.security.files import read_text

TARGET = "types/yao-test"
PROJECTS = f"{TARGET}/.tests"
"""Where they are, below the root of an application. A pattern of a `tsconfig.json` finds nothing in such a folder."""
APART = f"./{PROJECTS}/apart.json"
MADE = "// Made by: yao-test types\n"
"""The first line of each generated file."""
_UP = "../" * (PROJECTS.count("/") + 1)

_NAME = r"([\w$]+)"
_DECLARED = re.compile(
    r"^(?:[ \t]*(export)\s+(default\s+)?)?(?:declare\s+|abstract\s+|async\s+)*"
    rf"(function|class|const|let|var|enum|namespace|interface|type)\b(?:\s+enum\b)?[\s*]*{_NAME}",
    re.MULTILINE,
)
"""A declaration at the top level: one that is exported, or that begins its line."""
_LIST = re.compile(r"^[ \t]*export\s*(?:type\s*)?\{([^}]*)\}", re.MULTILINE)
_OF_LIST = re.compile(rf"^(?:type\s+)?{_NAME}(?:\s+as\s+{_NAME})?$")
_SYNTAX = re.compile(r"^[ \t]*(?:import\b(?!\s*\()|export\b)", re.MULTILINE)
_TYPES = ("interface", "type", "namespace")
DECLARATIONS = Path(__file__).resolve().parents[2] / "bindings" / "types"
CONFIG = "tsconfig.json"
TSCONFIG = Path(__file__).resolve().parents[1] / "shipped/init/tsconfig.json"
"""The configuration of an application that has none."""


def types(environment: Environment, given: tables.Types) -> int:
    """Writes the files, prints how an editor finds them, and returns the exit code."""
    root = Path(environment.directory, given.folder) if given.folder else _application(environment.directory)
    if not root.is_dir():
        raise ConfigurationError(f"Cannot install declarations into {root}: it is not a folder")
    files = type_files(root)
    old = [path for path, text in files.items() if content_of(root / path) != text]
    left = [path for path in _made(root) if path not in files]
    is_new = not (root / CONFIG).exists()
    for path in [*old, *([CONFIG] if is_new else [])]:
        write_file(root / path, files.get(path) or TSCONFIG.read_text("utf-8"))
    for path in left:
        with writing(root / path):
            (root / path).unlink()
    environment.stdout.write(
        f"Installed {sum(not path.startswith(PROJECTS) for path in files)} files in {root / TARGET}\n"
    )
    if is_new:
        environment.stdout.write(f"Wrote {root / CONFIG}\n")
    for line in lacks(root, files, str(root / CONFIG)):
        environment.stdout.write(f"{line}\n")
    return exit_codes.PASSED


def type_files(root: Path) -> dict[str, str]:
    """All files that an application gets: path from its root → text."""
    declarations = sorted(DECLARATIONS.glob("*.d.ts"))
    return {f"{TARGET}/{path.name}": path.read_text("utf-8") for path in declarations} | projects(Application(root))


def lacks(root: Path, files: dict[str, str], shown: str) -> list[str]:
    """Says what the owner of a `tsconfig.json` has to add to it; `shown` is its path for people."""
    text = content_of(root / CONFIG) or ""
    lines = []
    if TARGET not in text.replace(PROJECTS, ""):
        lines.append(f'Add "{TARGET}" to "include" in {shown} so that editors complete t.assert and ctx')
    tests = [path for path in files if path.startswith(PROJECTS) and path.endswith(".d.ts")]
    if tests and PROJECTS not in text:
        lines.append(
            f'Add "{APART}" to "extends" in {shown}, and {{ "path": "./{PROJECTS}" }} to "references", so that '
            'editors know functions that tests use without importing them. If you have an "exclude" of your own, add '
            "what that file excludes"
        )
    return lines


def _application(directory: Path) -> Path:
    try:
        return find_root(directory)
    except ConfigurationError as error:
        raise ConfigurationError(error.message, "Pass its folder: yao-test types FOLDER") from error


def _made(root: Path) -> list[str]:
    """The generated project files that are there from an earlier call, as paths from the root."""
    found = [path for path in sorted((root / PROJECTS).glob("*")) if (content_of(path) or "").startswith(MADE)]
    return [path.relative_to(root).as_posix() for path in found]


def content_of(path: Path) -> str | None:
    """The text of a file; None when it is not there or cannot be read."""
    try:
        return read_text(path, "replace")
    except OSError:
        return None


def projects(application: Application) -> dict[str, str]:
    """All files of the projects: path from the root of the application → text."""
    root = application.root
    apart: dict[str, TestModule] = {}
    for module in application.modules():
        if module.script is not None and not _imports(content_of(module.test) or "", module.script):
            apart.setdefault(module.id.partition(".")[2], module)
    tests = [_UP + os.path.relpath(module.test, root) for module in apart.values()]
    references = [{"path": f"./{name}.json"} for name in apart]
    solution = {
        "extends": "./apart.json",  # without it, a list of no references is an error
        "compilerOptions": {"composite": True},
        "files": [],
        "references": references,
    }
    files = {"apart.json": _json({"exclude": tests}), "tsconfig.json": _json(solution)}
    for (name, module), test in zip(apart.items(), tests, strict=True):
        assert module.script is not None
        files[f"{name}.json"] = _json(_project(name, test, module))
        files[f"{name}.d.ts"] = MADE + _declarations(module.script, module.test, root)
    return {f"{PROJECTS}/{name}": text for name, text in files.items()}


def _project(name: str, test: str, module: TestModule) -> dict[str, object]:
    options: dict[str, object] = {
        "moduleDetection": "legacy",  # what is neither imported nor exported is a global
        "noImplicitAny": False,
        "noEmit": True,
        "skipLibCheck": True,
    }
    if {module.test.suffix, getattr(module.script, "suffix", "")} & {".js"}:
        options["allowJs"] = True
    return {
        "extends": f"{_UP}tsconfig.json",
        "compilerOptions": options,
        "files": [f"./{name}.d.ts", test],
        "include": [],
        "exclude": [],
    }


def _declarations(script: Path, test: Path, root: Path) -> str:
    """The declarations of the script beside a test, as the text of a declaration file."""
    path = _UP + os.path.relpath(script, root)
    text = content_of(script) or ""
    lines = ['/// <reference path="../index.d.ts" />']
    if not _SYNTAX.search(text):
        return "\n".join([*lines, f'/// <reference path="{path}" />', ""])
    own = {name for _, _, _, name in _DECLARED.findall(content_of(test) or "")}
    exported = {name: of for name, of in _exported(text).items() if name not in own}
    beside = dumps(os.path.splitext(path)[0])
    lines += [f"import * as beside from {beside};", "", "declare global {"]
    lines += [f"  export import {name} = beside.{of};" for name, of in exported.items() if of != "default"]
    for _, _, kind, name in _DECLARED.findall(text):
        if exported.get(name) == "default":
            lines.append(f"  var {name}: typeof beside.default;")
            lines += [f"  type {name} = beside.default;"] * (kind == "class")
        elif name not in exported and name not in own and kind not in _TYPES:
            exported[name] = name
            lines.append(
                f"  {'function ' + name + '(...values: any[])' if kind == 'function' else 'var ' + name}: any;"
            )
    return "\n".join([*lines, "}", ""])


def _exported(text: str) -> dict[str, str]:
    """The names that a script exports, and the name by which each is exported."""
    found = {}
    for is_exported, is_default, _, name in _DECLARED.findall(text):
        if is_exported:
            found[name] = "default" if is_default else name
    for names in _LIST.findall(text):
        for part in re.sub(r"//.*", "", names).split(","):
            if match := _OF_LIST.match(part.strip()):
                found[match[1]] = match[2] or match[1]
    found.pop("default", None)
    return found


def _imports(text: str, script: Path) -> bool:
    """Whether a test imports the script beside it for more than its types."""
    path = rf"""["'][^"']*/{re.escape(script.stem)}(?:\.[jt]s)?["']"""
    return bool(re.search(rf"""^[ \t]*(?:import|export)\s(?!type\s)[^;"']*{path}""", text, re.MULTILINE))


def _json(value: object) -> str:
    return f"{MADE}{dumps(value, indent=2, ensure_ascii=False)}\n"
