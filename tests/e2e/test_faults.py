"""Tests that break: each fails alone, with one clear error that has a position, and the rest of the run goes on."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest
from command import Application, MakeApplication, Record, eventually, unprivileged
from faults import children

PASSING = "export function TestPasses(t) { t.assert.True(true); }\n"
AT = "assistants/demo/src/"


# What is thrown

THROWN = {
    "string": ('throw "text";', 'thrown, not an Error: "text"', 1),
    "number": ("throw 42;", "thrown, not an Error: 42", 1),
    "object": ("throw { code: 7, list: [1] };", "thrown, not an Error: {code: 7, list: [1]}", 1),
    "null": ("throw null;", "null was thrown, which is also what the engine does when memory runs out", 1),
    "undefined": ("throw undefined;", "thrown, not an Error: undefined", 1),
    "symbol": ('throw Symbol("s");', "thrown, not an Error: Symbol(s)", 1),
    "function": ("throw function named() {};", "thrown, not an Error: [Function named]", 1),
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
    "message that is no text": ('throw Object.assign(new Error("x"), { message: { a: 1 } });', "[object Object]", None),
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


@pytest.mark.parametrize("kind", ["Sync", "Async"])
@pytest.mark.parametrize("what", THROWN)
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


def test_a_failure_without_a_stack_points_at_its_throw(app: MakeApplication) -> None:
    code = """import { helper } from "./helper";
        export const first = 1;

        export async function TestNull(t) {
          helper();
          throw null;
        }
        export const TestArrow = (t) => { throw "x"; };
        export function TestSubtest(t) { t.run("inner", () => { throw 1; }); }
    """
    here = app({"a_test.ts": code, "helper.ts": "export function helper() {}\n"})
    results = here.results("-i", "scripts.demo.a", code=1)
    assert {name: record["location"] for name, record in results.items() if "location" in record} == {
        "TestNull": f"{AT}a_test.ts:6:11",
        "TestArrow": f"{AT}a_test.ts:8:43",
        "TestSubtest": f"{AT}a_test.ts:9:44",
    }
    assert results["TestSubtest"]["steps"][0]["location"] == f"{AT}a_test.ts:9:65"


# Modules that cannot be loaded

BROKEN = {
    "syntax": (
        "export function TestA(t) {\n  const x = ;\n}\n",
        'the module cannot be loaded: Unexpected ";"',
        "2:13",
        ["  > 2 |   const x = ;", "      |             ^"],
    ),
    "unclosed": (
        'export function TestA(t) {\n  t.log("a");\n',
        "the module cannot be loaded: Unexpected end of file",
        "3:1",
        ["  > 3 |", "      | ^"],
    ),
    "relative": (
        'import { x } from "./nothere";\nexport function TestA(t) { x(); }\n',
        'the module cannot be loaded: Could not resolve "./nothere"',
        "1:19",
        ['  > 1 | import { x } from "./nothere";', "      |                   ^^^^^^^^^^^"],
    ),
    "package": (
        '\n\timport x from "lodash";\nexport function TestA(t) { x(); }\n',
        'the module cannot be loaded: Could not resolve "lodash"\n'
        "A package must be in a node_modules folder of the application",
        "2:16",
        ['  > 2 | \timport x from "lodash";', "      | \t              ^^^^^^^^"],
    ),
    "missing": (
        'import { PASSED, nothing } from "./helper";\nexport function TestA(t) { nothing(PASSED); }\n',
        'the module cannot be loaded: No matching export in "assistants/demo/src/helper.ts" for import "nothing"',
        "1:18",
        ['  > 1 | import { PASSED, nothing } from "./helper";', "      |                  ^^^^^^^"],
    ),
    "builtin": (
        'import fs from "fs";\nexport function TestA(t) { fs.existsSync("x"); }\n',
        'the module cannot be loaded: Could not resolve "fs"\nIt is a module of Node.js, which scripts do not have',
        "1:16",
        ['  > 1 | import fs from "fs";', "      |                ^^^^"],
    ),
    "awaits": (
        "const x = await 1;\nexport function TestA(t) { x; }\n",
        "the module cannot be loaded: Top-level await is not available",
        "1:11",
        ["  > 1 | const x = await 1;", "      |           ^^^^^"],
    ),
    "throws": (
        "export function TestA(t) {}\nconst nothing = undefined as any;\nnothing.field;\n",
        "the module cannot be loaded: TypeError: cannot read property 'field' of undefined",
        "3:1",
        ["  > 3 | nothing.field;", "      | ^"],
    ),
    "throws_text": (
        'export function TestA(t) {}\nthrow "text";\n',
        'the module cannot be loaded: thrown, not an Error: "text"',
        "1:1",
        [],
    ),
    "loops": (
        "export function TestA(t) {}\nfor (;;) {}\n",
        "the module cannot be loaded: timeout after 0.3s: the top-level code of the module does not end",
        "1:1",
        [],
    ),
    "recurses": (
        "export function TestA(t) {}\nfunction again() { return again() + 1; }\nagain();\n",
        "the module cannot be loaded: RangeError: Maximum call stack size exceeded",
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
    run = here.run("-i", "scripts.demo", "--timeout", "300ms", "-o", str(path))
    assert run.code == 1
    assert run.stderr == ""
    report = json.loads(here.anonymous(path.read_bytes()))
    return {part["script"].removeprefix("scripts.demo."): part for part in report["reports"]}, run.stdout.splitlines()


@pytest.mark.parametrize("module", BROKEN)
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
    assert f"  Run it again: yao-test -i scripts.demo.{module} --timeout 300ms" in lines


def test_modules_beside_a_broken_one_still_run(broken: tuple[dict[str, Record], list[str]]) -> None:
    reports, lines = broken
    assert reports["good"]["summary"]["passed"] == 1
    assert any(line.startswith(f"  Summary: 1 passed, {len(BROKEN)} failed, 0 skipped") for line in lines)


def test_further_syntax_errors_are_listed_with_their_positions(app: MakeApplication) -> None:
    code = "import { a } from './a_missing';\nimport { b } from './b_missing';\nexport const TestA = () => a(b);\n"
    record = app({"two_test.ts": code}).results("-i", "scripts.demo.two", code=1)["two"]
    assert record["error"].splitlines() == [
        'the module cannot be loaded: Could not resolve "./a_missing"',
        f'{AT}two_test.ts:2:19: Could not resolve "./b_missing"',
    ]


def test_an_error_in_the_module_under_test_is_placed_there(app: MakeApplication) -> None:
    here = app(
        {"setup_test.ts": "function TestA(t) { Setup(); }\n", "setup.ts": "function Setup() {\n  return 1 +* 2;\n}\n"}
    )
    record = here.results("-i", "scripts.demo.setup", code=1)["setup"]
    assert record["error"] == 'the module cannot be loaded: Unexpected "*"'
    assert record["location"] == f"{AT}setup.ts:2:13"


# Tests that do not end

ENDLESS = {
    "TestLoop": "@for (;;) {}",
    "TestLoopWithHostCalls": 'for (;;) @Process("utils.str.UUID");',
    "TestLoopWithOutput": '@for (;;) console.log("x");',
    "TestLoopInTimer": "return new Promise(() => setTimeout(() => { @for (;;) {} }, 1));",
    "TestLoopInJob": "return Promise.resolve().then(() => { @for (;;) {} });",
    "TestJobsForever": "const again = () => Promise.resolve().then(again); @return again();",
    "TestTimersForever": "@return new Promise(() => setInterval(() => {}, 1));",
    "TestSleep": "time.@Sleep(100000);",
    "TestRegExp": '/^(a+)+$/.test("a".repeat(40) + @"b");',
}
"""With an `@` before the place that is named."""


@pytest.fixture(scope="module")
def endless(shared_app: MakeApplication) -> dict[str, Record]:
    tests = [f"export function {name}(t) {{ {code.replace('@', '')} }}\n" for name, code in ENDLESS.items()]
    here = shared_app({"endless_test.ts": "".join(tests) + PASSING})
    return here.results("-i", "scripts.demo.endless", "--timeout", "300ms", code=1)


@pytest.mark.parametrize("test", ENDLESS)
def test_a_test_that_does_not_end_fails_at_its_deadline(endless: dict[str, Record], test: str) -> None:
    record = endless[test]
    assert (record["status"], record["cause"], record["error"]) == ("failed", "timeout", "timeout after 0.3s")
    line, column = list(ENDLESS).index(test) + 1, len(f"export function {test}(t) {{ ") + ENDLESS[test].index("@") + 1
    assert record["location"].startswith(f"{AT}endless_test.ts:{line}:")
    if test not in (
        "TestLoopWithHostCalls",
        "TestLoopWithOutput",
        "TestRegExp",
    ):  # which are stopped somewhere in the statement
        assert record["location"] == f"{AT}endless_test.ts:{line}:{column}"
    assert int(record["location"].rpartition(":")[2]) > len(f"export function {test}(t) {{")


def test_the_tests_after_an_endless_one_run(endless: dict[str, Record]) -> None:
    assert endless["TestPasses"]["status"] == "passed"


def test_a_hang_ends_the_run_soon_after_its_deadline(app: MakeApplication) -> None:
    here = app({"a_test.ts": "export function TestA(t) { for (;;) {} }\nexport function TestB(t) {}\n"})
    lines = here.home / "report.jsonl"
    assert here.run("-i", "scripts.demo.a", "--timeout", "300ms", "-o", str(lines)).code == 1
    _, first, second, summary = [json.loads(line) for line in lines.read_text().splitlines()]
    assert (first["duration_ms"] >= 300, second["status"]) == (True, "passed")
    assert summary["duration_ms"] < 30_000


def test_a_timeout_may_be_longer_than_the_system_can_wait(app: MakeApplication) -> None:
    assert app({"a_test.ts": PASSING}).run("-i", "scripts.demo.a", "--timeout", "99999999999h").code == 0


def test_output_before_a_timeout_is_kept(app: MakeApplication) -> None:
    here = app({"a_test.ts": 'export function TestA(t) { t.log("before"); for (;;) {} }\n'})
    assert here.results("-i", "scripts.demo.a", "--timeout", "300ms", code=1)["TestA"]["logs"] == ["before"]


NEVER = {
    "TestReturned": "return new Promise(() => {});",
    "TestAwaited": "return (async () => { await new Promise(() => {}); })();",
    "TestThenable": "return { then() {} };",
    "TestRace": "return Promise.race([]);",
}


def test_a_promise_that_nothing_can_settle_is_said_at_once(app: MakeApplication) -> None:
    tests = "".join(f"export function {name}(t) {{ {code} }}\n" for name, code in NEVER.items())
    results = app({"a_test.ts": tests}).results("-i", "scripts.demo.a", "--timeout", "1h", code=1)
    message = "deadlock: the test waits for a promise that nothing can settle any more"
    assert {name: (record["error"], record["cause"]) for name, record in results.items()} == dict.fromkeys(
        NEVER, (message, "error")
    )
    assert results["TestReturned"]["location"] == f"{AT}a_test.ts:1:17"


WAITING = """\
const never = () => new Promise(() => {});
async function helper() {
  await never();
}
export async function TestOwn(t) {
  t.cleanup(() => t.log("cleaned"));
  await never();
}
export async function TestHelper(t) {
  await helper();
}
export async function TestStep(t) {
  await t.run("step", async (t) => {
    t.cleanup(() => t.log("step cleaned"));
    await never();
  });
}
export async function TestCaught(t) {
  try {
    await never();
  } catch {
    return;
  } finally {
    t.log("finally");
  }
}
export async function TestCleanup(t) {
  t.cleanup(() => t.log("outer cleaned"));
  t.cleanup(async () => {
    await never();
  });
}
export function AfterEach(t) {
  t.log("after");
}
"""


def test_a_deadlock_is_placed_at_its_await_and_clean_ups_run(app: MakeApplication) -> None:
    results = app({"a_test.ts": WAITING}).results("-i", "scripts.demo.a", "--timeout", "1h", code=1)
    places = {"TestOwn": "7:9", "TestHelper": "3:9", "TestStep": "15:11", "TestCaught": "20:11", "TestCleanup": "30:11"}
    assert {name: record["location"] for name, record in results.items()} == {
        name: f"{AT}a_test.ts:{place}" for name, place in places.items()
    }
    assert {name: record["logs"] for name, record in results.items()} == {
        "TestOwn": ["after", "cleaned"],
        "TestHelper": ["after"],
        "TestStep": ["step cleaned", "after"],
        "TestCaught": ["after"],
        "TestCleanup": ["after", "outer cleaned"],
    }
    assert {record["cause"] for record in results.values()} == {"error"}


def test_a_clean_up_after_a_deadlock_that_waits_for_ever_too_ends_the_test(app: MakeApplication) -> None:
    code = """export async function TestA(t) {
      t.cleanup(async () => { await new Promise(() => {}); });
      await new Promise(() => {});
    }
    export function TestB() {}"""
    results = app({"a_test.ts": code}).results("-i", "scripts.demo.a", "--timeout", "1h", code=1)
    assert results["TestA"]["location"] == f"{AT}a_test.ts:3:17"
    assert (len(results["TestA"]["failures"]), results["TestB"]["status"]) == (2, "passed")


# Bounds

BOUNDS = {
    "TestRecursion": ("const f = (n) => f(n + 1) + 1; f(0);", "RangeError: Maximum call stack size exceeded"),
    "TestGetterRecursion": (
        "const o = { get a() { return this.a; } }; o.a;",
        "RangeError: Maximum call stack size exceeded",
    ),
    "TestNestedJSON": ('JSON.parse("[".repeat(200000));', "RangeError: Maximum call stack size exceeded"),
    "TestArrays": ("const all = []; for (;;) all.push(new Array(100_000).fill(1));", "InternalError: out of memory"),
    "TestBuffers": ("const all = []; for (;;) all.push(new ArrayBuffer(1 << 20));", "InternalError: out of memory"),
    "TestString": ('let s = "abc"; for (;;) s += s;', "InternalError: string too long"),
    "TestFullMemory": (
        "for (const size of [1 << 20, 1 << 10, 16]) try { for (;;) kept.push(new ArrayBuffer(size)); } catch {} t.fail('lost');",
        "out of memory: the test left its realm unable to report what failed",
    ),
    "TestHugeBuffer": ("new ArrayBuffer(1e12);", "RangeError: invalid array buffer length"),
    "TestCyclicArgument": (
        'const a: any = {}; a.a = a; Process("utils.str.Concat", a);',
        "Cannot call utils.str.Concat: its arguments are not JSON: TypeError: circular reference",
    ),
    "TestBigIntArgument": (
        'Process("utils.str.Concat", 1n);',
        "Cannot call utils.str.Concat: its arguments are not JSON: TypeError: BigInt are forbidden in JSON.stringify",
    ),
    "TestLargeArgument": (
        'Process("utils.str.Concat", "x".repeat(33e6));',
        "Cannot call utils.str.Concat: its arguments take 33000004 characters as JSON, the limit is 32000000",
    ),
    "TestUnknownProcess": (
        'Process("models.user.Find", 1);',
        'Process "models.user.Find" is not available here: mock it with t.mock.process("models.user.Find", ...), '
        "or run against a host that provides models.*",
    ),
    "TestProcessWithoutName": ("(Process as any)();", "Process takes a name as its first argument"),
    "TestDeepSubtests": (
        'const go = (t) => t.run("s", go); go(t);',
        "subtest s failed",
    ),
}


@pytest.fixture(scope="module")
def bounds(shared_app: MakeApplication) -> dict[str, Record]:
    tests = [f"export function {name}(t) {{ {code} }}\n" for name, (code, _) in BOUNDS.items()]
    return shared_app({"bounds_test.ts": "const kept = [];" + "".join(tests) + PASSING}).results(
        "-i", "scripts.demo.bounds", code=1
    )


@pytest.mark.parametrize("test", BOUNDS)
def test_a_bound_is_an_error_of_the_test_that_met_it(bounds: dict[str, Record], test: str) -> None:
    record = bounds[test]
    assert (record["status"], record["error"]) == ("failed", BOUNDS[test][1])
    assert record["location"].startswith(f"{AT}bounds_test.ts:{list(BOUNDS).index(test) + 1}:")


def test_the_tests_after_those_that_met_a_bound_run(bounds: dict[str, Record]) -> None:
    assert bounds["TestPasses"]["status"] == "passed"


def test_a_hundred_megabytes_of_arguments_do_no_harm(app: MakeApplication) -> None:
    code = f'export function TestHuge(t) {{ Process("utils.str.Concat", "x".repeat(100e6)); }}\n{PASSING}'
    results = app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=1)
    assert results["TestHuge"]["error"].startswith("Cannot call utils.str.Concat: its arguments ")
    assert results["TestPasses"]["status"] == "passed"


CUT = "output is cut here: a test may print 1000000 characters"


def test_output_is_bounded(app: MakeApplication) -> None:
    code = """
        export function TestLines(t) { const line = "x".repeat(999); for (let i = 0; i < 50000; i++) console.log(line); }
        export function TestOneLine(t) { console.log("y".repeat(50e6)); console.log("after"); }
    """
    results = app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=0)
    lines = results["TestLines"]["logs"]
    assert (len(lines), set(lines[:-1]), lines[-1]) == (1001, {"x" * 999}, CUT)
    assert results["TestOneLine"]["logs"] == ["y" * 64_000 + " ... (50000000 characters)", "after"]


@pytest.mark.parametrize(
    "code",
    [
        't.fatal("x".repeat(5e6));',
        'throw new Error("x".repeat(5e6));',
        't.error("x".repeat(5e6));',
        't.skip("x".repeat(5e6));',
    ],
    ids=["fatal", "throw", "error", "skip"],
)
def test_messages_are_bounded(app: MakeApplication, code: str) -> None:
    here = app({"a_test.ts": f"export function TestA(t) {{ {code} }}\n"})
    record = here.results("-i", "scripts.demo.a")["TestA"]
    assert record.get("error", record.get("skip_reason")) == "x" * 64_000 + " ... (5000000 characters)"


def test_failures_of_one_test_are_bounded(app: MakeApplication) -> None:
    here = app({"a_test.ts": 'export function TestA(t) { for (let i = 0; i < 5000; i++) t.fail("f" + i); }\n'})
    assert here.results("-i", "scripts.demo.a")["TestA"]["errors"] == [f"f{number}" for number in range(100)]


def test_a_go_pattern_is_matched_within_bounds(app: MakeApplication) -> None:
    code = f"""
        export function TestPattern(t) {{ t.assert.Match("a".repeat(5000) + "b", "^(a+)+$", "the pattern"); }}
        export function TestWorse(t) {{ t.assert.Match("a".repeat(30000), "(a|a|aa)+b|(a*)*c"); }}
        {PASSING}
    """
    results = app({"a_test.ts": code}).results("-i", "scripts.demo.a", "--timeout", "60s", code=1)
    assert results["TestPattern"]["error"] == "assertion failed: the pattern"
    assert (results["TestWorse"]["status"], results["TestWorse"]["cause"]) == ("failed", "assertion")
    assert results["TestPasses"]["status"] == "passed"


# Text that is not text


def test_lone_surrogates_and_control_characters_do_not_break_the_reports(app: MakeApplication) -> None:
    code = r"""
        export function TestLone(t) { t.log("a\ud800b"); t.assert.Equal("\ud800", "\udc00", "bad \ud800"); }
        export function TestNul(t) { t.log("a\0b"); t.assert.Equal("a\0b", "c", "nul \0"); }
    """
    here = app({"a_test.ts": code})
    run = here.run("-i", "scripts.demo.a", "-o", str(here.home / "r.json"), "-o", str(here.home / "r.jsonl"))
    assert (run.code, run.stderr) == (1, "")
    assert "  └─ assertion failed: bad \\ud800" in run.stdout.splitlines()
    results = here.results("-i", "scripts.demo.a", code=1)
    assert results["TestNul"]["logs"] == ["a\0b"]
    assert results["TestNul"]["assertion"] == {"type": "Equal", "expected": "c", "actual": "a\0b", "message": "nul \0"}


# Workers from outside


def gone(pid: int) -> bool:
    """Whether a process has ended; one that waits to be collected has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


