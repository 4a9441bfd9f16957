"""What tests throw, and modules that cannot be loaded: one clear error with a position, and the rest of the run continues."""

from __future__ import annotations

import json

import pytest
from command import MakeApplication, Record
from table_tests import each

PASSING = "export function TestPasses(t) { t.assert.True(true); }\n"
AT = "assistants/demo/src/"


# What is thrown

THROWN = {
    "string": ('throw "text";', 'thrown, not an Error: "text"', None),
    "number": ("throw 42;", "thrown, not an Error: 42", None),
    "object": ("throw { code: 7, list: [1] };", "thrown, not an Error: {code: 7, list: [1]}", None),
    "null": ("throw null;", "null was thrown, possibly because the engine ran out of memory", None),
    "undefined": ("throw undefined;", "thrown, not an Error: undefined", None),
    "symbol": ('throw Symbol("s");', "thrown, not an Error: Symbol(s)", None),
    "function": ("throw function named() {};", "thrown, not an Error: [Function named]", None),
    "Error": ('throw new Error("the message");', "the message", 11),
    "subclass": ('throw new RangeError("the message");', "RangeError: the message", 11),
    "own subclass": ('throw new Mine("the message");', "Mine: the message", None),
    "Exception": ('throw new Exception("the message", 418);', "the message", 11),
    "with a cause": (
        'throw new Error("outer", { cause: new TypeError("inner") });',
        "outer (cause: TypeError: inner)",
        None,
    ),
    "frozen": ('throw Object.freeze(new Error("frozen"));', "frozen", None),
    "message that is not a string": (
        'throw Object.assign(new Error("x"), { message: { a: 1 } });',
        "[object Object]",
        None,
    ),
    "properties that throw": (
        "throw { get message() { throw 1; }, get stack() { throw 2; } };",
        "an exception that cannot be read: its properties throw",
        None,
    ),
    "proxy": (
        "throw new Proxy({}, { get() { throw 1; }, has() { throw 2; }, getPrototypeOf() { throw 3; } });",
        "an exception that cannot be read: its properties throw",
        None,
    ),
    "engine error": ("(null as any).field;", "TypeError: cannot read property 'field' of null", 2),
    "unknown name": ("missingName();", "ReferenceError: missingName is not defined", 1),
    "bad JSON": (
        'JSON.parse("{bad");',
        "SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
        6,
    ),
}


@pytest.fixture(scope="module")
def thrown(shared_app: MakeApplication) -> dict[str, Record]:
    lines = ["class Mine extends Error { constructor(message) { super(message); this.name = 'Mine'; } }"]
    for number, (code, _, _) in enumerate(THROWN.values()):
        lines += [f"export function TestSync{number}(t) {{", code, "}"]
        lines += [f"export async function TestAsync{number}(t) {{ await null;", code, "}"]
    return shared_app({"throws_test.ts": "\n".join(lines)}).results("-i", "scripts.demo.throws", code=1)


@each("kind", ["Sync", "Async"])
@each("what", THROWN)
def test_what_a_test_throws_is_named_with_its_position(thrown: dict[str, Record], what: str, kind: str) -> None:
    number = list(THROWN).index(what)
    _, error, column = THROWN[what]
    record = thrown[f"Test{kind}{number}"]
    assert (record["status"], record["cause"], record["error"]) == ("failed", "error", error)
    head = 2 + 6 * number + (3 if kind == "Async" else 0)
    file, line, place = record["location"].rsplit(":", 2)
    assert file == f"{AT}throws_test.ts"
    if column is not None:
        assert (int(line), int(place)) == (head + 1, column)
    elif what != "own subclass":
        assert int(line) in (head, head + 1)


# Modules that cannot be loaded

