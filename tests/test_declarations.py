"""The shipped declarations in `bindings/types`: what they name is there, what is there they name, and their examples run.

The pages `docs/script-api.md` and `docs/assertions.md` are made from them; when one of these tests says that a page is
old, the command at the top of the page makes it again.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command import Application, MakeApplication
from declarations.examples import Example, examples
from declarations.markdown import anchor, compact
from declarations.reader import TYPES, Declaration, load
from declarations.reference import WORTH_TELLING, is_second_name
from table_tests import each

ROOT = Path(__file__).parents[1]
HELPERS = Path(__file__).with_name("declarations")
COMPILER = ROOT / "bindings/node_modules/typescript"
FILES = load()
EXAMPLES = list(examples(FILES.values()))
DECLARATIONS = [declaration for file in FILES.values() for declaration in file.walk()]
BY_PATH = {declaration.path: declaration for declaration in DECLARATIONS if declaration.kind != "var"}
INTERFACES = [declaration for declaration in DECLARATIONS if declaration.kind == "interface"]
GLOBALS = {
    declaration.name: declaration
    for file in FILES.values()
    for declaration in file.declarations
    if declaration.kind in ("var", "function")
}

UNDECLARED = {
    "global $yaoRepl*": "the prompt of `yao-test repl`",
    "global $yaoWatch*": "what `--watch-expr` puts into scripts",
    "global __yaoAsync*": "what the compiler makes `async` functions of",
    "global __yaoEarly*": "what keeps variables from being read before their line",
    "agent.Context.toJSON": "makes it its data where it is printed as JSON",
    "*.__release": "`Use` calls it; scripts call `Release` where there is something to release",
    "FS.name": "shows which volume it is when it is printed",
    "Store.name": "shows which store it is when it is printed",
    "Query.engine": "shows which engine it is when it is printed",
    "Job.id": "shows which job it is when it is printed",
    "Plan.id": "shows which plan it is when it is printed",
    "WebSocket.url": "shows where it leads when it is printed",
    "WebSocket.protocols": "shows where it leads when it is printed",
    "yao.Reader.Read": "another spelling of `read`",
    "yao.Reader.Close": "another spelling of `close`",
    "URLSearchParams.query": "shows the query when it is printed or compared",
    "URLSearchParams.toJSON": "makes it an object where values cross to the host",
    "Console.clear": "does nothing, so that code written for browsers runs",
    "Console.dirxml": "the same as `log`, so that code written for browsers runs",
    "Console.groupCollapsed": "the same as `group`, so that code written for browsers runs",
    "DOMException.*_ERR": "numbers of old, from the engine",
    "Performance.timeOrigin": "from the engine",
    "testing.Snapshot.name": "every function has it",
    "testing.Snapshot.length": "every function has it",
    "global InternalError": "from the engine, which throws it when memory or stack run out",
}
"""Member that a script finds and no declaration names → why."""
BEYOND_YAO = {
    "FS.Release": "Yao has nothing to release",
    "Store.Release": "Yao has nothing to release",
    "Store.Incr": "Yao counts in `ctx.memory` only",
    "Store.Decr": "Yao counts in `ctx.memory` only",
    "yao.Http.Head": "Yao has the process only",
}
"""Member that works here and not in Yao → how it is there. Undeclared, so that no editor offers it."""
CALLED = {"Snapshot"}
"""Types of fields that are functions, with members of their own."""
LANGUAGE = set(
    """AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView
    Date DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity
    Int16Array Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError
    Reflect RegExp Set SharedArrayBuffer String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array
    Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI
    encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt undefined unescape""".split()
)
"""The global names of ECMAScript, which no declaration needs to name."""
OF_ERROR = {"name", "message", "stack", "cause"}
"""The members of `Error`, the only interface of the language that declarations extend."""


PET = json.dumps(
    {
        "table": {"name": "pet"},
        "columns": [
            {"name": "id", "type": "ID"},
            {"name": "name", "type": "string"},
            {"name": "kind", "type": "string", "nullable": True},
        ],
        "option": {"soft_deletes": True},
    }
)
"""The model of the examples."""


@pytest.fixture(scope="module")
def app(shared_app: MakeApplication) -> Application:
    """An application with every example, and the script that looks at what scripts see."""
    files = {f"/{example.path}": example.text for example in EXAMPLES}
    packages = {f"/assistants/{name}/package.yao": "{}" for name in ("examples", "expense")}
    members = (HELPERS / "members_test.ts").read_text("utf-8")
    application = shared_app({**packages, **files, "/models/pet.mod.yao": PET, "members_test.ts": members})
    assert len(files) == len(EXAMPLES)
    return application


@pytest.fixture(scope="module")
def records(app: Application) -> dict[str, list[dict[str, Any]]]:
    """The records of one run of all of it, by module."""
    report = app.report("-i", "assistants")
    return {part["script"]: part["results"] for part in report["reports"]}


@each("example", EXAMPLES, ids=lambda example: example.id)
def test_an_example_holds(example: Example, records: dict[str, list[dict[str, Any]]]) -> None:
    results = records[example.module]

    assert results
    assert [(result["name"], result.get("error")) for result in results if result["status"] != "passed"] == []


def test_every_typescript_block_of_the_declarations_is_an_example() -> None:
    written = sum(len(re.findall(r"^ *\* ```ts$", path.read_text("utf-8"), re.M)) for path in TYPES.glob("*.d.ts"))

    assert (len(EXAMPLES), len({example.path for example in EXAMPLES})) == (written, written)


# what is declared and what is there


def members_of(declaration: Declaration) -> Iterator[Declaration]:
    """The members of an interface or type literal, with those of what it extends."""
    yield from declaration.members
    for base in declaration.bases:
        if base != "Error":
            namespace = declaration.path.rpartition(".")[0]
            yield from members_of(BY_PATH.get(f"{namespace}.{base}") or BY_PATH[base])


def is_excepted(place: str) -> bool:
    return any(fnmatchcase(place, pattern) for pattern in [*UNDECLARED, *BEYOND_YAO])


class Seen(NamedTuple):
    """What a script sees, each member with its `typeof`."""

    values: dict[str, dict[str, str]]
    """Path of an interface → members of a value of it."""
    globals: dict[str, dict[str, str]]
    """Global name → members of a function or class itself."""

    def undeclared(self) -> Iterator[str]:
        """The members that no declaration names."""
        for path, found in self.values.items():
            members = list(members_of(BY_PATH[path]))
            if not any(member.kind == "index" for member in members):
                extra = OF_ERROR if "Error" in BY_PATH[path].bases else set()
                names = {member.name for member in members} | extra
                yield from (f"{path}.{name}" for name in sorted(found.keys() - names))
        for name, found in self.globals.items():
            if name in GLOBALS:
                names = {member.name for member in GLOBALS[name].members}
                yield from (f"{name}.{static}" for static in sorted(found.keys() - names))
            elif name not in LANGUAGE:
                yield f"global {name}"


@pytest.fixture(scope="module")
def seen(app: Application, records: dict[str, list[dict[str, Any]]]) -> Seen:
    """What `members_test.ts` saw, without what it declares itself."""
    measured = app.report("-i", "scripts.demo.members", "--bench", ".", "--bench-time", "1ms", code=0)["results"]
    found: dict[str, dict[str, dict[str, str]]] = {"value": {}, "global": {}}
    for result in [*records["scripts.demo.members"], *measured]:
        assert result["status"] == "passed", result
        for line in result["logs"]:
            kind, name, members = json.loads(line)
            found[kind][name] = members
    source = (HELPERS / "members_test.ts").read_text("utf-8")
    own = re.findall(r"^(?:export )?(?:function|const|let) (\w+)", source, re.MULTILINE)
    return Seen(
        values=found["value"], globals={name: members for name, members in found["global"].items() if name not in own}
    )


NAMED = ("var", "function", "interface", "type", "method", "field", "get")
"""Kinds of declarations whose names the pages have."""
LOOKED_AT = [
    *re.findall(r'^    "?([\w.]+)"?: ', (HELPERS / "members_test.ts").read_text("utf-8"), re.MULTILINE),
    "testing.F",
    "testing.B",
]
"""Paths of the interfaces that `members_test.ts` has a value of."""


@each("path", LOOKED_AT)
def test_a_value_has_the_members_that_its_declaration_names(path: str, seen: Seen) -> None:
    members = [member for member in members_of(BY_PATH[path]) if member.kind != "index"]
    required = {member.name for member in members if not member.optional}

    assert sorted(required - seen.values[path].keys()) == []
    known = [member for member in members if member.name in seen.values[path]]
    kinds = {member.name: member.kind == "method" or member.type in CALLED for member in known}
    assert {name: seen.values[path][name] == "function" for name in kinds} == kinds


@each("path", LOOKED_AT)
def test_a_value_has_no_member_that_its_declaration_does_not_name(path: str, seen: Seen) -> None:
    found = Seen(values={path: seen.values[path]}, globals={}).undeclared()

    assert [place for place in found if not is_excepted(place)] == []


def test_there_is_a_value_of_every_interface_with_methods() -> None:
    with_methods = {part.path for part in INTERFACES if any(member.kind == "method" for member in members_of(part))}
    bases = {f"agent.{base}" for part in INTERFACES for base in part.bases if part.path in LOOKED_AT}

    assert sorted(with_methods - bases - set(LOOKED_AT)) == []


def test_every_declared_global_is_there_with_its_static_members(seen: Seen) -> None:
    declared = {
        name: {member.name for member in part.members if member.kind == "method"} for name, part in GLOBALS.items()
    }

    assert sorted(declared.keys() - seen.globals.keys()) == []
    assert {name: names for name, names in declared.items() if not names <= seen.globals[name].keys()} == {}


def test_every_global_that_is_there_is_declared(seen: Seen) -> None:
    found = Seen(values={}, globals=seen.globals).undeclared()

    assert [place for place in found if not is_excepted(place)] == []


def test_every_exception_is_needed(seen: Seen) -> None:
    undeclared = list(seen.undeclared())

    assert [
        pattern
        for pattern in [*UNDECLARED, *BEYOND_YAO]
        if not any(fnmatchcase(place, pattern) for place in undeclared)
    ] == []


def test_the_module_of_the_runtime_exports_every_name_of_yao() -> None:
    module = next(part for part in FILES["yao.d.ts"].declarations if part.path == "@yao/runtime")
    exported = {member.name: member.signature for member in module.members if member.kind == "import"}
    of_yao = {part.name for part in FILES["yao.d.ts"].declarations if part.kind in ("var", "function", "namespace")}

    assert sorted(of_yao - exported.keys()) == []
    assert exported == {name: f"import {name} = globalThis.{name}" for name in exported}
    assert sorted(name for name in exported if name not in GLOBALS and name not in BY_PATH) == []


# the TypeScript compiler, where it is installed

needs_compiler = pytest.mark.skipif(
    not (COMPILER.exists() and shutil.which("node")), reason="the TypeScript compiler is not installed"
)


@needs_compiler
def test_the_reader_sees_what_the_compiler_sees() -> None:
    command = ["node", str(HELPERS / "compiler.cjs"), str(COMPILER), *(str(TYPES / name) for name in FILES)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    ours = [[part.kind, part.name, part.line, list(part.params), part.doc is not None] for part in DECLARATIONS]

    assert json.loads(output) == ours


@needs_compiler
def test_the_examples_compile(app: Application) -> None:
    options = json.loads((TYPES / "tsconfig.json").read_text("utf-8"))["compilerOptions"]
    failing = (HELPERS / "failing_test.ts").read_text("utf-8")
    options |= {"moduleDetection": "force", "skipLibCheck": True}
    config = {"compilerOptions": options, "include": [str(TYPES), "assistants"]}
    app.write({"/tsconfig.json": json.dumps(config), "failing.ts": failing})
    command = ["node", str(COMPILER / "bin/tsc"), "--project", str(app.root)]

    assert subprocess.run(command, capture_output=True, text=True, check=False).stdout == ""


# the pages


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("reference.py testing", "script-api.md"),
        ("reference.py agent", "script-api-context.md"),
        ("reference.py yao", "script-api-yao.md"),
        ("assertions.py", "assertions.md"),
    ],
)
def test_a_page_is_what_its_script_prints(script: str, name: str) -> None:
    file, *arguments = script.split()
    command = [sys.executable, str(HELPERS / file), *arguments]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs" / name).read_text("utf-8")

    assert page.splitlines() == printed.splitlines(), f"run: python tests/declarations/{script} > docs/{name}"


def test_the_reference_has_a_place_for_every_declaration() -> None:
    pages = [*sorted((ROOT / "docs").glob("script-api*.md")), ROOT / "docs/assertions.md"]
    page = "\n".join(path.read_text("utf-8") for path in pages)
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", page, flags=re.M | re.S), re.M)
    anchors = [anchor(heading) for heading in headings]
    text = " ".join(page.replace(r"\|", "|").split())

    assert sorted(name for name in set(anchors) if anchors.count(name) > 1) == []
    platform = {id(part) for part in FILES["platform.d.ts"].walk()}
    ours = [part for part in DECLARATIONS if id(part) not in platform]
    told = [part for part in ours if part.doc and len(part.doc.summary.split()) >= WORTH_TELLING]
    assert [part.path for part in told if part.doc.summary not in text and not is_second_name(part.doc.summary)] == []
    assert [part.path for part in ours if part.doc and part.kind in NAMED and part.name not in text] == []
    called = [part for part in ours if part.kind in ("function", "method")]
    assert [part.signature for part in called if " ".join(compact(part.signature).split()) not in text] == []


def test_every_assertion_has_a_failing_test() -> None:
    failing = re.findall(r"^export function Test(\w+)", (HELPERS / "failing_test.ts").read_text("utf-8"), re.M)
    declared = [member.name for member in BY_PATH["testing.Assert"].members]

    assert failing == [*declared, "WrongNumberOfArguments"]
