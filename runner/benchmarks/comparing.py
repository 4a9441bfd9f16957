"""Two sets of benchmark results, compared as `benchstat` does: medians, and whether they differ beyond noise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count, takewhile
from math import comb
from statistics import median

from runner.benchmarks.lines import Sample
from runner.columns import aligned
from runner.statistics.agreement import rank_sum_probability
from scripttest.values import Value

ALPHA = 0.05
"""How unlikely a difference has to be by chance to count; for the exit code, any of a run."""
JUDGED = ("ns/op", "calls/op")
"""Units of which more is worse, by which a run fails; others are only shown."""
USUAL = 6
"""Runs on each side that are advised; more where there are so many benchmarks that these do not do."""


class Key(Value):
    """What identifies a benchmark."""

    package: str
    """Empty where a side does not tell it."""
    name: str


class Difference(Value):
    """The difference between two runs in one unit of one benchmark."""

    name: str
    unit: str
    before: Sequence[float]
    after: Sequence[float]

    @property
    def change(self) -> float:
        """Share by which the median has grown; infinite from zero."""
        old, new = median(self.before), median(self.after)
        if old == new:
            return 0.0
        return new / old - 1 if old else float("inf") if new > 0 else float("-inf")

    @property
    def probability(self) -> float:
        """How likely that is by chance."""
        return rank_sum_probability(self.before, self.after)

    @property
    def is_certain(self) -> bool:
        """Whether it is beyond noise."""
        return self.probability < ALPHA

    @property
    def is_judged(self) -> bool:
        """Whether it may fail a run: figures that are the same throughout cannot."""
        return self.unit in JUDGED and len({*self.before, *self.after}) > 1

    @property
    def probability_of_worse(self) -> float:
        """How likely it is by chance that it is so much worse."""
        return self.probability / 2 if self.change > 0 else 1.0


class Comparison(Value):
    """The comparison of the benchmarks of two runs."""

    differences: tuple[Difference, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]

    def worse(self, threshold: float) -> list[Difference]:
        """The differences that are worse beyond noise and beyond a share. Chance finds one of them in a run with
        ALPHA at the most, however many there are (the step-down test of Holm)."""
        judged = sorted((one for one in self.differences if one.is_judged), key=lambda one: one.probability_of_worse)
        certain = takewhile(
            lambda found: found[1].probability_of_worse * (len(judged) - found[0]) < ALPHA, enumerate(judged)
        )
        return [one for _, one in certain if one.change > threshold]

    @property
    def needed(self) -> int:
        """How many runs each side needs to tell a change of one benchmark from noise; 0: it has enough."""
        judged = [one for one in self.differences if one.is_judged]
        needed = next(runs for runs in count(1) if len(judged) < ALPHA * comb(2 * runs, runs))
        has_all = all(len(judged) < ALPHA * comb(len(one.before) + len(one.after), len(one.after)) for one in judged)
        return 0 if has_all else needed


def compared(before: Iterable[Sample], after: Iterable[Sample]) -> Comparison:
    """Compares; a benchmark of the same package and name is the same. Where one side tells no package, the name
    decides."""
    new = _grouped(after)
    old = _grouped(before)
    pairs = {key: found for key in new if (found := _match(key, old)) is not None}
    differences = []
    for key, other in pairs.items():
        for unit in dict.fromkeys(unit for sample in new[key] for unit in sample.values):
            values = _values(old[other], unit)
            if values:
                differences.append(Difference(name=key.name, unit=unit, before=values, after=_values(new[key], unit)))
    return Comparison(
        differences=tuple(differences),
        only_before=tuple(key.name for key in old if key not in pairs.values()),
        only_after=tuple(key.name for key in new if key not in pairs),
    )


def lines_of(comparison: Comparison, threshold: float) -> list[str]:
    """What to say of a comparison: a table, and what is worse."""
    rows = [("", "before", "after", "change", "")]
    for one in comparison.differences:
        sure = f"{one.change:+.1%}" if one.is_certain else "~"
        odds = f"(p={one.probability:.3f} n={len(one.before)}+{len(one.after)})"
        rows.append((f"{one.name} {one.unit}", _spread(one.before), _spread(one.after), sure, odds))
    names = (name for (name,) in aligned([row[:1] for row in rows]))
    widths = [max(len(row[column]) for row in rows) for column in range(1, 4)]
    found = []
    for name, row in zip(names, rows, strict=True) if comparison.differences else ():
        cells = [name, *(cell.rjust(width) for cell, width in zip(row[1:4], widths, strict=True))]
        found.append("  ".join([*cells, row[4]]).rstrip())
    found += [f"{name} is not in the baseline" for name in comparison.only_after]
    found += [f"{name} of the baseline did not run" for name in comparison.only_before]
    if needed := comparison.needed:
        advised = max(needed, USUAL)
        found.append(f"Fewer than {needed} runs on a side do not tell a change from noise: --count {advised} on both")
    for one in comparison.worse(threshold):
        found.append(f"Worse: {one.name} by {one.change:.1%} {one.unit}; --bench-threshold {100 * threshold:g}%")
    return found


def _grouped(samples: Iterable[Sample]) -> dict[Key, list[Sample]]:
    found: dict[Key, list[Sample]] = {}
    for sample in samples:
        found.setdefault(Key(package=sample.package, name=sample.name), []).append(sample)
    return found


def _values(samples: Iterable[Sample], unit: str) -> list[float]:
    return [sample.values[unit] for sample in samples if unit in sample.values]


def _match(key: Key, others: dict[Key, list[Sample]]) -> Key | None:
    if key in others:
        return key
    named = [other for other in others if other.name == key.name and not (other.package and key.package)]
    return named[0] if len(named) == 1 else None


def _spread(values: Sequence[float]) -> str:
    middle = median(values)
    if middle == 0:
        return "0"
    off = max(abs(value - middle) for value in values) / abs(middle)
    return f"{middle:,.4g} ± {off:.0%}" if middle < 10_000 else f"{middle:,.0f} ± {off:.0%}"
