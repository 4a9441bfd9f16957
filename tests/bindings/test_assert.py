"""The assertions of `t.assert`: deep equality, the checks and their explanations.

A script that overwrites intrinsics changes none of it.
"""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import _quickjs
import pytest

SOURCES = Path(__file__).parents[2] / "bindings" / "src"
ESBUILD = SOURCES.parent / "node_modules/@esbuild/linux-x64/bin/esbuild"
OPTIONS = "--bundle --minify --target=es2023 --log-level=warning --supported:template-literal=false".split()

KERNEL = """
import * as checks from "./assert";
import { basis } from "./std";
import { values } from "./std-values";
const std = { ...values, ...basis };
const parts = {}, loaded = [], evaluate = eval, host = $host, sources = $parts;
const ask = (name, args) => {
  const answer = std.parse(host(name, std.stringify(args)));
  if (std.hasOwn(answer, "error")) throw new std.Error(answer.error);
  return answer.ok;
};
const kernel = { std, host: ask, call: ask, isStop: () => false, isBroken: () => false, part(name) {
  if (!std.hasOwn(parts, name)) {
    loaded[loaded.length] = name;
    const check = std.slice(name, 0, 6) === "check." && checks[std.slice(name, 6)];
    parts[name] = check || evaluate(sources[name])(kernel);
  }
  return parts[name];
} };
let settled;
globalThis.$ = {
  loaded: () => std.join(loaded, " "),
  explain: () => kernel.part("explain"),
  equal: (a, b) => { const equal = kernel.part("equal"); return std.stringify([equal(a, b), equal(b, a)]); },
  inspect: (value, options) => std.stringify(kernel.part("explain").inspect(value, options)),
  diff: (expected, actual) => std.stringify(kernel.part("explain").diff(expected, actual)),
  json: (value) => std.stringify(kernel.part("explain").json(value) ?? null),
  check(name, args) {
    const result = kernel.part("assert").check(name, args);
    if (!(result instanceof std.Promise)) return std.stringify(result);
    settled = undefined;
    std.then(result, (value) => { settled = std.stringify(value); });
    return "null";
  },
  settled: () => settled,
};
"""


def bundled(*arguments: str, source: str | None = None) -> str:
    command = [str(ESBUILD), *arguments, *OPTIONS]
    return subprocess.run(command, input=source, cwd=SOURCES, check=True, capture_output=True, text=True).stdout


@cache
def kernel() -> str:
    return bundled("--format=iife", source=KERNEL)


@cache
def part(name: str) -> str:
    """The part as the core loads it: text of an expression, whose value takes the kernel."""
    text = bundled(f"check/{name}.ts", "--format=esm").strip()
    body, exported = re.fullmatch(r"(.*)export\{([\w$]+) as default\};", text, re.DOTALL).groups()  # type: ignore[union-attr]
    assert "\n" not in body and "`" not in body
    return f"(function(){{{body}return {exported}}})()"


HOST: dict[str, Any] = {
    "regex.Match": lambda pattern, text: re.search(pattern, text) is not None,
    "jsonpath.Find": lambda value, path: {"$..id": [1, 2], "$.items[?(@.id==2)]": [{"id": 2}], "$..nothing": []}[path],
}


class Realm:
    """One context with the parts `assert`, `equal` and `explain`, which are evaluated on first use."""

    def __init__(self, before: str = "", **answers: Any) -> None:
        self.asked: list[Any] = []
        self.answers = HOST | {name.replace("_", "."): answer for name, answer in answers.items()}
        self.context = _quickjs.Context()
        self.context.set_max_stack_size(1 << 19)
        self.context.add_callable("$host", self.host)
        self.context.eval(
            f"globalThis.$parts = {json.dumps({name: part(name) for name in ('assert', 'equal', 'explain')})}"
        )
        self.context.eval(kernel())
        self.context.eval(before + ";0")

    def host(self, name: str, args: str) -> str:
        self.asked.append([name, *json.loads(args)])
        try:
            answer = self.answers[name]
            return json.dumps({"ok": answer(*json.loads(args)) if callable(answer) else answer})
        except Exception as error:
            return json.dumps({"error": str(error)})

    def run(self, expression: str) -> Any:
        """The value of an expression that makes a JSON text."""
        return json.loads(self.context.eval(f"(() => {{ {DECLARATIONS} return {expression} }})()"))

    def check(self, name: str, args: str) -> dict[str, Any]:
        result = self.run(f"$.check({name!r}, [{args}])")
        if result is None:
            while self.context.execute_pending_job():
                pass
            result = json.loads(self.context.eval("$.settled()"))
        return dict(result)

    def failure(self, name: str, args: str) -> dict[str, Any]:
        return dict(self.check(name, args)["outcome"])


DECLARATIONS = """
class Point { constructor(x) { this.x = x } }
class Dot { constructor(x) { this.x = x } }
class Money extends Map { get [Symbol.toStringTag]() { return "Money" } }
const Twin = (() => { class Point { constructor(x) { this.x = x } } return Point })();
const cycle = (length) => {
  const first = {};
  let last = first;
  while (--length) last = last.next = {};
  last.next = first;
  return first;
};
const nest = (depth, wrap, end) => { let value = end; while (depth--) value = wrap(value); return value };
const deep = (depth, end) => { let value = end; while (depth--) value = { in: [value] }; return value };
const shared = (depth) => { let value = {}; while (depth--) value = { l: value, r: value }; return value };
const range = (n) => Array.from({ length: n }, (_, i) => i);
const f = () => 1, s = Symbol("s");
const selfSet = () => { const set = new Set(); set.add(set); return set };
const throws = () => Object.defineProperty({}, "x", { enumerable: true, get() { throw new Error("no") } });
const revoked = () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy };
const hostile = () => new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 }, getPrototypeOf() { throw 3 } });
"""

