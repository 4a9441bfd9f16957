"""Tools of agents, seen through cases."""

from __future__ import annotations

from typing import Any

import pytest
from agent_files import agent, errors, outputs, run_cases, server
from command import MakeApplication
from model_server import ModelServer, says
from sample_agents import SHOP, connector

LOOPED = """\
- when: { tool: true, call: 2, input: twice }
  reply: { tool_calls: [{ name: add, arguments: { items: [a, b] } }] }
- when: { tool: true }
  reply: "{{ tool.name }} said {{ tool.result }} in call {{ call }}"
- when: { input: [add, twice] }
  reply: { tool_calls: [{ name: add, arguments: { items: [a] } }] }
- when: { input: broken arguments }
  reply: { tool_calls: [{ name: add, arguments: '{"items": ["a",' }] }
- when: { input: no object }
  reply: { tool_calls: [{ name: add, arguments: '[1]' }] }
- when: { input: wrong arguments }
  reply: { tool_calls: [{ name: add, arguments: { item: 1 } }] }
- when: { input: both }
  reply: { tool_calls: [{ name: add, arguments: { items: [] } }, { name: fail, arguments: { item: tea } }] }
- when: { input: fail }
  reply: { tool_calls: [{ name: fail, arguments: { item: tea } }] }
- when: { input: lost }
  reply: { tool_calls: [lost] }
- when: { input: ask }
  reply: { tool_calls: [{ name: ask, arguments: { n: 3 } }] }
"""
LOOP_OUTPUTS = {
    "add": 'add said {"total":1} in call 2',
    "twice": 'add said {"total":2} in call 3',
    "broken arguments": 'add said {"total":1} in call 2',
    "no object": 'add said Error: Cannot read the arguments of tool "shop__add": not an object in call 2',
    "both": "fail said Error: out of tea in call 2",
    "fail": "fail said Error: out of tea in call 2",
    "ask": "ask said helper: count 3 in call 2",
}


def test_without_a_hook_script_tools_are_called_until_the_model_answers_in_text(app: MakeApplication) -> None:
    cases = [{"id": input, "input": input} for input in [*LOOP_OUTPUTS, "wrong arguments", "lost"]]
    application = app({**agent(package={"mcp": {"servers": ["shop"]}}, replies=LOOPED, cases=cases), **SHOP})

    records = run_cases(application, code=0)

    found = {id: record["output"] for id, record in records.items()}
    assert "items" in found.pop("wrong arguments")
    assert "no function Lost" in found.pop("lost")
    assert found == LOOP_OUTPUTS
    assert [use["result"] for use in records["twice"]["tools"]] == [{"total": 1}, {"total": 2}]
    assert [(use["name"], use["error"]) for use in records["both"]["tools"]] == [("add", None), ("fail", "out of tea")]
    assert records["ask"]["model_calls"] == 3


CREATES = "function Create() { return null; }"
ENDING = """\
- when: { tool.result: { contains: Error }, input: mend }
  reply: { tool_calls: [{ name: add, arguments: { items: [a] } }] }
- when: { tool: true }
  reply: never said
- when: { input: mend }
  reply: { tool_calls: [{ name: fail, arguments: { item: tea } }] }
- when: { input: both }
  reply: { text: A moment., tool_calls: [{ name: add, arguments: { items: [] } }, { name: say }] }
- when: { input: say }
  reply: { tool_calls: [say] }
- when: { input: nothing }
  reply: Nothing to do.
- reply: { tool_calls: [{ name: add, arguments: { items: [a] } }] }
"""
ENDED: dict[str, tuple[str, str, str, int]] = {
    "a tool": (CREATES, "add", "[add]", 1),
    "what the tool says": (CREATES, "say", "Done.", 1),
    "what the model said with it": (CREATES, "both", "A moment.", 1),
    "no tool": (CREATES, "nothing", "Nothing to do.", 1),
    "a call that is corrected": (CREATES, "mend", "[fail] [add]", 2),
    "servers of Create": ("function Create() { return { mcp_servers: [{ server_id: 'shop' }] }; }", "add", "[add]", 1),
    "an async Create": ("export const Create = async () => ({ temperature: 0 });", "add", "[add]", 1),
    "a script with no hook at all": ("function Helps() { return 1; }", "add", "[add]", 1),
}
"""Hooks, what is said, the output, and how often the model is asked."""


