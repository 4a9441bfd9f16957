"""The JSON Schema of case files, and that it agrees with the reader."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from case_files import refusal
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from runner.assertions import TYPES, problem
from runner.cases.json_schema import NEEDED, case_schema, file_schema
from runner.cases.model import Assertion, Case
from runner.commands.schema import schema
from runner.environment import Environment

HI = {"id": "A", "input": "Hi"}
ACCEPTED: dict[str, dict[str, Any]] = {
    "text": HI,
    "message": {"id": "A", "input": {"role": "user", "content": "Hi"}},
    "parts": {"id": "A", "input": {"content": [{"type": "text", "text": "a"}, {"type": "image", "url": "https://h"}]}},
    "one part": {"id": "A", "input": {"content": {"type": "text", "text": "a", "more": 1}}},
    "messages": {"id": "A", "messages": [{"role": "tool", "content": "4", "tool_call_id": "c"}]},
    "nulls": {**HI, "messages": None, "name": None, "assert": None, "expected": None, "timeout": None, "mocks": None},
    "assert": {**HI, "assert": {"type": "contains", "value": "a"}},
    "assertions": {**HI, "assertions": [{"type": "regex", "pattern": "a"}, {"type": "snapshot", "name": "s"}]},
    "bare name": {**HI, "assert": "snapshot"},
    "default type": {**HI, "assert": {"value": 1}},
    "composition": {**HI, "assert": {"type": "any_of", "value": [{"type": "contains", "value": "a"}, {"value": "b"}]}},
    "agent": {**HI, "assert": {"type": "agent", "use": "agents:v", "criteria": "c", "options": {"metadata": {"a": 1}}}},
    "free fields": {**HI, "x-a": 1, "options": {"x-b": 1}, "assert": {"value": 1, "x-c": 1}},
    "options": {**HI, "options": {"connector": "c", "skip": {"history": True}, "search": {"a": 1}}},
    "skip": {**HI, "skip": "later", "tags": ["a"], "timeout": "1m30s", "user": "u", "team": "t"},
    "mocks": {**HI, "mocks": {"process": {"a.b": 1}, "http": {"GET https://h": {}}, "now": "2026-01-01T00:00:00Z"}},
}
REFUSED: dict[str, dict[str, Any]] = {
    "no id": {"input": "Hi"},
    "blank id": {**HI, "id": " "},
    "no input": {"id": "A"},
    "null input": {"id": "A", "input": None},
    "no messages": {"id": "A", "messages": []},
    "empty conversation": {"id": "A", "input": []},
    "number as input": {"id": "A", "input": 1},
    "unknown field": {**HI, "expcted": 1},
    "unknown role": {"id": "A", "input": {"role": "me", "content": "Hi"}},
    "unknown part": {"id": "A", "input": {"content": [{"type": "picture"}]}},
    "unknown option": {**HI, "options": {"conector": "c"}},
    "unknown skip": {**HI, "options": {"skip": {"histry": True}}},
    "both spellings": {**HI, "assert": [], "assertions": []},
    "unknown assertion": {**HI, "assert": {"type": "containz", "value": "a"}},
    "unknown field of an assertion": {**HI, "assert": {"value": "a", "valu": "a"}},
    "field of another type": {**HI, "assert": {"type": "contains", "value": "a", "path": "$.a"}},
    "incomplete": {**HI, "assert": [{"type": "regex"}]},
    "incomplete within": {**HI, "assert": {"type": "all_of", "value": [{"type": "contains"}]}},
    "bare name of an incomplete one": {**HI, "assert": "contains"},
    "no prefix": {**HI, "assert": {"type": "agent", "use": "v", "criteria": "c"}},
    "no duration": {**HI, "timeout": "soon"},
    "no time": {**HI, "timeout": "0s"},
    "text as tags": {**HI, "tags": "a"},
    "number as skip": {**HI, "skip": 1},
}
VALIDATOR = Draft202012Validator(case_schema())


def test_the_schemas_are_valid() -> None:
    Draft202012Validator.check_schema(case_schema())
    Draft202012Validator.check_schema(file_schema())


@pytest.mark.parametrize("record", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_the_schema_accepts_what_the_reader_accepts(tmp_path: Path, record: dict[str, Any]) -> None:
    assert refusal(tmp_path, json.dumps(record)) == "accepted"
    assert [error.message for error in VALIDATOR.iter_errors(record)] == []


@pytest.mark.parametrize("record", REFUSED.values(), ids=REFUSED.keys())
def test_the_schema_refuses_what_the_reader_refuses(tmp_path: Path, record: dict[str, Any]) -> None:
    assert refusal(tmp_path, json.dumps(record)) != "accepted"
    assert not VALIDATOR.is_valid(record)


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        (HI, True),
        ([HI], True),
        ({"tests": [HI], "x-a": 1}, True),
        ({"cases": [HI]}, True),
        ([], False),
        ({"tests": [HI], "title": "a"}, False),
        ([{"id": "A"}], False),
    ],
)
def test_the_schema_of_files_takes_lists_too(value: Any, valid: bool) -> None:
    assert Draft202012Validator(file_schema()).is_valid(value) is valid


@pytest.mark.parametrize("name", [name for name in TYPES if name != "equals"])
def test_the_schema_knows_which_assertions_need_a_field(name: str) -> None:
    assert (problem(Assertion.model_validate({"type": name})) is not None) == (name in NEEDED)


def test_every_field_of_a_case_is_described() -> None:
    fields = case_schema()["properties"]
    assert {"assert", "assertions", *Case.model_fields} == set(fields)
    assert [name for name, rules in fields.items() if not rules.get("description")] == []


def test_the_command_prints_the_schema_or_writes_it(tmp_path: Path) -> None:
    output = io.StringIO()
    environment = Environment(tmp_path, {}, output, io.StringIO(), 1)
    CliRunner().invoke(schema, [], obj=environment, standalone_mode=False, catch_exceptions=False)
    assert json.loads(output.getvalue()) == file_schema()
    arguments = ["case", "-o", "out/case.json"]
    CliRunner().invoke(schema, arguments, obj=environment, standalone_mode=False, catch_exceptions=False)
    assert json.loads((tmp_path / "out/case.json").read_text()) == case_schema()