EQUAL = [
    "1 | 1",
    "NaN | NaN",
    "0 | -0",
    "'a' | 'a'",
    "'é' | '\\u00e9'",
    "null | null",
    "undefined | undefined",
    "10n | 10n",
    "s | s",
    "f | f",
    "[] | []",
    "[1, [2, [3]]] | [1, [2, [3]]]",
    "[NaN] | [NaN]",
    "[0] | [-0]",
    "[ , 1] | [undefined, 1]",
    "[ , ] | [ , ]",
    "(a => (a[4e9] = 1, a))([]) | (a => (a[4e9] = 1, a))([])",
    "Object.assign([1], {x: 1}) | Object.assign([1], {x: 1})",
    "{} | {}",
    "{a: 1, b: 2} | {b: 2, a: 1}",
    "{a: undefined} | {}",
    "{a: undefined, b: 1} | {b: 1, c: undefined}",
    "{[s]: 1} | {[s]: 1}",
    "{[s]: undefined} | {}",
    "Object.create(null) | {}",
    "Object.assign(Object.create(null), {a: 1}) | {a: 1}",
    "{__proto__: null, hasOwnProperty: 1} | {hasOwnProperty: 1}",
    "{get a() { return 1 }} | {a: 1}",
    "Object.freeze({a: [1]}) | {a: [1]}",
    "JSON.parse('{\"__proto__\": 1}') | JSON.parse('{\"__proto__\": 1}')",
    "new Point(1) | new Point(1)",
    "new Proxy({a: 1}, {}) | {a: 1}",
    "new Proxy([1], {}) | [1]",
    "(function () { return arguments })(1) | (function () { return arguments })(1)",
    "new Map([[1, 2], [3, 4]]) | new Map([[3, 4], [1, 2]])",
    "new Map([[{a: 1}, 'x'], [{a: 2}, 'y']]) | new Map([[{a: 2}, 'y'], [{a: 1}, 'x']])",
    "new Map([[NaN, {a: [1]}]]) | new Map([[NaN, {a: [1]}]])",
    "new Map([[{}, 1], [{}, 2]]) | new Map([[{}, 2], [{}, 1]])",
    "new Map([[0, 1]]) | new Map([[-0, 1]])",
    "new Money([['eur', 1]]) | new Money([['eur', 1]])",
    "new Set([1, 2, 3]) | new Set([3, 2, 1])",
    "new Set([{a: 1}, {a: 2}]) | new Set([{a: 2}, {a: 1}])",
    "new Set([{}, {}]) | new Set([{}, {}])",
    "new Set([[1], new Set([[2], [3]])]) | new Set([new Set([[3], [2]]), [1]])",
    "new Set([{a: undefined, b: 1}, {c: 1}]) | new Set([{c: 1}, {b: 1}])",
    "new Set([{a: 1, b: 2}, {c: 1}]) | new Set([{c: 1}, {b: 2, a: 1}])",
    "new Set([deep(3, 1), deep(3, 2), deep(3, 3)]) | new Set([deep(3, 3), deep(3, 1), deep(3, 2)])",
    "selfSet() | selfSet()",
    "new Set([selfSet(), {a: 1}]) | new Set([{a: 1}, selfSet()])",
    "new Set(range(500).map((i) => ({i}))) | new Set(range(500).reverse().map((i) => ({i})))",
    "new Date(5) | new Date(5)",
    "new Date(NaN) | new Date(NaN)",
    "/a/gi | /a/ig",
    "Object.assign(/a/g, {lastIndex: 3}) | /a/g",
    "new Error('x') | new Error('x')",
    "new Error('x', {cause: {a: 1}}) | new Error('x', {cause: {a: 1}})",
    "new AggregateError([new Error('a')], 'x') | new AggregateError([new Error('a')], 'x')",
    "Object.assign(new Error('x'), {code: 1}) | Object.assign(new Error('x'), {code: 1})",
    "new Uint8Array([1, 2]) | new Uint8Array([1, 2])",
    "new Float64Array([NaN, 0]) | new Float64Array([NaN, -0])",
    "new BigInt64Array([1n]) | new BigInt64Array([1n])",
    "new Uint8Array([0, 1, 2]).subarray(1) | new Uint8Array([1, 2])",
    "new Uint8Array([1, 2]).buffer | new Uint8Array([1, 2]).buffer",
    "new DataView(new Uint8Array([0, 1]).buffer, 1) | new DataView(new Uint8Array([1]).buffer)",
    "new Number(1) | new Number(1)",
    "new Number(NaN) | new Number(NaN)",
    "new String('ab') | new String('ab')",
    "new Boolean(true) | new Boolean(true)",
    "Object(s) | Object(s)",
    "Object(1n) | Object(1n)",
    "cycle(1) | cycle(1)",
    "cycle(2) | cycle(3)",
    "cycle(60) | cycle(70)",
    "deep(10000, 1) | deep(10000, 1)",
    "shared(40) | shared(40)",
    "nest(10000, (v) => new Set([v]), 1) | nest(10000, (v) => new Set([v]), 1)",
    "nest(10000, (v) => new Map([[v, v]]), 1) | nest(10000, (v) => new Map([[v, v]]), 1)",
    "Array(2000).fill(new Point(1)) | range(2000).map(() => new Point(1))",
]

NOT_EQUAL = [
    "1 | 2",
    "1 | '1'",
    "1 | 1n",
    "1 | true",
    "0 | ''",
    "0 | false",
    "NaN | 0",
    "null | undefined",
    "null | {}",
    "undefined | {}",
    "'a' | 'A'",
    "'é' | 'e\\u0301'",
    "Symbol('a') | Symbol('a')",
    "() => 1 | () => 1",
    "1 | new Number(1)",
    "'a' | new String('a')",
    "[] | {}",
    "[1] | {0: 1, length: 1}",
    "[1, 2] | [2, 1]",
    "[1] | [1, undefined]",
    "[ , ] | []",
    "Object.assign([1], {x: 1}) | [1]",
    "[[[1]]] | [[[2]]]",
    "{a: 1} | {a: 2}",
    "{a: 1} | {b: 1}",
    "{a: null} | {}",
    "{a: 1} | {a: 1, b: 2}",
    "{a: undefined} | {b: 1}",
    "{toString: Object.prototype.toString} | {}",
    "{constructor: Object} | {}",
    "{[s]: 1} | {[s]: 2}",
    "{[s]: 1} | {}",
    "{[Symbol('s')]: 1} | {[Symbol('s')]: 1}",
    "new Point(1) | new Point(2)",
    "new Point(1) | new Dot(1)",
    "new Point(1) | new Twin(1)",
    "new Point(1) | {x: 1}",
    "Object.create({a: 1}) | Object.create({a: 2})",
    "new (class extends Array {})(3) | new Array(3)",
    "new Map([[1, 2]]) | new Map([[1, 3]])",
    "new Map([[1, 2]]) | new Map([[2, 2]])",
    "new Map([[1, undefined]]) | new Map()",
    "new Map([[1, undefined]]) | new Map([[2, undefined]])",
    "new Map([[{a: 1}, 1]]) | new Map([[{a: 1}, 2]])",
    "new Map([[{a: 1}, 1], [{a: 2}, 2]]) | new Map([[{a: 1}, 2], [{a: 2}, 1]])",
    "new Map([[1, 1], [{}, 2]]) | new Map([[1, 1], [2, 2]])",
    "new Map([[1, 1]]) | new Set([1])",
    "new Map() | {}",
    "new Money([['eur', 1]]) | new Money([['eur', 2]])",
    "new Money([['eur', 1]]) | new Map([['eur', 1]])",
    "Object.assign(new Map(), {a: 1}) | new Map()",
    "new Set([1, 2]) | new Set([1, 3])",
    "new Set([1]) | new Set([1, 2])",
    "new Set([1]) | new Set(['1'])",
    "new Set([{a: 1}, {a: 2}]) | new Set([{a: 1}, {a: 3}])",
    "new Set([{a: 1}, {a: 1}]) | new Set([{a: 1}, {a: 2}])",
    "new Set([() => 1]) | new Set([() => 1])",
    "new Set([{}]) | new Set([1])",
    "new Set([selfSet(), 1]) | new Set([selfSet(), 2])",
    "new Set(range(60).map((i) => [i])) | new Set(range(60).map((i) => [i || 60]))",
    "new Date(5) | new Date(6)",
    "new Date(5) | new Date(NaN)",
    "new Date(5) | 5",
    "/a/ | /a/g",
    "/a/ | /b/",
    "/a/ | '/a/'",
    "new Error('x') | new Error('y')",
    "new Error('x') | new TypeError('x')",
    "new Error('x', {cause: 1}) | new Error('x', {cause: 2})",
    "new Error('x', {cause: 1}) | new Error('x')",
    "new Error('x') | {message: 'x'}",
    "new AggregateError([1], 'x') | new AggregateError([2], 'x')",
    "Object.assign(new Error('x'), {code: 1}) | new Error('x')",
    "Object.assign(new Error('x'), {name: 'Y'}) | new Error('x')",
    "new Uint8Array([1]) | new Uint8Array([2])",
    "new Uint8Array([1]) | new Uint8Array([1, 0])",
    "new Uint8Array([1]) | new Int8Array([1])",
    "new Uint8Array([1]) | [1]",
    "new Uint8Array([1]).buffer | new Uint8Array([2]).buffer",
    "new DataView(new ArrayBuffer(1)) | new DataView(new ArrayBuffer(2))",
    "new DataView(new ArrayBuffer(1)) | new ArrayBuffer(1)",
    "new Number(1) | new Number(2)",
    "new String('a') | new String('b')",
    "new Boolean(true) | new Boolean(false)",
    "Object(Symbol('s')) | Object(Symbol('s'))",
    "Object(1n) | Object(2n)",
    "Promise.resolve(1) | Promise.resolve(1)",
    "new WeakMap() | new WeakMap()",
    "(function* () {})() | (function* () {})()",
    "[].values() | [].values()",
    "cycle(1) | {next: {}}",
    "cycle(60) | (c => (c.x = 1, c))(cycle(60))",
    # What a failed search for a partner took to be equal must be forgotten
    "(x => deep(60, [x, new Set([x, deep(3, 2)])]))(deep(3, 1)) | "
    "(y => deep(60, [y, new Set([y, deep(3, 1)])]))(deep(3, 2))",
    "throws() | throws()",
    "revoked() | revoked()",
    "revoked() | {}",
    "hostile() | hostile()",
    "hostile() | {}",
    "Object.create(Date.prototype) | Object.create(Date.prototype)",
    "deep(10000, 1) | deep(10000, 2)",
    "deep(9999, 1) | deep(10000, 1)",
    "nest(10000, (v) => new Set([v]), 1) | nest(10000, (v) => new Set([v]), 2)",
]


