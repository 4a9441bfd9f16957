"""What a run may take: `--max-cost`, `--max-tokens`, `--max-duration`. When one is used up, no further test begins."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from runner.options import in_words
from runner.stopping import BUDGET_GRACE

if TYPE_CHECKING:
    from runner.connectors.base import Usage
    from runner.options import RunOptions
    from runner.stopping import Stop


class Budgets:
    """Counts what all model calls of a run take, those of helpers and judges too. May be told from any thread."""

    def __init__(self, options: RunOptions, stop: Stop) -> None:
        """Starts the clock of `--max-duration`."""
        self._cost_limit = options.max_cost
        self._token_limit = options.max_tokens
        self._stop = stop
        self._cost = 0.0
        self._tokens = 0
        self._unpriced: set[str] = set()
        self._timer: threading.Timer | None = None
        if options.max_duration is not None:
            reason = f"--max-duration {in_words(options.max_duration)} is over"
            self._timer = threading.Timer(options.max_duration, stop.request, (reason, BUDGET_GRACE))
            self._timer.daemon = True
            self._timer.start()

    def spend(self, connector: str, usage: Usage) -> None:
        """Counts one model call."""
        self._tokens += usage.input_tokens + usage.output_tokens
        if usage.cost is not None:
            self._cost += usage.cost
        elif usage.input_tokens or usage.output_tokens:
            self._unpriced.add(connector)
        if self._cost_limit is not None and self._cost >= self._cost_limit:
            self._stop.request(f"--max-cost {self._cost_limit:g} is used up (${self._cost:.4f})", BUDGET_GRACE)
        if self._token_limit is not None and self._tokens >= self._token_limit:
            self._stop.request(f"--max-tokens {self._token_limit} is used up ({self._tokens})", BUDGET_GRACE)

    def end(self) -> str | None:
        """Stops the clock; what is to be said of the budgets at the end of the run."""
        if self._timer is not None:
            self._timer.cancel()
        if self._cost_limit is None or not self._unpriced:
            return None
        names = ", ".join(sorted(self._unpriced))
        return f"--max-cost did not count the calls of {names}: name their prices in options.price of the connector"
