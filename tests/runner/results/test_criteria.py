"""What counts as a score in a report."""

from __future__ import annotations

import pytest

from runner.record.votes import score_in


@pytest.mark.parametrize(("value", "score"), [(0, 0.0), (1, 1.0), (0.25, 0.25)])
def test_a_number_from_0_to_1_is_a_score(value: float, score: float) -> None:
    assert score_in(value) == score and type(score_in(value)) is float


@pytest.mark.parametrize(
    "value",
    [-0.1, 1.1, 10**400, float("nan"), float("inf"), True, "0.5", None, [0.5]],
    ids=lambda value: str(value)[:9],
)
def test_nothing_else_is_one(value: object) -> None:
    assert score_in(value) is None