HANG = 'Process("fs.data.WriteFile", "started", "yes"); for (;;) {}'


def started(here: Application) -> None:
    eventually((here.root / "data/started").exists, "the test that hangs starts")


def test_a_worker_that_is_killed_fails_its_test_and_the_rest_runs(app: MakeApplication) -> None:
    code = f"export function TestFirst(t) {{}}\nexport function TestKilled(t) {{ {HANG} }}\nexport function TestRest(t) {{}}\n"
    here = app({"/data/.keep": "", "a_test.ts": code, "b_test.ts": PASSING})
    report = here.home / "report.json"
    with here.start("-i", "scripts.demo.a", "-i", "scripts.demo.b", "--parallel", "1", "-o", str(report)) as process:
        started(here)
        (worker,) = children(process.pid, "scripttest.realm.worker")
        os.kill(worker, signal.SIGKILL)
        run = here.finish(process)
    assert (run.code, run.stderr) == (1, "")
    lines = run.stdout.splitlines()
    assert "  └─ The worker process was killed by signal 9 (SIGKILL)" in lines
    assert "     at assistants/demo/src/a_test.ts:2:17" in lines
    module, other = json.loads(report.read_text())["reports"]
    assert [(record["name"], record["status"], record.get("cause")) for record in module["results"]] == [
        ("TestFirst", "passed", None),
        ("TestKilled", "failed", "infrastructure"),
        ("TestRest", "passed", None),
    ]
    assert other["summary"]["passed"] == 1


