"""The stores of a realm."""

# A row of a table is one line.

from __future__ import annotations

from parts_realm import evaluate
from table_tests import each

SETUP = "const store = (method, ...args) => part('store')('s', method, args);"

STORE = [
    ("missing key", "return [store('Get', 'k') === undefined, store('Has', 'k'), store('ArrayAll', 'k'), store('ArrayLen', 'k')]", [True, False, [], 0]),
    ("Set and Get", "return [store('Set', 'k', {a: [1]}), store('Get', 'k'), store('Has', 'k')]", [None, {"a": [1]}, True]),
    ("any case of a method", "store('set', 'k', 1); return store('GET', 'k')", 1),
    ("what is set is a copy", "const v = {a: 1}; store('Set', 'k', v); v.a = 2; return store('Get', 'k')", {"a": 1}),
    ("what is got is a copy", "store('Set', 'k', {a: 1}); store('Get', 'k').a = 2; return store('Get', 'k')", {"a": 1}),
    ("a list that is got is a copy", "store('Push', 'k', 1); store('ArrayAll', 'k').push(2); return store('ArrayAll', 'k')", [1]),
    ("undefined and functions are null", "store('Set', 'a', undefined); store('Set', 'b', () => 1); return [store('Get', 'a'), store('Get', 'b'), store('Has', 'a')]", [None, None, True]),
    ("no JSON", "const a = {}; a.a = a; return store('Set', 'k', a)", "Exception|400: A value cannot be stored: it is not JSON: circular reference"),
    ("time to live", "store('Set', 'k', 1, 2); clock.now += 1999; const before = store('Get', 'k'); clock.now += 1; return [before, store('Get', 'k') === undefined, store('Has', 'k'), store('Keys'), store('Len')]", [1, True, False, [], 0]),
    ("no time to live", "store('Set', 'a', 1, 0); store('Set', 'b', 1, null); store('Set', 'c', 1, 'x'); clock.now += 1e12; return store('Len')", 3),
    ("a list keeps its time to live", "store('Set', 'k', [], 2); store('Push', 'k', 1); clock.now += 2000; return store('Has', 'k')", False),
    ("a new value has a new time to live", "store('Set', 'k', 1, 2); store('Set', 'k', 1); clock.now += 5000; return store('Has', 'k')", True),
    ("GetSet", "return [store('GetSet', 'k', (key) => key + '!', 0), store('GetSet', 'k', () => 'other'), store('GetSet', 'v', 5)]", ["k!", "k!", 5]),
    ("GetDel", "store('Set', 'k', 1); return [store('GetDel', 'k'), store('GetDel', 'k') === undefined]", [1, True]),
    ("Del", "store('Set', 'a', 1); store('Set', 'b', 1); return [store('Del', 'a'), store('Del', 'zzz'), store('Keys')]", [None, None, ["b"]]),
    ("Del with a wildcard", "for (const k of ['a:1', 'a:2', 'b:1', 'x.a:y']) store('Set', k, 1); store('Del', 'a:*'); const first = store('Keys'); store('Del', '*:*'); return [first, store('Keys')]", [["b:1", "x.a:y"], []]),
    ("Keys and Len with a pattern", "for (const k of ['a:1', 'b:1', 'a:2']) store('Set', k, 1); return [store('Keys'), store('Keys', 'a:*'), store('Len'), store('Len', '*:1')]", [["a:1", "b:1", "a:2"], ["a:1", "a:2"], 3, 2]),
    ("Clear", "store('Set', 'k', 1); return [store('Clear'), store('Len')]", [None, 0]),
    ("stores are apart", "store('Set', 'k', 1); return [part('store')('t', 'Has', ['k']), part('store')('__proto__', 'Has', ['k'])]", [False, False]),
    ("strange keys", "store('Set', '__proto__', 1); store('Set', 5, 2); store('Set', '', 3); return [store('Get', '__proto__'), store('Get', '5'), store('Get', ''), ({}).polluted === undefined]", [1, 2, 3, True]),
    ("Push", "return [store('Push', 'k', 1, [2]), store('Push', 'k', 3), store('ArrayAll', 'k')]", [2, 3, [1, [2], 3]]),
    ("Pop", "store('Push', 'k', 1, 2, 3); return [store('Pop', 'k', 1), store('Pop', 'k', -1), store('Pop', 'k'), store('Pop', 'k') === undefined]", [3, 1, 2, True]),
    ("Pull", "store('Push', 'k', 1, {a: 1}, 2, {a: 1}); return [store('Pull', 'k', {a: 1}), store('ArrayAll', 'k')]", [None, [1, 2]]),
    ("Pull from nothing makes nothing", "store('Pull', 'k', 1); return store('Has', 'k')", False),
    ("PullAll", "store('Push', 'k', 1, 2, 3); store('PullAll', 'k', [1, 3]); return store('ArrayAll', 'k')", [2]),
    ("AddToSet", "return [store('AddToSet', 'k', [1, 1, {a: 1}]), store('AddToSet', 'k', 1, {a: 1}, 2), store('ArrayAll', 'k')]", [2, 3, [1, {"a": 1}, 2]]),
    ("ArrayGet", "store('Push', 'k', 'a', 'b'); return [store('ArrayGet', 'k', 1), store('ArrayGet', 'k', 9) === undefined, store('ArrayGet', 'k', -1) === undefined]", ["b", True, True]),
    ("ArraySet", "store('Push', 'k', 'a', 'b'); return [store('ArraySet', 'k', 1, 'c'), store('ArrayAll', 'k')]", [None, ["a", "c"]]),
    ("ArraySet out of range", "store('Push', 'k', 'a'); return store('ArraySet', 'k', 1, 'c')", 'Exception|400: The list "k" has 1 elements and none at index 1'),
    ("ArraySlice", "store('Push', 'k', 0, 1, 2, 3, 4); return [store('ArraySlice', 'k', 1, 2), store('ArraySlice', 'k', 3), store('ArraySlice', 'k', 9, 1)]", [[1, 2], [3, 4], []]),
    ("ArrayPage", "store('Push', 'k', 0, 1, 2, 3, 4); return [store('ArrayPage', 'k', 1, 2), store('ArrayPage', 'k', 3, 2), store('ArrayPage', 'k', 4, 2)]", [[0, 1], [4], []]),
    ("Incr and Decr", "return [store('Incr', 'k'), store('Incr', 'k', 5), store('Decr', 'k'), store('Decr', 'k', 0.5), store('Get', 'k')]", [1, 6, 5, 4.5, 4.5]),
    ("Incr of a text", "store('Set', 'k', 'x'); return store('Incr', 'k')", 'Exception|400: The value of "k" cannot be counted: it is not a number'),
    ("a list method on a text", "store('Set', 'k', 'x'); return store('Push', 'k', 1)", 'Exception|400: The value of "k" is not a list'),
    ("unknown method", "return store('Explode', 'k')", 'Exception|404: The store "s" has no method "Explode"'),
    ("inherited names are no methods", "return store('constructor', 'k')", 'Exception|404: The store "s" has no method "constructor"'),
    ("no key", "return store('Get')", "Exception|400: stores.s.Get takes a key as its first argument"),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in STORE], ids=[row[0] for row in STORE])
