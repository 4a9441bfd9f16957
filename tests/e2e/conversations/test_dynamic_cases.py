"""Dynamic cases by the real command: a simulated user, checkpoints, and every way in which a case ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, case_file, run_cases, server
from command import Application, MakeApplication, Record

CLERK = """\
- when: { tool.name: book }
  reply: One moment.
- when: { input: confirm }
  reply: { tool_calls: [{ name: book, arguments: { amount: 3500 } }] }
- when: { input: euros }
  reply: Shall I book it?
- when: { input: at once }
  reply: The type is train, the amount is fixed, and it is submitted.
- when: { input: broken }
  reply: { error: { status: 400, message: the prompt is too long } }
- when: { input: slow }
  reply: { delay: 30s, text: Here I am. }
- reply: What type of trip is it?
"""
BOOK = "function Book(args) { return { message: 'Trip submitted', id: 7, amount: args.amount }; }"
PLAY = """\
export function Simulate(asked) {
  const { conversation, extra, turn_number } = asked;
  const does = extra?.does ?? "plays";
  if (does === "achieves") return { input: "never said", goal_achieved: turn_number > 1, reasoning: "I am content" };
  if (does === "fails") throw new Exception("no players left", 503);
  if (does !== "plays") return does;
  const last = conversation.at(-1)?.content ?? "";
  if (/type/.test(last)) return { input: "By train, 3500 euros", goal_achieved: false };
  if (/book/.test(last)) return { message: "I confirm", goal_achieved: false };
  return { input: "A trip, please", goal_achieved: false };
}
"""
CHECKPOINTS: list[Record] = [
    {"id": "ask_type", "description": "Asks for the type", "assertion": {"type": "contains", "value": "type"}},
    {
        "id": "call_book",
        "description": "Books the trip",
        "after": ["ask_type"],
        "assertion": {"type": "tool_called", "name": "book"},
    },
    {
        "id": "confirm",
        "description": "Says that it is submitted",
        "after": ["call_book"],
        "assertion": {"type": "contains", "value": "submitted"},
    },
]
PLAYER = {"use": "scripts:play", "options": {"metadata": {"persona": "a new clerk", "goal": "A trip for 3500"}}}


def clerk(*cases: Record, hooks: str | None = None, **files: str) -> dict[str, str]:
    """An agent that books trips, and a script that plays the user."""
    defaults: Record = {"simulator": PLAYER, "checkpoints": CHECKPOINTS, "max_turns": 10, "timeout": "2m"}
    return {
        **agent(
            package={"mcp": {"servers": ["office"]}},
            replies=CLERK,
            hooks=hooks,
            cases=[{**defaults, **case} for case in cases],
        ),
        **server("office", {"book": "scripts.office.Book"}),
        "/scripts/office.ts": BOOK + 'export function Breaks() { throw new Error("no idea"); }\n',
        "/scripts/play.ts": PLAY,
        **files,
    }


def ran(app: Application, *arguments: str, code: int | None = None) -> Record:
    """The record of the only case."""
    (record,) = run_cases(app, *arguments, code=code).values()
    return record


def reached(record: Record) -> dict[str, int | None]:
    """The turn by which each checkpoint was reached."""
    return {checkpoint["id"]: checkpoint["reached_at_turn"] for checkpoint in record["checkpoints"]}


def plays(does: str) -> Record:
    return {"use": "scripts:play", "metadata": {"does": does}}


def contains(id: str, text: str, **more: Any) -> Record:
    return {"id": id, "assertion": {"type": "contains", "value": text}, **more}


def test_the_case_of_the_design_document_reaches_its_checkpoints_one_after_another(app: MakeApplication) -> None:
    record = ran(app(clerk({"id": "T004", "name": "Trip coverage"})), code=0)

    assert [(turn["turn"], turn["input"], turn["input_source"], turn["output"]) for turn in record["turns"]] == [
        (1, "A trip, please", "simulated", "What type of trip is it?"),
        (2, "By train, 3500 euros", "simulated", "Shall I book it?"),
        (3, "I confirm", "simulated", "One moment."),
    ]
    assert [{**checkpoint, "description": ""} for checkpoint in record["checkpoints"]] == [
        {"id": "ask_type", "reached_at_turn": 1, "passed": True, "required": True, "description": ""},
        {"id": "call_book", "reached_at_turn": 3, "passed": True, "required": True, "description": ""},
        {"id": "confirm", "reached_at_turn": 3, "passed": True, "required": True, "description": ""},
    ]
    assert (record["status"], record["error"], record["total_turns"]) == ("passed", None, 3)


PASSED: dict[str, tuple[Record, dict[str, int | None], int]] = {
    "several in one turn, written in another order": (
        {
            "input": "at once",
            "checkpoints": [
                contains("last", "submitted", after=["amount"]),
                contains("amount", "amount", after=["type"]),
                contains("type", "type"),
            ],
        },
        {"last": 1, "amount": 1, "type": 1},
        1,
    ),
    "an optional one is missing": (
        {"input": "at once", "checkpoints": [contains("type", "type"), contains("extra", "never", required=False)]},
        {"type": 1, "extra": None},
        1,
    ),
    "with an input of its own": ({"input": "By train, 3 euros", "checkpoints": [contains("a", "book")]}, {"a": 1}, 1),
    "with messages before": (
        {
            "messages": [{"content": "Hi"}, {"role": "assistant", "content": "Which type?"}],
            "checkpoints": [contains("a", "book")],
        },
        {"a": 1},
        1,
    ),
    "only optional ones, and the goal is achieved": (
        {"checkpoints": [contains("never", "never", required=False)], "simulator": plays("achieves")},
        {"never": None},
        1,
    ),
    "several assertions in one": (
        {
            "input": "at once",
            "checkpoints": [
                {"id": "a", "assert": [{"type": "contains", "value": "type"}, {"type": "regex", "value": "^The"}]}
            ],
        },
        {"a": 1},
        1,
    ),
}


@pytest.mark.parametrize(("fields", "expected", "turns"), PASSED.values(), ids=PASSED.keys())
def test_a_case_passes_as_soon_as_all_required_checkpoints_are_reached(
    app: MakeApplication, fields: Record, expected: dict[str, int | None], turns: int
) -> None:
    record = ran(app(clerk({"id": "a", **fields})), code=0)

    assert (reached(record), record["total_turns"]) == (expected, turns)


def test_a_checkpoint_is_not_reached_before_those_that_it_comes_after(app: MakeApplication) -> None:
    checkpoints = [contains("type", "type", after=["book"]), contains("book", "book")]
    record = ran(app(clerk({"id": "a", "checkpoints": checkpoints, "max_turns": 2})), code=1)

    assert record["error"] == "max turns (2) exceeded"
    assert [(checkpoint["reached_at_turn"], checkpoint.get("message")) for checkpoint in record["checkpoints"]] == [
        (None, 'Expected the output to contain "type", found "Shall I book it?"'),
        (2, None),
    ]


NEXT = """\
function Next(ctx, payload) {
  return payload.tools?.length ? { data: { state: "booked", by: { name: "clerk" } } } : null;
}
"""
SEEN: dict[str, Record] = {
    "the text of the model": {"type": "contains", "value": "Moment"},
    "a message of a tool": {"type": "contains", "value": "Trip submitted"},
    "Next's data": {"type": "contains", "value": "booked"},
    "Next's data by path": {"type": "json_path", "path": "$.by.name", "value": "clerk"},
    "Next's data by its type": {"type": "type", "value": "object"},
    "the tools": {"type": "tool_result", "value": {"tool": "book", "result": {"id": 7}}},
}


def test_a_checkpoint_sees_all_that_an_answer_says(app: MakeApplication) -> None:
    checkpoints = [{"id": id, "assertion": assertion} for id, assertion in SEEN.items()]
    case = {"id": "a", "input": "I confirm", "checkpoints": checkpoints, "max_turns": 1}
    replies = CLERK.replace("reply: { tool_calls", "reply: { text: One Moment., tool_calls")
    record = ran(app({**clerk(case, hooks=NEXT), "/assistants/demo/replies.yml": replies}))

    assert reached(record) == dict.fromkeys(SEEN, 1)
    assert record["turns"][0]["output"] == {"state": "booked", "by": {"name": "clerk"}}


FAILED: dict[str, tuple[Record, str, int]] = {
    "the goal is achieved before": (
        {"simulator": plays("achieves")},
        "missing checkpoints: call_book, confirm",
        1,
    ),
    "the user has spoken often enough": ({"simulator": plays("Hello"), "max_turns": 3}, "max turns (3) exceeded", 3),
    "twenty times, when nothing is said of it": (
        {"simulator": plays("Hello"), "max_turns": None},
        "max turns (20) exceeded",
        20,
    ),
    "as often as the simulator says": (
        {"simulator": {**plays("Hello"), "max_turns": 2}, "max_turns": None},
        "max turns (2) exceeded",
        2,
    ),
    "the simulator throws": ({"simulator": plays("fails")}, "simulator error: scripts:play: no players left", 0),
    "the simulator says nothing": (
        {"simulator": plays(" ")},
        'simulator error: scripts:play answered no message for the user: " "',
        0,
    ),
    "no simulator": ({"simulator": {"goal": "x"}}, "simulator error: no simulator is set", 0),
    "the agent cannot answer": (
        {"simulator": plays("broken")},
        "agent error: The model scripted failed: 400 Bad Request: the prompt is too long",
        1,
    ),
    "time runs out": ({"simulator": plays("slow"), "timeout": "1.5s"}, "timeout after 1.5s", 1),
    "a judge breaks": (
        {
            "checkpoints": [
                {"id": "x", "required": False, "assertion": {"type": "script", "script": "scripts.office.Breaks"}},
                {"id": "judged", "assertion": {"type": "script", "script": "scripts.office.Breaks"}},
            ]
        },
        'checkpoint judged failed: Cannot evaluate "script": scripts.office.Breaks: no idea',
        1,
    ),
    "the simulator is content at once": (
        {"simulator": {"use": "scripts:content"}, "checkpoints": [contains("a", "a", required=False)]},
        "no initial input: the simulator reports its goal as achieved right away",
        0,
    ),
}


@pytest.mark.parametrize(("fields", "error", "turns"), FAILED.values(), ids=FAILED.keys())
def test_a_case_fails_with_the_words_of_the_design_document(
    app: MakeApplication, fields: Record, error: str, turns: int
) -> None:
    case = {key: value for key, value in {"id": "a", "max_turns": 10, **fields}.items() if value is not None}
    content = "export function Simulate() { return { goal_achieved: true }; }"
    files = clerk(case, **{"/scripts/content.ts": content})
    if fields.get("max_turns", 10) is None:
        files["/assistants/demo/tests/cases.jsonl"] = json.dumps({**case, "checkpoints": CHECKPOINTS})
    record = ran(app(files), code=1)

    assert record["error"].startswith(error)
    assert len(record["turns"]) == turns
    assert [checkpoint["id"] for checkpoint in record["checkpoints"]]


def test_what_was_reached_before_time_ran_out_is_kept(app: MakeApplication) -> None:
    play = "export function Simulate(asked) { return asked.turn_number === 1 ? 'Hello' : 'slow'; }"
    case = {"id": "a", "timeout": "1.5s"}
    record = ran(app(clerk(case, **{"/scripts/play.ts": play})), code=1)

    assert reached(record) == {"ask_type": 1, "call_book": None, "confirm": None}
    assert [(turn["status"], turn.get("error")) for turn in record["turns"]] == [
        ("passed", None),
        ("failed", "timeout after 1.5s"),
    ]


def test_a_checkpoint_with_nothing_to_look_at_yet_is_tried_again(app: MakeApplication) -> None:
    late = {"type": "tool_result", "value": {"tool": "book"}}
    judged = {"type": "json_path", "path": "$.id", "value": 1, "negate": True}
    checkpoints = [{"id": "late", "assertion": late}, {"id": "judged", "required": False, "assertion": judged}]

    assert reached(ran(app(clerk({"id": "a", "checkpoints": checkpoints})), code=0)) == {"late": 3, "judged": None}


def test_the_simulator_hears_of_the_checkpoints(app: MakeApplication) -> None:
    play = """\
