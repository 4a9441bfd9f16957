"""Which values each assertion of `t.assert` accepts, also if a script overwrites built-ins."""

from __future__ import annotations

import _quickjs
import pytest
from assert_realm import DECLARATIONS, SOURCES, Realm
from assert_tables import DIFF, EQUAL, FAIL, INSPECT, NOT_EQUAL, PASS, rows
from table_tests import each


@pytest.fixture(scope="module")
def realm() -> Realm:
    return Realm()


@each("row", EQUAL)
def test_equal_values(realm: Realm, row: str) -> None:
    left, right = row.split(" | ")
    assert realm.run(f"$.equal({left}, {right})") == [True, True]


@each("row", NOT_EQUAL)
def test_values_that_are_not_equal(realm: Realm, row: str) -> None:
    left, right = row.split(" | ")
    assert realm.run(f"$.equal({left}, {right})") == [False, False]


@each(("name", "args"), rows(PASS), ids=str)
def test_passes(realm: Realm, name: str, args: str) -> None:
    assert realm.check(name, args) == {}


@each(("name", "args"), rows(FAIL), ids=str)
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
        calls_of(
            [row.replace("10000", "1000").replace("9999", "999") for row in EQUAL + NOT_EQUAL],  # as deep takes seconds
            "equal(args[0], args[1])",
        ),
        calls_of(
            [row.replace("9999", "999").replace("5432", "543") for row, _ in DIFF]
            + [expression + " | 1" for expression, _ in INSPECT],
            "check('Equal', args)",
        ),
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
