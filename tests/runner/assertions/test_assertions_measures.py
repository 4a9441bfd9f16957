"""`latency_ms`, `tokens`, `cost`."""

from __future__ import annotations

from typing import Any

import pytest
from judging import judge
from table_tests import each

from runner.assertions.base import AssertionResult, Evidence

EVIDENCE = Evidence(output="x", milliseconds=812.5, tokens=1200, cost=0.03)
ROWS: list[tuple[str, Any, bool, float, str]] = [
    ("latency_ms", 1000, False, 812.5, ""),
    ("latency_ms", 812.5, False, 812.5, ""),
    ("latency_ms", 500, False, 812.5, "Expected the answer to take at most 500 ms, found 812.5 ms"),
    ("latency_ms", 1000, True, 812.5, "Expected the answer not to take at most 1000 ms, found 812.5 ms"),
    ("tokens", {"max": 2000, "min": 100}, False, 1200, ""),
    (
        "tokens",
        {"max": 1000, "min": 100},
        False,
        1200,
        "Expected the answer to take at least 100 and at most 1000 tokens, found 1200 tokens",
    ),
    ("tokens", {"min": 1300}, False, 1200, "Expected the answer to take at least 1300 tokens, found 1200 tokens"),
    ("cost", 0.05, False, 0.03, ""),
    ("cost", {"max": 0.01}, False, 0.03, "Expected the answer to cost at most 0.01 US dollars, found 0.03 US dollars"),
]


@each(("kind", "value", "negate", "actual", "message"), ROWS)
def test_what_the_answer_took_is_within_bounds(
    kind: str, value: Any, negate: bool, actual: float, message: str
) -> None:
    result = judge({"type": kind, "value": value, "negate": negate}, EVIDENCE)

    assert result == AssertionResult(type=kind, passed=not message, expected=value, actual=actual, message=message)


@pytest.mark.parametrize("negate", [False, True])
def test_a_cost_that_nobody_knows_is_an_error(negate: bool) -> None:
    result = judge({"type": "cost", "value": 1, "negate": negate}, Evidence(output="x"))

    assert (result.passed, result.error) == (False, True)
    assert result.message == (
        'Cannot evaluate "cost": the cost is unknown: neither the provider nor the connector file gives a price'
    )