def test_a_worker_that_is_killed_before_its_first_test_costs_nothing(app: MakeApplication) -> None:
    once = 'const fs = new FS("data"); if (!fs.Exists("started")) { fs.WriteFile("started", "yes"); for (;;) {} }\n'
    here = app({"/data/.keep": "", "a_test.ts": once + PASSING, "b_test.ts": PASSING})
    with here.start("-i", "scripts.demo.a", "-i", "scripts.demo.b", "--parallel", "1") as process:
        started(here)
        (worker,) = children(process.pid, "scripttest.realm.worker")
        os.kill(worker, signal.SIGKILL)
        run = here.finish(process)
    assert (run.code, run.stderr) == (0, "")
    assert "Summary: 2 passed, 0 failed, 0 skipped" in run.stdout


def test_a_compiler_that_is_killed_costs_nothing_that_is_compiled(app: MakeApplication) -> None:
    wait = 'Process("fs.data.WriteFile", "started", "yes"); while (!Process("fs.data.Exists", "go")) {}'
    called = '\n  t.assert.Equal(Process("scripts.late.Add", 1, 2), 3);'
    here = app(
        {
            "/data/.keep": "",
            "/scripts/late.ts": "export function Add(a: number, b: number) { return a + b; }\n",
            "a_test.ts": f"export function TestA(t) {{ {wait}{called} }}\n",
            "b_test.ts": PASSING,
        }
    )
    with here.start("-i", "scripts.demo.a", "-i", "scripts.demo.b", "--parallel", "1") as process:
        started(here)
        (compiler,) = children(process.pid, "esbuild")
        os.kill(compiler, signal.SIGKILL)
        (here.root / "data/go").write_text("")
        run = here.finish(process)
    assert (run.code, run.stderr) == (0, "")
    assert "Summary: 2 passed, 0 failed, 0 skipped" in run.stdout


