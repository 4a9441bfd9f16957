"""The benchmarks of a run: gives them their time, has each run as often as `--count` says, and prints what they measure
as they end: lines in Go's format (https://go.dev/design/14313-benchmark-format), which are read as a baseline too.

pkg: scripts.expense.fees
BenchmarkTotal-2     43210     27712 ns/op     3 calls/op

Two sets of results are compared as `benchstat` does: medians, and whether they differ beyond noise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, takewhile
from math import comb, isfinite
from statistics import median
from typing import TYPE_CHECKING, Any

from bindings import ProcessError
from runner.errors import ConfigurationError
from runner.options.options import absolute
from runner.security.files import read_text
from runner.statistics.agreement import rank_sum_probability
from scripttest import Outcome, Status
from scripttest.values import Value, fields_of

if TYPE_CHECKING:
    from pathlib import Path

    from bindings import World
    from runner.environment import Environment
    from runner.options.options import RunOptions
    from scripttest import TestKey

MOST = 10_000
"""Results of one realm."""
_LINE = re.compile(r"(Benchmark\S*)\s+(\d+)((?:\s+\S+\s+\S+)+)\s*")
_SUFFIX = re.compile(r"-\d+$")
_DIGITS = (
    (999.95, "10.0"), (99.995, "12.1"), (9.9995, "13.2"), (0.99995, "14.3"),
    (0.099995, "15.4"), (0.0099995, "16.5"), (0.00099995, "17.6"), (0.0, "18.7"),
)  # fmt: skip
ALPHA = 0.05
"""How unlikely a difference has to be by chance to count; for the exit code, any of a run."""
JUDGED = ("ns/op", "calls/op")
"""Units of which more is worse, by which a run fails; others are only shown."""
USUAL = 6
"""Runs on each side that are advised; more where there are so many benchmarks that these do not do."""


class BenchmarkTests:
    """Controls the benchmarks of a run. Threads may share it."""

    def __init__(
        self, options: RunOptions, environment: Environment, write: Callable[[str], None], modules: Sequence[str]
    ) -> None:
        """Prints with `write`; where there are several modules, each is named before its lines. Raises
        ConfigurationError if `--baseline` cannot be used."""
        self._options, self._write, self._cpus = options, write, environment.cpus
        self._threshold = options.bench_threshold / 100
        """Share by which a result may be worse than in the baseline."""
        self._baseline = _baseline_of(options, environment.directory)
        self._names_modules = len(modules) > 1
        self._module = ""
        self._runs: dict[TestKey, int] = {}
        self._reports: dict[TestKey, int] = {}
        """How many the realm of a test has made."""
        self.samples: list[Sample] = []
        """What was measured."""

    def answer(self, world: World, name: str, args: list[Any]) -> Any:
        """Answers `benchmark.Begin` and `benchmark.Report`."""
        if name == "benchmark.Begin":
            return self._options.bench_time * 1000
        if name == "benchmark.Report":
            return self._report(world, *args)
        raise ProcessError(f"Process {name} does not exist", 404, missing=True)

    def _report(
        self, world: World, name: str, rounds: int, nanoseconds: float, calls: float, metrics: list[Any]
    ) -> None:
        key = world.key
        self._reports[key] = self._reports.get(key, 0) + 1
        values = {"ns/op": nanoseconds, "calls/op": calls, **{unit: value for value, unit in metrics}}
        odd = [value for value in values.values() if not isinstance(value, int | float) or not isfinite(value)]
        odd += [word for word in (name, *values) if not isinstance(word, str) or word.split() != [word]]
        if odd or not isinstance(rounds, int) or self._reports[key] > MOST:
            raise ProcessError("benchmark.Report is internal to benchmarks", 400)
        if self._names_modules and world.suite != self._module:
            self._module = world.suite
            self._write(f"pkg: {world.suite}\n")
        package = world.suite if self._names_modules else ""
        sample = Sample(package=package, name=name, rounds=rounds, values=values)
        self.samples.append(sample)
        self._write(f"{line_of(sample, self._cpus)}\n")

    def seconds_after(self, test: TestKey, name: str) -> float | None:
        """What a benchmark has from its beginning, and from the result of each."""
        over = self._reports.get(test, 0) > MOST
        return None if over else self._options.script_timeout + 3 * self._options.bench_time

    def settled(self, test: TestKey, outcome: Outcome) -> Outcome | None:
        """The outcome of a benchmark, or None if it runs again."""
        self._reports.pop(test, None)
        runs = self._runs[test] = self._runs.get(test, 0) + 1
        return None if outcome.status == Status.PASSED and runs < self._options.repetitions else outcome

    def closing_lines(self, table: Callable[[list[tuple[str, ...]]], str]) -> list[str]:
        """Lines to print at the end of the run: how it compares with the baseline. `table` makes a text of rows."""
        found = self.comparison
        if found is None:
            return []
        rows = table(rows_of(found)).splitlines() if found.differences else []
        return [*rows, *notes_on(found, self._threshold)]

    @property
    def as_json(self) -> dict[str, Any]:
        """What `--json` has of them: `{benchmarks?: [{package, name, rounds, values}]}`."""
        return {"benchmarks": list(map(fields_of, self.samples))} if self.samples else {}

    def close(self) -> None:
        """Does nothing: none runs by itself."""

    @property
    def is_worse(self) -> bool:
        """Whether a result is worse than in the baseline."""
        return bool(self.comparison and self.comparison.worse(self._threshold))

    @property
    def comparison(self) -> Comparison | None:
        """With the baseline, if there is one."""
        return None if self._baseline is None else compared(self._baseline, self.samples)


def _baseline_of(options: RunOptions, directory: Path) -> list[Sample] | None:
    """What is compared with; None without `--baseline`."""
    name = options.measured_baseline
    if name is None:
        return None
    try:
        found = list(read_lines(read_text(absolute(name, directory))))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigurationError(f"Cannot read --baseline {name}: {why}") from error
    if not found:
        hint = f"Create it with: yao-test --bench '{options.bench}' --count 6 > {name}"
        raise ConfigurationError(f"Cannot use --baseline {name}: it has no benchmark results", hint)
    return found


class Sample(Value):
    """One line: what one run of a benchmark has measured."""

    package: str
    """The name of its module; empty when it is not known."""
    name: str
    """Without the number of CPUs."""
    rounds: int
    values: Mapping[str, float]
    """By unit, such as `ns/op`."""


Key = tuple[str, str]
"""What identifies a benchmark: its package, empty where a side does not tell it, and its name."""


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


def line_of(sample: Sample, cpus: int) -> str:
    """The line of a sample, without its end."""
    name = f"{sample.name}-{cpus}" if cpus > 1 else sample.name
    fields = [f"{name:<24}", f"{sample.rounds:8d}", *(_measured(value, unit) for unit, value in sample.values.items())]
    return "\t".join(fields)


def read_lines(text: str) -> Iterator[Sample]:
    """The samples in a text; all other lines are passed over, but those of packages."""
    package = ""
    for line in text.splitlines():
        if line.startswith("pkg:"):
            package = line[4:].strip()
        elif match := _LINE.fullmatch(line):
            words = match[3].split()
            try:
                values = {unit: float(value) for value, unit in zip(words[0::2], words[1::2], strict=True)}
            except ValueError:
                continue
            yield Sample(package=package, name=_SUFFIX.sub("", match[1]), rounds=int(match[2]), values=values)


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
                differences.append(Difference(name=key[1], unit=unit, before=values, after=_values(new[key], unit)))
    return Comparison(
        differences=tuple(differences),
        only_before=tuple(key[1] for key in old if key not in pairs.values()),
        only_after=tuple(key[1] for key in new if key not in pairs),
    )


def rows_of(comparison: Comparison) -> list[tuple[str, ...]]:
    """The table of a comparison, first its titles."""
    rows: list[tuple[str, ...]] = [("Benchmark", "Before", "After", "Change", "")]
    for one in comparison.differences:
        sure = f"{one.change:+.1%}" if one.is_certain else "~"
        odds = f"(p={one.probability:.3f} n={len(one.before)}+{len(one.after)})"
        rows.append((f"{one.name} {one.unit}", _spread(one.before), _spread(one.after), sure, odds))
    return rows


def notes_on(comparison: Comparison, threshold: float) -> list[str]:
    """What cannot be compared, and what is worse."""
    found = [f"{name} is not in the baseline" for name in comparison.only_after]
    found += [f"{name} is in the baseline, but did not run" for name in comparison.only_before]
    if needed := comparison.needed:
        advised = max(needed, USUAL)
        found.append(
            f"Fewer than {needed} runs per side cannot tell a change from noise: use --count {advised} on both sides"
        )
    for one in comparison.worse(threshold):
        found.append(
            f"Regressed: {one.name} by {one.change:.1%} {one.unit}, more than --bench-threshold {100 * threshold:g}%"
        )
    return found


def _measured(value: float, unit: str) -> str:
    if value == int(value):
        return f"{int(value):10d} {unit}"
    digits = next(digits for least, digits in _DIGITS if abs(value) >= least)
    return f"{value:{digits}f} {unit}"


def _grouped(samples: Iterable[Sample]) -> dict[Key, list[Sample]]:
    found: dict[Key, list[Sample]] = {}
    for sample in samples:
        found.setdefault((sample.package, sample.name), []).append(sample)
    return found


def _values(samples: Iterable[Sample], unit: str) -> list[float]:
    return [sample.values[unit] for sample in samples if unit in sample.values]


def _match(key: Key, others: dict[Key, list[Sample]]) -> Key | None:
    if key in others:
        return key
    named = [other for other in others if other[1] == key[1] and not (other[0] and key[0])]
    return named[0] if len(named) == 1 else None


def _spread(values: Sequence[float]) -> str:
    middle = median(values)
    if middle == 0:
        return "0"
    off = max(abs(value - middle) for value in values) / abs(middle)
    return f"{middle:,.4g} ± {off:.0%}" if middle < 10_000 else f"{middle:,.0f} ± {off:.0%}"
