"""What real applications have and do not say: unknown MCP servers, hooks of an old form, folders of agents."""

from __future__ import annotations

from agent_files import agent, run_cases, server
from command import MakeApplication

REPLIES = """\
- when: { tool.name: x }
  reply: "told: {{ tool.result }}"
- when: { input: call }
  reply: { tool_calls: [{ name: gone__x, arguments: {} }] }
- reply: "{{ tools }}"
"""


def test_an_unknown_server_is_a_warning_until_it_is_called(app: MakeApplication) -> None:
    cases = [{"id": "quiet", "input": "hello"}, {"id": "called", "input": "call"}]
    files = agent(package={"mcp": {"servers": ["gone", "here"]}}, replies=REPLIES, cases=cases)
    application = app({**files, **server("here", {"ping": "utils.now.Date"})})
    records = run_cases(application)
    assert records["quiet"]["output"] == '["ping"]'
    assert any("Cannot find MCP server gone; there are here" in line for line in records["quiet"]["logs"])
    assert "Cannot find MCP server gone; there are here" in str(records["called"]["tools"])


def test_hooks_of_an_old_form_say_what_to_write(app: MakeApplication) -> None:
    hooks = "function Create(input, option) { return { messages: input }; }"
    application = app(agent(hooks=hooks, cases=[{"id": "a", "input": "x"}]))
    said = run_cases(application)["a"]["error"]
    assert "Create(input, option) is a hook of an old form" in said
    assert "write Create(ctx, messages, options)" in said


def test_a_folder_of_agents_is_not_taken_for_an_agent(app: MakeApplication) -> None:
    application = app({**agent("robot.one"), **agent("robot.two"), "a_test.ts": "export function TestA(t) {}"})
    run = application.run("-i", "scripts.robot")
    assert run.code == 2
    assert "robot is a folder of agents, and no agent: robot.one, robot.two" in run.stderr
    assert '-i "scripts.robot.*"' in run.stderr


def test_test_files_that_nobody_collects_are_named(app: MakeApplication) -> None:
    test = "export function TestA(t) {}"
    application = app({"a_test.ts": test, "/scripts/books/b_test.ts": test, "/data/pages/c_test.ts": test, **agent()})
    for inputs, named in (
        ((), "scripts/books/b_test.ts"),
        (("-i", "."), "data/pages/c_test.ts, scripts/books/b_test.ts"),
    ):
        run = application.run(*inputs)
        assert run.code == 0
        assert f"Not collected: {named}. Tests are collected in the src/ of an agent" in run.stdout + run.stderr
    assert "Not collected" not in str(application.run("-i", "assistants"))
