"""When a loop that looks at a stopped clock and repeats its calls counts as one that waits.

The first two rounds have calls that are new; rounds without progress begin with the third.
"""

from __future__ import annotations

import pytest
from parts_realm import evaluate

LOOP = """(() => {
    let real = 0;
    kernel.clock = () => real;
    const waiting = part("waiting");
    for (let round = 0; round < %d; round++) {
        real += %g;
        waiting.call("jobs.State", %s, () => { waiting.heard({ writes: %s }, false); return "busy"; });
        try { waiting.look(1); } catch (error) { return error.message.includes("calls such as jobs.State") && round; }
    }
    return "never";
})()"""
SAME, OTHER = "[1]", "[round]"
EACH = "round"
"""Writes that the host has counted, when each round has one."""


@pytest.mark.parametrize(
    ("rounds", "milliseconds", "args", "ends"),
    [
        (3000, 1, SAME, "never"),
        (3100, 1, SAME, 3002),
        (10_000, 0.1, SAME, "never"),
        (25_000, 0.1, SAME, 20_003),
        (10_000, 1, OTHER, "never"),
        (1000, 20, SAME, "never"),
        (1100, 20, SAME, 1002),
        (1100, 9, SAME, "never"),
        (1500, 9, SAME, 1114),
    ],
)
def test_many_rounds_that_took_long_are_a_wait(rounds: int, milliseconds: float, args: str, ends: object) -> None:
    assert evaluate(LOOP % (rounds, milliseconds, args, "0")) == ends


@pytest.mark.parametrize(("rounds", "ends"), [(20_000, "never"), (25_000, 23_002)])
def test_writes_are_progress_for_a_while(rounds: int, ends: object) -> None:
    assert evaluate(LOOP % (rounds, 1, SAME, EACH)) == ends
