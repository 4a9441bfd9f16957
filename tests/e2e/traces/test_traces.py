"""The trace of a result: calls of models and tools, as much of them as `--trace` says, bounded and without secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, case_file, server
from command import Application, MakeApplication, Record

KEY = "s3cr3t-value-of-a-token"
LONG = "word " * 2000
REPLIES = f"""\
- when: {{ tool.name: find }}
  reply: It is here.
- when: {{ input: find }}
  reply: {{ tool_calls: [{{ name: find, arguments: {{ id: 7 }} }}] }}
- when: {{ input: long }}
  reply: {LONG}
- when: {{ input: down }}
  reply: {{ error: {{ status: 400, message: the prompt is too long }} }}
- reply: {{ text: "Which one?", awaiting_input: true }}
"""
SIMULATED = "- reply: { json: { input: Find it, goal_achieved: false } }\n"
JUDGE = "- reply: { json: { passed: true, reason: so, score: 1 } }\n"
PROMPT = "- role: system\n  content: Serve $CTX.locale in $ENV.MY_TOWN.\n"
JUDGED = {"type": "agent", "use": "agents:judge", "value": "Anything"}
PNG = "data:image/png;base64," + "iVBORw0KGgo" * 4000


def many(count: int) -> list[Record]:
    return [{"role": "user", "content": f"{number} {LONG}"} for number in range(count)]


CASES: list[Record] = [
    {"id": "plain", "input": "find it", "assert": JUDGED},
    {
        "id": "talk",
        "input": "Hello",
        "simulator": {"use": "agents:guest", "goal": "Find it"},
        "max_turns": 2,
        "checkpoints": [{"id": "found", "assertion": [{"type": "contains", "value": "here"}, JUDGED]}],
    },
    {
        "id": "graded",
        "mode": "conversation",
        "grader": "judge",
        "turns": [{"input": "find it", "assertions": ["Finds it"]}],
    },
    {
        "id": "file",
        "input": [{"role": "user", "content": [{"type": "image", "source": PNG}, {"type": "text", "text": KEY}]}],
    },
    {"id": "long", "input": "long"},
    {"id": "huge", "input": many(60)},
    {"id": "down", "input": "down"},
]


@pytest.fixture(scope="module")
def made(shared_app: MakeApplication) -> Application:
    """An application with the reports of three runs: `full`, `summary` and `off`."""
    files = agent(package={"mcp": {"servers": ["shop"]}}, prompts=PROMPT, replies=REPLIES, cases=CASES)
    app = shared_app(files)
    app.write(server("shop", {"find": "scripts.shop.find"}))
    app.write(
        {"/scripts/shop.ts": f"export function find(asked: any) {{ return {{ id: asked.id, key: '{KEY}' }}; }}\n"}
    )
    app.write(agent("guest", replies=SIMULATED) | agent("judge", replies=JUDGE))
    app.write({"/.env": f"MY_TOWN=Bergen\nMY_TOKEN={KEY}\n"})
    for how in ("full", "summary", "off"):
        flags = [] if how == "summary" else ["--trace", how]
        outputs = [flag for extension in ("json", "jsonl", "md", "html") for flag in ("-o", f"{how}.{extension}")]
        run = app.run("-i", case_file(), *flags, *outputs)
        assert run.code == 1, run.stdout + run.stderr
    return app


def traces(made: Application, how: str) -> dict[str, Any]:
    results = json.loads((made.root / f"{how}.json").read_text())["results"]
    return {result["id"]: result.get("trace") for result in results}


def steps(trace: Record, *keys: str) -> list[tuple[Any, ...]]:
    return [tuple(step.get(key) for key in keys) for step in trace["steps"]]


def test_a_summary_says_who_called_what(made: Application) -> None:
    found = traces(made, "summary")

    assert steps(found["plain"], "kind", "role", "agent", "name") == [
        ("model", "agent", "demo", None),
        ("tool", "agent", "demo", "find"),
        ("model", "agent", "demo", None),
        ("model", "judge", "judge", None),
    ]
    assert steps(found["talk"], "role", "turn") == [
        ("agent", 1),
        ("judge", 1),
        ("simulator", 1),
        ("agent", 2),
        ("agent", 2),
        ("agent", 2),
        ("judge", 2),
    ]
    assert steps(found["graded"], "role", "turn")[-1] == ("judge", 1)
    for trace in found.values():
        for step in trace["steps"]:
            assert not step.keys() & {"messages", "answer", "arguments", "result", "before"}
            assert step["duration_ms"] >= 0
    assert found["down"]["steps"][0]["error"].endswith("the prompt is too long")


def test_totals_keep_judges_and_simulators_apart(made: Application) -> None:
    for how in ("summary", "full"):
        totals = traces(made, how)["talk"]["totals"]
        counts = {role: (total["model_calls"], total["tool_calls"]) for role, total in totals.items()}
        assert counts == {"agent": (3, 1), "simulator": (1, 0), "judge": (2, 0)}
        assert all(total["input_tokens"] > 0 for total in totals.values())


def test_a_whole_trace_has_what_was_sent_and_what_came_back(made: Application) -> None:
    first, tool, second, judge = traces(made, "full")["plain"]["steps"]

    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert first["messages"][0]["content"] == "Serve en-us in Bergen."
    assert first["answer"] == {
        "tool_calls": [{"id": second["messages"][-1]["tool_call_id"], "name": "shop__find", "arguments": '{"id":7}'}],
        "finish_reason": "tool_calls",
    }
    assert (tool["arguments"], tool["result"]) == ({"id": 7}, {"id": 7, "key": "***MY_TOKEN***"})
    assert (second["before"], [message["role"] for message in second["messages"]]) == (2, ["assistant", "tool"])
    assert second["answer"]["content"] == "It is here."
    assert json.loads(judge["messages"][-1]["content"])["criteria"] == "Anything"


def test_a_trace_is_bounded_and_names_files_without_their_content(made: Application) -> None:
    found = traces(made, "full")

    assert found["long"]["steps"][0]["answer"]["content"].endswith(f"... ({len(LONG) - 1} characters)")
    assert len(found["long"]["steps"][0]["answer"]["content"]) < 4100
    content = found["file"]["steps"][0]["messages"][-1]["content"]
    assert content[0]["image_url"]["url"] == "data:image/png;base64,… (33 KB)"
    assert found["huge"]["cut"] is True
    assert len(json.dumps(found["huge"])) < 210_000
    assert found["huge"]["totals"]["agent"]["model_calls"] == len(found["huge"]["steps"])


def test_no_report_has_a_secret_and_off_keeps_nothing(made: Application) -> None:
    for how in ("full", "summary", "off"):
        for extension in ("json", "jsonl", "md"):
            assert KEY not in (made.root / f"{how}.{extension}").read_text(), (how, extension)
    assert set(traces(made, "off").values()) == {None}
    assert '"trace": {' not in (made.root / "off.jsonl").read_text()


def test_every_format_has_it_and_saved_reports_keep_it(made: Application) -> None:
    lines = [json.loads(line) for line in (made.root / "full.jsonl").read_text().splitlines()]
    of_lines = {line["id"]: line["trace"] for line in lines if line["type"] == "result"}
    assert of_lines.keys() == traces(made, "full").keys()
    markdown = (made.root / "full.md").read_text()
    assert "**Trace**" in markdown
    assert "Serve en-us in Bergen" in markdown
    assert made.run("show", "full.jsonl", "-o", "again.json", "-q").code == 0
    assert traces(made, "again") == of_lines
    assert made.run("-i", case_file(), "--trace", "all").code == 2
