"""Runs of a test: which begin next, when there are enough, and which run again because they broke."""

from __future__ import annotations

import pytest

from runner.execution import repetition
from runner.execution.repetition import Repetition, RetryPasses, Tally, interleave
from runner.execution.stopping import Stop
from runner.options.options import RunOptions
from runner.record import events, model
from runner.record.events import AttemptEnd, Event, Warned
from scripttest import Cause, Failure, Outcome, Status


def result(
    name: str = "a", position: int = 0, run: int = 0, status: Status = Status.PASSED, broke: bool = False
) -> model.TestResult:
    cause = Cause.INFRASTRUCTURE if broke else Cause.ASSERTION
    failures = (Failure(cause=cause, message="gone\nmore"),) if status == Status.FAILED else ()
    outcome = Outcome(name=name, status=status, milliseconds=1, failures=failures)
    return model.TestResult(suite="cases", name=name, position=position, outcome=outcome, run=run)


def broken(run: int = 0) -> model.TestResult:
    return result(run=run, status=Status.FAILED, broke=True)


@pytest.mark.parametrize(
    ("statuses", "min_pass_rate", "status"),
    [
        ([Status.PASSED, Status.PASSED], 100, Status.PASSED),
        ([Status.PASSED, Status.FAILED], 100, Status.FAILED),
        ([Status.PASSED, Status.FAILED], 50, Status.PASSED),
        ([Status.FAILED, Status.FAILED], 50, Status.FAILED),
    ],
)
def test_runs_of_a_test_become_one_result_after_the_last_one(
    statuses: list[Status], min_pass_rate: float, status: Status
) -> None:
    sent: list[Event] = []
    options = RunOptions(inputs=(), runs=len(statuses), min_pass_rate=min_pass_rate)
    repetition = Repetition(sent.append, options)
    ends = [repetition.end(result(run=run, status=one)) for run, one in enumerate(statuses, 1)]
    assert [type(event) for event in sent] == [AttemptEnd, AttemptEnd, events.TestEnd]
    assert ends[0] is None
    assert ends[1] is not None
    assert ends[1].outcome.status == status


@pytest.mark.parametrize(("limit", "enough"), [(None, False), (1, True), (2, False)])
def test_enough_have_failed_when_the_limit_is_reached(limit: int | None, enough: bool) -> None:
    repetition = Repetition(lambda _: None, RunOptions(inputs=(), max_failures=limit))
    repetition.end(result(status=Status.FAILED))
    repetition.end(result("b", 1))
    assert repetition.has_failed_enough is enough


def test_tests_that_are_cut_have_the_result_of_the_runs_that_ended() -> None:
    sent: list[Event] = []
    repetition = Repetition(sent.append, RunOptions(inputs=(), runs=3))
    repetition.end(result(run=1))
    repetition.cut("others")
    assert len(sent) == 1
    repetition.cut("cases")
    assert isinstance(sent[-1], events.TestEnd)
    assert [attempt.run for attempt in sent[-1].result.attempts] == [1]


def test_a_tally_begins_each_run_once() -> None:
    tally = Tally([1, 2, 3], None)
    assert tally.due(known=[2]) == [1, 3]
    assert tally.due() == []
    tally.add(result(run=1))
    tally.add(result(run=3))
    assert tally.due(known=[2]) == []
    assert not tally.is_over
    tally.add(result(run=2))
    assert tally.is_over


def test_a_tally_of_rounds_begins_one_run_a_round() -> None:
    tally = Tally([1, 2, 3], None)
    assert [tally.due(round=round) for round in (1, 1, 2, 4, 4)] == [[1], [], [2], [3], []]


@pytest.mark.parametrize(
    ("lists", "found"),
    [([["a1", "a2"]], ["a1", "a2"]), ([[], []], []), ([["a1"], []], ["a1"])],
)
def test_runs_of_one_variant_keep_their_order(lists: list[list[str]], found: list[str]) -> None:
    assert interleave(lists, "seed") == found


def test_runs_of_variants_are_interleaved_the_same_way_for_a_seed() -> None:
    lists = [[f"{variant}{number}" for number in range(4)] for variant in "abc"]
    mixed = interleave(lists, "7 cases greets")
    assert mixed == interleave(lists, "7 cases greets")
    assert [sorted(one[1] for one in mixed[at : at + 3]) for at in range(0, 12, 3)] == [[f"{n}"] * 3 for n in range(4)]


def test_what_broke_is_postponed_until_the_last_pass_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repetition, "FIRST_PAUSE", 0.0)
    sent: list[Event] = []
    passes = RetryPasses(1, sent.append, Stop())
    assert not passes.holds(result())
    assert not passes.holds(result(status=Status.FAILED))
    assert not passes.continues
    assert passes.holds(broken(), "the case")
    assert passes.continues
    assert list(passes.pauses()) == []
    assert passes.begin() == [(broken(), "the case")]
    assert passes.number == 2
    assert not passes.holds(broken())
    again = passes.with_earlier_errors(result())
    assert again.earlier_errors == ("gone",)
    assert [warning.message for warning in again.outcome.warnings] == [
        "This result is from pass 2; pass 1 ended with an error: gone"
    ]
    assert sent == [Warned(message="Pass 2 of 2, after 0ms: 1 test with an error runs again")]


def test_a_run_that_stops_has_no_further_pass() -> None:
    stop = Stop()
    passes = RetryPasses(3, lambda _: None, stop)
    assert passes.holds(broken())
    stop.request("interrupted", 0)
    assert not passes.continues
    assert not passes.holds(broken(run=2))
    assert passes.take() == [broken()]


@pytest.mark.parametrize(("parallel", "number", "most"), [(8, 1, 8), (8, 2, 2), (2, 2, 1), (1, 5, 1)])
def test_later_passes_run_fewer_tests_at_a_time(parallel: int, number: int, most: int) -> None:
    passes = RetryPasses(9, lambda _: None, Stop())
    passes.number = number
    assert passes.at_a_time(parallel) == most
