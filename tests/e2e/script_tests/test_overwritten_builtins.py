"""Scripts that overwrite built-ins: verdicts and messages stay right, also of failing assertions."""

from __future__ import annotations

import pytest
from command import MakeApplication, Record
from table_tests import each

ALL = "for (const k of Object.getOwnPropertyNames({0})) if (typeof {0}[k] === 'function' && k !== 'constructor') try {{ {0}[k] = () => {{ throw new Error(k); }} }} catch {{}}"

TAMPERINGS = {
    "JSON.stringify": "JSON.stringify = () => 'hacked';",
    "JSON.parse": "JSON.parse = () => ({});",
    "JSON": "(globalThis as any).JSON = null;",
    "Array.prototype.push": "Array.prototype.push = () => { throw new Error('push'); };",
    "Array.prototype.join": "Array.prototype.join = () => 'hacked';",
    "Array iteration": "Array.prototype[Symbol.iterator] = () => { throw new Error('iterator'); };",
    "Array.prototype": "Array.prototype.constructor; " + ALL.format("Array.prototype"),
    "Array.prototype by the back door": "const list: any = Object.getPrototypeOf([]); list.join = () => 'x'; list.slice = () => [];",
    "Array": "(globalThis as any).Array = class {};",
    "Promise": "(globalThis as any).Promise = class { then() {} };",
    "Promise.prototype.then": "Promise.prototype.then = () => { throw new Error('then'); };",
    "Object.keys": "Object.keys = () => [];",
    "Object functions": ALL.format("Object"),
    "Object": "(globalThis as any).Object = null;",
    "Reflect": ALL.format("Reflect") + " (globalThis as any).Reflect = null;",
    "Error": "(globalThis as any).Error = class { constructor() { throw 1; } };",
    "Error.prepareStackTrace": "(Error as any).prepareStackTrace = () => 'hacked';",
    "Error.stackTraceLimit": "(Error as any).stackTraceLimit = 0;",
    "Error.prototype": "Error.prototype.name = 'Hacked'; Error.prototype.message = 'hacked'; Error.prototype.toString = () => 'hacked';",
    "Process": "(globalThis as any).Process = () => 'hacked';",
    "Function.prototype": "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1; };",
    "String.prototype": "String.prototype.constructor; String.prototype.slice = String.prototype.concat = String.prototype.split = () => 'hacked' as any;",
    "Map and Set": "Map.prototype.get = Map.prototype.set = Set.prototype.has = () => { throw 1; }; (globalThis as any).Map = (globalThis as any).WeakSet = null;",
    "Symbol": "(globalThis as any).Symbol = null;",
    "Math and Date": "(globalThis as any).Math = null; Date.now = () => NaN; (globalThis as any).Date = null;",
    "toJSON": "(Object.prototype as any).toJSON = () => 'hacked'; (String.prototype as any).toJSON = () => 'hacked';",
    "Object.prototype methods": "Object.prototype.toString = () => 'hacked'; Object.prototype.hasOwnProperty = () => false;",
    "Object.prototype fields": "for (const k of ['status', 'failures', 'message', 'type', 'value', 'get', 'then', 'kind']) (Object.prototype as any)[k] = 'hacked';",
    "frozen intrinsics": "Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(globalThis);",
    "deleted globals": "for (const k of Object.getOwnPropertyNames(globalThis)) if (!k.startsWith('Test')) try { delete globalThis[k]; } catch {}",
    "generators": "const g = Object.getPrototypeOf(Object.getPrototypeOf((function* () {})())); g.next = g.throw = g.return = () => ({ done: true }); Object.getPrototypeOf(g)[Symbol.iterator] = () => ({ next: () => ({ done: true }) });",
    "testing.T": "const p = Object.getPrototypeOf(t); p.fail = () => {}; Object.defineProperty(p, 'failed', { get: () => false });",
}

