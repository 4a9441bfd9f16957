"""JSON answers and what was expected of them are compared as values: the order of keys, blanks, and whether the answer is a
text make no line of a difference."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file
from command import Application, make_application

WANTED: dict[str, Any] = {
    "status": "approved",
    "amount": 3500,
    "items": [{"kind": "taxi", "price": 40}, {"kind": "hotel", "price": 300}],
    "approver": {"name": "Maria", "team": "finance"},
    "note": None,
}
ANSWER: dict[str, Any] = {
    "note": None,
    "approver": {"team": "finance", "name": "Maria"},
    "items": [{"price": 40.0, "kind": "taxi"}, {"price": 320, "kind": "hotel"}],
    "amount": 3500.0,
    "status": "approved",
}
CHANGED = ['-       "price": 300', '+       "price": 320']
"""All that is different."""

TEXTS = {
    "compact": json.dumps(ANSWER),
    "indented": json.dumps(ANSWER, indent=4),
    "fenced": f"```json\n{json.dumps(ANSWER)}\n```",
    "prose": f"Here it is: {json.dumps(ANSWER)}. Done.",
}


def application(folder: Path, text: str, case: dict[str, Any]) -> Application:
    replies = json.dumps([{"reply": {"text": text.replace("{{", "{ {").replace("}}", "} }")}}])
    return make_application(folder, agent(replies=replies, cases=[{"id": "a", "input": "x", **case}]))


def changed_lines(text: str) -> list[str]:
    """The lines of a difference that were removed or added."""
    return [
        line for line in text.splitlines() if line[:1] in "+-" and not line.startswith(("---", "+++")) and '"' in line
    ]


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize(
    "case",
    [{"expected": WANTED}, {"assert": {"type": "equals", "value": WANTED}}, {"turns": [{"input": "x", "assertions": {"type": "equals", "value": WANTED}}]}],
    ids=["expected", "equals", "in a turn"],
)  # fmt: skip
def test_only_values_that_differ_are_in_a_difference(tmp_path: Path, form: str, case: dict[str, Any]) -> None:
    app = application(tmp_path, TEXTS[form], case)

    run = app.run("-i", case_file(), "-o", "r.md", "-o", "r.xml", "-o", "r.jsonl")

    assert run.code == 1
    shown = [line.strip(" │") for line in run.stdout.splitlines()]
    assert [line for line in shown if line.startswith(('-       "', '+       "'))] == CHANGED
    assert changed_lines((app.root / "r.md").read_text()) == CHANGED
    xml = ElementTree.parse(app.root / "r.xml").getroot()
    assert changed_lines("".join(failure.text or "" for failure in xml.iter("failure"))) == CHANGED
    again = [line.strip(" │") for line in app.run("show", "r.jsonl").stdout.splitlines()]
    assert [line for line in again if line.startswith(('-       "', '+       "'))] == CHANGED


@pytest.mark.parametrize(
    ("wanted", "answer", "lines"),
    [
        ({"a": 1, "b": 2}, {"b": 3, "a": 1}, ['  {', '    "a": 1,', '-   "b": 2', '+   "b": 3', '  }']),
        ([1, {"x": 1, "y": 2}], [1, {"y": 2, "x": 0}], ['  [', '    1,', '    {', '-     "x": 1,', '+     "x": 0,', '      "y": 2', '    }', '  ]']),
        ({"a": True}, {"a": 1}, ['  {', '-   "a": true', '+   "a": 1', '  }']),
        ({"a": 1}, {"c": 2, "b": 1, "a": 1}, ['  {', '-   "a": 1', '+   "a": 1,', '+   "c": 2,', '+   "b": 1', '  }']),
    ],
)  # fmt: skip
def test_short_values_are_a_difference_too_in_one_order(
    tmp_path: Path, wanted: Any, answer: Any, lines: list[str]
) -> None:
    run = application(tmp_path, json.dumps(answer), {"expected": wanted}).run("-i", case_file())

    shown = [line.removeprefix("     ") for line in run.stdout.splitlines()]
    at = shown.index("- expected + actual")
    assert shown[at + 1 : at + 1 + len(lines)] == lines
    assert shown.count("- expected + actual") == 1, "it is told once"


def test_texts_that_are_no_json_are_shown_as_they_are(tmp_path: Path) -> None:
    run = application(tmp_path, "Not a value", {"expected": {"a": 1}}).run("-i", case_file())

    assert 'Expected the output to equal {"a": 1}, found "Not a value"' in run.stdout
    assert '     - {"a": 1}\n     + "Not a value"\n' in run.stdout


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ('{"a": 1, "b": [1, 2]}', '{\n  "b": [1, 2],\n  "a": 1\n}', True),
        ('{"a": 1, "b": [1, 2]}', '{"b": [2, 1], "a": 1}', False),
        ('[{"a": 1, "b": 2}]', '[{"b": 2, "a": 1}]', True),
        ("a text", "a  text", False),
    ],
    ids=["order of keys", "order of a list", "within a list", "texts"],
)
def test_answers_of_two_runs_are_compared_as_values(tmp_path: Path, before: str, after: str, same: bool) -> None:
    app = application(tmp_path, before, {})
    app.run("-i", case_file(), "-o", "a.jsonl")
    app.write(agent(replies=json.dumps([{"reply": {"text": after}}])))
    app.run("-i", case_file(), "-o", "b.jsonl")

    assert ("Changed outputs" not in app.run("diff", "a.jsonl", "b.jsonl").stdout) is same
