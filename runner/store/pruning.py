"""Removes the oldest runs of a store that are beyond an age or a size.

The newest run is kept, and so are running runs, and those with labels of people.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from runner.cli.store_keep import StoreKeep
from runner.store.locks import RUNNING, is_under_way
from runner.store.schema import changing


def prune(database: sqlite3.Connection, folder: Path, keep: Sequence[StoreKeep], now: str) -> list[str]:
    """Removes runs beyond the limits, frees their space, and returns their ids. Raises sqlite3.Error.

    Args:
        database: open for writing, and not in a transaction.
        folder: folder of the store.
        keep: the limits.
        now: the time, UTC, RFC 3339.
    """
    ages = [limit.seconds for limit in keep if limit.seconds is not None]
    sizes = [limit.bytes for limit in keep if limit.bytes is not None]
    oldest = _before(now, min(ages)) if ages else ""
    if size_of(database) <= min(sizes, default=1 << 62) and not _is_any_older(database, oldest):
        return []
    removed: list[str] = []
    rows = database.execute(
        "SELECT id, started_at FROM runs WHERE id NOT IN (SELECT run FROM labels) ORDER BY started_at DESC, rowid DESC"
    ).fetchall()
    for id, started_at in reversed(rows[1:]):
        is_too_much = bool(sizes) and size_of(database) > min(sizes)
        if not (started_at < oldest or is_too_much):
            break
        if is_under_way(folder, id):
            continue
        with changing(database):
            database.execute("DELETE FROM runs WHERE id = ?", (id,))
            database.execute(
                "DELETE FROM fingerprints WHERE digest NOT IN (SELECT made_of FROM results WHERE made_of IS NOT NULL)"
            )
        with suppress(OSError):
            (folder / RUNNING / id).unlink(missing_ok=True)
        removed.append(id)
    if removed:
        database.execute("PRAGMA incremental_vacuum").fetchall()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return removed


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
