"""Results of cases of several turns in JSON, key for key."""

from __future__ import annotations

import math
from typing import Any

from sample_conversations import BROKEN, CONVERSATION, DYNAMIC, SIMULATED, STATIC, WITHOUT_ANSWER
from table_tests import each

from runner.record.lines import line_of, stored_pieces, stored_text
from runner.record.model import AGENT_TEST, Suite, TestResult

SUITE = Suite(id="trips", kind=AGENT_TEST, label="trips", file="", agent="demo")


def case_record(result: TestResult) -> dict[str, Any]:
    """The line of a case without what says where it stands."""
    return {key: value for key, value in line_of(result, SUITE).items() if key not in ("type", "suite", "position")}


def assertion(type: str, value: Any, passed: bool, actual: Any, message: str = "", **more: Any) -> dict[str, Any]:
    return {
        "type": type,
        **more,
        "value": value,
        "passed": passed,
        "expected": value,
        "actual": actual,
        "message": message,
    }


HELD = assertion("contains", "which town", True, "Which town shall it be?")
MISSED = assertion("contains", "R-8", False, "Booked as R-7", 'Expected the output to contain "R-8"')


@each(
    "output",
    [
        "Booked ä",
        "half \ud800",
        "an image data:image/png;base64," + "iVBORw" * 20,
        {"data": "A" * 99, "format": "wav"},
        {"type": "input_audio", "input_audio": {"data": "A" * 99}},
        math.inf,
        r"C:\udir",
    ],
)
def test_a_line_in_pieces_is_the_same(output: Any) -> None:
    assert STATIC.case is not None
    odd = STATIC.replace(case=STATIC.case.replace(output=output, response=str(output)))
    line = "".join(stored_pieces(odd, SUITE))
    assert line == stored_text(odd, SUITE)
    line.encode()


def test_a_multi_turn_case_has_the_keys_of_the_design() -> None:
    assert case_record(STATIC) == {
        "id": "B01",
        "name": "Room in three turns",
        "status": "passed",
        "input": None,
        "output": "Booked as R-7",
        "expected": None,
        "duration_ms": 7100,
        "error": None,
        "response": "Booked as R-7",
        "messages_count": 6,
        "mode": "multi_turn",
        "turns": [
            {
                "turn": 1,
                "input": "I need a room",
                "input_source": "static",
                "status": "passed",
                "output": "Which town shall it be?",
                "awaiting_input": True,
                "awaiting_reason": "content_is_question",
                "assertions": [HELD],
                "duration_ms": 2100,
            },
            {
                "turn": 2,
                "input": "Basel, two nights",
                "input_source": "static",
                "status": "passed",
                "output": "",
                "tool_calls": [
                    {
                        "name": "book_room",
                        "args": {"nights": 2, "kind": "double", "guest-name": ["Ada"]},
                        "server": "hotel",
                        "result": {"id": "R-7"},
                    }
                ],
                "awaiting_input": True,
                "awaiting_reason": "tool_requires_confirmation",
                "assertions": [assertion("tool_called", "book_room", True, ["book_room"], name="book_room")],
                "duration_ms": 3200,
            },
            {
                "turn": 3,
                "input": "Yes",
                "input_source": "static",
                "status": "passed",
                "output": "Booked as R-7",
                "awaiting_input": False,
                "awaiting_reason": "completed",
                "duration_ms": 1800,
            },
        ],
        "final_assertions": [assertion("json_path", "booked", True, "booked", path="$.room.status")],
        "total_turns": 3,
    }


def test_a_turn_says_why_it_was_skipped_and_what_was_asked() -> None:
    record = case_record(WITHOUT_ANSWER)

    assert (record["status"], record["skip_reason"], record["total_turns"]) == (
        "skipped",
        "Agent awaiting input, no next turn defined",
        1,
    )
    assert record["turns"][1] == {
        "turn": 2,
        "input": None,
        "input_source": "",
        "status": "skipped",
        "output": "",
        "awaiting_input": False,
        "skip_reason": "Agent awaiting input, no next turn defined",
        "question": "Please give me a reference number.",
        "no_next_turn": True,
        "duration_ms": 0,
    }


def test_a_simulated_case_says_who_spoke() -> None:
    record = case_record(SIMULATED)

    assert record["simulator"] == "workers.test.guest"
    assert [turn["input_source"] for turn in record["turns"]] == ["initial", "simulated", "human"]
    assert record["turns"][2]["note"] == "Goal achieved: a room is booked"
    assert record["final_assertions"] == []


