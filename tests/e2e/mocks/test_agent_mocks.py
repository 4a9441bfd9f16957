"""Replies of mocked agents mean the same wherever an agent is asked: one table, put through the mocks of scripts and those
of cases, and through all ways to ask."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, case_file, lines, run_cases, server
from command import MakeApplication

REPLIES: dict[str, tuple[Any, tuple[str, Any, list[str]]]] = {
    "a text": ("hi", ("hi", None, [])),
    "an empty text": ("", ("", None, [])),
    "nothing": (None, ("", None, [])),
    "content": ({"content": "hi"}, ("hi", None, [])),
    "data": ({"data": {"a": [1, "é"]}}, ('{"a":[1,"é"]}', {"a": [1, "é"]}, [])),
    "next, another name of data": ({"next": [1]}, ("[1]", [1], [])),
    "data before next": ({"data": 1, "next": 2}, ("1", 1, [])),
    "content and data": ({"content": "hi", "data": 5}, ("hi", 5, [])),
    "any other object is data": ({"intent": "x"}, ('{"intent":"x"}', {"intent": "x"}, [])),
    "a verdict is data": ({"passed": True}, ('{"passed":true}', {"passed": True}, [])),
    "an empty object": ({}, ("", {}, [])),
    "a list is data": ([1, 2], ("[1,2]", [1, 2], [])),
    "a number is data": (0, ("0", 0, [])),
    "a completion": ({"completion": {"role": "assistant", "content": "c"}}, ("c", None, [])),
    "a completion of odd parts": (
        {"completion": {"content": "c", "finish_reason": 5, "tool_calls": [{"function": "find"}]}},
        ("c", None, []),
    ),
    "content before a completion": ({"content": "hi", "completion": {"content": "c"}}, ("hi", None, [])),
    "a refusal": ({"completion": {"content": "", "refusal": "no"}}, ("no", None, [])),
    "tools": ({"content": "hi", "tools": [{"tool": "find", "result": 1}]}, ("hi", None, ["find"])),
    "a whole response": (
        {"response": {"completion": {"content": "c"}, "next": {"a": 1}, "tools": [{"tool": "find"}]}},
        ("c", {"a": 1}, ["find"]),
    ),
    "beside a response": ({"content": "hi", "response": {"completion": {"content": "c"}}}, ("hi", None, [])),
    "a result as scripts see it": ({"agent_id": "other", "response": {"next": 3}, "content": ""}, ("3", 3, [])),
}
"""Reply → the text of the answer, its data, and the tools that it called."""
BROKEN: dict[str, tuple[Any, str]] = {
    "an error": ({"error": "out of order"}, "out of order"),
    "an error beside content": ({"error": "out of order", "content": "hi"}, "out of order"),
    "tools that are no list": ({"tools": {"tool": "find"}}, 'The mock of agent "other" cannot answer: its tools is not a list of objects'),
    "tools that are names": ({"tools": ["find"]}, 'The mock of agent "other" cannot answer: its tools is not a list of objects'),
    "a completion that is a text": ({"completion": "c"}, 'The mock of agent "other" cannot answer: its completion is not an object'),
    "a response that is a list": ({"response": [1]}, 'The mock of agent "other" cannot answer: its response is not an object'),
}  # fmt: skip
SEEN = """\
const seen = (r) => r.error ? r.error : [r.content, r.response.next ?? null, (r.response.tools ?? []).map((t) => t.tool), r.response.completion.content];
"""
HOOKS = (
    SEEN
    + """\
