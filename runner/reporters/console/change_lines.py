"""What changed from one run to another, in words: the same on the console, in Markdown and on the HTML page."""

from __future__ import annotations

from collections.abc import Callable

from runner.costs import dollars
from runner.reporters.console.style import count, in_milliseconds
from runner.results.changes import Change, Comparison, Measure, Side
from runner.results.fingerprint_changes import change_text

COST_DIGITS = 6
"""Digits of the cost of one result: some cost less than a hundredth of a cent."""
ERROR_LIMIT = 500
"""Characters of an error that are shown."""


def verdict_line(found: Comparison) -> str:
    """A summary of the lists, which may be noise: `2 results look worse, 1 error`."""
    errors, worse = len(found.of("errors")), len(found.regressions)
    if found.all_broke:
        return f"Nothing was judged: {count(errors, 'result')} broke"
    said = f"{count(worse, 'result')} {'looks' if worse == 1 else 'look'} worse" if worse else "Nothing looks worse"
    if errors:
        return f"{said}, {count(errors, 'error')}"
    return said if any(change.kinds for change in found.changes) else "No changes"


def fact_of(kind: str, change: Change) -> str:
    """What changed in the sense of a kind: `passed → failed`, `100ms → 900ms, 9.0 times as long`; empty where the kind
    says all."""
    was, now = change.before, change.after
    if was is None:
        return now.status if now is not None and kind == "added" else f"not there → {now.status if now else ''}"
    if now is None:
        return f"was {was.status}"
    if kind in ("slower", "faster"):
        factor = f", {now.milliseconds / was.milliseconds:.1f} times as long" if was.milliseconds else ""
        text = f"{in_milliseconds(was.milliseconds)} → {in_milliseconds(now.milliseconds)}"
        return text + factor if kind == "slower" else text
    if kind == "dropped":
        return f"{runs_of(change)} runs passed" + (", looks worse" if change.regression else "")
    if kind == "lower_scores":
        return f"score {pair_of(change, _score)}"
    if kind == "more_tokens":
        return f"{pair_of(change, _tokens)} tokens"
    if kind == "higher_costs":
        return pair_of(change, _cost)
    if kind in ("still_failing", "changed"):
        return ""
    return f"{was.status} → {now.status}" + (f" ({runs_of(change)} runs passed)" if change.is_repeated else "")


def parts_of(found: Comparison) -> str:
    """What the results of the two runs were made of that is not the same: `the model of local changed (12 results)`;
    empty when there is nothing, or it is not known."""
    return ", ".join(f"{change_text([part])} ({count(number, 'result')})" for part, number in found.parts.items())


def runs_of(change: Change) -> str:
    """How many of its runs passed: `9 of 10 → 8 of 10`."""
    return pair_of(change, _passed)


def error_of(change: Change) -> str:
    """Why a result does not pass now, in one line; empty when it passes."""
    return " ".join((change.error or "").split())[:ERROR_LIMIT]


def pair_of(change: Change, of: Callable[[Side], str]) -> str:
    """A figure before and after."""
    return " → ".join(of(side) for side in (change.before, change.after) if side is not None)


def measures_of(found: Comparison) -> list[tuple[str, str, str]]:
    """The means of the results that were judged in both runs: name, before, after."""
    return [(MEASURES[measure.key][0], *_texts(measure)) for measure in found.measures]


def _texts(measure: Measure) -> tuple[str, str]:
    text = MEASURES[measure.key][1]
    return text(measure.before), text(measure.after)


def _passed(side: Side) -> str:
    return f"{side.passed} of {side.judged}"


def _score(side: Side) -> str:
    return "none" if side.score is None else f"{side.score:.3g}"


def _tokens(side: Side) -> str:
    return "none" if side.tokens is None else f"{side.tokens:.0f}"


def _cost(side: Side) -> str:
    return "none" if side.cost is None else dollars(side.cost, COST_DIGITS)


def _percent(share: float) -> str:
    """0 and 100 % mean none and all."""
    return f"{100 * (share if share in (0, 1) else min(0.999, max(0.001, share))):.1f}%"


MEASURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "pass_rate": ("Pass rate", _percent),
    "score": ("Score", lambda score: f"{score:.3f}"),
    "duration_ms": ("Duration", in_milliseconds),
    "tokens": ("Tokens", lambda tokens: f"{tokens:.0f}"),
    "cost": ("Cost", lambda cost: dollars(cost, COST_DIGITS)),
}
"""Key of a measure → its name, and how a value of it is written."""
