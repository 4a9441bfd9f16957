"""How sure the pass rate and the mean score of several cases are: error bars for every report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.results.fold import Counts
    from runner.statistics.intervals import Estimate

DIGITS = 4


def certainty_of(counts: Counts) -> dict[str, Any]:
    """`{pass_rate, pass_rate_interval?, mean_score?, mean_score_interval?}`, all from 0 to 1, an interval as `[low,
    high]` at 95 %; empty where no case was judged. Each case has the same weight, however often it ran."""
    if not counts.rates:
        return {}
    from runner.statistics.intervals import mean_of, suite_rate

    return {
        **_record("pass_rate", suite_rate(list(counts.rates.elements()))),
        **_record("mean_score", mean_of(list(counts.scores.elements()))),
    }


def rate_text(summary: dict[str, Any], name: str = "pass_rate") -> str:
    """`90.7% (82.1-95.4%)`, without an interval where there is none; empty where nothing was judged."""
    if name not in summary:
        return ""
    value = _percent(summary[name])
    if (ends := summary.get(f"{name}_interval")) is None:
        return value
    low, high = map(_percent, ends)
    return f"{value} ({low.removesuffix('%')}-{high})"


def _record(name: str, estimate: Estimate) -> dict[str, Any]:
    if estimate.value is None:
        return {}
    record: dict[str, Any] = {name: round(estimate.value, DIGITS)}
    if estimate.interval is not None:
        record[f"{name}_interval"] = [round(estimate.interval.low, DIGITS), round(estimate.interval.high, DIGITS)]
    return record


def _percent(share: float) -> str:
    """0 and 100 % only where it is exactly that."""
    return f"{100 * share:.0f}%" if share in (0, 1) else f"{min(99.9, max(0.1, 100 * share)):.1f}%"
