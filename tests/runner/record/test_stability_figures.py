"""Figures of several runs, against values worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from table_tests import each

from runner.record.combining import of_runs
from runner.record.lines import as_in_seed, from_seed, line_of, result_of
from runner.record.model import AGENT_TEST, Suite, TestResult
from runner.record.outcomes import Verdict
from runner.record.stability import (
    Attempt,
    answer_of_run,
    classification,
    confidence_interval,
    consistency,
    normalised,
    pass_at,
    pass_hat,
    pass_rate,
    shown_of,
    stability_of,
)
from runner.record.summary import stability_summary
from scripttest.values import fields_of

P, F, S = "passed", "failed", "skipped"


def attempts(*statuses: str, durations: tuple[int, ...] = (), broke: tuple[int, ...] = ()) -> list[Attempt]:
    """Attempts that say the same; `broke` are numbers of runs."""
    return [
        Attempt(
            run=run,
            verdict=Verdict.BROKEN if run in broke else Verdict(status),
            duration_ms=durations[run - 1] if durations else 0,
            answer="same",
        )
        for run, status in enumerate(statuses, 1)
    ]


def test_the_figures_of_a_test_that_always_passes() -> None:
    """The durations are those of the example in seed 004."""
    found = stability_of(attempts(P, P, P, durations=(234, 210, 256)))

    assert found is not None
    assert fields_of(found) == {
        "judged": 3,
        "passed": 3,
        "failed": 0,
        "errors": None,
        "pass_rate": 100.0,
        "consistency": 1.0,
        "stable": True,
        "classification": "stable",
        "avg_duration_ms": 233,
        "min_duration_ms": 210,
        "max_duration_ms": 256,
        "std_deviation_ms": 18.8,  # the root of (0.67² + 23.33² + 22.67²) / 3
        "confidence_interval": (43.9, 100.0),
        "pass_at_k": {1: 1.0, 2: 1.0, 3: 1.0},
        "pass_hat_k": {1: 1.0, 2: 1.0, 3: 1.0},
        "avg_tokens": None,
        "avg_cost": None,
    }


def test_the_figures_of_a_test_that_fails_once_of_four_times() -> None:
    runs = [
        Attempt(run=1, verdict=Verdict.PASSED, duration_ms=10, answer="a", tokens=100, cost=0.01),
        Attempt(run=2, verdict=Verdict.FAILED, duration_ms=20, answer="b", tokens=200, cost=0.02),
        Attempt(run=3, verdict=Verdict.PASSED, duration_ms=30, answer="a", tokens=300),
        Attempt(run=4, verdict=Verdict.PASSED, duration_ms=40, answer="c", tokens=401, cost=0.03),
    ]

    found = stability_of(runs)

    assert found is not None
    assert fields_of(found) == {
        "judged": 4,
        "passed": 3,
        "failed": 1,
        "errors": None,
        "pass_rate": 75.0,
        "consistency": 0.5,
        "stable": False,
        "classification": "unstable",
        "avg_duration_ms": 25,
        "min_duration_ms": 10,
        "max_duration_ms": 40,
        "std_deviation_ms": 11.2,  # the root of 125
        "confidence_interval": (30.1, 95.4),
        "pass_at_k": {1: 0.75, 2: 1.0, 3: 1.0, 4: 1.0},
        "pass_hat_k": {1: 0.75, 2: 0.5, 3: 0.25, 4: 0.0},
        "avg_tokens": 250,
        "avg_cost": 0.02,
    }


def test_skipped_and_broken_runs_are_in_no_figure_but_errors() -> None:
    runs = attempts(S, P, F, P, durations=(900, 10, 800, 30), broke=(3,))

    found = stability_of(runs)

    assert found is not None
    figures = (found.judged, found.passed, found.failed, found.errors, found.pass_rate, found.avg_duration_ms)
    assert figures == (2, 2, 0, 1, 100.0, 20)


@pytest.mark.parametrize("runs", [attempts(S, S), attempts(F, F, broke=(1, 2)), []], ids=["skipped", "broke", "none"])
def test_without_a_run_that_was_judged_there_are_no_figures(runs: list[Attempt]) -> None:
    assert stability_of(runs) is None


def test_k_of_many_runs_is_a_round_number_or_their_count() -> None:
    found = stability_of(attempts(*[P] * 60))

    assert found is not None
    assert list(found.pass_at_k) == list(found.pass_hat_k) == [1, 2, 3, 5, 10, 20, 50, 60]


RATES = {
    (0, 0): 0.0,
    (0, 3): 0.0,
    (1, 3): 33.3,
    (2, 3): 66.7,
    (3, 3): 100.0,
    (120, 126): 95.2,
    (1999, 2000): 99.9,
    (1, 4000): 0.1,
}


@each(("counts", "rate"), RATES.items(), ids=str)
def test_pass_rate_is_a_percentage_with_one_digit(counts: tuple[int, int], rate: float) -> None:
    """None and all are never what rounding makes of something else."""
    assert pass_rate(*counts) == rate


CLASSES = {
    (100, 100): "stable",
    (1999, 2000): "mostly stable",
    (99, 100): "mostly stable",
    (4, 5): "mostly stable",
    (799, 1000): "unstable",
    (1, 2): "unstable",
    (499, 1000): "highly unstable",
    (0, 5): "highly unstable",
}


@each(("counts", "name"), CLASSES.items(), ids=str)
def test_the_class_of_a_test_is_that_of_the_seed(counts: tuple[int, int], name: str) -> None:
    assert classification(*counts) == name


INTERVALS = {
    (0, 1): (0.0, 79.3),
    (1, 1): (20.7, 100.0),
    (0, 10): (0.0, 27.8),
    (5, 10): (23.7, 76.3),
    (8, 10): (49.0, 94.3),
    (10, 10): (72.2, 100.0),
    (95, 100): (88.8, 97.8),
}
"""From the formula of Wilson (1927); 8 of 10, 5 of 10 and 95 of 100 stand in textbooks."""


@each(("counts", "interval"), INTERVALS.items(), ids=str)
def test_the_confidence_interval_is_that_of_wilson(counts: tuple[int, int], interval: tuple[float, float]) -> None:
    assert confidence_interval(*counts) == interval


ESTIMATES = {
    # passed, count, k: pass@k, pass^k
    (0, 5, 1): (0, 0),
    (5, 5, 5): (1, 1),
    (2, 5, 1): (2 / 5, 2 / 5),
    (2, 5, 2): (1 - 3 / 10, 1 / 10),
    (2, 5, 3): (1 - 1 / 10, 0),
    (2, 5, 4): (1, 0),
    (4, 6, 3): (1, 4 / 20),
    (50, 100, 2): (1 - 1225 / 4950, 1225 / 4950),
}


@each(("counts", "expected"), ESTIMATES.items(), ids=str)
def test_pass_at_k_and_pass_hat_k_count_the_choices_of_k_runs(
    counts: tuple[int, int, int], expected: tuple[float, float]
) -> None:
    assert (pass_at(*counts), pass_hat(*counts)) == pytest.approx(expected)


@each(
    ("answers", "share"),
    [("a", 1.0), ("aaa", 1.0), ("aab", 0.67), ("abc", 0.33), ("aabb", 0.5), ("a" * 999 + "b", 0.99)],
)
def test_consistency_is_the_share_of_the_most_frequent_answer(answers: str, share: float) -> None:
    assert consistency(list(answers)) == share


SAME: dict[str, tuple[Any, Any]] = {
    "order of keys": ({"a": 1, "b": [{"c": 2, "d": 3}]}, {"b": [{"d": 3, "c": 2}], "a": 1}),
    "blanks": ("  one\n two\t", "one two"),
    "forms of Unicode": ("Gru\u0308\u00dfe", "Gr\u00fc\u00dfe"),
    "numbers": ([1.0, 2.5], [1, 2.5]),
    "lone surrogates": ("a \ud800", "a  \ud800"),
}


@each(("one", "other"), SAME.values(), ids=SAME)
def test_outputs_that_mean_the_same_are_equal(one: Any, other: Any) -> None:
    assert normalised(one) == normalised(other)


def nested(depth: int, inside: Any) -> Any:
    for _ in range(depth):
        inside = {"a": [inside]}
    return inside


def test_outputs_may_be_nested_to_any_depth() -> None:
    assert normalised(nested(10_000, 1.0)) == normalised(nested(10_000, 1))
    assert normalised(nested(10_000, 1)) != normalised(nested(10_000, 2))
    assert normalised(nested(9_999, 1)) != normalised(nested(10_000, 1))


OTHERS: dict[str, tuple[Any, Any]] = {
    "lists in lists": ([[1], [2]], [[1, [2]]]),
    "keys in objects": ({"a": {"b": 1}}, {"a": {}, "b": 1}),
    "upper and lower case": ("Yes", "yes"),
    "a text and a number": ("1", 1),
    "order of a list": ([1, 2], [2, 1]),
    "true and one": (True, 1),
    "nothing and an empty text": (None, ""),
    "words": ("one two", "onetwo"),
}


@each(("one", "other"), OTHERS.values(), ids=OTHERS)
def test_outputs_that_mean_something_else_are_not_equal(one: Any, other: Any) -> None:
    assert normalised(one) != normalised(other)


ENDS: dict[str, tuple[list[Attempt], float, int]] = {
    "all pass": (attempts(P, P), 100, 0),
    "one fails": (attempts(P, F, F), 100, 1),
    "enough pass": (attempts(F, P, P), 66.7, 1),
    "too few pass": (attempts(F, P, P), 66.8, 0),
    "skipped ones do not count": (attempts(S, P, F), 50, 1),
    "all are skipped": (attempts(S, S), 100, 0),
    "one broke": (attempts(P, F, P), 50, 0),
    "one broke, the others pass": (attempts(P, F, P, broke=(2,)), 50, 1),
    "one broke, another fails": (attempts(P, F, F, broke=(2,)), 100, 2),
    "all broke": (attempts(F, F, broke=(1, 2)), 1, 0),
}


@each(("runs", "least", "index"), ENDS.values(), ids=ENDS)
def test_a_test_ends_like_one_of_its_runs(runs: list[Attempt], least: float, index: int) -> None:
    assert shown_of(runs, least) == index


def record(run: int, status: str, **more: Any) -> dict[str, Any]:
    """A `result` line of one run."""
    return {"id": "a", "run": run, "status": status, "duration_ms": 10 * run, "input": "Hi", "output": "yes", **more}


SUITE = Suite(id="", kind=AGENT_TEST, label="", file="", agent="demo")


def combined(*lines: dict[str, Any]) -> dict[str, Any]:
    """The line of a test from those of its runs."""
    results = sorted(map(result_of, lines), key=lambda result: result.run)
    return line_of(of_runs(results, 100), SUITE)


def answer(line: dict[str, Any]) -> str:
    result: TestResult = result_of(line)
    return answer_of_run(result.outcome, result.case)


def test_records_of_runs_become_the_record_of_the_test() -> None:
    """The first run that ended like the test, what all took, and the figures."""
    usage = {"input_tokens": 5, "output_tokens": 1}
    lines = [
        record(2, F, output="no", error="it is no", usage=usage, model_calls=1),
        record(1, P, usage={**usage, "cost": 0.5}, model_calls=2),
    ]

    found = combined(*lines)

    assert {key: value for key, value in found.items() if key in (*lines[0], "model_calls", "usage")} == {
        "id": "a",
        "status": F,
        "duration_ms": 15,
        "input": "Hi",
        "output": "no",
        "error": "it is no",
        "model_calls": 3,
        "usage": {"input_tokens": 10, "output_tokens": 2, "cost": 0.5},
    }
    assert found["runs"]["attempts"] == [
        {"run": 1, "status": P, "duration_ms": 10, "output": "yes", "tokens": 6, "cost": 0.5},
        {"run": 2, "status": F, "duration_ms": 20, "output": "no", "error": "it is no", "tokens": 6},
    ]


def test_a_result_as_the_seed_prints_it_leads_back_to_the_record() -> None:
    found = combined(record(1, P), record(2, F, error="no"), record(3, P))

    printed = as_in_seed(found)

    seed = "runs passed failed pass_rate consistency stable avg_duration_ms min_duration_ms max_duration_ms"
    assert {key: printed[key] for key in [*seed.split(), "std_deviation_ms"]} == {
        "runs": 3,
        "passed": 2,
        "failed": 1,
        "pass_rate": 66.7,
        "consistency": 1.0,
        "stable": False,
        "avg_duration_ms": 20,
        "min_duration_ms": 10,
        "max_duration_ms": 30,
        "std_deviation_ms": 8.2,
    }
    assert printed["run_details"][0] == {"run": 1, "status": P, "duration_ms": 10, "output": "yes"}
    assert from_seed(printed) == found


def test_the_answer_of_a_conversation_is_what_the_agent_said_in_each_turn() -> None:
    turns = [{"input": "Hi", "output": "yes"}, {"input": "So?", "output": "no"}]
    one = answer(record(1, P, turns=turns, output=["the transcript"]))
    other = answer(record(2, P, turns=[{**turn, "input": "Hey"} for turn in turns], output=["another one"]))

    assert one == other == normalised(["yes", "no"])


def test_the_answer_of_a_script_test_is_how_it_ended() -> None:
    script = {"id": "a", "script": "scripts.demo.a"}
    passed = {**script, "status": P, "duration_ms": 1, "logs": ["a"]}
    failed = {**script, "status": F, "duration_ms": 1, "error": "boom", "logs": []}

    answers = [answer(line) for line in (passed, {**passed, "logs": ["b"]}, failed)]

    assert answers[0] == answers[1] != answers[2]


def test_the_summary_counts_tests_and_runs() -> None:
    steady = stability_of(attempts(P, P))
    shaky = stability_of(attempts(P, F))
    assert steady is not None and shaky is not None
    results = [
        result_of({"id": "a", "status": P}, stability=steady),
        result_of({"id": "b", "status": F}, stability=shaky),
        result_of({"id": "c", "status": F, "cause": "error"}),
        result_of({"id": "d", "status": F, "cause": "infrastructure"}),
        result_of({"id": "e", "status": S}),
    ]

    assert stability_summary(results) == {
        "total_cases": 5,
        "total_runs": 5,
        "overall_pass_rate": 60.0,
        "stable_cases": 1,
        "unstable_cases": 2,
    }
