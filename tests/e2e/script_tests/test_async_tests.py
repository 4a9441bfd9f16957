"""Asynchronous tests, rejections, cleanups, hooks around tests, and the ways to end a test."""

from __future__ import annotations

import pytest
from command import MakeApplication, Record
from table_tests import each

PASSED = ("passed", [])
UNHANDLED = " (in unhandled rejection)"

CASES: dict[str, tuple[str, tuple[str, list[str]]]] = {
    # awaiting
    "TestAwait": ("async (t) => { t.assert.Equal(await Promise.resolve(1), 1); }", PASSED),
    "TestAwaitFails": ("async (t) => { await null; t.assert.Equal(1, 2, 'after await'); }", ("failed", ["assertion failed: after await"])),
    "TestReturnsPromise": ("(t) => Promise.resolve().then(() => t.fail('in then'))", ("failed", ["in then"])),
    "TestReturnsThenable": ("(t) => ({ then(done) { t.log('then'); done(); } })", PASSED),
    "TestThenableRejects": ("(t) => ({ then(done, failed) { failed(new Error('no')); } })", ("failed", ["no"])),
    "TestThenableThrows": ("(t) => ({ then() { throw new Error('then throws'); } })", ("failed", ["then throws"])),
    "TestRejects": ("async (t) => { throw new TypeError('no'); }", ("failed", ["TypeError: no"])),
    "TestRejectsUndefined": ("() => Promise.reject()", ("failed", ["thrown, not an Error: undefined"])),
    "TestTimers": (
        """async (t) => {
          const seen = [];
          setTimeout(() => seen.push("late"), 3); setTimeout(() => seen.push("early"), 1); queueMicrotask?.(() => seen.push("job"));
          await new Promise((done) => setTimeout(done, 5));
          t.assert.Equal(seen, ["job", "early", "late"]);
        }""",
        PASSED,
    ),
    "TestTimerThrows": (
        "async (t) => { setTimeout(() => { throw new Error('in timer'); }, 0); await new Promise((d) => setTimeout(d, 3)); }",
        ("failed", ["in timer (in uncaught exception)"]),
    ),
    "TestTimerThrowsNull": (
        "async (t) => { setTimeout(() => { throw null; }, 0); await new Promise((d) => setTimeout(d, 3)); }",
        ("failed", ["null was thrown, possibly because the engine ran out of memory (in uncaught exception)"]),
    ),
    "TestFatalInTimer": ("async (t) => { setTimeout(() => t.fatal('one'), 0); await new Promise((d) => setTimeout(d, 3)); }", ("failed", ["one"])),
    "TestSkipInTimer": ("async (t) => { setTimeout(() => t.skip('one'), 0); await new Promise((d) => setTimeout(d, 3)); }", ("skipped", [])),
    "TestFatalInJob": ("async (t) => { Promise.resolve().then(() => t.fatal('one')); await null; await null; }", ("failed", ["one"])),
    "TestGenerator": (
        "function* (t) { t.fail('never runs'); }",
        ("failed", ["TypeError: it is a generator function: its body did not run"]),
    ),
    "TestAsyncGenerator": (
        "async function* (t) { t.fail('never runs'); }",
        ("failed", ["TypeError: it is a generator function: its body did not run"]),
    ),
    "TestReturnsAValue": ("(t) => ({ a: 1 })", PASSED),
    "TestReturnsAnIterator": ("(t) => new Map().set(1, 2).values()", PASSED),
    "TestReturnsNull": ("(t) => null", PASSED),
    "TestPromiseAll": ("async (t) => { t.assert.Equal(await Promise.all([1, Promise.resolve(2), { then: (d) => d(3) }]), [1, 2, 3]); }", PASSED),
    "TestForAwait": (
        "async (t) => { const seen = []; async function* all() { yield 1; yield 2; } for await (const x of all()) seen.push(x); t.assert.Equal(seen, [1, 2]); }",
        PASSED,
    ),
    "TestFinally": ("async (t) => { const seen = []; try { await Promise.reject(1); } catch (e) { seen.push(e); } finally { seen.push('f'); } t.assert.Equal(seen, [1, 'f']); }", PASSED),
    # rejections
    "TestUnhandled": ("(t) => { Promise.reject(new Error('alone')); }", ("failed", ["alone" + UNHANDLED])),
    "TestUnhandledJob": ("(t) => { Promise.resolve().then(() => { throw new Error('in job'); }); }", ("failed", ["in job" + UNHANDLED])),
    "TestUnhandledAsync": ("async (t) => { (async () => { await null; throw new Error('lost'); })(); await null; }", ("failed", ["lost" + UNHANDLED])),
    "TestUnhandledBranch": ("async (t) => { const p = Promise.reject(new Error('x')); p.catch(() => {}); p.then(() => {}); await null; }", ("failed", ["x" + UNHANDLED])),
    "TestUnhandledTwo": ("(t) => { Promise.reject(1); Promise.reject(2); }", ("failed", [f"thrown, not an Error: {n}{UNHANDLED}" for n in (1, 2)])),
    "TestHandledLater": ("async (t) => { const p = Promise.reject(new Error('x')); await null; await null; await p.catch(() => {}); }", PASSED),
    "TestHandledByTry": ("async (t) => { const p = (async () => { throw 1; })(); try { await p; } catch {} }", PASSED),
    "TestHandledBySettled": ("async (t) => { const [r] = await Promise.allSettled([Promise.reject(1)]); t.assert.Equal(r.status, 'rejected'); }", PASSED),
    "TestHandledByPanic": ("async (t) => { await t.assert.Panic(async () => { throw new Error('x'); }); }", PASSED),
    "TestPanicNotAwaited": ("(t) => { t.assert.NoPanic(async () => { await null; throw new Error('late'); }, 'not awaited'); }", ("failed", ["assertion failed: not awaited"])),
    # left behind
    "TestLeavesLateTimers": ("(t) => { setTimeout(() => { throw new Error('too late'); }, 5000); setInterval(() => {}, 1); }", PASSED),
    "TestAssertsAfterEnd": ("(t) => { Promise.resolve().then(() => t.assert.Equal(1, 2, 'in a job')); }", ("failed", ["assertion failed: in a job"])),
    # ending a test
    "TestSkip": ("(t) => { t.skip('later'); t.fail('not reached'); }", ("skipped", [])),
    "TestSkipAsync": ("async (t) => { await null; t.skip('later'); t.fail('not reached'); }", ("skipped", [])),
    "TestSkipAfterFailure": ("(t) => { t.fail('first'); t.skip('later'); }", ("failed", ["first"])),
    "TestSkipCaught": ("(t) => { try { t.skip('later'); } catch {} }", ("skipped", [])),
    "TestFail": ("(t) => { t.fail('one'); t.log('goes on'); t.fail(); }", ("failed", ["one", "t.fail was called"])),
    "TestFatal": ("(t) => { t.fatal('one'); t.fail('not reached'); }", ("failed", ["one"])),
    "TestFatalCaught": ("(t) => { try { t.fatal('one'); } catch {} t.log(t.failed); }", ("failed", ["one"])),
    "TestFatalAsync": ("async (t) => { await null; t.fatal('one'); t.fail('not reached'); }", ("failed", ["one"])),
    "TestFatalInCallback": ("(t) => { [1, 2].forEach((n) => t.fatal('at ' + n)); }", ("failed", ["at 1"])),
    "TestError": ("(t) => { t.error('bad', 1, { a: 1 }); t.log(t.failed); }", ("failed", ["bad 1 {a: 1}"])),
    "TestRequire": ("(t) => { t.require.Equal(1, 2, 'stops'); t.fail('not reached'); }", ("failed", ["assertion failed: stops"])),
    "TestRequireAsync": (
        "async (t) => { await t.require.NoPanic(async () => { throw new Error('x'); }, 'stops'); t.fail('not reached'); }",
        ("failed", ["assertion failed: stops"]),
    ),
    "TestOfTestify": ("(t) => { t.assert.NotNil(t); t.assert.NotNil(t, null); }", ("failed", ["assertion failed: NotNil takes no t: leave it out, t.assert.NotNil(...) knows its test"])),
    "TestSoft": ("(t) => { const held = t.assert.Equal(1, 2, 'one'); t.assert.True(held, 'two'); }", ("failed", ["assertion failed: one", "assertion failed: two"])),
    "TestFailed": ("(t) => { t.assert.False(t.failed); t.fail('now'); t.assert.True(t.failed); }", ("failed", ["now"])),
    "TestName": ("(t) => { t.assert.Equal(t.name, 'TestName'); }", PASSED),
    # cleanups
    "TestCleanupFails": ("(t) => { t.cleanup(() => { throw new Error('x'); }); }", ("failed", ["x (in cleanup)"])),
    "TestCleanupAsserts": ("(t) => { t.cleanup(async () => { await null; t.assert.True(false, 'c'); }); }", ("failed", ["assertion failed: c"])),
    "TestCleanupSkips": ("(t) => { t.cleanup(() => t.skip('late')); }", ("skipped", [])),
    "TestCleanupNotAFunction": ("(t) => { t.cleanup('x'); }", ("failed", ["TypeError: t.cleanup takes a function"])),
    "TestCleanupAfterThrow": ("(t) => { t.cleanup(() => t.log('cleaned')); throw new Error('x'); }", ("failed", ["x"])),
    "TestAllCleanupsRun": (
        "(t) => { t.cleanup(() => t.log('first')); t.cleanup(() => { throw new Error('x'); }); t.cleanup(() => t.log('last')); }",
        ("failed", ["x (in cleanup)"]),
    ),
    # subtests
    "TestSubAwaited": ("async (t) => { t.assert.True(await t.run('s', async (t) => { await null; })); }", PASSED),
    "TestSubNotAwaited": ("(t) => { t.run('s', async (t) => { await null; t.fail('in s'); }); }", ("failed", ["subtest s failed"])),
    "TestSubResult": ("(t) => { t.assert.False(t.run('s', (t) => t.fail('x'))); t.log('goes on'); }", ("failed", ["subtest s failed"])),
    "TestSubFatal": ("(t) => { t.run('s', (t) => t.fatal('x')); t.log('goes on'); }", ("failed", ["subtest s failed"])),
    "TestSubSkip": ("(t) => { t.run('s', (t) => t.skip('x')); t.log('goes on'); }", PASSED),
    "TestSubArguments": ("(t) => { t.run(); }", ("failed", ["TypeError: t.run takes (name, function)"])),
}  # fmt: skip
LOGS = {
    "TestReturnsThenable": ["then"],
    "TestFail": ["goes on"],
    "TestFatalCaught": ["true"],
    "TestError": ["[error] bad 1 {a: 1}", "true"],
    "TestCleanupAfterThrow": ["cleaned"],
    "TestAllCleanupsRun": ["last", "first"],
    "TestSubResult": ["goes on"],
    "TestSubFatal": ["goes on"],
    "TestSubSkip": ["goes on"],
}


