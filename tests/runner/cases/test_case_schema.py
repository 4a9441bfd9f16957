"""The JSON Schema of case files: it accepts what the reader accepts, and refuses what single fields show to be wrong."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from case_files import refusal
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from table_tests import each

from runner.cases.json_schema import case_schema, file_schema
from runner.commands.parser import command_of
from runner.environment import Environment
from runner.security.secrets import Secrets

HI = {"id": "A", "input": "Hi"}
ACCEPTED: dict[str, dict[str, Any]] = {
    "text": HI,
    "message": {"id": "A", "input": {"role": "user", "content": "Hi"}},
    "parts": {"id": "A", "input": {"content": [{"type": "text", "text": "a"}, {"type": "image", "url": "https://h"}]}},
    "one part": {"id": "A", "input": {"content": {"type": "text", "text": "a", "x-more": 1}}},
    "messages": {"id": "A", "messages": [{"role": "tool", "content": "4", "tool_call_id": "c"}]},
    "nulls": {**HI, "messages": None, "name": None, "assert": None, "expected": None, "timeout": None, "mocks": None},
    "other nulls": {**HI, "tags": None, "skip": None, "options": {"skip": None}, "turns": None, "mode": None},
    "null within": {**HI, "assert": [{"type": "contains", "value": "a", "negate": None}], "assertions": None},
    "assert": {**HI, "assert": {"type": "contains", "value": "a"}},
    "assertions": {**HI, "assertions": [{"type": "regex", "pattern": "a"}, {"type": "snapshot", "name": "s"}]},
    "bare name": {**HI, "assert": "snapshot"},
    "default type": {**HI, "assert": {"value": 1}},
    "composition": {**HI, "assert": {"type": "any_of", "value": [{"type": "contains", "value": "a"}, {"value": "b"}]}},
    "agent": {**HI, "assert": {"type": "agent", "use": "agents:v", "criteria": "c", "options": {"metadata": {"a": 1}}}},
    "free fields": {**HI, "x-a": 1, "options": {"x-b": 1}, "assert": {"value": 1, "x-c": 1}},
    "options": {**HI, "options": {"connector": "c", "skip": {"history": True}, "search": {"a": 1}}},
    "skip": {**HI, "skip": "later", "tags": ["a"], "timeout": "1m30s", "user": "u", "team": "t"},
    "graded answer of one turn": {**HI, "type": "single_turn", "rubrics": ["It is kind"]},
    "type and order": {**HI, "type": "single_turn", "depends_on": []},
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
SIMULATOR = {"use": "sim", "metadata": {"goal": "g"}, "options": {"metadata": {"persona": "p"}}, "max_turns": 3}
CONTAINS = {"type": "contains", "value": "a"}
TURNS: dict[str, dict[str, Any]] = {
    "turns": {"id": "M", "turns": [{"input": "a", "assertions": [CONTAINS]}, {"input": "b", "assert": "snapshot"}]},
    "forms of turns": {
        "id": "M",
        "turns": [{"input": {"content": "a"}}, {"input": {"input": "a"}}, {"input": [{"type": "text", "text": "a"}]}],
    },
    "everything of multi-turn": {
        "id": "M",
        "type": "multi_turn",
        "input": [{"role": "system", "content": "a"}],
        "turns": [{"input": "a", "options": {"connector": "c"}, "attachments": [{"type": "text", "text": "a"}]}],
        "simulator": SIMULATOR,
        "interactive": {"enabled": True, "timeout": "1m"},
        "on_missing_input": "end",
        "assert": CONTAINS,
        "final_assertions": [CONTAINS],
        "max_turns": 4,
        "input_tools": ["ask"],
    },
    "one turn": {"id": "M", "type": "single_turn", "turns": [{"input": "a"}]},
    "simulator alone": {"id": "M", "simulator": {"use": "scripts:sim"}},
    "dynamic": {
        "id": "D",
        "simulator": SIMULATOR,
        "checkpoints": [
            {"id": "a", "assertion": CONTAINS, "description": "b"},
            {"id": "b", "assert": [CONTAINS], "after": ["a"], "required": False, "x-a": 1},
        ],
        "max_turns": 4,
    },
    "checkpoints alone": {"id": "D", "checkpoints": [{"id": "a", "assertions": "snapshot"}]},
    "criteria in a turn": {"id": "C", "turns": [{"input": "a", "assertions": ["Asks for the town", "snapshot"]}]},
    "criteria at the end of turns": {
        "id": "C",
        "turns": [{"input": "a"}],
        "final_assertions": ["Asks for the town", {"type": "rubrics", "criteria": ["a"]}, {**CONTAINS, "weight": 2}],
    },
    "a criterion for the whole of turns": {"id": "C", "turns": [{"input": "a"}], "assertions": ["Is kind"]},
    "criteria beside checkpoints": {
        "id": "C",
        "simulator": {"use": "sim"},
        "checkpoints": [{"id": "a", "assertion": CONTAINS}],
        "turn_assertions": ["Is kind"],
    },
    "a simulated conversation": {
        "id": "C",
        "simulator": {"use": "sim", "persona": ["a", "b"]},
        "checkpoints": [{"id": "a", "assertion": CONTAINS}],
        "turn_assertions": ["Is kind"],
        "rubrics": ["a", {"outcome": "b"}],
    },
    "a graded answer": {"id": "C", "input": "a", "assert": ["Is kind", {**CONTAINS, "weight": 2}], "threshold": 1},
    "what has to hold after checkpoints": {
        "id": "D",
        "checkpoints": [{"id": "a", "assertion": CONTAINS}],
        "assert": CONTAINS,
        "final_assertions": [CONTAINS],
    },
    "conversation": {
        "id": "C",
        "mode": "conversation",
        "criteria": "a",
        "input": [{"role": "system", "input": "a"}],
        "turns": [
            {"input": "a", "expected_output": "b", "assertions": ["c", {**CONTAINS, "weight": 2, "required": True}]},
            {"input": "a", "assert": {"type": "rubrics", "criteria": ["a", {"id": "b", "outcome": "c", "weight": 2}]}},
        ],
        "assertions": ["a", {"type": "agent", "use": "agents:v", "criteria": "c", "x-a": 1}],
        "aggregation": "min",
        "on_turn_failure": "stop",
        "window_size": 1,
        "threshold": 1,
        "trials": 2,
        "grader": "judge",
    },
}
LEFT_TO_THE_READER = {
    "no input",
    "null input",
    "no messages",
    "empty conversation",
    "both spellings",
    "field of another type",
    "incomplete",
    "incomplete within",
    "bare name of an incomplete one",
    "no prefix",
    "no duration",
    "no time",
}
"""What the schema accepts, and the reader refuses: fields that do not go together, or that another one needs."""


@pytest.fixture(scope="module")
def of_cases() -> Draft202012Validator:
    return Draft202012Validator(case_schema())


@pytest.fixture(scope="module")
def of_files() -> Draft202012Validator:
    return Draft202012Validator(file_schema())


def test_the_schemas_are_valid(of_cases: Draft202012Validator, of_files: Draft202012Validator) -> None:
    of_cases.check_schema(of_cases.schema)
    of_files.check_schema(of_files.schema)


@pytest.mark.parametrize("record", [*ACCEPTED.values(), *TURNS.values()], ids=[*ACCEPTED, *TURNS])
def test_the_schema_accepts_what_the_reader_accepts(
    tmp_path: Path, of_cases: Draft202012Validator, record: dict[str, Any]
) -> None:
    assert refusal(tmp_path, json.dumps(record)) == "accepted"
    assert [error.message for error in of_cases.iter_errors(record)] == []


@pytest.mark.parametrize("name", REFUSED)
def test_the_schema_refuses_what_a_field_shows_to_be_wrong(
    tmp_path: Path, of_cases: Draft202012Validator, name: str
) -> None:
    assert refusal(tmp_path, json.dumps(REFUSED[name])) != "accepted"
    assert of_cases.is_valid(REFUSED[name]) is (name in LEFT_TO_THE_READER)


@each(
    ("value", "valid"),
    [
        (HI, True),
        ([HI], True),
        ({"tests": [HI], "x-a": 1}, True),
        ({"cases": [HI]}, True),
        (TURNS["dynamic"], True),
        ({"tests": list(TURNS.values())}, True),
        ({"tests": [HI, {"id": "M", "turns": [{}]}]}, False),
        ([], False),
        ({"tests": [HI], "title": "a"}, False),
        ([{"name": "A"}], False),
        ({"name": "a", "description": None, "defaults": None, "tests": [HI]}, True),
        ({"defaults": {"input": "Hi", "threshold": 1, "x-a": 1}, "tests": [{"id": "A"}]}, True),
        ({"defaults": {"assertions": [{"type": "contains", "value": "a"}]}, "tests": [HI]}, True),
        ({"defaults": {"inptu": "Hi"}, "tests": [HI]}, False),
        ({"defaults": {"id": "A"}, "tests": [HI]}, False),
        ({"defaults": {"input": "Hi"}, "tests": [{"name": "A"}]}, False),
        ({"defaults": {"input": "Hi"}, "tests": []}, False),
        ({"defaults": [], "tests": [HI]}, False),
        ({"name": 5, "tests": [HI]}, False),
    ],
)
def test_the_schema_of_files_takes_lists_too(of_files: Draft202012Validator, value: Any, valid: bool) -> None:
    assert of_files.is_valid(value) is valid


def test_every_field_is_described(of_cases: Draft202012Validator) -> None:
    definitions = of_cases.schema["$defs"]
    bare = [
        f"{name}.{field}"
        for name, part in definitions.items()
        for field, rules in part["properties"].items()
        if not rules.get("description") and name != "SkipOptions"
    ]
    assert bare == []


@pytest.mark.parametrize("field", ["mode", "turns", "simulator", "checkpoints"])
def test_editors_are_told_of_the_fields_that_decide_the_mode(of_cases: Draft202012Validator, field: str) -> None:
    assert of_cases.schema["properties"][field]["description"]


def test_the_command_prints_the_schema_or_writes_it(
    tmp_path: Path, of_cases: Draft202012Validator, of_files: Draft202012Validator
) -> None:
    output = io.StringIO()
    environment = Environment(
        directory=tmp_path, variables={}, stdout=output, stderr=io.StringIO(), cpus=1, secrets=Secrets()
    )
    CliRunner().invoke(command_of("schema"), [], obj=environment, standalone_mode=False, catch_exceptions=False)
    assert json.loads(output.getvalue()) == of_files.schema
    arguments = ["case", "-o", "out/case.json"]
    CliRunner().invoke(command_of("schema"), arguments, obj=environment, standalone_mode=False, catch_exceptions=False)
    assert json.loads((tmp_path / "out/case.json").read_text()) == of_cases.schema
