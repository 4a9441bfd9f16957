"""What `--cluster` costs, and what it survives: on two local workers, beside the same tests without it.

    PYTHONPATH=tests/helpers python tests/bench/cluster.py speed [--tests 10000] [--rounds 3] [--work 0]
    PYTHONPATH=tests/helpers python tests/bench/cluster.py workloads [--tests 10000] [--rounds 3]
    PYTHONPATH=tests/helpers python tests/bench/cluster.py survival [--cases 2000]
    PYTHONPATH=tests/helpers python tests/bench/cluster.py pieces

`speed` runs script tests with `--parallel 2`, on a scheduler and two workers that are there already, and with
`--cluster local:2`; it prints wall clock and processor time of all processes, and where Linux has `perf` the
instructions that they took, which other programs on the machine change least. Its tests make two assertions, and as
many additions as `--work` says. `workloads` does the same with the tests of `workloads.py`, ten or fifty in a file.
`survival` kills a worker and then the command in a run of cases, goes on with `--resume`, and counts results, calls of
models, and runs in the store. `pieces` measures what one piece costs the scheduler.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from agent_files import agent, case_file
from command import COMMAND, eventually, make_application
from commands import prepare
from dask_cluster import DaskCluster
from faults import lines_of, with_model
from model_server import ModelServer, echo
from tools import all_tools
from workloads import Workload

MODULE_TESTS = 50
TICK = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("speed", "workloads", "survival", "pieces"))
    parser.add_argument("--tests", type=int, default=10_000)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=int, default=0)
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if said.what == "speed":
            speed(Path(folder), said.tests, said.rounds, said.work)
        elif said.what == "workloads":
            for tests in (10, MODULE_TESTS):
                workload(Path(folder), Workload(modules=said.tests // tests, tests=tests), said.rounds)
        elif said.what == "survival":
            survival(Path(folder), said.cases)
        else:
            pieces(Path(folder))


def module(number: int, work: int) -> str:
    body = 'const a = [1, 2, 3].map(n => n * 2); t.assert.Equal(a, [2, 4, 6]); t.assert.Contains("abc", "b");'
    if work:
        body += f" let sum = 0; for (let n = 0; n < {work}; n++) sum += n;"
    tests = [f"function Test{number}_{n}(t: testing.T) {{ {body} }}" for n in range(MODULE_TESTS)]
    return "\n".join(tests)


def processor_time(pid: int) -> float:
    """Seconds of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICK


class Cost(NamedTuple):
    wall: float
    processor: float
    instructions: float
    """In thousands of millions; not a number without `perf`."""


def measured(work: Callable[[], None], processes: list[int]) -> Cost:
    """What it takes, with what other processes take, and what they start."""

    def spent() -> float:
        own = resource.getrusage(resource.RUSAGE_CHILDREN)
        return own.ru_utime + own.ru_stime + sum(map(processor_time, processes))

    watched = ",".join(map(str, [os.getpid(), *processes]))
    counting = shutil.which("perf") and subprocess.Popen(
        ["perf", "stat", "-x", ",", "-e", "instructions", "-p", watched], stderr=subprocess.PIPE, text=True
    )
    time.sleep(0.5)  # until it counts
    before, start = spent(), time.monotonic()
    work()
    wall = time.monotonic() - start
    time.sleep(4)  # until the processes beside the workers have ended, and count
    processor, instructions = spent() - before, math.nan
    if counting:
        counting.send_signal(signal.SIGINT)
        counted = counting.communicate()[1].partition(",")[0]
        if counted.isdecimal():  # else this processor counts none
            instructions = float(counted) / 1e9
    return Cost(wall, processor, instructions)


