"""`json_schema`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judging import outcome
from table_tests import each

from bindings.processes.schemas import schema_problem
from runner.assertions.json_values import DIALECT, is_simple_schema

SCHEMA = {
    "type": "object",
    "required": ["status"],
    "properties": {"status": {"enum": ["ok"]}, "items": {"type": "array", "items": {"type": "number"}}},
}
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}, {"type": "number"}]}
EXPECTED = "Expected the output to match the JSON Schema"
NOT_EVALUATED = 'Cannot evaluate "json_schema": invalid JSON Schema: '

ROWS: list[tuple[str, dict[str, Any], Any, str]] = [
    ("object", {"value": SCHEMA}, {"status": "ok", "items": [1]}, ""),
    ("fenced JSON", {"value": SCHEMA}, '```json\n{"status": "ok"}\n```', ""),
    ("text as text", {"value": {"type": "string", "pattern": "(?i)^DEAR"}}, "Dear Ann: hello", ""),
    ("older draft", {"value": DRAFT_7}, ["a", 1], ""),
    ("nothing", {"value": {"type": "null"}}, None, ""),
    ("negated holds", {"value": SCHEMA, "negate": True}, {}, ""),
    ("look-ahead", {"value": {"pattern": r"^(?=.*\d)(?!.*\s)\w{3,2000}$"}}, "abc1", ""),
    ("a word that is written twice", {"value": {"pattern": r"(?<word>\b[a-z]+) \k<word>(?!\w)"}}, "so so good", ""),
    ("letters by their numbers", {"value": {"pattern": r"^[\u4e00-\u9fa5]+$"}}, "中文", ""),
    ("properties of letters", {"value": {"pattern": r"^(?!\p{Lu})\p{L}+$"}}, "été", ""),
    (
        "look-ahead in the names of properties",
        {"value": {"patternProperties": {"^(?!x-)": {"type": "number"}}, "additionalProperties": False}},
        {"a": "b", "x-a": 1},
        'Expected the output to match the JSON Schema, found {"a": "b", "x-a": 1}; '
        "value: 'x-a' does not match any of the regexes: '^(?!x-)'; a: 'b' is not of type 'number'",
    ),
    (
        "the end is that of the text, and digits are of ASCII",
        {"value": {"items": {"pattern": r"^(?!0)\d+$"}}},
        ["1\n", "\u0661", "12"],
        'Expected the output to match the JSON Schema, found ["1\\n", "\u0661", "12"]; '
        r'[0]: "1\n" does not match "^(?!0)\\d+$"; [1]: "\u0661" does not match "^(?!0)\\d+$"',
    ),
    *[
        (
            f"format {name}",
            {"value": {"items": {"format": name}}},
            [good, bad],
            f'{EXPECTED}, found ["{good}", "{bad}"]; [1]: "{bad}" does not have the format {name}',
        )
        for name, good, bad in (
            ("date", "2024-02-29", "2023-02-29"),
            ("time", "09:00:00Z", "9 o'clock"),
            ("date-time", "2024-02-29T09:00:00.25+01:00", "2024-02-29"),
            ("date-time", "2016-12-31t23:59:60z", "2016-12-31T23:60:00Z"),
            ("email", "ann@example.org", "Ann at home"),
            ("uuid", "0190f7b4-6f6a-7bb0-8d2c-3b1f0a9e5c11", "12"),
            ("uri", "https://example.org/?a=b", "example"),
            ("ipv4", "127.0.0.1", "256.0.0.1"),
            ("ipv6", "::1", "1"),
        )
    ],
    ("a format of one's own", {"value": {"format": "invoice"}}, "x", ""),
    *[
        (f"{name} says nothing of texts", {"value": schema}, said, f"{EXPECTED}, found {shown}; {why}")
        for name, schema, said, shown, why in (
            ("required", {"required": ["b"]}, '{"a": 1}', r'"{\"a\": 1}"', "value: 'b' is a required property"),
            ("items", {"items": {"type": "number"}}, "[1, true]", '"[1, true]"', "[1]: True is not of type 'number'"),
            ("required, of prose,", {"required": ["b"]}, "Hello", '"Hello"', "it contains no JSON"),
            ("an empty schema", {}, "Hello", '"Hello"', "it contains no JSON"),
        )
    ],
    ("any JSON", {"value": {}}, "Here: [1]", ""),
    ("an enum of texts", {"value": {"enum": ["yes", "no"]}}, "yes", ""),
    ("one of several", {"value": {"anyOf": [{"type": "string"}, {"type": "number"}]}}, "Hello", ""),
    (
        "a pattern that is none",
        {"value": {"pattern": "(?=a"}},
        "a",
        f"{NOT_EVALUATED}Cannot use pattern `(?=a`: look-ahead `(?=` is not supported at position 0",
    ),
    (
        "a pattern of another language",
        {"value": {"pattern": "(?>a)b++"}},
        "ab",
        f"{NOT_EVALUATED}Cannot use pattern `(?>a)b++`: an atomic group `(?>` is not supported at position 0",
    ),
    (
        "every fault with its place",
        {"value": SCHEMA},
        {"status": "no", "items": [1, "b"]},
        'Expected the output to match the JSON Schema, found {"status": "no", "items": [1, "b"]}; '
        "items[1]: 'b' is not of type 'number'; status: 'no' is not one of ['ok']",
    ),
    (
        "older draft fails",
        {"value": DRAFT_7},
        [1],
        "Expected the output to match the JSON Schema, found [1]; [0]: 1 is not of type 'string'",
    ),
    (
        "prose",
        {"value": SCHEMA},
        "no",
        "Expected the output to match the JSON Schema, found \"no\"; value: 'no' is not of type 'object'",
    ),
    (
        "negated",
        {"value": True, "negate": True},
        {"a": 1},
        'Expected the output not to match the JSON Schema, found {"a": 1}',
    ),
    (
        "no schema, negated",
        {"value": {"type": "thing"}, "negate": True},
        {},
        f"{NOT_EVALUATED}type: 'thing' is not valid under any of the given schemas",
    ),
    (
        "unknown reference",
        {"value": {"$ref": "https://example.com/schema.json"}},
        {},
        f"{NOT_EVALUATED}cannot resolve https://example.com/schema.json",
    ),
]


@each(("fields", "output", "message"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_output_fits_the_schema(fields: dict[str, Any], output: Any, message: str) -> None:
    assert outcome({"type": "json_schema", **fields}, output) == (not message, message)


def test_a_pattern_that_takes_too_long_cannot_be_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bindings.processes.schemas.MAX_SECONDS", 0.2)
    pattern = "^(?!b)(a|aa)+$"

    assert outcome({"type": "json_schema", "value": {"pattern": pattern}}, "a" * 10_000 + "!") == (
        False,
        f"{NOT_EVALUATED}its pattern `{pattern}` takes too long; avoid nested repetitions",
    )


def test_many_faults_are_cut_short() -> None:
    passed, message = outcome({"type": "json_schema", "value": {"items": {"type": "number"}}}, ["x"] * 1000)

    assert not passed
    assert len(message) < 1200
    assert "; [0]: 'x' is not of type 'number'; [1]: " in message


KEYWORDS = """type properties required items enum const minItems maxLength minimum exclusiveMaximum anyOf not title default
additionalProperties pattern $ref $schema format propertyNames""".split()
values = st.recursive(
    st.sampled_from([None, True, 0, -1, 1.0, 2.5, "", "string", "integer", "thing", DIALECT, "#/a", "("]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*KEYWORDS, "a"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(KEYWORDS), values, max_size=4))
def test_a_plain_schema_is_a_good_one_for_the_library_too(schema: dict[str, Any]) -> None:
    if is_simple_schema(schema):
        assert schema_problem(schema) is None


def test_usual_schemas_are_plain() -> None:
    person = {"type": "object", "properties": {"name": {"type": ["string", "null"]}}, "required": ["name"]}

    assert is_simple_schema(SCHEMA)
    assert is_simple_schema({"$schema": DIALECT, "type": "array", "items": person, "minItems": 1})
    assert is_simple_schema(
        {"anyOf": [{"const": 1}, {"minimum": 0.5, "description": "half"}], "additionalProperties": False}
    )


@each(
    "schema",
    [
        {"type": "thing"},
        {"type": []},
        {"required": ["a", "a"]},
        {"minItems": -1},
        {"minItems": True},
        {"anyOf": []},
        {"properties": {"a": 1}},
        {"$ref": "#/$defs/a"},
        {"items": {"$schema": DIALECT}},
        DRAFT_7,
    ],
)
def test_wrong_and_unusual_schemas_are_not_plain(schema: dict[str, Any]) -> None:
    assert not is_simple_schema(schema)