@pytest.fixture
def realm() -> Realm:
    return Realm()


@pytest.mark.parametrize("row", EQUAL)
def test_equal_values(realm: Realm, row: str) -> None:
    left, right = row.split(" | ")
    assert realm.run(f"$.equal({left}, {right})") == [True, True]


@pytest.mark.parametrize("row", NOT_EQUAL)
def test_values_that_are_not_equal(realm: Realm, row: str) -> None:
    left, right = row.split(" | ")
    assert realm.run(f"$.equal({left}, {right})") == [False, False]


PASS = """
True: true | 1 | 'a' | [] | {}
False: false | 0 | '' | null | undefined | NaN
Equal: 1, 1 | {a: [1]}, {a: [1]} | 1, 1, 'message' | NaN, NaN | new Date(1), new Date(1), undefined
NotEqual: 1, 2 | {a: 1}, {a: 2} | null, undefined | 1, '1'
Nil: null | undefined | undefined, 'message'
NotNil: 0 | '' | false | {} | NaN
Contains: 'hello', 'ell' | 'hello', '' | [1, {a: [2]}], {a: [2]} | [NaN], NaN | new Set([{a: 1}]), {a: 1}
Contains: new Set([1]), 1
Contains: new Map([[{a: 1}, 2]]), {a: 1} | new Map([['a', 2]]), 'a' | new Uint8Array([1, 2]), 2
Contains: new BigInt64Array([1n]), 1n
Contains: new Money([['eur', 1]]), 'eur' | (function () { return [...arguments] })(1), 1 | [ , 1], undefined
NotContains: 'hello', 'x' | [1, 2], 3 | [1], '1' | new Set([1]), 2 | new Map([['a', 'b']]), 'b'
NotContains: new Uint8Array([1]), 1n | [], undefined
Len: 'abc', 3 | '', 0 | [1, 2], 2 | new Set([1]), 1 | new Map([[1, 1]]), 1 | {a: 1, b: 2}, 2 | {}, 0
Len: new Uint8Array(4), 4
Len: {length: 7}, 7 | {size: 8}, 8 | {length: 'x', size: 'y'}, 2 | Object.create(null), 0 | new String('ab'), 2
Len: '😀', 2
Greater: 2, 1 | 2n, 1n | 'b', 'a' | new Date(2), new Date(1) | Infinity, 1
GreaterOrEqual: 2, 2 | 2n, 2n | 'a', 'a' | new Date(1), new Date(1) | 3, 2 | -0, 0
Less: 1, 2 | 1n, 2n | 'a', 'b' | new Date(1), new Date(2) | -Infinity, 0
LessOrEqual: 1, 1 | 1n, 2n | '', '' | new Date(1), new Date(1)
Error: new Error('x') | 'text' | {} | 0 | false
NoError: null | undefined | null, 'message'
Panic: () => { throw new Error('x') } | () => { throw undefined } | async () => { throw 1 }
Panic: () => Promise.reject(null)
Panic: () => ({ then(done, failed) { failed(1) } }) | () => ({ get then() { throw 1 } }) | () => f.x.y
NoPanic: () => 1 | async () => 1 | () => ({ then(done) { done(1) } }) | () => new Promise((done) => done())
NoPanic: () => ({ then: 1 })
Match: 'hello', '^h.*o$' | 'Hello', '(?i)hello' | 'hello', /L/i | 123, '^123$' | 12n, /12/ | true, /true/
Match: {a: 1}, '"a":1' | [1, 2], /1,2/
Match: new TypeError('boom'), /^TypeError: boom$/ | 'a', Object.assign(/a/g, {lastIndex: 5})
Match: 'aa', Object.assign(/a/g, {lastIndex: 2})
Match: 'a', Object.assign(/a/y, {lastIndex: 1}) | new Error('x'), 'Error' | s, /Symbol\\(s\\)/
NotMatch: 'hello', '^x' | 'hello', /x/ | 5, '6' | 'ba', /a/y | {a: 1}, 'b'
JSONPath: {a: {b: [{c: 1}]}}, 'a.b[0].c', 1 | {a: {b: 2}}, '$.a.b', 2 | [[1, 2]], '[0][1]', 2
JSONPath: [[1, 2]], '$[0][1]', 2 | {a: 1}, '$', {a: 1}
JSONPath: '{"a": [1, 2]}', 'a', [1, 2] | {a: 'x'}, 'a', ['w', 'x'] | {a: 1}, 'b', undefined | {a: 1}, 'a.b.c', null
JSONPath: {a: null}, 'a', null
JSONPath: {a: 1}, 'b', [null] | {$ref: 1}, '$ref', 1 | {'a-b': 1, 'ü': 2}, 'ü', 2 | {a: [1]}, 'a.length', 1
JSONPath: {a: [1]}, 'a.0', 1 | {a: [1]}, '.a[0]', 1
JSONPath: {x: 1}, '$..id', [1, 2] | {x: 1}, '$.items[?(@.id==2)]', {id: 2} | {x: 1}, '$..nothing', null
JSONPath: {a: new Date(1)}, 'a', new Date(1)
JSONPath: {x: 1}, '$.items[?(@.id==2)]', [{id: 1}, {id: 2}] | '[3]', '[0]', 3 | {a: 0}, 'a', -0 | {a: []}, 'a', []
Type: 'a', 'string' | 1, 'number' | NaN, 'number' | true, 'boolean' | {}, 'object' | [], 'array' | f, 'function'
Type: Point, 'function'
Type: null, 'null' | undefined, 'undefined' | 1n, 'bigint' | s, 'symbol' | new Map(), 'object' | new Date(1), 'object'
"""