@pytest.fixture(scope="module")
def results(shared_app: MakeApplication) -> dict[str, Record]:
    code = "\n".join(f"export const {name} = {body};" for name, (body, _) in CASES.items())
    return shared_app({"a_test.ts": code}).results("-i", "scripts.demo.a", "--timeout", "10s", code=1)


@each("test", CASES)
def test_a_test_ends_as_it_should(results: dict[str, Record], test: str) -> None:
    record = results[test]
    errors = record.get("errors") or ([record["error"]] if "error" in record else [])
    assert (record["status"], errors, record["logs"]) == (*CASES[test][1], LOGS.get(test, []))


def test_the_reason_of_a_skip_is_reported(results: dict[str, Record]) -> None:
    assert results["TestSkip"]["skip_reason"] == "later"
    assert results["TestSkipAfterFailure"]["skip_reason"] == "later"


def test_an_exception_in_a_timer_has_the_position_of_the_throw(app: MakeApplication) -> None:
    code = """export async function TestA(t) {
  setTimeout(() => {
    throw new TypeError("two\\nlines");
  }, 0);
  await new Promise((done) => setTimeout(done, 3));
}"""
    here = app({"a_test.ts": code})
    record = here.results("-i", "scripts.demo.a", code=1)["TestA"]
    assert record["error"] == "TypeError: two\nlines (in uncaught exception)"
    assert record["location"] == "assistants/demo/src/a_test.ts:3:15"
    assert "    └─ TypeError: two\n       lines (in uncaught exception)\n" in here.run("-i", "scripts.demo.a").stdout


