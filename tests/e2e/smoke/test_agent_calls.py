"""Agents that call agents, in cases and in script tests."""

from __future__ import annotations

from agent_files import agent, errors, outputs, run_cases
from command import MakeApplication
from sample_agents import SHOP


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

    assert found["a"] == "agent error: demo was not called: 10 agents already wait for each other"
    assert found["b"] is not None and found["b"].endswith(
        "caller was not called: 10 agents already wait for each other"
    )


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
    assert 'validator prose did not return a verdict: "Looks good to me."' in found["TestProseValidator"]["error"]
    assert 'Did you mean "demo"?' in found["TestUnknownAgent"]["error"]
