"""Removes the oldest runs of a store that are beyond an age or a size.

The newest run is kept, and so are running runs, and those with labels of people.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain, islice, takewhile
from pathlib import Path

from runner.options.values import StoreKeep
from runner.store.locks import RUNNING, is_under_way
from runner.store.reading import RUNS, read
from runner.store.schema import changing

BATCH = 50
"""Runs that are removed at a time; other writers wait for so many."""
_NEWEST = "SELECT rowid FROM runs ORDER BY started_at DESC, rowid DESC LIMIT 1"
_NO_LABEL = "id NOT IN (SELECT run FROM labels WHERE passed IS NOT NULL)"
_NOT_USED = "NOT EXISTS (SELECT 1 FROM results WHERE made_of = digest)"


def prune(database: sqlite3.Connection, folder: Path, keep: Sequence[StoreKeep], now: str) -> list[str]:
    """Removes runs beyond the limits, frees their space, and returns their ids. Raises sqlite3.Error,
    and StoreError for a store that is damaged.

    Args:
        database: open for writing, and not in a transaction.
        folder: folder of the store.
        keep: the limits.
        now: the time, UTC, RFC 3339.
    """
    ages = [limit.seconds for limit in keep if limit.seconds is not None]
    oldest = _before(now, min(ages)) if ages else ""
    largest = min((limit.bytes for limit in keep if limit.bytes is not None), default=1 << 62)
    if size_of(database) <= largest and not _is_any_older(database, oldest):
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


def _is_any_older(database: sqlite3.Connection, oldest: str) -> bool:
    return database.execute("SELECT 1 FROM runs WHERE started_at < ? LIMIT 1", (oldest,)).fetchone() is not None


def _before(now: str, seconds: int) -> str:
    try:
        time = datetime.fromisoformat(now) - timedelta(seconds=seconds)
    except OverflowError:
        return ""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
