"""Runs in a store, made from reports: written event by event, as by a run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from command import eventually

from runner.record.events import Event, RunEnd, new_run
from runner.record.fold import Execution
from runner.record.report import Report, events_of
from runner.store.places import FILE, Revision
from runner.store.run_writer import FallbackReport, RunWriter


class KeptRunUnderWay:
    """A run that a test advances step by step."""

    def __init__(self, folder: Path, report: Report, revision: Revision | None = None, resumed: str = "") -> None:
        """`resumed`: the id of the run that it continues."""
        self.id = resumed or new_run()
        self._so_far = Execution()
        self._events: Iterator[Event] = events_of(report)
        now = report.start.started_at
        self._keeper = RunWriter(
            folder,
            self.id,
            revision or Revision(),
            profile=None,
            reports=(),
            spare=FallbackReport(self.id),
            keep=(),
            now=lambda: now,
        )
        eventually(lambda: (folder / FILE).exists(), "the store is opened")

    def go_on(self, results: int = 1) -> None:
        """Until so many further results have ended."""
        wanted = self._so_far.counts.total + results if self._so_far.start else results
        for event in self._events:
            self._take(event)
            if self._so_far.counts.total == wanted:
                return

    def end(self) -> str:
        """Until it has ended, and is in the store: its id."""
        for event in self._events:
            self._take(event)
        self._keeper.close()
        return self.id

    def break_off(self) -> str:
        """As a run that is killed: its id."""
        self._keeper.close()
        return self.id

    def _take(self, event: Event) -> None:
        self._so_far.add(event)
        self._keeper.on_event(event, self._so_far)
        assert not isinstance(event, RunEnd) or self._so_far.end


def keep(folder: Path, report: Report, revision: Revision | None = None) -> str:
    """Puts a run into a store: its id."""
    return KeptRunUnderWay(folder, report, revision).end()


def multiply(folder: Path, run: str, count: int) -> None:
    """Makes of the only result of a run so many, whose names end in rising numbers; the first one keeps its own."""
    columns = "run, session, suite, attempt, verdict, cause, passed, judged, score, duration_ms, tokens, cost, connector, made_of"
    with closing(sqlite3.connect(folder / FILE)) as database, database:
        ((test,),) = database.execute("SELECT test FROM results WHERE run = ?", (run,)).fetchall()
        name = test.rstrip("0123456789")
        first = int(test[len(name) :])
        database.execute(
            "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)"
            f" INSERT INTO results ({columns}, position, test, line) SELECT {columns}, n, ? || (? + n),"
            " replace(replace(line, ?, ? || (? + n)), '\"position\": 0', '\"position\": ' || n)"
            " FROM results, number WHERE run = ?",
            (count - 1, name, first, test, name, first, run),
        )
