"""What a test leaves unfinished: timers are fired when its function has settled, and what is left then is a warning."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from command import MakeApplication, Record, given_time
from table_tests import each

ENDED = "after the test function ended"
LATE = f" ({ENDED})"
REJECTED = f" (in unhandled rejection, {ENDED})"
THROWN = f" (in uncaught exception, {ENDED})"
HELPERS = """
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
async function Save(item) { await sleep(5); if (!item) throw new Error("empty item"); return item; }
async function never() { await new Promise(() => {}); }
async function* numbers() { yield 1; await sleep(3); yield 2; }
"""

FAILS: dict[str, tuple[str, list[str]]] = {
    "TestForgotAwait": ("async (t) => { Save(''); }", ["empty item" + REJECTED]),
    "TestThen": ("async (t) => { Save('').then(() => t.fail('should have failed')); }", ["empty item" + REJECTED]),
    "TestThenFails": ("async (t) => { Save('x').then(() => t.fail('should have failed')); }", ["should have failed" + LATE]),
    "TestCatchFails": ("(t) => { Save('').catch((e) => t.assert.Equal(e.message, 'other', 'message')); }", ["assertion failed: message" + LATE]),
    "TestLateAssert": ("(t) => { setTimeout(() => t.assert.Equal(1, 2), 1); }", ["assertion failed: Not equal" + LATE]),
    "TestLateThrow": ("(t) => { setTimeout(() => { throw new Error('late'); }, 1); }", ["late" + THROWN]),
    "TestLateRequire": ("(t) => { setTimeout(() => { t.require.Equal(1, 2); t.fail('not reached'); }, 1); }", ["assertion failed: Not equal" + LATE]),
    "TestLateFatal": ("(t) => { setTimeout(() => { t.fatal('one'); }, 1); }", ["one" + LATE]),
    "TestLateError": ("(t) => { setTimeout(() => t.error('bad'), 1); }", ["bad" + LATE]),
    "TestLateSnapshot": ("async (t) => { sleep(1).then(() => t.assert.Len([1], 2, 'length')); }", ["assertion failed: length" + LATE]),
    "TestLatePanic": ("(t) => { setTimeout(() => t.assert.NoPanic(async () => { await sleep(2); throw 1; }, 'calm'), 1); }", ["assertion failed: calm" + LATE]),
    "TestAfterFailure": ("(t) => { setTimeout(() => t.fail('two'), 1); setTimeout(() => t.fail('three'), 2); t.fail('one'); }", ["one", "two" + LATE, "three" + LATE]),
    "TestAfterThrow": ("(t) => { setTimeout(() => t.fail('two'), 1); throw new Error('one'); }", ["one", "two" + LATE]),
    "TestAfterSkip": ("(t) => { setTimeout(() => t.fail('one'), 1); t.skip('later'); }", ["one" + LATE]),
    "TestInOrder": ("(t) => { for (const ms of [30, 10, 20]) setTimeout(() => t.fail(String(ms)), ms); }", [f"{ms}{LATE}" for ms in (10, 20, 30)]),
    "TestExactly": ("async (t) => { setTimeout(() => t.fail('exactly'), 1000); await null; }", ["exactly" + LATE]),
    "TestFromJob": ("async (t) => { Promise.resolve().then(() => setTimeout(() => t.fail('exactly'), 1000)); }", ["exactly" + LATE]),
    "TestFromMicrotask": ("(t) => { queueMicrotask(() => setTimeout(() => t.fail('one'), 5)); }", ["one" + LATE]),
    "TestNested": ("(t) => { setTimeout(() => setTimeout(() => t.fail('inner'), 500), 400); }", ["inner" + LATE]),
    "TestImmediate": ("(t) => { setImmediate(() => t.fail('at once')); }", ["at once" + LATE]),
    "TestGenerator": ("(t) => { (async () => { for await (const n of numbers()) if (n === 2) t.fail('two'); })(); }", ["two" + LATE]),
    "TestReturned": ("async (t) => { const both = [Save('a'), Save('')]; await both[0]; both[0].then(() => sleep(900)).then(() => t.fail('late')); }", ["empty item" + REJECTED, "late" + LATE]),
    "TestFromCleanup": ("(t) => { t.cleanup(() => { setTimeout(() => t.fail('cleaned'), 5); }); }", ["cleaned" + LATE]),
    "TestFromAwaitingCleanup": ("(t) => { t.cleanup(async () => { await null; Save(''); }); }", ["empty item" + REJECTED]),
    "TestSub": ("(t) => { t.run('s', (t) => { setTimeout(() => t.fail('in s'), 3); }); }", ["subtest s failed"]),
    "TestSubAsync": ("async (t) => { await t.run('s', async (t) => { setTimeout(() => t.fail('in s'), 3); }); }", ["subtest s failed"]),
    "TestSubNotAwaited": ("(t) => { t.run('s', async (t) => { setTimeout(() => t.fail('in s'), 3); }); }", ["subtest s failed"]),
    "TestSubDeep": ("(t) => { t.run('a', (t) => { t.run('b', (t) => { setTimeout(() => t.fail('in b'), 3); }); }); }", ["subtest a failed"]),
    "TestSubRejects": ("async (t) => { await t.run('s', async (t) => { Save(''); }); }", ["subtest s failed"]),
    "TestLateSub": ("(t) => { setTimeout(() => t.run('s', (t) => t.fail('in s')), 3); }", ["subtest s failed"]),
    "TestLateSubAsync": ("(t) => { setTimeout(() => t.run('s', async (t) => { await sleep(3); t.fail('in s'); }), 3); }", ["subtest s failed"]),
    "TestChainFails": ("(t) => { let n = 0; const go = () => setTimeout(() => (++n === 50 ? t.fail('fifty') : go()), 1); go(); }", ["fifty" + LATE]),
    "TestCalledScript": ("(t) => { t.assert.NoPanic(() => Process('scripts.demo.tools.Leaves', ''), 'called'); }", ["assertion failed: called"]),
}  # fmt: skip

PASSES: dict[str, tuple[str, list[str]]] = {
    "TestAwaits": ("async (t) => { await Save('x'); await sleep(3); t.log('done'); }", ["done"]),
    "TestLateIsFine": ("(t) => { Save('x').then((item) => t.assert.Equal(item, 'x')); }", []),
    "TestBeforeCleanup": ("(t) => { setTimeout(() => t.log('timer'), 900); t.cleanup(() => t.log('cleanup')); t.log('test'); }", ["test", "timer", "cleanup"]),
    "TestRaceRejects": ("async (t) => { await Promise.race([Save('x'), new Promise((_, no) => setTimeout(() => no(new Error('timeout')), 500))]); }", []),
    "TestRaceOfNever": ("async (t) => { await Promise.race([never(), sleep(3)]); await Promise.any([sleep(1), never()]); }", []),
    "TestNobodyWaits": ("(t) => { new Promise(() => {}); Promise.all([new Promise(() => {})]).then(() => t.fail('no')); }", []),
    "TestClears": ("(t) => { const ids = [setTimeout(() => t.fail('no'), 5), setInterval(() => {}, 1)]; ids.forEach(clearTimeout); }", []),
    "TestCleanupClears": ("(t) => { const id = setInterval(() => t.fail('no'), 1); t.cleanup(() => clearInterval(id)); }", []),
    "TestGuard": ("async (t) => { const limit = setTimeout(() => t.fail('too slow'), 700); await t.run('s', async () => { setTimeout(() => {}, 900); }); clearTimeout(limit); }", []),
    "TestSiblings": ("""async (t) => {
        const all = [t.run('a', async () => { setTimeout(() => {}, 950); }), t.run('b', async (t) => { const from = Date.now(); await sleep(20); t.assert.GreaterOrEqual(performance.now(), 0); t.assert.Less(Date.now() - from, 900); })];
        await Promise.all(all);
      }""", []),
    "TestBeside": ("""async (t) => {
        const other = async () => { const from = performance.now(); await sleep(5); await sleep(40); return performance.now() - from; };
        const [, took] = await Promise.all([t.run('a', async () => { setTimeout(() => {}, 500); await sleep(15); }), other()]);
        t.assert.GreaterOrEqual(took, 44);
      }""", []),
    "TestDate": ("""(t) => {
        const from = Date.now();
        setTimeout(() => { for (const now of [Date.now(), new Date().getTime(), +new Date(new Date())]) t.assert.GreaterOrEqual(now - from, 900); t.assert.True(new Date() instanceof Date); }, 900);
        t.cleanup(() => t.assert.Less(Date.now() - from, 500));
      }""", []),
    "TestMockedDate": ("(t) => { t.mock.now('2026-01-01T00:00:00Z'); setTimeout(() => t.assert.Equal(new Date().toISOString(), '2026-01-01T00:00:00.500Z'), 500); }", []),
    "TestOwnDate": ("(t) => { const own = class extends Date { static now() { return 7; } }; const real = Date; globalThis.Date = own; setTimeout(() => t.assert.Equal(Date.now(), 7), 500); t.cleanup(() => { globalThis.Date = real; }); }", []),
    "TestSubSync": ("(t) => { t.assert.Equal(t.run('s', () => { setTimeout(() => {}, 1); }), true); }", []),
    "TestEnough": ("(t) => { for (let i = 0; i < 1000; i++) setTimeout(() => {}, 1); }", []),
    "TestLateSleepIsReal": ("(t) => { setTimeout(() => { const from = performance.now(); time.Sleep(3); t.assert.Greater(performance.now() - from, 2); }, 500); }", []),
    "TestCalledScriptEnds": ("(t) => { t.assert.Equal(Process('scripts.demo.tools.Leaves', 'x'), 'left'); }", []),
}  # fmt: skip

CLEAR = "clear it in the test or in t.cleanup"
WAITING = "is still waiting: await it, or settle what it waits for"
WARNS: dict[str, tuple[str, list[str]]] = {
    "TestInterval": ("(t) => { setInterval(() => {}, 10); }", ["An interval is still set: " + CLEAR]),
    "TestLater": ("(t) => { setTimeout(() => t.fail('no'), 1001 + 50); }", ["A timer of 1051 ms is still set: clear it, or await what it settles"]),
    "TestNestedLater": ("(t) => { setTimeout(() => setTimeout(() => t.fail('no'), 9000), 500); }", ["A timer of 9000 ms is still set: clear it, or await what it settles"]),
    "TestFromCleanupLater": ("(t) => { t.cleanup(() => { setTimeout(() => t.fail('no'), 3000); }); }", ["A timer of 3000 ms is still set: clear it, or await what it settles"]),
    "TestNever": ("(t) => { never(); }", [f"never() {WAITING}"]),
    "TestNeverThen": ("(t) => { never().then(() => t.fail('no')); }", [f"never() {WAITING}"]),
    "TestOutermost": ("(t) => { async function outer() { await never(); } outer(); }", [f"outer() {WAITING}"]),
    "TestMethod": ("(t) => { class Store { async load() { await never(); } } new Store().load(); }", [f"load() {WAITING}"]),
    "TestAnonymous": ("(t) => { (async () => { await never(); })(); }", [f"An async function {WAITING}"]),
    "TestForAwait": ("(t) => { async function read() { for await (const n of (async function* () { await never(); })()) t.fail('no'); } read(); }", [f"read() {WAITING}"]),
    "TestGeneratorNext": ("(t) => { const all = (async function* () { await never(); })(); all.next(); }", [f"The next value of an async generator {WAITING}"]),
    "TestForAwaitList": ("(t) => { async function read() { for await (const n of [never()]) t.fail('no'); } read(); }", [f"read() {WAITING}"]),
    "TestGeneratorHeld": ("(t) => { const all = numbers(); all.next(); setInterval(() => {}, 1); }", ["An interval is still set: " + CLEAR]),
    "TestManyOfOne": ("(t) => { for (let i = 0; i < 3; i++) setInterval(() => {}, 10); }", [f"An interval is still set: {CLEAR} (3 of them)"]),
    "TestEndless": ("(t) => { const again = () => { setTimeout(again, 0); }; again(); }", ["A timer is still set after 1000 others fired: it may keep setting itself"]),
    "TestSkipped": ("(t) => { setInterval(() => {}, 10); t.skip('later'); }", ["An interval is still set: " + CLEAR]),
    "TestFailed": ("(t) => { setInterval(() => {}, 10); t.fail('one'); }", ["An interval is still set: " + CLEAR]),
    "TestSubLeaves": ("(t) => { t.run('s', (t) => { setInterval(() => {}, 10); }); }", ["An interval is still set: " + CLEAR]),
    "TestBoth": ("async (t) => { never(); setInterval(() => {}, 10); await sleep(1); }", ["An interval is still set: " + CLEAR, f"never() {WAITING}"]),
}  # fmt: skip

TOOLS = """
    export function Leaves(item) { setTimeout(() => { if (!item) throw new Error("left behind"); }, 500); return "left"; }
