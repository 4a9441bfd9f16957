"""Cases against a model server on this machine: wall time, processor time and memory of the command.

    python tests/bench/agents.py [--rounds 3] [--only wall,many,cpu,start,memory] [--peer PYTHON]
    python tests/bench/agents.py --parts

| figure | workload | goal |
| --- | --- | --- |
| wall | 1000 cases, 100 ms latency, --parallel 50 | 88 % of the ideal |
| many | 10 000 cases, 100 ms latency, --parallel 200 | 80 % of the ideal |
| cpu | 1000 and 3000 cases, 100 ms latency, --parallel 50: the slope | 1.2 ms a case |
| start | one case, against the server and with the scripted model | 1.15 x the scripted one |
| memory | 1000 and 20 000 cases, no latency, --parallel 50 | 45 and 60 MB |

All runs write `.jsonl` and `.json`, but those for memory, which write `.jsonl` alone: a document has to hold its results. Every
run must end with exit code 0 and have all its results in the JSONL report. `floor` is asyncio with one connection for
each call under way. `--peer` is a Python that has pydantic-evals and httpx, which then run the same cases.

`--parts` says what a case takes by part (`case_parts.py`): the difference of 1000 and 3000 cases, the lowest of the rounds.
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
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from case_parts import GOALS
from cases import write_cases

HERE = Path(__file__).parent
YAO_TEST = [str(Path(sys.executable).parent / "yao-test")]
FLOOR = """
import asyncio, json, sys
from urllib.parse import urlsplit
url, count, parallel = urlsplit(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}).encode()
head = f"POST {url.path}/chat/completions HTTP/1.1\\r\\nhost: {url.netloc}\\r\\ncontent-length: {len(body)}\\r\\n\\r\\n"
async def main():
    left = [count]
    async def work():
        reader, writer = await asyncio.open_connection(url.hostname, url.port)
        while left[0] > 0:
            left[0] -= 1
            writer.write(head.encode() + body)
            fields = (await reader.readuntil(b"\\r\\n\\r\\n")).decode().lower().split("\\r\\n")
            length = next(int(field[15:]) for field in fields if field.startswith("content-length:"))
            assert b"limit" in await reader.readexactly(length)
    await asyncio.gather(*[work() for _ in range(parallel)])
asyncio.run(main())
"""
PEER = """
import json, sys
import httpx
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Contains
url, count, parallel = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
client = httpx.AsyncClient(limits=httpx.Limits(max_connections=parallel), timeout=60)
async def ask(question):
    body = {"model": "m", "messages": [{"role": "user", "content": question}]}
    answer = (await client.post(f"{url}/chat/completions", json=body)).json()
    return answer["choices"][0]["message"]["content"]
cases = [Case(name=f"case-{n:06d}", inputs=f"What is the limit of trip {n}?") for n in range(count)]
report = Dataset(name="bench", cases=cases, evaluators=[Contains("limit")]).evaluate_sync(ask, max_concurrency=parallel, progress=False)
assert len(report.cases) == count
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

    def __init__(self, milliseconds: float, size: int = 0) -> None:
        """`size`: letters that its answer has besides."""
        command = [sys.executable, str(HERE / "slow_model.py"), str(milliseconds), str(size)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}"

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


def measure(command: list[str], directory: Path, code: int = 0) -> Usage:
    """Runs a command that must end with this exit code."""
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    if os.waitstatus_to_exitcode(status) != code:
        assert process.stderr is not None
        raise SystemExit(f"{' '.join(command)} ended with {status}: {process.stderr.read().decode()}")
    process.returncode = code
    return Usage(wall=wall, cpu=usage.ru_utime + usage.ru_stime, peak=usage.ru_maxrss / 1024)


class Run(NamedTuple):
    """One run of the command over some cases, and of what is beside it."""

    usage: Usage
    floor: Usage
    peer: Usage | None


def run(
    count: int, milliseconds: float, parallel: int, peer: str = "", formats: Sequence[str] = ("jsonl", "json")
) -> Run:
    """Runs the command, in an application in which it has run before, the floor and the peer once, each against a fresh
    server."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(milliseconds)
        cases = application(folder, server.url, count)
        measure([*YAO_TEST, "-i", str(cases), "-q", "--run", "^case-000000$"], folder)
        usage = measure([*YAO_TEST, *_words(cases, parallel, formats)], folder)
        server.close()
        _check(folder / "report.jsonl", count)
        beside: list[Usage | None] = []
        for python, code in ((sys.executable, FLOOR), (peer, PEER)):
            server = Server(milliseconds)
            command = [python, "-c", code, f"{server.url}/v1", str(count), str(parallel)]
            beside.append(measure(command, folder) if python else None)
            server.close()
        floor, other = beside
        assert floor is not None
        return Run(usage=usage, floor=floor, peer=other)


def one_case() -> tuple[float, float]:
    """CPU seconds of one case: asked of a server, and of the scripted model."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(0)
        cases = application(folder, server.url, 1)
        (folder / "assistants/bench/replies.yml").write_text("- reply: the limit is 60\n")
        for words in ((), ("--connector", "scripted")):
            found.append(measure([*YAO_TEST, *_words(cases, 1, ("jsonl",)), *words], folder).cpu)
        server.close()
    return found[0], found[1]


