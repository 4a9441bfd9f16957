"""`-i agents:id?count=10` and `-i scripts:module`: what generators get."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, server
from command import MakeApplication
from generated_runs import SAID, generated
from table_tests import each

from runner.errors import ConfigurationError
from runner.planning.generators import parameters, with_ids

TELL = """\
- reply:
    json:
      cases:
        - { id: told, input: "{{ input }}" }
        - { id: metadata, input: "{{ metadata | json }}" }
"""
"""A generator whose cases are what it was told."""


DESK = {
    **server("desk", {"file_expense": "scripts.desk.File"}),
    "/scripts/desk.ts": "function File(amount) { return { amount }; }",
}


def test_an_agent_is_told_the_target_its_tools_and_the_parameters(app: MakeApplication) -> None:
    target = agent(package={"description": "Files expenses", "mcp": {"servers": ["desk"]}}, replies=SAID)
    application = app({**target, **agent("maker", replies=TELL), **DESK})

    records = generated(
        application, "agents:maker?count=2&focus=edge-cases&strict=true&ratio=0.5&note=caf%C3%A9+%26+tea&zip=007"
    )

    payload = json.loads(records["told"]["output"])
    tools = payload.pop("target_tools")
    assert payload == {
        "target_agent": "demo",
        "target_description": "Files expenses",
        "count": 2,
        "focus": "edge-cases",
        "strict": True,
        "ratio": 0.5,
        "note": "café & tea",
        "zip": "007",
    }
    assert [(tool["name"], sorted(tool)) for tool in tools] == [("file_expense", ["description", "name", "parameters"])]
    metadata = json.loads(records["metadata"]["output"])
    assert metadata["test_mode"] == "generator"
    assert {key: metadata[key] for key in payload} == payload


def test_five_cases_are_asked_for_without_a_count(app: MakeApplication) -> None:
    records = generated(app(agent(replies=SAID) | agent("maker", replies=TELL)), "agents:maker")

    assert json.loads(records["told"]["output"]) == {
        "target_agent": "demo",
        "target_description": "",
        "target_tools": [],
        "count": 5,
    }


@pytest.mark.parametrize(
    ("input", "source"),
    [
        ("scripts:tests.expense.generate?scenario=approval", "function generate(told) { return made(told); }"),
        ("scripts:tests.expense?scenario=approval", "export async function Generate(told) { return made(told); }"),
        ("scripts:tests.expense?scenario=approval", "export default function (told) { return made(told); }"),
    ],
    ids=["a function", "the function of its role", "the default export"],
)
def test_a_script_is_told_the_same(app: MakeApplication, input: str, source: str) -> None:
    made = 'function made(told) { return { cases: [{ id: "S1", input: JSON.stringify(told) }] }; }\n'
    records = generated(app({**agent(replies=SAID), "/scripts/tests/expense.ts": made + source}), input)

    assert json.loads(records["S1"]["output"]) == {
        "target_agent": "demo",
        "target_description": "",
        "target_tools": [],
        "count": 5,
        "scenario": "approval",
    }


@each(
    ("query", "values"),
    [
        ("", {}),
        ("a=1&b=-2&c=0.25&d=true&e=false", {"a": 1, "b": -2, "c": 0.25, "d": True, "e": False}),
        ("a=&b=01&c=1e5&d=True&e=null&f=1.", {"a": "", "b": "01", "c": "1e5", "d": "True", "e": "null", "f": "1."}),
        ("a=x%20y&b=x+y&c%5B=%3D", {"a": "x y", "b": "x y", "c[": "="}),
        ("n=12345678901234567890", {"n": "12345678901234567890"}),
    ],
)
def test_parameters_have_types(query: str, values: dict[str, Any]) -> None:
    found = parameters(query, "here")

    assert found == values
    assert {key: type(value) for key, value in found.items()} == {key: type(value) for key, value in values.items()}


@each(
    ("query", "message"),
    [
        ("count", "Cannot read here: its parameters must have the form name=value&name=value"),
        ("count=0", "Cannot use here: count must be a whole number of at least 1"),
        ("count=many", "Cannot use here: count must be a whole number of at least 1"),
        ("count=true", "Cannot use here: count must be a whole number of at least 1"),
        ("count=2.5", "Cannot use here: count must be a whole number of at least 1"),
        ("target_agent=x", 'Cannot use here: "target_agent" is set with -n and cannot be a parameter'),
    ],
)
def test_bad_parameters_are_refused(query: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parameters(query, "here")
    assert caught.value.message == message


def test_a_generator_without_a_connector_uses_that_of_the_target(app: MakeApplication) -> None:
    records = generated(app(agent(replies=SAID)), "agents:workers.test.generator?count=2")

    assert {id: record["output"] for id, record in records.items()} == {
        "G001": "Hello",
        "G002": "What can you do for me?",
    }


def test_every_case_has_an_id_of_its_own() -> None:
    values = [{"id": "A"}, {"id": "A"}, {}, {"id": " "}, {"id": 7}, {"id": "A-2"}, {"id": "A"}, "x", {"id": None}]

    assert [value["id"] if isinstance(value, dict) else value for value in with_ids(values)] == [
        "A",
        "A-2",
        "generated-3",
        "generated-4",
        "7",
        "A-2-2",
        "A-3",
        "x",
        "generated-9",
    ]
