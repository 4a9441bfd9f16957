"""Long runs with flat memory: many cases against a model server on this machine, and many script tests.

python tests/bench/soak.py [--cases 100000] [--tests 20000] [--every SECONDS]

While a run goes on, the resident memory of the command and of its workers is read from /proc, and the results in its
`.jsonl` report are counted. Memory is flat when what it reaches after the first quarter of the results exceeds what it
was there by less than 10 %, or by less than 5 MB. Exits with 1 when it is not, or when a result is missing, is there
twice, or is not a pass. 0 leaves a run out. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agents import YAO_TEST, Server, application
from machine import Neighbours, describe
from tables import table

SHARES = (10, 25, 50, 75, 100)
"""Percent of the results at which the table shows the memory."""
QUARTER = 0.25
"""Share of the results from which on memory must be flat."""
RELATIVE, ABSOLUTE = 0.1, 5e6
"""Growth that is none: share, and bytes."""
TESTS = 100
"""Tests of a script module."""
PARALLEL = 50
HOOKS = """\
export function Create(ctx: agent.Context, messages: agent.Message[]): agent.Create {
  return { messages, metadata: { asked: messages.length } };
}
"""
RESULT = b'"type": "result"'


class Sample(NamedTuple):
    """One look at a run."""

    seconds: float
    """Since its start."""
    results: int
    """Lines of results in the report."""
    command: int
    """Resident memory of the command, in bytes."""
    worker: int
    """That of the largest worker; 0 when there is none."""
    workers: int
    """How many there are."""


class Soak(NamedTuple):
    """What a run was like."""

    name: str
    wanted: int
    """How many results there should be."""
    samples: list[Sample]
    wall: float
    cpu: float
    """Seconds, user and system, of the command and its children."""
    problems: list[str]
    """What is wrong with its results."""


def growth(samples: Sequence[Sample], role: str) -> tuple[float, float, bool]:
    """Bytes that memory reached after the first quarter of the results beyond what it was there, bytes a result by
    least squares over the same part, and whether that is flat."""
    last = samples[-1].results
    part = [sample for sample in samples if sample.results >= QUARTER * last]
    sizes = [float(getattr(sample, role)) for sample in part]
    grown = max(sizes) - sizes[0]
    return grown, _slope([sample.results for sample in part], sizes), grown < max(ABSOLUTE, RELATIVE * sizes[0])


def _slope(places: Sequence[float], values: Sequence[float]) -> float:
    middle, mean = sum(places) / len(places), sum(values) / len(values)
    spread = sum((place - middle) ** 2 for place in places)
    return sum((x - middle) * (y - mean) for x, y in zip(places, values, strict=True)) / spread if spread else 0.0


def problems_of(report: Path, wanted: int) -> list[str]:
    """What is wrong with the results of a run in which all `wanted` tests should pass."""
    counts: Counter[tuple[str, str]] = Counter()
    failed = 0
    with report.open("rb") as lines:
        for line in lines:
            if RESULT in line:
                record = json.loads(line)
                counts[record["suite"], record["id"]] += 1
                failed += record["status"] != "passed"
    twice = sum(count > 1 for count in counts.values())
    found = {"missing": wanted - len(counts), "reported more than once": twice, "not passed": failed}
    return [f"{count} results {what}" for what, count in found.items() if count]


def soak(name: str, wanted: int, command: list[str], folder: Path, every: float) -> Soak:
    """Runs a command to its end, and measures its memory while it runs."""
    report = folder / "report.jsonl"
    begin, used = time.monotonic(), _children_cpu()
    with (folder / "output.txt").open("w+b") as output:
        process = subprocess.Popen([*command, "-o", str(report), "-q"], cwd=folder, stdout=output, stderr=output)
        samples: list[Sample] = []
        with _Counter(report) as counter:
            while process.poll() is None:
                if command_size := _resident(process.pid):
                    sizes = [_resident(pid) for pid in _workers(process.pid)]
                    seconds = time.monotonic() - begin
                    samples.append(
                        Sample(
                            seconds=seconds,
                            results=counter.count(),
                            command=command_size,
                            worker=max(sizes, default=0),
                            workers=len(sizes),
                        )
                    )
                try:
                    process.wait(every)
                except subprocess.TimeoutExpired:
                    continue
        wall = time.monotonic() - begin
        output.seek(0)
        problems = problems_of(report, wanted) if report.exists() else ["there is no report"]
        if process.returncode:
            problems.append(f"exit code {process.returncode}: {output.read()[-1000:].decode(errors='replace')}")
    if not samples:
        raise SystemExit(f"{name}: ended before it was looked at: {'; '.join(problems)}")
    return Soak(name=name, wanted=wanted, samples=samples, wall=wall, cpu=_children_cpu() - used, problems=problems)


def soak_cases(count: int, every: float) -> Soak:
    """Cases of an agent with a hook, whose model is a server on this machine, which answers at once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(0)
        try:
            cases = application(folder, server.url, count)
            (cases.parents[1] / "src").mkdir()
            (cases.parents[1] / "src/index.ts").write_text(HOOKS)
            command = [*YAO_TEST, "-i", str(cases), "--parallel", str(PARALLEL)]
            return soak(f"{count} cases", count, command, folder, every)
        finally:
            server.close()


