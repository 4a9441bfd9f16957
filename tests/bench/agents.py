"""Cases against a model server on this machine: wall time, CPU time and memory of the command.

python tests/bench/agents.py [--rounds 3] [--only wall,cpu,memory,start]

| figure | workload | goal |
| --- | --- | --- |
| wall | 1000 cases, 100 ms latency, --parallel 50 | 1.25 x ceil(N / parallel) x latency |
| cpu | 2000 cases, no latency, --parallel 8 | 2 ms of CPU a case |
| memory | 100 000 cases, no latency, --parallel 50 | 120 MB; first result within 1 s |
| start | one case | its model call begins within 0.3 s |

`floor` is a bare asyncio client with httpcore that does the same requests. Every run must end with exit code 0 and have
all its results in the JSONL report.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

from cases import write_cases

HERE = Path(__file__).parent
YAO_TEST = [str(Path(sys.executable).parent / "yao-test")]
FLOOR = """
import asyncio, json, sys, time
import httpcore
url, count, parallel = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}).encode()
async def main():
    left = [count]
    async with httpcore.AsyncConnectionPool(max_connections=parallel) as pool:
        async def work():
            while left[0] > 0:
                left[0] -= 1
                (await pool.request("POST", url, headers={"content-type": "application/json"}, content=body)).content
        await asyncio.gather(*[work() for _ in range(parallel)])
asyncio.run(main())
"""


class Usage(NamedTuple):
    """What a command took."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds, user and system, of the command and its children."""
    peak: float
    """MB, of the command itself."""


class Server:
    """A slow model in a process of its own."""

    def __init__(self, milliseconds: float) -> None:
        command = [sys.executable, str(HERE / "slow_model.py"), str(milliseconds)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}"

    def first(self) -> float:
        """Monotonic time of the first request."""
        with urllib.request.urlopen(f"{self.url}/first") as answer:
            return float(json.load(answer))

    def close(self) -> None:
        self._process.communicate()


def application(folder: Path, url: str, count: int) -> Path:
    """An application with one agent and so many cases; the case file."""
    agent = folder / "assistants/bench"
    (agent / "tests").mkdir(parents=True)
    (folder / "connectors").mkdir()
    (agent / "package.yao").write_text('{"name": "Bench", "connector": "slow"}')
    (agent / "prompts.yml").write_text("- role: system\n  content: You know the limits.\n")
    options = {"host": url, "model": "bench", "key": "none"}
    (folder / "connectors/slow.conn.yao").write_text(json.dumps({"type": "openai", "options": options}))
    write_cases(agent / "tests/cases.jsonl", count)
    return agent / "tests/cases.jsonl"


def measure(command: list[str], directory: Path) -> Usage:
    """Runs a command that must succeed."""
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    if status:
        assert process.stderr is not None
        raise SystemExit(f"{' '.join(command)} ended with {status}: {process.stderr.read().decode()}")
    process.returncode = 0
    return Usage(wall=wall, cpu=usage.ru_utime + usage.ru_stime, peak=usage.ru_maxrss / 1024)


class Run(NamedTuple):
    """One run of the command over some cases."""

    usage: Usage
    floor: Usage
    first_call: float
    """Seconds from the start of the command to its first model call."""
    first_result: float
    """Seconds from the start of the command to its first result line."""


def run(count: int, milliseconds: float, parallel: int) -> Run:
    """Runs the command and the floor once, each against a fresh server."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(milliseconds)
        cases = application(folder, server.url, count)
        report = folder / "report.jsonl"
        command = [*YAO_TEST, "-i", str(cases), "-o", str(report), "-q", "--parallel", str(parallel)]
        begin = time.monotonic()
        seen: list[float] = []
        watcher = threading.Thread(target=_watch, args=(report, seen), daemon=True)
        watcher.start()
        usage = measure(command, folder)
        first = server.first()
        server.close()
        with report.open() as lines:
            passed = sum('"type": "result"' in line and '"status": "passed"' in line for line in lines)
        if passed != count:
            raise SystemExit(f"{passed} of {count} cases passed")
        watcher.join(1)
        server = Server(milliseconds)
        floor = measure([sys.executable, "-c", FLOOR, f"{server.url}/v1", str(count), str(parallel)], folder)
        server.close()
        return Run(
            usage=usage, floor=floor, first_call=first - begin, first_result=(seen[0] if seen else float("nan")) - begin
        )


def _watch(report: Path, seen: list[float]) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            if report.read_bytes()[:4000].count(b"\n") > 1:
                seen.append(time.monotonic())
                return
        except FileNotFoundError:
            pass
        time.sleep(0.005)


def median(values: list[float]) -> float:
    return statistics.median(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="wall,cpu,memory,start")
    flags = parser.parse_args()
    wanted = flags.only.split(",")
    print("| figure | measured | goal | floor |\n| --- | --- | --- | --- |")
    if "wall" in wanted:
        runs = [run(1000, 100, 50) for _ in range(flags.rounds)]
        ideal = math.ceil(1000 / 50) * 0.1
        wall, floor = median([one.usage.wall for one in runs]), median([one.floor.wall for one in runs])
        print(f"| wall / ideal | {wall / ideal:.2f} ({wall:.2f} s) | 1.25 | {floor / ideal:.2f} |")
    if "cpu" in wanted:
        runs = [run(2000, 0, 8) for _ in range(flags.rounds)]
        cpu, floor = (median([getattr(one, who).cpu / 2000 * 1000 for one in runs]) for who in ("usage", "floor"))
        print(f"| CPU ms a case | {cpu:.2f} | 2 | {floor:.2f} |")
    if "start" in wanted:
        runs = [run(1, 0, 1) for _ in range(flags.rounds * 3)]
        print(f"| first model call, s | {median([one.first_call for one in runs]):.2f} | 0.3 | |")
    if "memory" in wanted:
        one = run(100_000, 0, 50)
        print(f"| peak MB, 100 000 cases | {one.usage.peak:.0f} | 120 | {one.floor.peak:.0f} |")
        print(f"| first result, s, 100 000 cases | {one.first_result:.2f} | 1 | |")
        print(f"\n100 000 cases took {one.usage.wall:.0f} s, {one.usage.cpu / 100:.2f} ms of CPU a case.")


if __name__ == "__main__":
    main()
