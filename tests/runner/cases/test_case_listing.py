"""The object around the cases of a file: `name`, `description`, `defaults`, and the list itself, in JSON and YAML."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from case_files import read, refusal, write

from runner.assertions.model import Assertion
from runner.cases.model import Case
from runner.cases.reader import CaseFile
from runner.errors import ConfigurationError

CONTAINS = {"type": "contains", "value": "x"}


def cases(folder: Path, file: Any, name: str = "a.json") -> dict[str, Case]:
    """The cases of a file, by id."""
    text = yaml.safe_dump(file, sort_keys=False) if name.endswith("yaml") else json.dumps(file)
    return {located.case.id: located.case for located in read(folder, text, name)}


FORMS = {
    "a line of JSON": ("a.json", '{"tests": [{"id": "A", "input": "Hi"}, {"id": "B", "input": "Bye"}]}', [1, 1]),
    "JSON over several lines": (
        "a.json",
        '{\n  "name": "All",\n  "description": "What is said",\n  "tests": [\n    {"id": "A", "input": "Hi"},\n'
        '    {\n      "id": "B",\n      "input": "Bye"\n    }\n  ]\n}\n',
        [5, 6],
    ),
    "JSON that is not indented": (
        "a.json",
        '{\n"x-owner": "me",\n"tests": [\n{"id": "A", "input": "Hi"},\n{\n"id": "B",\n"input": "Bye"\n}\n]\n}\n',
        [4, 5],
    ),
    "JSON with comments": (
        "a.jsonl",
        '# all\n{\n  // "tests": []\n  "cases": [\n    {"id": "A", "input": "Hi"}, // the first\n'
        '    {"id": "B", "input": "Bye"},\n  ],\n  "description": null,\n}\n',
        [5, 6],
    ),
    "JSON whose name comes last": (
        "a.json",
        '{"tests": [{"id": "A", "input": "Hi"}, {"id": "B", "input": "Bye"}], "name": "All"}',
        [1, 1],
    ),
    "a case and a list": (
        "a.jsonl",
        '{"id": "A", "input": "Hi"}\n{"name": "more", "tests": [{"id": "B", "input": "Bye"}]}\n',
        [1, 2],
    ),
    "a list on each line": ("a.jsonl", '[{"id": "A", "input": "Hi"}]\n[{"id": "B", "input": "Bye"}]\n', [1, 2]),
    "a list on a line": ("a.jsonl", '[{"id": "A", "input": "Hi"}, {"id": "B", "input": "Bye"}]\n', [1, 1]),
    "a list on a line of YAML": ("a.yaml", "[{id: A, input: Hi}, {id: B, input: Bye}]\n", [1, 1]),
    "tests on a line of YAML": ("a.yaml", "tests: [{id: A, input: Hi}, {id: B, input: Bye}]\nname: All\n", [1, 1]),
    "YAML": ("a.yaml", "name: All\ndescription: |\n  What is said\ntests:\n- {id: A, input: Hi}\n- {id: B, input: Bye}\n", [5, 6]),
    "JSON in a YAML file": ("a.yaml", '{"name": "All", "tests": [{"id": "A", "input": "Hi"},\n{"id": "B", "input": "Bye"}]}', [1, 2]),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "lines"), FORMS.values(), ids=FORMS.keys())
def test_every_form_gives_the_same_cases(tmp_path: Path, name: str, text: str, lines: list[int]) -> None:
    file = read(tmp_path, text, name)
    found = list(file)
    assert [located.case for located in found] == [Case(id="A", input="Hi"), Case(id="B", input="Bye")]
    assert [located.line for located in found] == lines
    assert (file.total, file.warnings) == (2, [])


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.jsonl"])
def test_defaults_are_fields_of_cases_that_do_not_give_them(tmp_path: Path, name: str) -> None:
    file = {
        "defaults": {
            "timeout": "5s",
            "user": "maria",
            "tags": ["all"],
            "assert": CONTAINS,
            "options": {"connector": "small", "metadata": {"a": 1, "b": 2}},
            "metadata": {"channel": "mail", "deep": {"a": 1}},
            "mocks": {"process": {"a.b": 1, "a.c": 2}, "now": "2026-01-01T00:00:00Z"},
        },
        "tests": [
            {"id": "bare", "input": "Hi"},
            {
                "id": "own",
                "input": "Hi",
                "timeout": "9s",
                "tags": [],
                "assertions": [{"type": "equals", "value": "y"}],
                "options": {"mode": "chat", "metadata": {"b": 3}},
                "metadata": {"deep": {"b": 2}},
                "mocks": {"process": {"a.c": 3}},
            },
            {"id": "null", "input": "Hi", "timeout": None, "metadata": None, "assert": None},
        ],
    }
    found = cases(tmp_path, file, name)

    bare, own, null = found["bare"], found["own"], found["null"]
    assert (bare.timeout, bare.user, bare.tags) == ("5s", "maria", ["all"])
    assert bare.assertions == [Assertion(**CONTAINS)]
    assert (bare.options.connector, bare.options.metadata) == ("small", {"a": 1, "b": 2})
    assert (own.timeout, own.user, own.tags) == ("9s", "maria", [])
    assert own.assertions == [Assertion(type="equals", value="y")]
    assert (own.options.connector, own.options.mode, own.options.metadata) == ("small", "chat", {"a": 1, "b": 3})
    assert own.metadata == {"channel": "mail", "deep": {"b": 2}}
    assert own.mocks is not None
    assert (own.mocks.process, own.mocks.now) == ({"a.b": 1, "a.c": 3}, "2026-01-01T00:00:00Z")
    assert (null.timeout, null.metadata, null.assertions) == ("5s", bare.metadata, bare.assertions)


def test_the_input_of_a_case_keeps_default_messages_away(tmp_path: Path) -> None:
    file = {
        "defaults": {"messages": [{"role": "user", "content": "Hello"}]},
        "tests": [{"id": "A", "input": "Hi"}, {"id": "B"}],
    }
    found = cases(tmp_path, file)
    assert found["A"].messages is None
    assert found["B"].messages is not None


def test_defaults_may_decide_the_mode(tmp_path: Path) -> None:
    file = {
        "defaults": {"mode": "conversation", "threshold": 0.5},
        "tests": [{"id": "A", "turns": [{"input": "Hi"}]}, {"id": "B", "threshold": 1, "turns": [{"input": "Hi"}]}],
    }
    found = cases(tmp_path, file)
    assert [type(case).__name__ for case in found.values()] == ["ConversationCase"] * 2
    assert [case.threshold for case in found.values()] == [0.5, 1]


def test_each_document_of_yaml_has_defaults_of_its_own(tmp_path: Path) -> None:
    text = "defaults: {user: maria}\ntests: [{id: A, input: Hi}]\n---\ntests: [{id: B, input: Hi}]\n---\n- {id: C, input: Hi}\n"
    assert [located.case.user for located in read(tmp_path, text, "a.yaml")] == ["maria", None, None]


REFUSED = {
    "unknown field in JSON": (
        "a.json",
        '{\n  "defaults": {"timeuot": "5s"},\n  "tests": [{"id": "A", "input": "Hi"}, {"id": "B", "input": "Hi"}]\n}',
        'Cannot read cases from a.json:2:16: defaults: unknown field "timeuot" [Did you mean "timeout"?]',
    ),
    "unknown field in YAML": (
        "a.yaml",
        "defaults:\n  expcted: 5\ntests:\n- {id: A, input: Hi}\n- {id: B, input: Hi}\n",
        'Cannot read cases from a.yaml:2:3: defaults: unknown field "expcted" [Did you mean "expected"?]',
    ),
    "deep in defaults": (
        "a.yaml",
        "defaults:\n  options: {conector: a}\ntests:\n- {id: A, input: Hi, options: {mode: chat}}\n",
        'Cannot read cases from a.yaml:2:13: defaults: unknown field "conector" in "options" [Did you mean "connector"?]',
    ),
    "a wrong shape": (
        "a.json",
        '{"defaults": {"tags": "a"}, "tests": [{"id": "A", "input": "Hi"}, {"id": "B", "input": "Ho"}]}',
        'Cannot read cases from a.json:1:15: defaults: "tags" must be a list, not a string',
    ),
    "an assertion": (
        "a.json",
        '{"defaults": {"assertions": [{"type": "containz"}]}, "tests": [{"id": "A", "input": "Hi"}]}',
        'Cannot read cases from a.json:1:31: defaults: unknown assertion type "containz" [Did you mean "contains"?]',
    ),
    "what only the reader finds": (
        "a.json",
        '{"defaults": {"timeout": "soon"}, "tests": [{"id": "A", "input": "Hi"}]}',
        'Cannot read cases from a.json:1:15: defaults: cannot read timeout "soon": not a duration '
        "[Write it as 500ms, 30s, 1m30s or 2h]",
    ),
    "an id": (
        "a.json",
        '{"defaults": {"id": "A"}, "tests": [{"id": "B", "input": "Hi"}]}',
        'Cannot read cases from a.json:1:15: defaults: "id" identifies one case and cannot have a default',
    ),
    "a list as defaults": (
        "a.json",
        '{"defaults": [], "tests": [{"id": "B", "input": "Hi"}]}',
        'Cannot read cases from a.json:1:14: "defaults" must be an object '
        '[It contains default fields, such as {"timeout": "30s"}]',
    ),
    "a text as defaults in YAML": (
        "a.yaml",
        "defaults: 5s\ntests: [{id: A, input: Hi}]\n",
        'Cannot read cases from a.yaml:1:11: "defaults" must be an object '
        '[It contains default fields, such as {"timeout": "30s"}]',
    ),
    "an unknown field beside the list": (
        "a.json",
        '{"tests": [{"id": "A", "input": "Hi"}], "default": {}}',
        'Cannot read cases from a.json:1:41: unknown field "default" [Did you mean "defaults"?]',
    ),
    "another unknown field beside the list": (
        "a.yaml",
        "tests: [{id: A, input: Hi}]\nprovider: gpt\n",
        'Cannot read cases from a.yaml:2:1: unknown field "provider" '
        '[Write: "options": {"connector": ...}]',
    ),
    "a number as a name": (
        "a.yaml",
        "name: 5\ntests: [{id: A, input: Hi}]\n",
        'Cannot read cases from a.yaml:1:1: "name" must be a string',
    ),
    "a list as a description": (
        "a.json",
        '{"description": [], "tests": [{"id": "A", "input": "Hi"}]}',
        'Cannot read cases from a.json:1:2: "description" must be a string',
    ),
    "no list": (
        "a.json",
        '{"tests": "A"}',
        'Cannot read cases from a.json:1:11: "tests" must be a list of cases',
    ),
    "no case in the list": (
        "a.json",
        '{"tests": [{"id": "A", "input": "Hi"}, 5]}',
        "Cannot read cases from a.json:1:40: `5` is not a case: a JSON object was expected",
    ),
    "nothing in the list": ("a.json", '{"tests": []}', "Cannot read cases from a.json: the file has no cases [A case file"),
    "null for a list": ("a.json", '{"tests": null}', "Cannot read cases from a.json: the file has no cases [A case file"),
    "a wrong case": (
        "a.json",
        '{\n  "tests": [\n    {"id": "A", "input": "Hi", "assert": {"type": "containz"}}\n  ]\n}',
        'Cannot read cases from a.json:3:43: case "A": unknown assertion type "containz"',
    ),
    "a key that stands twice in a case": (
        "a.json",
        '{\n  "tests": [\n    {"id": "A", "input": "Hi", "input": "Ho"}\n  ]\n}',
        'Cannot read cases from a.json:3:32: "input" is set twice, first at a.json:3:17',
    ),
    "a key that stands twice in defaults": (
        "a.json",
        '{"defaults": {"user": "a", "user": "b"}, "tests": [{"id": "A", "input": "Hi"}]}',
        'Cannot read cases from a.json:1:28: "user" is set twice, first at a.json:1:15',
    ),
    "two lists": (
        "a.json",
        '{"tests": [{"id": "A", "input": "Hi"}], "cases": [{"id": "B", "input": "Hi"}]}',
        'Cannot read cases from a.json:1:41: unknown field "cases"',
    ),
    "an id that is taken": (
        "a.json",
        '{"tests": [{"id": "A", "input": "Hi"},\n {"id": "A", "input": "Hi"}]}',
        'Cannot read cases from a.json:2:3: the id "A" is already used by a.json:1',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_wrong_is_told_once_with_its_place(tmp_path: Path, name: str, text: str, said: str) -> None:
    assert refusal(tmp_path, text, name).startswith(said)


def test_lenient_drops_an_unknown_default_with_one_warning(tmp_path: Path) -> None:
    text = '{"defaults": {"timeuot": "5s"}, "tests": [{"id": "A", "input": "Hi"}, {"id": "B", "input": "Hi"}]}'
    file = CaseFile.check(write(tmp_path, text, "a.json"), True, name="a.json")
    assert file.warnings == ['a.json:1:15: defaults: unknown field "timeuot". Did you mean "timeout"?']
    assert [located.case.id for located in file] == ["A", "B"]


NULLS: dict[str, dict[str, Any]] = {
    "every field of a case": dict.fromkeys(
        (
            "name", "type", "messages", "assert", "user", "team", "metadata", "options", "tags", "depends_on", "skip",
            "timeout", "before", "after", "mocks", "attachments", "mode", "turns", "simulator", "checkpoints",
        )
    ),
    "options": {"options": {"connector": None, "skip": {"history": None}, "metadata": None, "search": None}},
    "an assertion": {"assert": [{"type": "contains", "value": "x", "negate": None, "path": None, "options": None}]},
    "the type of an assertion": {"assert": {"type": None, "value": "x"}},
    "an assertion in another": {"assert": {"type": "any_of", "value": [{"type": "contains", "value": "x", "path": None}]}},
    "mocks": {"mocks": {"process": None, "agent": None, "now": None}},
    "a message": {"messages": [{"role": None, "content": "Hi"}]},
    "a part": {"attachments": [{"type": "text", "text": "a", "source": None, "name": None}]},
}  # fmt: skip


@pytest.mark.parametrize("fields", NULLS.values(), ids=NULLS.keys())
@pytest.mark.parametrize("name", ["a.jsonl", "a.yaml"])
def test_null_is_not_given(tmp_path: Path, name: str, fields: dict[str, Any]) -> None:
    def without_null(value: Any) -> Any:
        if isinstance(value, list):
            return [without_null(item) for item in value]
        if isinstance(value, dict):
            return {key: without_null(inner) for key, inner in value.items() if inner is not None}
        return value

    (null,) = cases(tmp_path, [{"id": "A", "input": "Hi", **fields}], name).values()
    (bare,) = cases(tmp_path, [{"id": "A", "input": "Hi", **without_null(fields)}], name).values()
    if "any_of" not in str(fields):
        assert null.model_dump() == bare.model_dump()
    assert type(null) is Case


TURNS: dict[str, dict[str, Any]] = {
    "multi-turn": {
        "turns": [{"input": "Hi", "assert": None, "options": None, "attachments": None}],
        "simulator": None,
        "interactive": None,
        "final_assertions": None,
        "on_missing_input": None,
        "max_turns": None,
        "input_tools": None,
    },
    "interactive": {"turns": [{"input": "Hi"}], "interactive": {"enabled": None, "timeout": None}},
    "simulator": {"simulator": {"use": "a", "persona": None, "options": None, "metadata": None, "max_turns": None}},
    "dynamic": {
        "simulator": None,
        "checkpoints": [{"id": "a", "assertion": {"value": "a"}, "after": None, "required": None, "description": None}],
    },
    "conversation": {
        "mode": "conversation",
        "turns": [{"input": "Hi", "assert": [{"type": "contains", "value": "a", "weight": None, "required": None}]}],
        "assertions": None,
        "aggregation": None,
        "on_turn_failure": None,
        "trials": None,
        "threshold": None,
    },
    "rubrics": {
        "mode": "conversation",
        "turns": [{"input": "Hi", "assert": {"type": "rubrics", "criteria": [{"outcome": "a", "weight": None}]}}],
    },
}


@pytest.mark.parametrize("fields", TURNS.values(), ids=TURNS.keys())
def test_null_is_not_given_in_cases_of_several_turns(tmp_path: Path, fields: dict[str, Any]) -> None:
    assert refusal(tmp_path, json.dumps({"id": "A", **fields})) == "accepted"


def test_null_is_a_value_where_values_are_free(tmp_path: Path) -> None:
    fields = {"assert": [{"type": "equals", "value": None}], "metadata": {"a": None}}
    (case,) = cases(tmp_path, [{"id": "A", "input": "Hi", **fields}]).values()
    assert case.metadata == {"a": None}
    assert case.assertions is not None
    assert "value" in case.assertions[0].model_fields_set


@pytest.mark.parametrize("field", ["id", "input"])
def test_a_field_that_is_needed_is_missing_when_it_is_null(tmp_path: Path, field: str) -> None:
    said = refusal(tmp_path, json.dumps({"id": "A", "input": "Hi", field: None}))
    assert f'"{field}" is missing' in said


def test_no_other_exception_escapes(tmp_path: Path) -> None:
    for text in ('{"tests": {"a": [}', '{"tests": [[]]}', '{"tests": [{}], "defaults": {"x-a": 1}}', '{"tests": {}}'):
        with pytest.raises(ConfigurationError):
            read(tmp_path, text, "a.json")
