"""Results of cases of several turns, made by hand: those of seed 000 in words of our own, and one of each other mode."""

from __future__ import annotations

from runner.assertions.base import AssertionResult, ToolUse
from runner.record.case_result import (
    CaseResult,
    CheckpointResult,
    CriterionResult,
    ScoreResult,
    TrialResult,
    TurnResult,
)
from runner.record.model import TestResult
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
    outcome = Outcome(
        name=id, status=status, milliseconds=milliseconds, failures=failures, assertions=0, skip_reason=skip_reason
    )
    return TestResult(suite="trips", name=id, position=position, outcome=outcome, logs=(), case=case)


def failed(what: AssertionResult, phase: str) -> Failure:
    return Failure(cause="assertion", message=what.message, type=what.type, phase=phase)


BOOK = ToolUse(
    name="book_room",
    server="hotel",
    arguments={"nights": 2, "kind": "double", "guest-name": ["Ada"]},
    result={"id": "R-7"},
)
HELD = AssertionResult(type="contains", passed=True, expected="which town", actual="Which town shall it be?")
CALLED = AssertionResult(type="tool_called", passed=True, expected="book_room", actual=["book_room"], name="book_room")
STATE = AssertionResult(type="json_path", passed=True, expected="booked", actual="booked", path="$.room.status")
MISSED = AssertionResult(
    type="contains",
    passed=False,
    expected="R-8",
    actual="Booked as R-7",
    message='Expected the output to contain "R-8"',
)

