"""The result of a graded conversation in which something breaks."""

from __future__ import annotations

import pytest
from agent_files import agent
from case_runs import one_result
from command import MakeApplication, Record
from travel_planner import GOOD, REPLIES, conversation, demo, failures, turn, verdicts

from runner.record.case_result import CaseResult

ORDERLY = "agent error: The model scripted failed: 400 Bad Request: out of order"
RULE = "Rule 5 of assistants/demo/replies.yml sets this error"


def outcomes(case: CaseResult) -> list[tuple[str, str | None]]:
    """How each turn ended, and why."""
    return [(turn.status, turn.error) for turn in case.turns]


def test_an_agent_error_fails_its_turn_and_the_conversation_goes_on(app: MakeApplication) -> None:
    case = conversation(GOOD, turn("fail", 'Says "x"'), GOOD, assertions=['Says "Tea"'], threshold=0.7)
    result, record = one_result(demo(app), case)

    assert failures(result) == [("error", f"{ORDERLY}. {RULE}")], "the score would reach the threshold"
    assert result.outcome.failures[0].phase == "turn 2"
    assert verdicts(record) == [
        ("turn-1", 1, "pass"),
        ("turn-2", 0, "fail"),
        ("turn-3", 1, "pass"),
        ("assertions", 1, "pass"),
    ]
    assert record.score == 0.75
    assert outcomes(record) == [("passed", None), ("failed", ORDERLY), ("passed", None)]
    assert [message["content"] for message in record.transcript] == [
        "Tea",
        "You said: Tea",
        "fail",
        "Tea",
        "You said: Tea",
    ]


def test_a_score_that_is_too_low_for_an_error_blames_the_turn(app: MakeApplication) -> None:
    result, _ = one_result(demo(app), conversation(GOOD, "fail", GOOD))

    assert [failure.message for failure in result.outcome.failures] == [
        f"{ORDERLY}. {RULE}",
        "score 0.67 is below the threshold 0.8 (turn-2: no answer)",
    ]


ERRORS: dict[str, tuple[Record, list[str], list[tuple[str, float, str]]]] = {
    "in the first turn": (
        conversation("fail", GOOD),
        ["failed", "passed"],
        [("turn-1", 0, "fail"), ("turn-2", 1, "pass")],
    ),
    "in the last turn": (
        conversation(GOOD, "fail", assertions=['Says "Tea"']),
        ["passed", "failed"],
        [("turn-1", 1, "pass"), ("turn-2", 0, "fail"), ("assertions", 1, "pass")],
    ),
    "in two turns": (
        conversation(GOOD, "fail", "fail"),
        ["passed", "failed", "failed"],
        [("turn-1", 1, "pass"), ("turn-2", 0, "fail"), ("turn-3", 0, "fail")],
    ),
    "in all turns": (
        conversation("fail", "fail", assertions=['Says "Tea"']),
        ["failed", "failed"],
        [("turn-1", 0, "fail"), ("turn-2", 0, "fail"), ("assertions", 0, "skip")],
    ),
    "where the best turn counts": (
        conversation(GOOD, "fail", aggregation="max"),
        ["passed", "failed"],
        [("turn-1", 1, "pass"), ("turn-2", 0, "fail")],
    ),
    "continue is written": (
        conversation("fail", GOOD, on_turn_failure="continue"),
        ["failed", "passed"],
        [("turn-1", 0, "fail"), ("turn-2", 1, "pass")],
    ),
    "stop is written": (
        conversation(GOOD, "fail", GOOD, on_turn_failure="stop"),
        ["passed", "failed", "skipped"],
        [("turn-1", 1, "pass"), ("turn-2", 0, "fail"), ("turn-3", 0, "skip")],
    ),
    "stop is written, and it is the first": (
        conversation("fail", GOOD, on_turn_failure="stop", assertions=['Says "Tea"']),
        ["failed", "skipped"],
        [("turn-1", 0, "fail"), ("turn-2", 0, "skip"), ("assertions", 0, "skip")],
    ),
}


@pytest.mark.parametrize(("case", "statuses", "scores"), ERRORS.values(), ids=ERRORS)
def test_an_agent_error_never_passes_a_case(
    app: MakeApplication, case: Record, statuses: list[str], scores: list[tuple[str, float, str]]
) -> None:
    result, record = one_result(demo(app), case)

    assert ([turn.status for turn in record.turns], verdicts(record)) == (statuses, scores)
    errors = [cause for cause, _ in failures(result) if cause == "error"]
    assert (result.outcome.status, len(errors)) == ("failed", statuses.count("failed"))


def test_a_model_host_that_fails_in_a_turn_makes_the_case_broken_and_not_failed(app: MakeApplication) -> None:
    replies = "- when: { input: down }\n  reply: { error: { status: 503, message: no room } }\n" + REPLIES
    result, record = one_result(app(agent(replies=replies)), conversation(GOOD, "down", GOOD))

    assert [cause for cause, _ in failures(result)] == ["infrastructure"]
    assert [turn.status for turn in record.turns] == ["passed", "failed", "passed"]


def test_a_timeout_keeps_the_turns_so_far(app: MakeApplication) -> None:
    replies = "- when: { input: slow }\n  reply: { text: Late, delay: 1h }\n" + REPLIES
    result, case = one_result(app(agent(replies=replies)), conversation(GOOD, "slow", GOOD, timeout="1.5s"))

    assert failures(result) == [("timeout", "timeout after 1.5s")]
    assert [(turn.turn, turn.response, turn.status, turn.error) for turn in case.turns] == [
        (1, "You said: Tea", "passed", None),
        (2, "", "failed", "timeout after 1.5s"),
    ]
    assert verdicts(case) == [("turn-1", 1, "pass"), ("turn-2", 0, "fail"), ("turn-3", 0, "skip")]