def test_store(body: str, expected: object) -> None:
    assert evaluate(f"(() => {{ {SETUP} {body} }})()") == expected


CLASS = [
    ("missing key is undefined", "return [s.Get('k') === undefined, s.GetDel('k') === undefined, s.Pop('k') === undefined, s.ArrayGet('k', 0) === undefined]", [True] * 4),
    ("a stored null is null", "s.Set('k', null); return [s.Get('k'), s.GetDel('k'), s.Has('k')]", [None, None, False]),
    ("GetSet runs its function here", "return [s.GetSet('k', (k) => ({k}), 9), s.GetSet('k', () => 0)]", [{"k": "k"}, {"k": "k"}]),
    ("lists", "return [s.Push('l', 1, 2), s.AddToSet('l', [2, 3]), s.ArraySlice('l', 1, 1), s.Len()]", [2, 3, [2], 1]),
    ("two objects, one store", "s.Set('k', 1); return new Store('cache').Get('k')", 1),
    ("an id with dots", "const d = new Store('a.b'); d.Set('k', 1); return [d.Get('k'), s.Has('k'), d.name]", [1, False, "a.b"]),
    ("no id", "return new Store()", "Exception|400: Store takes a store id"),
    ("a mock answers", "part('mock').process('stores.cache.Get', 'mocked'); return s.Get('k')", "mocked"),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in CLASS], ids=[row[0] for row in CLASS])
def test_store_class(body: str, expected: object) -> None:
    assert evaluate(f"(() => {{ const s = new Store('cache'); {body} }})()", "yao") == expected
