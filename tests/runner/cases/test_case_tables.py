"""Entries that stand for several cases: tables of variables, personas and goals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_files import refusal
from jsonschema import Draft202012Validator

from runner.cases.json_schema import case_schema, file_schema
from runner.cases.model import Case
from runner.cases.reader import CaseFile

TALK = {"use": "sim", "persona": ["kind", "rude"], "goal": ["a room", "a refund", "x" * 60]}


def cases_of(folder: Path, *entries: dict[str, Any], defaults: dict[str, Any] | None = None) -> list[Case]:
    path = folder / "cases.json"
    path.write_text(json.dumps({"defaults": defaults, "tests": entries} if defaults else list(entries)))
    return [located.case for located in CaseFile.check(path)]


TABLES: dict[str, tuple[dict[str, Any], list[tuple[str, Any]]]] = {
    "rows": (
        {"id": "A", "vars": [{"a": "x", "b": 1}, {"a": "y", "b": 1}], "input": "{{ a }} and {{b}}"},
        [("A[x]", "x and 1"), ("A[y]", "y and 1")],
    ),
    "combinations": (
        {"id": "A", "vars": {"a": ["x", "y"], "b": [1, 2], "c": "z"}, "input": "{{a}}{{b}}{{c}}"},
        [("A[x,1]", "x1z"), ("A[x,2]", "x2z"), ("A[y,1]", "y1z"), ("A[y,2]", "y2z")],
    ),
    "one row keeps the id": ({"id": "A", "vars": {"a": "x"}, "input": "{{ a }}"}, [("A", "x")]),
    "an id of its own": (
        {"id": "A-{{ a }}", "vars": {"a": ["x", "y"]}, "input": "{{ a }}"},
        [("A-x", "x"), ("A-y", "y")],
    ),
    "long values are numbered": (
        {"id": "A", "vars": {"a": ["x" * 40, "y" * 40]}, "input": "{{ a }}"},
        [("A[1]", "x" * 40), ("A[2]", "y" * 40)],
    ),
    "a part of a value": (
        {"id": "A", "vars": [{"u": {"name": "Ann"}}, {"u": {"name": "Bo"}}], "input": "Hi {{ u.name }}"},
        [("A[1]", "Hi Ann"), ("A[2]", "Hi Bo")],
    ),
}


@pytest.mark.parametrize(("entry", "wanted"), TABLES.values(), ids=TABLES)
def test_an_entry_with_variables_is_several_cases(
    tmp_path: Path, entry: dict[str, Any], wanted: list[tuple[str, Any]]
) -> None:
    assert [(case.id, case.input) for case in cases_of(tmp_path, entry)] == wanted
    assert [error.message for error in Draft202012Validator(case_schema()).iter_errors(entry)] == []


def test_a_text_that_is_a_variable_is_its_value_and_defaults_have_variables_too(tmp_path: Path) -> None:
    entry = {"id": "A", "input": "Hi", "assert": {"type": "equals", "value": "{{ n }}"}, "metadata": {"m": "{{ n }}"}}

    first, second = cases_of(tmp_path, entry, defaults={"vars": {"n": [7, {"k": [1]}]}})

    assert (first.metadata["m"], second.metadata["m"]) == (7, {"k": [1]})
    assert [case.assertions[0].value for case in (first, second) if case.assertions] == [7, {"k": [1]}]


def test_each_persona_with_each_goal_is_a_case(tmp_path: Path) -> None:
    entry = {"id": "S", "simulator": TALK, "vars": {"n": [2, 3]}, "max_turns": "{{ n }}"}

    made = cases_of(tmp_path, entry)

    assert [case.id for case in made][:4] == ["S[2,kind,1]", "S[2,kind,2]", "S[2,kind,3]", "S[2,rude,1]"]
    simulators = [case.simulator for case in made]
    assert {(one.persona, one.goal) for one in simulators} == {(p, g) for p in TALK["persona"] for g in TALK["goal"]}
    assert len(made) == 12
    assert {case.max_turns for case in made} == {2, 3}
    assert Draft202012Validator(file_schema()).is_valid([{**entry, "max_turns": 3}])


def test_tables_stand_among_other_cases_of_every_form(tmp_path: Path) -> None:
    rows = {"id": "A", "vars": {"a": ["x", "y"]}, "input": "{{ a }}"}
    plain = {"id": "B", "input": "{{ stays }}"}
    lines = tmp_path / "cases.jsonl"
    lines.write_text("\n".join(map(json.dumps, (plain, rows, {"id": "C", "input": "Hi"}))))

    found = [(located.case.id, located.line, located.case.input) for located in CaseFile.check(lines)]

    assert found == [("B", 1, "{{ stays }}"), ("A[x]", 2, "x"), ("A[y]", 2, "y"), ("C", 3, "Hi")]


WRONG = {
    "no table": ('{"id": "A", "vars": 7, "input": "a"}', '"vars" must be a list of objects, or an object'),
    "an empty list": ('{"id": "A", "vars": [], "input": "a"}', '"vars" must be a list of objects'),
    "a row that is not an object": ('{"id": "A", "vars": [{"a": 1}, 2], "input": "a"}', "row 2"),
    "other variables": (
        '{"id": "A", "vars": [{"a": 1}, {"b": 1}], "input": "a"}',
        "has different variables from the first",
    ),
    "no values": ('{"id": "A", "vars": {"a": []}, "input": "a"}', '"a" in "vars" has no values'),
    "unknown": ('{"id": "A", "vars": {"city": [1]}, "input": "{{ citi }}"}', 'there is no variable "citi" in "vars"'),
    "too many": (
        json.dumps({"id": "A", "vars": {name: list(range(30)) for name in "abc"}, "input": "a"}),
        "this makes more than 10000 cases",
    ),
    "something else": ('{"id": "A", "vars": {"a": [1, 2]}, "inputs": "a"}', 'unknown field "inputs"'),
    "the same id": ('{"id": "{{ a }}", "vars": {"a": ["x", "x"]}, "input": "a"}', 'the id "x" is already used'),
}


@pytest.mark.parametrize(("text", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    said = refusal(tmp_path, text)

    assert words in said
    assert "cases.jsonl:1:" in said
    assert said.count("cases.jsonl:1:") <= 2
