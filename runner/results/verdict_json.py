"""Converts the verdict on a change to JSON."""

from __future__ import annotations

from collections.abc import Sequence

from runner.results.change_report import ChangeReport
from runner.results.result_keys import ResultKey
from runner.results.sides import Sides
from runner.statistics.change import Change, DifferenceInterval
from runner.statistics.intervals import Estimate, Ratio
from scripttest.values import fields_of


def verdict_record(found: ChangeReport) -> dict[str, object]:
    """The verdict as JSON; rates and intervals are from 0 to 1."""

    def named(keys: Sequence[ResultKey]) -> list[dict[str, str]]:
        return [key.record for key in keys]

    def values(rates: Sides[Estimate]) -> dict[str, object]:
        return fields_of(rates.each(lambda rate: _maybe(rate.value)))

    def ends(estimate: Estimate | DifferenceInterval | Change | Ratio | None) -> list[float] | None:
        if estimate is None or estimate.interval is None:
            return None
        return [_rounded(estimate.interval.low), _rounded(estimate.interval.high)]

    change, reach, left_out, noise = found.change, found.reach, found.left_out, found.judges_noise
    return {
        "verdict": found.verdict.replace(" ", "_"),
        "measure": found.measure,
        "cases": len(found.cases),
        "runs": fields_of(found.runs),
        "rates": values(found.rates),
        "rate_intervals": fields_of(found.rates.each(ends)),
        "difference": _maybe(change.difference),
        "interval": ends(change),
        "worse": _maybe(change.worse),
        "better": _maybe(change.better),
        "worse_exact": _maybe(change.worse_exact),
        "better_exact": _maybe(change.better_exact),
        "broke": [case.key.name for case in found.broke],
        "suspects": [case.key.name for case in found.suspects],
        "margin": found.margin,
        "level": 0.95,
        "detectable": _maybe(reach.detectable) if reach else None,
        "runs_needed": {
            "target": found.margin,
            "each": reach.runs_each,
            "of_b": reach.runs_of_b,
            "cost": _maybe(found.cost_of_reach),
        }
        if reach
        else None,
        "like_these": {"interval": ends(found.like_these), "worse": _maybe(found.like_these.worse)},
        "left_out": {
            "added": named(left_out.added),
            "removed": named(left_out.removed),
            "changed": named(left_out.changed),
            "unjudged": named(left_out.unjudged),
            "broken": fields_of(left_out.broken),
            "skipped": fields_of(left_out.skipped),
            "inconclusive": fields_of(left_out.inconclusive),
            "doubled": fields_of(left_out.doubled),
            "no_score": fields_of(left_out.no_score),
        },
        "beside": {
            beside.name: {
                **fields_of(beside.means.each(_rounded)),
                "ratio": _maybe(beside.ratio.ratio) if beside.ratio else None,
                "interval": ends(beside.ratio),
            }
            for beside in found.beside
        },
        "parts": [
            {
                "kind": part.kind,
                "name": part.name,
                "cases": part.cases,
                "rates": values(part.rates),
                "difference": _maybe(part.change.difference),
                "interval": ends(part.change),
                "look_at": part.stands_out,
            }
            for part in found.parts
        ],
        "judges_noise": {"answers": noise.answers, "interval": _rounded(noise.of(found.measure))} if noise else None,
        "noise": str(found.noise),
        "looks": found.looks.made,
    }


def _maybe(value: float | None) -> float | None:
    return None if value is None else _rounded(value)


def _rounded(value: float) -> float:
    return round(value, 6) + 0.0