function Create(ctx, messages) { if (messages[0].content === "delegate") return { delegate: { agent_id: "other" } }; }
function Next(ctx, payload) {
  const caught = (work) => { try { return work(); } catch (error) { return { error: error.message }; } };
  return { data: {
    called: seen(ctx.agent.Call("other", [{ role: "user", content: "x" }])),
    named: seen(caught(() => Process("agents.other.Stream", [{ role: "user", content: "x" }]))),
    tool: payload.tools?.length ? seen(payload.tools[0].error ? payload.tools[0] : payload.tools[0].result) : null,
  } };
}
"""
)


def expected(content: str, data: Any, tools: list[str]) -> list[Any]:
    return [content, data, tools, content]


def test_replies_mean_the_same_in_scripts_and_in_cases(app: MakeApplication) -> None:
    table = {name: (reply, expected(*seen)) for name, (reply, seen) in REPLIES.items()} | BROKEN
    scripts = "".join(
        f"export function Test{index}(t, ctx) {{ t.mock.agent('other', {json.dumps(reply)});\n"
        f"  const caught = (work) => {{ try {{ return work(); }} catch (error) {{ return {{ error: error.message }}; }} }};\n"
        f"  t.assert.Equal(seen(ctx.agent.Call('other', [])), {json.dumps(want)});\n"
        f"  t.assert.Equal(seen(caught(() => Process('agents.other.Stream', ['x']))), {json.dumps(want)});\n"
        f"  t.assert.Equal(seen(caught(() => Process('agents.other.Call', 'x'))), {json.dumps(want)}); }}\n"
        for index, (reply, want) in enumerate(table.values())
    )
    cases = [
        {"id": f"{how}: {name}", "input": how, "mocks": {"agent": {pattern: reply}}}
        for name, (reply, _) in table.items()
        for how, pattern in (("ask", "agents:other"), ("delegate", "oth*"))
    ]
    application = app(
        {
            "mocks_test.ts": SEEN + scripts,
            "mocks.ts": "export {}",
            **agent(
                package={"mcp": {"servers": ["others"]}},
                replies="- reply: { tool_calls: [ask] }\n",
                hooks=HOOKS,
                cases=cases,
            ),
            **agent("other", replies="- reply: the real one"),
            **server("others", {"ask": "agents.other.Call"}),
        }
    )

    run = application.run("-i", "assistants/demo/src/mocks_test.ts")
    assert f"{len(table)} passed" in run.stdout, run.stdout

    records = run_cases(application)
    for name, (_, want) in table.items():
        ways = records[f"ask: {name}"]["output"]
        assert ways == dict.fromkeys(("called", "named", "tool"), want), name
        delegated = records[f"delegate: {name}"]
        if name in BROKEN:
            assert delegated["error"] == f"agent error: {want}", name
        else:
            content, data, tools, _ = want
            assert delegated.get("output") == (content if data is None else data), name
            assert [use["name"] for use in delegated.get("tools", [])] == tools, name


VERDICTS: dict[str, tuple[Any, str | None]] = {
    "yes": ({"passed": True}, None),
    "no": ({"passed": False, "reason": "Rude"}, "Rude"),
    "as a text": ('It is rude: {"passed": false, "reason": "Rude"}', "Rude"),
    "as content": ({"content": '{"passed": "no", "reason": "Rude"}'}, "Rude"),
    "as data": ({"data": {"pass": False, "message": "Rude"}}, "Rude"),
    "not judged": ({"judged": False, "reason": "No idea"}, None),
    "a text that is none": ("Looks fine", "did not return a verdict"),
    "an error": ({"error": "out of order"}, "out of order"),
}
"""Reply of a validator → what a failed check says; None: it passes."""


def test_verdicts_of_mocked_validators_are_read_alike(app: MakeApplication) -> None:
    scripts = "".join(
        f"export function Test{index}(t) {{ t.mock.agent('judge', {json.dumps(reply)}); t.assert.Agent('x', 'judge'); }}\n"
        for index, (reply, _) in enumerate(VERDICTS.values())
    )
    check = {"type": "agent", "use": "agents:judge", "value": "Is polite"}
    cases = [
        {"id": name, "input": "x", "mocks": {"agent": {"judge": reply}}, "assert": check}
        for name, (reply, _) in VERDICTS.items()
    ]
    application = app(
        {
            "judged_test.ts": scripts,
            "judged.ts": "export {}",
            **agent(cases=cases),
            **agent("judge", replies='- reply: { json: { passed: false, reason: "the real one" } }'),
        }
    )

    tests = application.report("-i", "assistants/demo/src/judged_test.ts")["results"]
    records = run_cases(application)

    for index, (name, (_, why)) in enumerate(VERDICTS.items()):
        (test,) = (test for test in tests if test["name"] == f"Test{index}")
        for record in (test, records[name]):
            assert record["status"] == ("passed" if why is None else "failed"), (name, record)
            assert why is None or why in json.dumps(record), (name, record)


def test_mocks_answer_for_helpers_that_are_not_there(app: MakeApplication) -> None:
    """In scripts and in cases; without a mock, an absent judge of a script is a missing call."""
    scripts = """\
