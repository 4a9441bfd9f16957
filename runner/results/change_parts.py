"""The figures besides the verdict on a change, which are for information only: the score, criteria, tags, time, tokens
and money."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from runner.amounts import mean
from runner.results.change_report import Beside, Noise, Part
from runner.results.compared_cases import change_in, figures_of, rates_of
from runner.results.judged_cases import SCORE, JudgedCase
from runner.results.sides import Sides
from runner.results.stability import Attempt
from runner.statistics.change import benjamini_hochberg
from runner.statistics.intervals import ratio_of

LOOK_AT = 0.1
"""Expected share of false alarms among the criteria and tags that are marked."""
CRITERIA = 200
"""At most this many criteria are compared: those with the most runs."""
STEPS_OF_PARTS = 100_000
"""Limit of the exact distribution for these figures, so that many tags cost little time."""

Pairs = Sequence[Sides[JudgedCase]]


def parts_of(pairs: Pairs, measure: str, noise: Noise) -> tuple[Part, ...]:
    """The changes in the score, the criteria and the tags of the cases. Those that are unlikely to be chance
    are marked."""
    judged = [run for pair in pairs for case in pair.both for run in case.runs]
    wanted = [("score", SCORE)] if any(run.score is not None for run in judged) else []
    common = Counter(id for run in judged for id in run.criteria or ()).most_common(CRITERIA)
    wanted += [("criterion", id) for id in sorted(id for id, _ in common)]
    found = [_part(kind, name, name, pairs, noise) for kind, name in wanted if name != measure]
    for tag in sorted({tag for pair in pairs for case in pair.both for tag in case.tags}):
        tagged = [pair for pair in pairs if any(tag in case.tags for case in pair.both)]
        if len(tagged) < len(pairs):
            found.append(_part("tag", tag, measure, tagged, noise))
    parts = tuple(part for part in found if part is not None)
    if noise is Noise.NONE:
        return parts
    p = [min(1.0, 2 * min(part.change.worse or 0.0, part.change.better or 0.0)) for part in parts]
    low = benjamini_hochberg(p)
    return tuple(part.replace(stands_out=at <= LOOK_AT + 1e-12) for part, at in zip(parts, low, strict=True))


def _part(kind: str, name: str, measure: str, pairs: Pairs, noise: Noise) -> Part | None:
    figures = [pair.each(lambda case: figures_of(case.runs, measure)) for pair in pairs]
    known = [pair for pair in figures if all(pair.both)]
    if not known:
        return None
    change = change_in(known, noise, STEPS_OF_PARTS)
    return Part(kind=kind, name=name, cases=len(known), rates=rates_of(known, noise), change=change)


def beside_of(pairs: Pairs) -> tuple[Beside, ...]:
    """The changes in time, tokens and money."""
    figures: dict[str, Callable[[Attempt], float | None]] = {
        "duration_ms": lambda run: run.duration_ms,
        "tokens": lambda run: run.tokens or None,
        "cost": lambda run: run.cost,
    }
    found = []
    for name, of in figures.items():
        means = [(_mean(pair.a, of), _mean(pair.b, of)) for pair in pairs]
        known = Sides(a=[a for a, b in means if a and b], b=[b for a, b in means if a and b])
        if known.a:
            found.append(Beside(name=name, means=known.each(mean), ratio=ratio_of(known.a, known.b)))
    return tuple(found)


def _mean(case: JudgedCase, of: Callable[[Attempt], float | None]) -> float | None:
    values = [value for run in case.runs if (value := of(run)) is not None]
    return mean(values) if values else None
