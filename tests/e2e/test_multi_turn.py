"""Multi-turn cases by the real command: who speaks, what is judged, and how a conversation ends."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest
from agent_files import agent, case_file, errors, run_cases, server
from command import Application, MakeApplication, Record, eventually

CLERK = """\
- when: { tool.name: book, tool.result: { contains: EXP } }
  reply: "Trip submitted as {{ tool.result.id }}."
- when: { input: [confirm, go ahead] }
  reply: { tool_calls: [{ name: book, arguments: { amount: 3500 } }] }
- when: { input: { regex: '(\\d+) euros' } }
  reply: "I will file {{ match.1 }} euros. Please confirm."
- when: { input: broken }
  reply: { error: { status: 400, message: the prompt is too long } }
- when: { input: slow }
  reply: { delay: 30s, text: Here I am. }
- when: { input: number }
  reply: This needs an approval. Please provide the PO number.
- when: { input: hint }
  reply: { text: The date., awaiting_input: true, input_hint: YYYY-MM-DD }
- when: { input: thanks }
  reply: Have a good trip.
- reply: "What type of trip is it, and what did it cost?"
"""
BOOKING = "function Book(args) { return { id: 'EXP-1', status: 'submitted', amount: args.amount }; }"
REMEMBERS = """\
function Next(ctx, payload) {
  ctx.memory.chat.Incr("answers");
  const last = payload.messages.at(-1).content;
  if (String(last).startsWith("remember ")) ctx.memory.chat.Set("expense", { status: last.slice(9) });
}
"""
SIMULATOR = """\
- when: { input.extra.does: prose }
  reply: It cost 12 euros
- when: { input.extra.does: nothing }
  reply: ""
- when: { input.extra.does: fail }
  reply: { error: { status: 400, message: no players left } }
- when: { input.extra.does: loop }
  reply: { json: { input: Hello again, goal_achieved: false } }
- when: { input.last_response: { contains: submitted } }
  reply: { json: { input: never said, goal_achieved: true, reasoning: The trip is submitted } }
- when: { input.last_response: { contains: confirm } }
  reply: { json: { message: I confirm, goal_achieved: false } }
- when: { input.last_response: { contains: cost } }
  reply: { json: { input: "{{ input.goal }} euros", goal_achieved: false } }
- when: { input.persona: true }
  reply: { json: { input: "I am {{ input.persona }}", goal_achieved: false } }
