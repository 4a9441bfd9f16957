"""What is shown is what the agent gave and what was compared: on the console and in all formats."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, case_file, server
from command import Application, MakeApplication, Record

TOOLS = {
    **server("t", {"look": "scripts.t.Look"}),
    "/scripts/t.ts": "export function Look(a: any) { return { seen: a }; }\n",
}
CALLS = "- when: { tool: false }\n  reply: { tool_calls: [look] }\n- reply: hi\n"
FORMATS = ("-o", "r.jsonl", "-o", "r.json", "-o", "r.md", "-o", "r.xml")


def talk(make: MakeApplication, data: Any, replies: str, *checks: Record) -> Application:
    hooks = f"export function Next() {{ return {{ data: {json.dumps(data)} }}; }}\n"
    turns = [{"input": "go", "assert": list(checks) or [{"type": "contains", "value": "seen"}]}]
    package = {"mcp": {"servers": ["t"]}}
    return make({**TOOLS, **agent(package=package, replies=replies, hooks=hooks, cases=[{"id": "a", "turns": turns}])})


@pytest.mark.parametrize("replies", [CALLS, "- reply: A text of the model.\n"], ids=["after a tool", "beside a text"])
@pytest.mark.parametrize(
    "data",
    ["seen: three items", ["seen", 2], [{"type": "seen", "amount": 3}], {"content": "x", "seen": "ok"}],
    ids=["a text", "a list", "a list like parts of a message", "an object like a message"],
)
def test_all_formats_show_the_data_of_next(app: MakeApplication, data: Any, replies: str) -> None:
    here = talk(app, data, replies)

    run = here.run("-i", case_file(), "-v", *FORMATS)
    shown = data if isinstance(data, str) else json.dumps(data)
    (turn,) = json.loads((here.root / "r.json").read_text())["results"][0]["turns"]
    wide = data if isinstance(data, str) else json.dumps(data, indent=2)

    assert (run.code, run.stderr) == (0, "")
    assert f'          Agent: "{shown}"\n' in run.stdout and "A text of the model" not in run.stdout
    assert turn["output"] == data
    assert f"Agent:\n\n```{'text' if isinstance(data, str) else 'json'}\n{wide}\n```\n" in (
        here.root / "r.md"
    ).read_text().replace("````", "```")
    assert f"turn 1 output: {shown}\n" in (here.root / "r.xml").read_text().replace("</system-out>", "\n")
    assert f'          Agent: "{shown}"\n' in here.run("show", "r.jsonl", "-v").stdout


def test_a_call_that_stands_for_an_answer_is_shown_once(app: MakeApplication) -> None:
    here = talk(app, None, CALLS, {"type": "tool_called", "value": "look"})

    shown = here.run("-i", case_file(), "-v").stdout

    assert [line for line in shown.splitlines() if "Agent: [" in line or 'Agent: "' in line] == [
        "  │          Agent: [tool: look({})]"
    ]


def test_a_conversation_shows_its_last_answer_in_junit(app: MakeApplication) -> None:
    turns = [{"input": "one", "expected_output": "x"}, {"input": "two"}]
    here = app(
        agent(replies="- reply: 'heard {{ input }}'\n", cases=[{"id": "a", "mode": "conversation", "turns": turns}])
    )
    here.run("-i", case_file(), "-o", "r.xml")

    said = (here.root / "r.xml").read_text()
    assert "turn 2 output: heard two" in said and "\noutput: heard two" in said and "role" not in said


COMPARED: list[tuple[str, Any, Record, str]] = [
    (
        "spaces in data",
        {"status": "ok", "b": 1},
        {"type": "contains", "value": '"b": 1'},
        'Expected the output to contain "\\"b\\": 1", found {"status":"ok","b":1}; only spaces differ',
    ),
    (
        "the order of keys in data",
        {"status": "ok", "b": 1},
        {"type": "contains", "value": '{"b":1,"status":"ok"}'},
        'Expected the output to contain "{\\"b\\":1,\\"status\\":\\"ok\\"}", found {"status":"ok","b":1};'
        " only the order of keys differs",
    ),
    ("a key twice", '{"b":1,"b":2}', {"type": "equals", "value": '{"b":2}'}, 'Expected the output to equal "{\\"b\\":2}", found "{\\"b\\":1,\\"b\\":2}"'),
    ("not found", {"b": 1}, {"type": "contains", "value": '"c":1'}, 'Expected the output to contain "\\"c\\":1", found {"b":1}'),
    ("regex", {"b": 1}, {"type": "regex", "value": '"b":\\s+1'}, 'Expected the output to match `"b":\\s+1`, found {"b":1}; only spaces differ'),
    ("a start", {"b": 1}, {"type": "starts_with", "value": '{ "b"'}, 'Expected the output to start with "{ \\"b\\"", found {"b":1}; only spaces differ'),
    ("any case", {"b": "Caf\u00e9"}, {"type": "icontains", "value": "cafe\u0301"}, 'Expected the output to contain, ignoring case, "cafe\\u0301", found {"b":"Caf\\u00e9"}; only the normal form of Unicode differs'),
    ("equal texts", "a  b", {"type": "equals", "value": "a b"}, 'Expected the output to equal "a b", found "a  b"; only spaces differ'),
    ("a line end", "yes\n", {"type": "equals", "value": "yes"}, 'Expected the output to equal "yes", found "yes\\n"; only spaces differ'),
    ("a text in data", {"a": ["x y"]}, {"type": "json_path", "path": "$.a[0]", "value": "xy"}, 'Expected $.a[0] to equal "xy", found "x y"; only spaces differ'),
    ("another text", "a b", {"type": "equals", "value": "a c"}, 'Expected the output to equal "a c", found "a b"'),
    ("no form of it", {"b": 1}, {"type": "not_contains", "value": '"b":1'}, 'Expected the output not to contain "\\"b\\":1", found {"b":1}'),
]  # fmt: skip


def test_a_failure_shows_what_was_compared_and_says_when_only_its_form_differs(app: MakeApplication) -> None:
    cases = [{"id": name, "input": str(at), "assert": check} for at, (name, _, check, _) in enumerate(COMPARED)]
    data = json.dumps([data for _, data, _, _ in COMPARED])
    hooks = f"const all = {data};\nexport function Next(ctx, p) {{ return {{ data: all[+p.messages[0].content] }}; }}\n"
    here = app(agent(hooks=hooks, replies="- reply: ok\n", cases=cases))

    here.run("-i", case_file(), "-o", "r.jsonl", "-o", "r.md", "-o", "r.xml")
    found = {one["id"]: one for one in map(json.loads, (here.root / "r.jsonl").read_text().splitlines()) if "id" in one}

    assert {name: found[name]["assertions"][0]["message"] for name, *_ in COMPARED} == {
        name: message for name, _, _, message in COMPARED
    }
    first = found["spaces in data"]
    assert first["assertions"][0]["actual"] == '{"status":"ok","b":1}' and first["output"] == COMPARED[0][1]
    assert (
        "| {&quot;" not in (here.root / "r.md").read_text()
        and '{"status":"ok","b":1} |' in (here.root / "r.md").read_text()
    )


def test_what_differs_from_a_snapshot_only_in_form_says_so(app: MakeApplication) -> None:
    here = app(agent(replies="- reply: 'one two'\n", cases=[{"id": "a", "input": "x", "assert": {"type": "snapshot"}}]))
    assert here.run("-i", case_file()).code == 0
    here.write({"/assistants/demo/replies.yml": "- reply: 'one  two'\n"})

    assert "only spaces differ" in here.run("-i", case_file()).stdout


SCRIPT = """\
export function TestSpaces(t) { t.assert.Equal("a  b", "a b"); }
export function TestWords(t) { t.assert.Equal("a  b", "a b", "the greeting"); }
export function TestOrder(t) { t.assert.Equal('{"a":1,"b":{"x":1,"y":2}}', '{"b":{"y":2,"x":1},"a":1}'); }
export function TestDigits(t) { t.assert.Equal('{"id":12345678901234567890}', '{"id":12345678901234567891}'); }
export function TestBoth(t) { t.assert.Equal('{"a": 1,"b":2}', '{"b":2,"a":1}'); }
export function TestForm(t) { t.assert.Equal({ a: ["caf\\u00e9"] }, { a: ["cafe\\u0301"] }); }
export function TestPart(t) { t.assert.Contains(JSON.stringify({ b: 1 }), '"b": 1'); }
export function TestItem(t) { t.assert.Contains(["x\\ty"], "xy"); }
export function TestPath(t) { t.assert.JSONPath({ a: "x\\n" }, "$.a", "x"); }
export function TestOther(t) { t.assert.Equal("abc", "abd"); }
export function TestKept(t) { t.snapshot("one two"); }
"""


def test_scripts_are_told_when_only_the_form_of_texts_differs(app: MakeApplication) -> None:
    here = app({"forms_test.ts": SCRIPT})
    here.run("-i", "scripts.demo.forms")
    here.write({"forms_test.ts": SCRIPT.replace("one two", "one  two")})

    report = here.report("-i", "scripts.demo.forms", code=1)

    assert {one["name"]: one["error"].split("failed: ")[1].split("\n")[0] for one in report["results"]} == {
        "TestSpaces": "Not equal; only spaces differ",
        "TestWords": "the greeting; only spaces differ",
        "TestOrder": "Not equal; only the order of keys differs",
        "TestDigits": "Not equal",
        "TestBoth": "Not equal; only spaces and the order of keys differ",
        "TestForm": "Not equal; only the normal form of Unicode differs",
        "TestPart": "Should contain the item; only spaces differ",
        "TestItem": "Should contain the item; only spaces differ",
        "TestPath": "Not equal at $.a; only spaces differ",
        "TestOther": "Not equal",
        "TestKept": "Not equal to the snapshot; only spaces differ",
    }
