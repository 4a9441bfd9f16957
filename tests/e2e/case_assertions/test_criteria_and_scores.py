"""One grading model: written, simulated and single answers alike, with criteria, weights, checkpoints and a score."""

from __future__ import annotations

from typing import Any

import pytest
from agent_files import agent, run_cases, server
from command import Application, MakeApplication, Record

REPLIES = """\
- when: { tool.name: find }
  reply: It is here.
- when: { input: find }
  reply: { tool_calls: [{ name: find, arguments: { id: 7 } }] }
- when: { input: Hello }
  reply: { text: "Which one?", awaiting_input: true }
- reply: Fine.
"""
GUEST = """\
export function Simulate(asked: any) {
  const said = ["Hello", "find it", "thanks"][asked.turn_number - 1];
  return { input: said ?? "thanks", goal_achieved: asked.turn_number > 3 };
}
"""
JUDGE = """\
export function Next(ctx: agent.Context, payload: any) {
  const { criteria, output, turns } = JSON.parse(payload.messages[payload.messages.length - 1].content);
  const turned = /^turns (\\d+)$/.exec(criteria);
  const passed = turned ? turns.length === Number(turned[1]) : JSON.stringify(output).includes(criteria);
  return { data: { passed, reason: "so" } };
}
"""
SIMULATOR = {"use": "scripts:guest", "goal": "it"}
FOUND = {"id": "found", "assertion": {"type": "tool_called", "name": "find"}}
SOLD = {"id": "sold", "assertion": {"type": "contains", "value": "sold"}}
BASE = {"mode": "conversation", "grader": "judge"}
CASES: list[Record] = [
    {
        **BASE,
        "id": "simulated",
        "simulator": SIMULATOR,
        "turn_assertions": [{"type": "not_contains", "value": "error"}],
        "rubrics": [{"id": "here", "outcome": "Fine", "weight": 3}, "turns 3"],
        "assertions": [{"type": "tool_calls", "value": 1}],
    },
    {**BASE, "id": "reached", "simulator": SIMULATOR, "checkpoints": [FOUND], "final_assertions": ["turns 2"]},
    {**BASE, "id": "missing", "simulator": SIMULATOR, "checkpoints": [FOUND, SOLD]},
    {**BASE, "id": "optional", "simulator": SIMULATOR, "checkpoints": [{**SOLD, "required": False}]},
    {
        **BASE,
        "id": "mixed",
        "turns": [{"input": "Hello", "assertions": ["Which"]}],
        "simulator": SIMULATOR,
        "turn_assertions": ["e"],
    },
    {
        **BASE,
        "id": "low",
        "simulator": SIMULATOR,
        "turn_assertions": ["here"],
        "aggregation": "max",
        "threshold": 1,
    },
    {
        **BASE,
        "id": "stopped",
        "turns": [{"input": "Hello", "assertions": ["nothing"]}, {"input": "find it"}],
        "on_turn_failure": "stop",
        "max_turns": 5,
    },
    {
        **BASE,
        "id": "needed",
        "simulator": SIMULATOR,
        "turn_assertions": [{"type": "contains", "value": "here", "required": True}],
    },
    {**BASE, "id": "nobody", "turns": [{"input": "Hello"}], "on_missing_input": "fail"},
    {
        "id": "implied",
        "grader": "judge",
        "turns": [{"input": "Hello", "assertions": ["Which"]}],
        "on_missing_input": "end",
    },
    {
        "id": "one",
        "grader": "judge",
        "input": "Hello",
        "assert": ["Which", {"type": "contains", "value": "nothing", "weight": 0.25}],
        "rubrics": [{"id": "turn", "outcome": "turns 1", "weight": 0.75}],
    },
    {"id": "one-fails", "grader": "judge", "input": "Hello", "rubrics": ["Which", "nothing"], "threshold": 0.6},
    {
        "id": "one-needs",
        "grader": "judge",
        "input": "Hello",
        "threshold": 0,
        "assert": [{"type": "contains", "value": "x", "required": True}],
    },
    {"id": "one-about", "grader": "judge", "input": "Hello", "criteria": "nothing"},
    {"id": "one-expects", "input": "thanks", "expected": "Fine.", "threshold": 1},
    {"id": "waits", "turns": [{"input": "Hello", "assertions": ["Which one"]}]},
    {
        "id": "asserts",
        "simulator": SIMULATOR,
        "checkpoints": [FOUND],
        "assert": {"type": "contains", "value": "here"},
    },
    {"id": "expects", "simulator": SIMULATOR, "checkpoints": [FOUND], "expected": "It is there."},
    {
        "id": "dynamic",
        "simulator": SIMULATOR,
        "checkpoints": [FOUND],
        "turn_assertions": {"type": "not_contains", "value": "Which"},
        "final_assertions": [
            {"type": "json_path", "path": "$.turn_count", "value": 2},
            {"type": "tool_calls", "value": 0},
        ],
    },
    {
        "id": "multi",
        "turns": [{"input": "Hello"}],
        "simulator": {"use": "scripts:guest"},
        "turn_assertions": {"type": "not_contains", "value": "here"},
    },
]