"""


def code_of(cases: dict[str, tuple[str, list[str]]]) -> str:
    return HELPERS + "\n".join(f"export const {name} = {body};" for name, (body, _) in cases.items())


@pytest.fixture(scope="module")
def results(shared_app: MakeApplication) -> dict[str, Record]:
    files = {"fails_test.ts": code_of(FAILS), "passes_test.ts": code_of(PASSES), "warns_test.ts": code_of(WARNS)}
    modules = ("-i", "scripts.demo.fails", "-i", "scripts.demo.passes", "-i", "scripts.demo.warns")
    report = shared_app({**files, "tools.ts": TOOLS}).report(*modules, "--timeout", "10s", code=1)
    return {record["name"]: record for part in report["reports"] for record in part["results"]}


def errors_of(record: Record) -> list[str]:
    return record.get("errors") or ([record["error"]] if "error" in record else [])


@each("test", FAILS)
def test_what_fails_late_fails_the_test(results: dict[str, Record], test: str) -> None:
    assert (results[test]["status"], errors_of(results[test])) == ("failed", FAILS[test][1])
    assert "warnings" not in results[test]


@each("test", PASSES)
def test_honest_work_passes(results: dict[str, Record], test: str) -> None:
    record = results[test]
    assert (record["status"], errors_of(record), record["logs"]) == ("passed", [], PASSES[test][1])
    assert "warnings" not in record


@each("test", WARNS)
def test_what_is_left_is_a_warning(results: dict[str, Record], test: str) -> None:
    warnings = results[test]["warnings"]
    assert [warning["message"] for warning in warnings] == WARNS[test][1]
    assert {warning["kind"] for warning in warnings} == {"pending"}


def test_a_warning_fails_nothing(results: dict[str, Record]) -> None:
    other = {"TestSkipped": "skipped", "TestFailed": "failed"}
    assert {test: results[test]["status"] for test in WARNS} == {test: other.get(test, "passed") for test in WARNS}


def test_a_failure_in_a_subtest_is_that_of_the_subtest(results: dict[str, Record]) -> None:
    for test in ("TestSub", "TestSubAsync", "TestSubNotAwaited"):
        (step,) = results[test]["steps"]
        assert (step["status"], step["error"]) == ("failed", "in s" + LATE)
    (outer,) = results["TestSubDeep"]["steps"]
    assert (outer["error"], outer["steps"][0]["error"]) == ("subtest b failed", "in b" + LATE)
    assert results["TestSubRejects"]["steps"][0]["error"] == "empty item" + REJECTED
    assert results["TestLateSub"]["steps"][0]["status"] == results["TestLateSubAsync"]["steps"][0]["status"] == "failed"


def test_every_failure_and_warning_is_at_its_own_place(app: MakeApplication) -> None:
    code = """\
