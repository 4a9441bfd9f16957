"""Measures the CPU time of reports, and of the live line of a terminal.

    .venv/bin/python tests/bench/reports.py [--only cases,scripts,live] [--results 10000] [--rounds 3]

| part | what is measured | goal |
| --- | --- | --- |
| cases | runs of cases that a model on this machine answers at once, by each format and by all of them: CPU time in the reporters, and what the garbage collector takes longer | 5 % of the run |
| scripts | the same results again, of script tests, the quickest there are, event by event, to a reporter in this process; and what Python has allocated for it at its most, for a tenth of the results and for all | 5 % of the run |
| live | runs on a pseudo-terminal: CPU time of the thread that draws the line, of many cases at once, and of few that wait | 2 % of the run |

Prints Markdown.
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

from machine import Neighbours, describe
from report_runs import formats, live
from tables import duration, megabytes, table, verdict

from runner.record.fold import Execution
from runner.record.report import Report, events_of
from runner.record.saved import load
from runner.reporters import maker_for_file

FORMATS = ("jsonl", "json", "md", "xml", "ctrf.json", "html", "txt")
GOAL = 5
"""Percent that a report may add."""
LIVE_GOAL = 2
"""Percent that the live line may take."""
LIVE = {"3 000 cases, no latency, `--parallel 8`": (3000, 0, 8), "8 cases, 1 s latency": (8, 1000, 1)}
"""What is run on a terminal → cases, milliseconds, cases at a time."""
PER_MODULE = 100


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description="Measures what reports cost.")
    parser.add_argument("--only", default="cases,scripts,live")
    parser.add_argument("--results", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    neighbours = Neighbours()
    print(f"{datetime.now(UTC):%Y-%m-%d}, {describe()}; {options.results} results, {options.rounds} rounds\n")
    parts = {"cases": of_cases, "scripts": of_scripts, "live": of_line}
    for part in options.only.split(","):
        print(parts[part](options.results, options.rounds), flush=True)
    print(neighbours.sentence())
    return 0


def of_cases(results: int, rounds: int) -> str:
    """What each format adds to a run of cases."""
    seconds, found = formats(results, rounds, FORMATS)
    rows = [[each, f"{100 * share:.1f} %", verdict(100 * share, GOAL)] for each, share in found.items()]
    return f"Cases, a run of {duration(seconds)}\n\n{table(['report', 'of the run', f'at most {GOAL} %'], rows)}"


def of_scripts(results: int, rounds: int) -> str:
    """What each format adds to a run of script tests, and what it keeps."""
    with tempfile.TemporaryDirectory(prefix="yao-bench-") as name:
        root = Path(name)
        write_modules(root, results)
        seconds = run(root)
        whole = load(root / "report.jsonl")
        part = whole.replace(results=whole.results[: results // 10])
        rows = []
        for each in FORMATS:
            share = 100 * min(feed(whole, root / f"copy.{each}") for _ in range(rounds)) / seconds
            sizes = (kept(part, root / f"copy.{each}"), kept(whole, root / f"copy.{each}"))
            rows.append([each, f"{share:.1f} %", verdict(share, GOAL), *map(megabytes, sizes)])
    head = ["report", "of the run", f"at most {GOAL} %", "kept of a tenth", "kept"]
    return f"Script tests, a run of {duration(seconds)}\n\n{table(head, rows)}"


def of_line(_: int, rounds: int) -> str:
    """What the live line takes."""
    rows = []
    for name, (count, milliseconds, parallel) in LIVE.items():
        seconds, share = live(count, milliseconds, parallel, rounds)
        rows.append([name, duration(seconds), f"{100 * share:.1f} %", verdict(100 * share, LIVE_GOAL)])
    return "The live line\n\n" + table(["run", "CPU time", "of the run", f"at most {LIVE_GOAL} %"], rows)


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
    arguments = [sys.executable, "-m", "runner.commands.main", "-i", "scripts.demo", "-q", "-o", "report.jsonl"]
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
