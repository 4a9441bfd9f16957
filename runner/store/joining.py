"""Puts the runs of one store into another: each run has an id, so that nothing is there twice, however often they are
joined."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from runner.store.locks import is_under_way
from runner.store.schema import changing, open_for_reading, open_store
from scripttest.values import Value

OF_RUNS = ("suites", "results", "remarks")
_SIZE = (
    "SELECT ended_at IS NOT NULL, session, (SELECT count(*) FROM results WHERE run = id),"
    " (SELECT count(*) FROM remarks WHERE run = id) FROM runs WHERE id = ?"
)
"""The key by which the more complete of two copies of a run is found."""


class Joined(Value):
    """How many runs and labels were copied."""

    added: int
    """Runs that the store did not have."""
    completed: int
    """Runs of which it had less."""
    known: int
    """Runs that it had."""
    labels: int
    """Labels that it did not have."""


def join(target: Path, source: Path) -> Joined:
    """Puts all runs and labels of one store into another one, which is made where it does not exist. Blocks. Raises
    ConfigurationError when the source is no store, StoreError."""
    added = completed = known = 0
    with closing(open_for_reading(source)) as old, open_store(target) as new:
        for (id,) in old.execute("SELECT id FROM runs ORDER BY started_at, rowid").fetchall():
            with changing(new):
                mine = new.execute(_SIZE, (id,)).fetchone()
                if mine is not None and (is_under_way(target, id) or old.execute(_SIZE, (id,)).fetchone() <= mine):
                    known += 1
                    continue
                _copy_run(old, new, id)
            added += mine is None
            completed += mine is not None
        before = new.total_changes
        with changing(new):
            _copy(old, new, "labels", "SELECT * FROM labels WHERE run IN (SELECT id FROM runs)", (), _LABELS)
        labels = new.total_changes - before
    return Joined(added=added, completed=completed, known=known, labels=labels)


_LABELS = (
    " ON CONFLICT DO UPDATE SET passed = excluded.passed, score = excluded.score, why = excluded.why,"
    " made_at = excluded.made_at WHERE excluded.made_at > made_at"
)
"""Of two labels of a person on one answer, the later one counts."""


def _copy_run(old: sqlite3.Connection, new: sqlite3.Connection, id: str) -> None:
    """A run with all that is of it; labels stay."""
    for table in OF_RUNS:
        new.execute(f"DELETE FROM {table} WHERE run = ?", (id,))
    changes = ", ".join(f"{name} = excluded.{name}" for name in _columns(old, "runs") if name != "id")
    _copy(old, new, "runs", "SELECT * FROM runs WHERE id = ?", (id,), f" ON CONFLICT DO UPDATE SET {changes}")
    digests = "SELECT * FROM fingerprints WHERE digest IN (SELECT made_of FROM results WHERE run = ?)"
    _copy(old, new, "fingerprints", digests, (id,), " ON CONFLICT DO NOTHING")
    for table in OF_RUNS:
        names = ", ".join(name for name in _columns(old, table) if name != "seq")
        order = " ORDER BY seq" if "seq" in _columns(old, table) else ""
        _copy(old, new, table, f"SELECT {names} FROM {table} WHERE run = ?{order}", (id,))


def _copy(
    old: sqlite3.Connection, new: sqlite3.Connection, table: str, rows: str, values: tuple[Any, ...], also: str = ""
) -> None:
    found = old.execute(rows, values)
    names = [column[0] for column in found.description]
    places = ", ".join("?" * len(names))
    new.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places}){also}", _each(found))


def _each(found: sqlite3.Cursor) -> Iterator[Any]:
    yield from found


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