def test_the_causes_of_failures(results: dict[str, Record]) -> None:
    causes = {
        name: results[name]["cause"]
        for name in ("TestAwaitFails", "TestFail", "TestFatal", "TestRejects", "TestUnhandled")
    }
    assert causes == {
        "TestAwaitFails": "assertion",
        "TestFail": "assertion",
        "TestFatal": "assertion",
        "TestRejects": "error",
        "TestUnhandled": "error",
    }


def test_steps_are_subtests_in_the_order_in_which_they_end(app: MakeApplication) -> None:
    code = """
        export async function TestA(t) {
          t.run("first", (t) => { t.run("inner one", (t) => {}); t.run("inner one", (t) => { t.fail("twice"); }); });
          const slow = t.run("slow", async (t) => { await new Promise((done) => setTimeout(done, 3)); t.log(t.name); });
          t.run("quick", (t) => t.skip("no time"));
          await slow;
        }
    """
    record = app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=1)["TestA"]

    def outline(step: Record) -> tuple[object, ...]:
        return (
            step["name"],
            step["status"],
            step.get("error"),
            step.get("skip_reason"),
            [outline(s) for s in step.get("steps", [])],
        )

    assert [outline(step) for step in record["steps"]] == [
        (
            "TestA/first",
            "failed",
            "subtest inner_one#01 failed",
            None,
            [
                ("TestA/first/inner_one", "passed", None, None, []),
                ("TestA/first/inner_one#01", "failed", "twice", None, []),
            ],
        ),
        ("TestA/quick", "skipped", None, "no time", []),
        ("TestA/slow", "passed", None, None, []),
    ]
    assert record["error"] == "subtest first failed"
    assert record["logs"] == ["TestA/slow"]


