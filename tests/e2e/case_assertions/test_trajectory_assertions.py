"""Assertions on what agents did, through the command: tools, model calls, other agents; for each turn and for the whole conversation."""

from __future__ import annotations

from typing import Any

import pytest
from agent_files import agent, run_cases, server
from command import MakeApplication

REPLIES = """\
- when: { tool.name: find }
  reply: Found it.
- when: { input: twice }
  reply: { tool_calls: [{ name: find, arguments: { id: 1 } }, { name: find, arguments: { id: 1 } }] }
- when: { input: find }
  reply: { tool_calls: [{ name: find, arguments: { id: 7 } }] }
- when: { input: plan }
  reply: { json: { plan: [find, pay] } }
- reply: Fine.
"""
DELEGATES = """\
export function Create(ctx: agent.Context, messages: agent.Message[]) {
  const said = String(messages[messages.length - 1].content);
  if (/refund/.test(said)) return { delegate: { agent_id: "refunds", messages } };
  if (/price/.test(said)) ctx.agent.Call("prices", [{ role: "user", content: "price" }]);
  return null;
}
"""
FIND = {"name": "find", "arguments": {"id": 7}}
JUDGE = 'export function Next() { return { data: { passed: true, reason: "so" } }; }\n'


def turn(input: str, *assertions: dict[str, Any]) -> dict[str, Any]:
    return {"input": input, "assertions": list(assertions)}


def case(id: str, *turns: dict[str, Any], final: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {"id": id, "turns": list(turns), "on_missing_input": "end", "final_assertions": final or []}


HOLD = [
    case(
        "talk",
        turn("Hello", {"type": "tool_not_called"}, {"type": "model_calls", "value": 1}),
        turn(
            "find it",
            {"type": "tool_sequence", "value": [FIND], "mode": "exact"},
            {"type": "tool_arguments", "value": {"tool": "find", "schema": {"required": ["id"]}}},
            {"type": "model_calls", "value": {"min": 1, "max": 1}},
            {"type": "agent", "use": "agents:judge", "value": "Anything"},
            {"type": "delegated", "negate": True},
        ),
        turn(
            "What is the price?",
            {"type": "delegated", "value": "prices"},
            {"type": "trajectory", "value": [{"agent": "prices"}]},
            {"type": "seconds", "value": 60},
        ),
        turn("A refund, please", {"type": "delegated", "value": ["refunds"]}, {"type": "tool_calls", "value": 0}),
        final=[
            {"type": "tool_calls", "value": {"min": 1, "max": 1}},
            {"type": "no_repeated_calls"},
            {"type": "trajectory", "value": [FIND, {"agent": "prices"}, {"agent": "refunds"}], "mode": "exact"},
            {"type": "model_calls", "value": {"min": 5, "max": 5}},
        ],
    ),
    {
        "id": "graded",
        "mode": "conversation",
        "turns": [
            turn("find it", {"type": "trajectory", "value": {"steps": ["find", "pay", "ship"], "threshold": 0.5}}),
            turn("plan", {"type": "trajectory", "path": "$.plan", "value": ["find", "pay"]}),
        ],
        "assertions": [{"type": "tool_calls", "value": 1}],
        "threshold": 0.8,
    },
    {
        "id": "one",
        "input": "A refund",
        "assert": [{"type": "delegated", "value": "refunds"}, {"type": "seconds", "value": 60}],
    },
]
FAIL = [
    {"id": "again", "input": "twice", "assert": {"type": "no_repeated_calls"}},
    {"id": "asked", "input": "price", "assert": {"type": "delegated", "negate": True}},
    {"id": "dear", "input": "price", "assert": {"type": "model_calls", "value": 1}},
]


@pytest.fixture(scope="module")
def results(shared_app: MakeApplication) -> dict[str, Any]:
    files = agent(package={"mcp": {"servers": ["shop"]}}, replies=REPLIES, hooks=DELEGATES, cases=[*HOLD, *FAIL])
    made = shared_app(files)
    made.write(server("shop", {"find": "scripts.shop.find"}))
    made.write({"/scripts/shop.ts": "export function find(asked: any) { return { id: asked.id }; }\n"})
    for id in ("prices", "refunds"):
        made.write(agent(id, replies="- reply: Seven euros.\n"))
    made.write(agent("judge", prompts=None, hooks=JUDGE))
    return run_cases(made)


@pytest.mark.parametrize("id", [one["id"] for one in HOLD])
def test_they_hold_per_turn_and_over_the_talk(results: dict[str, Any], id: str) -> None:
    assert results[id]["status"] == "passed", results[id]["assertion_errors"]


def test_a_score_counts_as_it_is(results: dict[str, Any]) -> None:
    criteria = results["graded"]["scores"][0]["assertions"]

    assert [item["score"] for item in criteria] == [pytest.approx(0.5)]


def test_they_say_what_was_done(results: dict[str, Any]) -> None:
    assert {id: results[id]["error"] for id in ("again", "asked", "dear")} == {
        "again": 'assertion failed: Expected the agent to make the same call at most once, found find({"id": 1}) 2 times',
        "asked": "assertion failed: Expected the agent not to delegate to any agent, found prices (called by demo)",
        "dear": "assertion failed: Expected the answer to take at most 1 model calls, found 2 model calls",
    }
