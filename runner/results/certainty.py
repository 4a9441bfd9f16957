"""Error bars for every report: how certain the pass rate and the mean score of several cases are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from runner.results.criteria import Group
from scripttest.typing_names import TypeVar
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.results.counts import Counts, GroupCounts
    from runner.statistics.intervals import Estimate

Item = TypeVar("Item")

DIGITS = 4
BARS = ("pass_rate", "pass_rate_interval", "mean_score", "mean_score_interval", "judges_noise", "parts")
"""Keys of a summary that have these figures."""
KINDS = ("suite", "tag", "criterion", "checkpoint")
"""Kinds of parts, in the order in which they are shown."""
OF_CASES = KINDS[:2]
"""Kinds of parts that consist of whole cases, which have a verdict and a score."""
PARTS = 200
"""At most this many parts of a kind are in a summary."""


def certainty_of(counts: Counts) -> dict[str, Any]:
    """`{pass_rate, pass_rate_interval?, mean_score?, mean_score_interval?, judges_noise?, parts?}`. All figures are
    from 0 to 1; an interval is `[low, high]` at 95 %. Empty if no case was judged. Each case has the same weight,
    however often it ran. `judges_noise` is `{answers, pass_rate, mean_score?}`: half the width of the intervals that
    the votes of judges alone cause, and the number of answers with several votes.

    `parts` is `[{kind, name, cases, runs?, pass_rate?, pass_rate_interval?, mean_score?, mean_score_interval?}]`, for
    suites if there are several, tags, criteria and checkpoints: of each kind those with the most cases, at most
    `PARTS`.
    """
    if not counts.rates:
        return {}
    parts = _parts(counts)
    return {**_figures(counts), **_noise(counts), **({"parts": parts} if parts else {})}


class GroupRow(Value):
    """A row of a table of parts, as texts."""

    group: Group
    cases: str = ""
    """How many cases it has."""
    rate: str = ""
    """Its pass rate ..."""
    score: str = ""
    """... and its mean score."""


def part_rows(summary: dict[str, Any], limit: int = PARTS) -> list[GroupRow]:
    """A row for each part of a summary, but for parts of a single run, which have no rate to speak of; of each kind
    `limit` at most, and then a row that says how many more there are."""
    rows: list[GroupRow] = []
    for kind in KINDS:
        found = [part for part in summary.get("parts") or () if part["kind"] == kind and _is_rate(part)]
        rows += [
            GroupRow(
                group=Group(kind=kind, name=part["name"]),
                cases=str(part["cases"]),
                rate=rate_text(part),
                score=rate_text(part, "mean_score"),
            )
            for part in _most(found, limit, lambda part: part["cases"])
        ]
        if len(found) > limit:
            rows.append(GroupRow(group=Group(kind=kind, name=f"... and {len(found) - limit} more")))
    return rows


def rate_text(summary: dict[str, Any], name: str = "pass_rate") -> str:
    """A rate such as `90.7% (82.1-95.4%)`, without the interval if there is none; empty when nothing was judged."""
    if name not in summary:
        return ""
    value = _percent(summary[name])
    if (ends := summary.get(f"{name}_interval")) is None:
        return value
    low, high = map(_percent, ends)
    return f"{value} ({low.removesuffix('%')}-{high})"


def judges_text(summary: dict[str, Any]) -> str:
    """`±3.1 points of the pass rate, ±1.2 of the mean score (95 %, by the votes on 60 answers)`; empty where there were
    too few votes to say."""
    noise = summary.get("judges_noise")
    if noise is None:
        return ""
    if not any(noise.get(name) for name in ("pass_rate", "mean_score")):
        return f"none that shows: the votes on {noise['answers']} answers never differ"
    of_score = f", ±{100 * noise['mean_score']:.1f} of the mean score" if "mean_score" in noise else ""
    of_rate = f"±{100 * noise['pass_rate']:.1f} points of the pass rate"
    return f"{of_rate}{of_score} (95 %, by the votes on {noise['answers']} answers)"


def _noise(counts: Counts) -> dict[str, Any]:
    from runner.results.judging import noise_of

    noise = noise_of(counts.noise) if counts.noise is not None else None
    if noise is None:
        return {}
    of_score = {"mean_score": round(noise.score, DIGITS)} if counts.scores else {}
    return {"judges_noise": {"answers": noise.answers, "pass_rate": round(noise.passed, DIGITS), **of_score}}


def _figures(counts: Counts | GroupCounts) -> dict[str, Any]:
    from runner.statistics.intervals import mean_of, suite_rate

    return {
        **_record("pass_rate", suite_rate(list(counts.rates.elements()))),
        **_record("mean_score", mean_of(list(counts.scores.elements()))),
    }


def _parts(counts: Counts) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for kind in KINDS:
        known = {
            part.name: figures if kind in OF_CASES else _one(figures)
            for part, figures in counts.groups.items()
            if part.kind == kind
        }
        if kind == "suite" and len(known) < 2:
            continue
        most = _most(list(known.items()), PARTS, lambda item: _cases(item[1]))
        found += [{"kind": kind, "name": name, **_sizes(part), **_figures(part)} for name, part in most]
    return found


def _is_rate(part: dict[str, Any]) -> bool:
    return bool(max(part["cases"], part.get("runs", 0)) > 1)


def _most(items: Sequence[Item], limit: int, cases: Callable[[Item], int]) -> Sequence[Item]:
    """The parts with the most cases, in their order."""
    if len(items) <= limit:
        return items
    places = sorted(range(len(items)), key=lambda at: (-cases(items[at]), at))[:limit]
    return [items[at] for at in sorted(places)]


def _one(part: GroupCounts) -> GroupCounts:
    """A criterion has one figure: the share of runs in which it passes, or the mean of its scores if some of them
    are neither 0 nor 1."""
    if not part.scores:
        return part
    from runner.results.counts import GroupCounts

    whole = GroupCounts()
    whole.scores.update(part.scores)
    for runs, cases in part.rates.items():
        whole.scores[runs.rate] += cases
    return whole


def _sizes(part: GroupCounts) -> dict[str, int]:
    runs = sum(of_case.judged * cases for of_case, cases in part.rates.items())
    return {"cases": _cases(part), **({"runs": runs} if runs else {})}


def _cases(part: GroupCounts) -> int:
    return max(part.rates.total(), part.scores.total())


def _record(name: str, estimate: Estimate) -> dict[str, Any]:
    if estimate.value is None:
        return {}
    record: dict[str, Any] = {name: round(estimate.value, DIGITS)}
    if estimate.interval is not None:
        record[f"{name}_interval"] = [round(estimate.interval.low, DIGITS), round(estimate.interval.high, DIGITS)]
    return record


def _percent(share: float) -> str:
    """A percentage that is 0 or 100 only if the rate is exactly that."""
    if share in (0, 1):
        return f"{100 * share:.0f}%"
    rounded = math.floor(1000 * share + 0.5) / 10  # a half goes up, as on the page
    return f"{min(99.9, max(0.1, rounded)):.1f}%"
