"""Writes a run into a store, on a thread, so that tests do not wait for the disk.

What ends together is written together, at the latest half a second after it ended: whoever reads the store follows the
run, and a kill costs no more than that. Each batch is one transaction, so that several runs may be kept at once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread

from runner.errors import RunnerError
from runner.store.rows import COLUMNS, Row
from runner.store.schema import StoreError, changing, open_store

BATCH_SECONDS = 0.5
"""How long a result may wait until it is in the store."""
Change = Callable[[sqlite3.Connection], None]
_PLACES = ", ".join("?" * (2 + len(COLUMNS)))
_INSERT = f"INSERT OR REPLACE INTO results (run, session, {', '.join(COLUMNS)}) VALUES ({_PLACES})"


def insert_results(database: sqlite3.Connection, run: str, session: int, rows: Sequence[Row]) -> None:
    """Puts results into the database; those of the same attempts are replaced."""
    values = [(run, session, *(row.values[name] for name in COLUMNS)) for row in rows]
    made_of = {(row.values["made_of"], row.fingerprint) for row in rows if row.fingerprint is not None}
    database.executemany("INSERT OR IGNORE INTO fingerprints VALUES (?, ?)", list(made_of))
    database.executemany(_INSERT, values)


class Writer:
    """A thread with the database. What it cannot write is raised by the next call, as a RunnerError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: SimpleQueue[Change | None] = SimpleQueue()
        self._closing = Event()
        self._error: RunnerError | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def send(self, change: Change) -> None:
        """Queues a change of the database. Raises RunnerError for what could not be written before."""
        if self._error is not None:
            raise self._error
        self._waiting.put(change)

    def close(self) -> None:
        """Writes the rest and waits. Raises RunnerError."""
        self._closing.set()
        self._waiting.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            with open_store(self._folder) as database:
                while self._write(database):
                    pass
        except RunnerError as error:
            self._error = error
        except Exception as error:
            self._error = StoreError(f"Cannot use the store {self._folder}: {type(error).__name__}: {error}")

    def _write(self, database: sqlite3.Connection) -> bool:
        """Writes what there is; False when nothing more will come."""
        batch: list[Change | None] = [self._waiting.get()]
        if not self._closing.is_set():
            self._closing.wait(BATCH_SECONDS)
        try:
            while True:
                batch.append(self._waiting.get_nowait())
        except Empty:
            pass
        changes = [change for change in batch if change is not None]
        with changing(database):
            for change in changes:
                change(database)
        return None not in batch