STATIC = result(
    "B01",
    "passed",
    CaseResult(
        title="Room in three turns",
        input=None,
        output="Booked as R-7",
        response="Booked as R-7",
        messages=6,
        mode="multi_turn",
        in_turns=True,
        turns=(
            TurnResult(
                turn=1,
                input="I need a room",
                source="static",
                status="passed",
                output="Which town shall it be?",
                response="Which town shall it be?",
                awaiting_input=True,
                awaiting_reason="content_is_question",
                assertions=(HELD,),
                milliseconds=2100,
            ),
            TurnResult(
                turn=2,
                input="Basel, two nights",
                source="static",
                status="passed",
                output="",
                response="",
                awaiting_input=True,
                awaiting_reason="tool_requires_confirmation",
                assertions=(CALLED,),
                tools=(BOOK,),
                milliseconds=3200,
            ),
            TurnResult(
                turn=3,
                input="Yes",
                source="static",
                status="passed",
                output="Booked as R-7",
                response="Booked as R-7",
                awaiting_input=False,
                awaiting_reason="completed",
                milliseconds=1800,
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
        title="Too many guests",
        input=None,
        output="ok",
        mode="multi_turn",
        in_turns=True,
        turns=(
            TurnResult(
                turn=1,
                input="A room for forty",
                source="static",
                status="passed",
                output="A manager has to agree. Please give me a reference number.",
                response="A manager has to agree. Please give me a reference number.",
                awaiting_input=True,
                awaiting_reason="content_is_question",
                milliseconds=2000,
            ),
            TurnResult(
                turn=2,
                input=None,
                source="",
                status="skipped",
                skip_reason="Agent awaiting input, no next turn defined",
                question="Please give me a reference number.",
                no_next_turn=True,
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
        title="Whatever the guest says",
        input="Help me with a room",
        output="Done",
        response="Done",
        mode="multi_turn",
        in_turns=True,
        simulator="workers.test.guest",
        turns=(
            TurnResult(
                turn=1,
                input="Help me with a room",
                source="initial",
                status="passed",
                output="Where?",
                response="Where?",
                awaiting_input=True,
                milliseconds=2100,
            ),
            TurnResult(
                turn=2,
                input="In Basel",
                source="simulated",
                status="passed",
                output="When?",
                response="When?",
                awaiting_input=True,
                milliseconds=800,
            ),
            TurnResult(
                turn=3,
                input="Now",
                source="human",
                status="passed",
                output="Done",
                response="Done",
                milliseconds=2200,
                note="Goal achieved: a room is booked",
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
        title=None,
        input=None,
        output="Booked as R-7",
        response="Booked as R-7",
        mode="multi_turn",
        in_turns=True,
        turns=(
            TurnResult(
                turn=1,
                input={
                    "role": "user",
                    "content": [{"type": "text", "text": "This\none"}, {"type": "image", "source": "x"}],
                },
                source="static",
                status="failed",
                output={"id": "R-7"},
                response="",
                assertions=(HELD, MISSED),
                milliseconds=20,
            ),
            TurnResult(
                turn=2,
                input="And now?",
                source="static",
                status="failed",
                error="agent error: no model",
                milliseconds=5,
            ),
        ),
        final_assertions=(MISSED,),
    ),
    failed(MISSED, "turn 1"),
    Failure(cause="error", message="agent error: no model"),
    failed(MISSED, "final assertions"),
    Failure(cause="assertion", message="max turns (2) exceeded"),
)
REACHED = CheckpointResult(id="ask_town", description="Asks for the town", required=True, reached_at_turn=1)
DYNAMIC = result(
    "D01",
    "failed",
    CaseResult(
        title=None,
        input=None,
        output="Booked",
        response="Booked",
        mode="dynamic",
        in_turns=True,
        simulator="workers.test.guest",
        turns=(
            TurnResult(
                turn=1,
                input="A room, please",
                source="simulated",
                status="passed",
                output="Booked",
                response="Booked",
                milliseconds=100,
            ),
        ),
        checkpoints=(
            REACHED,
            CheckpointResult(
                id="confirm",
                description=None,
                required=True,
                reached_at_turn=None,
                message='Expected the output to contain "sure"',
            ),
            CheckpointResult(id="offer", description="Offers breakfast", required=False, reached_at_turn=None),
        ),
    ),
    Failure(cause="assertion", message="missing checkpoints: confirm"),
)
GRADED = CaseResult(
    title=None,
    input=None,
    output="Sure",
    response="Sure",
    mode="conversation",
    in_turns=True,
    scores_turns=True,
    turns=(
        TurnResult(
            turn=1,
            input="Plan a trip",
            source="static",
            status="passed",
            output="Where to?",
            response="Where to?",
            milliseconds=100,
        ),
        TurnResult(
            turn=2,
            input="Peru",
            source="static",
            status="failed",
            output="Sure",
            response="Sure",
            error="score 0.50 is below 0.8",
            milliseconds=100,
        ),
        TurnResult(
            turn=3,
            input="When?",
            source="static",
            status="skipped",
            skip_reason="an earlier turn failed, and on_turn_failure is stop",
        ),
    ),
    score=0.5,
    scores=(
        ScoreResult(
            name="turn-1",
            type="rubrics",
            score=1.0,
            verdict="pass",
            assertions=(CriterionResult(text="Asks back", passed=True, score=1.0, reason="It does"),),
        ),
        ScoreResult(
            name="turn-2",
            type="rubrics",
            score=0.5,
            verdict="fail",
            assertions=(
                CriterionResult(text="Is polite", passed=True, score=0.9, weight=2),
                CriterionResult(
                    text="Names towns", passed=False, score=0.0, required=True, reason="There is none", id="towns"
                ),
            ),
        ),
        ScoreResult(name="turn-3", type="rubrics", score=0.0, verdict="skip"),
        ScoreResult(
            name="assertions",
            type="rubrics",
            score=0.5,
            verdict="fail",
            assertions=(CriterionResult(text="Stays in Peru", passed=False, score=0.0, error=True),),
        ),
    ),
    transcript=(
        {"role": "user", "content": "Plan a trip"},
        {"role": "assistant", "content": "Where to?"},
        {"role": "user", "content": "Peru"},
        {"role": "assistant", "content": "Sure"},
    ),
    threshold=0.8,
    trials=(
        TrialResult(trial=1, score=0.9, status="passed", milliseconds=100),
        TrialResult(trial=2, score=0.5, status="failed", milliseconds=200, error="score 0.50 is below 0.8"),
    ),
)
CONVERSATION = result(
    "C01", "failed", GRADED, Failure(cause="assertion", message="score 0.50 is below the threshold 0.8")
)