FAIL = """
True: false | 0 | '' | null | undefined | NaN
False: true | 1 | 'false' | {}
Equal: 1, 2 | {a: 1}, {a: 1, b: 2} | null, undefined | throws(), throws() | hostile(), {} | 'a\\nb', 'a\\nc'
Equal: f, () => 1
NotEqual: 1, 1 | {a: 1}, {a: 1} | NaN, NaN | 0, -0 | [throws], [throws]
Nil: 0 | '' | false | {}
NotNil: null | undefined
Contains: 'hello', 'x' | 'a1', 1 | [1], '1' | [1], 2 | new Set([1]), {} | new Map([['a', 'b']]), 'b'
Contains: new Uint8Array([1]), 1n | [], undefined
Contains: {a: 1}, 'a' | null, 'a' | undefined, 'undefined' | 5, 5 | new DataView(new ArrayBuffer(1)), 0
Contains: hostile(), 1 | Object.create(Set.prototype), 1
NotContains: 'hello', 'ell' | 'a1', 1 | [{a: 1}], {a: 1} | new Set([[1]]), [1] | new Map([['a', 1]]), 'a'
NotContains: undefined, 'x' | {a: 1}, 'x' | null, null
Len: 'abc', 4 | 'abc', '3' | [1], 2 | {a: 1}, 2 | 5, 1 | null, 0 | undefined, 0 | f, 0 | new Point(1), 1
Len: new Set([1]), 1n | hostile(), 0
Greater: 1, 1 | 1, 2 | 1, '0' | 1n, 0 | NaN, 1 | 1, NaN | '2', 1 | new Date(2), 1 | {}, {} | null, -1
Greater: new Date(NaN), new Date(1) | true, false
GreaterOrEqual: 1, 2 | undefined, undefined | NaN, NaN | null, 0 | [2], [1]
Less: 1, 1 | 'b', 'a' | 2n, 1n | new Date(2), new Date(1) | 1, '2'
LessOrEqual: 2, 1 | 'b', 'a' | NaN, NaN | null, null
Error: null | undefined
NoError: new Error('x') | 'text' | 0 | false | throws()
Panic: () => 1 | async () => 1 | () => undefined | 'text' | undefined | {} | () => ({ then(done) { done(1) } })
Panic: () => ({ then: 1 })
NoPanic: () => { throw new Error('x') } | async () => { throw new Error('x') } | 1 | null | () => Promise.reject(1)
NoPanic: () => ({ then(d, failed) { failed(1) } })
Match: 'hello', '^x' | 'hello', /x/ | undefined, 'undefined' | null, /null/ | 'a', 5 | 'a', null | 'a', '('
Match: cycle(1), 'a' | hostile(), 'a'
NotMatch: 'hello', 'ell' | 'hello', /ell/ | undefined, 'x' | 'a', '(' | 'a', undefined
NotMatch: 'aa', Object.assign(/a/g, {lastIndex: 2})
JSONPath: {a: 1}, 'a', 2 | {a: 1}, 'b', 1 | {a: 'x'}, 'a', ['y', 'z'] | {a: [1]}, 'a', 1 | {a: 1}, 'a', []
JSONPath: 'not json', 'a', 1 | {a: 1}, 5, 1
JSONPath: {a: null}, 'a', undefined | {a: 1}, '$.bad[', 1 | {x: 1}, '$..id', [1] | {}, 'constructor', Object
JSONPath: {}, 'toString.name', 'toString'
JSONPath: {a: 1}, 'b', [] | {a: [1]}, 'a', [[1], [2]] | undefined, 'a', 1 | {a: throws()}, 'a.x', 1
JSONPath: new Map([['a', 1]]), 'a', 1
Type: 'a', 'number' | null, 'object' | [], 'object' | undefined, 'null' | f, 'object' | 1n, 'number' | 'a', 'String'
Type: 1, 'integer' | {}, ''
Type: 1, 5 | 1, undefined | 1, 'string, number' | new Date(1), 'date'
True: | Equal: 1 | Equal: | Nil: | NotNil: | False: | NoError: | Error: | Panic: | NoPanic:
NotEqual: 1 | Contains: 'a' | NotContains: 'a' | Len: 'a' | Greater: 1 | Less: 1 | Match: 'a' | NotMatch: 'a'
JSONPath: {} | JSONPath: {}, 'a' | Type: 1
True: true, 'a', 'b' | Equal: 1, 1, 'a', 'b' | Nil: null, 'a', 1 | NoError: null, null, null
JSONPath: {a: 1}, 'a', 1, 'm', 2
Agent: 'text' | Agent: 'text', 5 | Agent: 'text', 'v', 'criteria' | Agent: 'text', 'v', {}, 'm', 1 | Agent:
"""


def rows(table: str) -> list[tuple[str, str]]:
    """(name, arguments) of each cell; a cell without a name of its own takes that of its line."""
    found = []
    for line in table.strip().splitlines():
        name = ""
        for cell in line.split(" | "):
            match = re.match(r"([A-Z]\w+):(?: |$)", cell)
            name = match[1] if match else name
            found.append((name, cell[match.end() :] if match else cell))
    return found


@pytest.mark.parametrize(("name", "args"), rows(PASS), ids=str)
def test_passes(realm: Realm, name: str, args: str) -> None:
    assert realm.check(name, args) == {}


@pytest.mark.parametrize(("name", "args"), rows(FAIL), ids=str)
def test_fails(realm: Realm, name: str, args: str) -> None:
    assert realm.failure(name, args)["reason"]


def test_the_table_of_names() -> None:
    names = (
        "True False Equal NotEqual Nil NotNil Contains NotContains Len Greater GreaterOrEqual Less LessOrEqual "
        "Error NoError Panic NoPanic Match NotMatch JSONPath Type Agent"
    )
    core = (SOURCES.parent / "js" / "core.js").read_text("utf-8")
    assert f'" {names} "' in core, "the core knows the names in the order of the table"
    assert {name for name, _ in rows(PASS)} | {"Agent"} == {name for name, _ in rows(FAIL)} == set(names.split())


def value(text: str, plain: Any = None) -> dict[str, Any]:
    return {"text": text, "json": text if plain is None else plain}


