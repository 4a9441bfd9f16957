"""How an agent runs, seen through its cases: prompts, hooks, tools, and agents that call agents."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from agent_files import agent, errors, outputs, run_cases, server
from command import MakeApplication, Record
from model_server import ModelServer, says

# What reaches the model

PROMPTED = {
    **agent(
        package={"name": "Demo", "description": "Shows prompts"},
        prompts="""\
- role: system
  content: |-
    $CTX.ASSISTANT_ID is $CTX.ASSISTANT_NAME: $CTX.ASSISTANT_DESCRIPTION
    $CTX.USER_ID of {{ $CTX.TEAM_ID }}, $CTX.LOCALE, plan $CTX.plan, $CTX.missing.
    $ENV.REGION $ENV.NOT_SET $SYS.UNKNOWN $5
- role: user
  content: An example
- role: assistant
  content: "@assets/answer.md"
""",
        cases=[{"id": "all", "input": "Hi", "metadata": {"plan": "pro"}}],
        replies="- reply: { json: '{{ messages }}' }",
    ),
    "/agent/prompts.yml": "- role: system\n  content: Welcome to $CTX.TEAM_ID.\n",
    "/assistants/demo/assets/answer.md": "Two\n  lines: yes\n",
    "/.env": "REGION=north\n",
}


def test_a_model_gets_global_prompts_own_prompts_and_the_message_in_this_order(app: MakeApplication) -> None:
    (output,) = outputs(app(PROMPTED)).values()

    assert output == json.dumps(
        [
            {"role": "system", "content": "Welcome to test-team."},
            {
                "role": "system",
                "content": "demo is Demo: Shows prompts\ntest-user of test-team, en-us, plan pro, .\n"
                "north  $SYS.UNKNOWN $5",
            },
            {"role": "user", "content": "An example"},
            {"role": "assistant", "content": "Two\n  lines: yes\n"},
            {"role": "user", "content": "Hi"},
        ],
        separators=(",", ":"),
    )


def test_the_time_in_prompts_is_now(app: MakeApplication) -> None:
    names = ["TIME", "DATE", "DATETIME", "WEEKDAY", "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"]
    prompt = "|".join(f"$SYS.{name}" for name in names)
    record = app(agent(prompts=f"- content: {prompt}", cases=[{"id": "now", "input": "Hi"}])).report(
        "-i", "assistants/demo/tests/cases.jsonl", code=0
    )

    said = json.loads(record["results"][0]["output"])["system"]
    time, date, both, weekday, *parts = said.split("|")
    assert both == f"{date} {time}"
    assert parts == [*date.split("-"), *time.split(":")]
    assert weekday in {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
    assert record["metadata"]["started_at"][:2] == date[:2]


def test_name_and_description_are_in_the_language_of_the_locale(app: MakeApplication) -> None:
    locales = ("en-us", "de-at", "fr-fr")
    cases = [{"id": locale, "input": "x", "metadata": {"locale": locale}} for locale in locales]
    application = app(
        {
            **agent(
                package={"name": "{{ name }}", "description": "{{texts.about}} {{ texts.none }}"},
                prompts="- content: '$CTX.ASSISTANT_NAME: $CTX.ASSISTANT_DESCRIPTION'",
                hooks="function Create(ctx) { return { locale: ctx.metadata.locale }; }",
                replies="- reply: '{{ system }}'",
                cases=cases,
            ),
            "/assistants/demo/locales/en.yml": "name: Desk\ntexts: { about: Opens tickets }\n",
            "/assistants/demo/locales/de.yml": "name: Schalter\ntexts: { about: Öffnet Vorgänge }\n",
            "/assistants/demo/locales/de-AT.yml": "name: Pult\n",
            "/agent/locales/fr.yml": "name: Guichet\n",
        }
    )

    assert outputs(application) == {
        "en-us": "Desk: Opens tickets {{ texts.none }}",
        "de-at": "Pult: Öffnet Vorgänge {{ texts.none }}",
        "fr-fr": "Guichet: {{texts.about}} {{ texts.none }}",
    }


OWN = "global for test-user\nown: en-us// plan="
CREATED: dict[str, tuple[Any, Record]] = {
    "null": (None, {}),
    "an empty object": ({}, {}),
    "messages": ({"messages": [{"role": "user", "content": "A"}, {"role": "user", "content": "B"}]}, {"said": "B"}),
    "an empty list of messages": ({"messages": []}, {}),
    "locale, theme and route": (
        {"locale": "de-de", "theme": "dark", "route": "/inbox"},
        {"system": "global for test-user\nown: de-de/dark//inbox plan="},
    ),
    "metadata": ({"metadata": {"plan": "pro"}}, {"system": "global for test-user\nown: en-us// plan=pro"}),
    "a preset": ({"prompt_preset": "task"}, {"system": "global for test-user\nthe task en-us"}),
    "a preset in a folder": ({"prompt_preset": "chat.friendly"}, {"system": "global for test-user\nfriendly"}),
    "a preset named prompts": ({"prompt_preset": "chat.prompts"}, {"system": "global for test-user\nchat"}),
    "a preset named by its folder": ({"prompt_preset": "chat"}, {"system": "global for test-user\nchat"}),
    "an unknown preset": ({"prompt_preset": "tsak"}, {}),
    "a preset outside": ({"prompt_preset": "..demo.prompts"}, {}),
    "no global prompts": ({"disable_global_prompts": True}, {"system": "own: en-us// plan="}),
    "a preset in the metadata": ({"metadata": {"__prompt_preset": "task"}}, {"system": f"{OWN[:20]}\nthe task en-us"}),
    "no global prompts by metadata": (
        {"metadata": {"__disable_global_prompts": True}},
        {"system": "own: en-us// plan="},
    ),
    "other servers": ({"mcp_servers": [{"server_id": "shop"}]}, {"tools": ["buy", "sell"]}),
    "some tools of other servers": ({"mcp_servers": [{"server_id": "shop", "tools": ["sell"]}]}, {"tools": ["sell"]}),
    "no servers": ({"mcp_servers": []}, {}),
}
"""What Create returns → what the model sees otherwise than without it."""


def test_create_changes_what_reaches_the_model(app: MakeApplication) -> None:
    cases = [{"id": id, "input": "Hi", "metadata": {"create": value}} for id, (value, _) in CREATED.items()]
    application = app(
        {
            **agent(
                package={"mcp": {"servers": ["desk"]}},
                prompts="- content: own: $CTX.LOCALE/$CTX.THEME/$CTX.ROUTE plan=$CTX.plan".replace("own:", '"own:')
                + '"',
                hooks="function Create(ctx, messages) { return ctx.metadata.create; }",
                cases=cases,
            ),
            "/agent/prompts.yml": "- content: global for $CTX.USER_ID",
            "/assistants/demo/prompts/task.yml": "- content: the task $CTX.LOCALE",
            "/assistants/demo/prompts/chat/friendly.yml": "- content: friendly",
            "/assistants/demo/prompts/chat/prompts.yaml": "- content: chat",
            "/scripts/tools.ts": "function Any() { return 1; }",
            **server("desk", {"call": "scripts.tools.Any"}),
            **server("shop", {"buy": "scripts.tools.Any", "sell": "scripts.tools.Any"}),
        }
    )

    records = run_cases(application, code=0)

    seen = {id: json.loads(record["output"]) for id, record in records.items()}
    assert seen == {
        id: {"system": OWN, "said": "Hi", "tools": ["call"], **difference} for id, (_, difference) in CREATED.items()
    }
    assert records["an unknown preset"]["logs"] == [
        "[warn] demo has no prompt preset tsak; the default prompts are used"
    ]


def connector(server: ModelServer, model: str, **more: Any) -> str:
    """The file of a connector to a server of the test."""
    return json.dumps({"type": "openai", "options": {"host": server.url, "model": model, "key": "$ENV.KEY", **more}})


def test_parameters_and_the_connector_come_from_package_create_case_and_flag(app: MakeApplication) -> None:
    hooks = "function Create(ctx) { return ctx.metadata.create; }"
    cases = [
        {"id": "package", "input": "Hi"},
        {"id": "create", "input": "Hi", "metadata": {"create": {"temperature": 0, "connector": "second"}}},
        {
            "id": "case",
            "input": "Hi",
            "metadata": {"create": {"max_tokens": 9, "connector": "second"}},
            "options": {"connector": "third"},
        },
    ]
    package = {"connector": "first", "options": {"temperature": 0.5, "max_tokens": 5, "seed": 3}}
    with ModelServer() as models:
        application = app(
            {
                **agent(package=package, hooks=hooks, cases=cases),
                **{
                    f"/connectors/{id}.conn.yao": connector(models, f"gpt-4o-{id}")
                    for id in ("first", "second", "third")
                },
                "/.env": "KEY=secret-of-the-test\n",
            }
        )
        records = run_cases(application, code=0)
        flagged = run_cases(application, "-c", "first", code=0)

    assert {id: record["connector"] for id, record in records.items()} == {
        "package": "first",
        "create": "second",
        "case": "third",
    }
    assert {record["connector"] for record in flagged.values()} == {"first"}
    assert records["package"]["output"] == "echo: Hi"
    sent = [
        {key: request.body.get(key) for key in ("model", "temperature", "max_completion_tokens", "seed")}
        for request in models.requests[:3]
    ]
    assert sent == [
        {"model": "gpt-4o-first", "temperature": 0.5, "max_completion_tokens": 5, "seed": 3},
        {"model": "gpt-4o-second", "temperature": 0, "max_completion_tokens": 5, "seed": 3},
        {"model": "gpt-4o-third", "temperature": 0.5, "max_completion_tokens": 9, "seed": 3},
    ]
    assert models.requests[0].headers["authorization"] == "Bearer secret-of-the-test"


def test_an_agent_with_neither_prompts_nor_servers_asks_no_model(app: MakeApplication) -> None:
    hooks = """\
