"""Attacks that begin before the test does: top-level code, set-up and tear-down, names, snapshots of others."""

from __future__ import annotations

import json
import re

import pytest
from command import MakeApplication, Record
from table_tests import each

FAIL = "t.assert.Equal(1, 2, 'must be told');"
KEYS = """
    plan ctx root current began milliseconds ended std boot T globals evaluate door part outcomeOf declared stateOf stop
    state skipReason failures steps skipped assertions kernel promise timers mocks own testName call host log error bytes
    ok name entry filter run nested guarded shared message stack kind parent depth cleanups pending subtests snapshots
    reply pattern calls due period args
"""
KEEPS = "(globalThis as any).seen = []; for (const k of 'KEYS'.split(' ')) Object.defineProperty(Object.prototype, k, { configurable: true, get() { return undefined; }, set(v) { (globalThis as any).seen.push([k, this]); Object.defineProperty(this, k, { value: v, writable: true, enumerable: true, configurable: true }); } });".replace(
    "KEYS", " ".join(KEYS.split())
)
"""Keeps every object to which somebody assigns one of these fields for the first time."""
SPY = "for (const [k, o] of (globalThis as any).seen) { if (o && (o.door || o.cleanups || o.evaluate || Array.isArray(o.failures))) t.log('STOLEN ' + k); try { o.failures.length = 0; } catch {} try { o.outcomeOf = () => ({ failures: [], steps: [], assertions: 0, skipped: false }); } catch {} }"
FORGED = "({ failures: [], steps: [], assertions: 0, skipped: false })"

MODULES: dict[str, tuple[str, str]] = {
    "setters that keep the harness": (KEEPS, FAIL + SPY),
    "setters, with set-up": (
        f"{KEEPS}\nexport function BeforeEach() {{}}\nexport function AfterEach(t: any) {{ {SPY} }}",
        f"t.cleanup(() => 0); t.run('s', (t: any) => {{ t.cleanup(() => {{ {SPY} }}); {FAIL} }});",
    ),
    "setters, asynchronous": (
        KEEPS,
        f"return new Promise((done) => setTimeout(done, 0)).then(() => t.run('s', async (t: any) => {{ await null; {SPY} {FAIL} }}));",
    ),
    "TestMain that does not run it": (
        "export function TestMain(m: any) { Object.defineProperty(Object.prototype, 'failed', { get: () => true, configurable: true }); }",
        "",
    ),
    "TestMain that lies": ("export function TestMain(m: any) { m.Run(); return 0; }", FAIL),
    "BeforeEach that replaces": (
        f"export function BeforeEach(t: any) {{ (globalThis as any).Test0 = () => {{}}; Object.getPrototypeOf(t).outcome = () => {FORGED}; Object.defineProperty(Object.getPrototypeOf(t), 'assert', {{ get: () => new Proxy({{}}, {{ get: () => () => true }}) }}); }}",
        "t.fail('must be told');",
    ),
    "AfterEach that forgets": (
        f"export function AfterEach(t: any) {{ t.failed = false; delete t.failures; Object.getPrototypeOf(t).outcome = () => {FORGED}; }}",
        FAIL,
    ),
    "AfterAll that throws a bomb": (
        "export function AfterAll(ctx: any) { throw { toString() { throw 1; } }; }",
        FAIL,
    ),
    "a then that swallows": (
        "Promise.prototype.then = function (this: any, d: any) { d && d(); return this; } as any;",
        "return (async () => { await null; throw new Error('must be told'); })();",
    ),
    "the test as a getter": ("Object.defineProperty(globalThis, 'Test7', { get() { throw 1; } });", FAIL),
    "names that are none": (
        "",
        f"t.run('a', (t: any) => {{ t.name = {{ a: 1 }}; }}); t.name = {{ toString() {{ return 'x'; }} }}; t.run('b', () => 0); {FAIL}",
    ),
    "a name that is a list": (
        "",
        "Object.defineProperty(t, 'name', { get: () => ['x'] }); t.run('b', (t: any) => t.fail('must be told'));",
    ),
    "the snapshot of another test": (
        "",
        "let said = ''; try { Process('snapshot.Match', 'TestVictim 1', 'forged'); } catch (x: any) { said = x.message; } t.assert.Contains(said, 'is not a snapshot of'); "
        + FAIL,
    ),
    "a snapshot that is none": (
        "",
        "for (const a of [[5, {}], [], ['Test0'], [null, null]]) try { Process('snapshot.Match', ...a); } catch {} "
        + FAIL,
    ),
}


@pytest.fixture(scope="module")
def results(shared_app: MakeApplication) -> dict[str, Record]:
    files = {
        f"m{number}_test.ts": f"{head}\nexport function Test0(t: any, ctx: any): any {{\n{body}\n}}\n"
        for number, (head, body) in enumerate(MODULES.values())
    }
    files["victim_test.ts"] = "export function TestVictim(t: any) { t.snapshot({ a: 1 }); t.assert.Equal([1], [1]); }"
    app = shared_app(files)
    report = app.report("-i", "scripts.demo", "--parallel", "1", "--timeout", "5s", code=1)
    assert (app.source / "__snapshots__/victim_test.ts.snap").read_text().endswith("\n\n[TestVictim 1]\n  {a: 1}\n")
    return {part["script"]: record for part in report["reports"] for record in part["results"]}


@each("attack", MODULES)
def test_a_failure_stays_a_failure(results: dict[str, Record], attack: str) -> None:
    record = results[f"scripts.demo.m{list(MODULES).index(attack)}"]
    assert record["status"] == "failed"
    assert "STOLEN" not in re.sub(r'"code_frame": "(?:[^"\\]|\\.)*"', "", json.dumps(record)), "but for the source"
    assert record["name"] == "Test0"


def test_another_module_is_not_touched(results: dict[str, Record]) -> None:
    assert results["scripts.demo.victim"]["status"] == "passed"


def test_a_link_in_the_place_of_snapshots_is_not_written_through(app: MakeApplication) -> None:
    here = app({"a_test.ts": "export function TestA(t: any) { t.snapshot(1); }"})
    outside = here.root.parent / "outside.json"
    outside.write_text('{"kept": "yes"}')
    (here.source / "__snapshots__").mkdir()
    (here.source / "__snapshots__/a_test.ts.snap").symlink_to(outside)
    (record,) = here.results("-i", "scripts.demo.a", code=1).values()
    assert "it is a link" in record["error"]
    assert outside.read_text() == '{"kept": "yes"}'
