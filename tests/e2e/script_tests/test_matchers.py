"""`t.any`, `t.matching`, `t.close` and `t.contains`: what they equal, wherever they stand, and how failures show them."""

from __future__ import annotations

import pytest
from command import Application, MakeApplication, Record

HOLD = {
    "types": '[1, "a", true, {}, [], null, undefined, 1n, Symbol("s"), () => 1]'
    ' = ["number", "string", "boolean", "object", "array", "null", "undefined", "bigint", "symbol", "function"].map((name) => t.any(name))',
    "classes": '[new Date(), "a", 1, true, [1], new Map()] = [Date, String, Number, Boolean, Array, Map].map((type) => t.any(type))',
    "nested": '{ a: [{ b: "x1" }] } = { a: [{ b: t.matching("^x[0-9]$") }] }',
    "a missing property": "{} = { a: t.any('undefined') }",
    "a regular expression": '"Invoice 7" = t.matching(/invoice/i)',
    "close": "[0.1 + 0.2, 1.004, -0.004, NaN, Infinity] = [t.close(0.3, 10), t.close(1), t.close(0), t.close(NaN), t.close(Infinity)]",
    "no digits": "3.4 = t.close(3, 0)",
    "a part of an object": '{ a: { b: 1, c: 2 }, d: 3 } = t.contains({ a: { b: t.any("number") } })',
    "a part of a list": "[{ id: 1, x: 1 }, { id: 2 }, 3] = t.contains([3, { id: 1 }])",
    "a part of a nested list": "{ tags: ['x', 'y'] } = t.contains({ tags: ['y'] })",
    "a part of a text": '"hello" = t.contains("ell")',
    "values of a Map": 'new Map([["a", 1], ["b", { c: 1, d: 2 }]]) = new Map([["a", t.any("number")], ["b", t.contains({ c: 1 })]])',
    "keys of a Map": 'new Map([["k", 1], [{ id: 3 }, 2]]) = new Map([[t.any("string"), 1], [{ id: t.any("number") }, 2]])',
    "a Set, whatever takes which": 'new Set([1, 5]) = new Set([t.any("number"), t.close(1)])',
    "a Set in the other order": 'new Set([1, 5]) = new Set([t.close(1), t.any("number")])',
    "a Set of objects": 'new Set([{ a: 1 }, { a: "x" }]) = new Set([{ a: t.any("string") }, { a: t.any("number") }])',
    "an object of a class": 'new P(1) = new P(t.any("number"))',
    "a cycle": "cycle(1) = cycle(t.any('number'))",
    "one for many": "many.map((n) => ({ n })) = ((one) => many.map(() => one))({ n: t.any('number') })",
    "themselves": 't.any("string") = t.any("string")',
}
DIFFER = {
    "another type": "1 = t.any('string')",
    "null is no object": "null = t.any('object')",
    "a number is not searched": "17 = t.matching('7')",
    "too far": "1.006 = t.close(1)",
    "a text is no number": "'1' = t.close(1)",
    "a missing part": "{ a: 1 } = t.contains({ a: 1, b: 2 })",
    "nested texts are equal": "{ a: 'hello' } = t.contains({ a: 'ell' })",
    "a missing item": "[1, 2] = t.contains([2, 3])",
    "one item is not two": 'new Set([1, "x"]) = new Set([t.any("number"), t.close(1)])',
    "a shared object": "[{ n: 1 }, { n: 'x' }] = ((one) => [one, one])({ n: t.any('number') })",
    "other matchers": "t.any('string') = t.any('number')",
}
MODULE = """
    const cycle = (n) => { const it = { n }; it.self = it; return it; };
    class P { constructor(x) { this.x = x; } }
    const many = Array.from({ length: 100 }, (_, i) => i);
"""


def written(method: str, table: dict[str, str]) -> str:
    pairs = (text.split(" = ", 1) for text in table.values())
    calls = "".join(
        f"t.run({name!r}, (t) => {{ t.assert.{method}({actual}, {expected}); t.assert.{method}({expected}, {actual}); }});\n"
        for name, (actual, expected) in zip(table, pairs, strict=True)
    )
    return f"{MODULE} export function Test{method}(t) {{ {calls} }}"


@pytest.mark.parametrize(("method", "table"), [("Equal", HOLD), ("NotEqual", DIFFER)], ids=["equal", "different"])
def test_matchers_equal_what_they_describe_on_either_side(
    app: MakeApplication, method: str, table: dict[str, str]
) -> None:
    [result] = app({"a_test.ts": written(method, table)}).results("-i", "scripts.demo.a", code=0).values()
    assert [step["name"] for step in result["steps"] if step["status"] != "passed"] == []
    assert len(result["steps"]) == len(table)