def test_cleanups_run_last_to_first_after_subtests_and_after_each(app: MakeApplication) -> None:
    code = """
        export function BeforeEach(t) { t.log("before"); t.cleanup(() => t.log("clean before")); }
        export function AfterEach(t) { t.log("after"); }
        export async function TestA(t) {
          t.cleanup(() => t.log("clean 1"));
          t.cleanup(async () => { await new Promise((done) => setTimeout(done, 2)); t.log("clean 2"); });
          t.run("sub", async (t) => { t.cleanup(() => t.log("clean sub")); await null; t.log("sub"); });
          t.log("test");
        }
    """
    assert app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=0)["TestA"]["logs"] == [
        "before",
        "test",
        "sub",
        "clean sub",
        "after",
        "clean 2",
        "clean 1",
        "clean before",
    ]


# Hooks around tests

ALL_HOOKS = """
    export async function TestMain(m, ctx) { console.log("main", typeof ctx.User.ID); const code = await m.Run(); console.log("code", code); }
    export async function BeforeAll(ctx) { await null; console.log("before all", typeof ctx.User.ID); }
    export function BeforeEach(t, ctx) { console.log("before", t.name, typeof ctx.User.ID); }
    export function AfterEach(t, ctx) { console.log("after", t.name, t.failed); }
    export function AfterAll(ctx) { console.log("after all"); }
    export function TestA(t) { console.log("test"); }
    export function TestB(t) { t.fail("x"); }
"""


def test_the_hooks_run_around_each_test_in_its_own_realm(app: MakeApplication) -> None:
    results = app({"a_test.ts": ALL_HOOKS}).results("-i", "scripts.demo.a", code=1)
    assert results["TestA"]["logs"] == [
        "main string",
        "before all string",
        "before TestA string",
        "test",
        "after TestA false",
        "after all",
        "code 0",
    ]
    assert results["TestB"]["logs"][-3:] == ["after TestB true", "after all", "code 1"]


