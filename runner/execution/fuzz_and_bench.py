"""Controls fuzz tests and benchmarks, the test kinds besides plain tests. It is created when the first of them runs."""

from __future__ import annotations

import _thread
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runner.errors import ConfigurationError, MissingError
from scripttest import install_command
from scripttest.values import fields_of

if TYPE_CHECKING:
    from runner.benchmarks.benchmark_tests import BenchmarkTests, Sample
    from runner.fuzzing.fuzz_tests import FuzzTests
    from runner.planning.plan import RunPlan

INPUT_SECONDS = 2.0
"""Time limit in seconds for one input of a fuzz test, unless `--timeout` sets it."""


class FuzzAndBench:
    """Controls the fuzz tests and benchmarks of one run."""

    def __init__(self, plan: RunPlan, write: Callable[[str], None], stopped: Callable[[], bool]) -> None:
        """Raises ConfigurationError if the library for `--fuzz` is missing, or `--baseline` cannot be used. `write`:
        takes the lines of benchmarks. `stopped`: whether the run shall end."""
        self._plan = plan
        self._write = write
        self._stopped = stopped
        self._lock = _thread.allocate_lock()
        self._fuzz: FuzzTests | None = None
        self._benchmarks: BenchmarkTests | None = None
        options = plan.options
        if options.fuzz:
            _check_library()
        baseline = options.measured_baseline
        self._baseline = self._read_baseline(baseline) if baseline is not None else None

    def fuzz(self) -> FuzzTests:
        """Controls fuzz tests. May be called from any thread."""
        with self._lock:
            self._fuzz = self._fuzz or self._open_fuzz()
        return self._fuzz

    def benchmarks(self) -> BenchmarkTests:
        """Controls benchmarks. May be called from any thread."""
        with self._lock:
            self._benchmarks = self._benchmarks or self._open_benchmarks()
        return self._benchmarks

    def close(self) -> None:
        """Stops running work."""
        if self._fuzz is not None:
            self._fuzz.close()

    @property
    def closing_lines(self) -> list[str]:
        """Lines to print at the end of the run."""
        lines = list(self._fuzz.summaries if self._fuzz is not None else ())
        if self._benchmarks is not None and (found := self._benchmarks.comparison) is not None:
            from runner.benchmarks.benchmark_tests import notes_on, rows_of
            from runner.reporters.console.table import columns_of, table

            rows, options = rows_of(found), self._plan.options
            if found.differences:
                lines += table(rows, columns_of(self._plan.environment)).splitlines()
            lines += notes_on(found, options.bench_threshold / 100)
        return lines

    @property
    def as_json(self) -> dict[str, Any]:
        """What `--json` has of it: `{searches?: [line], benchmarks?: [{package, name, rounds, values}]}`."""
        found = {"searches": self._fuzz.summaries} if self._fuzz is not None and self._fuzz.summaries else {}
        samples = self._benchmarks.samples if self._benchmarks is not None else ()
        return found | ({"benchmarks": list(map(fields_of, samples))} if samples else {})

    @property
    def is_worse(self) -> bool:
        """Whether a benchmark is worse than in the baseline."""
        return self._benchmarks is not None and self._benchmarks.is_worse

    def _open_fuzz(self) -> FuzzTests:
        from os import urandom

        from runner.fuzzing.fuzz_tests import Fuzzing, FuzzTests

        plan, options = self._plan, self._plan.options
        fuzzing = Fuzzing(
            seconds=options.fuzz_time if options.fuzz else None,
            limit=options.timeout or INPUT_SECONDS,
            seed=options.seed or int.from_bytes(urandom(3), "big") + 1,
        )
        return FuzzTests(fuzzing, plan.test_files, plan.application.root, self._stopped)

    def _open_benchmarks(self) -> BenchmarkTests:
        from runner.benchmarks.benchmark_tests import Benchmarking, BenchmarkTests

        options = self._plan.options
        benchmarking = Benchmarking(
            seconds=options.bench_time,
            timeout=options.script_timeout,
            count=options.repetitions,
            cpus=self._plan.environment.cpus,
            baseline=self._baseline,
            threshold=options.bench_threshold / 100,
        )
        return BenchmarkTests(benchmarking, self._write, [module.id for module in self._plan.modules])

    def _read_baseline(self, name: str) -> tuple[Sample, ...]:
        from runner.benchmarks.benchmark_tests import read_lines
        from runner.options.options import absolute
        from runner.security.files import read_text

        path = absolute(name, self._plan.environment.directory)
        try:
            samples = tuple(read_lines(read_text(path)))
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise ConfigurationError(f"Cannot read --baseline {name}: {why}") from error
        if not samples:
            hint = f"Make it with: yao-test --bench '{self._plan.options.bench}' --count 6 > {name}"
            raise ConfigurationError(f"Cannot use --baseline {name}: it has no benchmark results", hint)
        return samples


def _check_library() -> None:
    from importlib.util import find_spec

    if find_spec("hypothesis") is None:
        hint = f"Install it with: {install_command('fuzz', 'hypothesis')}"
        raise MissingError("--fuzz requires the extra fuzz", hint)
