"""Where a series changed: what is found, and how seldom something is found where nothing changed."""

from __future__ import annotations

import random

import pytest

from runner.statistics.change import level_break, rate_break
from runner.statistics.exact_tests import CaseRuns, single_case


def test_a_test_that_breaks_is_found_when_chance_is_ruled_out() -> None:
    """Ten passes, then failures: each place between two runs could be the one, so all of them count."""
    few, enough = 10 * [1] + 3 * [0], 10 * [1] + 4 * [0]
    assert rate_break(few, 13 * [1]) is None
    found = rate_break(enough, 14 * [1])
    assert found is not None
    assert (found.at, found.before, found.after) == (10, 1.0, 0.0)
    assert found.p == pytest.approx(13 * single_case(CaseRuns(passed_a=10, runs_a=10, passed_b=0, runs_b=4)).p)


def test_the_last_change_is_the_one_that_counts() -> None:
    found = rate_break(12 * [1] + 12 * [0] + 12 * [1], 36 * [1])
    assert found is not None
    assert (found.at, found.before, found.after) == (24, 0.0, 1.0)


def test_without_chance_each_difference_counts() -> None:
    assert rate_break([1, 1, 1], [1, 1, 1], steady=True) is None
    found = rate_break([1, 0, 1, 1, 0], 5 * [1], steady=True)
    assert found is not None
    assert (found.at, found.before, found.after, found.p) == (4, 1.0, 0.0, 0.0)


def test_several_runs_at_a_time_say_more() -> None:
    found = rate_break([5, 5, 0], [5, 5, 5])
    assert found is not None
    assert found.at == 2


def test_where_nothing_changed_little_is_found() -> None:
    draw = random.Random(1)
    rates = [[int(draw.random() < 0.8) for _ in range(30)] for _ in range(300)]
    times = [[draw.lognormvariate(3, 0.4) for _ in range(30)] for _ in range(300)]
    assert sum(rate_break(passed, 30 * [1]) is not None for passed in rates) <= 15
    assert sum(level_break(values) is not None for values in times) <= 15


def test_a_level_that_changes_is_found() -> None:
    draw = random.Random(2)
    values = [draw.lognormvariate(3, 0.2) for _ in range(15)] + [draw.lognormvariate(3.8, 0.2) for _ in range(8)]
    found = level_break(values)
    assert found is not None
    assert abs(found.at - 15) <= 1
    assert found.after / found.before == pytest.approx(2.2, rel=0.2)
    assert level_break([1.0, 2.0]) is None
    exact = level_break([1.0, 1.0, 2.0, 2.0])
    assert exact is not None
    assert (exact.at, exact.p) == (2, 0.0)
