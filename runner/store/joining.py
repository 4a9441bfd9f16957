"""Puts the runs of one store into another: each run has an id, so that nothing is there twice, however often they are
joined."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from runner.store.locks import is_under_way
from runner.store.reading import FINGERPRINTS, LABELS, REMARKS, RESULTS, RUNS, SUITES, Columns
from runner.store.schema import StoreError, changing, open_store
from runner.store.store import Store
from scripttest.values import Value

OF_RUNS = {"suites": SUITES, "results": RESULTS, "remarks": REMARKS}
_SIZE = (
    "SELECT ended_at IS NOT NULL, CASE typeof(session) WHEN 'integer' THEN session ELSE -1 END,"
    " (SELECT count(*) FROM results WHERE run = id), (SELECT count(*) FROM remarks WHERE run = id)"
    " FROM runs WHERE id = ?"
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
    removed: int
    """Labels that it had, and that were taken away in the other store."""


def join(target: Path, source: Path) -> Joined:
    """Puts all runs and labels of one store into another one, which is made where it does not exist. Blocks. Raises
    ConfigurationError when the source is no store, StoreError."""
    added = completed = known = unread = labels = removed = 0
    with Store(source) as old, open_store(target) as new:
        for (place,) in old.rows({}, "SELECT rowid FROM runs ORDER BY started_at, rowid"):
            try:
                ((id,),) = old.rows(RUNS, "SELECT id FROM runs WHERE rowid = ?", (place,))
                with changing(new):
                    mine = new.execute(_SIZE, (id,)).fetchone()
                    is_known = mine is not None and (is_under_way(target, id) or old.rows({}, _SIZE, (id,))[0] <= mine)
                    if not is_known:
                        _copy_run(old, new, id)
                    labels_of_run, removed_of_run = _copy_labels(old, new, id)
            except StoreError:
                unread += 1
                continue
            known += is_known
            added += mine is None
            completed += mine is not None and not is_known
            labels += labels_of_run
            removed += removed_of_run
    return Joined(added=added, completed=completed, known=known, unread=unread, labels=labels, removed=removed)


_LATER_LABEL = (
    " ON CONFLICT DO UPDATE SET passed = excluded.passed, score = excluded.score, why = excluded.why,"
    " made_at = excluded.made_at"
    " WHERE (excluded.made_at, excluded.passed IS NULL) > (labels.made_at, labels.passed IS NULL)"
)
"""Of two labels of a person on one answer, the later one counts; of the same second, the one that was taken away."""


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


def _copy_labels(old: Store, new: sqlite3.Connection, id: str) -> tuple[int, int]:
    """The labels of a run: how many were copied, and how many that the run had are taken away."""
    before = new.total_changes
    _copy(old, new, "labels", LABELS, "run = ? AND passed IS NOT NULL", id, _LATER_LABEL)
    copied, had = new.total_changes - before, _labels_of(new, id)
    _copy(old, new, "labels", LABELS, "run = ? AND passed IS NULL", id, _LATER_LABEL)
    return copied, had - _labels_of(new, id)


def _labels_of(new: sqlite3.Connection, id: str) -> int:
    counted = "SELECT count(*) FROM labels WHERE run = ? AND passed IS NOT NULL"
    return int(new.execute(counted, (id,)).fetchone()[0])


def _copy(
    old: Store, new: sqlite3.Connection, table: str, columns: Columns, which: str, run: str, also: str = ""
) -> None:
    """Copies rows, but for their `seq`, which is another one in each store."""
    names = [name for name in columns if name != "seq"]
    rows: list[Any] = old.rows(columns, f"SELECT {', '.join(names)} FROM {table} WHERE {which}", (run,))
    places = ", ".join("?" * len(names))
    new.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places}){also}", rows)
