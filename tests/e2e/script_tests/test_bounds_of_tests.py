"""Limits of one test: exceeding them is an error of that test only."""

from __future__ import annotations

import pytest
from command import MakeApplication, Record
from table_tests import each

PASSING = "export function TestPasses(t) { t.assert.True(true); }\n"
AT = "assistants/demo/src/"


TOO_DEEP = "RangeError: Maximum call stack size exceeded; its place is not known, --story shows what ran"
"""Of a module with a word for catching."""
BOUNDS = {
    "TestRecursion": ("const f = (n) => f(n + 1) + 1; f(0);", TOO_DEEP),
    "TestGetterRecursion": (
        "const o = { get a() { return this.a; } }; o.a;",
        TOO_DEEP,
    ),
    "TestNestedJSON": ('JSON.parse("[".repeat(200000));', TOO_DEEP),
    "TestArrays": ("const all = []; for (;;) all.push(new Array(100_000).fill(1));", "InternalError: out of memory"),
    "TestBuffers": ("const all = []; for (;;) all.push(new ArrayBuffer(1 << 20));", "InternalError: out of memory"),
    "TestString": ('let s = "abc"; for (;;) s += s;', "InternalError: string too long"),
    "TestFullMemory": (
        "for (const size of [1 << 20, 1 << 10, 16]) try { for (;;) kept.push(new ArrayBuffer(size)); } catch {} t.fail('lost');",
        "out of memory: the test left its realm unable to report the failure",
    ),
    "TestHugeBuffer": ("new ArrayBuffer(1e12);", "RangeError: invalid array buffer length"),
    "TestCyclicArgument": (
        'const a: any = {}; a.a = a; Process("utils.str.Concat", a);',
        "Cannot call utils.str.Concat: its arguments are not JSON: TypeError: circular reference",
    ),
    "TestBigIntArgument": (
        'Process("utils.str.Concat", [1n]);',
        "Cannot call utils.str.Concat: its arguments are not JSON: TypeError: BigInt are forbidden in JSON.stringify",
    ),
    "TestLargeArgument": (
        'Process("utils.str.Concat", "x".repeat(33e6));',
        "Cannot call utils.str.Concat: its arguments take 33000004 characters as JSON, the limit is 32000000",
    ),
    "TestUnknownProcess": (
        'Process("models.user.Find", 1);',
        'Process "models.user.Find" is not available here: mock it with t.mock.process("models.user.Find", ...)',
    ),
    "TestProcessWithEmptyName": ('Process("");', "Process takes a name as its first argument"),
    "TestProcessOfNoGroup": (
        'Process(".x");',
        'Process ".x" is not available here: mock it with t.mock.process(".x", ...)',
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


@each("test", BOUNDS)
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


def test_output_is_bounded(app: MakeApplication) -> None:
    code = """
        export function TestLines(t) { const line = "x".repeat(999); for (let i = 0; i < 50000; i++) console.log(line); console.log("the last"); }
        export function TestOneLine(t) { console.log("y".repeat(50e6)); console.log("after"); }
    """
    results = app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=0)
    lines = results["TestLines"]["logs"]
    assert lines[:999] == ["x" * 999] * 999 and lines[-200:] == [*["x" * 999] * 199, "the last"]
    cut = "[warn] output truncated: 48802 lines are left out"
    assert [line for line in lines if line[0] == "["] == [cut]
    assert results["TestOneLine"]["logs"] == [f"{'y' * 65_536} ... (49868928 characters) ... {'y' * 65_536}", "after"]


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
    assert "    └─ assertion failed: bad \\ud800" in run.stdout.splitlines()
    results = here.results("-i", "scripts.demo.a", code=1)
    assert results["TestNul"]["logs"] == ["a\0b"]
    assert results["TestNul"]["assertion"] == {"type": "Equal", "expected": "c", "actual": "a\0b", "message": "nul \0"}


def test_the_last_lines_before_a_failure_are_shown_in_each_format(app: MakeApplication) -> None:
    code = """
        export function TestLong(t) {
          for (let i = 0; i < 12000; i++) console.log("line " + i);
          console.log("two\\nlines");
          t.fail("long");
        }
    """
    here = app({"a_test.ts": code})
    formats = ("a.xml", "a.md", "a.ctrf.json", "a.jsonl")
    run = here.run("-i", "scripts.demo.a", *(word for name in formats for word in ("-o", name)))
    shown = [line.strip() for line in run.stdout.splitlines()]
    first = shown.index("line 0")
    assert shown[first + 49 : first + 53] == ["line 49", "... 11752 lines left out", "line 11802", "line 11803"]
    assert shown[first + 249 : first + 251] == ["two", "lines"]
    for name in formats:
        text = (here.root / name).read_text()
        assert "line 11802" in text and "line 11999" in text, name
