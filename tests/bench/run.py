"""Compares yao-test with other test runners: times, memory, and whether the project's goals are met.

`python tests/bench/run.py` prints Markdown; `README.md` says what the rows mean. The peers are installed with
`npm ci --prefix tests/bench`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from commands import Job, adopt_orphans, check_that_it_can_fail, prepare
from machine import Neighbours, describe, use_two_cpus
from memory import PROC, Watch
from tables import duration, megabytes, table, verdict
from tools import BenchError, Tool, all_tools
from workloads import WORKLOADS, Workload

OURS = "yao-test"
MEMORY_ROUNDS = 3
"""At the most; a peak is the highest of them."""
MEMORY_WORKLOADS = ("1x3", "200x10", "1x1000")
COMMAND_MEMORY = 60_000_000
"""Bytes that the command may take."""
WORKER_MEMORY = 30_000_000
"""Bytes that one worker may take."""

Times = dict[tuple[str, str], list[float]]
"""(workload, tool) → seconds of each round."""


class Goal(NamedTuple):
    """Our time is at most `factor` times that of a peer."""

    workload: str
    peer: str
    factor: float
    text: str = ""
    """Shown in place of the factor."""


GOALS = (
    Goal(workload="1x3", peer="node", factor=0.66),
    Goal(workload="1x3", peer="jest", factor=0.33),
    Goal(workload="50x10", peer="jest", factor=0.3),
    Goal(workload="200x10", peer="jest", factor=0.3),
    Goal(workload="200x10", peer="jest", factor=1.0 / 3.2, text="1.0 s where jest takes 3.2 s"),
    Goal(workload="1x1000", peer="jest", factor=0.6),
    *(Goal(workload=name, peer="node-shared", factor=1.0) for name in ("1x3", "50x10", "200x10")),
)


def main() -> int:
    """Entry point; the exit code is 1 when something could not be measured, whatever the goals."""
    options = _options()
    try:
        with tempfile.TemporaryDirectory(prefix="yao-bench-") as folder:
            _measure(options, Path(folder))
    except BenchError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


def _options() -> argparse.Namespace:
    known = [workload.name for workload in WORKLOADS]
    tools = list(all_tools())
    parser = argparse.ArgumentParser(description="Compares yao-test with other test runners.")
    parser.add_argument("--rounds", type=int, default=7, help="runs of each tool that count (default: 7)")
    parser.add_argument("--only", metavar="WORKLOADS", default=",".join(known), help=f"some of {','.join(known)}")
    parser.add_argument("--tools", default=",".join(tools), help=f"some of {','.join(tools)}")
    parser.add_argument("--yao-test", metavar="COMMAND", help="default: beside this Python, else on PATH")
    parser.add_argument("--node", metavar="COMMAND", help="default: the one installed with the peers, else on PATH")
    parser.add_argument("--no-memory", action="store_true", help="times only")
    options = parser.parse_args()
    options.only = options.only.split(",")
    options.tools = options.tools.split(",")
    for given, names, flag in ((options.only, known, "--only"), (options.tools, tools, "--tools")):
        if unknown := [name for name in given if name not in names]:
            parser.error(f"{flag}: there is no {unknown[0]}; there are {', '.join(names)}")
    if options.rounds < 1:
        parser.error("--rounds must be 1 or more")
    return options


def _measure(options: argparse.Namespace, root: Path) -> None:
    use_two_cpus()
    adopt_orphans()
    known = all_tools(options.yao_test, options.node)
    tools = [known[name] for name in known if name in options.tools]
    workloads = [workload for workload in WORKLOADS if workload.name in options.only]
    versions = ", ".join(f"{tool.name} {tool.version()}" for tool in tools)
    print(f"{datetime.now(UTC):%Y-%m-%d}, {describe()}\n\n{versions}\n")
    neighbours = Neighbours()
    for tool in tools:
        _progress(f"can {tool.name} fail?")
        check_that_it_can_fail(prepare(tool, WORKLOADS[0], root, broken=True))
    jobs = {workload: [prepare(tool, workload, root) for tool in tools] for workload in workloads}
    times: Times = {}
    for workload in workloads:
        times |= _session(jobs[workload], options.rounds)
    print(f"## Wall time of the whole command, median of {options.rounds} (lowest to highest)\n")
    print(_times_table(times, workloads, tools))
    print("## Goals for time\n")
    print(_goals_table(times))
    if not options.no_memory:
        print("## Peak memory\n")
        print(_memory(jobs, min(options.rounds, MEMORY_ROUNDS)))
    print(neighbours.sentence())


def _session(jobs: list[Job], rounds: int) -> Times:
    """Every tool in turn, round after round, each round beginning with another one; a first round is dropped."""
    times: Times = {(job.workload.name, job.tool.name): [] for job in jobs}
    for number in range(-1, rounds):
        _progress(f"{jobs[0].workload.name}: {f'round {number + 1} of {rounds}' if number >= 0 else 'warm-up'}")
        first = number % len(jobs)
        for job in jobs[first:] + jobs[:first]:
            seconds = job.run()
            if number >= 0:
                times[job.workload.name, job.tool.name].append(seconds)
    return times


def _times_table(times: Times, workloads: list[Workload], tools: list[Tool]) -> str:
    rows = []
    for workload in workloads:
        cells = [times[workload.name, tool.name] for tool in tools]
        rows.append([workload.name, *[_spread(cell) for cell in cells]])
    return table(["modules x tests", *[" ".join([tool.name, *tool.flags]) for tool in tools]], rows)


def _spread(seconds: list[float]) -> str:
    return f"{duration(statistics.median(seconds))} ({duration(min(seconds))} to {duration(max(seconds))})"


def _goals_table(times: Times) -> str:
    rows = []
    for goal in GOALS:
        ours, theirs = times.get((goal.workload, OURS)), times.get((goal.workload, goal.peer))
        text = goal.text or f"at most {goal.factor:g} x {goal.peer}"
        if not ours or not theirs:
            rows.append([goal.workload, text, "-", "-", "-", "-", "not measured"])
            continue
        mine, peer = statistics.median(ours), statistics.median(theirs)
        most = goal.factor * peer
        figures = [f"{goal.peer} {duration(peer)}", duration(most), duration(mine), f"{mine / peer:.2f}"]
        rows.append([goal.workload, text, *figures, verdict(mine, most)])
    return table(["modules x tests", "goal", "peer", "so at most", OURS, "ratio to the peer", ""], rows)


def _memory(jobs: dict[Workload, list[Job]], rounds: int) -> str:
    if not (PROC / "self/status").exists():
        return "Not measured: there is no /proc here.\n"
    rows = []
    for workload, of_workload in jobs.items():
        if workload.name not in MEMORY_WORKLOADS:
            continue
        for job in of_workload:
            _progress(f"{workload.name}: memory of {job.tool.name}")
            rows.append(_memory_row(job, rounds))
    head = ["modules x tests", "tool", "command", "largest worker", "compiler", "all at once", "processes", ""]
    return table(head, rows)


def _memory_row(job: Job, rounds: int) -> list[str]:
    watches = [Watch() for _ in range(rounds)]
    for watch in watches:
        job.run(watch)
    command = max(watch.command for watch in watches)
    worker = max((size for watch in watches if (size := watch.highest("worker")) is not None), default=None)
    compiler = max((size for watch in watches if (size := watch.highest("compiler")) is not None), default=None)
    goal = ""
    if job.tool.name == OURS:
        if worker is None:
            raise BenchError(f"{OURS}, {job.workload.name}: no worker process was seen")
        judged = [("command", command, COMMAND_MEMORY), ("worker", worker, WORKER_MEMORY)]
        goal = ", ".join(f"{what} at most {most / 1e6:g} MB: {verdict(size, most)}" for what, size, most in judged)
    sizes = [megabytes(size) for size in (command, worker, compiler, max(watch.at_once for watch in watches))]
    return [job.workload.name, job.tool.name, *sizes, str(max(watch.processes for watch in watches)), goal]


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
