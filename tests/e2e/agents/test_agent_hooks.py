"""Hooks of agents, seen through cases."""

from __future__ import annotations

import json
from typing import Any

from agent_files import agent, outputs, run_cases, server
from command import MakeApplication

ORDER = """\
function Create(ctx, messages, options) {
  ctx.memory.context.Set("steps", ["create " + messages.length + " " + ctx.assistant_id + " " + options.mode]);
  console.log("created");
  return { metadata: { by: "create" }, messages: [{ role: "user", content: "go" }] };
}
function Next(ctx, payload, options) {
  const steps = ctx.memory.context.Get("steps");
  return { data: {
    steps: [...steps, "next " + options.mode],
    said: payload.messages.map((message) => message.content),
    content: payload.completion.content,
    tools: payload.tools,
    metadata: ctx.metadata,
  } };
}
"""


def test_create_the_model_its_tools_and_next_follow_each_other(app: MakeApplication) -> None:
    replies = """\
- when: { tool: false }
  reply: { text: One moment., tool_calls: [{ name: add, arguments: { item: tea } }] }
"""
    tool = """\
function Add(item, ctx) {
  ctx.memory.context.Set("steps", [...ctx.memory.context.Get("steps"), "tool " + item + " " + ctx.metadata.by]);
  return { total: 1 };
}
"""
    application = app(
        {
            **agent(
                package={"mcp": {"servers": ["desk"]}},
                replies=replies,
                hooks=ORDER,
                cases=[{"id": "a", "input": "Hi", "options": {"mode": "chat"}}],
            ),
            **server("desk", {"add": "scripts.tools.Add"}),
            "/mcps/mapping/desk/schemes/add.in.yao": json.dumps(
                {"type": "object", "properties": {"item": {"type": "string"}}, "x-process-args": ["$args.item"]}
            ),
            "/scripts/tools.ts": tool,
        }
    )

    (record,) = run_cases(application, code=0).values()

    tools = record["output"].pop("tools")
    assert record["output"] == {
        "steps": ["create 1 demo chat", "tool tea create", "next chat"],
        "said": ["Hi"],
        "content": "One moment.",
        "metadata": {"by": "create"},
    }
    assert [{**item, "toolcall_id": ""} for item in tools] == [
        {"toolcall_id": "", "server": "desk", "tool": "add", "arguments": '{"item":"tea"}', "result": {"total": 1}}
    ]
    assert record["tools"] == [
        {"name": "add", "server": "desk", "arguments": {"item": "tea"}, "result": {"total": 1}, "error": None}
    ]
    assert record["model_calls"] == 1, "with a Next hook the model is not asked again"
    assert record["logs"] == ["created"]


NEXT: dict[str, tuple[str, Any]] = {
    "data": ("{ data: { a: [1] } }", {"a": [1]}),
    "the number 0": ("{ data: 0 }", 0),
    "false": ("{ data: false }", False),
    "text": ("{ data: 'text' }", "text"),
    "empty text": ("{ data: '' }", ""),
    "an empty object as data": ("{ data: {} }", {}),
    "an empty list as data": ("{ data: [] }", []),
    "no data": ("{ data: null }", "from the model"),
    "metadata alone": ("{ metadata: { a: 1 } }", "from the model"),
    "an empty object": ("{}", "from the model"),
    "null": ("null", "from the model"),
    "undefined": ("undefined", "from the model"),
    "a promise": ("Promise.resolve({ data: 'later' })", "later"),
    "a date": ("{ data: new Date(0) }", "1970-01-01T00:00:00.000Z"),
    "a delegate": ("{ delegate: { agent_id: 'other', messages: [{ role: 'user', content: 'X' }] } }", "other heard X"),
    "a delegate without messages": ("{ delegate: { agent_id: 'other' } }", "other heard a delegate without messages"),
}


def test_next_decides_what_the_output_is(app: MakeApplication) -> None:
    returned = ",\n".join(f"  {json.dumps(name)}: () => ({value})" for name, (value, _) in NEXT.items())
    hooks = f"const returned = {{\n{returned}\n}};\nfunction Next(ctx, payload) {{ return returned[payload.messages[0].content](); }}\n"
    cases = [{"id": name, "input": name} for name in NEXT]
    application = app(
        {
            **agent(replies="- reply: from the model", hooks=hooks, cases=cases),
            **agent("other", replies='- reply: "other heard {{ input }}"'),
        }
    )

    assert outputs(application) == {name: output for name, (_, output) in NEXT.items()}