"""
PLAYER = {"use": "agents:player", "persona": "a new clerk", "goal": "3500"}


def clerk(*cases: Record, replies: str = CLERK, hooks: str | None = None, **files: str) -> dict[str, str]:
    """An agent that files trips, and a simulator."""
    return {
        **agent(
            package={"mcp": {"servers": ["office"]}}, replies=replies, hooks=hooks, cases=list(cases)
        ),
        **server("office", {"book": "scripts.office.Book", "ask_user": "scripts.office.Ask"}),
        "/scripts/office.ts": BOOKING + "\nfunction Ask(args) { return { asked: args.question }; }",
        **agent("player", replies=SIMULATOR),
        **files,
    }  # fmt: skip


def ran(app: Application, *arguments: str, code: int | None = None) -> Record:
    """The record of the only case."""
    (record,) = run_cases(app, *arguments, code=code).values()
    return record


def told(record: Record) -> list[tuple[Any, str, str]]:
    """What was said in each turn, by whom, and how the turn ended."""
    return [(turn["input"], turn["input_source"], turn["status"]) for turn in record["turns"]]


def contains(text: str) -> Record:
    return {"type": "contains", "value": text}


# The design document's example: turns, assertions in each, and at the end

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
    assert record["turns"][2]["note"] == "Goal achieved: The trip is submitted"
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
  │          Hint: Add more turns, use --interactive, or configure simulator
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
        'Error: Cannot use --on-missing-input "skp": there is no such choice\nHint: Did you mean "skip"?\n',
    ),
    "a choice that is not": (
        ("--on-missing-input=wait",),
        'Error: Cannot use --on-missing-input "wait": there is no such choice\nHint: Write skip, fail or end\n',
    ),
    "both": (
        ("--interactive", "--skip-interactive"),
        "Error: --interactive and --skip-interactive exclude each other\n",
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


# Simulators

SOLVED = [
    ("3500 euros", "simulated", "passed"),
    ("I confirm", "simulated", "passed"),
]


SIMULATED: dict[str, tuple[Record, list[tuple[Any, str, str]]]] = {
    "after static turns": (
        {"turns": [{"input": "Start"}, {"input": "A trip"}], "simulator": PLAYER},
        [("Start", "static", "passed"), ("A trip", "static", "passed"), *SOLVED],
    ),
    "after the input": ({"input": "Help me", "simulator": PLAYER}, [("Help me", "initial", "passed"), *SOLVED]),
    "alone": ({"simulator": PLAYER}, [("I am a new clerk", "simulated", "passed"), *SOLVED]),
    "named without prefix, described in metadata": (
        {"input": "Help me", "simulator": {"use": "player", "metadata": {"goal": "3500"}}},
        [("Help me", "initial", "passed"), *SOLVED],
    ),
    "described in the metadata of its options": (
        {"input": "Help me", "simulator": {"use": "player", "options": {"metadata": {"goal": "3500", "max_turns": 3}}}},
        [("Help me", "initial", "passed"), *SOLVED],
    ),
    "exactly as many turns as there may be": (
        {"input": "Help me", "simulator": {**PLAYER, "max_turns": 3}},
        [("Help me", "initial", "passed"), *SOLVED],
    ),
    "a script, by its role": (
        {"input": "Help me", "simulator": {"use": "scripts:play", "goal": "3500"}},
        [("Help me", "initial", "passed"), *SOLVED],
    ),
    "a script, by its function": (
        {"input": "Help me", "simulator": {"use": "scripts:play.Simulate", "goal": "3500"}},
        [("Help me", "initial", "passed"), *SOLVED],
    ),
}  # fmt: skip
PLAY = """\
export function Simulate(asked) {
  if (/submitted/.test(asked.last_response)) return { input: "", goal_achieved: true, reasoning: "The trip is submitted" };
  return { message: /confirm/.test(asked.last_response) ? "I confirm" : `${asked.goal} euros`, goal_achieved: false };
}
"""


@pytest.mark.parametrize(("fields", "expected"), SIMULATED.values(), ids=SIMULATED.keys())
def test_a_simulator_speaks_until_its_goal_is_achieved(
    app: MakeApplication, fields: Record, expected: list[tuple[Any, str, str]]
) -> None:
    record = ran(app(clerk({"id": "a", **fields}, **{"/scripts/play.ts": PLAY})), code=0)

    assert told(record) == expected
    assert record["turns"][-1]["note"] == "Goal achieved: The trip is submitted"


def test_the_flag_names_a_simulator_for_cases_that_name_none(app: MakeApplication) -> None:
    cases = [
        {"id": "waits", "turns": [{"input": "12 euros"}]},
        {"id": "done", "turns": [{"input": "thanks"}]},
        {"id": "described", "input": "Help me", "simulator": {"goal": "3500"}},
        {"id": "named", "input": "Help me", "simulator": {"use": "player", "goal": "3500"}},
    ]
    records = run_cases(app(clerk(*cases, **{"/scripts/play.ts": PLAY})), "--simulator", "scripts:play", code=0)

    assert {id: len(record["turns"]) for id, record in records.items()} == {
        "waits": 2,
        "done": 1,
        "described": 3,
        "named": 3,
    }
    assert {id: record["simulator"] for id, record in records.items()} == {
        "waits": "scripts:play",
        "done": "scripts:play",
        "described": "scripts:play",
        "named": "player",
    }
    assert "note" not in records["done"]["turns"][0]


def test_a_simulator_is_told_everything_in_its_message_and_in_its_metadata(app: MakeApplication) -> None:
    case = {
        "id": "T9",
        "turns": [{"input": "go ahead"}],
        "simulator": {"use": "spy", "persona": "P", "goal": "G", "metadata": {"mood": "calm", "max_turns": 7}},
    }
    spy = agent(
        "spy",
        replies="- reply: { json: { goal_achieved: true, reasoning: '{{ messages.-1.content }} {{ metadata | json }}' } }",
    )
    note = ran(app(clerk(case, **spy)), code=0)["turns"][0]["note"].removeprefix("Goal achieved: ")
    message, end = json.JSONDecoder().raw_decode(note)
    metadata = json.loads(note[end:])

    payload = {
        "persona": "P",
        "goal": "G",
        "conversation": [
            {"role": "user", "content": "go ahead"},
            {"role": "assistant", "content": "Trip submitted as EXP-1."},
        ],
        "last_response": "Trip submitted as EXP-1.",
        "turn_number": 2,
        "turn_count": 1,
        "max_turns": 7,
        "tool_results": {"book": {"id": "EXP-1", "status": "submitted", "amount": 3500}},
        "test_mode": "simulator",
        "test_id": "T9",
        "session_id": "agent-test-T9",
        "extra": {"mood": "calm"},
    }
    assert message == payload
    assert metadata == {**payload, "mood": "calm"}


def test_a_simulator_hears_what_the_next_hook_says(app: MakeApplication) -> None:
    says = "function Next(ctx, payload) { return { data: { message: `Said ${payload.messages.length}` } }; }"
    play = """\
