"""Measures what each shortcut of `scripttest/shortcuts` gains: the CPU time of whole commands with and without it.

`python tests/bench/shortcuts.py` prints Markdown. The commands take turns; each figure is the least CPU time, of the
command and all of its processes, over the rounds. A shortcut that gains less than 5 % in every workload must be removed.
The first round also writes what later ones import, and does not count.

A command that takes a minute is stopped, and one whose runs have taken 20 seconds is not run again: without slicing, a
module of a thousand tests is parsed a thousand times.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

from commands import prepare
from machine import Neighbours, describe
from tables import table
from tools import all_tools, environment
from workloads import WORKLOADS

REPOSITORY = Path(__file__).parents[2]
SHORTCUTS = ("imports", "compiled", "yaml", "scan", "slicing", "bytecode", "1")
"""What `YAO_TEST_PLAIN` switches off; `1` is all."""
CASE = "one case"
LONGEST = 60.0
"""Seconds that a command may take."""
ENOUGH = 20.0
"""Seconds of CPU time after which a command is not run again."""


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description="Shows what each shortcut gains.")
    parser.add_argument("--rounds", type=int, default=9, help="runs of each command (default: 9)")
    parser.add_argument("--only", metavar="WORKLOADS", default=f"1x3,50x10,200x10,1x1000,{CASE}")
    options = parser.parse_args()
    neighbours = Neighbours()
    rows = []
    only = options.only.split(",")
    with tempfile.TemporaryDirectory(prefix="yao-shortcuts-") as name:
        folder = Path(name)
        for workload in WORKLOADS:
            if workload.name in only:
                job = prepare(all_tools()["yao-test"], workload, folder)
                rows.append([workload.name, *_row(job.command, job.folder, folder, options.rounds)])
        if CASE in only:
            flags = ["-i", "assistants/keyword/tests/inputs.jsonl", "--run", "T001", "-o", f"{folder}/case.jsonl"]
            command = [*all_tools()["yao-test"].program(), *flags]
            rows.append([CASE, *_row(command, REPOSITORY, folder, options.rounds)])
    print(describe(), "", sep="\n")
    print(table(["modules x tests", "all", *(f"without {name}" for name in SHORTCUTS[:-1]), "without any"], rows))
    print("", neighbours.sentence(), sep="\n")


def _row(command: list[str], directory: Path, folder: Path, rounds: int) -> list[str]:
    times: dict[str, list[float]] = {off: [] for off in ("", *SHORTCUTS)}
    for number in range(rounds + 1):
        for off, found in times.items():
            if sum(found) >= ENOUGH:
                continue
            if number == 1:
                found.clear()
            found.append(_cpu(command, directory, {**environment(folder), "YAO_TEST_PLAIN": off}))
    with_all = min(times[""])
    spread = statistics.median(times[""])
    cells = [f"{with_all * 1000:.0f} ms (median {spread * 1000:.0f} ms)"]
    return cells + [_cell(min(times[off]), with_all) for off in SHORTCUTS]


def _cell(seconds: float, with_all: float) -> str:
    if seconds == math.inf:
        return f"stopped after {LONGEST:.0f} s"
    return f"{seconds * 1000:.0f} ms ({seconds / with_all - 1:+.0%})"


def _cpu(command: list[str], directory: Path, variables: dict[str, str]) -> float:
    """Seconds of CPU time that a command took with all of its processes; infinite when it was stopped."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        subprocess.run(command, cwd=directory, env=variables, stdout=subprocess.DEVNULL, check=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return math.inf
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    os.environ.pop("YAO_TEST_PLAIN", None)
    main()