def test_a_delegate_of_create_answers_alone(app: MakeApplication) -> None:
    hooks = """\
function Create(ctx, messages) {
  ctx.memory.chat.Set("from", "demo");
  return { delegate: { agent_id: "workers.other", messages, options: { metadata: { level: 2 } } } };
}
function Next() { throw new Error("Next must not run"); }
"""
    other = """\
function Next(ctx, payload) {
  const { assistant_id, chat_id, referer, metadata } = ctx;
  return { data: { assistant_id, chat_id, referer, metadata, from: ctx.memory.chat.Get("from"), text: payload.completion.content } };
}
"""
    application = app(
        {
            **agent(replies="[]", hooks=hooks, cases=[{"id": "a", "input": "Hi", "metadata": {"m": 1}}]),
            **agent("workers.other", replies='- reply: "{{ agent }}: {{ input }}"', hooks=other),
        }
    )

    (record,) = run_cases(application, code=0).values()

    assert record["output"] == {
        "assistant_id": "workers.other",
        "chat_id": "agent-test-a",
        "referer": "agent",
        "metadata": {"m": 1, "level": 2},
        "from": "demo",
        "text": "workers.other: Hi",
    }
    assert record["model_calls"] == 1


def test_memory_and_stores_last_for_a_case_and_no_longer(app: MakeApplication) -> None:
    hooks = """\
function Create(ctx) {
  for (const name of ["user", "team", "chat", "context"]) ctx.memory[name].Incr("count");
  new Store("shared").Set("count", (new Store("shared").Get("count") ?? 0) + 1);
}
function Next(ctx) {
  const counts = ["user", "team", "chat", "context"].map((name) => ctx.memory[name].Get("count"));
  return { data: [...counts, new Store("shared").Get("count")] };
}
"""
    cases = [{"id": str(number), "input": "Hi"} for number in range(4)]

    found = outputs(app(agent(prompts=None, hooks=hooks, cases=cases)), "--parallel", "2")

    assert found == {str(number): [1, 1, 1, 1, 1] for number in range(4)}


def test_tools_that_run_side_by_side_lose_nothing_in_memory(app: MakeApplication) -> None:
    count = "function Count(args, ctx) { for (let i = 0; i < 25; i++) ctx.memory.chat.Incr('count'); }"
    replies = "- reply: { tool_calls: [count, count, count, count] }"
    hooks = "function Next(ctx) { return { data: ctx.memory.chat.Get('count') }; }"
    application = app(
        {
            **agent(
                package={"mcp": {"servers": ["s"]}}, replies=replies, hooks=hooks, cases=[{"id": "a", "input": "x"}]
            ),
            **server("s", {"count": "scripts.count.Count"}),
            "/scripts/count.ts": count,
        }
    )

    assert outputs(application) == {"a": 100}


def test_what_hooks_and_agents_send_is_in_the_result(app: MakeApplication) -> None:
    hooks = """\
function Create(ctx) {
  const id = ctx.Send({ type: "loading", props: { message: "Wait" } });
  ctx.Send("text");
}
function Next(ctx) { ctx.agent.Call("other", [{ role: "user", content: "Hi" }]); ctx.Send("done"); return { data: 1 }; }
"""
    other = 'function Create(ctx) { ctx.Send("from other"); }'
    application = app(
        {
            **agent(prompts=None, hooks=hooks, cases=[{"id": "a", "input": "Hi"}, {"id": "b", "input": "Hi"}]),
            **agent("other", prompts=None, hooks=other),
        }
    )

    records = run_cases(application, code=0)

    sent = [{key: value for key, value in item.items() if key != "message_id"} for item in records["a"]["sent"]]
    assert sent == [
        {"type": "loading", "props": {"message": "Wait"}},
        {"type": "text", "props": {"content": "text"}},
        {"type": "text", "props": {"content": "from other"}},
        {"type": "text", "props": {"content": "done"}},
    ]
    assert records["b"]["sent"] == records["a"]["sent"]
