"""No state leaks between tests, in any order; and a test sees all of its module although it may run with a part of it."""

from __future__ import annotations

from itertools import permutations

import pytest
from command import MakeApplication, given_time

STATE = "export const state = { n: 0 };\nexport function bump() { return ++state.n; }\n"
LEAKS = {
    "module variables": ("let count = 0;", "t.assert.Equal(++count, 1);"),
    "module lists": ("const list = [];", "list.push(1); t.assert.Len(list, 1);"),
    "imported modules": ('import { bump } from "./state";', "t.assert.Equal(bump(), 1);"),
    "globals": ("", "t.assert.Nil((globalThis as any).leak); (globalThis as any).leak = 1;"),
    "undeclared globals": ("declare var leaked: any;", 't.assert.Equal(typeof leaked, "undefined"); leaked = 1;'),
    "prototypes": ("", 't.assert.Equal("extra" in [], false); (Array.prototype as any).extra = 1;'),
    "intrinsics": ("", 't.assert.Equal(JSON.stringify({}), "{}"); JSON.stringify = () => "x"; Math.max = () => 0;'),
    "Process": (
        "",
        't.assert.Equal(Process("utils.str.Concat", "a", "b"), "ab"); (globalThis as any).Process = () => "x";',
    ),
    "stores": ("", 'const s = new Store("cache"); t.assert.Nil(s.Get("k")); s.Set("k", 1);'),
    "memory": ("", 't.assert.Nil(ctx.memory.user.Get("k")); ctx.memory.user.Set("k", 1);'),
    "the context": (
        "",
        't.assert.Equal([ctx.User?.ID, ctx.Metadata.x], ["test-user", undefined]); ctx.Metadata.x = 1; ctx.User = null;',
    ),
    "mocks": ("", 't.assert.Panic(() => Process("models.a.Find")); t.mock.process("models.a.Find", 1);'),
    "timers": (
        "let fired = 0;",
        "t.assert.Equal(fired, 0); setInterval(() => fired++, 0); return new Promise((r) => setTimeout(r, 2));",
    ),
}


@pytest.mark.parametrize("tests", ["ABC", "CBA"])
def test_nothing_leaks_from_one_test_to_the_next(app: MakeApplication, tests: str) -> None:
    files = {"state.ts": STATE}
    for number, (head, body) in enumerate(LEAKS.values()):
        functions = [f"export function Test{letter}(t, ctx) {{ {body} }}" for letter in tests]
        files[f"m{number}_test.ts"] = "\n".join([head, *functions])
    results = app(files).results("-i", "scripts.demo", "--parallel", "1")
    failed = {name: record["error"] for name, record in results.items() if record["status"] != "passed"}
    assert failed == {}
    assert len(results) == 3 * len(LEAKS)


def test_nothing_leaks_from_one_module_into_the_loading_of_the_next(app: MakeApplication) -> None:
    here = app(
        {
            "/scripts/lib.ts": "export function Year() { return new Date().getFullYear(); }\n",
            "a_test.ts": 'export function TestA(t) { t.mock.now("2001-01-01"); Process("scripts.lib.Year"); t.fail("of A"); }\n',
            "b_test.ts": 'const year = Process("scripts.lib.Year");\nexport function TestB(t) { t.assert.Greater(year, 2020); }\n',
            "c_test.ts": "for (;;);\n",
        }
    )
    results = here.results("-i", "scripts.demo", "--parallel", "1", "--timeout", "300ms", code=1)
    assert {name: record["status"] for name, record in results.items()} == {
        "a.TestA": "failed",
        "b.TestB": "passed",
        "c.c": "failed",
    }
    assert results["a.TestA"]["error"] == "of A"
    assert results["c.c"]["error"].startswith("cannot load the module: timeout after 0.3s")


def test_what_top_level_code_calls_belongs_to_the_world_of_each_test(app: MakeApplication) -> None:
    """Also of the first one, for which a module need not be loaded again after it was listed."""
    top = 'console.log("top");\nProcess("session.Set", "kept", 5);\nnew Store("cache").Set("kept", 6);\n'
    body = 't.assert.Equal([Process("session.Get", "kept"), new Store("cache").Get("kept")], [5, 6]);'
    tests = "".join(f"export function Test{letter}(t) {{ {body} }}\n" for letter in "ABC")
    here = app({"a_test.ts": top + tests})
    for only in ("Test", "TestB", "TestC"):
        results = here.results("-i", "scripts.demo", "--run", only)
        assert {(record["status"], *record["logs"]) for record in results.values()} == {("passed", "top")}