def test_an_interrupt_reports_what_ended_and_leaves_no_process(app: MakeApplication) -> None:
    code = f"export function TestFirst(t) {{}}\nexport function TestHangs(t) {{ {HANG} }}\nexport function TestRest(t) {{}}\n"
    here = app({"/data/.keep": "", "a_test.ts": code})
    report, lines = here.home / "report.json", here.home / "report.jsonl"
    with here.start("-i", "scripts.demo.a", "-o", str(report), "-o", str(lines)) as process:
        started(here)
        family = children(process.pid, "")
        os.killpg(process.pid, signal.SIGINT)
        run = here.finish(process)
    assert (run.code, run.stderr) == (130, "")
    assert re.search(r"^► \[TestFirst\] \.\.\.\n  ✓ PASSED \(\d+ms\)\n\n═", run.stdout, re.MULTILINE)
    assert re.search(r"  Summary: interrupted: 1 passed, 0 failed, 0 skipped \(.*\)\n", run.stdout)
    assert len(family) >= 2
    eventually(lambda: all(map(gone, family)), "all processes end")
    assert [record["name"] for record in json.loads(report.read_text())["results"]] == ["TestFirst"]
    last = json.loads(lines.read_text().splitlines()[-1])
    assert (last["type"], last["status"], last["total"]) == ("summary", "interrupted", 1)