export function Simulate({ conversation, turn_number }) {
  if (turn_number < 3) return "More";
  return { goal_achieved: true, reasoning: conversation.map(({ content }) => content).join(", ") };
}
"""
    case = {
        "id": "a",
        "messages": [{"content": "Hi"}, {"role": "assistant", "content": "Hello"}, {"content": "Well"}],
        "simulator": {"use": "scripts:play", "goal": "x"},
    }
    record = ran(app(clerk(case, hooks=says, **{"/scripts/play.ts": play})), code=0)

    assert record["turns"][-1]["note"] == "Goal achieved: Hi, Hello, Well, Said 3, More, Said 5"


def test_prose_of_a_simulator_is_what_the_user_says(app: MakeApplication) -> None:
    case = {"id": "a", "input": "Help me", "simulator": {**PLAYER, "metadata": {"does": "prose"}, "max_turns": 2}}
    record = ran(app(clerk(case)), code=1)

    assert told(record)[1] == ("It cost 12 euros", "simulated", "passed")


FAULTS = {
    "nothing": 'agents:player answered nothing that the user could say: null',
    "fail": "The model scripted failed: 400 Bad Request: no players left. Rule 3 of assistants/player/replies.yml says so",
}  # fmt: skip


@pytest.mark.parametrize("does", FAULTS)
def test_a_simulator_that_cannot_answer_skips_the_turn_and_the_case(app: MakeApplication, does: str) -> None:
    case = {"turns": [{"input": "Help me"}], "simulator": {**PLAYER, "metadata": {"does": does}}}
    cases = [{"id": "skips", **case}, {"id": "fails", **case, "on_missing_input": "fail"}]
    records = run_cases(app(clerk(*cases)), code=1)

    skips, fails = records["skips"], records["fails"]
    assert [(turn["status"], turn.get("skip_reason")) for turn in skips["turns"]] == [
        ("passed", None),
        ("skipped", "simulator error"),
    ]
    assert (skips["status"], skips["skip_reason"]) == ("skipped", f"simulator error: {FAULTS[does]}")
    assert (fails["status"], fails["error"]) == ("failed", f"simulator error: {FAULTS[does]}")


def test_a_simulator_that_says_the_same_over_and_over_comes_to_the_most_turns(app: MakeApplication) -> None:
    case = {"id": "a", "input": "Hi", "simulator": {**PLAYER, "metadata": {"does": "loop"}}}
    record = ran(app(clerk(case)), code=1)

    assert (record["error"], record["total_turns"]) == ("max turns (20) exceeded", 20)
    assert record["turns"][-1]["note"] == 'The simulator repeats itself: "Hello again", 20 times'


UNKNOWN: dict[str, tuple[Record, str]] = {
    "agent": (
        {"use": "agents:plaier"},
        'Cannot find agent "plaier": there is no <app>/assistants/plaier/package.yao\nHint: Did you mean "player"?',
    ),
    "script": (
        {"use": "scripts:plaier"},
        'Cannot find the script of "scripts:plaier": looked in scripts, the agents\' src/ folders, assistants/demo/src',
    ),
    "function": (
        {"use": "scripts:office"},
        'Cannot find the function of "scripts:office": <app>/scripts/office.ts has no Simulate, and no default export\n'
        "Hint: It has Ask, Book",
    ),
}


@pytest.mark.parametrize(("simulator", "said"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_a_simulator_that_is_not_there_is_an_error_before_anything_runs(
    app: MakeApplication, simulator: Record, said: str
) -> None:
    run = app(clerk({"id": "a", "turns": [{"input": "Hi"}], "simulator": simulator})).run("-i", case_file())

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr == f'Error: Cannot use {case_file()}:1: case "a": {said}\n'


def test_without_a_simulator_the_case_fails_before_anything_is_said(app: MakeApplication) -> None:
    record = ran(app(clerk({"id": "a", "turns": [{"input": "Hi"}], "simulator": {"goal": "x"}})), code=1)

    said = "no simulator is named. Name an agent or a script in simulator.use, or with --simulator"
    assert (record["error"], record["turns"]) == (f"simulator error: {said}", [])


# Once the written turns are sent, the simulator speaks only to an agent that waits

COMPLETED = "agent completed, goal not reached"
LOOPS = {**PLAYER, "metadata": {"does": "loop"}}
WAITED = ("Help me", "static", "passed")
DONE = ("thanks", "static", "passed")
SETTLED: dict[str, tuple[Record, list[tuple[Any, str, str]], str | None]] = {
    "the agent is done": ({"turns": [{"input": "thanks"}], "simulator": LOOPS}, [DONE], COMPLETED),
    "the agent waited before": (
        {"turns": [{"input": "Help me"}, {"input": "thanks"}], "simulator": LOOPS},
        [WAITED, DONE],
        COMPLETED,
    ),
    "the agent is done with what the simulator says": (
        {"turns": [{"input": "Help me"}], "simulator": {"use": "scripts:play.Polite", "goal": "a trip"}},
        [WAITED, ("thanks", "simulated", "passed")],
        COMPLETED,
    ),
    "more written turns than there may be": (
        {"turns": [{"input": "Help me"}, {"input": "thanks"}], "simulator": LOOPS, "max_turns": 1},
        [WAITED, DONE],
        COMPLETED,
    ),
    "nobody has to answer": (
        {"turns": [{"input": "thanks"}], "simulator": LOOPS, "on_missing_input": "fail"},
        [DONE],
        COMPLETED,
    ),
    "the goal is reached": (
        {"turns": [{"input": "go ahead"}], "simulator": PLAYER},
        [("go ahead", "static", "passed")],
        "Goal achieved: The trip is submitted",
    ),
    "the goal stands in the metadata": (
        {"turns": [{"input": "thanks"}], "simulator": {"use": "player", "metadata": {"goal": "x", "does": "loop"}}},
        [DONE],
        COMPLETED,
    ),
    "there is no goal": (
        {"turns": [{"input": "thanks"}], "simulator": {"use": "player", "metadata": {"does": "loop"}}},
        [DONE],
        None,
    ),
    "the simulator cannot say whether its goal is reached": (
        {"turns": [{"input": "thanks"}], "simulator": {**PLAYER, "metadata": {"does": "fail"}}},
        [DONE],
        "agent completed, and whether the goal is reached is unknown: "
        "The model scripted failed: 400 Bad Request: no players left. Rule 3 of assistants/player/replies.yml says so",
    ),
    "a single turn": (
        {"type": "single_turn", "turns": [{"input": "thanks"}], "simulator": LOOPS},
        [DONE],
        None,
    ),
}
POLITE = "export function Polite() { return { input: 'thanks', goal_achieved: false }; }"


@pytest.mark.parametrize(("fields", "expected", "note"), SETTLED.values(), ids=SETTLED.keys())
def test_an_agent_that_is_done_ends_a_case_with_written_turns(
    app: MakeApplication, fields: Record, expected: list[tuple[Any, str, str]], note: str | None
) -> None:
    record = ran(app(clerk({"id": "a", **fields}, **{"/scripts/play.ts": POLITE})), code=0)

    assert (record["status"], told(record), record["turns"][-1].get("note")) == ("passed", expected, note)


def test_final_assertions_decide_about_an_agent_that_is_done_too_early(app: MakeApplication) -> None:
    case = {"id": "a", "turns": [{"input": "thanks"}], "simulator": LOOPS, "final_assertions": [contains("submitted")]}
    application = app(clerk(case))
    record = ran(application, code=1)

    assert (told(record), record["turns"][-1]["note"], record["cause"]) == ([DONE], COMPLETED, "assertion")
    assert f"\n  │          {COMPLETED}\n" in application.run("-i", case_file()).stdout


def test_a_simulator_of_the_flag_answers_only_an_agent_that_waits(app: MakeApplication) -> None:
    case = {"id": "a", "turns": [{"input": "Help me"}]}
    record = ran(app(clerk(case, **{"/scripts/play.ts": POLITE})), "--simulator", "scripts:play.Polite", code=0)

    assert told(record) == [WAITED, ("thanks", "simulated", "passed")]
    assert "note" not in record["turns"][-1]


DRIVEN: dict[str, tuple[Record, str]] = {
    "its input is first": ({"input": "thanks"}, "initial"),
    "the simulator is first": ({}, "simulated"),
    "the list of turns is empty": ({"turns": [], "input": "thanks"}, "initial"),
    "messages are first": (
        {"messages": [{"content": "Hi"}, {"role": "assistant", "content": "Hm."}, {"content": "thanks"}]},
        "initial",
    ),
}
STUBBORN = """\
export function Simulate(asked) {
  if (/submitted/.test(asked.last_response)) return { goal_achieved: true };
  if (/confirm/.test(asked.last_response)) return { input: "I confirm" };
  return { input: asked.turn_number < 3 ? "thanks" : `${asked.goal} euros` };
}
"""


@pytest.mark.parametrize(("fields", "first"), DRIVEN.values(), ids=DRIVEN.keys())
def test_a_case_without_written_turns_goes_on_until_its_goal_is_reached(
    app: MakeApplication, fields: Record, first: str
) -> None:
    case = {"id": "a", "simulator": {"use": "scripts:play", "goal": "3500"}, **fields}
    record = ran(app(clerk(case, **{"/scripts/play.ts": STUBBORN})), code=0)

    said = [turn["input"]["content"] if isinstance(turn["input"], dict) else turn["input"] for turn in record["turns"]]
    assert said == ["thanks", "thanks", "3500 euros", "I confirm"]
    assert [turn["input_source"] for turn in record["turns"]] == [first, "simulated", "simulated", "simulated"]
    assert [turn["awaiting_input"] for turn in record["turns"]] == [False, False, True, False]
    assert record["turns"][-1]["note"] == "Goal achieved"


def test_a_goal_that_is_never_reached_fails_a_case_without_written_turns(app: MakeApplication) -> None:
    case = {"id": "a", "input": "thanks", "simulator": {"use": "scripts:play.Polite", "goal": "x"}, "max_turns": 3}
    record = ran(app(clerk(case, **{"/scripts/play.ts": POLITE})), code=1)

    assert (record["error"], record["total_turns"]) == ("max turns (3) exceeded", 3)


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
    assert record["error"] == f"{error}. Rule 4 of assistants/demo/replies.yml says so"
    assert record["turns"][1]["error"] == error


def test_a_timeout_keeps_the_turns_so_far_and_the_one_that_took_too_long(app: MakeApplication) -> None:
    case = {"id": "a", "timeout": "300ms", "turns": [{"input": "Hi"}, {"input": "slow"}]}
    record = ran(app(clerk(case)), code=1)

    assert told(record) == [("Hi", "static", "passed"), ("slow", "static", "failed")]
    assert (record["error"], record["cause"]) == ("timeout after 300ms", "timeout")
    assert record["turns"][1]["error"] == "timeout after 300ms"


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
        "a": "no initial input: the simulator takes its goal for achieved at once"
    }