def test_a_leak_that_a_test_relies_on_would_be_seen(app: MakeApplication) -> None:
    code = "let n = 0;\nexport function TestA(t) { n = 5; }\nexport function TestB(t) { t.assert.Equal(n, 5); }\n"
    results = app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=1)
    assert (results["TestA"]["status"], results["TestB"]["status"]) == ("passed", "failed")


def test_a_test_that_breaks_leaves_nothing_to_the_next(app: MakeApplication) -> None:
    bodies = {
        "Loops": "n = 1; for (;;) {}",
        "Throws": "n = 1; throw new Error('x');",
        "Exhausts": "n = 1; const all = []; for (;;) all.push(new Array(10000).fill(n));",
        "Recurses": "n = 1; const f = () => f() + 1; f();",
    }
    tests = ["let n = 0;"]
    for name, body in bodies.items():
        tests += [
            f"export function Test{name}(t) {{ {body} }}",
            f"export function TestAfter{name}(t) {{ t.assert.Equal(n, 0); }}",
        ]
    here = app({"a_test.ts": "\n".join(tests)})
    after = [f"TestAfter{name}" for name in bodies]
    results = given_time(lambda time: here.results("-i", "scripts.demo.a", "--timeout", time, code=1), 0.7, *after)
    assert {name: record["status"] for name, record in results.items()} == {
        **{f"Test{name}": "failed" for name in bodies},
        **{f"TestAfter{name}": "passed" for name in bodies},
    }


SLICED = {
    "mention": """
        export function TestA(t) { t.assert.Equal(typeof TestB, "function"); }
        export function TestB(t) { t.assert.Equal(TestA.name, "TestA"); }
    """,
    "chain": """
        export function TestA(t) { t.assert.Equal(TestB(t), "c"); }
        export function TestB(t) { return TestC(t); }
        export function TestC(t) { return "c"; }
    """,
    "array of tests": """
        const all = [TestA, TestB];
        export function TestA(t) { t.assert.Equal(all.map((one) => one.name), ["TestA", "TestB"]); }
        export function TestB(t) { t.assert.Equal(all[0], TestA); }
    """,
    "object of tests": """
        export function TestA(t) { t.assert.Len(Object.keys(byName), 2); }
        export const TestB = (t) => { t.assert.Equal(typeof byName.TestA, "function"); };
        const byName = { TestA, TestB };
    """,
    "helper that mentions a test": """
        function helper(t) { return TestB(t); }
        export function TestA(t) { t.assert.Equal(helper(t), 1); }
        export function TestB(t) { return 1; }
        export function TestC(t) { t.assert.Equal(helper(t), 1); }
    """,
    "properties of tests": """
        export function TestA(t) { t.assert.Equal((TestB as any).title, "b"); }
        export function TestB(t) { t.assert.Equal((TestB as any).title, "b"); }
        (TestB as any).title = "b";
    """,
    "alias": """
        export function TestA(t) { t.assert.Equal(1, 1); }
        export const TestB = TestA;
        export const TestC = (t) => TestB(t);
    """,
    "eval": """
        const head = "Te";
        export function TestA(t) { t.assert.Equal(eval("typeof " + head + "stB"), "function"); }
        export function TestB(t) { t.assert.Equal((0, eval)("typeof " + head + "stA"), "function"); }
    """,
    "new Function": """
        const head = "Te";
        export function TestA(t) { t.assert.Equal(typeof new Function("return " + head + "stB")(), "function"); }
        export function TestB(t) { t.assert.Equal(typeof new Function("return " + head + "stA")(), "function"); }
    """,
    "globalThis": """
        const head = "Te";
        export function TestA(t) { t.assert.Equal(typeof (globalThis as any)[head + "stB"], "function"); }
        export function TestB(t) { t.assert.Equal(Object.keys(globalThis).includes(head + "stA"), true); }
    """,
    "escaped name": """
        export function TestA(t) { t.assert.Equal(typeof T\\u0065stB, "function"); }
        export function TestB(t) { t.assert.Equal(typeof Test\\u0041, "function"); }
    """,
    "other letters": """
        export function TestÄ(t) { t.assert.Equal(typeof TestÖ, "function"); }
        export function TestÖ(t) { t.assert.Equal(typeof TestÄ, "function"); }
        export function TestÄÖ(t) { t.assert.Equal([typeof TestÄ, typeof Test$], ["function", "function"]); }
        export function Test$(t) { t.assert.Equal(typeof TestÄÖ, "function"); }
    """,
    "own source": """
        export function TestA(t) { t.assert.Contains(TestB.toString(), "needle"); }
        export function TestB(t) { const needle = 1; t.assert.Contains(TestA.toString(), "TestB"); }
    """,
    "text that quotes a test": """
        const text = `
function TestA(t) {
  t.assert.Equal(text.length, text.length);
}
`;
        export function TestB(t) { t.assert.Contains(text, "assert.Equal(text.length"); }
        export function TestA(t) {
          t.assert.Equal(text.length, text.length);
        }
        export function TestC(t) { t.assert.Contains(text, "assert.Equal(text.length"); }
    """,
    "names within names": """
        export function TestA(t) { t.assert.Equal(TestAB(), "ab"); }
        function TestABC() { return "abc"; }
        export function TestAB(t?) { return "ab"; }
        export function TestB(t) { t.assert.Equal(TestABC() + TestAB(), "abcab"); }
    """,
    "default parameters": """
        export function TestA(t, ctx, other = TestB) { t.assert.Equal(other.name, "TestB"); }
        export function TestB(t, ctx, other = TestA) { t.assert.Equal(other.name, "TestA"); }
    """,
    "shorthand": """
        export function TestA(t) { t.assert.Equal(Object.keys({ TestB }), ["TestB"]); t.assert.NotNil({ TestB }.TestB); }
        export function TestB(t) { t.assert.NotNil({ TestA }.TestA); }
    """,
    "in a template": """
        export function TestA(t) { t.assert.Equal(`${TestB.name}!`, "TestB!"); }
        export function TestB(t) { t.assert.Equal(`${typeof TestA}!`, "function!"); }
    """,
    "TestMain": """
        export function TestMain(m) { for (const test of [TestA, TestB]) (test as any).seen = true; return m.Run(); }
        export function TestA(t) { t.assert.True((TestA as any).seen); }
        export function TestB(t) { t.assert.True((TestB as any).seen); }
    """,
    "generated": """
        function make(n) { return (t) => t.assert.Equal(n, n); }
        export const TestA = make(1);
        export const TestB = make(2), TestC = make(3);
    """,
}


