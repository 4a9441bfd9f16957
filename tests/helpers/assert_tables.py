"""Calls of `t.assert` in tables: values that are equal or not, how they are shown, and assertions that pass or fail."""

from __future__ import annotations

import re

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
    "deep(4000, 1) | deep(4000, 1)",
    "shared(40) | shared(40)",
    "nest(4000, (v) => new Set([v]), 1) | nest(4000, (v) => new Set([v]), 1)",
    "nest(4000, (v) => new Map([[v, v]]), 1) | nest(4000, (v) => new Map([[v, v]]), 1)",
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
    "deep(4000, 1) | deep(4000, 2)",
    "deep(3999, 1) | deep(4000, 1)",
    "nest(4000, (v) => new Set([v]), 1) | nest(4000, (v) => new Set([v]), 2)",
]
PASS = """
True: true | 1 | 'a' | [] | {}
False: false | 0 | '' | null | undefined | NaN
Equal: 1, 1 | {a: [1]}, {a: [1]} | 1, 1, 'message' | NaN, NaN | new Date(1), new Date(1), undefined | 1, 1, 'a %s', 'b'
NotEqual: 1, 2 | {a: 1}, {a: 2} | null, undefined | 1, '1'
Nil: null | undefined | undefined, 'message' | null, 'a', 1
NotNil: 0 | '' | false | {} | NaN
Contains: 'hello', 'ell' | 'hello', '' | [1, {a: [2]}], {a: [2]} | [NaN], NaN | new Set([{a: 1}]), {a: 1}
Contains: new Set([1]), 1 | new TypeError('is shut'), 'TypeError: is' | new Error(''), ''
Contains: new Map([[{a: 1}, 2]]), {a: 1} | new Map([['a', 2]]), 'a' | new Uint8Array([1, 2]), 2
Contains: new BigInt64Array([1n]), 1n
Contains: new Money([['eur', 1]]), 'eur' | (function () { return [...arguments] })(1), 1 | [ , 1], undefined
NotContains: 'hello', 'x' | [1, 2], 3 | [1], '1' | new Set([1]), 2 | new Map([['a', 'b']]), 'b'
NotContains: new Uint8Array([1]), 1n | [], undefined | new Error('a'), 'b'
Len: 'abc', 3 | '', 0 | [1, 2], 2 | new Set([1]), 1 | new Map([[1, 1]]), 1 | {a: 1, b: 2}, 2 | {}, 0
Len: new Uint8Array(4), 4
Len: {length: 7}, 7 | {size: 8}, 8 | {length: 'x', size: 'y'}, 2 | Object.create(null), 0 | new String('ab'), 2
Len: '😀', 2 | null, 0
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
NoPanic: () => ({ then: 1 }) | () => ({ get next() { throw 1 } }) | () => ({ next() {} })
Match: 'hello', '^h.*o$' | 'Hello', '(?i)hello' | 'hello', /L/i | 123, '^123$' | 12n, /12/ | true, /true/
Match: {a: 1}, '"a":1' | [1, 2], /1,2/
Match: new TypeError('boom'), /^TypeError: boom$/ | 'a', Object.assign(/a/g, {lastIndex: 5})
Match: 'aa', Object.assign(/a/g, {lastIndex: 2})
Match: 'a', Object.assign(/a/y, {lastIndex: 1}) | new Error('x'), 'Error'
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
Contains: new Uint8Array([1]), 1n | [], undefined | new Error('a'), 'b' | new Error('1'), 1
Contains: {a: 1}, 'a' | null, 'a' | undefined, 'undefined' | 5, 5 | new DataView(new ArrayBuffer(1)), 0
Contains: hostile(), 1 | Object.create(Set.prototype), 1
NotContains: 'hello', 'ell' | 'a1', 1 | [{a: 1}], {a: 1} | new Set([[1]]), [1] | new Map([['a', 1]]), 'a'
NotContains: undefined, 'x' | {a: 1}, 'x' | null, null | new Error('a'), 'a'
Len: 'abc', 4 | 'abc', '3' | [1], 2 | {a: 1}, 2 | 5, 1 | null, 1 | undefined, 0 | f, 0 | new Point(1), 1
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
NoPanic: function* () {} | () => (function* () {})() | async function* () {}
Match: 'hello', '^x' | 'hello', /x/ | undefined, 'undefined' | null, /null/ | 'a', 5 | 'a', null | 'a', '('
Match: cycle(1), 'a' | hostile(), 'a' | f, /1/ | s, 's'
NotMatch: 'hello', 'ell' | 'hello', /ell/ | undefined, 'x' | f, /2/ | s, 'x' | 'a', '(' | 'a', undefined
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
True: true, 1, 'b' | Equal: 1, 1, null, 'b' | NoError: null, null, null
Agent: 'text' | Agent: 'text', 5 | Agent: 'text', 'v', 'criteria' | Agent: 'text', 'v', {}, 2, 1 | Agent:
"""

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
        "- Symbol(a)\n+ Symbol(a) (another symbol with the same description; symbols are equal only to themselves)",
    ),
    (
        "{p: new Point(1)} | {p: new Twin(1)}",
        "  first difference at .p\n- Point {x: 1}\n+ Point {x: 1} (of another class with the same name)",
    ),
    (
        "[Promise.resolve(1)] | [Promise.resolve(1)]",
        "  first difference at [0]\n- Promise {}\n+ Promise {} (another object; objects of this kind are equal only to themselves)",
    ),
    (
        "{'a b': range(9999)} | {'a b': range(9999).map((i) => i === 5432 ? {i} : i)}",
        '  first difference at ["a b"][5432]\n- 5432\n+ {\n+   i: 5432,\n+ }',
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
