"""When enough runs of a case are made: k of n, and Wald's sequential test with its exact error rates."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from scripttest.values import Value

_SLACK = 1e-12


class Standing(Value):
    """The state of a policy after some outcomes."""

    verdict: str | None
    """`passed`, `failed`, `undecided`, or None: more runs are needed."""
    decided_after: int | None
    """Outcomes until the verdict, broken ones included."""
    judged: int
    passed: int
    next_wave: int
    """The fewest further runs that could decide; 0: it is decided."""


class KOfN(Value):
    """Passed at `need` passes of `of` judged runs, failed when these can no longer come."""

    need: int
    of: int

    def after(self, outcomes: Iterable[str]) -> Standing:
        """What the outcomes say, in the order of the runs: `p` passed, `f` failed, anything else broke."""
        passed = failed = 0
        for count, outcome in enumerate(outcomes, 1):
            passed += outcome == "p"
            failed += outcome == "f"
            if passed >= self.need or failed > self.of - self.need:
                verdict = "passed" if passed >= self.need else "failed"
                return Standing(
                    verdict=verdict, decided_after=count, judged=passed + failed, passed=passed, next_wave=0
                )
        wave = min(self.need - passed, self.of - self.need + 1 - failed)
        return Standing(verdict=None, decided_after=None, judged=passed + failed, passed=passed, next_wave=wave)


class RatesAt(Value):
    """How a sequential test ends when a case passes with this rate."""

    rate: float
    passed: float
    """Probability of each end."""
    failed: float
    undecided: float
    mean_runs: float


class Sequential(Value):
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

    def after(self, outcomes: Iterable[str]) -> Standing:
        """What the outcomes say; see `KOfN.after`."""
        passed = failed = 0
        for count, outcome in enumerate(outcomes, 1):
            passed += outcome == "p"
            failed += outcome == "f"
            verdict = self._verdict(passed, failed)
            if verdict is not None:
                return Standing(
                    verdict=verdict, decided_after=count, judged=passed + failed, passed=passed, next_wave=0
                )
        left = self.most - passed - failed
        to_pass = next(wave for wave in range(1, left + 1) if self._verdict(passed + wave, failed) is not None)
        to_fail = next(wave for wave in range(1, left + 1) if self._verdict(passed, failed + wave) is not None)
        wave = min(to_pass, to_fail)
        return Standing(verdict=None, decided_after=None, judged=passed + failed, passed=passed, next_wave=wave)

    def straight(self, *, passes: bool) -> int:
        """Runs of one kind in a row from the start that decide."""
        return next(
            runs for runs in itertools.count(1) if self._bound(runs if passes else 0, 0 if passes else runs) is not None
        )

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
                    verdict = self._verdict(now, run - now)
                    if verdict is None:
                        after[now] = after.get(now, 0.0) + weight
                    else:
                        ends[verdict] += weight
                        mean_runs += run * weight
            states = after
        return RatesAt(
            rate=rate,
            passed=ends["passed"],
            failed=ends["failed"],
            undecided=ends["undecided"],
            mean_runs=mean_runs,
        )

    def exact_errors(self) -> Sequence[RatesAt]:
        """The ends at the good rate, between both, and at the bad one."""
        return [self.rates_at(rate) for rate in (self.good, (self.good + self.bad) / 2, self.bad)]

    def _bound(self, passed: int, failed: int) -> str | None:
        total = passed * self.step_pass + (failed * self.step_fail if failed else 0.0)
        if total >= self.pass_at - _SLACK:
            return "passed"
        return "failed" if total <= self.fail_at + _SLACK else None

    def _verdict(self, passed: int, failed: int) -> str | None:
        return self._bound(passed, failed) or ("undecided" if passed + failed >= self.most else None)