export function Simulate({ turn_number, checkpoints_reached, checkpoints_pending, goal }) {
  if (turn_number === 1) return "Hello";
  return { goal_achieved: true, reasoning: JSON.stringify([goal, checkpoints_reached, checkpoints_pending]) };
}
"""
    record = ran(app(clerk({"id": "a"}, **{"/scripts/play.ts": play})), code=1)

    assert record["turns"][0]["note"] == 'Goal achieved: ["A trip for 3500",["ask_type"],["call_book","confirm"]]'


def test_the_simulator_of_the_flag_plays_where_a_case_names_none(app: MakeApplication) -> None:
    application = app(clerk({"id": "a", "simulator": {"goal": "x"}}))

    assert ran(application, "--simulator", "scripts:play", code=0)["simulator"] == "scripts:play"


def test_cases_side_by_side_do_not_hear_each_other(app: MakeApplication) -> None:
    cases = [{"id": f"c{number}"} for number in range(8)]
    records = run_cases(app(clerk(*cases)), "--parallel", "8", code=0)

    assert {id: reached(record) for id, record in records.items()} == {
        case["id"]: {"ask_type": 1, "call_book": 3, "confirm": 3} for case in cases
    }


def test_the_shipped_simulator_plays_offline(app: MakeApplication) -> None:
    simulator = {"use": "workers.test.user-simulator", "metadata": {"goal": "3500 euros"}}
    case = {"id": "a", "simulator": simulator, "checkpoints": [contains("ask", "book")]}
    run = app(clerk(case)).run("-i", case_file(), "-c", "scripted")

    assert run.code == 0, run
    assert 'Turn 1: [Simulated] "3500 euros"' in run.stdout