TESTS = {
    "TestAsserts": (
        """
        %s
        t.assert.Equal({ a: [1, "x"] }, { a: [2, "y"] }, "equal");
        t.assert.Equal({ a: [1, "x"] }, { a: [1, "x"] }, "holds");
        t.assert.True(false, "true");
        t.assert.Contains([1, 2], 3, "contains");
        t.assert.Len([1], 2, "len");
        t.assert.Greater(1, 2, "greater");
        t.assert.Match("a", "^b$", "match");
        t.assert.Type(1, "string", "type");
        t.assert.Error(null, "error");
        t.assert.Panic(() => {}, "panic");
        """,
        "failed",
        [f"assertion failed: {name}" for name in "equal true contains len greater match type error panic".split()],
    ),
    "TestRequire": ("%s t.require.Equal(1, 2, 'stops'); t.fail('not reached');", "failed", ["assertion failed: stops"]),
    "TestThrows": ("const e = new TypeError('the message'); %s throw e;", "failed", ["TypeError: the message"]),
    "TestFatal": ("%s t.fatal('the reason'); t.fail('not reached');", "failed", ["the reason"]),
    "TestSkips": ("%s t.skip('the reason'); t.fail('not reached');", "skipped", []),
    "TestSubtests": (
        "%s t.run('inner', (t) => { t.assert.Equal(1, 2, 'inner'); });",
        "failed",
        ["subtest inner failed"],
    ),
    "TestCleanup": (
        "t.cleanup(() => { t.assert.Equal(1, 2, 'in cleanup'); }); %s",
        "failed",
        ["assertion failed: in cleanup"],
    ),
    "TestLogs": (
        "const c = console, l = log; %s c.log('one', { a: 1 }); c.count('n'); c.group('g'); c.warn('two'); l.Info('three');",
        "passed",
        [],
    ),
    "TestPasses": (
        "%s t.assert.Equal({ a: [1] }, { a: [1] }); t.assert.True(true); t.assert.Contains('abc', 'b');",
        "passed",
        [],
    ),
}


@pytest.fixture(scope="module")
def results(shared_app: MakeApplication) -> dict[str, dict[str, Record]]:
    """What the tests of each tampering came to, by the place of the tampering and the name of the test."""
    files = {}
    for number, tampering in enumerate(TAMPERINGS.values()):
        tests = [f"export function {name}(t: any) {{ {code % tampering} }}\n" for name, (code, _, _) in TESTS.items()]
        files[f"m{number}_test.ts"] = "".join(tests)
    report = shared_app(files).report("-i", "scripts.demo", "-q", code=1)
    return {
        part["script"].removeprefix("scripts.demo.m"): {record["name"]: record for record in part["results"]}
        for part in report["reports"]
    }


@each("tampering", TAMPERINGS)
def test_verdicts_and_messages_survive(results: dict[str, dict[str, Record]], tampering: str) -> None:
    records = results[str(list(TAMPERINGS).index(tampering))]
    told = {
        name: (record["status"], record.get("errors") or ([record["error"]] if "error" in record else []))
        for name, record in records.items()
    }
    assert told == {name: (status, errors) for name, (_, status, errors) in TESTS.items()}
    assert records["TestAsserts"]["assertion"] == {
        "type": "Equal",
        "expected": {"a": [2, "y"]},
        "actual": {"a": [1, "x"]},
        "message": "equal",
    }
    assert records["TestThrows"]["cause"] == "error"
    assert records["TestLogs"]["logs"] == ["one {a: 1}", "n: 1", "g", "[warn]   two", "three"]
    assert all("location" in record for record in records.values() if record["status"] == "failed")


def test_a_tampering_ends_with_its_test(app: MakeApplication) -> None:
    code = """
        export function TestFirst(t) { JSON.stringify = () => "hacked"; Array.prototype.push = null; globalThis.Promise = null; }
        export async function TestSecond(t) {
          t.assert.Equal(JSON.stringify({ a: 1 }), '{"a":1}');
          t.assert.Equal([].push(1), 1);
          t.assert.Equal(await Promise.resolve(1), 1);
        }
    """
    assert app({"a_test.ts": code}).run("-i", "scripts.demo.a").code == 0


