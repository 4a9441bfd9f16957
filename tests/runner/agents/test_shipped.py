"""The agents that ship with the package, answered by the scripted connector."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from table_tests import each

import runner
from runner.application.documents import read_json, read_yaml
from runner.connectors.base import ModelRequest
from runner.connectors.scripted import ScriptedConnector

ASSISTANTS = Path(runner.__file__).parent / "shipped/assistants"
IDS = ["workers.test.generator", "workers.test.user-simulator", "workers.test.validator"]


def folder_of(id: str) -> Path:
    return ASSISTANTS.joinpath(*id.split("."))


def answer(id: str, payload: dict[str, Any]) -> Any:
    """What a shipped agent answers to a payload, parsed."""
    message = {"role": "user", "content": json.dumps(payload, ensure_ascii=False)}
    request = ModelRequest(messages=[message], agent=id, folder=folder_of(id))
    return json.loads(asyncio.run(ScriptedConnector(ASSISTANTS.parent).complete(request)).content)


def test_all_shipped_agents_are_looked_at() -> None:
    found = [path.parent.relative_to(ASSISTANTS).as_posix() for path in ASSISTANTS.rglob("package.yao")]
    assert sorted(id.replace(".", "/") for id in IDS) == sorted(found)


@pytest.mark.parametrize("id", IDS)
def test_a_shipped_agent_leaves_the_connector_to_the_application(id: str) -> None:
    package = read_json(folder_of(id) / "package.yao", "package")
    assert package["name"] and package["description"]
    assert "connector" not in package
    (prompt,) = read_yaml(folder_of(id) / "prompts.yml", "prompts")
    assert prompt["role"] == "system" and "one JSON object and nothing else" in prompt["content"]


VERDICTS: dict[str, tuple[dict[str, Any], bool, str]] = {
    "nothing": ({"output": None, "input": "Hello"}, False, "There is no answer"),
    "an empty text": ({"output": "", "criteria": 'Mentions "tea"'}, False, "There is no answer"),
    "an error": ({"output": "Error: no database", "criteria": "Is polite"}, False, "The answer is an error"),
    "a text that is there": ({"output": "Green TEA", "criteria": 'Mentions "tea"'}, True, 'The answer contains "tea"'),
    "a text that is not": ({"output": "Milk", "criteria": 'Mentions "tea"'}, False, 'The answer does not contain "tea"'),
    "a text in an object": ({"output": {"a": ["tea"]}, "criteria": "Mentions “tea”"}, True, 'The answer contains "tea"'),
    "metadata for it": ({"output": "", "scripted": "pass"}, True, "The metadata asks for it"),
    "metadata against it": ({"output": "Hi", "scripted": "fail"}, False, "The metadata asks for it"),
}  # fmt: skip


@each(("payload", "passed", "reason"), VERDICTS.values(), ids=VERDICTS)
def test_the_validator_passes_and_fails(payload: dict[str, Any], passed: bool, reason: str) -> None:
    verdict = answer("workers.test.validator", payload)
    assert (verdict["passed"], verdict["score"], verdict["reason"]) == (passed, int(passed), reason)


UNJUDGED = "There is an answer; what it says was not judged"
DENIES = "The criteria deny something; that was not judged"
SEVERAL = "The criteria quote several texts; that was not judged"


@each(
    ("criteria", "reason"),
    [
        ("Is polite", UNJUDGED),
        (None, UNJUDGED),
        (["Is polite", "Is short"], UNJUDGED),
        ('Does not suggest "Hi"', DENIES),
        ('Never says "Hi"', DENIES),
        ('Doesn’t say "bye"', DENIES),
        ('Answers without "bye"', DENIES),
        ('Says "Hi" and "bye"', SEVERAL),
        ("Says “Hi”\nand then “there”", SEVERAL),
    ],
)
def test_the_validator_says_when_it_cannot_judge(criteria: Any, reason: str) -> None:
    verdict = answer("workers.test.validator", {"output": "Hi", "input": "Hello", "criteria": criteria})
    assert verdict == {"passed": True, "judged": False, "reason": reason, "suggestions": []}


def test_the_simulator_walks_to_its_goal() -> None:
    replies = [
        "What kind of expense is it?",
        "A taxi for 38 euros. Shall I file it?",
        "Expense 7 is filed.",
    ]
    goal = "File a taxi for 38 euros"
    conversation: list[dict[str, str]] = []
    turns = []
    for number in range(1, 5):
        payload = {"persona": "in a hurry", "goal": goal, "conversation": conversation}
        turn = answer("workers.test.user-simulator", {**payload, "turn_number": number, "max_turns": 10})
        turns.append((turn["input"], turn["goal_achieved"]))
        if replies:
            conversation += [
                {"role": "user", "content": turn["input"]},
                {"role": "assistant", "content": replies.pop(0)},
            ]
    assert turns == [
        (goal, False),
        (f"What I want is this: {goal}", False),
        ("Yes, please.", False),
        ("Thank you, that is all.", True),
    ]


@pytest.mark.parametrize(("turn", "achieved"), [(3, False), (5, False), (6, True)])
def test_the_simulator_does_not_talk_forever(turn: int, achieved: bool) -> None:
    conversation = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "I like tea."}]
    payload = {"goal": "tea", "conversation": conversation, "turn_number": turn, "max_turns": 20}
    assert answer("workers.test.user-simulator", payload)["goal_achieved"] is achieved


def test_the_simulator_speaks_without_a_goal() -> None:
    assert answer("workers.test.user-simulator", {"conversation": [], "turn_number": 1})["input"] == "Hello"


@each(("count", "cases"), [*[(count, count) for count in range(1, 11)], (11, 10), (None, 5)])
def test_the_generator_makes_as_many_cases_as_asked(count: int | None, cases: int) -> None:
    payload: dict[str, Any] = {"target_agent": "expense", "target_description": "Files expenses", "target_tools": []}
    found = answer("workers.test.generator", payload | ({} if count is None else {"count": count}))["cases"]
    assert [case["id"] for case in found] == [f"G{number:03}" for number in range(1, cases + 1)]
    assert len({case["input"] for case in found}) == cases and all(case["name"] for case in found)