@pytest.fixture(scope="module")
def made(shared_app: MakeApplication) -> Application:
    app = shared_app(agent(package={"mcp": {"servers": ["shop"]}}, replies=REPLIES, cases=CASES))
    app.write(agent("judge", prompts=None, hooks=JUDGE) | server("shop", {"find": "scripts.shop.find"}))
    app.write({"/scripts/shop.ts": "export function find(asked: any) { return { id: asked.id }; }\n"})
    app.write({"/scripts/guest.ts": GUEST})
    return app


@pytest.fixture(scope="module")
def results(made: Application) -> dict[str, Any]:
    return run_cases(made)


PASSED = {"simulated", "reached", "optional", "mixed", "low", "implied", "one", "one-expects", "asserts"}
ERRORS = {
    "expects": 'found "It is here."',
    "missing": "missing checkpoints: sold",
    "stopped": "score 0.00 is below the threshold 0.8",
    "needed": 'turn-1: the required criterion "contains "here"" is not met',
    "nobody": "Agent awaiting input, no next turn defined",
    "one-fails": "score 0.50 is below the threshold 0.6",
    "one-needs": 'answer: the required criterion "contains "x"" is not met',
    "one-about": 'answer: the required criterion "nothing" is not met',
    "dynamic": 'Expected the output not to contain "Which"',
    "multi": 'Expected the output not to contain "here"',
}


def test_what_passes_and_why_the_others_fail(results: dict[str, Any]) -> None:
    assert {id for id, result in results.items() if result["status"] == "passed"} == PASSED
    for id, words in ERRORS.items():
        assert words in results[id]["error"], (id, results[id]["error"])
    assert results["waits"]["status"] == "skipped"
    assert PASSED | ERRORS.keys() | {"waits"} == results.keys()


def test_scores_have_every_turn_and_the_whole(results: dict[str, Any]) -> None:
    scores = {
        id: [(entry["name"], entry["score"]) for entry in result.get("scores", ())] for id, result in results.items()
    }

    assert scores["simulated"] == [("turn-1", 1.0), ("turn-2", 1.0), ("turn-3", 1.0), ("assertions", 1.0)]
    weights = [(item["text"], item["weight"]) for item in results["simulated"]["scores"][-1]["assertions"]]
    assert weights == [("tool_calls 1", 1), ("Fine", 3), ("turns 3", 1)]
    assert scores["reached"] == [("turn-1", 1.0), ("turn-2", 1.0), ("assertions", 1.0)]
    assert [entry["id"] for entry in results["reached"]["checkpoints"]] == ["found"]
    assert scores["mixed"][0] == ("turn-1", 1.0)
    assert scores["low"] == [("turn-1", 0.0), ("turn-2", 1.0), ("turn-3", 0.0)]
    assert scores["stopped"] == [("turn-1", 0.0), ("turn-2", 0.0)]
    assert results["stopped"]["turns"][1]["status"] == "skipped"
    assert results["implied"]["mode"] == "conversation"


def test_a_single_answer_has_a_score(results: dict[str, Any]) -> None:
    one = results["one"]

    assert (one["score"], one["threshold"]) == (0.875, 0.8)
    assert [(item["text"], item["passed"]) for item in one["scores"][0]["assertions"]] == [
        ("Which", True),
        ('contains "nothing"', False),
        ("turns 1", True),
    ]
    assert results["one-fails"]["score"] == 0.5


def test_a_talk_that_was_graded_is_graded_again_in_the_same_way(made: Application, results: dict[str, Any]) -> None:
    assert made.run("-i", "assistants/demo/tests/cases.jsonl", "-o", "first.jsonl", "-q").code == 1
    again = made.run("regrade", "first.jsonl", "-o", "again.json")
    assert again.code in (0, 1), again.stdout + again.stderr
    import json

    graded = {result["id"]: result for result in json.loads((made.root / "again.json").read_text())["results"]}
    for id in ("simulated", "reached", "mixed", "low", "one"):
        assert graded[id]["score"] == results[id]["score"], id