def test_a_runner_that_is_killed_leaves_its_results_and_no_process(app: MakeApplication) -> None:
    here = app(
        {"/data/.keep": "", "a_test.ts": f"export function TestFirst(t) {{}}\nexport function TestA(t) {{ {HANG} }}\n"}
    )
    lines = here.home / "report.jsonl"
    with here.start("-i", "scripts.demo.a", "-o", str(lines)) as process:
        started(here)
        eventually(lambda: lines.read_bytes().count(b"\n") == 2, "the result of the first test is in the report")
        family = children(process.pid, "")
        process.kill()
    assert len(family) >= 2
    eventually(lambda: all(map(gone, family)), "all processes end")
    records = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [(record["type"], record.get("id")) for record in records] == [("start", None), ("result", "TestFirst")]


# Folders


def test_two_runs_in_one_application_do_not_meet(app: MakeApplication) -> None:
    code = "".join(
        f"export function Test{number}(t) {{ t.assert.Equal({number}, {number}); }}\n" for number in range(50)
    )
    here = app({"a_test.ts": code})
    with here.start("-i", "scripts.demo.a") as one, here.start("-i", "scripts.demo.a") as two:
        runs = [here.finish(one), here.finish(two)]
    assert [run.code for run in runs] == [0, 0]
    assert all("Summary: 50 passed, 0 failed, 0 skipped" in run.stdout for run in runs)