@pytest.mark.parametrize(("hooks", "input", "output", "calls"), ENDED.values(), ids=ENDED)
def test_a_hook_script_without_next_ends_the_answer_after_its_tools(
    app: MakeApplication, hooks: str, input: str, output: str, calls: int
) -> None:
    said = {"/scripts/said.ts": "function Say() { return { message: 'Done.' }; }"}
    tools = {"add": "scripts.shop.Add", "fail": "scripts.shop.Fail", "say": "scripts.said.Say"}
    package = {"mcp": {"servers": ["shop"]}}
    files = agent(package=package, replies=ENDING, hooks=hooks, cases=[{"id": "a", "input": input}])

    (record,) = run_cases(app({**SHOP, **server("shop", tools), **said, **files}), code=0).values()

    assert (record["output"], record["model_calls"]) == (output, calls)


def test_a_delegate_with_create_alone_ends_after_its_tools(app: MakeApplication) -> None:
    hands_on = "function Create() { return { delegate: { agent_id: 'other' } }; }"
    package = {"mcp": {"servers": ["shop"], "options": {"max_turn": 3}}}
    files = {
        **SHOP,
        **agent(hooks=hands_on, cases=[{"id": "a", "input": "add"}]),
        **agent("other", package=package, replies=ENDING, hooks=CREATES),
    }

    (record,) = run_cases(app(files), code=0).values()

    assert (record["output"], record["model_calls"]) == ("[add]", 1)


def test_with_a_next_hook_the_model_may_correct_a_failing_tool_and_is_not_asked_again_otherwise(
    app: MakeApplication,
) -> None:
    replies = """\
- when: { tool.result: { contains: Error }, input: mend }
  reply: { tool_calls: [{ name: add, arguments: { items: [a] } }] }
- when: { tool: true, input: give up }
  reply: Sorry.
- when: { input: fine }
  reply: { tool_calls: [{ name: add, arguments: { items: [] } }] }
- reply: { tool_calls: [{ name: fail, arguments: { item: tea } }] }
"""
    hooks = """\
function Next(ctx, { completion, tools }) {
  return { data: { text: completion.content, tools: tools.map(({ tool, result, error }) => [tool, result ?? error]) } };
}
"""
    cases = [{"id": input, "input": input} for input in ("fine", "mend", "give up", "stubborn")]
    application = app(
        {**agent(package={"mcp": {"servers": ["shop"]}}, replies=replies, hooks=hooks, cases=cases), **SHOP}
    )

    records = run_cases(application, code=0)

    failed = ["fail", "out of tea"]
    assert {id: (record["output"], record["model_calls"]) for id, record in records.items()} == {
        "fine": ({"text": "", "tools": [["add", {"total": 0}]]}, 1),
        "mend": ({"text": "", "tools": [failed, ["add", {"total": 1}]]}, 2),
        "give up": ({"text": "Sorry.", "tools": [failed]}, 2),
        "stubborn": ({"text": "", "tools": [failed] * 3}, 3),
    }


def test_what_tools_say_is_the_output_when_there_is_nothing_else(app: MakeApplication) -> None:
    tools = """\
function Message() { return { message: "Done.", action: "x" }; }
function Action() { return { action: "created" }; }
function Success() { return { success: false }; }
function Plain() { return [1]; }
"""
    names = ["message", "action", "success", "plain"]
    cases = [{"id": name, "input": name} for name in names] + [{"id": "all", "input": "action success plain"}]
    replies = "- when: { input: action success plain }\n  reply: { tool_calls: [action, success, plain] }\n" + "".join(
        f"- when: {{ input: {name} }}\n  reply: {{ tool_calls: [{name}] }}\n" for name in names
    )
    application = app(
        {
            **agent(
                package={"mcp": {"servers": ["say"], "options": {"tool_loop": False}}}, replies=replies, cases=cases
            ),
            **server("say", {name: f"scripts.say.{name.title()}" for name in names}),
            "/scripts/say.ts": tools,
        }
    )

    assert outputs(application) == {
        "message": "Done.",
        "action": "[action: created]",
        "success": "[success: failed]",
        "plain": "[plain]",
        "all": "[action: created] [success: failed] [plain]",
    }


def test_a_model_that_calls_an_unknown_tool_is_told_so(app: MakeApplication) -> None:
    call = ("c1", "shop__ad", "{}")
    with ModelServer() as models:
        models.plan(says(tool_calls=[call]), says("Sorry."), says(tool_calls=[call]), says("Sorry."))
        package = {"connector": "model", "mcp": {"servers": ["shop"]}}
        application = app(
            {
                **agent(package=package, cases=[{"id": "a", "input": "Hi"}]),
                **agent("bare", package={"connector": "model"}, cases=[{"id": "b", "input": "Hi"}]),
                **SHOP,
                "/connectors/model.conn.yao": connector(models, "gpt-4o", key="k"),
            }
        )
        records = run_cases(application, "-i", "assistants/demo", "-i", "assistants/bare", code=0)

    assert {id: record["output"] for id, record in records.items()} == {"a": "Sorry.", "b": "Sorry."}
    told = [request.body["messages"][-1]["content"] for request in models.requests if len(request.body["messages"]) > 2]
    assert told == [
        'Error: there is no tool "shop__ad". Did you mean "shop__add"?',
        'Error: unknown tool "shop__ad": the agent has none',
    ]


