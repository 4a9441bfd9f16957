"""What assertions of `t.assert` say when they fail."""

from __future__ import annotations

import json
from typing import Any

import pytest
from assert_realm import Realm
from table_tests import each

from bindings import World
from runner.agents.helpers import count_votes


@pytest.fixture
def realm() -> Realm:
    return Realm()


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
            "Point {x: 1} (of another class with the same name)",
            "- Point {x: 1}\n+ Point {x: 1} (of another class with the same name)",
        ),
    ),
    (
        "Equal",
        "() => 1, () => 1",
        outcome(
            "Not equal",
            "[Function]",
            "[Function] (another function with the same source; functions are equal only to themselves)",
        ),
    ),
    ("NotEqual", "{a: 1}, {a: 1}", outcome("Should not be equal", actual=("{a: 1}", {"a": 1}))),
    ("Nil", "{a: undefined}", outcome("Should be null or undefined", actual="{a: undefined}")),
    ("NotNil", "undefined", outcome("Should not be null or undefined", actual="undefined")),
    ("Contains", "[1, 2], 3", outcome("Should contain the item", ("3", 3), ("[1, 2]", [1, 2]))),
    ("Contains", "'a', 1", outcome("A string can only contain a string, got number")),
    (
        "Contains",
        "{}, 1",
        outcome("Only a string, an error, an array, a typed array, a Set or a Map can contain an item, got object"),
    ),
    (
        "Contains",
        "new DataView(new ArrayBuffer(1)), 0",
        outcome("Only a string, an error, an array, a typed array, a Set or a Map can contain an item, got object"),
    ),
    ("NotContains", "'abc', 'b'", outcome("Should not contain the item", ('"b"', "b"), ('"abc"', "abc"))),
    ("Len", "[1], 2", outcome("Wrong length", ("2", 2), ("1", 1))),
    ("Len", "null, 1", outcome("Wrong length", ("1", 1), ("0", 0))),
    (
        "Len",
        "undefined, 0",
        outcome("Only a string, or an object with a length or a size, has a length, got undefined"),
    ),
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
    ("Panic", "'f'", outcome("Only functions can be called, got string")),
    ("NoPanic", "() => { throw new Error('x') }", outcome("Should not throw", actual="Error: x")),
    ("NoPanic", "async () => { throw new Error('x') }", outcome("Should not throw", actual="Error: x")),
    ("Match", "'abc', '^b'", outcome("Should match the pattern", ('"^b"', "^b"), ('"abc"', "abc"))),
    ("Match", "'abc', /^b/i", outcome("Should match the pattern", "/^b/i", ('"abc"', "abc"))),
    ("Match", "null, 'a'", outcome("There is nothing to match, got null")),
    ("Match", "'a', 5", outcome("The pattern must be a string or a RegExp, got number")),
    ("Match", "'a', '('", outcome("Match could not be evaluated: missing ), unterminated subpattern at position 0")),
    ("NotMatch", "'abc', 'b'", outcome("Should not match the pattern", ('"b"', "b"), ('"abc"', "abc"))),
    ("JSONPath", "{a: [1]}, '$.a[0]', 2", outcome("Not equal at $.a[0]", ("2", 2), ("1", 1))),
    (
        "JSONPath",
        "'{', 'a', 2",
        outcome(
            "Not JSON:  Expected property name or '}' in JSON at position 1 (line 1 column 2)",
            actual=('"{"', "{"),
        ),
    ),
    ("JSONPath", "{}, 1, 2", outcome("The path must be a string, got number")),
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
    ("Nil", "null, 2, 1", outcome("Nil takes (value, message?), got 3 arguments")),
    ("Agent", "'text'", outcome("Agent takes (response, agentId, options?, message?), got 1 argument")),
    ("Agent", "'text', 5", outcome("The validator id must be a string, got number")),
    ("Agent", "'text', 'v', 'polite'", outcome("The options must be an object, got string")),
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
        ("1, 2, ''", None),
        ("1, 2, undefined", None),
        ("1, 2", None),
        ("1, 2, 5", "5"),
        ("1, 2, null", None),
        ("1, 2, () => 'status'", None),
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


def votes(*args: Any) -> dict[str, Any]:
    return count_votes(World(suite="s", test="t"), 1, "", False, list(args))


@each(
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
    realm = Realm("Object.prototype.passed = true", agent_Validate=answer, agent_Vote=votes)
    found = realm.check("Agent", "'hi', 'a.v', {criteria: 'polite', metadata: {x: 1}, connector: 'c', other: 1}").get(
        "outcome"
    )
    assert [asked for asked in realm.asked if asked[0] == "agent.Validate"] == [
        [
            "agent.Validate",
            {"agent": "a.v", "output": "hi", "criteria": "polite", "metadata": {"x": 1}, "connector": "c"},
        ]
    ]
    assert (found and {key: json.loads(text) if key == "actual" else text for key, text in found.items()}) == expected


def test_agent_that_cannot_be_asked() -> None:
    realm = Realm(agent_Vote=votes)
    assert realm.check("Agent", "'hi', 'a.v', {}, 'tone'") == {
        "message": "tone",
        "outcome": {"reason": "The validator \"a.v\" could not be asked: 'agent.Validate'"},
    }