def test_a_run_changes_nothing_in_the_application(app: MakeApplication) -> None:
    here = app(
        {
            "a_test.ts": PASSING + 'export function TestFails(t) { t.fail("x"); }\n',
            "bad_test.ts": "const = 1;",
            "/data/.keep": "",
        }
    )
    before = here.listing()
    assert here.run("-i", "scripts.demo", "--parallel", "2").code == 1
    assert here.listing() == before


def test_a_read_only_application_can_be_tested(app: MakeApplication) -> None:
    here = app({"a_test.ts": PASSING, "a.ts": "export const x = 1;\n"})
    folders = [here.root, *(path for path in here.root.rglob("*") if path.is_dir())]
    prefix = unprivileged()
    for folder in folders:
        folder.chmod(0o555)
    try:
        run = here.spawn("-i", "scripts.demo.a", prefix=prefix)
        refused = here.spawn("-i", "scripts.demo.a", "-o", "out.json", prefix=prefix)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert (run.code, run.stderr) == (0, "")
    assert (refused.code, refused.stderr) == (2, "Error: Cannot write a report to <app>/out.json: Permission denied\n")


def test_a_file_that_cannot_be_read_fails_its_module(app: MakeApplication) -> None:
    here = app({"a_test.ts": PASSING, "b_test.ts": PASSING})
    (here.source / "a_test.ts").chmod(0)
    run = here.spawn("-i", "scripts.demo", prefix=unprivileged())
    assert (run.code, run.stderr) == (1, "")
    assert "✓ scripts.demo.b  1 passed (0ms)" in run.stdout
    told = '  └─ the module cannot be loaded: Cannot read file "assistants/demo/src/a_test.ts": Permission denied'
    assert told in run.stdout.splitlines()