function Next(ctx, payload) { return { data: { completion: payload.completion, tools: payload.tools } }; }
"""
    application = app(
        {
            **agent(
                package={"connector": "nowhere"},
                prompts=None,
                replies=None,
                hooks=hooks,
                cases=[{"id": "a", "input": "Hi"}],
            ),
            **agent(
                "silent",
                package={"connector": "nowhere"},
                prompts=None,
                replies=None,
                cases=[{"id": "b", "input": "Hi"}],
            ),
        }
    )

    records = run_cases(application, "-i", "assistants", code=0)

    assert records["a"]["output"] == {"completion": None, "tools": []}
    assert records["b"]["output"] is None
    assert [record.get("model_calls") for record in records.values()] == [None, None]


# Hooks

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
    "empty text": ("{ data: '' }", "from the model"),
    "an empty object as data": ("{ data: {} }", "from the model"),
    "an empty list as data": ("{ data: [] }", "from the model"),
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


# Faults of hooks

HOOK_FAULTS: dict[str, tuple[str, str, str | None]] = {
    "throws": (
        'import { fail } from "./helper";\n\nfunction Create(ctx) {\n  fail();\n}\n',
        "agent error: Create of throws: not this",
        "helper.ts:2:13",
    ),
    "mistyped": (
        "function Next(ctx) {\n  return { data: undefinedName };\n}\n",
        "agent error: Next of mistyped: ReferenceError: undefinedName is not defined",
        "index.ts:2:18",
    ),
    "rejects": (
        'async function Create(ctx) {\n  throw new Exception("no rights", 403);\n}\n',
        "agent error: Create of rejects: no rights",
        "index.ts:2:13",
    ),
    "broken": (
        "function Create(ctx) {\n  return {;\n}\n",
        'agent error: the script of broken cannot be loaded: Expected identifier but found ";"',
        "index.ts:2:11",
    ),
    "textual": (
        "function Create() { return 'x'; }",
        'agent error: Create of textual must return an object or null, not "x"',
        None,
    ),
    "listing": (
        "function Next() { return [1]; }",
        "agent error: Next of listing must return an object or null, not [1]",
        None,
    ),
    "circular": (
        "function Create() { const a = {}; a.a = a; return a; }",
        "agent error: Create of circular: what it returned is not JSON: circular reference",
        None,
    ),
    "lost": (
        "function Next() { return { delegate: { messages: [] } }; }",
        "agent error: Next of lost delegates without an agent_id",
        None,
    ),
    "wordy": (
        "function Create() { return { messages: 5 }; }",
        "agent error: Create of wordy must return messages as a list of {role, content}, not 5",
        None,
    ),
    "nested": (
        "function Create() { return { messages: [5] }; }",
        "agent error: Create of nested must return messages as a list of {role, content}, not [5]",
        None,
    ),
    "numeric": (
        "function Create() { return { connector: 5 }; }",
        "agent error: Create of numeric must return connector as a text, not 5",
        None,
    ),
    "unserved": (
        'function Create() { return { mcp_servers: "desk" }; }',
        'agent error: Create of unserved must return mcp_servers as a list, not "desk"',
        None,
    ),
    "mute": (
        "function Next() { return { delegate: { agent_id: 'demo', messages: [null] } }; }",
        "agent error: Next of mute must delegate messages as a list of {role, content}, not [null]",
        None,
    ),
    "astray": (
        "function Create() { return { delegate: { agent_id: 'demmo' } }; }",
        "agent error: Create of astray delegates to demmo: ",
        None,
    ),
}


@pytest.fixture(scope="module")
def faults(shared_app: MakeApplication) -> dict[str, Record]:
    """The results of one case of each agent of HOOK_FAULTS."""
    files = agent(cases=[{"id": "demo", "input": "Hi"}])
    for id, (hooks, _, _) in HOOK_FAULTS.items():
        files |= agent(id, hooks=hooks, cases=[{"id": id, "input": "Hi"}])
    files["/assistants/throws/src/helper.ts"] = 'export function fail(): never {\n  throw new Error("not this");\n}\n'
    return run_cases(shared_app(files), "-i", "assistants", code=1)


@pytest.mark.parametrize("id", HOOK_FAULTS)
def test_a_fault_of_a_hook_fails_the_case_with_its_place(faults: dict[str, Record], id: str) -> None:
    _, error, place = HOOK_FAULTS[id]
    record = faults[id]

    cause = "infrastructure" if id == "broken" else "error"
    assert (record["status"], record["cause"]) == ("failed", cause)
    assert record["error"].startswith(error)
    assert record.get("location") == (place and f"assistants/{id}/src/{place}")


def test_other_cases_do_not_suffer_from_a_fault_of_a_hook(faults: dict[str, Record]) -> None:
    assert faults["demo"]["status"] == "passed"
    assert faults["throws"]["stack_trace"].split("\n") == [
        "at fail (assistants/throws/src/helper.ts:2:13)",
        "at Create (assistants/throws/src/index.ts:4:3)",
    ]
    assert faults["astray"]["error"].endswith('Did you mean "demo"?')


def test_a_hook_that_never_ends_is_given_up_and_the_other_cases_go_on(app: MakeApplication) -> None:
    hooks = """\
