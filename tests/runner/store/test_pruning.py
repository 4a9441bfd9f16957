"""Old runs leave a store: how much work that is, and what is left."""

from __future__ import annotations

import sqlite3
from itertools import count
from pathlib import Path

from html_reports import CASES, report, result, suite
from kept_runs import keep

from runner.options.values import read_store_keep
from runner.store.database import open_store
from runner.store.upkeep import prune

NOW = "2026-11-22T09:30:00Z"
(DAY,) = read_store_keep("1d", "--keep")
LINE = b"x" * 3000


def store_of(folder: Path, runs: int, tests: int = 20) -> Path:
    """A store of so many runs, of which the last one alone is of today, and each five have their fingerprints in
    common."""
    keep(folder, report([suite(CASES)], [result(CASES, "case", input="x", output="y")], timestamp=NOW))
    with open_store(folder) as database, database:
        database.execute("BEGIN")
        made_of = [[f"{run // 5} {test}" for test in range(tests)] for run in range(runs)]
        database.executemany(
            "INSERT INTO runs (id, session, started_at, reports, start) VALUES (?, 0, '2020-01-01T00:00:00Z', '[]', '{}')",
            [(f"run{run}",) for run in range(runs)],
        )
        database.executemany(
            "INSERT OR IGNORE INTO fingerprints VALUES (?, '{}')", [(one,) for of in made_of for one in of]
        )
        database.executemany(
            "INSERT INTO results (run, session, suite, position, test, attempt, verdict, passed, judged, duration_ms,"
            " made_of, line) VALUES (?, 0, 's', ?, ?, 0, 'passed', 1, 1, 1, ?, ?)",
            [
                (f"run{run}", test, f"test{test}", made_of[run][test], LINE)
                for run in range(runs)
                for test in range(tests)
            ],
        )
    return folder


def steps_of_pruning(folder: Path, runs: int) -> int:
    """Hundreds of instructions of the database."""
    steps = count()
    with open_store(folder) as database:
        database.set_progress_handler(lambda: next(steps) < 0, 100)
        assert len(prune(database, folder, [DAY], NOW)) == runs
    return next(steps)


def test_the_work_grows_with_the_runs_that_are_removed_and_no_faster(tmp_path: Path) -> None:
    few, many = (steps_of_pruning(store_of(tmp_path / f"{runs}", runs), runs) for runs in (25, 200))
    assert many < 12 * few


def test_the_file_is_as_small_as_if_they_had_never_been_there(tmp_path: Path) -> None:
    fresh = store_of(tmp_path / "fresh", 0)
    folder = store_of(tmp_path / "old", 60)
    file = folder / "runs.sqlite"
    assert file.stat().st_size > 3_600_000
    with open_store(folder) as database:
        prune(database, folder, [DAY], NOW)
        assert database.execute("SELECT count(*) FROM fingerprints").fetchone() == (0,)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert file.stat().st_size <= (fresh / "runs.sqlite").stat().st_size + 5 * 4096


def test_runs_leave_until_the_store_is_small_enough_and_fingerprints_that_are_needed_stay(tmp_path: Path) -> None:
    folder = store_of(tmp_path, 60)
    with open_store(folder) as database:
        removed = prune(database, folder, read_store_keep("2MB", "--keep"), NOW)
        left = [id for (id,) in database.execute("SELECT id FROM runs ORDER BY rowid")]
    assert removed == [f"run{n}" for n in range(len(removed))]
    assert 25 < len(removed) < 40
    assert len(left) == 61 - len(removed)
    with sqlite3.connect(folder / "runs.sqlite") as database:
        missing = "SELECT count(*) FROM results WHERE made_of NOT IN (SELECT digest FROM fingerprints)"
        assert database.execute(missing).fetchone() == (0,)
        assert database.execute("SELECT count(*) FROM fingerprints").fetchone() == (
            len({int(id[3:]) // 5 for id in left if id.startswith("run")}) * 20,
        )
