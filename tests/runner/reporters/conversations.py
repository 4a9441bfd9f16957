"""Results of cases of several turns, made by hand: those of seed 000 in words of our own, and one of each other mode."""

from __future__ import annotations

from runner.assertions.base import AssertionResult, ToolUse
from runner.results.events import (
    CaseResult,
    CheckpointResult,
    CriterionResult,
    ScoreResult,
    TestResult,
    TrialResult,
    TurnResult,
)
from scripttest import Failure, Outcome, Status


def result(
    id: str,
    status: Status,
    case: CaseResult,
    *failures: Failure,
    milliseconds: float = 1000,
    skip_reason: str | None = None,
    position: int = 0,
) -> TestResult:
    outcome = Outcome(id, status, milliseconds, failures, 0, skip_reason)
    return TestResult("trips", id, position, outcome, (), case)


def failed(what: AssertionResult, phase: str) -> Failure:
    return Failure("assertion", what.message, what.type, phase=phase)


BOOK = ToolUse("book_room", "hotel", {"nights": 2, "kind": "double", "guest-name": ["Ada"]}, {"id": "R-7"})
HELD = AssertionResult("contains", True, "which town", "Which town shall it be?")
CALLED = AssertionResult("tool_called", True, "book_room", ["book_room"], name="book_room")
STATE = AssertionResult("json_path", True, "booked", "booked", path="$.room.status")
MISSED = AssertionResult("contains", False, "R-8", "Booked as R-7", 'Expected the output to contain "R-8"')

STATIC = result(
    "B01",
    "passed",
    CaseResult(
        "Room in three turns",
        None,
        "Booked as R-7",
        "Booked as R-7",
        messages=6,
        mode="multi_turn",
        turns=(
            TurnResult(
                1,
                "I need a room",
                "static",
                "passed",
                "Which town shall it be?",
                "Which town shall it be?",
                True,
                "content_is_question",
                assertions=(HELD,),
                milliseconds=2100,
            ),
            TurnResult(
                2,
                "Basel, two nights",
                "static",
                "passed",
                "",
                "",
                True,
                "tool_requires_confirmation",
                assertions=(CALLED,),
                tools=(BOOK,),
                milliseconds=3200,
            ),
            TurnResult(
                3, "Yes", "static", "passed", "Booked as R-7", "Booked as R-7", False, "completed", milliseconds=1800
            ),
        ),
        final_assertions=(STATE,),
    ),
    milliseconds=7100,
)
WITHOUT_ANSWER = result(
    "B02",
    "skipped",
    CaseResult(
        "Too many guests",
        None,
        "ok",
        mode="multi_turn",
        turns=(
            TurnResult(
                1,
                "A room for forty",
                "static",
                "passed",
                "ok",
                "A manager has to agree. Please give me a reference number.",
                True,
                "content_is_question",
                milliseconds=2000,
            ),
            TurnResult(
                2,
                None,
                "",
                "skipped",
                skip_reason="Agent awaiting input, no next turn defined",
                question="Please give me a reference number.",
            ),
        ),
    ),
    milliseconds=2000,
    skip_reason="Agent awaiting input, no next turn defined",
    position=1,
)
SIMULATED = result(
    "B03",
    "passed",
    CaseResult(
        "Whatever the guest says",
        "Help me with a room",
        "Done",
        "Done",
        mode="multi_turn",
        simulator="agents:workers.test.guest",
        turns=(
            TurnResult(1, "Help me with a room", "initial", "passed", "Where?", "Where?", True, milliseconds=2100),
            TurnResult(2, "In Basel", "simulated", "passed", "When?", "When?", True, milliseconds=800),
            TurnResult(
                3, "Now", "human", "passed", "Done", "Done", milliseconds=2200, note="Goal achieved: a room is booked"
            ),
        ),
        final_assertions=(),
    ),
    milliseconds=5100,
    position=2,
)
BROKEN = result(
    "B04",
    "failed",
    CaseResult(
        None,
        None,
        "Booked as R-7",
        "Booked as R-7",
        mode="multi_turn",
        turns=(
            TurnResult(
                1,
                {"role": "user", "content": [{"type": "text", "text": "This\none"}, {"type": "image", "source": "x"}]},
                "static",
                "failed",
                {"id": "R-7"},
                "",
                assertions=(HELD, MISSED),
                milliseconds=20,
            ),
            TurnResult(2, "And now?", "static", "failed", error="agent error: no model", milliseconds=5),
        ),
        final_assertions=(MISSED,),
    ),
    failed(MISSED, "turn 1"),
    Failure("error", "agent error: no model"),
    failed(MISSED, "final assertions"),
    Failure("assertion", "max turns (2) exceeded"),
)
REACHED = CheckpointResult("ask_town", "Asks for the town", True, 1)
DYNAMIC = result(
    "D01",
    "failed",
    CaseResult(
        None,
        None,
        "Booked",
        "Booked",
        mode="dynamic",
        simulator="workers.test.guest",
        turns=(TurnResult(1, "A room, please", "simulated", "passed", "Booked", "Booked", milliseconds=100),),
        checkpoints=(
            REACHED,
            CheckpointResult("confirm", None, True, None, 'Expected the output to contain "sure"'),
            CheckpointResult("offer", "Offers breakfast", False, None),
        ),
    ),
    Failure("assertion", "missing checkpoints: confirm"),
)
GRADED = CaseResult(
    None,
    None,
    "Sure",
    "Sure",
    mode="conversation",
    turns=(
        TurnResult(1, "Plan a trip", "static", "passed", "Where to?", "Where to?", milliseconds=100),
        TurnResult(2, "Peru", "static", "failed", "Sure", "Sure", error="score 0.50 is below 0.8", milliseconds=100),
        TurnResult(3, "When?", "static", "skipped", skip_reason="an earlier turn failed, and on_turn_failure is stop"),
    ),
    score=0.5,
    scores=(
        ScoreResult("turn-1", "rubrics", 1.0, "pass", (CriterionResult("Asks back", True, 1.0, reason="It does"),)),
        ScoreResult(
            "turn-2",
            "rubrics",
            0.5,
            "fail",
            (
                CriterionResult("Is polite", True, 0.9, weight=2),
                CriterionResult("Names towns", False, 0.0, required=True, reason="There is none", id="towns"),
            ),
        ),
        ScoreResult("turn-3", "rubrics", 0.0, "skip"),
        ScoreResult("assertions", "rubrics", 0.5, "fail", (CriterionResult("Stays in Peru", False, 0.0, error=True),)),
    ),
    transcript=(
        {"role": "user", "content": "Plan a trip"},
        {"role": "assistant", "content": "Where to?"},
        {"role": "user", "content": "Peru"},
        {"role": "assistant", "content": "Sure"},
    ),
    threshold=0.8,
    trials=(TrialResult(1, 0.9, "passed", 100), TrialResult(2, 0.5, "failed", 200, "score 0.50 is below 0.8")),
)
CONVERSATION = result("C01", "failed", GRADED, Failure("assertion", "score 0.50 is below the threshold 0.8"))
