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
from declarations.markdown import anchor
from declarations.reader import TYPES, Declaration, DeclarationError, Doc, File, load, read

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
    "global __yaoAsync*": "what the compiler makes `async` functions of",
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
WITHOUT_COMMENT = {
    "new": "the comment of the class is that of its constructor",
    "set": "the getter has the comment",
    "import": "it is described where it is declared",
    "overload": "the first signature has the comment",
    "prototype": "every class has it",
    "pattern": "the comment of @yao/runtime is that of the other names of the module",
}
"""Kind of declaration that needs no doc comment → why."""
CALLED = {"Snapshot"}
"""Types of fields that are functions, with members of their own."""
SHORT = {
    "URL.canParse(url, base)": "its parameters are those of the constructor",
    "URL.parse(url, base)": "its parameters are those of the constructor",
    "testing.Types.function(args)": "a kind of values, not a call",
}
"""Signature that leaves its parameters without description → why."""
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


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
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


LOOKED_AT = [
    *re.findall(r'^    "?([\w.]+)"?: ', (HELPERS / "members_test.ts").read_text("utf-8"), re.MULTILINE),
    "testing.F",
    "testing.B",
]
"""Paths of the interfaces that `members_test.ts` has a value of."""


@pytest.mark.parametrize("path", LOOKED_AT)
def test_a_value_has_the_members_that_its_declaration_names(path: str, seen: Seen) -> None:
    members = [member for member in members_of(BY_PATH[path]) if member.kind != "index"]
    required = {member.name for member in members if not member.optional}

    assert sorted(required - seen.values[path].keys()) == []
    known = [member for member in members if member.name in seen.values[path]]
    kinds = {member.name: member.kind == "method" or member.type in CALLED for member in known}
    assert {name: seen.values[path][name] == "function" for name in kinds} == kinds


@pytest.mark.parametrize("path", LOOKED_AT)
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


# doc comments


def needs_comment(file: File) -> Iterator[Declaration]:
    """The declarations of a file that need a doc comment of their own."""
    known: set[str] = set()
    for part in file.walk():
        kinds = {part.kind, "pattern" if part.kind == "module" and "*" in part.name else ""}
        kinds |= {"overload"} if part.kind == "function" and part.path in known else set()
        kinds |= {"prototype"} if part.name == "prototype" else set()
        known.add(part.path)
        if not part.inline and not kinds & WITHOUT_COMMENT.keys():
            yield part


def uncommented(file: File) -> list[str]:
    return [f"{file.name}:{part.line}: {part.path}" for part in needs_comment(file) if part.doc is None]


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_every_member_has_a_doc_comment(file: File) -> None:
    assert uncommented(file) == []


def misdescribed(file: File) -> list[str]:
    """The doc comments that do not describe each parameter, in their order."""
    problems = []
    for part in file.walk():
        if part.kind == "var":
            constructor = next((member for member in part.members if member.kind == "new"), None)
            params = list(constructor.params) if constructor else []
        elif part.kind == "field":
            callback = re.fullmatch(r"\w+\??: \((.*)\) => [^=]*", part.signature)
            params = re.findall(r"(\w+)\??:", callback[1]) if callback else []
        else:
            params = list(part.params)
        described = list(part.doc.params) if part.doc else params
        if described != params and f"{part.path}({', '.join(params)})" not in SHORT:
            problems.append(f"{file.name}:{part.line}: {part.path}({', '.join(params)}) describes {described}")
    return problems


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_a_doc_comment_describes_each_parameter(file: File) -> None:
    assert misdescribed(file) == []


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_a_doc_comment_is_made_of_sentences(file: File) -> None:
    docs = [(part.path, part.doc) for part in file.walk() if part.doc]
    texts = [
        (path, text) for path, doc in docs for text in [doc.summary, *doc.params.values(), doc.returns, doc.throws]
    ]

    assert [(path, text) for path, text in texts if text and not re.search(r"[.:]\)?$", text)] == []


# the reader of declarations

SOURCE = """\
/** What the file is for. */

/** Two things. */
declare namespace a {
  /** One. Another sentence. */
  interface B<T extends { x: 1 }> extends C, d.E<T> {
    /** Name. */
    readonly name: string;
    /**
     * Calls it.
     *
     * @example
     * ```ts
     * b.call(1);
     * ```
     *
     * @param value What is
     *   called.
     * @returns The answer.
     */
    call<R>(value: { y: number }, ...more: any[]): R;
    /** Parts. */
    parts?: {
      /** Inner. */
      inner: 1;
    };
    // a line comment
    one: { line: 1 } | ";";
    [key: string]: any;
    get both(): (a: 1) => void;
    set both(value);
  }
}
declare var F: typeof globalThis extends { F: infer X } ? X : { new (x?: 1): F; readonly prototype: F };
declare function f(x: () => void): void;
"""


