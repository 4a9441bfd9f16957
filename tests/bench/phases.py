"""Measures which parts of a run take how long: process start, imports, the steps of a realm, compiling.

`python tests/bench/phases.py` prints Markdown; `README.md` says what the rows mean. To be run with the Python that
yao-test is installed in, or with PYTHONPATH naming the repository.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from commands import Job, adopt_orphans, prepare, run
from machine import Neighbours, describe, use_two_cpus
from tables import duration, table
from tools import HERE, BenchError, all_tools
from workloads import Workload

if TYPE_CHECKING:
    from scripttest.compile.builds import Compiled, Source
    from scripttest.compile.compiler import Compiler
    from scripttest.process import PollLoop
    from scripttest.results import CompileError

ONE = Workload(modules=1, tests=3)
BIG = Workload(modules=1, tests=1000)
MANY = Workload(modules=200, tests=10)
SMALL_RUNS = 15
"""How often the three tests are run for the steps of a realm."""
SLOWEST = 4
"""Modules that are named in a group."""
OWN_PACKAGES = ("runner", "bindings", "scripttest")
MAIN = "from runner.commands.main import main; main()"

_IMPORT = re.compile(r"^import time: +(\d+) \| +\d+ \| +(\S+)$", re.MULTILINE)

Steps = list[tuple[str, float]]
"""(step, seconds) of one realm, in order."""


def main() -> int:
    """Entry point; the exit code is 1 when something could not be measured."""
    parser = argparse.ArgumentParser(description="Shows where the time of a yao-test run goes.")
    parser.add_argument("--rounds", type=int, default=15, help="runs of each command that count (default: 15)")
    rounds = parser.parse_args().rounds
    if rounds < 1:
        parser.error("--rounds must be 1 or more")
    use_two_cpus()
    adopt_orphans()
    neighbours = Neighbours()
    try:
        with tempfile.TemporaryDirectory(prefix="yao-phases-") as folder:
            root = Path(folder)
            ours = all_tools()["yao-test"]
            print(f"{datetime.now(UTC):%Y-%m-%d}, {describe()}, medians of {rounds}\n")
            one, big, many = (_python(prepare(ours, workload, root)) for workload in (ONE, BIG, MANY))
            print(f"## Starting processes\n\n{_starts(one, rounds)}")
            print(f"## Imports (own time, with the overhead of -X importtime)\n\n{_imports(one, rounds)}")
            print(f"## One realm, step by step (one worker)\n\n{_realms([one, many, big])}")
            print(f"## Compiling\n\n{_compiling(one, big, many, rounds)}")
    except BenchError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    print(neighbours.sentence())
    return 0


def _python(job: Job) -> Job:
    """The job with this interpreter instead of the installed command."""
    flags = job.tool.inputs(job.workload)
    return job._replace(command=[sys.executable, "-c", MAIN, *flags])


def _paths() -> list[str]:
    """The folders that the packages and the engine are in."""
    return [str(Path(_origin("scripttest")).parent.parent), str(Path(_origin("_quickjs")).parent)]


def _origin(module: str) -> str:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise BenchError(f"Cannot find {module}: run this with the Python that yao-test is installed in")
    return spec.origin


def _esbuild() -> str:
    from scripttest.compile.esbuild import BINARY

    return str(BINARY)


# starting processes


def _starts(one: Job, rounds: int) -> str:
    _progress("starting processes")
    worker = f"import sys; sys.path += {_paths()}; from scripttest.realm.worker import main"
    commands = {
        "`python -I -S -c pass`": [sys.executable, "-I", "-S", "-c", "pass"],
        "`python -c pass`": [sys.executable, "-c", "pass"],
        "a worker: `python -I -S` and its imports": [sys.executable, "-I", "-S", "-c", worker],
        "`esbuild --version`": [_esbuild(), "--version"],
        "the command up to its first import of its own": [sys.executable, "-c", "import runner.commands.main"],
        "the whole command, 1x3": one.command,
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(-1, rounds):
        for name, command in commands.items():
            ended = run(command, one.folder)
            if ended.code:
                raise BenchError(f"{name} exited with code {ended.code}\n{ended.output}")
            if number >= 0:
                seconds[name].append(ended.seconds)
    one.run()
    rows = [[name, duration(statistics.median(values)), duration(min(values))] for name, values in seconds.items()]
    return table(["what", "median", "lowest"], rows)


# imports


def _imports(one: Job, rounds: int) -> str:
    _progress("imports")
    timed = ["-X", "importtime"]
    worker = [
        sys.executable,
        "-I",
        "-S",
        *timed,
        "-c",
        f"import sys; sys.path += {_paths()}; import scripttest.realm.worker",
    ]
    command = [one.command[0], *timed, *one.command[1:]]
    rows = _import_rows("command", command, one, rounds) + _import_rows("worker", worker, one, rounds)
    return table(["process", "modules", "number", "median", "slowest"], rows)


def _import_rows(process: str, command: list[str], one: Job, rounds: int) -> list[list[str]]:
    """One row for each group of modules, and their sum."""
    own: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(rounds):
        ended = run(command, one.folder)
        found = _IMPORT.findall(ended.output)
        if ended.code or not found:
            raise BenchError(f"The imports of the {process} cannot be read\n{ended.output}")
        names = [name for _, name in found]
        after_site = names.index("site") + 1 if "site" in names else 0
        for position, (microseconds, name) in enumerate(found):
            group = "interpreter and site" if position < after_site else _group(name)
            own[group, name].append(int(microseconds) / 1e6)
    groups: dict[str, dict[str, float]] = defaultdict(dict)
    for (group, name), values in own.items():
        groups[group][name] = statistics.median(values)
    rows = []
    for group, modules in sorted(groups.items(), key=lambda item: -sum(item[1].values())):
        slowest = sorted(modules, key=lambda name: -modules[name])[:SLOWEST]
        named = ", ".join(f"{name} {duration(modules[name])}" for name in slowest)
        rows.append([process, group, str(len(modules)), duration(sum(modules.values())), named])
    total = [value for modules in groups.values() for value in modules.values()]
    return [*rows, [process, "all", str(len(total)), duration(sum(total)), ""]]


def _group(module: str) -> str:
    package = module.partition(".")[0]
    if package in OWN_PACKAGES:
        return package
    return "standard library" if package in sys.stdlib_module_names else f"third party: {package}"


# realms


def _realms(jobs: list[Job]) -> str:
    """A column for each workload; rows are the steps of a realm that runs a test, then of one that lists a module."""
    columns = []
    for job in jobs:
        _progress(f"realms of {job.workload.name}")
        columns.append(_realms_of(job, SMALL_RUNS if job.workload == ONE else 1))
    rows = []
    for what, lists, names in (
        ("test", False, ("context", "core", "boot", "load", "start", "jobs", "poll", "result", "destroy")),
        ("listing", True, ("load", "tests")),
    ):
        chosen = [[steps for steps in column if _lists(steps) == lists] for column in columns]
        for name in names:
            rows.append([f"{what}: {name}", *[_cell(_sum(steps, name) for steps in realms) for realms in chosen]])
        rows.append([f"{what}: all steps", *[_cell(_sum(steps) for steps in realms) for realms in chosen]])
    return table(["step", *[f"{job.workload.name}: median (mean)" for job in jobs]], rows)


def _lists(steps: Steps) -> bool:
    """Whether the realm listed the tests of its module; it then ran the first of them."""
    return any(step == "tests" for step, _ in steps)


def _realms_of(job: Job, runs: int) -> list[Steps]:
    path = job.folder / "realms.txt"
    flags = [*job.tool.inputs(job.workload), "--parallel", "1"]
    timed = job._replace(command=[sys.executable, str(HERE / "realm_timer.py"), str(path), *flags])
    for _ in range(runs):
        timed.run()
    lines = path.read_text().splitlines() if path.exists() else []
    if len(lines) < (job.workload.total - 1) * runs:
        raise BenchError(f"{len(lines)} realms were timed: does realm_timer.py still fit the way a worker is started?")
    return [_steps(line) for line in lines]


def _steps(line: str) -> Steps:
    pairs = [step.split(":") for step in line.split()]
    return [(name, int(nanoseconds) / 1e9) for name, nanoseconds in pairs]


def _sum(steps: Steps, name: str | None = None) -> float:
    return sum(seconds for step, seconds in steps if name in (None, step))


def _cell(values: Iterable[float]) -> str:
    microseconds = [seconds * 1e6 for seconds in values]
    if not microseconds:
        return "-"
    return f"{statistics.median(microseconds):.0f} us ({statistics.mean(microseconds):.0f} us)"


# compiling


def _compiling(one: Job, big: Job, many: Job, rounds: int) -> str:
    _progress("compiling")
    rows = [
        _compile_row("1 module of 3 tests, esbuild not yet started", one, rounds, started=False),
        _compile_row("1 module of 3 tests", one, rounds, started=True),
        _compile_row("1 module of 1000 tests", big, rounds, started=True),
        _compile_row("200 modules of 10 tests", many, rounds, started=True),
    ]
    return table(["what", "first module", "all modules", "a module"], rows)


def _compile_row(what: str, job: Job, rounds: int, started: bool) -> list[str]:
    first, last = [], []
    for _ in range(rounds):
        seconds = _compile(job, started)
        first.append(seconds[0])
        last.append(seconds[-1])
    whole = statistics.median(last)
    return [what, duration(statistics.median(first)), duration(whole), duration(whole / job.workload.modules)]


def _compile(job: Job, started: bool) -> list[float]:
    """Seconds after which each module was compiled, from the start of esbuild or from the first request."""
    from scripttest.compile.builds import Source
    from scripttest.compile.compiler import Compiler
    from scripttest.compile.configuration import readable
    from scripttest.compile.esbuild import Service
    from scripttest.process import PollLoop

    folder, test_file = job.folder / job.tool.sources, job.tool.dialect.test_file.format
    names = job.workload.module_names()
    sources = [Source(key=name, test=folder / test_file(name), script=folder / f"{name}.ts") for name in names]
    began = time.perf_counter()
    loop = PollLoop()
    compiler = Compiler(job.folder, loop, Service(readable(job.folder)))
    try:
        if started:
            _compile_all(compiler, loop, [sources[0].replace(key="first")])
            began = time.perf_counter()
        return [at - began for at in _compile_all(compiler, loop, sources)]
    finally:
        compiler.close()


def _compile_all(compiler: Compiler, loop: PollLoop, sources: list[Source]) -> list[float]:
    """Compiles sources; the time at which each was done."""
    from scripttest.results import CompileError

    done: list[float] = []

    def told(source: Source, result: Compiled | CompileError) -> None:
        if isinstance(result, CompileError):
            raise BenchError(f"Cannot compile {source.test.name}: {result}")
        done.append(time.perf_counter())

    compiler.add(sources, told)
    while len(done) < len(sources):
        loop.wait(None)
    return done


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