function Create(ctx, messages) { if (messages[0].content === "loop") while (true); }
function Next(ctx, payload) { if (payload.messages[0].content === "wait") return new Promise((done) => setTimeout(done, 3.6e6)); }
"""
    cases = [
        {"id": "loop", "input": "loop", "timeout": "300ms"},
        {"id": "wait", "input": "wait", "timeout": "1s"},
        *[{"id": f"fine-{number}", "input": "Hi"} for number in range(3)],
    ]
    application = app(agent(prompts=None, hooks=hooks, cases=cases))

    records = run_cases(application, "--parallel", "2", code=1)

    assert {id: (record["error"], record.get("cause")) for id, record in records.items()} == {
        "loop": ("timeout after 300ms", "timeout"),
        "wait": ("timeout after 1s", "timeout"),
        **{f"fine-{number}": (None, None) for number in range(3)},
    }


HANGS = """\
import { spin, never } from "./helper";
export async function Create(ctx, messages) {
  const { content } = messages[0];
  if (content === "loop") for (;;) {}
  if (content === "helper") spin();
  if (content === "awaits") await never();
  if (content === "regexp") /^(a+)+$/.test("a".repeat(40) + "b");
  if (content === "script") Process("scripts.demo.helper.spin");
  if (content === "delegate") return { delegate: { agent_id: "demo", messages: [{ role: "user", content: "loop" }] } };
}
export function Next(ctx, payload) {
  if (payload.messages[0].content === "next") while (true) {}
  return { data: "fine" };
}
"""
HANG_HELPER = """\
export function spin() {
  while (true) {}
}
export async function never() {
  await new Promise((done) => setTimeout(done, 60000));
}
"""
HANG_PLACES = {
    "loop": ["index.ts:4"],
    "helper": ["helper.ts:2", "index.ts:5"],
    "awaits": ["helper.ts:5", "index.ts:6"],
    "regexp": ["index.ts:7"],
    "script": ["helper.ts:2", "index.ts:8"],
    "delegate": ["index.ts:4"],
    "next": ["index.ts:12"],
    "before": ["env_test.ts:1"],
}


def test_time_that_runs_out_in_a_hook_names_the_statement_that_hung(app: MakeApplication) -> None:
    cases = [{"id": id, "input": id, "timeout": "500ms"} for id in HANG_PLACES] + [{"id": "fine", "input": "Hi"}]
    cases[-2]["before"] = "env_test.Before"
    files = {"helper.ts": HANG_HELPER, "env_test.ts": "export function Before() { while (true) {} }"}
    application = app({**agent(prompts=None, hooks=HANGS, cases=cases), **files})

    records = run_cases(application, "--parallel", "4", code=1)

    assert records.pop("fine")["status"] == "passed"
    stacks = {id: record.get("stack_trace", "") for id, record in records.items()}
    found = {id: re.findall(r"/src/(\S+):\d+\)", stack) for id, stack in stacks.items()}
    assert found == HANG_PLACES
    assert {record["error"] for record in records.values()} == {"timeout after 500ms"}


def test_a_promise_of_a_hook_that_nothing_can_settle_fails_at_once(app: MakeApplication) -> None:
    hooks = "function Create() { return new Promise(() => {}); }"

    error = errors(app(agent(hooks=hooks, cases=[{"id": "a", "input": "Hi"}])))["a"]

    assert error is not None and error.startswith("agent error: Create of demo: deadlock")


# Tools

TOOLS = """\
function Add(args) { return { total: args.items.length }; }
function Fail(args) { throw new Exception("out of " + args.item, 409); }
function Nested(args, ctx) { return Process("agents.helper.Call", "count " + args.n).content; }
"""
SHOP = {
    **server(
        "shop",
        {
            "add": "scripts.shop.Add",
            "fail": "scripts.shop.Fail",
            "lost": "scripts.shop.Lost",
            "ask": "scripts.shop.Nested",
        },
    ),
    "/scripts/shop.ts": TOOLS,
    "/mcps/mapping/shop/schemes/add.in.yao": json.dumps(
        {"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]}
    ),
    **agent("helper", replies="- reply: '{{ agent }}: {{ input }}'"),
}
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
    "no object": 'add said Error: Cannot read the arguments of tool "shop__add": they are not an object in call 2',
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


def test_a_tool_loop_without_end_fails_at_its_limit(app: MakeApplication) -> None:
    replies = "- reply: { tool_calls: [{ name: add, arguments: { items: [] } }] }"
    package = {"mcp": {"servers": ["shop"], "options": {"max_turn": 3}}}
    application = app({**agent(package=package, replies=replies, cases=[{"id": "a", "input": "Hi"}]), **SHOP})

    (record,) = run_cases(application, code=1).values()

    assert record["error"] == (
        "agent error: the tool loop of demo did not end: the model still calls tools after 3 model calls. "
        "mcp.options.max_turn in package.yao is the limit"
    )
    assert (record["model_calls"], len(record["tools"])) == (3, 3)


# Agents that call agents


def test_agents_delegate_along_a_chain(app: MakeApplication) -> None:
    files: dict[str, str] = {}
    for number in range(5):
        hooks = f"function {'Next' if number % 2 else 'Create'}(ctx) {{ return {{ delegate: {{ agent_id: 'a{number + 1}' }} }}; }}"
        files |= agent(f"a{number}", replies="- reply: not the last", hooks=hooks)
    files |= agent("a5", replies="- reply: '{{ agent }} heard {{ input }}'")
    files["/assistants/a0/tests/cases.jsonl"] = '{"id": "a", "input": "Hi"}'

    (record,) = run_cases(app(files), "-i", "assistants/a0", code=0).values()

    assert (record["output"], record["model_calls"]) == ("a5 heard Hi", 3)


def test_agents_that_wait_for_each_other_without_end_are_stopped(app: MakeApplication) -> None:
    files = {
        **agent(
            hooks="function Create() { return { delegate: { agent_id: 'demo' } }; }", cases=[{"id": "a", "input": "Hi"}]
        ),
        **agent(
            "caller",
            prompts=None,
            hooks="""\