def test_the_reader_finds_each_declaration_with_its_members() -> None:
    file = read(SOURCE)

    assert file.header == Doc("What the file is for.")
    assert [(part.kind, part.path, part.params, part.optional, part.inline) for part in file.walk()] == [
        ("namespace", "a", (), False, False),
        ("interface", "a.B", (), False, False),
        ("field", "a.B.name", (), False, False),
        ("method", "a.B.call", ("value", "more"), False, False),
        ("field", "a.B.parts", (), True, False),
        ("field", "a.B.parts.inner", (), False, False),
        ("field", "a.B.one", (), False, False),
        ("field", "a.B.one.line", (), False, True),
        ("index", "a.B.[key]", (), False, False),
        ("get", "a.B.both", (), False, False),
        ("set", "a.B.both", ("value",), False, False),
        ("var", "F", (), False, False),
        ("field", "F.F", (), False, True),
        ("new", "F.new", ("x",), False, True),
        ("field", "F.prototype", (), False, True),
        ("function", "f", ("x",), False, False),
    ]
    assert file.declarations[0].members[0].bases == ("C", "d.E")


def test_the_reader_takes_a_doc_comment_apart() -> None:
    interface = read(SOURCE).declarations[0].members[0]
    name, call = interface.members[:2]

    assert interface.doc is not None and interface.doc.summary == "One."
    assert call.doc == Doc(
        "Calls it.", {"value": "What is called."}, returns="The answer.", example="```ts\nb.call(1);\n```"
    )
    assert call.doc.blocks == ["b.call(1);\n"]
    assert (name.type, name.signature, call.signature) == (
        "string",
        "readonly name: string",
        "call<R>(value: { y: number }, ...more: any[]): R",
    )


REFUSED = {
    "another statement": ("class A {}", "1: expected namespace or module or interface or type or var or function"),
    "a bracket without end": ("interface A {\n  b: (;\n}", "3: a bracket is missing"),
    "a name without type": ("interface A {\n  b();c\n d: 1 }", "3: expected a type"),
    "a comment of nothing": ("interface A {\n  /** B. */\n}", "3: a doc comment of nothing before"),
    "two comments": ("type A = 1;\n/** B. */\n/** C. */\ntype D = 1;", "4: more than one doc comment before"),
    "an empty comment": ("/** */\ntype A = 1;", "1: an empty doc comment"),
    "an empty tag": ("/**\n * A.\n * @returns\n */\ntype A = 1;", "1: nothing said by @returns"),
    "an unknown tag": ("/**\n * A.\n * @deprecated B.\n */\ntype A = 1;", "1: unknown tag @deprecated"),
    "a code block without end": ("/**\n * ```ts\n * a();\n */\ntype A = 1;", "1: a code block without end"),
    "another sign": ("type A = `b`;", "1: no token of a declaration"),
}


@pytest.mark.parametrize(("text", "problem"), REFUSED.values(), ids=REFUSED)
def test_the_reader_refuses_what_it_does_not_know(text: str, problem: str) -> None:
    with pytest.raises(DeclarationError, match=re.escape(f"input.d.ts:{problem}")):
        read(text)


def test_a_member_without_doc_comment_is_found() -> None:
    assert uncommented(read(SOURCE, "a.d.ts")) == [
        "a.d.ts:28: a.B.one",
        "a.d.ts:29: a.B.[key]",
        "a.d.ts:30: a.B.both",
        "a.d.ts:34: F",
        "a.d.ts:35: f",
    ]


def test_a_parameter_without_description_is_found() -> None:
    text = "/**\n * A.\n * @param y B.\n */\ndeclare function f(x: 1, y: 2): 3;\n"

    assert misdescribed(read(text, "a.d.ts")) == ["a.d.ts:5: f(x, y) describes ['y']"]


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


@pytest.mark.parametrize(("script", "name"), [("reference.py", "script-api.md"), ("assertions.py", "assertions.md")])
def test_a_page_is_what_its_script_prints(script: str, name: str) -> None:
    printed = subprocess.run([sys.executable, str(HELPERS / script)], capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs" / name).read_text("utf-8")

    assert page.splitlines() == printed.splitlines(), f"run: python tests/declarations/{script} > docs/{name}"


def test_the_reference_has_a_place_for_every_declaration() -> None:
    page = (ROOT / "docs/script-api.md").read_text("utf-8")
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", page, flags=re.M | re.S), re.M)
    anchors = [anchor(heading) for heading in headings]
    text = " ".join(page.replace(r"\|", "|").split())

    assert sorted(name for name in set(anchors) if anchors.count(name) > 1) == []
    assert [part.path for part in DECLARATIONS if part.doc and part.doc.summary not in text] == []
    called = [part for part in DECLARATIONS if part.kind in ("function", "method")]
    assert [part.signature for part in called if " ".join(part.signature.split()) not in text] == []


def test_every_assertion_has_a_failing_test() -> None:
    failing = re.findall(r"^export function Test(\w+)", (HELPERS / "failing_test.ts").read_text("utf-8"), re.M)
    declared = [member.name for member in BY_PATH["testing.Assert"].members]

    assert failing == [*declared, "WrongNumberOfArguments"]
