"""Multi-turn cases by the real command: who speaks, what is judged, and how a conversation ends."""

from __future__ import annotations

import json
import signal

from agent_files import agent, case_file, errors
from clerk import clerk, ran, told
from command import MakeApplication, Record, eventually

# What a turn has of its own


def test_options_and_attachments_belong_to_their_turn(app: MakeApplication) -> None:
    echo = """\
- when: { turn: 1 }
  reply: { json: { metadata: "{{ metadata }}", said: "{{ messages.-1.content }}" } }
- reply: { json: { metadata: "{{ metadata }}", said: "{{ messages.-1.content }}" } }
"""
    case = {
        "id": "a",
        "options": {"metadata": {"plan": "pro", "day": 1}},
        "turns": [
            {
                "input": "See",
                "attachments": [{"type": "image", "source": "file://./dot.png"}],
                "options": {"metadata": {"day": 2}},
            },
            {"input": "And now?"},
        ],
        "on_missing_input": "end",
    }
    files = agent(replies=echo, cases=[case])
    application = app({**files, "/assistants/demo/tests/dot.png": b"\x89PNG"})
    first, second = (json.loads(turn["output"]) for turn in ran(application, code=0)["turns"])

    assert first["metadata"] == {"plan": "pro", "day": 2}
    assert [part["type"] for part in first["said"]] == ["text", "image_url"]
    assert second == {"metadata": {"plan": "pro", "day": 1}, "said": "And now?"}


FINAL: dict[str, tuple[Record, bool]] = {
    "the last output": ({"path": "$.status", "value": "in the answer"}, True),
    "a variable, where the output has none": ({"path": "$.expense.status", "value": "kept"}, True),
    "the state, where there is no such variable": ({"path": "$.turn_count", "value": 2}, True),
    "the chat": ({"path": "session_id", "value": "agent-test-a"}, True),
    "a message": ({"path": "$.messages[0].content", "value": "remember kept"}, True),
    "the last result of a tool": ({"path": "$.tool_results.book.amount", "value": 3500}, True),
    "nothing": ({"path": "$.expense.amount", "value": None}, True),
    "something else": ({"path": "$.expense.status", "value": "lost"}, False),
}


def test_final_assertions_look_at_the_output_then_at_variables_then_at_the_state(app: MakeApplication) -> None:
    replies = """\
- when: { tool: true }
  reply: { json: { status: in the answer } }
- when: { turn: 2 }
  reply: { tool_calls: [{ name: book, arguments: { amount: 3500 } }] }
- reply: Noted.
"""
    tool = "\nfunction Book(args, ctx) { ctx.memory.chat.Set('expense', { status: 'kept' }); return { amount: args.amount }; }"
    checks = [{"type": "json_path", **check} for check, _ in FINAL.values()]
    case = {"id": "a", "turns": [{"input": "remember kept"}, {"input": "book"}], "final_assertions": checks}
    record = ran(app(clerk(case, replies=replies, **{"/scripts/office.ts": tool})), code=1)

    assert [result["passed"] for result in record["final_assertions"]] == [held for _, held in FINAL.values()]
    assert record["error"].endswith('found "kept" (in final assertions)')


# What goes wrong


def test_an_agent_that_cannot_answer_ends_the_conversation(app: MakeApplication) -> None:
    case = {"id": "a", "turns": [{"input": "Hi"}, {"input": "broken"}, {"input": "never said"}]}
    record = ran(app(clerk(case)), code=1)

    error = "agent error: The model scripted failed: 400 Bad Request: the prompt is too long"
    assert told(record) == [("Hi", "static", "passed"), ("broken", "static", "failed")]
    assert record["error"] == f"{error}. Rule 4 of assistants/demo/replies.yml sets this error"
    assert record["turns"][1]["error"] == error


def test_a_timeout_keeps_the_turns_so_far_and_the_one_that_took_too_long(app: MakeApplication) -> None:
    case = {"id": "a", "timeout": "1.5s", "turns": [{"input": "Hi"}, {"input": "slow"}]}
    record = ran(app(clerk(case)), code=1)

    assert told(record) == [("Hi", "static", "passed"), ("slow", "static", "failed")]
    assert (record["error"], record["cause"]) == ("timeout after 1.5s", "timeout")
    assert record["turns"][1]["error"] == "timeout after 1.5s"


def test_an_interrupt_keeps_the_turns_so_far(app: MakeApplication) -> None:
    application = app(clerk({"id": "a", "turns": [{"input": "Hi"}, {"input": "slow"}]}, hooks=LOGS))
    report = application.home / "report.json"
    with application.start("-i", case_file(), "-o", str(report)) as process:
        eventually(lambda: (application.root / "data/slow").exists(), "the second turn began")
        process.send_signal(signal.SIGINT)
        assert application.finish(process).code == 130
    (record,) = json.loads(report.read_text())["results"]

    assert told(record) == [("Hi", "static", "passed"), ("slow", "static", "skipped")]
    assert (record["status"], record["skip_reason"]) == ("skipped", "interrupted")


LOGS = """\
function Create(ctx, messages) {
  if (messages.at(-1).content === "slow") new FS("data").WriteFile("/slow", "begun");
}
"""


def test_a_case_in_which_nobody_begins_has_no_initial_input(app: MakeApplication) -> None:
    assert errors(app(clerk({"id": "a", "type": "multi_turn"}))) == {"a": "no initial input"}


def test_a_simulator_that_is_content_at_once_leaves_nothing_to_judge(app: MakeApplication) -> None:
    content = {"/scripts/play.ts": "export function Simulate() { return { goal_achieved: true }; }"}
    case = {"id": "a", "simulator": {"use": "scripts:play"}}

    assert errors(app(clerk(case, **content))) == {
        "a": "no initial input: the simulator reports its goal as achieved right away"
    }