def outcome(reason: str, expected: Any = None, actual: Any = None, diff: str | None = None) -> dict[str, Any]:
    """An outcome whose values are `(printed form, JSON value)`, or a printed form that has no JSON value."""
    result: dict[str, Any] = {"reason": reason}
    for name, found in (("expected", expected), ("actual", actual)):
        if found is not None:
            text, plain = found if isinstance(found, tuple) else (found, found)
            result |= {f"{name}_text": text, name: plain}
    return result | ({"diff": diff} if diff is not None else {})


OUTCOMES = [
    ("True", "0", outcome("Should be true", ("true", True), ("0", 0))),
    ("False", "'no'", outcome("Should be false", ("false", False), ('"no"', "no"))),
    ("Equal", "1, 2", outcome("Not equal", ("2", 2), ("1", 1))),
    ("Equal", "1, '1'", outcome("Not equal", ('"1"', "1"), ("1", 1))),
    ("Equal", "1n, 1", outcome("Not equal", ("1", 1), "1n")),
    ("Equal", "null, undefined", outcome("Not equal", "undefined", ("null", None))),
    ("Equal", "NaN, -0", outcome("Not equal", ("-0", 0), "NaN")),
    (
        "Equal",
        "{b: 2, a: {x: [1, 2]}}, {a: {x: [1, 3]}, b: 2}",
        outcome(
            "Not equal",
            ("{a: {x: [1, 3]}, b: 2}", {"a": {"x": [1, 3]}, "b": 2}),
            ("{b: 2, a: {x: [1, 2]}}", {"a": {"x": [1, 2]}, "b": 2}),
            "  {\n    a: {\n      x: [\n        1,\n-       3,\n+       2,\n      ],\n    },\n    b: 2,\n  }",
        ),
    ),
    (
        "Equal",
        "'a\\nb\\nc', 'a\\nB\\nc'",
        outcome("Not equal", ('"a\\nB\\nc"', "a\nB\nc"), ('"a\\nb\\nc"', "a\nb\nc"), "  a\n- B\n+ b\n  c"),
    ),
    ("Equal", "'a\\nb', 'a'", outcome("Not equal", ('"a"', "a"), ('"a\\nb"', "a\nb"))),
    (
        "Equal",
        "new Point(1), new Twin(1)",
        outcome(
            "Not equal",
            "Point {x: 1}",
            "Point {x: 1} (of another class of the same name)",
            "- Point {x: 1}\n+ Point {x: 1} (of another class of the same name)",
        ),
    ),
    (
        "Equal",
        "() => 1, () => 1",
        outcome(
            "Not equal",
            "[Function]",
            "[Function] (another function of the same source; a function is equal only to itself)",
        ),
    ),
    ("NotEqual", "{a: 1}, {a: 1}", outcome("Should not be equal", actual=("{a: 1}", {"a": 1}))),
    ("Nil", "{a: undefined}", outcome("Should be null or undefined", actual="{a: undefined}")),
    ("NotNil", "undefined", outcome("Should not be null or undefined", actual="undefined")),
    ("Contains", "[1, 2], 3", outcome("Should contain the item", ("3", 3), ("[1, 2]", [1, 2]))),
    ("Contains", "'a', 1", outcome("A text can only contain a text, got number")),
    (
        "Contains",
        "{}, 1",
        outcome("Only a text, an array, a typed array, a Set or a Map can contain an item, got object"),
    ),
    (
        "Contains",
        "new DataView(new ArrayBuffer(1)), 0",
        outcome("Only a text, an array, a typed array, a Set or a Map can contain an item, got object"),
    ),
    ("NotContains", "'abc', 'b'", outcome("Should not contain the item", ('"b"', "b"), ('"abc"', "abc"))),
    ("Len", "[1], 2", outcome("Wrong length", ("2", 2), ("1", 1))),
    ("Len", "null, 0", outcome("Only a text, or an object with a length or a size, has a length, got null")),
    ("Greater", "1, 2", outcome("Should be greater than the limit", ("2", 2), ("1", 1))),
    ("GreaterOrEqual", "1, 2", outcome("Should be the limit or greater", ("2", 2), ("1", 1))),
    ("Less", "2, 1", outcome("Should be less than the limit", ("1", 1), ("2", 2))),
    ("LessOrEqual", "2, 1", outcome("Should be the limit or less", ("1", 1), ("2", 2))),
    ("Less", "1, '2'", outcome("Cannot be ordered", ('"2"', "2"), ("1", 1))),
    ("Less", "NaN, 2", outcome("Cannot be ordered", ("2", 2), "NaN")),
    ("Error", "null", outcome("Should be an error", actual=("null", None))),
    ("NoError", "new TypeError('boom')", outcome("Should not be an error", actual="TypeError: boom")),
    ("Panic", "() => {}", outcome("Should throw")),
    ("Panic", "async () => 5", outcome("Should throw", actual=("5", 5))),
    ("Panic", "'f'", outcome("Only a function can be tried, got string")),
    ("NoPanic", "() => { throw new Error('x') }", outcome("Should not throw", actual="Error: x")),
    ("NoPanic", "async () => { throw new Error('x') }", outcome("Should not throw", actual="Error: x")),
    ("Match", "'abc', '^b'", outcome("Should match the pattern", ('"^b"', "^b"), ('"abc"', "abc"))),
    ("Match", "'abc', /^b/i", outcome("Should match the pattern", "/^b/i", ('"abc"', "abc"))),
    ("Match", "null, 'a'", outcome("There is nothing to match, got null")),
    ("Match", "'a', 5", outcome("A pattern is a text or a RegExp, got number")),
    ("Match", "'a', '('", outcome("Match could not be evaluated: missing ), unterminated subpattern at position 0")),
    ("NotMatch", "'abc', 'b'", outcome("Should not match the pattern", ('"b"', "b"), ('"abc"', "abc"))),
    ("JSONPath", "{a: [1]}, '$.a[0]', 2", outcome("Not equal at $.a[0]", ("2", 2), ("1", 1))),
    (
        "JSONPath",
        "'{', 'a', 2",
        outcome(
            "Not a JSON text: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
            actual=('"{"', "{"),
        ),
    ),
    ("JSONPath", "{}, 1, 2", outcome("A path is a text, got number")),
    ("Type", "[], 'object'", outcome("Wrong type", ('"object"', "object"), ('"array"', "array"))),
    (
        "Type",
        "[], 'list'",
        outcome(
            "A type is one of string, number, boolean, object, array, function, null, undefined, bigint, symbol, "
            'got "list"'
        ),
    ),
    ("Equal", "1", outcome("Equal takes (actual, expected, message?), got 1 argument")),
    ("True", "", outcome("True takes (value, message?), got no arguments")),
    ("Nil", "null, 'm', 1", outcome("Nil takes (value, message?), got 3 arguments")),
    ("Agent", "'text'", outcome("Agent takes (response, agentId, options?, message?), got 1 argument")),
    ("Agent", "'text', 5", outcome("The id of a validator is a text, got number")),
    ("Agent", "'text', 'v', 'polite'", outcome("The options are an object, got string")),
    ("Len", "revoked(), 0", outcome("Len could not be evaluated: revoked proxy")),
    (
        "Equal",
        "...[0, 1].map((end) => { let a = end; for (let i = 0; i < 120; i++) a = new Set([[a], [i]]); return a })",
        outcome("Equal could not be evaluated: maps or sets are nested too deeply to compare"),
    ),
    ("Greater", "new (class extends Date { getTime() { return 9 } })(1), new Date(2)", None),
]