def failure(app: Application, body: str) -> Record:
    app.write({"a_test.ts": f"export function TestA(t) {{ {body} }}"})
    failure: Record = app.results("-i", "scripts.demo.a", code=1)["TestA"]["failures"][0]
    return failure


def test_other_assertions_take_matchers(app: MakeApplication) -> None:
    here = app({})
    body = """
        t.assert.Contains([{ id: 1 }, { id: 2, x: 1 }], t.contains({ id: 2 }));
        t.assert.NotContains(new Set([1]), t.any("string"));
        t.assert.JSONPath({ a: { b: "x" } }, "$.a.b", t.matching("x"));
        const mock = t.mock.process("models.user.find", { id: 1 });
        Process("models.user.find", 7, { select: ["id"] });
        t.assert.Equal(mock.calls[0].args, [t.any("number"), t.contains({ select: ["id"] })]);
    """
    here.write({"a_test.ts": f"export function TestA(t) {{ {body} }}"})
    assert here.results("-i", "scripts.demo.a", code=0)["TestA"]["status"] == "passed"


def test_a_diff_shows_only_what_does_not_match(app: MakeApplication) -> None:
    body = """t.assert.Equal(
        { id: "a7", n: 3.14, tags: new Set(["x", 1]), map: new Map([["k", 1]]), user: { id: 7, name: "Ada", plan: { free: true } } },
        { id: t.any("string"), n: t.close(3, 2), tags: new Set([t.any("number"), t.any("string")]), map: new Map([["k", t.any("number")]]),
          user: t.contains({ name: "Bo", plan: { free: t.any("boolean") } }) });"""
    assert failure(app({}), body)["diff"] == (
        """\
  ...
    map: Map(1) {
      "k" => 1,
    },
-   n: t.close(3, 2),
+   n: 3.14,
    tags: Set(2) {
      "x",
      1,
    },
    user: {
      id: 7,
-     name: "Bo",
+     name: "Ada",
      plan: {
        free: true,
      },
  ..."""
    )


SHOWN = {
    "t.assert.Equal(5, t.any('string'));": ['t.any("string")', "5"],
    "t.assert.Equal([1], [t.matching(/^a/i)]);": ["[t.matching(/^a/i)]", "[1]"],
    "t.assert.Equal({ at: 1 }, { at: t.any(Date) });": ["{at: t.any(Date)}", "{at: 1}"],
    "t.assert.NotEqual({ a: 1 }, { a: t.any('number') });": [None, "{a: 1}"],
    "t.assert.Contains([1], t.contains({ id: 3 }));": ["t.contains({id: 3})", "[1]"],
    "const of = (n) => Array.from({ length: 300 }, (_, i) => ({ id: n(i), v: +(i === 299 && n(i) === 'x') }));"
    "t.assert.Equal(of(() => 'x'), of(() => t.any('string')));": ["at [299].v: 0", "at [299].v: 1"],
}


@pytest.mark.parametrize("body", SHOWN)
def test_matchers_are_shown_as_they_are_written(app: MakeApplication, body: str) -> None:
    found = failure(app({}), body)
    assert [found.get("expected_text"), found["actual_text"]] == SHOWN[body]


WRONG = {
    "t.any('strin');": 't.any takes the name of a type (string, number, boolean, object, array, function, null, undefined, bigint, symbol) or a class, such as Date; got "strin"',
    "t.any();": "t.any takes (type), got 0 arguments",
    "t.any(() => 1);": "t.any takes the name of a type",
    "t.matching(5);": "t.matching: The pattern must be a string or a RegExp, got number",
    "t.close('3');": 't.close takes a number, got "3"',
    "t.close(3, 1.5);": "t.close takes a number of decimal places, 0 to 20, got 1.5",
    "t.contains(5);": "t.contains takes an object, a list or a string, got 5",
}


@pytest.mark.parametrize("body", WRONG)
def test_a_wrong_argument_is_refused_where_it_is_written(app: MakeApplication, body: str) -> None:
    here = app({"a_test.ts": f"export function TestA(t) {{\n  {body}\n}}"})
    result = here.results("-i", "scripts.demo.a", code=1)["TestA"]
    assert result["error"].startswith(f"TypeError: {WRONG[body]}")
    assert result["location"].startswith("assistants/demo/src/a_test.ts:2:")


def test_a_pattern_that_cannot_be_read_is_refused_where_it_is_written(app: MakeApplication) -> None:
    here = app({"a_test.ts": "export function TestA(t) {\n  t.matching('(');\n}"})
    result = here.results("-i", "scripts.demo.a", code=1)["TestA"]
    assert "missing `)`" in result["error"] and ":2:" in result["location"]
