"""Policies of repeats as values: what they stop at, and that stopping early says what all runs would have said."""

from __future__ import annotations

import itertools

from table_tests import each

from runner.record.outcomes import Verdict
from runner.record.stability import repeat_of
from runner.statistics.policies import read_policy

WORDS = {"p": Verdict.PASSED, "f": Verdict.FAILED, "b": Verdict.BROKEN, "i": Verdict.INCONCLUSIVE}


@each("policy", ["all of 4", "any of 4", "majority of 5", "3 of 5", "60% of 5"])
def test_stopping_early_says_what_all_runs_say(policy: str) -> None:
    """Waves too: no verdict is possible before the end of one."""
    most = read_policy(policy).most
    for runs in itertools.product("pf", repeat=most):
        made = 0
        while wave := repeat_of(policy, [WORDS[run] for run in runs[:made]]).due:
            assert all(repeat_of(policy, [WORDS[run] for run in runs[: made + few]]).due for few in range(wave))
            made += wave
        stopped = repeat_of(policy, [WORDS[run] for run in runs[:made]])
        every = repeat_of({"pass": policy, "stop": False}, [WORDS[run] for run in runs])
        assert (stopped.verdict, stopped.decided_after) == (every.verdict, made)


@each(
    ("runs", "verdict"),
    [
        ("bbb", None),
        ("bbbb", "broken"),
        ("bpbb", "passed"),
        ("ibii", "inconclusive"),
        ("fbib", None),
        ("fbff", "failed"),
    ],
)
def test_broken_runs_are_made_up_for_and_not_for_ever(runs: str, verdict: str | None) -> None:
    assert repeat_of("any of 3", [WORDS[run] for run in runs]).verdict == verdict