def test_turns_say_what_failed_in_them() -> None:
    record = case_record(BROKEN)

    first, second = record["turns"]
    assert {key: first[key] for key in ("status", "output", "assertions", "assertion_errors")} == {
        "status": "failed",
        "output": {"id": "R-7"},
        "assertions": [HELD, MISSED],
        "assertion_errors": ['Expected the output to contain "R-8"'],
    }
    assert (second["status"], second["error"]) == ("failed", "agent error: no model")
    assert (record["status"], record["error"], record["cause"]) == (
        "failed",
        'assertion failed: Expected the output to contain "R-8" (in turn 1)',
        "assertion",
    )


def test_a_dynamic_case_has_the_keys_of_the_design() -> None:
    assert case_record(DYNAMIC) == {
        "id": "D01",
        "status": "failed",
        "input": None,
        "output": "Booked",
        "expected": None,
        "duration_ms": 1000,
        "error": "missing checkpoints: confirm",
        "response": "Booked",
        "messages_count": 0,
        "mode": "dynamic",
        "simulator": "workers.test.guest",
        "turns": [
            {
                "turn": 1,
                "input": "A room, please",
                "input_source": "simulated",
                "status": "passed",
                "output": "Booked",
                "awaiting_input": False,
                "duration_ms": 100,
            }
        ],
        "checkpoints": [
            {
                "id": "ask_town",
                "reached_at_turn": 1,
                "passed": True,
                "required": True,
                "description": "Asks for the town",
            },
            {
                "id": "confirm",
                "reached_at_turn": None,
                "passed": False,
                "required": True,
                "message": 'Expected the output to contain "sure"',
            },
            {
                "id": "offer",
                "reached_at_turn": None,
                "passed": False,
                "required": False,
                "description": "Offers breakfast",
            },
        ],
        "total_turns": 1,
        "cause": "assertion",
        "failures": [{"cause": "assertion", "message": "missing checkpoints: confirm"}],
    }


def test_a_conversation_has_the_keys_of_the_design() -> None:
    record = case_record(CONVERSATION)

    assert (record["test_id"], record["score"], record["threshold"], record["execution_status"]) == (
        "C01",
        0.5,
        0.8,
        "ok",
    )
    assert record["scores"] == [
        {
            "name": "turn-1",
            "type": "rubrics",
            "score": 1.0,
            "verdict": "pass",
            "assertions": [{"text": "Asks back", "passed": True, "score": 1.0, "weight": 1, "reason": "It does"}],
        },
        {
            "name": "turn-2",
            "type": "rubrics",
            "score": 0.5,
            "verdict": "fail",
            "assertions": [
                {"text": "Is polite", "passed": True, "score": 0.9, "weight": 2},
                {
                    "text": "Names towns",
                    "passed": False,
                    "score": 0.0,
                    "weight": 1,
                    "required": True,
                    "reason": "There is none",
                    "id": "towns",
                },
            ],
        },
        {"name": "turn-3", "type": "rubrics", "score": 0.0, "verdict": "skip", "assertions": []},
        {
            "name": "assertions",
            "type": "rubrics",
            "score": 0.5,
            "verdict": "fail",
            "assertions": [{"text": "Stays in Peru", "passed": False, "score": 0.0, "weight": 1, "error": True}],
        },
    ]
    assert record["output"] == [
        {"role": "user", "content": "Plan a trip"},
        {"role": "assistant", "content": "Where to?"},
        {"role": "user", "content": "Peru"},
        {"role": "assistant", "content": "Sure"},
    ]
    assert record["response"] == "Sure"
    assert record["trials"] == [
        {"trial": 1, "score": 0.9, "status": "passed", "duration_ms": 100},
        {"trial": 2, "score": 0.5, "status": "failed", "duration_ms": 200, "error": "score 0.50 is below 0.8"},
    ]
    assert [turn["status"] for turn in record["turns"]] == ["passed", "failed", "skipped"]
    assert record["total_turns"] == 2


def test_a_conversation_that_broke_says_so() -> None:
    from scripttest import Failure

    outcome = CONVERSATION.outcome.replace(failures=(Failure(cause="error", message="agent error: no model"),))

    assert case_record(CONVERSATION.replace(outcome=outcome))["execution_status"] == "error"
