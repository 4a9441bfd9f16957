"""When enough runs of a case are made, and their verdict: k of n, and Wald's sequential test with its exact error
rates; and policies for repeated runs as people write them, `4 of 5` or `95% not 70%`, and the same as JSON objects.

| written | passes if |
| --- | --- |
| `all of 5`, `any of 3`, `majority of 5`, `4 of 5`, `80% of 5` | so many of so many judged runs pass |
| `95% not 70%`, `{good, bad, most?, error?}` | the runs show that the first is the pass rate rather than the second |
| `{pass: "4 of 5", stop: false}` | as without `stop`, but all runs are made |"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import count as count_from
from typing import Any

from scripttest.values import Value

Written = str | Mapping[str, Any]
"""A policy as a flag, a case or a report has it."""
MOST_RUNS = 1000
HINT = 'For example: "4 of 5", "all of 3", "any of 3", "majority of 5", "80% of 5" or "95% not 70%"'
_K_OF_N = re.compile(r"(all|any|majority|\d+|\d+(?:\.\d+)?%) of (\d+)")
_RATES = re.compile(r"(\d+(?:\.\d+)?)% not (\d+(?:\.\d+)?)%")
_SLACK = 1e-12


class PolicyError(ValueError):
    """A policy that cannot be read, or that cannot be; the text says why, `hint` what to write."""

    def __init__(self, problem: str, hint: str = HINT) -> None:
        super().__init__(problem)
        self.hint = hint


class Policy(Value):
    """Decides when enough runs of a case are made, and their verdict."""

    text: str = ""
    """For people: `4 of 5`, `95% not 70%`."""
    stops: bool = True
    """Whether runs that can no longer change the verdict are not made."""
    most: int
    """Judged runs at most."""

    def verdict(self, passed: int, failed: int) -> str | None:
        """What so many runs say: `passed`, `failed`, `undecided`, or None: more runs are needed."""
        raise NotImplementedError

    def exact_errors(self) -> Sequence[RatesAt]:
        """How a sequential test ends at its good rate, between both, and at its bad one; empty for others."""
        return ()

    @property
    def wave(self) -> int:
        """Number of runs that are made in any case."""
        return self.after(()).next_wave

    def after(self, outcomes: Iterable[str]) -> PolicyState:
        """What the outcomes say, in the order of the runs: `p` passed, `f` failed, anything else broke."""
        passed = failed = next_wave = 0
        found = decided_after = None
        for count, outcome in enumerate(outcomes, 1):
            passed += outcome == "p"
            failed += outcome == "f"
            if found is None and (found := self.verdict(passed, failed)) is not None:
                decided_after = count
            if found is not None and self.stops:
                break
        judged = passed + failed
        if not self.stops and judged < self.most:
            found = decided_after = None
            next_wave = self.most - judged
        elif found is None:
            more = count_from(1)
            next_wave = next(n for n in more if self.verdict(passed + n, failed) or self.verdict(passed, failed + n))
        return PolicyState(
            verdict=found, decided_after=decided_after, judged=judged, passed=passed, next_wave=next_wave
        )


class PolicyState(Value):
    """The state of a policy after some outcomes."""

    verdict: str | None
    """`passed`, `failed`, `undecided`, or None: more runs are needed."""
    decided_after: int | None
    """Outcomes until the verdict, broken ones included."""
    judged: int
    passed: int
    next_wave: int
    """The fewest further runs that could decide; 0: it is decided."""


class KOfN(Policy):
    """Passed at `need` passes of so many judged runs, failed when these can no longer come."""

    need: int

    def verdict(self, passed: int, failed: int) -> str | None:
        """See `Policy`."""
        return "passed" if passed >= self.need else "failed" if failed > self.most - self.need else None


class RatesAt(Value):
    """How a sequential test ends when a case passes with this rate."""

    rate: float
    passed: float
    """Probability of each end."""
    failed: float
    undecided: float
    mean_runs: float


class Sequential(Policy):
    """Wald's test whether a case passes as often as `good` rather than `bad`, cut after `most` runs."""

    good: float
    bad: float
    alpha: float = 0.05
    """The probability of the verdict passed at the rate `bad`."""
    beta: float = 0.05
    """The probability of the verdict failed at the rate `good`."""
    most: int = 40

    @property
    def step_pass(self) -> float:
        """What a pass adds."""
        return math.log(self.good / self.bad)

    @property
    def step_fail(self) -> float:
        """What a failure adds: below 0, minus infinity where `good` is 1."""
        return math.log((1 - self.good) / (1 - self.bad)) if self.good < 1 else -math.inf

    @property
    def pass_at(self) -> float:
        """The sum at which a case has passed."""
        return math.log((1 - self.beta) / self.alpha)

    @property
    def fail_at(self) -> float:
        """The sum at which it has failed."""
        return math.log(self.beta / (1 - self.alpha))

    def verdict(self, passed: int, failed: int) -> str | None:
        """See `Policy`."""
        total = passed * self.step_pass + (failed * self.step_fail if failed else 0.0)
        if total >= self.pass_at - _SLACK:
            return "passed"
        if total <= self.fail_at + _SLACK:
            return "failed"
        return "undecided" if passed + failed >= self.most else None

    def rates_at(self, rate: float) -> RatesAt:
        """The exact ends of the test, by going through all its states."""
        states = {0: 1.0}
        """Passes so far → probability of being here undecided."""
        ends = {"passed": 0.0, "failed": 0.0, "undecided": 0.0}
        mean_runs = 0.0
        for run in range(1, self.most + 1):
            after: dict[int, float] = {}
            for passed, chance in states.items():
                for now, weight in ((passed + 1, chance * rate), (passed, chance * (1 - rate))):
                    verdict = self.verdict(now, run - now)
                    if verdict is None:
                        after[now] = after.get(now, 0.0) + weight
                    else:
                        ends[verdict] += weight
                        mean_runs += run * weight
            states = after
        return RatesAt(rate=rate, mean_runs=mean_runs, **ends)

    def exact_errors(self) -> Sequence[RatesAt]:
        """See `Policy`."""
        return [self.rates_at(rate) for rate in (self.good, (self.good + self.bad) / 2, self.bad)]


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
        if isinstance(policy, Sequential):
            raise PolicyError('"stop": false requires a number of runs', "Comparing two rates requires early stopping")
        return policy.replace(text=f"{policy.text}, all made", stops=False)
    if "good" not in written or "bad" not in written:
        raise PolicyError('it needs "pass", or "good" and "bad"')
    if "stop" in written:
        raise PolicyError('"stop" requires "pass"', "Comparing two rates requires early stopping")
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
    return KOfN(text=f"{share} of {runs}", need=need, most=runs)


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
                'Use a larger "most", or rates that are further apart',
            )
    more = f", at most {most}" * (most != 40) + f", error {100 * error:g}%" * (error != 0.05)
    return rule.replace(text=f"{100 * good:g}% not {100 * bad:g}%{more}")
