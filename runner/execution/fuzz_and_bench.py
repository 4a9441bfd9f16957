"""The fuzz tests or the benchmarks of a run. It is created when the first of them runs."""

from __future__ import annotations

from collections.abc import Callable
from os import urandom
from typing import TYPE_CHECKING, Any

from runner.errors import ConfigurationError, MissingError
from scripttest import install_command
from scripttest.values import fields_of

if TYPE_CHECKING:
    from runner.benchmarks.benchmark_tests import BenchmarkTests
    from runner.fuzzing.fuzz_tests import FuzzTests
    from runner.planning.plan import RunPlan

INPUT_SECONDS = 2.0
"""Time limit in seconds for one input of a fuzz test, unless `--timeout` sets it."""


class FuzzAndBench:
    """Controls the fuzz tests or, with `--bench`, the benchmarks of one run."""

    def __init__(self, plan: RunPlan, write: Callable[[str], None], stopped: Callable[[], bool]) -> None:
        """Raises ConfigurationError if the library for `--fuzz` is missing, or `--baseline` cannot be used. `write`:
        takes the lines of benchmarks. `stopped`: whether the run shall end."""
        self._plan = plan
        self.fuzz: FuzzTests | None = None
        self.benchmarks: BenchmarkTests | None = None
        if plan.options.bench:
            self.benchmarks = _benchmarks(plan, write)
        else:
            self.fuzz = _fuzz_tests(plan, stopped)

    @property
    def tests(self) -> FuzzTests | BenchmarkTests:
        """Those that there are."""
        found = self.fuzz or self.benchmarks
        assert found is not None
        return found

    def close(self) -> None:
        """Stops running work."""
        if self.fuzz is not None:
            self.fuzz.close()

    @property
    def closing_lines(self) -> list[str]:
        """Lines to print at the end of the run."""
        lines = list(self.fuzz.summaries if self.fuzz is not None else ())
        if self.benchmarks is not None and (found := self.benchmarks.comparison) is not None:
            from runner.benchmarks.benchmark_tests import notes_on, rows_of
            from runner.reporters.console.table import columns_of, table

            if found.differences:
                lines += table(rows_of(found), columns_of(self._plan.environment)).splitlines()
            lines += notes_on(found, self._plan.options.bench_threshold / 100)
        return lines

    @property
    def as_json(self) -> dict[str, Any]:
        """What `--json` has of it: `{searches?: [line], benchmarks?: [{package, name, rounds, values}]}`."""
        searches = self.fuzz.summaries if self.fuzz is not None else []
        samples = [fields_of(one) for one in self.benchmarks.samples] if self.benchmarks is not None else []
        found = {"searches": searches, "benchmarks": samples}
        return {name: values for name, values in found.items() if values}

    @property
    def is_worse(self) -> bool:
        """Whether a benchmark is worse than in the baseline."""
        return self.benchmarks is not None and self.benchmarks.is_worse


def _fuzz_tests(plan: RunPlan, stopped: Callable[[], bool]) -> FuzzTests:
    from runner.fuzzing.fuzz_tests import Fuzzing, FuzzTests

    options = plan.options
    if options.fuzz:
        from importlib.util import find_spec

        if find_spec("hypothesis") is None:
            hint = f"Install it with: {install_command('fuzz', 'hypothesis')}"
            raise MissingError("--fuzz requires the extra fuzz", hint)
    fuzzing = Fuzzing(
        seconds=options.fuzz_time if options.fuzz else None,
        limit=options.timeout or INPUT_SECONDS,
        seed=options.seed or int.from_bytes(urandom(3), "big") + 1,
    )
    return FuzzTests(fuzzing, plan.test_files, plan.application.root, stopped)


def _benchmarks(plan: RunPlan, write: Callable[[str], None]) -> BenchmarkTests:
    from runner.benchmarks.benchmark_tests import Benchmarking, BenchmarkTests, read_lines
    from runner.options.options import absolute
    from runner.security.files import read_text

    options, environment, name, baseline = plan.options, plan.environment, plan.options.measured_baseline, None
    if name is not None:
        try:
            baseline = tuple(read_lines(read_text(absolute(name, environment.directory))))
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise ConfigurationError(f"Cannot read --baseline {name}: {why}") from error
        if not baseline:
            hint = f"Create it with: yao-test --bench '{options.bench}' --count 6 > {name}"
            raise ConfigurationError(f"Cannot use --baseline {name}: it has no benchmark results", hint)
    benchmarking = Benchmarking(
        seconds=options.bench_time,
        timeout=options.script_timeout,
        count=options.repetitions,
        cpus=environment.cpus,
        baseline=baseline,
        threshold=options.bench_threshold / 100,
    )
    return BenchmarkTests(benchmarking, write, [module.id for module in plan.modules])
