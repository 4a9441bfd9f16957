"""The benchmarks of a run: gives them their time, has each run as often as `--count` says, and prints what they measure
as they end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from bindings import ProcessError
from runner.benchmarks.lines import Sample, written
from scripttest import Outcome, Status
from scripttest.values import Value

if TYPE_CHECKING:
    from bindings import World
    from scripttest import TestKey

MOST = 10_000
"""Results of one realm."""


class Benchmarking(Value):
    """What the flags say of benchmarks."""

    seconds: float
    """That each takes at the least."""
    timeout: float
    """Seconds that one may take beyond that."""
    count: int
    """How often each runs."""
    cpus: int
    """The number of CPUs of this machine."""
    baseline: tuple[Sample, ...] | None
    """What is compared with."""
    threshold: float
    """Share by which a result may be worse than there."""


class BenchmarkTests:
    """Controls the benchmarks of a run: a `TestKind` of `bindings`. Threads may share it."""

    def __init__(self, benchmarking: Benchmarking, write: Callable[[str], None], modules: Sequence[str]) -> None:
        """Prints with `write`; where there are several modules, each is named before its lines."""
        self._benchmarking = benchmarking
        self._write = write
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
            return self._benchmarking.seconds * 1000
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
            raise ProcessError("benchmark.Report is for benchmarks themselves", 400)
        if self._names_modules and world.suite != self._module:
            self._module = world.suite
            self._write(f"pkg: {world.suite}\n")
        package = world.suite if self._names_modules else ""
        sample = Sample(package=package, name=name, rounds=rounds, values=values)
        self.samples.append(sample)
        self._write(f"{written(sample, self._benchmarking.cpus)}\n")

    def seconds_after(self, test: TestKey, name: str) -> float | None:
        """What a benchmark has from its beginning, and from the result of each."""
        over = self._reports.get(test, 0) > MOST
        return None if over else self._benchmarking.timeout + 3 * self._benchmarking.seconds

    def settled(self, test: TestKey, outcome: Outcome) -> Outcome | None:
        """The outcome of a benchmark, or None if it runs again."""
        self._reports.pop(test, None)
        runs = self._runs[test] = self._runs.get(test, 0) + 1
        return None if outcome.status == Status.PASSED and runs < self._benchmarking.count else outcome

    @property
    def is_worse(self) -> bool:
        """Whether a result is worse than in the baseline."""
        return bool(self._comparison and self._comparison.worse(self._benchmarking.threshold))

    def lines(self) -> list[str]:
        """The text about the comparison, if there is one."""
        from runner.benchmarks.comparing import lines_of

        return lines_of(self._comparison, self._benchmarking.threshold) if self._comparison else []

    @property
    def _comparison(self) -> Any:
        from runner.benchmarks.comparing import compared

        baseline = self._benchmarking.baseline
        return None if baseline is None else compared(baseline, self.samples)