@pytest.mark.parametrize(("name", "args", "expected"), OUTCOMES, ids=str)
def test_outcomes(realm: Realm, name: str, args: str, expected: dict[str, Any] | None) -> None:
    found = realm.failure(name, args)
    if expected is not None:
        assert {
            key: json.loads(text) if key in ("expected", "actual") else text for key, text in found.items()
        } == expected


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("1, 2, 'status'", "status"),
        ("1, 2, ''", ""),
        ("1, 2, undefined", None),
        ("1, 2", None),
        ("1, 2, 5", "5"),
        ("1, 2, null", "null"),
        ("1, 2, {a: [1]}", "{a: [1]}"),
        ("1, 2, hostile()", "[Unreadable]"),
    ],
)
def test_messages_are_text(realm: Realm, args: str, message: str | None) -> None:
    assert realm.check("Equal", args).get("message") == message


def test_messages_of_asynchronous_checks(realm: Realm) -> None:
    result = realm.check("NoPanic", "async () => { throw 'x' }, 'saving'")
    assert (result["message"], result["outcome"]["actual_text"]) == ("saving", '"x"')


def test_a_regexp_keeps_its_last_index(realm: Realm) -> None:
    realm.context.eval("globalThis.pattern = Object.freeze(Object.assign(/a/g, {lastIndex: 1}))")
    assert realm.check("Match", "'a', pattern") == {}
    assert realm.context.eval("pattern.lastIndex") == 1


def test_explain_and_equal_are_loaded_when_they_are_needed(realm: Realm) -> None:
    realm.check("Greater", "2, 1")
    assert realm.context.eval("$.loaded()") == "assert check.Greater"
    realm.check("NotEqual", "2, 1")
    assert realm.context.eval("$.loaded()") == "assert check.Greater check.NotEqual equal"
    realm.check("Greater", "1, 2")
    assert realm.context.eval("$.loaded()") == "assert check.Greater check.NotEqual equal explain"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"passed": True}, None),
        ({"passed": False, "reason": "Too rude", "score": 0.2}, outcome("Too rude", actual=('"hi"', "hi"))),
        ({"passed": False}, outcome('The validator "a.v" did not accept the response', actual=('"hi"', "hi"))),
        (
            {"passed": False, "reason": 5},
            outcome('The validator "a.v" did not accept the response', actual=('"hi"', "hi")),
        ),
        (
            {"passed": "yes"},
            outcome(
                'The validator "a.v" did not answer whether the response passes',
                actual=('{passed: "yes"}', {"passed": "yes"}),
            ),
        ),
        ({}, outcome('The validator "a.v" did not answer whether the response passes', actual=("{}", {}))),
        (None, outcome('The validator "a.v" did not answer whether the response passes', actual=("null", None))),
        (
            "passed",
            outcome('The validator "a.v" did not answer whether the response passes', actual=('"passed"', "passed")),
        ),
    ],
    ids=str,
)
def test_agent_answers(answer: Any, expected: dict[str, Any] | None) -> None:
    realm = Realm("Object.prototype.passed = true", agent_Validate=answer)
    found = realm.check("Agent", "'hi', 'a.v', {criteria: 'polite', metadata: {x: 1}, connector: 'c', other: 1}").get(
        "outcome"
    )
    assert realm.asked == [
        [
            "agent.Validate",
            {"agent": "a.v", "output": "hi", "criteria": "polite", "metadata": {"x": 1}, "connector": "c"},
        ]
    ]
    assert (found and {key: json.loads(text) if key == "actual" else text for key, text in found.items()}) == expected


def test_agent_that_cannot_be_asked(realm: Realm) -> None:
    assert realm.check("Agent", "'hi', 'a.v', {}, 'tone'") == {
        "message": "tone",
        "outcome": {"reason": "The validator \"a.v\" could not be asked: 'agent.Validate'"},
    }


INSPECT = [
    ("'a\"b\\n'", r'"a\"b\n"'),
    ("-0", "-0"),
    ("12n", "12n"),
    ("s", "Symbol(s)"),
    ("f", "[Function f]"),
    ("[() => 1][0]", "[Function]"),
    ("Point", "[class Point]"),
    ("undefined", "undefined"),
    ("null", "null"),
    ("[]", "[]"),
    ("{}", "{}"),
    ("Object.create(null)", "{}"),
    ("Object.create({})", "Object {}"),
    ("[1, 'a', null, undefined, [2]]", '[1, "a", null, undefined, [2]]'),
    ("{a: 1, 'b c': 2, 3: 4, [s]: 5, '': 6, $_1: 7}", '{3: 4, a: 1, "b c": 2, "": 6, $_1: 7, [Symbol(s)]: 5}'),
    ("[ , 1, , , 2, , ]", "[<1 empty>, 1, <2 empty>, 2, <1 empty>]"),
    ("(a => (a[4e9] = 1, a))([])", "[<4000000000 empty>, 1]"),
    ("Object.assign([1], {x: 2})", "[1, x: 2]"),
    ("new Map([['a', 1], [{x: 1}, [2]]])", 'Map(2) {"a" => 1, {x: 1} => [2]}'),
    ("new Map()", "Map(0) {}"),
    ("new Set([1])", "Set(1) {1}"),
    ("new Money([['eur', 1]])", 'Money(1) {"eur" => 1}'),
    ("new Date(1704067200000)", "Date(2024-01-01T00:00:00.000Z)"),
    ("new Date(NaN)", "Date(Invalid)"),
    ("/a\\/b/gi", "/a\\/b/gi"),
    ("new TypeError('boom')", "TypeError: boom"),
    ("new (class MyError extends Error {})('x')", "MyError: x"),
    ("Object.assign(new Error('x', {cause: new Error('y')}), {code: 5})", "Error: x {code: 5, cause: Error: y}"),
    ("new AggregateError([new Error('a')], 'all')", "AggregateError: all {errors: [Error: a]}"),
    ("new Error('two\\nlines')", 'Error: "two\\nlines"'),
    ("new Error('')", "Error"),
    ("new Uint8Array([1, 2, 3])", "Uint8Array(3) [1, 2, 3]"),
    ("new BigInt64Array([1n])", "BigInt64Array(1) [1n]"),
    ("new Uint8Array([1]).buffer", "ArrayBuffer(1) [1]"),
    ("new DataView(new ArrayBuffer(2))", "DataView(2) [0, 0]"),
    ("new Number(-0)", "Number(-0)"),
    ("new String('ab')", 'String("ab")'),
    ("Object(s)", "Symbol(Symbol(s))"),
    ("Object(1n)", "BigInt(1n)"),
    ("Object.assign(new Number(1), {a: 1})", "Number(1) {a: 1}"),
    ("new Point({y: 1})", "Point {x: {y: 1}}"),
    ("new (class extends Array {})(2)", "(anonymous)(2) [<2 empty>]"),
    ("Promise.resolve(1)", "Promise {}"),
    ("(function () { return arguments })(1, 2)", "{0: 1, 1: 2}"),
    ("cycle(2)", "{next: {next: [Circular]}}"),
    ("(a => [a, a])({b: 1})", "[{b: 1}, {b: 1}]"),
    ("throws()", "{x: [Getter threw]}"),
    (
        "[revoked(), hostile(), new Proxy(f, {get() { throw 1 }, getOwnPropertyDescriptor() { throw 1 }})]",
        "[[Unreadable], [Unreadable], [Function]]",
    ),
    ("{get [Symbol.toStringTag]() { throw 1 }, a: 1}", "{a: 1, [Symbol(Symbol.toStringTag)]: [Getter threw]}"),
    ("Object.create(Date.prototype)", "[Unreadable]"),
    ("deep(5, 1)", "{in: [{in: [{in: [[Object]]}]}]}"),
    ("deep(10000, 1)", "{in: [{in: [{in: [[Object]]}]}]}"),
    (
        "[{id: 1, tags: ['a', 'b'], name: 'the first item'}, new Point({list: [1, 2, 3], text: 'some'})]",
        '[\n  {id: 1, tags: ["a", "b"], name: "the first item"},\n  Point {x: {list: [1, 2, 3], text: "some"}},\n]',
    ),
    ("'ab'.repeat(39)", '"' + "ab" * 39 + '"'),
    ("['a'.repeat(76)]", '["' + "a" * 76 + '"]'),
    ("['a'.repeat(77)]", '[\n  "' + "a" * 77 + '",\n]'),
    ("{key: ['a'.repeat(68)], b: 1}", '{\n  key: ["' + "a" * 68 + '"],\n  b: 1,\n}'),
    ("{key: ['a'.repeat(69)], b: 1}", '{\n  key: [\n    "' + "a" * 69 + '",\n  ],\n  b: 1,\n}'),
    (
        "range(130)",
        "[\n  "
        + ",\n  ".join(
            ", ".join(map(str, chunk))
            for chunk in (range(19), range(19, 38), range(38, 57), range(57, 76), range(76, 95), range(95, 100))
        )
        + ",\n  ... 30 more\n]",
    ),
    ("'x'.repeat(10010)", '"' + "x" * 10000 + '"... 10 more characters'),
    ("['x'.repeat(20000), 1, 2]", '[\n  "' + "x" * 9998 + '"... 10002 more characters,\n  ... 2 more\n]'),
]


