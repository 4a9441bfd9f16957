"""`encoding.*` and `json.*`."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from table_tests import each

from bindings.errors import ProcessError
from bindings.policy import HostCall, Policy
from bindings.processes import call
from bindings.world import World

CALL = HostCall(
    app_root=Path("/nowhere"), policy=Policy(), locale="en-us", authorized={}, world=World(suite="", test="")
)


def run(name: str, *args: Any) -> Any:
    return call(name, args, CALL)


RESULTS: list[tuple[str, list[Any], Any]] = [
    ("encoding.base64.Encode", ["héllo"], "aMOpbGxv"),
    ("encoding.base64.Encode", [b"\xff\x00"], "/wA="),
    ("encoding.base64.Encode", [""], ""),
    ("encoding.base64.Encode", [12.0], "MTI="),
    ("encoding.base64.Decode", ["aMOpbGxv"], "héllo"),
    ("encoding.base64.Decode", ["aMOp\nbGxv"], "héllo"),
    ("encoding.base64.Decode", ["/w=="], "\ufffd"),
    ("encoding.base64.Decode", [""], ""),
    ("encoding.hex.Encode", ["hé"], "68c3a9"),
    ("encoding.hex.Encode", [True], "74727565"),
    ("encoding.hex.Decode", ["68C3a9"], "hé"),
    (
        "encoding.json.Encode",
        [{"b": [1, 1.5, None, True], "a": "<é>"}],
        '{"b":[1,1.5,null,true],"a":"\\u003cé\\u003e"}',
    ),
    ("encoding.base64.Encode", ["a\ud800b"], "Ye+/vWI="),
    ("encoding.hex.Encode", ["\udc00"], "efbfbd"),
    ("encoding.json.Encode", [{"\ud800": ["x\udfff", "😀"]}], '{"\ufffd":["x\ufffd","😀"]}'),
    ("encoding.json.Encode", [None], "null"),
    ("encoding.json.Encode", ["a&b\u2028"], '"a\\u0026b\\u2028"'),
    ("encoding.json.Decode", ['{"a": [1, "x"]}'], {"a": [1, "x"]}),
    ("encoding.json.Repair", ["{a: 'b',}"], '{"a":"b"}'),
    ("encoding.json.Repair", ['{"a": "<b>"}'], '{"a":"<b>"}'),
    ("encoding.json.Parse", ['{"a": 1,}'], {"a": 1}),
    ("json.Encode", ["x"], '"x"'),
    ("json.Decode", ["3"], 3),
    ("json.Repair", ["[1, 2"], "[1,2]"),
    ("json.Parse", ['{"a": 1}'], {"a": 1}),
    ("json.Parse", ["a: 1\nb: [x]"], {"a": 1, "b": ["x"]}),
    ("json.Parse", ["# comment\na: 1"], {"a": 1}),
    ("json.Parse", ["- a", "list.yml"], ["a"]),
    ("json.Parse", ['{"a": 1, // x\n}', ".yao"], {"a": 1}),
    ("json.Parse", ['{"a": [1, /* x */ 2,],\n}', "file.jsonc"], {"a": [1, 2]}),
    (
        "json.Parse",
        ['{"u": "http://x", "c": "/* no */", "e": "\\"//"}', ".yao"],
        {"u": "http://x", "c": "/* no */", "e": '"//'},
    ),
    ("json.Parse", ['{"a": ",}", }', ".yao"], {"a": ",}"}),
    ("json.Parse", ['"text"'], "text"),
    ("encoding.yaml.Decode", ["a: 1\nb:\n  - x\n  - 2.5"], {"a": 1, "b": ["x", 2.5]}),
    ("encoding.yaml.Decode", ["a: yes\nb: on\nc: true\nd: ~"], {"a": "yes", "b": "on", "c": True, "d": None}),
    (
        "encoding.yaml.Decode",
        ["t: 12:30\ne: 1e3\nh: 0x1f\no: 0o17\ns: 08x"],
        {"t": "12:30", "e": 1000.0, "h": 31, "o": 15, "s": "08x"},
    ),
    (
        "encoding.yaml.Decode",
        ["d: 2024-01-15\nt: 2024-01-15T10:00:00+00:00"],
        {"d": "2024-01-15T00:00:00Z", "t": "2024-01-15T10:00:00Z"},
    ),
    ("encoding.yaml.Decode", ["a: 2024-13-45\n2024-01-01: b"], {"a": "2024-13-45", "2024-01-01T00:00:00Z": "b"}),
    ("encoding.yaml.Decode", ["a: 2024-01-15 10:00:00.5 +02:00"], {"a": "2024-01-15T10:00:00.500000+02:00"}),
    ("encoding.yaml.Decode", ["1: a\ntrue: b\nnull: c"], {"1": "a", "true": "b", "null": "c"}),
    (
        "encoding.yaml.Decode",
        ["a: &x {k: 1}\nb: *x\nc:\n  <<: *x\n  j: 2"],
        {"a": {"k": 1}, "b": {"k": 1}, "c": {"k": 1, "j": 2}},
    ),
    ("encoding.yaml.Decode", ["a: 1\n---\nb: 2"], {"a": 1}),
    ("encoding.yaml.Decode", ["a: !!binary aGk="], {"a": "hi"}),
    ("encoding.yaml.Decode", [""], None),
    ("encoding.yaml.Encode", [{"b": [1, {"c": "é"}], "a": "yes"}], "a: 'yes'\nb:\n- 1\n- c: é\n"),
    ("encoding.yaml.Encode", ["text"], "text\n"),
    ("encoding.xml.Encode", [{"a": "x<y", "n": 5, "e": None}], "<xml>\n  <a>x&lt;y</a>\n  <n>5</n>\n  <e></e>\n</xml>"),
    ("encoding.xml.Encode", [{"a": {"b": [1, True]}}], "<xml>\n  <a>\n    <b>1</b>\n    <b>true</b>\n  </a>\n</xml>"),
    ("encoding.xml.Encode", [{}], "<xml>\n</xml>"),
    ("encoding.xml.Encode", [{"a": "x\u2028y"}], "<xml>\n  <a>x\u2028y</a>\n</xml>"),
    ("encoding.xml.Decode", ["<xml><a>1</a><b>x &amp; é</b></xml>"], {"xml": {"a": "1", "b": "x & é"}}),
    ("encoding.xml.Decode", ["<r><i>1</i><i>2</i></r>"], {"r": {"i": ["1", "2"]}}),
    (
        "encoding.xml.Decode",
        ['<r a="1">t<e b="2"/></r>'],
        {"r": {"@a": "1", "#text": "t", "e": {"@b": "2", "#text": ""}}},
    ),
    ("encoding.xml.Decode", ["<r><e/></r>"], {"r": {"e": ""}}),
    ("encoding.xml.Decode", ["<r><![CDATA[<x>]]></r>"], {"r": "<x>"}),
]


@each(("name", "args", "expected"), RESULTS, ids=[f"{row[0]} {row[1]!r:.30}" for row in RESULTS])
def test_results(name: str, args: list[Any], expected: Any) -> None:
    result = run(name, *args)
    assert result == expected
    assert type(result) is type(expected)


FAILURES: list[tuple[str, list[Any], str]] = [
    ("encoding.base64.Decode", ["a"], "not base64"),
    ("encoding.base64.Decode", ["aGk*"], "not base64"),
    ("encoding.base64.Decode", ["aGk=aGk="], "not base64"),
    ("encoding.hex.Decode", ["abc"], "not hexadecimal"),
    ("encoding.hex.Decode", ["zz"], "not hexadecimal"),
    ("encoding.hex.Decode", ["61 62"], "not hexadecimal"),
    ("encoding.json.Encode", [b"x"], "a Uint8Array has no JSON form"),
    ("encoding.json.Decode", ["{a: 1}"], "Expecting property name"),
    ("encoding.json.Decode", ["[NaN]"], "NaN is not JSON"),
    ("json.Decode", [""], "Expecting value"),
    ("json.Decode", ["[" * 100_000], "nested too deeply"),
    ("json.Repair", ["hello world"], "cannot be repaired"),
    ("json.Repair", ['{"a": 1} and more'], "text after the JSON value"),
    ("json.Repair", ["{" + "a " * 30_000], "more than 50000 characters"),
    ("json.Parse", ["a: [", ".yaml"], "(line 1)"),
    ("encoding.yaml.Decode", ["a" * 1_000_001], "more than 1000000 characters"),
    ("json.Parse", ["{a: 1}", ".yao"], "Expecting property name"),
    ("json.Parse", ["hello"], "Expecting value"),
    ("encoding.yaml.Decode", ["a: b: c"], "mapping values are not allowed here (line 1)"),
    ("encoding.yaml.Decode", ["a: !!python/object/apply:os.system [id]"], "could not determine a constructor"),
    ("encoding.yaml.Decode", ["a: &a [*a]"], "too large or refers to itself"),
    ("encoding.yaml.Decode", ["a: !!map [x]"], "expected a mapping"),
    ("encoding.yaml.Decode", ["a: .nan"], "NaN and Infinity"),
    ("encoding.yaml.Decode", ["a: \x00"], "x00"),
    ("encoding.xml.Decode", ["<a><b></a>"], "not XML: mismatched tag (line 1)"),
    ("encoding.xml.Decode", [""], "not XML: no element found"),
    ("encoding.xml.Decode", ['<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'], "entities"),
    ("encoding.xml.Decode", ['<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>'], "entities"),
]


@each(("name", "args", "reason"), FAILURES, ids=[f"{row[0]} {row[1]!r:.30}" for row in FAILURES])
def test_failures_name_process_and_reason(name: str, args: list[Any], reason: str) -> None:
    with pytest.raises(ProcessError) as caught:
        run(name, *args)
    assert caught.value.message.startswith(f"{name}: ")
    assert reason in caught.value.message
    assert len(caught.value.message) < 500


@each("piece", ["- ", "[", "{a: ", "? ", "!x "])
def test_deep_yaml_is_an_error_and_never_a_crash(piece: str) -> None:
    for text in (piece * 3_000, piece * (1_000_001 // len(piece))):
        with pytest.raises(ProcessError, match=r"^encoding\.yaml\.Decode: "):
            run("encoding.yaml.Decode", text)


@pytest.mark.parametrize("value", [{"a": [1, None, {"b": "yes", "c": "1"}], "d": "2024-01-15"}, [], "x: y", 1.5])
def test_yaml_round_trip(value: Any) -> None:
    assert run("encoding.yaml.Decode", run("encoding.yaml.Encode", value)) == value


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "(?i)^[a-z]+$"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "patternProperties": {"^x_": {"type": "number"}},
    "required": ["name"],
}
SCHEMA_CASES: list[tuple[Any, str | None]] = [
    ({"name": "ANN"}, None),
    ({"name": "Ann", "tags": ["a"], "x_1": 2}, None),
    ({}, "validation failed: value: 'name' is a required property"),
    ({"name": "a1"}, 'validation failed: name: "a1" does not match "(?i)^[a-z]+$"'),
    ({"name": "a", "tags": ["x", 5]}, "validation failed: tags[1]: 5 is not of type 'string'"),
    ({"name": "a", "x_1": "b"}, "validation failed: x_1: 'b' is not of type 'number'"),
    ({"name": 1, "x_1": "b"}, "validation failed: name: 1 is not of type 'string'; x_1: 'b' is not of type 'number'"),
]


@each(("value", "expected"), SCHEMA_CASES)
def test_schema_validation_in_all_its_spellings(value: Any, expected: str | None) -> None:
    assert run("json.Validate", value, SCHEMA) == expected
    assert run("json.Validate", value, json.dumps(SCHEMA)) == expected
    assert run("utils.jsonschema.Validate", SCHEMA, value) == expected


BAD_SCHEMAS: list[tuple[Any, str]] = [
    ({"type": "objekt"}, "invalid JSON Schema: type: 'objekt' is not valid"),
    ({"properties": {"a": {"minimum": "x"}}}, "invalid JSON Schema: properties.a.minimum: 'x' is not of type 'number'"),
    ("{", "invalid JSON Schema: Expecting property name"),
    (5, "invalid JSON Schema: a schema is an object, true or false"),
]


@pytest.mark.parametrize(("schema", "expected"), BAD_SCHEMAS, ids=[str(row[0]) for row in BAD_SCHEMAS])
def test_bad_schemas(schema: Any, expected: str) -> None:
    for found in (
        run("json.ValidateSchema", schema),
        run("utils.jsonschema.ValidateSchema", schema),
        run("json.Validate", {}, schema),
    ):
        assert found.startswith(expected)


def test_good_schemas() -> None:
    schemas = [SCHEMA, True, {}, {"$schema": "http://json-schema.org/draft-07/schema#"}, '{"type": "null"}']
    assert [run("json.ValidateSchema", schema) for schema in schemas] == [None] * 5


def test_a_pattern_that_go_refuses_is_a_bad_schema() -> None:
    assert "look-ahead" in run("json.Validate", "x", {"pattern": "(?=x)"})


def test_a_pattern_that_would_backtrack_is_answered() -> None:
    assert "does not match" in run("json.Validate", "a" * 1000 + "b", {"pattern": "(a|aa)+$"})


def test_references_are_never_fetched(request: pytest.FixtureRequest) -> None:
    request.addfinalizer(lambda: socket.setdefaulttimeout(None))
    socket.setdefaulttimeout(0.5)  # so that a fetch would fail, not hang
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        assert run("json.Validate", 1, {"$ref": url}) == f"invalid JSON Schema: cannot resolve {url}"
        with pytest.raises(TimeoutError):
            server.accept()


def test_references_inside_the_schema_work() -> None:
    schema = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "number"}}}
    assert run("json.Validate", 1, schema) is None
    assert run("json.Validate", "x", schema) == "validation failed: value: 'x' is not of type 'number'"


def test_an_endless_reference_ends() -> None:
    assert "refers to itself endlessly" in run("json.Validate", 1, {"$ref": "#"})
