"""What reports cost: the CPU time that each format takes for the results of a run of many script tests, beside that of the
run itself.

    .venv/bin/python tests/bench/reports.py [--results 10000] [--rounds 3]

Script tests are the quickest results there are; with a model the share of the reports is far smaller. The command runs them
once with a `.jsonl` report, for the CPU time of command and workers. Its results are then given, event by event, to a
reporter of each format in this process, and the best of the rounds counts. `kept` is what Python allocated for the reporter
at its most while the events came one by one, for a tenth of the results and for all. Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

from machine import describe
from tables import duration, megabytes, table

from runner.execution import Execution
from runner.reporters import maker_for_file
from runner.reporters.document import Report, load
from runner.reporters.replay import events_of

FORMATS = ("jsonl", "json", "md", "xml", "ctrf.json", "txt")
GOAL = 5
"""Percent that a report may add."""
PER_MODULE = 100


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description="Measures what reports cost.")
    parser.add_argument("--results", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="yao-bench-") as name:
        root = Path(name)
        write_modules(root, options.results)
        seconds = run(root)
        whole = load(root / "report.jsonl")
        part = whole._replace(results=whole.results[: options.results // 10])
        rows = []
        for each in FORMATS:
            taken = min(feed(whole, root / f"copy.{each}") for _ in range(options.rounds))
            share = 100 * taken / seconds
            sizes = (kept(part, root / f"copy.{each}"), kept(whole, root / f"copy.{each}"))
            verdict = "PASS" if share <= GOAL else "**MISS**"
            rows.append([each, duration(taken), f"{share:.1f}%", verdict, *map(megabytes, sizes)])
    print(f"{datetime.now(UTC):%Y-%m-%d}, {describe()}; {len(whole.results)} results, a run of {duration(seconds)}\n")
    print(table(["report", "CPU time", "of the run", f"at most {GOAL}%", "kept of a tenth", "kept"], rows))
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


def run(root: Path) -> float:
    """CPU seconds of the command and its workers."""
    arguments = [sys.executable, "-m", "runner.cli", "-i", "scripts.demo", "-q", "-o", "report.jsonl"]
    process = subprocess.Popen(arguments, cwd=root, stdout=subprocess.DEVNULL, env={**os.environ, "CI": "1"})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 1:
        raise SystemExit(f"the run ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def feed(report: Report, path: Path) -> float:
    """CPU seconds that a reporter takes for the events of a run."""
    events = list(events_of(report))
    execution = Execution()
    for event in events:
        execution.add(event)
    reporter = maker_for_file(path)()
    start = time.process_time()
    for event in events:
        reporter.on_event(event, execution)
    reporter.close()
    return time.process_time() - start


def kept(report: Report, path: Path) -> int:
    """Bytes that a reporter has at its most."""
    execution = Execution()
    reporter = maker_for_file(path)()
    tracemalloc.start()
    for event in events_of(report):
        execution.add(event)
        reporter.on_event(event, execution)
    reporter.close()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


if __name__ == "__main__":
    sys.exit(main())
