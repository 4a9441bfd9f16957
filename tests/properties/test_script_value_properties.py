"""Any JavaScript value can be compared and printed: each assertion says yes or no, and what is printed is bounded text.

Each run of the command tries many pairs of values: a module with two functions for each pair.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import Application, MakeApplication
from faults import lines_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SCALARS = """\
undefined
null
true
0
-0
NaN
Infinity
1e21
10n
-(2n ** 70n)
''
'a'
'é😀'
'\\ud800'
'a\\0b\\n'
'x'.repeat(100000)
Symbol('s')
Symbol.iterator
Symbol()
() => 1
function named() {}
async () => 1
function* gen() {}
async function* agen() {}
class A { #p = 1; static s = 2 }
class { static name = {} }
class extends null {}
Math
JSON
globalThis
Reflect
Error
/a+/gi
Object.assign(/a/, { lastIndex: 5 })
new Date(0)
new Date(NaN)
new Date(8.64e15)
new Error('e')
new Error('', { cause: new TypeError('c') })
new AggregateError([1, new Error('x')], 'many')
Object.assign(new Error(), { message: { toString() { throw 1 } }, name: Symbol('n') })
Object.create(Error.prototype)
new Map([[1, 2], [{ a: 1 }, [NaN]], [NaN, -0]])
new Set([[1], { a: 1 }, 'b', NaN])
new WeakMap()
new WeakSet()
new WeakRef({})
Promise.resolve(1)
new Promise(() => {})
(function* () { yield 1 })()
[1, 2][Symbol.iterator]()
new Map().entries()
new Uint8Array([1, 2, 255])
new Float64Array([NaN, -0, 1.5])
new BigInt64Array([1n, -1n])
new Uint8Array(new ArrayBuffer(8), 2, 3)
new ArrayBuffer(3)
new DataView(new ArrayBuffer(4), 1)
(() => { const b = new ArrayBuffer(4); const v = new Uint8Array(b); b.transfer(); return v })()
(() => { const b = new ArrayBuffer(4); b.transfer(); return b })()
(() => { const b = new ArrayBuffer(8, { maxByteLength: 16 }); const v = new DataView(b, 4); b.resize(2); return v })()
new SharedArrayBuffer(2)
[, 1, , 2]
new Array(5)
new Array(10001)
Object.assign([1], { extra: 2, [-1]: 3 })
Object.assign([], { 10001: 1 })
Object(1)
Object('ab')
Object(5n)
Object(Symbol('boxed'))
Object(false)
{}
{ a: undefined }
{ __proto__: null, a: 1 }
{ ['__proto__']: { a: 1 } }
{ get a() { throw new Error('getter') } }
{ get a() { return this } }
{ get a() { return { get a() { return this } } } }
{ toString() { throw 1 }, valueOf() { throw 2 }, toJSON() { throw 3 } }
{ [Symbol.toPrimitive]() { throw 4 } }
{ [Symbol.toPrimitive]: 5, toString: 6, valueOf: 7 }
{ toJSON() { return undefined } }
{ then: 1 }
{ length: -1 }
{ length: 1e9, 0: 'a' }
{ length: { valueOf() { throw 1 } }, size: 'many' }
{ size: 3 }
{ constructor: null }
{ constructor: { name: 5 } }
{ constructor: { get name() { throw 1 } } }
{ [Symbol.toStringTag]: 'Map' }
{ get [Symbol.toStringTag]() { throw 1 } }
{ [Symbol('k')]: 1, '': 2, 'a b': 3, '\\ud800': 4 }
Object.create({ inherited: 1 })
Object.create(Map.prototype)
Object.create(Date.prototype)
Object.create(Set.prototype)
Object.create(RegExp.prototype)
Object.create(Uint8Array.prototype)
Object.create(Number.prototype)
Object.create(Promise.prototype)
Object.create(Array.prototype)
Object.setPrototypeOf([1, 2], null)
Object.setPrototypeOf(new Map([[1, 2]]), null)
Object.setPrototypeOf(new Date(0), Object.prototype)
Object.setPrototypeOf(() => 1, null)
Object.freeze({ a: Object.freeze([1]) })
Object.defineProperty({}, 'hidden', { value: 1 })
Object.defineProperty([], 'length', { writable: false })
new (class A { a = 1; #b = 2; get c() { throw 1 } })()
new (class extends Map { constructor() { super([[1, 2]]) } get size() { throw 1 } })()
new (class extends Array { get length() { throw 1 } })()
new (class extends Date { getTime() { throw 1 } toISOString() { throw 2 } })(0)
new (class extends Set { has() { return true } forEach() { throw 1 } })([1])
new (class extends Error { get message() { throw 1 } get name() { throw 2 } get stack() { throw 3 } })()
new Proxy({}, {})
new Proxy([1], {})
new Proxy(() => 1, {})
new Proxy(class {}, {})
new Proxy(new Map([[1, 2]]), {})
new Proxy(new Date(0), {})
new Proxy({}, { get() { throw new Error('trap') } })
new Proxy({}, { ownKeys() { throw new Error('trap') } })
new Proxy({}, { getPrototypeOf() { throw new Error('trap') } })
new Proxy({}, { getOwnPropertyDescriptor() { throw new Error('trap') }, ownKeys: () => ['a'] })
new Proxy({}, { has() { throw new Error('trap') } })
new Proxy({}, new Proxy({}, { get() { throw new Error('every trap') } }))
new Proxy([], new Proxy({}, { get() { throw new Error('every trap') } }))
new Proxy(() => 1, new Proxy({}, { get() { throw new Error('every trap') } }))
new Proxy({}, { get: (_, key) => key === 'then' ? undefined : new Proxy({}, {}) })
new Proxy([], { get: (target, key) => key === 'length' ? 1e4 : target[key] })
new Proxy({}, { ownKeys: () => Array.from({ length: 500 }, (_, i) => 'k' + i), getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) })
new Proxy({}, { getPrototypeOf: () => Map.prototype })
new Proxy(function () {}, { get() { throw null } })
(() => { const r = Proxy.revocable({}, {}); r.revoke(); return r.proxy })()
(() => { const r = Proxy.revocable([], {}); r.revoke(); return r.proxy })()
(() => { const r = Proxy.revocable(() => 1, {}); r.revoke(); return r.proxy })()
(() => { const a = {}; a.a = a; return a })()
(() => { const a = []; a.push(a, [a]); return a })()
(() => { const m = new Map(); m.set(m, m); return m })()
(() => { const s = new Set(); s.add(s); return s })()
(() => { const e = new Error('self'); e.cause = e; return e })()
(() => { let a = 1; for (let i = 0; i < 1200; i++) a = { a }; return a })()
(() => { let a = 1; for (let i = 0; i < 1200; i++) a = [a]; return a })()
(() => { let a = new Set(); for (let i = 0; i < 60; i++) a = new Set([a, [i]]); return a })()
(() => { let a = []; for (let i = 0; i < 8; i++) a = [a, a]; return a })()
(() => { let e = new Error('0'); for (let i = 0; i < 500; i++) e = new Error('' + i, { cause: e }); return e })()
Array.from({ length: 300 }, (_, i) => i)
Object.fromEntries(Array.from({ length: 300 }, (_, i) => ['k' + i, i]))
new Map(Array.from({ length: 200 }, (_, i) => [[i], i]))
(function () { return arguments })(1, 2)
t
ctx
t.assert
console
Process
Object.prototype
Array.prototype
Map.prototype
Promise.prototype
Function.prototype
Symbol.prototype
Error.prototype
RegExp.prototype
Proxy
""".strip().splitlines()
"""Expressions of values, hostile ones among them. The deepest are deeper than Python's own limit, 1000."""
WRAPPINGS = [
    "{}",
    "[{}]",
    "({{ a: {}, b: 1 }})",
    "new Map([['k', {}]])",
    "new Map([[{}, 1], [{{}}, 2]])",
    "new Set([{}, [1], {{}}])",
    "new Error('w', {{ cause: {} }})",
    "({{ get a() {{ return {} }} }})",
    "new Proxy([{}], {{}})",
    "Object.assign(() => 1, {{ a: {} }})",
    "[[[[[[[[{}]]]]]]]]",
    "(() => {{ const o = {{ v: {} }}; o.self = o; return o }})()",
]
HOST_ASSERTIONS = {"Match": "'a+'", "NotMatch": "'a+'", "JSONPath": "'$.a[0]', 1"}
ASSERTIONS = {
    **dict.fromkeys(
        ("Equal", "NotEqual", "Contains", "NotContains", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"), "b"
    ),
    **dict.fromkeys(("True", "False", "Nil", "NotNil", "Error", "NoError"), ""),
    "Len": "1",
    "Type": "'object'",
    **HOST_ASSERTIONS,
}
"""Assertion → its further arguments. Where `b` is one, it is also asked the other way round."""

values = st.builds(
    lambda value, wrapping: wrapping.format(f"({value})"),
    st.sampled_from(SCALARS),
    st.one_of(st.just("{}"), st.sampled_from(WRAPPINGS)),
)
SIZE = 10
"""Pairs in a module, which is read for each of its many failures."""
Tried = list[tuple[tuple[str, str], dict[str, Any], dict[str, Any]]]
"""Each pair with the record of the test that compares it, and of the one that prints its first value."""
CHECK = """\
const asked = (t, name, ...args) => {
  const verdict = t.assert[name](...args);
  if (verdict !== true && verdict !== false) throw new Error(name + " answered " + typeof verdict);
  return verdict;
};
"""


def module(pairs: list[tuple[str, str]]) -> str:
    """A module with a test for each pair of values."""
    text = CHECK
    for number, (first, second) in enumerate(pairs):
        asked = []
        for name, further in ASSERTIONS.items():
            asked.append(f"said.{name} = asked(q, '{name}', a{', ' * bool(further)}{further});")
            if further == "b":
                asked.append(f"said.{name}2 = asked(q, '{name}', b, a);")
        text += f"""\
export function Test{number}(t, ctx) {{
  const a = {first};
  const b = {second};
  const said = {{}};
  said.promises = [a, b].map((value) => {{ try {{ return typeof value?.then === "function"; }} catch {{ return false; }} }});
  t.run("quiet", (q) => {{ {" ".join(asked)} said.Self = asked(q, 'Equal', a, a); }});
  t.log("said " + JSON.stringify(said));
}}
export function TestPrint{number}(t, ctx) {{
  const a = {first};
  console.log(a); console.error("%s %d %i %f %j %o %O", a, a, a, a, a, a, a); console.table(a); console.dir(a);
  console.log({{ a }}, [a]); t.log(a, "and", a); log.Info("%v %+v %s %d %q %T", a, a, a, a, a, a);
  t.log("printed");
}}
"""
    return text


def found_in(application: Application, module: str) -> dict[str, dict[str, Any]]:
    path = application.home / "r.jsonl"
    application.run("-i", f"scripts.demo.{module}", "-o", str(path))
    return {record["id"]: record for record in lines_of(path) if record["type"] == "result"}


def pairs_of(count: int) -> list[tuple[str, str]]:
    """Pairs of values, always the same in the suite; every single value is the first of one."""
    made: list[tuple[str, str]] = []

    @settings(max_examples=min(settings().max_examples, 400), suppress_health_check=list(HealthCheck))
    @given(st.lists(st.tuples(values, st.one_of(values, st.none())), min_size=3, max_size=6))
    def make(pairs: list[tuple[str, str | None]]) -> None:  # the same value twice, if there is no second
        made.extend((first, second or first) for first, second in pairs)

    make()
    return [(f"({value})", f"({value})") for value in SCALARS] + made[:count]


@pytest.fixture(scope="module")
def tried(shared_app: MakeApplication) -> Tried:
    pairs = pairs_of(settings().max_examples)
    modules = {f"m{at}": pairs[at : at + SIZE] for at in range(0, len(pairs), SIZE)}
    application = shared_app({f"{name}_test.ts": module(part) for name, part in modules.items()})
    found: Tried = []
    for name, part in modules.items():
        results = found_in(application, name)
        found += [(pair, results[f"Test{at}"], results[f"TestPrint{at}"]) for at, pair in enumerate(part)]
    return found


def test_every_assertion_says_yes_or_no_about_every_value(tried: Tried) -> None:
    wrong = []
    for (first, second), record, _ in tried:
        logs = [line for line in record.get("logs") or [] if line.startswith("said ")]
        said = json.loads(logs[0].removeprefix("said ")) if logs else {}
        if "Self" not in said:
            wrong.append((first, second, record["error"], sorted(said), record.get("steps")))
            continue
        first_waits, second_waits = said.pop("promises")
        if first_waits or second_waits:
            asked = [name for name in said if first_waits or ASSERTIONS.get(name.removesuffix("2")) == "b"]
            if any(said[name] for name in asked):
                wrong.append((first, second, [name for name in asked if said[name]]))
            continue
        odd = [
            problem
            for problem, holds in {
                "equal to itself": said["Self"],
                "equal or not": said["Equal"] is not said["NotEqual"],
                "the other way round": said["Equal"] is said["Equal2"] and said["NotEqual"] is said["NotEqual2"],
                "contained or not": not (said["Contains"] and said["NotContains"]),
                "contained or not, the other way round": not (said["Contains2"] and said["NotContains2"]),
                "true or false": said["True"] is not said["False"],
                "nil or not": said["Nil"] is not said["NotNil"],
                "error or not": said["Error"] is not said["NoError"],
                "match or not": not (said["Match"] and said["NotMatch"]),
                "order": not (said["Greater"] and (said["Less"] or said["LessOrEqual"]))
                and said["Greater"] is said["Less2"]
                and said["GreaterOrEqual"] is said["LessOrEqual2"],
                "a proper failure": record["steps"][0]["cause"] == "assertion",
            }.items()
            if not holds
        ]
        if odd:
            wrong.append((first, second, odd))
    assert not wrong, wrong[:10]


def test_every_value_can_be_printed(tried: Tried) -> None:
    wrong = []
    for (first, _), _, record in tried:
        text = json.dumps(record.get("logs"))
        if record["status"] != "passed" or "printed" not in text:
            wrong.append((first, record["status"], record["error"]))
        elif len(text) > 1_500_000:
            wrong.append((first, "long", len(text)))
    assert wrong == []
