"""The fuzz tests or, with `--bench`, the benchmarks of a run, by its flags."""

from __future__ import annotations

from collections.abc import Callable
from os import urandom
from typing import TYPE_CHECKING

from runner.errors import ConfigurationError, MissingError
from scripttest import install_command

if TYPE_CHECKING:
    from runner.planning.plan import RunPlan
    from runner.test_kinds.benchmark_tests import BenchmarkTests
    from runner.test_kinds.fuzz_tests import FuzzTests

INPUT_SECONDS = 2.0
"""Time limit in seconds for one input of a fuzz test, unless `--timeout` sets it."""


def fuzz_or_benchmarks(
    plan: RunPlan, write: Callable[[str], None], stopped: Callable[[], bool]
) -> FuzzTests | BenchmarkTests:
    """What controls them. Raises ConfigurationError if the library for `--fuzz` is missing, or `--baseline` cannot be
    used. `write`: takes the lines of benchmarks. `stopped`: whether the run shall end."""
    return _benchmarks(plan, write) if plan.options.bench else _fuzz_tests(plan, stopped)


def _fuzz_tests(plan: RunPlan, stopped: Callable[[], bool]) -> FuzzTests:
    from runner.test_kinds.fuzz_tests import Fuzzing, FuzzTests

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
    from runner.options.options import absolute
    from runner.security.files import read_text
    from runner.test_kinds.benchmark_tests import Benchmarking, BenchmarkTests, read_lines

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
