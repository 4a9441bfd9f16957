"""What was not a function: by the place at which the real engine puts a call."""

from __future__ import annotations

import re

import _quickjs
import pytest
from command import MakeApplication
from table_tests import each

from scripttest.diagnostics.stack import asked

WORLD = """
var o = { p: {}, self() { return this; } }, a = { b: { c: 1 }, l: [1] }, b = "foo", foo = 1, Foo;
var f = (g) => (typeof g === "function" ? g() : {});
"""
ONE = [
    "foo()",
    "foo(1, 'x', /[']/)",
    "foo(a)",
    "foo(a.b, 1)",
    "foo(a, 1 + a)",
    "o.foo(1)",
    "o.p.q(a.b.c, 'x')",
    "o.foo({ a: a.b }, [a, a.b])",
    "o.foo(a.b, { x: 1, y: [1, 2] })",
    "o.foo(a.b + 1)",
    "o.foo(!a, b ? a.b : 1)",
    "o.foo(...a.l)",
    "o.foo((x) => x.y)",
    "o.foo(() => {\n    f(1);\n  })",
    "o.foo(1, (x) => x)",
    "o.foo(this, null, true)",
    "o?.foo(1)",
    "o[b](1)",
    "o['x'](1)",
    "a.l[0](1)",
    "f(1)[b](2)",
    "new Foo(1)",
    "new o.foo(a)",
    "f(1).nope(2)",
    "f(1)(a)",
    "'abc'.nope(1)",
    "[1, 2].map((x) => x).nope(1)",
    "o.self(1).foo(\n    a\n  )",
    "(0, o.foo)(1)",
    "a.b[b](a.b)",
]
"""Calls whose callee is all before the last list of arguments."""
SEVERAL = {
    "o.foo(o.self())": ["o.self", "o.foo"],
    "o.foo(f(a.b), 1)": ["f", "o.foo"],
    "f(o.foo(1))": ["o.foo", "f"],
    "f({ k: o.foo(1), l: 2 }, [3])": ["o.foo", "f"],
    "f(f(f(o.foo())))": ["o.foo", "f"],
    "o.foo(1)(2)": ["o.foo", "o.foo(1)"],
    "f(1)()": ["f", "f(1)"],
    "o.foo(1).then(f)": ["o.foo"],
    "o.foo(f().length, 1)": ["f", "o.foo"],
    "o.foo(o.self().p.q)": ["o.self", "o.foo"],
    "o.foo(1).p.nope": ["o.foo"],
    "f()?.nope(o.foo(1).p)": ["o.foo", "f()?.nope"],
    "o.foo(1) + f(1)": ["o.foo"],
    "f(1) + o.foo(2)": ["o.foo"],
    "f(() => o.foo(1))": ["o.foo"],
    "f(function() {\n    return o.foo(1);\n  })": ["o.foo"],
    "b ? o.foo(1) : 2": ["o.foo"],
    "[o.foo(1)]": ["o.foo"],
    "o.nope(function() {\n  })": [],
    "o.foo(f(1), (x) => x)": [],
    "o.foo(`t${a.b}`)": [],
    "o.foo(a = 1)": [],
    "foo`x`": [],
    "o.foo`x${a}`": [],
}


def candidates(expression: str) -> list[str]:
    """The callees at the place that the engine tells of an expression that fails in a function."""
    context = _quickjs.Context()
    context.eval(WORLD)
    code = f"var first = 1;\nfunction fails() {{\n  return {expression};\n}}\n"
    with pytest.raises(_quickjs.JSException) as raised:
        context.eval(f"{code}fails()")
    place = re.match(r"TypeError: not a function\n    at \S+ \(<input>:(\d+):(\d+)\)", str(raised.value))
    assert place, raised.value
    lines = code.splitlines(keepends=True)
    return asked("callees", code, len("".join(lines[: int(place[1]) - 1])) + int(place[2]) - 1)


@each("expression", ONE)
def test_the_callee_is_found(expression: str) -> None:
    callee = expression[: outermost(expression)].removeprefix("new ")
    assert candidates(expression) == [callee]