def parts(count: int) -> dict[str, float]:
    """CPU seconds of a run of so many cases, by part."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(100)
        cases = application(folder, server.url, count)
        command = [sys.executable, str(HERE / "case_parts.py"), "parts.json"]
        measure([*command, *_words(cases, 50, ("jsonl", "json"))], folder)
        server.close()
        _check(folder / "report.jsonl", count)
        found: dict[str, float] = json.loads((folder / "parts.json").read_text())
        return found


def _words(cases: Path, parallel: int, formats: Sequence[str]) -> list[str]:
    outputs = [word for each in formats for word in ("-o", f"report.{each}")]
    return ["-i", str(cases), "-q", "--parallel", str(parallel), *outputs]


def _check(report: Path, count: int) -> None:
    with report.open() as lines:
        passed = sum('"type": "result"' in line and '"status": "passed"' in line for line in lines)
    if passed != count:
        raise SystemExit(f"{passed} of {count} cases passed")


median = statistics.median


def print_parts(rounds: int) -> None:
    """Prints what a case takes by part."""
    few, many = ([parts(count) for _ in range(rounds)] for count in (1000, 3000))
    rows = {part: (min(one[part] for one in many) - min(one[part] for one in few)) / 2000 * 1000 for part in GOALS}
    print("| part | ms a case | goal |\n| --- | --- | --- |")
    for part, taken in rows.items():
        print(f"| {part} | {taken:.2f} | {GOALS[part]:.2f} |")
    print(f"| all | {sum(rows.values()):.2f} | {sum(GOALS.values()):.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="wall,many,cpu,start,memory")
    parser.add_argument("--peer", default="")
    parser.add_argument("--parts", action="store_true")
    flags = parser.parse_args()
    if flags.parts:
        print_parts(flags.rounds)
        return
    wanted = flags.only.split(",")
    print("| figure | measured | goal | floor | pydantic-evals |\n| --- | --- | --- | --- | --- |")
    for figure, count, parallel, goal in (("wall", 1000, 50, 88), ("many", 10_000, 200, 80)):
        if figure in wanted:
            runs = [run(count, 100, parallel, flags.peer) for _ in range(flags.rounds)]
            ideal = math.ceil(count / parallel) * 0.1
            shares = [f"{100 * ideal / median(walls):.0f} %" if walls else "" for walls in _each(runs, "wall")]
            print(f"| {count} of 100 ms, {parallel} at a time | {shares[0]} | {goal} % | {shares[1]} | {shares[2]} |")
    if "cpu" in wanted:
        few, many = ([run(count, 100, 50, flags.peer) for _ in range(flags.rounds)] for count in (1000, 3000))
        slopes = [
            f"{(min(large) - min(small)) / 2000 * 1000:.2f}" if small else ""
            for small, large in zip(_each(few, "cpu"), _each(many, "cpu"), strict=True)
        ]
        print(f"| CPU, ms a case | {slopes[0]} | 1.2 | {slopes[1]} | {slopes[2]} |")
    if "start" in wanted:
        asked, scripted = zip(*(one_case() for _ in range(flags.rounds * 3)), strict=True)
        print(f"| one case, of the scripted one | {min(asked) / min(scripted):.2f} | 1.15 | | |")
    if "memory" in wanted:
        for count, goal in ((1000, 45), (20_000, 60)):
            one = run(count, 0, 50, flags.peer, ("jsonl",))
            peer = f"{one.peer.peak:.0f}" if one.peer else ""
            print(f"| peak MB, {count} cases | {one.usage.peak:.0f} | {goal} | {one.floor.peak:.0f} | {peer} |")


def _each(runs: Sequence[Run], figure: str) -> list[list[float]]:
    """A figure of all runs: of the command, the floor and the peer, where there is one."""
    found = ([one.usage for one in runs], [one.floor for one in runs], [one.peer for one in runs if one.peer])
    return [[float(getattr(usage, figure)) for usage in usages] for usages in found]


if __name__ == "__main__":
    main()