@pytest.mark.parametrize(("expression", "text"), INSPECT, ids=lambda item: item[:60])
def test_inspect(realm: Realm, expression: str, text: str) -> None:
    assert realm.run(f"$.inspect({expression})") == text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("{depth: 1}", "{a: [Object], list: [Array(3)], map: [Map(1)]}"),
        ("{depth: 2}", "{a: {b: [Object]}, list: [0, 1, 2], map: Map(1) {1 => 2}}"),
        ("{items: 1}", "{a: {b: {c: 1}}, ... 2 more}"),
        ("{length: 26}", "{a: {b: {c: 1}}, list: [0, ... 2 more], ... 1 more}"),
    ],
)
def test_inspect_within_bounds(realm: Realm, options: str, text: str) -> None:
    assert realm.run(f"$.inspect({{a: {{b: {{c: 1}}}}, list: range(3), map: new Map([[1, 2]])}}, {options})") == text


def test_a_print_is_bounded(realm: Realm) -> None:
    for expression in (
        "{a: '\\u0001'.repeat(100000)}",
        "Array(99).fill(Array(99).fill('word'.repeat(9)))",
        "Array(99).fill(Array(99).fill(Array(99).fill([])))",
        "new Error('x'.repeat(1e6))",
        "Symbol('x'.repeat(1e6))",
        "10n ** 100000n",
        "/x/.constructor('x'.repeat(1e6))",
        "Object.fromEntries(range(99).map((i) => ['k'.repeat(1000) + i, i]))",
    ):
        assert len(realm.run(f"$.inspect({expression})")) < 20_100, expression


DIFF = [
    ("{a: 1} | {a: 2}", "  {\n-   a: 1,\n+   a: 2,\n  }"),
    ("1 | 2", "- 1\n+ 2"),
    ("[] | {}", "- []\n+ {}"),
    ("[1n] | [1]", "  [\n-   1n,\n+   1,\n  ]"),
    ("{a: undefined, b: 1} | {b: 2}", "  {\n-   b: 1,\n+   b: 2,\n  }"),
    ("{z: -0, b: 1} | {b: 2, z: 0}", "  {\n-   b: 1,\n+   b: 2,\n    z: 0,\n  }"),
    ("new Set([3, 1, 2]) | new Set([2, 3, 4])", "  Set(3) {\n-   1,\n    2,\n    3,\n+   4,\n  }"),
    ("[1, 2, 3] | [1, 3]", "  [\n    1,\n-   2,\n    3,\n  ]"),
    ("[1, 3] | [1, 2, 3]", "  [\n    1,\n+   2,\n    3,\n  ]"),
    ("[1, 2, 3, 4] | [2, 3, 9, 4, 5]", "  [\n-   1,\n    2,\n    3,\n+   9,\n    4,\n+   5,\n  ]"),
    (
        "range(30) | range(30).concat(1).slice(1)",
        "  [\n-   0,\n    1,\n    2,\n    3,\n  ...\n    27,\n    28,\n    29,\n+   1,\n  ]",
    ),
    ("range(6) | [9, 1, 2, 3, 4, 9]", "  [\n-   0,\n+   9,\n    1,\n    2,\n    3,\n    4,\n-   5,\n+   9,\n  ]"),
    ("'a\\n' | 'a'", "  a\n- "),
    ("'a\\r\\nb\\t' | 'a\\nb'", '- "a\\r"\n- "b\\t"\n+ a\n+ b'),
    (
        "Symbol('a') | Symbol('a')",
        "- Symbol(a)\n+ Symbol(a) (another symbol of the same description; a symbol is equal only to itself)",
    ),
    (
        "{p: new Point(1)} | {p: new Twin(1)}",
        "  first difference at .p\n- Point {x: 1}\n+ Point {x: 1} (of another class of the same name)",
    ),
    (
        "[Promise.resolve(1)] | [Promise.resolve(1)]",
        "  first difference at [0]\n- Promise {}\n+ Promise {} (another object; one of this kind is equal only to itself)",
    ),
    (
        "{'a b': range(99999)} | {'a b': range(99999).map((i) => i === 54321 ? {i} : i)}",
        '  first difference at ["a b"][54321]\n- 54321\n+ {\n+   i: 54321,\n+ }',
    ),
    (
        "new Map([[1, {a: range(1200)}]]) | new Map([[1, {a: range(1201)}]])",
        "  first difference at .get(1).a[1200]\n- undefined\n+ 1200",
    ),
    (
        "'x'.repeat(70000) + 'abc' | 'x'.repeat(70000) + 'abd'",
        f'  first difference at character 70002\n- ..."{"x" * 58}abc"\n+ ..."{"x" * 58}abd"\n  {" " * 64}^',
    ),
    ("cycle(1) | {next: {}}", "  {\n-   next: [Circular],\n+   next: {},\n  }"),
    ("throws() | {x: 1}", "  {\n-   x: [Getter threw],\n+   x: 1,\n  }"),
]


