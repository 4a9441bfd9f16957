"""Turns that a simulator says, by the real command."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, case_file, run_cases
from clerk import PLAYER, clerk, ran, told
from command import MakeApplication, Record

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
        "input": "go ahead",
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
    "nothing": 'player answered no message for the user: ""',
    "fail": "The model scripted failed: 400 Bad Request: no players left. Rule 3 of assistants/player/replies.yml sets this error",
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
        'Cannot find the script of "scripts:plaier": looked in scripts, the agents\' src/ folders, assistants/demo/src\n'
        "Hint: There is office",
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

    said = "no simulator is set. Set an agent or a script in simulator.use, or with --simulator"
    assert (record["error"], record["turns"]) == (f"simulator error: {said}", [])


# Once the written turns are sent, the simulator speaks only to an agent that waits

WAITED = ("Help me", "static", "passed")
DONE = ("thanks", "static", "passed")
BROKEN = {**PLAYER, "metadata": {"does": "fail"}}
SETTLED: dict[str, tuple[Record, list[tuple[Any, str, str]]]] = {
    "the agent is done": ({"turns": [{"input": "thanks"}]}, [DONE]),
    "the agent waited before": ({"turns": [{"input": "Help me"}, {"input": "thanks"}]}, [WAITED, DONE]),
    "more written turns than there may be": (
        {"turns": [{"input": "Help me"}, {"input": "thanks"}], "max_turns": 1},
        [WAITED, DONE],
    ),
    "nobody has to answer": ({"turns": [{"input": "thanks"}], "on_missing_input": "fail"}, [DONE]),
    "the goal is reached": ({"turns": [{"input": "go ahead"}]}, [("go ahead", "static", "passed")]),
    "the goal stands in the metadata": (
        {"turns": [{"input": "thanks"}], "simulator": {"use": "player", "metadata": {"goal": "x", "does": "fail"}}},
        [DONE],
    ),
    "there is no goal": (
        {"turns": [{"input": "thanks"}], "simulator": {"use": "player", "metadata": {"does": "fail"}}},
        [DONE],
    ),
    "a single turn": ({"type": "single_turn", "turns": [{"input": "Help me"}]}, [WAITED]),
    "a graded conversation": (
        {"turns": [{"input": "thanks", "assertions": ['Says "trip"']}], "mode": "conversation"},
        [DONE],
    ),
}


@pytest.mark.parametrize(("fields", "expected"), SETTLED.values(), ids=SETTLED.keys())
def test_a_simulator_is_not_asked_where_the_written_turns_were_enough(
    app: MakeApplication, fields: Record, expected: list[tuple[Any, str, str]]
) -> None:
    record = ran(app(clerk({"id": "a", "simulator": BROKEN, **fields})), code=0)

    assert (record["status"], told(record)) == ("passed", expected)
    assert not any("note" in turn for turn in record["turns"])


POLITE = "export function Polite() { return { input: 'thanks', goal_achieved: false }; }"


OPINIONS = {
    "not reached": ("{ input: 'never said' }", "agent completed, goal not reached"),
    "reached": ("{ goal_achieved: true, reasoning: 'fine' }", "Goal achieved: fine"),
    "it cannot say": ("{}", "agent completed, and whether the goal is reached is unknown: scripts:play"),
    "it says both": (
        '\'{"goal_achieved": false, "goal_achieved": true}\'',
        "agent completed, and whether the goal is reached is unknown: the answer of scripts:play cannot be evaluated, "
        'because it has "goal_achieved" twice',
    ),
}


@pytest.mark.parametrize(("opinion", "note"), OPINIONS.values(), ids=OPINIONS)
def test_a_simulator_that_has_spoken_is_asked_once_more_when_the_agent_is_done(
    app: MakeApplication, opinion: str, note: str
) -> None:
    play = f"""\
export function Simulate(asked) {{
  console.log("asked");
  return asked.turn_number === 2 ? {{ input: "thanks" }} : {opinion};
}}
"""
    case = {"id": "a", "turns": [{"input": "Help me"}], "simulator": {"use": "scripts:play", "goal": "a trip"}}
    record = ran(app(clerk(case, **{"/scripts/play.ts": play})), code=0)

    assert told(record) == [WAITED, ("thanks", "simulated", "passed")]
    assert record["turns"][-1]["note"].startswith(note)
    assert str(record["logs"]).count("asked") == 2


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
