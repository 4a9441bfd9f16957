"""Measures the time of `--watch` from a save to the verdict, compared with the watch modes of vitest and bun, in turns.

`python tests/bench/watching.py` prints Markdown. Each tool stays on a terminal of its own. In turn, the same file is saved
for each, and the time until its verdict is read from the terminal is taken.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from commands import prepare
from machine import Neighbours, describe
from tables import duration, table, verdict
from tools import BenchError, Tool, all_tools, environment
from workloads import Workload

WORKLOADS = (Workload(modules=1, tests=3), Workload(modules=20, tests=10))
COMMANDS = {"yao-test": ["--watch"], "vitest": ["watch"], "bun": ["test", "--watch"]}
"""Tool → how its command ends."""
VERDICTS = {
    "yao-test": r"Summary: {tests} passed, 0 failed",
    "vitest": r"Tests +{tests} passed \({tests}\)\s+Start at",
    "bun": r"(?<!\d){all} pass\b",
}
"""What a tool shows at the end of a run, of the tests that depend on the file, or of all."""
GOALS = {"vitest": 0.25, "bun": 2.0}
"""Tool → the share of its time that ours may take."""
PATIENCE = 60.0
"""Seconds until a verdict that does not come is an error."""
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description="Compares --watch with vitest and bun.")
    parser.add_argument("--rounds", type=int, default=15, help="saves for each tool that count (default: 15)")
    options = parser.parse_args()
    neighbours = Neighbours()
    rows, goals = [], []
    with tempfile.TemporaryDirectory(prefix="yao-watching-") as folder:
        for workload in WORKLOADS:
            for what in ("one module", "what all import") if workload.modules > 1 else ("one module",):
                times = _times(
                    workload, what == "what all import", Path(folder) / what.replace(" ", "-"), options.rounds
                )
                medians = {name: statistics.median(found) for name, found in times.items()}
                name = f"{workload.name}, {what}"
                rows.append([name, *(_cell(times[tool]) for tool in COMMANDS)])
                for peer, share in GOALS.items():
                    ratio = medians["yao-test"] / medians[peer]
                    goals.append([name, f"at most {share:g} x {peer}", f"{ratio:.2f}", verdict(ratio, share)])
    print(describe(), "", sep="\n")
    print(table(["modules x tests, saved", *COMMANDS], rows), table(["", "goal", "ratio", ""], goals), sep="\n")
    print("", neighbours.sentence(), sep="\n")


def _cell(times: list[float]) -> str:
    return f"{duration(statistics.median(times))} ({duration(min(times))} to {duration(max(times))})"


def _times(workload: Workload, shared: bool, root: Path, rounds: int) -> dict[str, list[float]]:
    tools = all_tools()
    watchers = {name: Watcher(tools[name], workload, shared, root) for name in COMMANDS}
    times: dict[str, list[float]] = {name: [] for name in watchers}
    try:
        for watcher in watchers.values():
            watcher.wait(first=True)
        for number in range(rounds + 2):
            for name, watcher in watchers.items():
                seconds = watcher.save(number)
                if number >= 2:
                    times[name].append(seconds)
    finally:
        for watcher in watchers.values():
            watcher.close()
    return times


class Watcher:
    """A tool that watches the files of a workload."""

    def __init__(self, tool: Tool, workload: Workload, shared: bool, root: Path) -> None:
        """Starts it. With `shared`, each module imports one more file, which is the one that is saved."""
        job = prepare(tool, workload, root)
        sources = job.folder / tool.sources
        suffix = ".ts" if tool.dialect.language == "typescript" else ".js"
        modules = [sources / f"{name}{suffix}" for name in workload.module_names()]
        self._file = modules[0]
        if shared:
            self._file = sources / f"shared{suffix}"
            self._file.write_text("export const shared = 1;\n")
            for module in modules:
                extension = "" if suffix == ".ts" else suffix
                imported = f'import {{ shared }} from "./shared{extension}";\nexport const all = shared;\n'
                module.write_text(imported + module.read_text())
        self._text = self._file.read_text()
        tests = workload.total if shared else workload.tests
        self._first = re.compile(VERDICTS[tool.name].format(tests=workload.total, all=workload.total))
        self._pattern = re.compile(VERDICTS[tool.name].format(tests=tests, all=workload.total))
        self._name = tool.name
        self._output = ""
        self._leader, follower = pty.openpty()
        variables = {**environment(root), "TERM": "xterm", "COLUMNS": "120"}
        self._process = subprocess.Popen(
            [*tool.program(), *COMMANDS[tool.name]],
            cwd=job.folder,
            env=variables,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
        )
        os.close(follower)

    def wait(self, first: bool = False) -> None:
        """Reads until the next verdict; `first`: on all tests."""
        end = time.monotonic() + PATIENCE
        while not (self._first if first else self._pattern).search(self._output):
            self._read(end - time.monotonic())
        self._output = ""

    def settle(self) -> None:
        """Reads until it is quiet."""
        while select.select([self._leader], [], [], 0.3)[0]:
            os.read(self._leader, 65536)

    def save(self, number: int) -> float:
        """Saves the file with another text; seconds until the verdict."""
        self.settle()
        began = time.perf_counter()
        self._file.write_text(f"{self._text}// {number}\n")
        self.wait()
        return time.perf_counter() - began

    def close(self) -> None:
        """Ends it."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._leader)

    def _read(self, seconds: float) -> None:
        if seconds <= 0 or not select.select([self._leader], [], [], seconds)[0]:
            raise BenchError(f"{self._name} gave no verdict:\n{self._output[-2000:]}")
        self._output += CODES.sub("", os.read(self._leader, 65536).decode(errors="replace"))


if __name__ == "__main__":
    main()