async function Save() {
  await null;
  setTimeout(() => {
    throw new Error("late");
  }, 10);
}
async function never() {
  await new Promise(() => {});
}
export function TestFails() {
  Save();
}
export function TestLeft() {
  never();
  setInterval(() => {}, 1);
}
"""
    results = app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=1)
    here = "assistants/demo/src/a_test.ts"
    assert results["TestFails"]["location"].startswith(f"{here}:4:")
    assert [warning["location"] for warning in results["TestLeft"]["warnings"]] == [f"{here}:15:3", f"{here}:14:3"]


HOOKS = """
    let every;
    export async function TestMain(m) { setTimeout(() => console.log("of main"), 100); await m.Run(); AFTER_MAIN }
    export function BeforeAll() { every = setInterval(() => {}, 5); }
    export function BeforeEach(t) { setTimeout(() => t.log("of before"), 200); }
    export function AfterEach(t) { t.log("after", t.failed); AFTER_EACH }
    export function AfterAll() { clearInterval(every); AFTER_ALL }
    export function TestA(t) { setTimeout(() => t.log("of test"), 150); t.log("test"); BODY }
"""


def hooks(app: MakeApplication, code: int, **more: str) -> Record:
    text = HOOKS
    for name in ("AFTER_MAIN", "AFTER_EACH", "AFTER_ALL", "BODY"):
        text = text.replace(name, more.get(name, ""))
    return app({"a_test.ts": text}).results("-i", "scripts.demo.a", code=code)["TestA"]


def test_timers_of_hooks_are_fired_with_those_of_the_test(app: MakeApplication) -> None:
    record = hooks(app, 0)
    assert record["logs"] == ["test", "of main", "of test", "of before", "after false"]
    assert "warnings" not in record


@pytest.mark.parametrize("hook", ["AFTER_EACH", "AFTER_ALL", "AFTER_MAIN"])
def test_what_hooks_leave_is_fired_too(app: MakeApplication, hook: str) -> None:
    record = hooks(app, 1, **{hook: "setTimeout(() => { throw new Error('left'); }, 20);"})
    assert errors_of(record) == ["left" + THROWN]


def test_a_test_is_awaited_also_where_test_main_does_not(app: MakeApplication) -> None:
    code = (
        HELPERS
        + """
      export function TestMain(m) { m.Run(); }
      export async function TestA(t) { await sleep(1100); t.fail("in the end"); }
    """
    )
    record = app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=1)["TestA"]
    assert (errors_of(record), "warnings" in record) == (["in the end"], False)


def test_a_late_failure_is_known_after_the_test(app: MakeApplication) -> None:
    assert hooks(app, 1, BODY="setTimeout(() => t.fail('x'), 5);")["logs"][-1] == "after true"


def test_strict_fails_what_would_be_a_warning(app: MakeApplication) -> None:
    here = app(
        {"a_test.ts": HELPERS + "export function TestA() { never(); }\nexport function TestB() { Save('x'); }\n"}
    )
    assert here.results("-i", "scripts.demo.a", code=0)["TestA"]["status"] == "passed"
    results = here.results("-i", "scripts.demo.a", "--strict", code=1)
    assert (results["TestA"]["cause"], results["TestA"]["error"]) == ("pending", f"never() {WAITING}")
    assert results["TestB"]["status"] == "passed"
    shown = here.run("-i", "scripts.demo.a", "--strict").stdout
    assert re.search(r"> \d+ \| export function TestA\(\) \{ never\(\); \}", shown)
    assert "--run '^TestA$' --strict" in shown


def test_every_run_of_a_test_is_checked(app: MakeApplication) -> None:
    code = "export function TestA(t, ctx) { if (ctx.metadata.run === 2) setTimeout(() => t.fail('x'), 5); else setInterval(() => {}, 5); }"
    record = app({"a_test.ts": code}).results("-i", "scripts.demo.a", "--runs", "3", code=1)["TestA"]
    assert [run["status"] for run in record["run_details"]] == ["passed", "failed", "passed"]
    assert len(record["warnings"]) == 1


def test_a_late_timer_that_loops_costs_its_test_only(app: MakeApplication) -> None:
    code = "export function TestA() { setTimeout(() => { for (;;); }, 5); }\nexport function TestB() {}\n"
    here = app({"a_test.ts": code})
    results = given_time(lambda t: here.results("-i", "scripts.demo.a", "--timeout", t, code=1), 0.5, "TestB")
    assert (results["TestA"]["cause"], results["TestB"]["status"]) == ("timeout", "passed")


def test_many_that_are_left_are_counted(app: MakeApplication) -> None:
    code = "export function TestA() { for (let i = 0; i < 30; i++) setTimeout(() => {}, 2000 + i); }"
    warnings = app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=0)["TestA"]["warnings"]
    assert (len(warnings), warnings[20]["message"]) == (21, "10 more timers and calls are left")


def test_a_deadlock_says_nothing_of_what_it_waits_for(app: MakeApplication) -> None:
    record = app({"a_test.ts": HELPERS + "export async function TestA() { await never(); }"}).results(
        "-i", "scripts.demo.a", code=1
    )["TestA"]
    assert record["error"].startswith("deadlock") and "warnings" not in record


def test_a_warning_stands_under_a_test_that_passed(app: MakeApplication) -> None:
    here = app({"a_test.ts": "export function TestA() {\n  setInterval(() => {}, 5);\n}\n"})
    shown = here.run("-i", "scripts.demo.a").stdout
    assert f"    ⚠ An interval is still set: {CLEAR}\n      at assistants/demo/src/a_test.ts:2:3\n" in shown
    assert "1 passed, 0 failed, 0 skipped, 1 warning (" in shown


def test_a_warning_names_the_line_of_the_test_too(app: MakeApplication) -> None:
    helper = "export function start() {\n  return setInterval(() => {}, 5);\n}\n"
    test = """import { start } from "./helper";
