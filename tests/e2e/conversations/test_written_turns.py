"""Written turns of cases by the real command, and who answers when none is left."""

from __future__ import annotations

import json

import pytest
from agent_files import agent, case_file, run_cases
from clerk import CLERK, PLAYER, REMEMBERS, clerk, contains, ran, told
from command import MakeApplication, Record

FLOW: Record = {
    "id": "T001",
    "name": "Trip Reimbursement Flow",
    "type": "multi_turn",
    "turns": [
        {"input": "I want to file a trip", "assertions": [contains("type of trip")]},
        {"input": "To Lyon, 3500 euros", "assertions": [contains("3500"), {"type": "regex", "value": "confirm"}]},
        {
            "input": "Yes, confirm",
            "assertions": [{"type": "tool_called", "name": "book"}, contains("submitted")],
        },
    ],
    "simulator": {**PLAYER, "max_turns": 10},
    "interactive": {"enabled": False, "timeout": "5m"},
    "on_missing_input": "skip",
    "final_assertions": [{"type": "json_path", "path": "$.tool_results.book.status", "value": "submitted"}],
}


def test_static_turns_are_judged_one_by_one_and_at_the_end(app: MakeApplication) -> None:
    record = ran(app(clerk(FLOW)), code=0)

    assert told(record) == [
        ("I want to file a trip", "static", "passed"),
        ("To Lyon, 3500 euros", "static", "passed"),
        ("Yes, confirm", "static", "passed"),
    ]
    assert [turn["awaiting_input"] for turn in record["turns"]] == [True, True, False]
    assert record["turns"][2]["output"] == "Trip submitted as EXP-1."
    assert [turn["awaiting_reason"] for turn in record["turns"]] == ["content_is_question"] * 2 + ["completed"]
    assert [len(turn["assertions"]) for turn in record["turns"]] == [1, 2, 2]
    assert "note" not in record["turns"][2]
    assert [result["passed"] for result in record["final_assertions"]] == [True]
    assert (record["total_turns"], record["simulator"]) == (3, "player")


def test_all_static_turns_are_sent_even_when_one_fails_or_the_agent_is_done(app: MakeApplication) -> None:
    turns = [
        {"input": "thanks", "assertions": [contains("never said")]},
        {"input": "thanks again"},
        {"input": "3 euros", "assertions": [contains("3"), contains("4")]},
    ]
    record = ran(app(clerk({"id": "a", "turns": turns, "on_missing_input": "end", "max_turns": 1})), code=1)

    assert [status for *_, status in told(record)] == ["failed", "passed", "failed"]
    assert record["error"].startswith('assertion failed: Expected the output to contain "never said"')
    assert record["error"].endswith("(in turn 1)")
    assert len(record["assertion_errors"]) == 2


def test_the_agent_sees_the_whole_conversation_and_each_case_has_its_own_chat(app: MakeApplication) -> None:
    echo = "- reply: { json: '{{ messages }}' }"
    cases = [
        {"id": "a", "turns": [{"input": "remember red"}, {"input": "two"}]},
        {
            "id": "b",
            "turns": [{"input": "one"}],
            "final_assertions": {"type": "json_path", "path": "answers", "value": 1},
        },
        {"id": "c", "messages": [{"role": "assistant", "content": "Hi"}], "turns": [{"input": "one"}]},
        {
            "id": "d",
            "input": [{"content": "x"}, {"role": "assistant", "content": "Hi"}, {"content": "y"}],
            "type": "multi_turn",
        },
    ]
    cases[0]["final_assertions"] = [
        {"type": "json_path", "path": "$.expense.status", "value": "red"},
        {"type": "json_path", "path": "answers", "value": 2},
        {"type": "type", "path": "$.messages", "value": "array"},
    ]
    application = app(agent(replies=echo, hooks=REMEMBERS, cases=cases))
    records = run_cases(application, "--parallel", "4", code=0)

    def spoken(id: str, turn: int) -> list[str]:
        return [message["content"] for message in json.loads(records[id]["turns"][turn]["output"])[1:]]

    assert spoken("a", 1)[::2] == ["remember red", "two"]
    assert spoken("c", 0) == ["Hi", "one"]
    assert spoken("d", 0) == ["x", "Hi", "y"]
    assert told(records["d"]) == [({"content": "y"}, "initial", "passed")]


# Nobody answers

MISSING = {"id": "T002", "name": "Large trip", "turns": [{"input": "the number, please"}]}
REASON = "Agent awaiting input, no next turn defined"
QUESTION = "Please provide the PO number."


def test_a_case_whose_agent_waits_for_an_answer_that_nobody_gives_is_skipped(app: MakeApplication) -> None:
    application = app(clerk(MISSING))
    record = ran(application, code=0)

    assert (record["status"], record["skip_reason"], record["error"]) == ("skipped", REASON, None)
    assert told(record) == [("the number, please", "static", "passed"), (None, "", "skipped")]
    skipped = record["turns"][1]
    assert (skipped["turn"], skipped["skip_reason"], skipped["question"]) == (2, REASON, QUESTION)
    shown = application.run("-i", case_file()).stdout
    assert f"""\
  ├─ Turn 2: SKIPPED
  │          Reason: {REASON}
  │          Agent asked: "Please provide the PO number"
  │          Hint: Add more turns, use --interactive, or configure a simulator
  │
  └─ Result: SKIPPED
""" in shown  # fmt: skip


