"""A promise in an assertion is a failure that says so: it would count as a value that is there."""

from __future__ import annotations

import pytest
from command import MakeApplication, Record
from table_tests import each

HELPERS = """
async function Ready() { return false; }
async function Later() { await null; return 1; }
const thenable = { then(done) { done(1); } };
const callable = Object.assign(() => 1, { then(done) { done(1); } });
"""
AWAIT = "got a Promise: await it"

ONE = ("True", "False", "Nil", "NotNil", "Error", "NoError")
TWO = """Equal NotEqual Contains NotContains Len Greater GreaterOrEqual Less LessOrEqual Match NotMatch Type
    Agent""".split()
VALUES = {"Promise": "Ready()", "Pending": "new Promise(() => {})", "Thenable": "thenable", "Callable": "callable"}
FAILS: dict[str, str] = {
    **{f"Test{name}{kind}": f"t.assert.{name}({value})" for name in ONE for kind, value in VALUES.items()},
    **{f"Test{name}First{kind}": f"t.assert.{name}({value}, 'x')" for name in TWO for kind, value in VALUES.items()},
    **{f"Test{name}Second": f"t.assert.{name}('x', Later())" for name in TWO},
    "TestEqualSame": "const p = Promise.resolve(1); t.assert.Equal(p, p)",
    "TestEqualThird": "t.assert.Equal(Ready(), Ready(), 'message')",
    "TestTypeObject": "t.assert.Type(Ready(), 'object')",
    "TestNotEqualOther": "t.assert.NotEqual(Ready(), true)",
    "TestJSONPathObject": "t.assert.JSONPath(Later(), '$.a', 1)",
    "TestJSONPathPath": "t.assert.JSONPath({ a: 1 }, Later(), 1)",
    "TestJSONPathExpected": "t.assert.JSONPath({ a: 1 }, '$.a', Later())",
    "TestAgentOptions": "t.assert.Agent('x', 'workers.test.validator', Promise.resolve({ criteria: 'x' }))",
    "TestRequire": "t.require.True(Ready()); t.fail('not reached')",
    "TestSnapshot": "t.snapshot(Ready())",
    "TestSnapshotNamed": "t.snapshot(thenable, 'name')",
    "TestNative": "t.assert.True(Promise.all([]))",
    "TestSubtest": "t.assert.True(t.run('s', async () => {}))",
    "TestAssertion": "t.assert.True(t.assert.NoPanic(async () => {}))",
}

PASSES: dict[str, str] = {
    "TestAwaited": "t.assert.False(await Ready()); t.assert.Equal(await Later(), 1)",
    "TestNested": "t.assert.NotNil({ p: Ready() }); t.assert.Len([Ready()], 1); t.assert.True([Later()])",
    "TestPanic": "t.assert.NoPanic(async () => 1); await t.assert.Panic(async () => { throw 1; })",
    "TestPanicReturns": "await t.assert.NoPanic(() => thenable); t.assert.NoPanic(callable)",
    "TestNoFunction": "t.assert.NotNil({ then: 1 }); t.assert.Equal({ then: 'x' }, { then: 'x' }); t.assert.True({ then: true })",
    "TestThrowingThen": "t.assert.NotNil({ get then() { throw new Error('no'); } })",
    "TestClass": "t.assert.NotNil(Promise); t.assert.Type(Ready, 'function'); t.assert.NotNil(Promise.prototype.then)",
    "TestMessage": "t.assert.True(1, Ready())",
}


@pytest.fixture(scope="module")
def results(shared_app: MakeApplication) -> dict[str, Record]:
    tests = "\n".join(f"export async function {name}(t) {{ {body}; }}" for name, body in {**FAILS, **PASSES}.items())
    return shared_app({"a_test.ts": HELPERS + tests}).results("-i", "scripts.demo.a", "--timeout", "10s", code=1)


@each("test", FAILS)
def test_a_promise_where_a_value_is_meant_fails(results: dict[str, Record], test: str) -> None:
    record = results[test]
    errors = [error for error in record.get("errors") or [record["error"]] if "subtest" not in error]
    assert (record["status"], record["cause"], len(errors)) == ("failed", "assertion", 1)
    assert errors[0].startswith("assertion failed: ") and errors[0].endswith(AWAIT)


@each("test", PASSES)
def test_what_is_no_promise_passes(results: dict[str, Record], test: str) -> None:
    assert (results[test]["status"], results[test].get("error")) == ("passed", None)


def test_it_says_which_argument_and_keeps_the_message(results: dict[str, Record]) -> None:
    assert results["TestTruePromise"]["error"] == f"assertion failed: The argument value {AWAIT}"
    assert results["TestJSONPathExpected"]["error"] == f"assertion failed: The argument expected {AWAIT}"
    assert results["TestEqualThird"]["error"] == f"assertion failed: message: The argument actual {AWAIT}"
    assert results["TestSnapshot"]["assertion"]["type"] == "Snapshot"


def test_it_is_at_the_place_of_the_assertion(app: MakeApplication) -> None:
    code = "async function Ready() { return false; }\nexport function TestA(t) {\n  t.assert.True(Ready());\n}\n"
    record = app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=1)["TestA"]
    assert record["location"] == "assistants/demo/src/a_test.ts:3:12"


def test_a_promise_is_never_stored_as_a_snapshot(app: MakeApplication) -> None:
    here = app({"a_test.ts": "export function TestA(t) { t.snapshot(Promise.resolve(1)); }\n"})
    here.results("-i", "scripts.demo.a", "--update-snapshots", code=1)
    assert list(here.root.rglob("*.snap.json")) == []
