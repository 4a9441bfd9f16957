"""Measures the processor time of reading a store: a running run that the page of `yao-test view` follows, and
`yao-test history` over many runs.

    .venv/bin/python tests/bench/stores.py [--results 10000] [--runs 1000] [--tests 100]
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from html_reports import CASES, assertion, report, result, suite
from kept_runs import KeptRunUnderWay, keep

from runner.store.history import histories
from runner.store.places import FILE
from runner.store.store import Store
from runner.view.runs import StoredRuns

STEP = {"kind": "model", "role": "agent", "agent": "demo", "duration_ms": 5, "connector": "scripted", "model": "m"}
TRACE = {"totals": {"agent": {"model_calls": 1, "tool_calls": 0, "duration_ms": 5}}, "steps": [STEP]}
NEW = 100
"""Results that have ended since the last look."""


def main() -> None:
    """Prints Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--results", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--tests", type=int, default=100)
    given = parser.parse_args()
    print("| look at | processor time |\n| --- | --- |")
    with TemporaryDirectory() as folder:
        for what, seconds in looks(Path(folder), given.results):
            print(f"| {what} | {seconds * 1000:.0f} ms |")
    with TemporaryDirectory() as folder:
        for what, seconds in over_time(Path(folder), given.runs, given.tests):
            print(f"| {what} | {seconds * 1000:.0f} ms |")


def looks(folder: Path, results: int) -> list[tuple[str, float]]:
    """A run that grows to so many results."""
    checks = [assertion("contains", True, "dogs", "x", "")]
    cases = [
        result(CASES, f"case-{at}", input="a dog? " * 30, output="Yes. " * 100, assertions=checks, trace=TRACE)
        for at in range(results)
    ]
    going = KeptRunUnderWay(folder, report([suite(CASES)], cases))
    going.go_on(results - NEW)
    with closing(StoredRuns(folder, None, str)) as runs:
        _until(runs, results - NEW)
        first, index = _timed(lambda: runs.index(going.id))
        going.go_on(NEW)
        _until(runs, results)
        next, update = _timed(lambda: runs.since(going.id, index["revision"]))
        assert len(update["rows"]) == NEW
        idle, _ = _timed(runs.change)
    going.end()
    return [
        (f"a run under way with {results} results, the first", first),
        (f"the same with {NEW} that are new", next),
        ("whether anything is new", idle),
    ]


def keep_runs(folder: Path, runs: int, tests: int) -> None:
    """Makes a store with so many runs of so many tests, of which one in ten sometimes fails."""
    cases = [result(CASES, f"case-{at}", input="x", output="y") for at in range(tests)]
    id = keep(folder, report([suite(CASES)], cases))
    with closing(sqlite3.connect(folder / FILE)) as database, database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(runs)") if row[1] not in ("id", "started_at")]
        names = ", ".join(columns)
        own = [row[1] for row in database.execute("PRAGMA table_info(results)") if row[1] not in ("seq", "run", "verdict", "passed", "connector")]  # fmt: skip
        database.execute(
            f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO runs (id, started_at, {names})"
            f" SELECT 'run' || i, strftime('%Y-%m-%dT%H:%M:%SZ', started_at, '+' || i || ' hours'), {names} FROM runs, n WHERE id = ?",
            (runs - 1, id),
        )
        fails = "(position % 10 = 0 AND abs(random()) % 5 = 0)"
        database.execute(
            f"INSERT INTO results (run, verdict, passed, connector, {', '.join(own)}) SELECT runs.id, iif({fails}, 'failed', 'passed'),"
            f" iif({fails}, 0, 1), 'model', {', '.join('abs(random()) % 1000' if name == 'duration_ms' else f'results.{name}' for name in own)} FROM results, runs WHERE results.run = ? AND runs.id != ?",
            (id, id),
        )


def over_time(folder: Path, runs: int, tests: int) -> list[tuple[str, float]]:
    """Reads many runs."""
    keep_runs(folder, runs, tests)
    with Store(folder) as store:
        measured = []
        for last in (100, runs):
            seconds, found = _timed(lambda last=last: histories(store, store.runs(limit=last)))
            assert len(found) == tests
            measured.append((f"`history`: {tests} tests in the newest {last} of {runs} runs", seconds))
        seconds, _ = _timed(lambda: histories(store, store.runs(), [(CASES, "case-0")]))
        measured.append((f"`history TEST`: a model that fails now and then, in {runs} runs", seconds))
    with closing(StoredRuns(folder, None, str)) as pages:
        seconds, _ = _timed(lambda: pages.newest(100))
        measured.append((f"the page of runs, 100 of {runs}", seconds))
    return measured


def _until(runs: StoredRuns, results: int) -> None:
    while not any(head["counts"]["total"] >= results for head in runs.newest(1)["runs"]):
        time.sleep(0.05)


def _timed(do: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    found = do()
    return time.process_time() - begun, found


if __name__ == "__main__":
    main()
