"""Judges and scripts see the conversation: messages with what tools were called, the answer, tools and turns, beside
what they were told before."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, run_cases, server
from command import Application, MakeApplication, Record

REPLIES = """\
- when: { tool.name: look_up }
  reply: { text: "It is sold out.", awaiting_input: true }
- when: { input: rude }
  reply: Get lost.
- when: { input: stock }
  reply: { tool_calls: [{ name: look_up, arguments: { item: tea } }] }
- when: { input: data }
  reply: "{ \\"state\\": 1 }"
- reply: { text: "With pleasure.", awaiting_input: true }
"""
TOOL = "export function look_up() { return { left: 0 }; }\n"
SHOWS = """\
export function Show(output: any, input: any, expected: any, metadata: any, transcript: any) {
  return { pass: true, message: JSON.stringify({ output, input, expected, metadata, transcript }) };
}
export function Polite(output: any, input: any, expected: any, metadata: any, transcript: any) {
  const rude = transcript.messages.filter((said: any) => said.role === "assistant" && /lost/.test(said.content));
  return { pass: rude.length === 0, message: rude.map((said: any) => `turn ${said.turn}: ${said.content}`).join() };
}
"""
SHOWS += """\
export function Same(output: any, input: any, expected: any, metadata: any, { output: _, ...others }: any) {
  return { pass: JSON.stringify(others) === JSON.stringify({ messages: metadata.messages, tools: metadata.tools, turns: metadata.turns }) };
}
"""
JUDGE = """\
export function Create(ctx: agent.Context, messages: agent.Message[]) { return { messages }; }
export function Next(ctx: agent.Context, payload: any) {
  const asked = JSON.parse(payload.messages[payload.messages.length - 1].content);
  const said = asked.messages.filter((message: any) => message.role === "assistant").map((message: any) => message.content);
  const rude = said.some((text: string | null) => text?.includes("lost"));
  const missed = asked.criteria === "Has two turns" && asked.turns.length !== 2;
  return { data: { passed: !missed && (asked.criteria !== "Is polite all the time" || !rude), reason: JSON.stringify(asked) } };
}
"""
SHOW = {"type": "script", "use": "scripts:shows.Show"}
JUDGED = {"type": "agent", "use": "agents:judge", "value": "x"}
POLITE = {"type": "agent", "use": "agents:judge", "value": "Is polite all the time"}


def shop(app: MakeApplication, *cases: Record) -> Application:
    demo = app(agent(package={"mcp": {"servers": ["stock"]}}, replies=REPLIES, cases=list(cases)))
    demo.write(agent("judge", prompts=None, hooks=JUDGE) | server("stock", {"look_up": "scripts.stock.look_up"}))
    demo.write({"shows.ts": SHOWS, "/scripts/stock.ts": TOOL})
    return demo


def seen(assertion: Record) -> Any:
    """What a judge or script of ours was asked with: it is the reason that it gives."""
    assert assertion["passed"], assertion
    return json.loads(assertion.get("message") or assertion["reason"])


USED = {"name": "look_up", "server": "stock", "arguments": {"item": "tea"}}
LOOKED = {"tool_calls": [USED], "tool_results": [{"name": "look_up", "result": {"left": 0}}]}
TALK = [
    {"role": "user", "content": "Some stock?", "turn": 1},
    {"role": "assistant", "content": "It is sold out.", **LOOKED, "turn": 1},
    {"role": "user", "content": "Something else", "turn": 2},
    {"role": "assistant", "content": "With pleasure.", "turn": 2},
]
TOOLS = [{**USED, "result": {"left": 0}, "turn": 1}]
TURNS = [
    {"turn": 1, "input": "Some stock?", "output": "It is sold out."},
    {"turn": 2, "input": "Something else", "output": "With pleasure."},
]
TRANSCRIPT = {"messages": TALK, "tools": TOOLS, "turns": TURNS}
INPUTS = [{"input": "Some stock?"}, {"input": "Something else"}]


def test_final_assertions_see_all_that_was_said(app: MakeApplication) -> None:
    demo = shop(app, {"id": "talk", "turns": INPUTS, "on_missing_input": "end", "final_assertions": [JUDGED, SHOW]})
    judged, shown = map(seen, run_cases(demo, code=0)["talk"]["final_assertions"])
    inputs = ["Some stock?", "Something else"]
    assert judged == {"output": "With pleasure.", "input": inputs, "criteria": "x", **TRANSCRIPT}
    assert shown["transcript"] == {**TRANSCRIPT, "output": "With pleasure."}
    assert (shown["output"], shown["input"], shown["metadata"]) == ("With pleasure.", inputs, {})


def test_a_turn_sees_what_came_before_it(app: MakeApplication) -> None:
    first, second = [{**turn, "assertions": [JUDGED, SHOW]} for turn in INPUTS]
    demo = shop(app, {"id": "talk", "turns": [first, second], "on_missing_input": "end"})
    turns = run_cases(demo, code=0)["talk"]["turns"]
    for number, turn in enumerate(turns, 1):
        for assertion in turn["assertions"]:
            told = seen(assertion)
            told = told.get("transcript", told)
            assert told["messages"] == TALK[: 2 * number]
            assert (told["turns"], told["tools"]) == (TURNS[:number], TOOLS)
            assert told["output"] == TURNS[number - 1]["output"]


def test_a_checkpoint_sees_all_that_was_said(app: MakeApplication) -> None:
    simulator = {"use": "scripts:user.Simulate"}
    now = {"type": "contains", "value": "pleasure"}
    wanted = {"type": "script", "use": "scripts:shows.Same", "options": {"metadata": TRANSCRIPT}}
    judge = {"type": "agent", "use": "agents:judge", "value": "Has two turns"}
    checkpoints = [{"id": id, "assert": [assertion, now]} for id, assertion in (("judge", judge), ("script", wanted))]
    demo = shop(app, {"id": "talk", "input": "Some stock?", "simulator": simulator, "checkpoints": checkpoints})
    demo.write({"user.ts": 'export function Simulate() { return { input: "Something else" }; }'})
    record = run_cases(demo, code=0)["talk"]
    assert [checkpoint["reached_at_turn"] for checkpoint in record["checkpoints"]] == [2, 2]


WINDOW = [{"input": "Some stock?"}, {"input": "Something else"}, {"input": "And more"}]


def test_conversations_are_graded_by_all_that_was_said_within_the_window(app: MakeApplication) -> None:
    graded = [{**turn, "assertions": ["Criterion", SHOW, JUDGED]} for turn in WINDOW]
    talk = {"mode": "conversation", "grader": "judge", "turns": graded, "assertions": ["Whole", SHOW, JUDGED]}
    before = [{"role": "system", "content": "Sell."}, {"role": "user", "content": "Hi"}]
    demo = shop(app, {"id": "talk", **talk, "window_size": 1, "input": before, "criteria": "Sells well"})
    *_, third, whole = run_cases(demo, code=0)["talk"]["scores"]
    for criterion in third["assertions"]:
        told = seen(criterion)
        told = told.get("transcript", told)
        assert told["messages"] == [
            {"role": "system", "content": "Sell.", "turn": 0},
            {"role": "user", "content": "And more", "turn": 3},
            {"role": "assistant", "content": "With pleasure.", "turn": 3},
        ]
        assert told["turns"] == [{"turn": 3, "input": "And more", "output": "With pleasure."}]
        assert (told["tools"], told["output"]) == ([], "With pleasure.")
    for criterion in whole["assertions"]:
        told = seen(criterion)
        told = told.get("transcript", told)
        assert [message["turn"] for message in told["messages"]] == [0, 0, 1, 1, 2, 2, 3, 3]
        assert told["messages"][2:6] == TALK
        assert (told["tools"], len(told["turns"]), told["output"]) == (TOOLS, 3, "With pleasure.")


def test_a_case_of_one_call_shows_its_history(app: MakeApplication) -> None:
    called = {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": {"item": "jam"}}}
    history = [
        {"role": "user", "content": "Jam?"},
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "1", "content": "none"},
        {"role": "assistant", "content": "No."},
        {"role": "user", "content": "Some stock?"},
    ]
    demo = shop(
        app,
        {"id": "history", "messages": history, "assert": [JUDGED, SHOW]},
        {"id": "single", "input": "Some stock?", "assert": [JUDGED, SHOW]},
    )
    found = run_cases(demo, code=0)
    for assertion in found["history"]["assertions"]:
        told = seen(assertion)
        told = told.get("transcript", told)
        assert told["messages"] == [
            {"role": "user", "content": "Jam?", "turn": 0},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"name": "look_up", "arguments": {"item": "jam"}}],
                "turn": 0,
            },
            {"role": "tool", "content": "none", "tool_call_id": "1", "turn": 0},
            {"role": "assistant", "content": "No.", "turn": 0},
            *TALK[:2],
        ]
        assert (told["turns"], told["tools"]) == (TURNS[:1], TOOLS)
    for assertion in found["single"]["assertions"]:
        told = seen(assertion)
        assert told["input"] == "Some stock?"
        assert told.get("transcript", told)["messages"] == TALK[:2]


def test_a_judge_of_the_whole_talk_finds_what_the_last_answer_does_not_show(app: MakeApplication) -> None:
    polite = {"type": "script", "use": "scripts:shows.Polite"}
    said = [{"input": "Be rude"}, {"input": "Thanks"}]
    talk = {"mode": "conversation", "turns": said, "grader": "judge"}
    ends = {"on_missing_input": "end", "turns": said}
    user = {"simulator": {"use": "scripts:user.Simulate"}, "input": "Be rude", "max_turns": 2}
    demo = shop(
        app,
        {"id": "final agent", **ends, "final_assertions": [POLITE]},
        {"id": "final script", **ends, "final_assertions": [polite]},
        {"id": "whole rubric", **talk, "assertions": ["Is polite all the time"]},
        {"id": "whole agent", **talk, "assertions": [POLITE]},
        {"id": "whole script", **talk, "assertions": [polite]},
        {"id": "criteria", **talk, "criteria": "Is polite all the time"},
        {"id": "turn", "turns": [said[0], {**said[1], "assertions": [POLITE]}], "on_missing_input": "end"},
        {"id": "checkpoint", **user, "checkpoints": [{"id": "polite", "assert": POLITE}]},
        {"id": "polite", "turns": [said[1]], "on_missing_input": "end", "final_assertions": [POLITE, polite]},
    )
    demo.write({"user.ts": 'export function Simulate() { return { input: "Thanks" }; }'})
    found = run_cases(demo, code=1)
    assert {id for id, record in found.items() if record["status"] == "passed"} == {"polite"}
    assert "turn 1: Get lost." in found["final script"]["error"]


@pytest.mark.parametrize("key", ["messages", "turns", "tools", "input"])
def test_what_a_case_tells_its_judge_wins(app: MakeApplication, key: str) -> None:
    told = {**JUDGED, "options": {"metadata": {key: ["mine"] if key != "messages" else []}}}
    demo = shop(app, {"id": "own", "input": "Hello", "assert": [told]})
    (assertion,) = run_cases(demo, code=0)["own"]["assertions"]
    assert seen(assertion)[key] == told["options"]["metadata"][key]  # type: ignore[index]


def test_judges_are_not_sent_the_content_of_files(app: MakeApplication) -> None:
    image = {"type": "image", "source": "file://photo.png"}
    parts = [{"type": "text", "text": "Look"}, image]
    demo = shop(
        app,
        {"id": "one", "input": {"role": "user", "content": parts}, "assert": [SHOW]},
        {"id": "two", "turns": [{"input": parts}], "on_missing_input": "end", "final_assertions": [SHOW, JUDGED]},
    )
    demo.write({"/assistants/demo/tests/photo.png": b"\x89PNG\r\n\x1a\n" + b"x" * 3000})
    found = run_cases(demo, code=0)
    for assertion in [*found["one"]["assertions"], *found["two"]["final_assertions"]]:
        told = seen(assertion)
        told = told.get("transcript", told)
        content = told["messages"][0]["content"]
        assert content[0] == {"type": "text", "text": "Look"} and list(content[1]) == ["type"]
        assert told["turns"][0]["input"] == content and "base64" not in json.dumps(told)


def test_a_turn_in_which_the_agent_failed_is_a_turn_without_an_answer(app: MakeApplication) -> None:
    broken = {"input": "broken"}
    graded = {"input": "Something else", "assertions": [SHOW, JUDGED]}
    talk = {"mode": "conversation", "grader": "judge", "assertions": [SHOW, JUDGED]}
    windowed = {"id": "windowed", **talk, "turns": [INPUTS[0], broken, graded], "window_size": 2}
    last = {"id": "last", **talk, "turns": [INPUTS[0], graded, broken]}
    demo = shop(app, {"id": "talk", **talk, "turns": [INPUTS[0], broken, graded]}, windowed, last)
    rules = "- when: { input: broken }\n  reply: { error: { status: 400, message: too long } }\n" + REPLIES
    demo.write({"/assistants/demo/replies.yml": rules})
    records = run_cases(demo, code=1)

    def told(id: str, name: str) -> list[Record]:
        (entry,) = (score for score in records[id]["scores"] if score["name"] == name)
        return [shown.get("transcript", shown) for shown in map(seen, entry["assertions"])]

    said = {"role": "user", "content": "broken"}
    failed = {"input": "broken", "output": None}
    other = [{**message, "turn": 3} for message in TALK[2:]]
    for shown in told("talk", "turn-3") + told("talk", "assertions"):
        assert shown["messages"] == [*TALK[:2], {**said, "turn": 2}, *other]
        assert shown["turns"] == [TURNS[0], {"turn": 2, **failed}, {**TURNS[1], "turn": 3}]
        assert shown["tools"] == TOOLS
    for shown in told("windowed", "turn-3"):
        assert shown["messages"] == [{**said, "turn": 2}, *other]
        assert shown["turns"] == [{"turn": 2, **failed}, {**TURNS[1], "turn": 3}]
    for shown in told("last", "assertions"):
        assert shown["messages"] == [*TALK, {**said, "turn": 3}]
        assert shown["turns"] == [*TURNS, {"turn": 3, **failed}]
