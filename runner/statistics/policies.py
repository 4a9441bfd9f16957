"""Policies for repeated runs as people write them, `4 of 5` or `95% not 70%`, and the same as JSON objects.

| written | passes if |
| --- | --- |
| `all of 5`, `any of 3`, `majority of 5`, `4 of 5`, `80% of 5` | so many of so many judged runs pass |
| `95% not 70%`, `{good, bad, most?, error?}` | the runs show that the first is the pass rate rather than the second |
| `{pass: "4 of 5", stop: false}` | as without `stop`, but all runs are made |
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from runner.statistics.repeats import KOfN, RatesAt, Sequential, Standing
from scripttest.values import Value

Written = str | Mapping[str, Any]
"""A policy as a flag, a case or a report has it."""
MOST_RUNS = 1000
HINT = 'Such as "4 of 5", "all of 3", "any of 3", "majority of 5", "80% of 5" or "95% not 70%"'
_K_OF_N = re.compile(r"(all|any|majority|\d+|\d+(?:\.\d+)?%) of (\d+)")
_RATES = re.compile(r"(\d+(?:\.\d+)?)% not (\d+(?:\.\d+)?)%")


class PolicyError(ValueError):
    """A policy that cannot be read, or that cannot be; the text says why, `hint` what to write."""

    def __init__(self, problem: str, hint: str = HINT) -> None:
        super().__init__(problem)
        self.hint = hint


class Policy(Value):
    """Decides when enough runs of a case are made, and their verdict."""

    text: str
    """For people: `4 of 5`, `95% not 70%`."""
    rule: KOfN | Sequential
    stops: bool = True
    """Whether runs that can no longer change the verdict are not made."""

    @property
    def most(self) -> int:
        """Judged runs at most."""
        return self.rule.of if isinstance(self.rule, KOfN) else self.rule.most

    @property
    def wave(self) -> int:
        """Number of runs that are made in any case."""
        return self.after(()).next_wave

    @property
    def exact_errors(self) -> Sequence[RatesAt]:
        """How a sequential test ends at its good rate, between both, and at its bad one; empty for others."""
        return () if isinstance(self.rule, KOfN) else self.rule.exact_errors()

    def after(self, outcomes: Sequence[str]) -> Standing:
        """The verdict after outcomes in the order of the runs: `p` passed, `f` failed; others are ignored."""
        found = self.rule.after(outcomes)
        if self.stops:
            return found
        judged = sum(outcome in "pf" for outcome in outcomes)
        if judged < self.most:
            return Standing(
                verdict=None,
                decided_after=None,
                judged=judged,
                passed=outcomes.count("p"),
                next_wave=self.most - judged,
            )
        return found.replace(judged=judged, passed=outcomes.count("p"))


def read_policy(written: Written) -> Policy:
    """The policy that somebody wrote. Raises PolicyError."""
    if isinstance(written, str):
        return _of_text(written)
    if "pass" in written:
        extra = sorted(written.keys() & {"good", "bad", "most", "error"})
        if extra:
            raise PolicyError(f'"pass" and "{extra[0]}" cannot be used together')
        policy = _of_text(str(written["pass"]))
        if written.get("stop") is not False:
            return policy
        if isinstance(policy.rule, Sequential):
            raise PolicyError('"stop": false is only for a number of runs', "Two rates are told apart by stopping")
        return policy.replace(text=f"{policy.text}, all made", stops=False)
    if "good" not in written or "bad" not in written:
        raise PolicyError('it needs "pass", or "good" and "bad"')
    if "stop" in written:
        raise PolicyError('"stop" goes with "pass"', "Two rates are told apart by stopping")
    error = float(written.get("error", 0.05))
    return _sequential(float(written["good"]), float(written["bad"]), int(written.get("most", 40)), error)


@cache
def _of_text(text: str) -> Policy:
    plain = " ".join(text.lower().split())
    if found := _K_OF_N.fullmatch(plain):
        return _k_of_n(found[1], int(found[2]))
    if found := _RATES.fullmatch(plain):
        return _sequential(float(found[1]) / 100, float(found[2]) / 100, 40, 0.05)
    raise PolicyError("it is not a policy")


def _k_of_n(share: str, runs: int) -> Policy:
    if not 1 <= runs <= MOST_RUNS:
        raise PolicyError(f"it must be of 1 to {MOST_RUNS} runs, not {runs}")
    words = {"all": runs, "any": 1, "majority": runs // 2 + 1}
    if share.endswith("%"):
        percent = float(share[:-1])
        if not 0 < percent <= 100:
            raise PolicyError(f"the share must be above 0 and at most 100 %, not {share}")
        need = math.ceil(percent * runs / 100 - 1e-9)
    else:
        need = words[share] if share in words else int(share)
    if not 1 <= need <= runs:
        raise PolicyError(f"{need} of {runs} runs can never pass" if need > runs else "0 runs always pass")
    return Policy(text=f"{share} of {runs}", rule=KOfN(need=need, of=runs))


def _sequential(good: float, bad: float, most: int, error: float) -> Policy:
    if not 0 < bad < good <= 1:
        raise PolicyError("the second rate must be above 0 and below the first, which is at most 100 %")
    if not 0 < error < 0.5:
        raise PolicyError('"error" must be above 0 and below 0.5', "It is the share of wrong verdicts at both rates")
    if not 1 <= most <= MOST_RUNS:
        raise PolicyError(f'"most" must be from 1 to {MOST_RUNS}')
    rule = Sequential(good=good, bad=bad, alpha=error, beta=error, most=most)
    to_fail = rule.fail_at / rule.step_fail if good < 1 else 1
    fewest = math.ceil(rule.pass_at / rule.step_pass - 1e-9), math.ceil(to_fail - 1e-9)
    for runs, word in zip(fewest, ("passes", "failures"), strict=True):
        if runs > most:
            raise PolicyError(
                f"with at most {most} runs it can never be decided: that takes {runs} {word} in a row",
                'A larger "most", or rates that are further apart',
            )
    more = f", at most {most}" * (most != 40) + f", error {100 * error:g}%" * (error != 0.05)
    return Policy(text=f"{100 * good:g}% not {100 * bad:g}%{more}", rule=rule)