BROKEN = {
    "syntax": (
        "export function TestA(t) {\n  const x = ;\n}\n",
        'cannot load the module: Unexpected ";"',
        "2:13",
        ["  > 2 |   const x = ;", "      |             ^"],
    ),
    "unclosed": (
        'export function TestA(t) {\n  t.log("a");\n',
        "cannot load the module: Unexpected end of file",
        "3:1",
        ["  > 3 |", "      | ^"],
    ),
    "relative": (
        'import { x } from "./nothere";\nexport function TestA(t) { x(); }\n',
        'Cannot find module "./nothere"',
        "1:19",
        ['  > 1 | import { x } from "./nothere";', "      |                   ^^^^^^^^^^^"],
    ),
    "package": (
        '\n\timport x from "lodash";\nexport function TestA(t) { x(); }\n',
        'Cannot find module "lodash"\nInstall it in the application\'s node_modules',
        "2:16",
        ['  > 2 | \timport x from "lodash";', "      | \t              ^^^^^^^^"],
    ),
    "missing": (
        'import { PASSED, nothing } from "./helper";\nexport function TestA(t) { nothing(PASSED); }\n',
        'cannot load the module: No matching export in "assistants/demo/src/helper.ts" for import "nothing"',
        "1:18",
        ['  > 1 | import { PASSED, nothing } from "./helper";', "      |                  ^^^^^^^"],
    ),
    "misspelt": (
        'import { passed } from "./helper";\nexport function TestA(t) { passed; }\n',
        'cannot load the module: No matching export in "assistants/demo/src/helper.ts" for import "passed"\nDid you mean PASSED?',
        "1:10",
        ['  > 1 | import { passed } from "./helper";', "      |          ^^^^^^"],
    ),
    "builtin": (
        'import fs from "fs";\nexport function TestA(t) { fs.existsSync("x"); }\n',
        'Cannot find module "fs"\nWrite: new FS("data").ReadFile("file.txt")',
        "1:16",
        ['  > 1 | import fs from "fs";', "      |                ^^^^"],
    ),
    "awaits": (
        "const x = await 1;\nexport function TestA(t) { x; }\n",
        "cannot load the module: Top-level await is not available",
        "1:11",
        ["  > 1 | const x = await 1;", "      |           ^^^^^"],
    ),
    "throws": (
        "export function TestA(t) {}\nconst nothing = undefined as any;\nnothing.field;\n",
        "cannot load the module: TypeError: cannot read property 'field' of undefined",
        "3:1",
        ["  > 3 | nothing.field;", "      | ^"],
    ),
    "throws_text": (
        'export function TestA(t) {}\nthrow "text";\n',
        'cannot load the module: thrown, not an Error: "text"',
        "1:1",
        [],
    ),
    "loops": (
        "export function TestA(t) {}\nfor (;;) {}\n",
        "cannot load the module: timeout after 1s: the top-level code of the module did not finish",
        "2:1",
        [],
    ),
    "recurses": (
        "export function TestA(t) {}\nfunction again() { return again() + 1; }\nagain();\n",
        "cannot load the module: RangeError: Maximum call stack size exceeded",
        "2:27",
        ["  > 2 | function again() { return again() + 1; }", "      |                           ^"],
    ),
}


@pytest.fixture(scope="module")
def broken(shared_app: MakeApplication) -> tuple[dict[str, Record], list[str]]:
    """Results, and lines of the console, of a run over all broken modules and one good one."""
    here = shared_app(
        {
            "good_test.ts": PASSING,
            "helper.ts": "export const PASSED = 1;\n",
            **{f"{name}_test.ts": row[0] for name, row in BROKEN.items()},
        }
    )
    path = here.home / "report.json"
    run = here.run("-i", "scripts.demo", "--timeout", "1s", "-o", str(path))
    assert run.code == 1
    assert run.stderr == ""
    report = json.loads(here.anonymous(path.read_bytes()))
    return {part["script"].removeprefix("scripts.demo."): part for part in report["reports"]}, run.stdout.splitlines()


@each("module", BROKEN)
def test_a_module_that_cannot_be_loaded_is_one_failure_with_its_position(
    broken: tuple[dict[str, Record], list[str]], module: str
) -> None:
    reports, lines = broken
    _, error, position, frame = BROKEN[module]
    (record,) = reports[module]["results"]
    assert (record["name"], record["status"], record["error"]) == (module, "failed", error)
    assert record["location"] == f"{AT}{module}_test.ts:{position}"
    assert f"     at assistants/demo/src/{module}_test.ts:{position}" in lines
    for line in frame:
        assert f"   {line}" in lines
    assert f"  Rerun: yao-test -i scripts.demo.{module} --timeout 1s" in lines


def test_modules_beside_a_broken_one_still_run(broken: tuple[dict[str, Record], list[str]]) -> None:
    reports, lines = broken
    assert reports["good"]["summary"]["passed"] == 1
    assert any(line.startswith(f"  Summary: 1 passed, {len(BROKEN)} failed, 0 skipped") for line in lines)


def test_further_syntax_errors_are_listed_with_their_positions(app: MakeApplication) -> None:
    code = "import { a } from './a_missing';\nimport { b } from './b_missing';\nexport const TestA = () => a(b);\n"
    record = app({"two_test.ts": code}).results("-i", "scripts.demo.two", code=1)["two"]
    assert record["error"].splitlines() == [
        'Cannot find module "./a_missing"',
        f'{AT}two_test.ts:2:19: Cannot find module "./b_missing"',
    ]


def test_an_error_in_the_module_under_test_is_placed_there(app: MakeApplication) -> None:
    here = app(
        {"setup_test.ts": "function TestA(t) { Setup(); }\n", "setup.ts": "function Setup() {\n  return 1 +* 2;\n}\n"}
    )
    record = here.results("-i", "scripts.demo.setup", code=1)["setup"]
    assert record["error"] == 'cannot load the module: Unexpected "*"'
    assert record["location"] == f"{AT}setup.ts:2:13"