def speed(folder: Path, count: int, rounds: int, work: int) -> None:
    files = {f"m{number}_test.ts": module(number, work) for number in range(count // MODULE_TESTS)}
    here = make_application(folder, files)
    print(f"{count} script tests in {len(files)} modules")
    compare(["-i", "scripts.demo"], count, rounds, here.root, here.environment)


def workload(folder: Path, workload: Workload, rounds: int) -> None:
    job = prepare(all_tools()["yao-test"], workload, folder)
    print(f"{workload.name} tests of `workloads.py`")
    compare(job.command[1:], workload.total, rounds, job.folder, dict(os.environ))


def compare(words: list[str], count: int, rounds: int, root: Path, environment: dict[str, str]) -> None:
    def run(*flags: str) -> None:
        done = subprocess.run([*COMMAND, "-q", *words, *flags], cwd=root, env=environment, capture_output=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{count} passed".encode() in done.stdout, done.stdout

    print("wall clock and processor time in seconds, 10^9 instructions\n")
    with DaskCluster(root.parent / "cluster") as cluster:
        others = [process.pid for process in (cluster.scheduler, *cluster.workers)]
        for _ in range(rounds):
            alone = measured(lambda: run("--parallel", "2"), [])
            there = measured(lambda: run("--cluster", cluster.address), others)
            local = measured(lambda: run("--cluster", "local:2"), [])
            figures = [" ".join(f"{figure:6.2f}" for figure in cost) for cost in (alone, there)]
            speeds = [f"{mine / its:.2f} ({of})" for mine, its, of in zip(alone, there, Cost._fields, strict=True)]
            print(f"alone {figures[0]}   cluster {figures[1]}   speed {', '.join(speeds)}", end="   ")
            print(f"local {local.wall:.2f}, {alone.wall / local.wall:.2f} (wall)", flush=True)


def survival(folder: Path, count: int) -> None:
    key = {"WORKER_KEY": "tok-of-workers-4711"}
    cases = [{"id": f"c{n}", "turns": [{"input": f"c{n} a"}, {"input": f"c{n} b"}]} for n in range(count)]
    with ModelServer(echo(0.02)) as server, DaskCluster(folder / "cluster", env=key) as cluster:
        files = agent(package={"connector": "local"}, cases=cases)
        here = make_application(folder, {**files, **with_model(server, key="$ENV.WORKER_KEY")})
        report, flags = (
            here.root / "r.jsonl",
            ("--cluster", cluster.address, "--parallel", "4", "-q", "--store", "store"),
        )

        def ended() -> int:
            time.sleep(0.5)  # looking costs the run its processor
            return max(0, report.read_bytes().count(b"\n") - 1) if report.exists() else 0

        with here.start("-i", case_file(), *flags, "-o", "r.jsonl") as command:
            eventually(lambda: ended() > count // 10, "a tenth of the results", 600)
            cluster.kill(cluster.workers[0])
            print(f"killed a worker after {ended()} results", flush=True)
            cluster.workers.append(cluster.add_worker())
            eventually(lambda: ended() > count // 2, "half of the results", 600)
            command.kill()
            command.communicate()
            print(f"killed the command after {ended()} results", flush=True)
        with here.start("--resume", "r.jsonl", *flags) as command:
            out, _ = command.communicate(timeout=1200)
        records = [record for record in lines_of(report) if record["type"] == "result"]
        texts = [request.last_text for request in server.requests]
        print(f"exit code {command.returncode}; {len(records)} results of {len({r['id'] for r in records})} cases")
        print(f"calls: {len(texts)}, of which {len(texts) - len(set(texts))} were made twice")
        print(out.decode()[-400:])
        print(here.run("store", "list", "--store", "store").stdout)


def pieces(folder: Path) -> None:
    from distributed import Client

    from runner.cluster import worker_side
    from runner.cluster.connection import Connection
    from runner.options.values import read_cluster_address

    with DaskCluster(folder / "cluster") as cluster, Client(cluster.address, set_as_default=False) as client:
        pid, count = cluster.scheduler.pid, 1000
        workers = list(client.scheduler_info()["workers"])
        client.gather([client.submit(_work, 0, 0, workers=[workers[n % 2]], pure=False) for n in range(50)])
        got: list[int] = []
        client.subscribe_topic("bench", lambda event: got.append(len(event[1]["data"])))
        for messages, size in ((0, 0), (1, 4000), (10, 4000), (10, 40_000)):
            before, start, known = processor_time(pid), time.monotonic(), len(got)
            futures = [client.submit(_work, messages, size, workers=[workers[n % 2]], pure=False) for n in range(count)]
            client.gather(futures)
            eventually(lambda: len(got) - known == messages * count, "all messages", 120)  # noqa: B023
            wall = (time.monotonic() - start) / count * 1000
            spent = (processor_time(pid) - before) / count * 1000
            print(
                f"{messages:3} messages of {size:6} bytes: {spent:.2f} ms of the scheduler for a piece, {wall:.2f} ms wall"
            )
        address = read_cluster_address(cluster.address, "the address")
        before, start = processor_time(pid), time.monotonic()
        connection = Connection(address)
        for n in range(count):
            connection.tell(worker_side.tell, "nobody", b"x" * 100, attempt="nobody", station=workers[n % 2])
        connection.close()  # when all are told
        wall, spent = time.monotonic() - start, processor_time(pid) - before
        print(
            f"a message to a runner process: {spent / count * 1000:.2f} ms of the scheduler, {count / wall:.0f} a second"
        )


def _work(messages: int, size: int) -> None:
    from distributed import get_worker

    for _ in range(messages):
        get_worker().log_event("bench", {"data": b"x" * size})


if __name__ == "__main__":
    sys.exit(main())
