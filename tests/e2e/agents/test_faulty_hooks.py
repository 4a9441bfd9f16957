"""Faults of hooks of agents: what throws, never ends or hangs, and what that costs the case."""

from __future__ import annotations

import re

import pytest
from agent_files import agent, errors, run_cases
from command import MakeApplication, Record
from table_tests import each

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
    "sending": (
        "function Create(ctx, messages) { ctx.Send({ type: 'text', props: { content: [5n] } }); return { messages }; }",
        "agent error: Create of sending: what it sent is not JSON: BigInt are forbidden in JSON.stringify",
        None,
    ),
    "lost": (
        "function Next() { return { delegate: { messages: [] } }; }",
        "agent error: Next of lost delegates without an agent_id",
        None,
    ),
    "optional": (
        "function Next() { return { delegate: { agent_id: 'lost', options: { metadata: [1] } } }; }",
        "agent error: lost was not called: metadata of its options must be an object, not [1]",
        None,
    ),
    "connecting": (
        "function Next() { return { delegate: { agent_id: 'lost', options: { connector: 5 } } }; }",
        "agent error: lost was not called: connector of its options must be a string, not 5",
        None,
    ),
    "toolless": (
        "function Create() { Process('llm.Stream', 'scripted', 'hi', { tools: ['x'] }); }",
        "agent error: Create of toolless: tools must be a list of objects, each with a name",
        "index.ts:1:21",
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
    "counting": (
        "function Create() { return { messages: [{ role: 'user', content: 5 }] }; }",
        'agent error: Create of counting must return messages as a list of {role, content}, not [{"role": "user", "content": 5}]',
        None,
    ),
    "piecemeal": (
        "function Create() { return { messages: [{ content: ['a', 5] }] }; }",
        'agent error: Create of piecemeal must return messages as a list of {role, content}, not [{"content": ["a", 5]}]',
        None,
    ),
    "fileless": (
        "function Create() { return { messages: [{ content: [{ type: 'file' }] }] }; }",
        "agent error: Create of fileless must return messages as a list of {role, content}, not "
        '[{"content": [{"type": "file"}]}]',
        None,
    ),
    "called": (
        "function Next() { return { delegate: { agent_id: 'demo', messages: [{ tool_calls: [5] }] } }; }",
        'agent error: Next of called must delegate messages as a list of {role, content}, not [{"tool_calls": [5]}]',
        None,
    ),
    "numeric": (
        "function Create() { return { connector: 5 }; }",
        "agent error: Create of numeric must return connector as a string, not 5",
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


@each("id", HOOK_FAULTS)
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
        {"id": "loop", "input": "loop", "timeout": "600ms"},
        {"id": "wait", "input": "wait", "timeout": "1s"},
        *[{"id": f"fine-{number}", "input": "Hi"} for number in range(3)],
    ]
    application = app(agent(prompts=None, hooks=hooks, cases=cases))

    records = run_cases(application, "--parallel", "2", code=1)

    assert {id: (record["error"], record.get("cause")) for id, record in records.items()} == {
        "loop": ("timeout after 600ms", "timeout"),
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
    cases = [{"id": id, "input": id} for id in (*HANG_PLACES, "fine")]
    cases[-2]["before"] = "env_test.Before"
    files = {"helper.ts": HANG_HELPER, "env_test.ts": "export function Before() { while (true) {} }"}
    application = app({**agent(prompts=None, hooks=HANGS, cases=cases), **files})

    found: dict[str, list[str]] = {}
    ids = [*HANG_PLACES, "fine"]
    for timeout in ("300ms", "1s", "4s"):  # the later ones where the machine is too busy to get to each place
        chosen = f"^({'|'.join(ids)})$"
        records = run_cases(application, "--parallel", "4", "--timeout", timeout, "--run", chosen)
        for id, record in records.items():
            found[id] = re.findall(r"/src/(\S+):\d+\)", record.get("stack_trace", "")) or [record["status"]]
            assert record.get("error") == (f"timeout after {timeout}" if record["status"] == "failed" else None)
        ids = [id for id in ids if found[id] != {**HANG_PLACES, "fine": ["passed"]}[id]]
        if not ids:
            break
    assert found == {**HANG_PLACES, "fine": ["passed"]}


def test_a_promise_of_a_hook_that_nothing_can_settle_fails_at_once(app: MakeApplication) -> None:
    hooks = "function Create() { return new Promise(() => {}); }"

    error = errors(app(agent(hooks=hooks, cases=[{"id": "a", "input": "Hi"}])))["a"]

    assert error is not None and error.startswith("agent error: Create of demo: deadlock")