export function TestMocked(t) { t.mock.agent("no.judge", { passed: true }); t.assert.Agent("x", "no.judge"); }
export function TestAbsent(t) { t.assert.Agent("x", "no.judge"); }
"""
    mocks = {"agent": {"no.judge": {"passed": True}, "no.us*": {"message": "hello", "goal_achieved": False}}}
    check = {"type": "agent", "use": "agents:no.judge", "value": "Is polite"}
    cases = [
        {"id": "judged", "input": "x", "mocks": mocks, "assert": check},
        {
            "id": "simulated",
            "simulator": {"use": "no.user"},
            "checkpoints": [{"id": "a", "assert": check}],
            "mocks": mocks,
        },
    ]
    application = app({"judged_test.ts": scripts, "judged.ts": "export {}", **agent(cases=cases)})

    tests = application.results("-i", "assistants/demo/src/judged_test.ts", code=1)
    assert {name: record["status"] for name, record in tests.items()} == {
        "TestMocked": "passed",
        "TestAbsent": "failed",
    }
    (absent,) = tests["TestAbsent"]["outside"]
    assert (absent["call"], absent["answered"]) == ("agents.no.judge", "missing")
    assert absent["message"].endswith('Or mock it with t.mock.agent("no.judge", ...)')
    outside = [record["outside"] for record in run_cases(application, code=0).values()]
    assert [[(one["call"], one["answered"]) for one in calls] for calls in outside] == [
        [("agents.no.judge", "mocked")],
        [("agents.no.user", "mocked"), ("agents.no.judge", "mocked")],
    ]
    application.write({"/assistants/demo/tests/cases.jsonl": lines({**cases[0], "mocks": {"agent": {"no.user": 1}}})})
    run = application.run("-i", case_file())
    assert (run.code, 'Cannot find agent "no.judge"' in run.stderr) == (2, True)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"body": {"a": 1}}, 'no "body". Did you mean "data"? It may have status, data, headers, lines, message;'),
        ({"status": 200, "json": 1}, 'no "json". Did you mean "data"?'),
        ({"statusCode": 404}, 'no "statusCode". Did you mean "status"?'),
        ({"data": 1, "stats": 1}, 'no "stats". It may have status, data, headers'),
        ({"EUR": 1.1}, 'to reply with an object, write {data: ...}'),
    ],
)  # fmt: skip
def test_parts_that_http_replies_do_not_have(app: MakeApplication, reply: Any, said: str) -> None:
    scripts = (
        f"export function TestValue(t) {{ t.mock.http('https://h/*', {json.dumps(reply)}); }}\n"
        f"export function TestFunction(t) {{ t.mock.http('https://h/*', () => ({json.dumps(reply)})); http.Get('https://h/a'); }}\n"
    )
    case = {"id": "A", "input": "x", "mocks": {"http": {"GET https://h/*": reply}}}
    application = app({"parts_test.ts": scripts, "parts.ts": "export {}", **agent(cases=[case])})

    results = application.report("-i", "assistants/demo/src/parts_test.ts", code=1)["results"]
    messages = [result["error"] for result in results]
    assert [('t.mock.http("https://h/*"): a reply has ' in text, said in text) for text in messages] == [
        (True, True)
    ] * 2

    run = application.run("-i", case_file())
    part = next(part for part in reply if part not in ("data", "status"))
    assert run.code == 2
    assert f'case "A": unknown part "{part}" in "mocks.http.GET https://h/*"' in run.stderr
    assert ("Did you mean" in said) == ("Did you mean" in run.stderr)
    assert lines(case) == (application.root / case_file()).read_text()
