"""The figures besides the verdict on a change, which are for information only: the score, criteria, tags, time, tokens
and money."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

from runner.results.change_report import Beside, Noise, Part
from runner.results.compared_cases import change_in, figures_of, rates_of
from runner.results.judged_cases import SCORE, JudgedCase, JudgedRun
from runner.statistics.ratios import ratio_of
from runner.statistics.several_tests import benjamini_hochberg

LOOK_AT = 0.1
"""Expected share of false alarms among the criteria and tags that are marked."""
CRITERIA = 200
"""At most this many criteria are compared: those with the most runs."""
STEPS_OF_PARTS = 100_000
"""Limit of the exact distribution for these figures, so that many tags cost little time."""

Pairs = Sequence[tuple[JudgedCase, JudgedCase]]
"""The values of cases in A and in B."""


def parts_of(pairs: Pairs, measure: str, noise: Noise) -> tuple[Part, ...]:
    """The changes in the score, the criteria and the tags of the cases. Those that are unlikely to be chance
    are marked."""
    judged = [run for pair in pairs for case in pair for run in case.runs]
    wanted = [("score", SCORE)] if any(run.score is not None for run in judged) else []
    common = Counter(id for run in judged for id in run.criteria).most_common(CRITERIA)
    wanted += [("criterion", id) for id in sorted(id for id, _ in common)]
    found = [_part(kind, name, name, pairs, noise) for kind, name in wanted if name != measure]
    for tag in sorted({tag for pair in pairs for case in pair for tag in case.tags}):
        tagged = [pair for pair in pairs if any(tag in case.tags for case in pair)]
        if len(tagged) < len(pairs):
            found.append(_part("tag", tag, measure, tagged, noise))
    parts = tuple(part for part in found if part is not None)
    if noise is Noise.NONE:
        return parts
    p = [min(1.0, 2 * min(part.change.worse or 0.0, part.change.better or 0.0)) for part in parts]
    low = benjamini_hochberg(p)
    return tuple(part.replace(stands_out=at <= LOOK_AT + 1e-12) for part, at in zip(parts, low, strict=True))


def _part(kind: str, name: str, measure: str, pairs: Pairs, noise: Noise) -> Part | None:
    sides = [(figures_of(one.runs, measure), figures_of(other.runs, measure)) for one, other in pairs]
    known = [side for side in sides if all(side)]
    if not known:
        return None
    change = change_in(known, noise, STEPS_OF_PARTS)
    return Part(kind=kind, name=name, cases=len(known), rates=rates_of(known, noise), change=change)


def beside_of(pairs: Pairs) -> tuple[Beside, ...]:
    """The changes in time, tokens and money."""
    figures: dict[str, Callable[[JudgedRun], float | None]] = {
        "duration_ms": lambda run: run.milliseconds,
        "tokens": lambda run: run.tokens,
        "cost": lambda run: run.cost,
    }
    found = []
    for name, of in figures.items():
        means = [(_mean(one, of), _mean(other, of)) for one, other in pairs]
        known = [(one, other) for one, other in means if one and other]
        if known:
            a, b = [one for one, _ in known], [other for _, other in known]
            found.append(Beside(name=name, a=math.fsum(a) / len(a), b=math.fsum(b) / len(b), ratio=ratio_of(a, b)))
    return tuple(found)


def _mean(case: JudgedCase, of: Callable[[JudgedRun], float | None]) -> float | None:
    values = [value for run in case.runs if (value := of(run)) is not None]
    return math.fsum(values) / len(values) if values else None
