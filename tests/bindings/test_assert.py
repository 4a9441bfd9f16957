"""The assertions of `t.assert`: deep equality, the checks, their explanations, and what a hostile script cannot change."""

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
import { std } from "./std";
const parts = {}, loaded = [], evaluate = eval, host = $host, sources = $parts;
const ask = (name, args) => {
  const answer = std.parse(host(name, std.stringify(args)));
  if (std.hasOwn(answer, "error")) throw new std.Error(answer.error);
  return answer.ok;
};
const kernel = { std, host: ask, call: ask, part(name) {
  if (!std.hasOwn(parts, name)) {
    loaded[loaded.length] = name;
    parts[name] = evaluate(sources[name])(kernel);
  }
  return parts[name];
} };
let settled;
globalThis.$ = {
  loaded: () => std.join(loaded, " "),
  explain: () => kernel.part("explain"),
  names: () => std.join(kernel.part("assert").names, " "),
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
    text = bundled(f"parts/{name}.ts", "--format=esm").strip()
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
        self.context.eval(f"globalThis.$parts = {json.dumps({name: part(name) for name in ('assert', 'equal', 'explain')})}")
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
        return result

    def failure(self, name: str, args: str) -> dict[str, Any]:
        return self.check(name, args)["outcome"]


DECLARATIONS = """
class Point { constructor(x) { this.x = x } }
class Dot { constructor(x) { this.x = x } }
class Money extends Map { get [Symbol.toStringTag]() { return "Money" } }
const Twin = (() => { class Point { constructor(x) { this.x = x } } return Point })();
const cycle = (length) => { const first = {}; let last = first; while (--length) last = last.next = {}; last.next = first; return first };
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
    "range(10000).reduce((value) => new Set([value]), 1) | range(10000).reduce((value) => new Set([value]), 1)",
    "range(10000).reduce((value) => new Map([[value, value]]), 1) | range(10000).reduce((value) => new Map([[value, value]]), 1)",
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
    "throws() | throws()",
    "revoked() | revoked()",
    "revoked() | {}",
    "hostile() | hostile()",
    "hostile() | {}",
    "Object.create(Date.prototype) | Object.create(Date.prototype)",
    "deep(10000, 1) | deep(10000, 2)",
    "deep(9999, 1) | deep(10000, 1)",
    "range(10000).reduce((value) => new Set([value]), 1) | range(10000).reduce((value) => new Set([value]), 2)",
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