POLICIES: dict[str, tuple[Record, tuple[str, ...], str, str | None]] = {
    "the case says fail": ({"on_missing_input": "fail"}, (), "failed", f"{REASON}: {QUESTION}"),
    "the case says end": ({"on_missing_input": "end"}, (), "passed", None),
    "the flag says fail": ({}, ("--on-missing-input=fail",), "failed", f"{REASON}: {QUESTION}"),
    "the flag says end": ({}, ("--on-missing-input", "end"), "passed", None),
    "the case wins over the flag": ({"on_missing_input": "end"}, ("--on-missing-input", "fail"), "passed", None),
    "a person may be asked, and nobody shall": (
        {"interactive": {"enabled": True}},
        ("--skip-interactive",),
        "skipped",
        None,
    ),
    "a single turn ends with its answer": ({"type": "single_turn"}, (), "passed", None),
    "a failed assertion outranks the skip": (
        {"turns": [{"input": "number", "assertions": [contains("never")]}]},
        (),
        "failed",
        'assertion failed: Expected the output to contain "never", found "This needs an approval. '
        'Please provide the PO number." (in turn 1)',
    ),
    "final assertions are for conversations that end": (
        {"final_assertions": [contains("never")]},
        (),
        "skipped",
        None,
    ),
}


@pytest.mark.parametrize(("fields", "flags", "status", "error"), POLICIES.values(), ids=POLICIES.keys())
def test_who_decides_when_nobody_answers(
    app: MakeApplication, fields: Record, flags: tuple[str, ...], status: str, error: str | None
) -> None:
    record = ran(app(clerk({**MISSING, **fields})), *flags)

    assert (record["status"], record["error"]) == (status, error)


WRONG_FLAGS = {
    "a choice that is close": (
        ("--on-missing-input", "skp"),
        'Error: Invalid --on-missing-input "skp"\nHint: Did you mean "skip"?\n',
    ),
    "a choice that is not": (
        ("--on-missing-input=wait",),
        'Error: Invalid --on-missing-input "wait"\nHint: Choose skip, fail or end\n',
    ),
    "both": (
        ("--interactive", "--skip-interactive"),
        "Error: --interactive and --skip-interactive cannot be used together\n",
    ),
}


@pytest.mark.parametrize(("flags", "said"), WRONG_FLAGS.values(), ids=WRONG_FLAGS.keys())
def test_a_flag_that_cannot_be_used_is_refused(app: MakeApplication, flags: tuple[str, ...], said: str) -> None:
    run = app(clerk(MISSING)).run("-i", case_file(), *flags)

    assert (run.code, run.stdout, run.stderr) == (2, "", said)


def test_a_simulator_of_the_flag_that_is_unknown_is_refused(app: MakeApplication) -> None:
    run = app(clerk(MISSING)).run("-i", case_file(), "--simulator", "plaier")

    assert run.code == 2
    assert run.stderr.startswith("Error: Cannot use --simulator plaier: ")


# Whether the agent waits

WAITS: dict[str, tuple[str, Record, tuple[bool, str, str | None]]] = {
    "declared": ("hint", {}, (True, "agent_declared", "YYYY-MM-DD")),
    "a tool that asks": ("tool", {}, (True, "tool_requires_confirmation", None)),
    "a tool that the case names": ("file", {"input_tools": ["book"]}, (True, "tool_requires_confirmation", None)),
    "no tool that the case names": ("tool", {"input_tools": ["book"]}, (False, "completed", None)),
    "cut off": ("cut", {}, (False, "finish_reason", None)),
    "a Chinese question": ("ni hao", {}, (True, "content_is_question", None)),
    "nothing of it": ("thanks", {}, (False, "completed", None)),
}
WAITING = """\
- when: { tool: true }
  reply: So be it.
- when: { input: tool }
  reply: { tool_calls: [{ name: ask_user, arguments: { question: "Travel, or meals?" } }] }
- when: { input: file }
  reply: { tool_calls: [{ name: book }] }
- when: { input: cut }
  reply: { text: "Shall I?", finish_reason: length }
- when: { input: ni hao }
  reply: 好的。请问金额是多少
"""


def test_what_decides_whether_the_agent_waits_is_in_the_result(app: MakeApplication) -> None:
    cases = [
        {"id": id, "turns": [{"input": said}], **fields, "on_missing_input": "end"}
        for id, (said, fields, _) in WAITS.items()
    ]
    records = run_cases(app(clerk(*cases, replies=WAITING + CLERK)), code=0)

    found = {
        id: (turn["awaiting_input"], turn["awaiting_reason"], turn.get("input_hint"))
        for id, record in records.items()
        for turn in record["turns"]
    }
    assert found == {id: expected for id, (*_, expected) in WAITS.items()}


def test_the_question_that_a_tool_asks_is_told(app: MakeApplication) -> None:
    record = ran(app(clerk({"id": "a", "turns": [{"input": "tool"}]}, replies=WAITING + CLERK)), code=0)

    assert record["turns"][1]["question"] == "Travel, or meals?"