HOOKS = {
    "BeforeAll throws": (
        "function BeforeAll() { throw new Error('x'); }",
        ("failed", "setup", ["x (in BeforeAll)"]),
        ["after", "after all"],
    ),
    "BeforeAll rejects": (
        "async function BeforeAll() { await null; throw new Error('x'); }",
        ("failed", "setup", ["x (in BeforeAll)"]),
        ["after", "after all"],
    ),
    "BeforeEach throws": (
        "function BeforeEach() { throw new Error('x'); }",
        ("failed", "setup", ["x (in BeforeEach)"]),
        ["after", "after all"],
    ),
    "BeforeEach fails": (
        "function BeforeEach(t) { t.fail('x'); }",
        ("failed", "assertion", ["x"]),
        ["test", "after", "after all"],
    ),
    "BeforeEach stops": (
        "function BeforeEach(t) { t.fatal('x'); }",
        ("failed", "assertion", ["x"]),
        ["after", "after all"],
    ),
    "BeforeEach skips": ("function BeforeEach(t) { t.skip('x'); }", ("skipped", None, []), ["after", "after all"]),
    "AfterEach throws": (
        "function AfterEach() { throw new Error('x'); }",
        ("failed", "error", ["x (in AfterEach)"]),
        ["test", "after all"],
    ),
    "AfterAll throws": (
        "function AfterAll() { throw new Error('x'); }",
        ("failed", "error", ["x (in AfterAll)"]),
        ["test", "after"],
    ),
    "TestMain throws": (
        "function TestMain(m) { throw new Error('x'); }",
        ("failed", "setup", ["x (in TestMain)"]),
        [],
    ),
    "TestMain throws after the run": (
        "function TestMain(m) { m.Run(); throw new Error('x'); }",
        ("failed", "setup", ["x (in TestMain)"]),
        ["test", "after", "after all"],
    ),
    "TestMain does not run it": (
        "function TestMain(m) {}",
        ("failed", "setup", ["TestMain did not call m.Run(), so the test did not run (in TestMain)"]),
        [],
    ),
    "TestMain runs it twice": (
        "function TestMain(m) { m.Run(); m.Run(); }",
        ("failed", "setup", ["m.Run() can only be called once (in TestMain)"]),
        ["test", "after", "after all"],
    ),
    "TestMain exits with another code": (
        "function TestMain(m) { m.Run(); return 1; }",
        ("passed", None, []),
        ["test", "after", "after all"],
    ),
}


@pytest.fixture(scope="module")
def hooked(shared_app: MakeApplication) -> dict[str, Record]:
    files = {}
    for number, (hook, _, _) in enumerate(HOOKS.values()):
        others = {"AfterEach": "console.log('after');", "AfterAll": "console.log('after all');"}
        functions = [hook, "function TestA(t) { console.log('test'); }"]
        functions += [f"function {name}() {{ {body} }}" for name, body in others.items() if f"{name}(" not in hook]
        files[f"m{number}_test.ts"] = "\n".join(functions)
    return shared_app(files).results("-i", "scripts.demo", code=1)


@each("name", HOOKS)
def test_a_hook_that_fails_is_said_with_its_name(hooked: dict[str, Record], name: str) -> None:
    record = hooked[f"m{list(HOOKS).index(name)}.TestA"]
    errors = record.get("errors") or ([record["error"]] if "error" in record else [])
    _, verdict, logs = HOOKS[name]
    assert ((record["status"], record.get("cause"), errors), record["logs"]) == (verdict, logs)


def test_a_failure_in_a_hook_has_the_position_of_the_hook(hooked: dict[str, Record]) -> None:
    number = list(HOOKS).index("BeforeEach throws")
    assert hooked[f"m{number}.TestA"]["location"] == f"assistants/demo/src/m{number}_test.ts:1:35"