MARKED = {"$ctx": True}
JUDGE = """\
export function Same(output, input, expected) {
  return { pass: JSON.stringify(output) === JSON.stringify(expected), message: JSON.stringify(output) };
}
export function Keep(argument, ctx) { return { argument, user: ctx.User.ID }; }
"""


def test_no_answer_and_no_argument_of_a_tool_is_taken_for_the_context(app: MakeApplication) -> None:
    judged = {"type": "script", "script": "scripts.judge.Same"}
    replies = """\
- when: { input: tool, tool: false }
  reply: { tool_calls: [{ name: keep, arguments: { $ctx: true } }] }
- reply: done
"""
    hooks = "function Next() { return { data: { $ctx: true } }; }"
    kept = {"argument": MARKED, "user": "test-user"}
    cases = [
        {"id": "answer", "input": "answer", "assert": {**judged, "value": MARKED}},
        {"id": "tool", "input": "tool", "assert": {"type": "tool_result", "value": {"tool": "keep", "result": kept}}},
    ]
    package = {"mcp": {"servers": ["shop"]}}
    application = app(
        {
            **agent(package=package, replies=replies, hooks=hooks, cases=cases),
            **server("shop", {"keep": "scripts.judge.Keep"}),
            "/scripts/judge.ts": JUDGE,
        }
    )

    assert errors(application) == {"answer": None, "tool": None}


ENDLESS: dict[str, Any] = {
    "package": {"mcp": {"servers": ["shop"], "options": {"max_turn": 1}}},
    "replies": "- reply: { text: Adding, tool_calls: [{ name: add, arguments: { items: [2] } }] }",
}
FALLBACK = "/assistants/__yao/loop_fallback/"


def test_a_tool_loop_asks_the_model_once_and_then_up_to_its_limit(app: MakeApplication) -> None:
    replies = "- when: { call: 2 }\n  reply: Done\n" + ENDLESS["replies"]
    application = app(
        {**agent(package=ENDLESS["package"], replies=replies, cases=[{"id": "a", "input": "Hi"}]), **SHOP}
    )

    (record,) = run_cases(application).values()

    assert (record["output"], record["model_calls"], len(record["tools"])) == ("Done", 2, 1)


def test_past_its_limit_a_tool_loop_is_answered_by_the_fallback_agent(app: MakeApplication) -> None:
    case = {"id": "a", "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Add up"}]}
    fallback = {
        FALLBACK + "package.yao": "{}",
        FALLBACK + "src/index.ts": "function Next(ctx, { messages }) { return { data: [ctx.referer, messages] } }",
    }
    application = app({**agent(**ENDLESS, cases=[case]), **SHOP, **fallback})

    (record,) = run_cases(application).values()

    referer, (message,) = record["output"]
    assert (referer, record["model_calls"], len(record["tools"])) == ("agent", 2, 2)
    told = message["content"].split("\n\n")
    assert told[:4] == ["## Assistant Context", "Be brief.", "## Conversation", "**User**: Add up"]
    assert told[4:7] == ["## Tool Results", "### shop.add", '```json\n{\n  "total": 1\n}\n```']


@pytest.mark.parametrize(
    ("fallback", "warning"),
    [
        ({}, 'Cannot find agent "__yao.loop_fallback"'),
        ({FALLBACK + "package.yao": "{}", FALLBACK + "src/index.ts": "function Create() { throw Error('no') }"}, "no"),
    ],
    ids=["missing", "failing"],
)
def test_without_a_fallback_the_first_round_of_a_tool_loop_is_the_answer(
    app: MakeApplication, fallback: dict[str, str], warning: str
) -> None:
    application = app({**agent(**ENDLESS, cases=[{"id": "a", "input": "Hi"}]), **SHOP, **fallback})

    (record,) = run_cases(application).values()

    assert (record["status"], record["output"]) == ("passed", "Adding")
    (line,) = record["logs"]
    assert line.startswith("[warn] the model of demo still called tools after 2 model calls (mcp.options.max_turn: 1)")
    assert warning in line