def test_the_name_of_a_test_stays(app: MakeApplication) -> None:
    code = """
        "use strict";
        export function TestSet(t) {
          t.assert.Panic(() => { "use strict"; t.name = "\\uD800"; });
          t.assert.Panic(() => Object.defineProperty(t, "name", { value: {} }));
          t.run("sub", (t) => { try { t.name = "\\uD800"; } catch {} t.fail("in it"); });
          t.fail("x");
        }
    """
    record = app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=1)["TestSet"]
    assert record["error"] == "subtest sub failed"
    assert [step["name"] for step in record["steps"]] == ["TestSet/sub"]


def test_a_failure_after_an_await_survives_a_replaced_json(app: MakeApplication) -> None:
    code = """
        export async function TestA(t) { await null; JSON.stringify = () => "hacked"; await null; t.assert.Equal([1], [2], "late"); }
        export async function TestB(t) { Object.keys = () => []; await null; throw new TypeError("late"); }
    """
    results = app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=1)
    assert results["TestA"]["assertion"] == {"type": "Equal", "expected": [2], "actual": [1], "message": "late"}
    assert results["TestB"]["error"] == "TypeError: late"


def test_what_the_harness_offers_works_without_the_names_of_built_ins(app: MakeApplication) -> None:
    code = """
        export async function TestA(t: testing.T) {
          const { getOwnPropertyDescriptor } = Object;
          const boxed = Object(1);
          for (const name of Object.getOwnPropertyNames(globalThis)) {
            const isBuiltIn = /^[A-Z]|^(parse|is|encode|decode)[A-Z]/.test(name) && !/^(Test|Date$|Promise$|Intl$)/.test(name);
            if (isBuiltIn && "value" in getOwnPropertyDescriptor(globalThis, name)!) (globalThis as any)[name] = null;
          }
          t.assert.Nil(globalThis.Map);
          console.log("%s %d %j %o", 1, "2", [3], { a: [4] });
          console.table([{ a: 1 }]);
          log.Info("%v %05.1f", [2], 3);
          t.mock.process("models.user.*", (id: number) => ({ id }));
          t.assert.Equal(Process("models.user.find", 1), { id: 1 });
          t.mock.http("https://x.y/*", { data: { ok: true } });
          t.assert.Equal(http.Get("https://x.y/z").data, { ok: true });
          t.mock.now("2020-01-01T00:00:00Z");
          t.assert.Equal(new Date().toISOString(), "2020-01-01T00:00:00.000Z");
          t.assert.Equal((1234.5).toLocaleString("de"), "1.234,5");
          t.assert.Equal(structuredClone({ a: [1] }), { a: [1] });
          t.assert.Equal(typeof structuredClone(boxed), "object");
          t.assert.Equal(new Intl.NumberFormat(["de"], { style: "percent" }).format(0.5), "50\u00a0%");
          t.assert.Equal(new URL("http://x/?a=1").searchParams.get("a"), "1");
          t.assert.Equal(new TextDecoder().decode(new TextEncoder().encode("ä")), "ä");
          t.assert.JSONPath({ a: [{ b: 1 }] }, "$.a[0].b", 1);
          t.assert.Match("abc", "^a");
          const store = new Store("cache");
          store.Set("a", 1);
          t.assert.Equal(store.Get("a"), 1);
          const waited = new Promise((done) => setTimeout(done, 1));
          t.mock.advance(1);
          await waited;
          await t.run("inner", (t) => t.assert.Equal([1], [1]));
        }
    """
    result = app({"a_test.ts": code}).results("-i", "scripts.demo.a")["TestA"]
    assert (result["status"], result.get("error")) == ("passed", None)
    texts = result["logs"]
    assert (texts[0], texts[-1]) == ("1 2 [3] {a: [4]}", "[2] 003.0")
