"""What counts in a run: criteria, and cases that were cut short."""

from __future__ import annotations

from typing import Any

import pytest
from table_tests import each

from runner.record import events, model
from runner.record.case_result import CaseResult, TurnResult
from runner.record.fold import Execution
from runner.record.lines import line_of, result_of
from runner.record.model import AGENT_TEST
from runner.record.votes import score_in
from runner.shapes.codec import json_of, value_of
from scripttest import Outcome, Status


@pytest.mark.parametrize(("value", "score"), [(0, 0.0), (1, 1.0), (0.25, 0.25)])
def test_a_number_from_0_to_1_is_a_score(value: float, score: float) -> None:
    assert score_in(value) == score and type(score_in(value)) is float


@each(
    "value",
    [-0.1, 1.1, 10**400, float("nan"), float("inf"), True, "0.5", None, [0.5]],
    ids=lambda value: str(value)[:9],
)
def test_nothing_else_is_one(value: object) -> None:
    assert score_in(value) is None


SUITE = model.Suite(id="/app/a.jsonl", kind=AGENT_TEST, label="a.jsonl", file="/app/a.jsonl", agent="shop")


def skipped(reason: str, cut_short: bool) -> model.TestResult:
    return model.TestResult(
        suite=SUITE.id,
        name="T1",
        position=0,
        outcome=Outcome(name="T1", status=Status.SKIPPED, milliseconds=3, skip_reason=reason),
        case=CaseResult(title=None, input="Hi"),
        cut_short=cut_short,
    )


REASONS = (
    "interrupted",
    "terminated",
    "the terminal was closed",
    "--max-cost 1 is used up ($1.2)",
    "later",
    "a new word",
)


@each("cut_short", [True, False])
@each("reason", REASONS)
def test_what_was_cut_short_is_counted_and_read_whatever_its_reason_says(reason: str, cut_short: bool) -> None:
    result = skipped(reason, cut_short)
    run = Execution()
    run.add(events.RunStart(started_at="", version="", suites=(SUITE,), environment={}))
    run.add(events.TestEnd(result=result))
    assert (run.cut, run.counts.skipped) == (int(cut_short), 1)

    line = line_of(result, SUITE)
    assert result_of(line, suite=SUITE.id, position=0) == result
    assert line.get("cut_short", False) is cut_short
    assert "cut_short" not in line_of(skipped("later", False), SUITE)


@pytest.mark.parametrize("said", ({"skip_reason": "nobody is there"}, {"error": "nobody is there"}))
@pytest.mark.parametrize("no_next_turn", [True, False])
def test_a_turn_in_which_nobody_could_answer_is_read(said: dict[str, Any], no_next_turn: bool) -> None:
    turn = TurnResult(turn=2, input=None, source="", status=Status.SKIPPED, no_next_turn=no_next_turn, **said)
    assert value_of(TurnResult, json_of(turn)) == turn
