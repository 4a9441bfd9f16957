"""`yao-test store merge` and `prune`: puts the runs of another store into this one, and removes the oldest runs."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import Any

from runner.options.values import StoreKeep
from runner.store.database import RUNNING, StoreError, changing, is_under_way, open_store
from runner.store.store import Store
from runner.store.stored import FINGERPRINTS, LABELS, REMARKS, RESULTS, RUNS, SUITES, Columns, read
from scripttest.values import Value, names_of

OF_RUNS = {"suites": SUITES, "results": RESULTS, "remarks": REMARKS}
_SIZE = (
    "SELECT ended_at IS NOT NULL, CASE typeof(session) WHEN 'integer' THEN session ELSE -1 END,"
    " (SELECT count(*) FROM results WHERE run = id), (SELECT count(*) FROM remarks WHERE run = id)"
    " FROM runs WHERE id = ?"
)
"""The key by which the more complete of two copies of a run is found."""


class MergeOutcome(Value):
    """How many runs and labels were copied."""

    added: int
    """Runs that the store did not have."""
    completed: int
    """Runs of which it had less."""
    known: int
    """Runs that it had."""
    unread: int
    """Runs that cannot be read, as the other store is damaged."""
    labels: int
    """Labels that it did not have."""


def join(target: Path, source: Path) -> MergeOutcome:
    """Puts all runs and labels of one store into another one, which is made where it does not exist. Blocks. Raises
    ConfigurationError when the source is no store, StoreError."""
    counts = Counter[str]()
    with Store(source) as old, open_store(target) as new:
        for (place,) in old.rows({}, "SELECT rowid FROM runs ORDER BY started_at, rowid"):
            try:
                ((id,),) = old.rows(RUNS, "SELECT id FROM runs WHERE rowid = ?", (place,))
                with changing(new):
                    mine = new.execute(_SIZE, (id,)).fetchone()
                    is_known = mine is not None and (is_under_way(target, id) or old.rows({}, _SIZE, (id,))[0] <= mine)
                    if not is_known:
                        _copy_run(old, new, id)
                    before = new.total_changes
                    _copy(old, new, "labels", LABELS, "run = ?", id, _LATER_LABEL)
                    labels = new.total_changes - before
            except StoreError:
                counts["unread"] += 1
                continue
            counts["known" if is_known else "added" if mine is None else "completed"] += 1
            counts["labels"] += labels
    return MergeOutcome(**{name: counts[name] for name in names_of(MergeOutcome)})


_LATER_LABEL = (
    " ON CONFLICT DO UPDATE SET passed = excluded.passed, score = excluded.score, why = excluded.why,"
    " made_at = excluded.made_at WHERE excluded.made_at > labels.made_at"
)
"""Of two labels of a person on one answer, the later one counts."""


def _copy_run(old: Store, new: sqlite3.Connection, id: str) -> None:
    """A run with all that is of it; labels stay. Raises StoreError, also for a run that would be copied and not be
    read."""
    old.report(id)
    for table in OF_RUNS:
        new.execute(f"DELETE FROM {table} WHERE run = ?", (id,))
    changes = ", ".join(f"{name} = excluded.{name}" for name in RUNS if name != "id")
    _copy(old, new, "runs", RUNS, "id = ?", id, f" ON CONFLICT DO UPDATE SET {changes}")
    digests = "digest IN (SELECT made_of FROM results WHERE run = ?)"
    _copy(old, new, "fingerprints", FINGERPRINTS, digests, id, " ON CONFLICT DO NOTHING")
    for table, columns in OF_RUNS.items():
        _copy(old, new, table, columns, f"run = ?{' ORDER BY seq' if 'seq' in columns else ''}", id)


def _copy(
    old: Store, new: sqlite3.Connection, table: str, columns: Columns, which: str, run: str, also: str = ""
) -> None:
    """Copies rows, but for their `seq`, which is another one in each store."""
    names = [name for name in columns if name != "seq"]
    rows: list[Any] = old.rows(columns, f"SELECT {', '.join(names)} FROM {table} WHERE {which}", (run,))
    places = ", ".join("?" * len(names))
    new.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places}){also}", rows)


BATCH = 50
"""Runs that are removed at a time; other writers wait for so many."""
_NEWEST = "SELECT rowid FROM runs ORDER BY started_at DESC, rowid DESC LIMIT 1"
_NO_LABEL = "id NOT IN (SELECT run FROM labels)"
_NOT_USED = "NOT EXISTS (SELECT 1 FROM results WHERE made_of = digest)"


def prune(database: sqlite3.Connection, folder: Path, keep: Sequence[StoreKeep], now: str) -> list[str]:
    """Removes runs beyond the limits, frees their space, and returns their ids. Raises sqlite3.Error,
    and StoreError for a store that is damaged.

    Args:
        database: open for writing, and not in a transaction.
        folder: folder of the store.
        keep: the limits.
        now: the time, UTC, RFC 3339."""
    ages = [limit.seconds for limit in keep if limit.seconds is not None]
    oldest = _before(now, min(ages)) if ages else ""
    largest = min((limit.bytes for limit in keep if limit.bytes is not None), default=1 << 62)
    any_older = database.execute("SELECT 1 FROM runs WHERE started_at < ? LIMIT 1", (oldest,)).fetchone()
    if size_of(database) <= largest and any_older is None:
        return []
    rows = read(
        folder,
        database,
        RUNS,
        f"SELECT id, started_at FROM runs WHERE {_NO_LABEL} AND rowid != ({_NEWEST}) ORDER BY started_at, rowid",
    )
    due = takewhile(lambda run: run[1] < oldest or size_of(database) > largest, rows)
    removed: list[str] = []
    for first in due:
        with changing(database):
            for id, _ in chain([first], islice(due, BATCH - 1)):
                if _remove(database, folder, id):
                    removed.append(id)
    if removed:
        with changing(database):
            database.execute(f"DELETE FROM fingerprints WHERE {_NOT_USED}")
        database.executescript("PRAGMA incremental_vacuum")  # `execute` would do its first step only
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return removed


def _remove(database: sqlite3.Connection, folder: Path, id: str) -> bool:
    """Removes a run, and the fingerprints that no other one has; False where it has to stay, or is gone."""
    if is_under_way(folder, id):
        return False
    made_of = database.execute("SELECT DISTINCT made_of FROM results WHERE run = ?", (id,)).fetchall()
    if not database.execute(f"DELETE FROM runs WHERE id = ? AND {_NO_LABEL}", (id,)).rowcount:
        return False
    database.executemany(f"DELETE FROM fingerprints WHERE digest = ? AND {_NOT_USED}", made_of)
    with suppress(OSError):
        (folder / RUNNING / id).unlink(missing_ok=True)
    return True


def size_of(database: sqlite3.Connection) -> int:
    """Bytes that the rows take."""
    pages, free, size = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _before(now: str, seconds: int) -> str:
    try:
        time = datetime.fromisoformat(now) - timedelta(seconds=seconds)
    except OverflowError:
        return ""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
