"""What reports cost: a run of many script tests with a report in each format, and the time and memory that writing takes.

    .venv/bin/python tests/bench/reports.py [--results 10000] [--rounds 3]

Script tests are the quickest results there are; with a model the share of the reports is far smaller. The CPU time of the
command and its workers is compared with that of a run that writes no file; rounds take turns. Memory is the peak of the
command, also for a tenth of the results. Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from machine import describe
from tables import duration, megabytes, table

NOTHING = "nothing"
FORMATS = ("jsonl", "json", "md", "xml", "ctrf.json", "txt")
GOAL = 5
"""Percent that a report may add."""
PER_MODULE = 100


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description="Measures what reports cost.")
    parser.add_argument("--results", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--formats", default=",".join(FORMATS))
    options = parser.parse_args()
    formats = (NOTHING, *options.formats.split(","))
    with tempfile.TemporaryDirectory(prefix="yao-bench-") as name:
        root = Path(name)
        small = max(options.results // 10, 1)
        write_modules(root, small)
        few = {each: measure(root, each)[1] for each in formats}
        write_modules(root, options.results)
        taken: dict[str, list[tuple[float, int]]] = {each: [] for each in formats}
        for _ in range(options.rounds):
            for each in formats:
                print(f"{each} ...", file=sys.stderr)
                taken[each].append(measure(root, each))
    print(f"{datetime.now(UTC):%Y-%m-%d}, {describe()}; {options.results} results, median of {options.rounds}\n")
    seconds = {each: statistics.median(time for time, _ in rounds) for each, rounds in taken.items()}
    memory = {each: max(peak for _, peak in rounds) for each, rounds in taken.items()}
    rows = []
    for each in formats:
        more = 100 * (seconds[each] / seconds[NOTHING] - 1)
        verdict = "" if each == NOTHING else "PASS" if more <= GOAL else "**MISS**"
        rows.append(
            [each, duration(seconds[each]), f"{more:+.1f}%", verdict, megabytes(few[each]), megabytes(memory[each])]
        )
    heads = [
        "report",
        "CPU time",
        "added",
        f"at most {GOAL}%",
        f"peak, {small} results",
        f"peak, {options.results} results",
    ]
    print(table(heads, rows))
    return 0


def write_modules(root: Path, count: int) -> None:
    """Modules of a hundred tests each, with two assertions; one in twenty fails."""
    folder = root / "assistants/demo/src"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder.parent / "package.yao").write_text("{}")
    for start in range(0, count, PER_MODULE):
        tests = [
            f"export function Test{number:06}(t) {{ console.log('number', {number}); t.assert.True(true);"
            f" t.assert.Equal({{ a: {number % 20} }}, {{ a: {number % 20 or 1} }}); }}\n"
            for number in range(start, min(start + PER_MODULE, count))
        ]
        (folder / f"m{start:06}_test.ts").write_text("".join(tests))


def measure(root: Path, each: str) -> tuple[float, int]:
    """CPU seconds and peak bytes of one run."""
    outputs = [] if each == NOTHING else ["-o", str(root / f"report.{each}")]
    arguments = ["-i", "scripts.demo", "-q", *outputs]
    process = subprocess.Popen(
        [sys.executable, "-m", "runner.cli", *arguments],
        cwd=root,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "CI": "1"},
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 1:
        raise SystemExit(f"the run with {each} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    sys.exit(main())