function Create(ctx, messages) {
  const { error } = ctx.agent.Call("caller", messages);
  if (error) throw new Error(error);
}
""",
            cases=[{"id": "b", "input": "Hi"}],
        ),
    }

    found = errors(app(files), "-i", "assistants")

    assert found["a"] == "agent error: 10 agents wait for each other, and demo would be one more"
    assert found["b"] is not None and found["b"].endswith("10 agents wait for each other, and caller would be one more")


CALLS = """\
function Create(ctx, messages) {
  const heard = [];
  const user = (content) => [{ role: "user", content }];
  const one = ctx.agent.Call("other", user("one"), { metadata: { extra: 1 }, onChunk: (m) => { heard.push(m.props.content); } });
  const all = ctx.agent.All([{ agent: "other", messages: user("two") }, { agent: "missing", messages: user("three") }]);
  const llm = ctx.llm.Stream("scripted", user("four"), { temperature: 0 });
  const bad = ctx.llm.Stream("nowhere", user("five"));
  const tools = ctx.mcp.ListTools("shop").tools.map((tool) => tool.name);
  const added = ctx.mcp.CallTool("shop", "add", { items: [1, 2] });
  const failed = ctx.mcp.CallTool("shop", "fail", { item: "tea" });
  const many = ctx.mcp.All([{ mcp: "shop", tool: "add", arguments: { items: [] } }, { mcp: "nowhere", tool: "add" }]);
  const process = Process("agent.Call", { assistant_id: "other", messages: user("six") }).content;
  const chat = Process("llm.ChatCompletions", "scripted", user("seven")).choices[0].message.content;
  ctx.memory.context.Set("found", {
    heard: heard.join(""), one: one.content, id: one.agent_id, answered: one.response.completion.content, by: one.response.assistant_id,
    all: all.map(({ agent_id, content, error }) => [agent_id, content ?? null, error ?? null]),
    llm: llm.content, bad: bad.error, tools, added, failed, many, process, chat,
  });
}
function Next(ctx) { return { data: ctx.memory.context.Get("found") }; }
"""


def test_hooks_call_agents_models_and_servers(app: MakeApplication) -> None:
    application = app(
        {
            **agent(
                prompts=None,
                hooks=CALLS,
                replies="- reply: 'a model heard {{ input }}'",
                cases=[{"id": "a", "input": "Hi"}],
            ),
            **agent("other", replies="- reply: '{{ agent }} heard {{ input }}, {{ metadata | json }}'"),
            **SHOP,
        }
    )

    (record,) = run_cases(application, code=0).values()

    found = record["output"]
    (missing,) = [error for _, _, error in found["all"] if error]
    assert missing.startswith('Cannot find agent "missing": there is no ')
    assert found.pop("bad").startswith('Cannot find connector "nowhere"')
    unknown = found["many"][1].pop("error")
    assert "nowhere" in unknown
    assert found == {
        "heard": 'other heard one, {"extra":1}',
        "one": 'other heard one, {"extra":1}',
        "id": "other",
        "answered": 'other heard one, {"extra":1}',
        "by": "other",
        "all": [["other", "other heard two, {}", None], ["missing", None, missing]],
        "llm": "a model heard four",
        "tools": ["add", "fail", "lost", "ask"],
        "added": {"total": 2},
        "failed": "Error executing tool fail: out of tea",
        "many": [{"mcp": "shop", "tool": "add", "result": {"total": 0}}, {"mcp": "nowhere", "tool": "add"}],
        "process": "other heard six, {}",
        "chat": "a model heard seven",
    }
    assert record["model_calls"] == 5


def test_many_cases_whose_hooks_wait_for_hooks_of_other_agents_all_end(app: MakeApplication) -> None:
    calling = """\