def soak_tests(count: int, every: float) -> Soak:
    """Script tests in modules of 100, as in the benchmark of script tests."""
    from tools import all_tools
    from workloads import Workload

    workload = Workload(modules=max(1, count // TESTS), tests=min(count, TESTS))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tool = all_tools(YAO_TEST[0])["yao-test"]
        tool.write(folder, workload)
        return soak(f"{workload.total} script tests", workload.total, tool.command(workload), folder, every)


def row_of(soak: Soak, role: str) -> list[str]:
    """A row of the table: the memory of one kind of process."""
    grown, slope, is_flat = growth(soak.samples, role)
    cells = [f"{getattr(_at(soak.samples, share), role) / 1e6:.1f}" for share in SHARES]
    verdict = "yes" if is_flat else "**no**"
    return [soak.name, role, *cells, f"{grown / 1e6:+.1f}", f"{slope * 10_000 / 1e6:+.2f}", verdict]


def _at(samples: Sequence[Sample], share: int) -> Sample:
    wanted = samples[-1].results * share / 100
    return next(sample for sample in samples if sample.results >= wanted)


def _children_cpu() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _workers(command: int) -> list[int]:
    """The workers of a command, which are its children."""
    found = []
    for path in Path(f"/proc/{command}/task").glob("*/children"):
        try:
            children = path.read_text().split()
        except OSError:
            continue
        found += [int(child) for child in children if _is_worker(child)]
    return found


def _is_worker(pid: str) -> bool:
    try:
        return b"scripttest.realm.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _resident(pid: int) -> int:
    """Bytes; 0 when the process has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS:")), 0)


class _Counter:
    """Counts the results in a growing report, reading each byte once."""

    def __init__(self, report: Path) -> None:
        report.touch()
        self._file = report.open("rb")
        self._count = 0
        self._rest = b""

    def __enter__(self) -> _Counter:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def count(self) -> int:
        while part := self._file.read(1 << 20):
            text = self._rest + part
            self._count += text.count(RESULT)
            self._rest = text[-len(RESULT) + 1 :]
        return self._count


def main() -> int:
    """Prints the table; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--tests", type=int, default=20_000)
    parser.add_argument("--every", type=float, default=1.0, help="seconds between two looks")
    flags = parser.parse_args()
    neighbours = Neighbours()
    soaks = [soak_cases(flags.cases, flags.every)] if flags.cases else []
    soaks += [soak_tests(flags.tests, flags.every)] if flags.tests else []
    rows = [row_of(one, role) for one in soaks for role in _roles(one)]
    head = ["MB at", "process", *(f"{share} %" for share in SHARES), "grown", "per 10 000", "flat"]
    print(table(head, rows))
    for one in soaks:
        said = "; ".join(one.problems) or "each result once, all passed"
        workers = max((sample.workers for sample in one.samples), default=0)
        print(f"{one.name}: {said}. {one.wall:.1f} s, {one.cpu:.1f} s of CPU time, {workers} workers at the most.")
    print(f"\n{describe()}. {neighbours.sentence()}")
    is_flat = all(growth(one.samples, role)[2] for one in soaks for role in _roles(one))
    return 0 if is_flat and not any(one.problems for one in soaks) else 1


def _roles(soak: Soak) -> list[str]:
    return ["command", *(["worker"] if any(sample.worker for sample in soak.samples) else [])]


if __name__ == "__main__":
    sys.exit(main())