def outermost(expression: str) -> int:
    """Offset of the last list of arguments."""
    depth = 0
    for at in range(len(expression) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(expression[at], 0)
        if not depth:
            return at
    raise AssertionError(expression)


@each(("expression", "found"), SEVERAL.items(), ids=SEVERAL)
def test_where_the_place_is_shared_all_calls_are_candidates(expression: str, found: list[str]) -> None:
    assert candidates(expression) == found


@each("place", range(0, 90, 7))
def test_places_that_nobody_noted_give_none_or_some_but_never_break(place: int) -> None:
    code = 'var a = `x${(`;\nfunction f() {\n  return g(/[/](]/, "\'", a)[b](c => {\n    (d))]}\n  };\n}\n'
    assert all(name in code.replace("\n", "") for name in asked("callees", code, place) or ())


CODE = """\
import { load } from "./handler";
export function TestTypo(t) {
  t.assert.Equals(1, 1);
}
export function TestElsewhere(t) {
  load({ name: "a" });
}
export function TestCalled(t) {
  Process("scripts.lib.Fn", "x");
}
export function TestInside(t) {
  t.run("sub", (t) => {
    t.assert.Tru(1);
  });
}
export function TestThrown(t) {
  throw new TypeError("not a function");
}
export function TestNative(t) {
  [1].map(t.name);
}
export function TestEither(t) {
  t.assert.Equal(t.nope(1), 2);
}
"""


def test_the_place_is_that_of_the_callee(app: MakeApplication) -> None:
    code = "export function TestA(t) {\n  const order: any = {};\n  order.load(t.name, [order.id]);\n}\n"
    run = app({"a_test.ts": code}).run("-i", "scripts.demo.a")
    lines = run.stdout.splitlines()
    start = lines.index("       at assistants/demo/src/a_test.ts:3:9")
    assert lines[start + 3 : start + 5] == [
        "       > 3 |   order.load(t.name, [order.id]);",
        "           |         ^^^^",
    ]


def test_a_report_names_what_was_not_a_function(app: MakeApplication) -> None:
    handler = "export const load = (order) => {\n  return [order].toArry(order.name);\n};\n"
    library = "export function Fn(text) {\n  return text.toUperCase();\n}\n"
    here = app({"a_test.ts": CODE, "handler.ts": handler, "/scripts/lib.ts": library})

    results = here.results("-i", "scripts.demo.a", code=1)
    errors = {name: record["error"] for name, record in results.items()}
    errors["TestInside"] = results["TestInside"]["steps"][0]["error"]

    assert errors == {
        "TestTypo": "TypeError: t.assert.Equals is not a function",
        "TestElsewhere": "TypeError: [order].toArry is not a function",
        "TestCalled": "TypeError: text.toUperCase is not a function",
        "TestInside": "TypeError: t.assert.Tru is not a function",
        "TestThrown": "TypeError: not a function",
        "TestNative": "TypeError: not a function",
        "TestEither": "TypeError: t.nope is not a function",
    }


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("t.assert.Equl(1, 1);", "There is no assertion Equl: did you mean Equal?"),
        ("t.require.notnil(1);", "There is no assertion notnil: did you mean NotNil?"),
        ("t.assert.jsonPath({}, '$', {});", "There is no assertion jsonPath: did you mean JSONPath?"),
        ("t.assert.GreaterOrEqal(2, 1);", "There is no assertion GreaterOrEqal: did you mean GreaterOrEqual?"),
        ("t.assert.Whatever(1);", ""),
        ("if (!t.assert.Equl) t.assert.Equal(1, 2);", ""),
    ],
)
def test_a_misspelt_assertion_comes_with_the_one_that_was_meant(app: MakeApplication, code: str, hint: str) -> None:
    run = app({"a_test.ts": f"export function TestA(t) {{ {code} }}\n"}).run("-i", "scripts.demo.a")
    assert run.code == 1
    assert [line.strip() for line in run.stdout.splitlines() if "did you mean" in line] == [hint] * bool(hint)