function Create(ctx, messages) {{
  const {{ content }} = ctx.agent.Call("{0}", messages);
  ctx.memory.context.Set("{0}", content);
}}
function Next(ctx, payload) {{ return {{ data: "{0}(" + ctx.memory.context.Get("{0}") + ")" }}; }}
"""
    files = {
        **agent(
            prompts=None, hooks=calling.format("b"), cases=[{"id": str(n), "input": f"case {n}"} for n in range(24)]
        ),
        **agent("b", prompts=None, hooks=calling.format("c")),
        **agent(
            "c",
            replies="- reply: { text: '{{ input }}', delay: 20ms }",
            hooks="function Next(ctx, p) { return { data: p.completion.content }; }",
        ),
    }

    found = outputs(app(files), "--parallel", "24")

    assert found == {str(number): f"b(c(case {number}))" for number in range(24)}


# Agents in script tests

SCRIPT = """\
function TestStream(t: testing.T, ctx: agent.Context) {
  const messages = [
    { role: "user", content: "I want to submit an expense" },
    { role: "assistant", content: "What type of expense?" },
    { role: "user", content: "Travel, $500" },
  ];
  const response = Process("agents.demo.Stream", ctx, messages);
  t.assert.Equal(response.content, "test-user, please confirm: Travel, $500");
  t.assert.Equal(response.agent_id, "demo");
  t.assert.Agent(response.content, "workers.test.validator", {
    metadata: { criteria: 'Asks: mentions "confirm"', conversation: messages },
  });
}
function TestCall(t, ctx) {
  t.assert.Equal(Process("agents.demo.Call", "a text").content, "test-user, please confirm: a text");
  t.assert.Equal(ctx.agent.Call("demo", [{ role: "user", content: "B" }]).content, "test-user, please confirm: B");
}
function TestUserOfTheContext(t, ctx) {
  ctx.authorized.user_id = "olga";
  t.assert.Contains(Process("agents.demo.Stream", ctx, "C").content, "olga");
}
function TestUnhappyValidator(t, ctx) {
  t.assert.Agent("Go away", "workers.test.validator", { criteria: 'Mentions "welcome"' });
}
function TestProseValidator(t, ctx) { t.assert.Agent("x", "prose", { criteria: "Is fine" }); }
function TestUnknownAgent(t, ctx) { Process("agents.dmeo.Stream", ctx, "x"); }
"""


def test_script_tests_call_agents_and_have_answers_judged(app: MakeApplication) -> None:
    files = {
        **agent(replies="- reply: '{{ system }}, please confirm: {{ input }}'", prompts="- content: $CTX.USER_ID"),
        **agent("prose", replies="- reply: Looks good to me."),
        "calls_test.ts": SCRIPT,
    }

    found = app(files).results("-i", "scripts.demo.calls", "-c", "scripted")

    assert {name: record["status"] for name, record in found.items()} == {
        "TestStream": "passed",
        "TestCall": "passed",
        "TestUserOfTheContext": "passed",
        "TestUnhappyValidator": "failed",
        "TestProseValidator": "failed",
        "TestUnknownAgent": "failed",
    }
    assert found["TestUnhappyValidator"]["assertion"]["type"] == "Agent"
    assert 'The answer does not contain "welcome"' in found["TestUnhappyValidator"]["error"]
    assert 'validator prose did not answer with a verdict: "Looks good to me."' in found["TestProseValidator"]["error"]
    assert 'Did you mean "demo"?' in found["TestUnknownAgent"]["error"]
