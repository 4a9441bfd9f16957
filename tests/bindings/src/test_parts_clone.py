"""`structuredClone`."""

# A row of a table is one line.

from __future__ import annotations

from parts_realm import evaluate
from table_tests import each

CLONES = [
    ("primitives", "[structuredClone(1), structuredClone('a'), structuredClone(null), structuredClone(false)]", [1, "a", None, False]),
    ("undefined and bigint", "[structuredClone(undefined) === undefined, structuredClone(5n) === 5n, Object.is(structuredClone(-0), -0)]", [True] * 3),
    ("nested", "((a, b) => [b, a.x !== b.x])(...((a) => [a, structuredClone(a)])({x: {y: [1, 2]}}))", [{"x": {"y": [1, 2]}}, True]),
    ("cycle", "((b) => b.self === b)(structuredClone(((a) => (a.self = a))({})))", True),
    ("shared reference", "((x) => ((b) => b[0] === b[1] && b[0] !== x)(structuredClone([x, x])))({})", True),
    ("map", "((b) => [b instanceof Map, [...b]])(structuredClone(new Map([['a', {b: 1}]])))", [True, [["a", {"b": 1}]]]),
    ("map in itself", "((b) => b.get(b) === b)(structuredClone(((m) => m.set(m, m))(new Map())))", True),
    ("set", "((b) => [b instanceof Set, [...b]])(structuredClone(new Set([1, [2]])))", [True, [1, [2]]]),
    ("date", "((b) => [b instanceof Date, +b])(structuredClone(new Date(5)))", [True, 5]),
    ("regexp", "((b) => [b.source, b.flags, b.lastIndex])(structuredClone(Object.assign(/a/gi, {lastIndex: 3})))", ["a", "gi", 0]),
    ("error", "((b) => [b instanceof RangeError, b.message, b.cause, 'extra' in b])(structuredClone(Object.assign(new RangeError('m', {cause: {a: 1}}), {extra: 1})))", [True, "m", {"a": 1}, False]),
    ("error of an unknown name", "((b) => [b.constructor === Error, b.name])(structuredClone(Object.assign(new Error('m'), {name: 'Custom'})))", [True, "Error"]),
    ("typed arrays share their buffer", "((c) => [[...c.part], c.part.byteOffset, c.part.buffer === c.all.buffer])(structuredClone(((all) => ({all, part: all.subarray(1, 3)}))(new Uint8Array([1, 2, 3]))))", [[2, 3], 1, True]),
    ("float array", "((c) => c instanceof Float64Array && c[0])(structuredClone(new Float64Array([1.5])))", 1.5),
    ("data view", "((c) => [c.getUint8(0), c.byteOffset, c.byteLength])(structuredClone(new DataView(new Uint8Array([1, 2, 3]).buffer, 1, 2)))", [2, 1, 2]),
    ("boxed", "[typeof structuredClone(new Number(1)), structuredClone(new String('ab')).length, structuredClone(new Boolean(false)).valueOf(), typeof structuredClone(Object(5n))]", ["object", 2, False, "object"]),
    ("class becomes plain", "((c) => [c.constructor === Object, c])(structuredClone(new (class { a = 1; get b() { return 2 } })()))", [True, {"a": 1}]),
    ("hole", "((c) => [c.length, 1 in c, c.x])(structuredClone(Object.assign([1, , 3], {x: 5})))", [3, False, 5]),
    ("getter is read", "structuredClone({get a() { return 1 }})", {"a": 1}),
    ("__proto__ key", "((c) => [Object.hasOwn(c, '__proto__'), c.x === undefined])(structuredClone(JSON.parse('{\"__proto__\": {\"x\": 1}}')))", [True, True]),
    ("symbol keys are left out", "Object.getOwnPropertySymbols(structuredClone({[Symbol.iterator]: 1})).length", 0),
    ("function", "structuredClone({f() {}})", "DataCloneError: The function f could not be cloned"),
    ("symbol", "structuredClone(Symbol('a'))", "DataCloneError: Symbol(a) could not be cloned"),
    ("weak map", "structuredClone(new WeakMap())", "DataCloneError: A WeakMap could not be cloned"),
    ("promise", "structuredClone([Promise.resolve()])", "DataCloneError: A Promise could not be cloned"),
    ("error class", "(() => { try { structuredClone(() => 1) } catch (e) { return [e instanceof DOMException, e.code] } })()", [True, 25]),
    ("a throwing getter throws on", "structuredClone({get a() { throw new RangeError('q') }})", "RangeError: q"),
    ("no argument", "structuredClone()", "TypeError: structuredClone takes a value"),
    ("transfer", "((b) => ((c) => [b.detached, c.byteLength])(structuredClone(b, {transfer: [b]})))(new ArrayBuffer(4))", [True, 4]),
    ("transfer of something else", "structuredClone(1, {transfer: [{}]})", "DataCloneError: A value to transfer could not be cloned"),
    ("a failed clone transfers nothing", "((b) => { try { structuredClone(() => 1, {transfer: [b]}) } catch {} return b.byteLength })(new ArrayBuffer(4))", 4),
    ("detached buffer", "((b) => { b.transfer(); return structuredClone(b) })(new ArrayBuffer(4))", "DataCloneError: A detached ArrayBuffer could not be cloned"),
]  # fmt: skip


@each(("expression", "expected"), [row[1:] for row in CLONES], ids=[row[0] for row in CLONES])
def test_structured_clone(expression: str, expected: object) -> None:
    assert evaluate(expression, "clone") == expected