export function TestA() {
  start();
}
export function TestB(t) {
  t.run("sub", () => {
    [1].forEach(() => start());
  });
}
"""
    here = app({"helper.ts": helper, "a_test.ts": test, "b_test.ts": ""})
    at = "assistants/demo/src"
    both = here.run("-i", "scripts.demo.a").stdout, here.run("-i", "scripts.demo").stdout
    for shown, indent in zip(both, ("      ", "    "), strict=True):
        assert f"{indent}at {at}/helper.ts:2:10\n{indent}called from {at}/a_test.ts:3:3\n" in shown
        assert f"{indent}called from {at}/a_test.ts:7:" in shown
        assert f"{indent}called from {at}/a_test.ts:6:" in shown


def test_a_script_that_breaks_lists_hides_nothing(app: MakeApplication) -> None:
    code = """export function TestA(t) {
      setInterval(() => {}, 5);
      for (const name of ["map", "filter", "push", "sort", "find", "forEach"]) Array.prototype[name] = () => { throw new Error(name); };
      Object.defineProperty(Object.prototype, "warnings", { get: () => [], set() {} });
    }"""
    assert len(app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=0)["TestA"]["warnings"]) == 1


def test_what_a_hook_of_an_agent_leaves_fails_its_call(app: MakeApplication) -> None:
    files: dict[str, Any] = {
        "index.ts": """export function Create(ctx, messages) {
          setTimeout(() => { if (messages[0].content === "bad") throw new Error("left behind"); }, 300);
          return { messages };
        }
        export function Next() { return { data: "fine" }; }""",
    }
    cases = [{"id": id, "input": id, "assert": {"type": "equals", "value": "fine"}} for id in ("good", "bad")]
    files["/assistants/demo/tests/a.jsonl"] = "\n".join(map(json.dumps, cases))
    report = app(files).report("-i", "assistants/demo/tests/a.jsonl", code=1)
    results = {record["id"]: record for record in report["results"]}
    assert results["good"]["status"] == "passed"
    assert "left behind" in results["bad"]["error"]


HELPED = """
import { sleep, later, Save, Check, Schedule } from "./work";
export async function TestForgotten(t) {
  Save("");
}
export function TestThroughHelper(t) {
  later(3, Check);
}
export function TestThroughTwo(t) {
  Schedule();
}
export function TestNoCode(t) {
  setTimeout(t.assert.Equal, 3, 1, 2);
}
export function TestTimerOfTimer(t) {
  later(3, Schedule);
}
export function TestOwnCode(t) {
  later(3, () => {
    Check();
  });
}
export async function TestInTime(t) {
  Schedule();
  await sleep(20);
}
"""
HELPERS_OF_ANOTHER_FILE = """
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
export function later(ms, work) {
  setTimeout(work, ms);
}
export async function Save(item) {
  await sleep(5);
  if (!item) throw new Error("empty item");
}
export function Check() {
  throw new Error("checked");
}
export function Schedule() {
  later(2, () => Check());
}
"""


def test_what_a_timer_of_a_helper_fails_names_the_line_of_the_test(app: MakeApplication) -> None:
    files = {"work.ts": HELPERS_OF_ANOTHER_FILE, "work_test.ts": HELPED}
    results = app(files).results("-i", "scripts.demo.work", code=1)
    lines = {test: re.findall(r"work_test\.ts:(\d+):", record["stack_trace"]) for test, record in results.items()}
    assert lines == {
        "TestForgotten": ["4"],
        "TestThroughHelper": ["7"],
        "TestThroughTwo": ["10"],
        "TestNoCode": ["13"],
        "TestTimerOfTimer": ["16"],
        "TestOwnCode": ["20"],
        "TestInTime": ["24"],
    }