@pytest.mark.parametrize(("row", "text"), DIFF, ids=lambda item: item[:60])
def test_diff(realm: Realm, row: str, text: str) -> None:
    expected, actual = row.split(" | ")
    assert realm.run(f"$.diff({expected}, {actual})") == text


def test_a_long_diff_shows_the_start_of_both_sides(realm: Realm) -> None:
    lines = realm.run("$.diff(range(2000).join('\\n'), range(2000).map((i) => -i).join('\\n'))").split("\n")
    expected = [
        "  0",
        *(f"- {i}" for i in range(1, 101)),
        "- ... 1899 more lines",
        *(f"+ {-i}" for i in range(1, 101)),
        "+ ... 1899 more lines",
    ]
    assert lines == expected


def test_a_diff_is_bounded(realm: Realm) -> None:
    lines = realm.run("$.diff(range(399), range(399).map((i) => i % 2 ? i : -i - 1))").split("\n")
    assert (len(lines), lines[-1]) == (401, "  ... 201 more lines")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("{a: [1, 'x', null, true, {}], 'b c': -1.5e300}", {"a": [1, "x", None, True, {}], "b c": -1.5e300}),
        ("Object.create(null)", {}),
        ("[]", []),
        ("-0", 0),
        ("'\\ud800\\u0000\\n'", "\ud800\0\n"),
        ("'x'.repeat(16380)", "x" * 16380),
        ("deep(2, 1)", {"in": [{"in": [1]}]}),
    ],
)
def test_json_of_plain_values(realm: Realm, expression: str, value: Any) -> None:
    text = realm.run(f"$.json({expression})")
    assert (json.loads(text), realm.run(f"JSON.stringify(JSON.stringify({expression}))")) == (value, text)


@pytest.mark.parametrize(
    "expression",
    [
        *"undefined NaN Infinity 1n s f throws() hostile() revoked() cycle(1) deep(10000,1)".split(),
        *"[,1] [undefined] {a:undefined} {[s]:1}".split(),
        "deep(51, 1)",
        "new Point(1)",
        "new Date(0)",
        "new Map()",
        "new (class extends Array {})()",
        "Object.assign([], {x: 1})",
        "{toJSON() { return 1 }}",
        "{get a() { return 1 }}",
        "'x'.repeat(16400)",
        "range(5000)",
        "new Array(4e9)",
    ],
)
def test_json_of_other_values(realm: Realm, expression: str) -> None:
    assert realm.run(f"$.json({expression})") is None


SABOTAGE = """
const bad = () => { throw new Error("sabotage") };
const owners = [
  Array.prototype, String.prototype, Map.prototype, Set.prototype, Date.prototype, RegExp.prototype, Number.prototype,
  Boolean.prototype, Symbol.prototype, BigInt.prototype, Object.getPrototypeOf(Uint8Array.prototype),
  DataView.prototype, Function.prototype, Object.prototype, Iterator.prototype, JSON, Object, Reflect, Math, Array,
  Number, String, Date, Symbol, ArrayBuffer, Error,
];
const kept = new Set([
  "constructor", "prototype", "length", "name", "__proto__", "valueOf", "toString", Symbol.toPrimitive, "buffer",
  "byteLength", "byteOffset", "iterator", "toStringTag",
  // read by the engine when it is asked for the flags of a RegExp
  "hasIndices", "global", "ignoreCase", "multiline", "dotAll", "unicode", "unicodeSets", "sticky",
]);
for (const owner of owners) for (const key of Reflect.ownKeys(owner)) {
  if (kept.has(key) && owner !== Array.prototype) continue;
  if (key === "length" || key === "constructor") continue;
  const property = Object.getOwnPropertyDescriptor(owner, key);
  if (!property.configurable || property.value !== undefined && typeof property.value !== "function") continue;
  later.push([owner, key, property.get ? { get: bad, configurable: true } : { value: bad, configurable: true }]);
}
const define = Object.defineProperty;
for (let i = 0; i < later.length; i++) define(later[i][0], later[i][1], later[i][2]);
const fields = {
  reason: 0, bare: 0, diff: 0, expected: 0, actual: 0, message: 0, outcome: 0, value: 0, enumerable: 0, then: 0,
};
for (const key in fields)
  define(Object.prototype, key, { value: true, writable: true, configurable: true });
const names = {
  Map: 0, Set: 0, Date: 0, RegExp: 0, Promise: 0, Uint8Array: 0, Number: 0, String: 0, Symbol: 0, TypeError: 0, JSON: 0,
  Reflect: 0, eval: 0, isNaN: 0,
};
for (const name in names)
  define(globalThis, name, { value: bad });
"""


def answers(before: str, calls: list[tuple[str, str]]) -> dict[str, str]:
    """Texts that `$.<name>` answers to arguments which were made before `before` ran, by call."""
    realm = Realm()
    lists = ",".join(f"[{args}]" for _, args in calls)
    realm.context.eval(f"(() => {{ {DECLARATIONS} globalThis.lists = [{lists}]; const later = []; {before} }})()")
    found = {}
    for i, (method, args) in enumerate(calls):
        answer = realm.context.eval(f"{{ const args = lists[{i}]; $.{method} }}")
        if answer == "null":
            while realm.context.execute_pending_job():
                pass
            answer = realm.context.eval("$.settled()")
        found[f"{i}: {method} {args}"] = answer
    return found


def calls_of(table: list[str], method: str) -> list[tuple[str, str]]:
    return [(method, ", ".join(row.split(" | "))) for row in table]


@pytest.mark.parametrize(
    "calls",
    [
        [(f"check('{name}', args)", args) for name, args in rows(PASS) + rows(FAIL) if "Promise" not in args],
        calls_of(EQUAL + NOT_EQUAL, "equal(args[0], args[1])"),
        calls_of([row for row, _ in DIFF] + [expression + " | 1" for expression, _ in INSPECT], "check('Equal', args)"),
    ],
    ids=["verdicts", "equality", "explanations"],
)
def test_a_script_that_overwrites_intrinsics_changes_nothing(calls: list[tuple[str, str]]) -> None:
    assert answers(SABOTAGE, calls) == answers("", calls)


def test_the_sabotage_is_real() -> None:
    realm = Realm()
    realm.context.eval(f"(() => {{ const later = []; {SABOTAGE} }})()")
    for expression in (
        "[1].map((x) => x)",
        "[...[1]]",
        "JSON.stringify(1)",
        "Object.keys({})",
        "new Map()",
        "'a'.slice(0)",
        "/a/.exec('a')",
        "`a${1}`.at(0)",
    ):
        with pytest.raises(_quickjs.JSException):
            realm.context.eval(expression)
