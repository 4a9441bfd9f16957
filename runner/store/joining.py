"""Puts the runs of one store into another: each run has an id, so that nothing is there twice, however often they are
joined."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from runner.store.locks import is_under_way
from runner.store.schema import StoreError, changing, open_for_reading, open_store, understood
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
    unread: int
    """Runs that cannot be read, as the other store is damaged."""
    labels: int
    """Labels that it did not have."""


def join(target: Path, source: Path) -> Joined:
    """Puts all runs and labels of one store into another one, which is made where it does not exist. Blocks. Raises
    ConfigurationError when the source is no store, StoreError."""
    added = completed = known = unread = labels = 0
    with closing(open_for_reading(source)) as database, open_store(target) as new:
        old = _Source(source, database)
        for (id,) in list(old.rows("SELECT id FROM runs ORDER BY started_at, rowid")):
            try:
                with changing(new):
                    mine = new.execute(_SIZE, (id,)).fetchone()
                    is_known = mine is not None and (is_under_way(target, id) or next(old.rows(_SIZE, (id,))) <= mine)
                    if not is_known:
                        _copy_run(old, new, id)
                    before = new.total_changes
                    _copy(old, new, "labels", "SELECT * FROM labels WHERE run = ?", (id,), _LABELS)
                    labels_of_run = new.total_changes - before
            except StoreError:
                unread += 1
                continue
            known += is_known
            added += mine is None
            completed += mine is not None and not is_known
            labels += labels_of_run
    return Joined(added=added, completed=completed, known=known, unread=unread, labels=labels)


_LABELS = (
    " ON CONFLICT DO UPDATE SET passed = excluded.passed, score = excluded.score, why = excluded.why,"
    " made_at = excluded.made_at WHERE excluded.made_at > made_at"
)
"""Of two labels of a person on one answer, the later one counts."""


class _Source:
    """The store that is read. Its methods raise StoreError."""

    def __init__(self, folder: Path, database: sqlite3.Connection) -> None:
        self._folder = folder
        self._database = database

    def rows(self, statement: str, values: tuple[Any, ...] = ()) -> Iterator[Any]:
        """The result of a query, row by row."""
        with understood(self._folder):
            yield from self._database.execute(statement, values)

    def columns(self, table: str) -> list[str]:
        """The names of the columns of a table."""
        return [row[1] for row in self.rows(f"PRAGMA table_info({table})")]


def _copy_run(old: _Source, new: sqlite3.Connection, id: str) -> None:
    """A run with all that is of it; labels stay."""
    for table in OF_RUNS:
        new.execute(f"DELETE FROM {table} WHERE run = ?", (id,))
    changes = ", ".join(f"{name} = excluded.{name}" for name in old.columns("runs") if name != "id")
    _copy(old, new, "runs", "SELECT * FROM runs WHERE id = ?", (id,), f" ON CONFLICT DO UPDATE SET {changes}")
    digests = "SELECT * FROM fingerprints WHERE digest IN (SELECT made_of FROM results WHERE run = ?)"
    _copy(old, new, "fingerprints", digests, (id,), " ON CONFLICT DO NOTHING")
    for table in OF_RUNS:
        order = " ORDER BY seq" if "seq" in old.columns(table) else ""
        _copy(old, new, table, f"SELECT * FROM {table} WHERE run = ?{order}", (id,))


def _copy(
    old: _Source, new: sqlite3.Connection, table: str, rows: str, values: tuple[Any, ...], also: str = ""
) -> None:
    """Copies rows, but for their `seq`, which is another one in each store."""
    names = ", ".join(name for name in old.columns(table) if name != "seq")
    places = ", ".join("?" * (names.count(",") + 1))
    found = old.rows(rows.replace("*", names, 1), values)
    new.executemany(f"INSERT INTO {table} ({names}) VALUES ({places}){also}", found)