def test_a_test_sees_its_whole_module_in_any_order(app: MakeApplication) -> None:
    files = {f"m{number}_test.ts": code for number, code in enumerate(SLICED.values())}
    here = app(files)
    names = list(SLICED)
    results = here.results("-i", "scripts.demo")
    failed = {
        (names[int(name[1:].partition(".")[0])], name): r.get("error")
        for name, r in results.items()
        if r["status"] != "passed"
    }
    assert failed == {}
    assert len(results) > 2 * len(SLICED)


def test_tests_pass_in_every_order(app: MakeApplication) -> None:
    bodies = {
        "TestA": "state.push(1); t.assert.Len(state, 1);",
        "TestB": "t.assert.Len(state, 0); Array.prototype.includes = () => true;",
        "TestC": "t.assert.False([].includes(1)); state.push(2);",
    }
    files = {}
    for number, order in enumerate(permutations(bodies)):
        tests = [f"export function {name}(t) {{ {bodies[name]} }}" for name in order]
        files[f"m{number}_test.ts"] = "\n".join(["const state = [];", *tests])
    results = app(files).results("-i", "scripts.demo", code=0)
    assert len(results) == 18


def test_a_large_module_is_run_in_pieces_with_true_positions(app: MakeApplication) -> None:
    lines = ["let count = 0;"]
    for number in range(300):
        lines += [
            f"export function Test{number}(t) {{",
            "  count++;",
            f"  t.assert.Equal(count, {1 if number % 100 else 2});",
            "}",
        ]
    results = app({"a_test.ts": "\n".join(lines)}).results("-i", "scripts.demo.a", "--parallel", "2", code=1)
    assert list(results) == [f"Test{number}" for number in range(300)]
    failed = {name: record["location"] for name, record in results.items() if record["status"] == "failed"}
    assert failed == {f"Test{n}": f"assistants/demo/src/a_test.ts:{4 * n + 4}:12" for n in (0, 100, 200)}
