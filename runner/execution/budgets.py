"""The budgets of a run: `--max-cost`, `--max-tokens`, `--max-duration`. When one is used up, no further test begins. Of
costs and tokens no further call of a model begins either, also within a case; calls that are under way end.

A budget that cannot be kept, because a call does not say what it took, ends the run too, and the run does not pass.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from runner.costs import dollars
from runner.durations import in_words
from runner.execution.stopping import BUDGET_GRACE

if TYPE_CHECKING:
    from runner.connectors.base import Usage
    from runner.execution.stopping import Stop
    from runner.options.options import RunOptions


class Budgets:
    """Counts the costs and tokens of all model calls of a run, including those of helpers and judges. May be called
    from any thread."""

    def __init__(self, options: RunOptions, stop: Stop) -> None:
        """Starts the clock of `--max-duration`."""
        self._cost_limit = options.max_cost
        self._token_limit = options.max_tokens
        self._stop = stop
        self._cost = 0.0
        self._tokens = 0
        self.refusal: str | None = None
        """See `runner.agents.runtime.UsageCounter`."""
        self._timer: threading.Timer | None = None
        if options.max_duration is not None:
            reason = f"--max-duration {in_words(options.max_duration)} is over"
            self._timer = threading.Timer(options.max_duration, stop.request, (reason, BUDGET_GRACE))
            self._timer.daemon = True
            self._timer.start()

    def spend(self, connector: str, usage: Usage, free: bool) -> None:
        """See `runner.agents.runtime.UsageCounter`."""
        self._tokens += usage.input_tokens + usage.output_tokens
        self._cost += usage.cost or 0.0
        if self._cost_limit is not None:
            budget = f"--max-cost {self._cost_limit:g}"
            if usage.cost is None and not free:
                self._give_up(budget, f"what a call of {connector} costs is not known, {_why(usage)}")
            elif self._cost >= self._cost_limit:
                self._end_with(f"{budget} is used up ({dollars(self._cost)})")
        if self._token_limit is not None:
            budget = f"--max-tokens {self._token_limit}"
            if usage.unknown and not free:
                self._give_up(budget, f"what a call of {connector} took is not known, {_why(usage)}")
            elif self._tokens >= self._token_limit:
                self._end_with(f"{budget} is used up ({self._tokens})")

    def end(self) -> None:
        """Stops the clock."""
        if self._timer is not None:
            self._timer.cancel()

    def _give_up(self, budget: str, why: str) -> None:
        self._end_with(f"{budget} cannot be kept: {why}", spoils=True)

    def _end_with(self, reason: str, spoils: bool = False) -> None:
        self.refusal = self.refusal or reason
        self._stop.request(reason, BUDGET_GRACE, spoils=spoils, closes_models=True)


def _why(usage: Usage) -> str:
    if usage.unknown:
        return "since its answer has no usage that can be counted"
    return "since it has no price: name it in options.price of the connector"