def test_file_names_with_blanks_and_other_letters(app: MakeApplication) -> None:
    code = 'import { add } from "./größe 測試";\nexport function TestÄ(t) { t.assert.Equal(add(1), 2); }\nexport function TestFails(t) {\n  add();\n}\n'
    helper = 'export function add(x) {\n  if (x === undefined) throw new Error("größe: 測試 😀");\n  return x + 1;\n}\n'
    here = app({"mein modul_test.ts": code, "größe 測試.ts": helper, "/assistants/zweiter agent ü/package.yao": "{}"})
    here.write({"/assistants/zweiter agent ü/src/x y_test.ts": PASSING})
    results = here.results("-i", "scripts.demo.mein modul", code=1)
    assert results["TestÄ"]["status"] == "passed"
    assert results["TestFails"]["error"] == "größe: 測試 😀"
    assert results["TestFails"]["stack_trace"].splitlines() == [
        f"at add ({AT}größe 測試.ts:2:34)",
        f"at TestFails ({AT}mein modul_test.ts:4:3)",
    ]
    assert here.run("-i", "scripts.zweiter agent ü.x y").code == 0


def test_windows_line_ends_keep_positions_and_code_frames(app: MakeApplication) -> None:
    code = "export function TestA(t) {\r\n  const x = 1;\r\n  t.assert.Equal(x, 2);\r\n}\r\n"
    here = app({"a_test.ts": code})
    run = here.run("-i", "scripts.demo.a")
    assert code_frame(run.stdout) == [
        "     at assistants/demo/src/a_test.ts:3:12",
        "       1 | export function TestA(t) {",
        "       2 |   const x = 1;",
        "     > 3 |   t.assert.Equal(x, 2);",
        "         |            ^^^^^",
        "       4 | }",
        "       5 |",
    ]


def test_a_byte_order_mark_is_no_part_of_the_code(app: MakeApplication) -> None:
    code = "\ufeffexport function TestA(t) { t.assert.Equal(1, 2); }\n"
    here = app({"a_test.ts": code, "a.ts": "\ufefffunction A() { return 1; }\n"})
    run = here.run("-i", "scripts.demo.a")
    assert code_frame(run.stdout) == [
        "     at assistants/demo/src/a_test.ts:1:37",
        "     > 1 | export function TestA(t) { t.assert.Equal(1, 2); }",
        "         |                                     ^^^^^",
        "       2 |",
    ]


def code_frame(output: str) -> list[str]:
    """The lines from the first `at` to the end of its code frame."""
    lines = output.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("     at "))
    end = next(
        number for number, line in enumerate(lines) if number > start and not re.match(r"     [ >] *\d* \|", line)
    )
    return lines[start:end]
