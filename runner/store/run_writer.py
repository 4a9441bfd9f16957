"""Keeps a run in a store: a reporter over the stream of events, which writes it as it comes."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Event as Flag
from threading import Thread

from runner.errors import RunnerError
from runner.record.events import AttemptEnd, Event, RunEnd, RunError, RunStart, SuiteEnd, SuiteStart, TestEnd, Warned
from runner.record.fold import Execution
from runner.record.lines import stored_text
from runner.record.report import line_of_event
from runner.record.writing import LineFile
from runner.store.database import RunLock, StoreError, changing, close, open_for_writing, open_store, understood
from runner.store.places import FILE
from runner.store.stored import COLUMNS, RUNS, key_of, kind_of, line_without_fingerprint, read, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.options.values import StoreKeep
    from runner.record.model import Suite, TestResult
    from runner.store.places import Revision


class RunWriter:
    """A reporter that writes a run into a store. Until it is closed, it has the run's lock: the run is
    under way."""

    def __init__(
        self,
        folder: Path,
        run: str,
        revision: Revision,
        *,
        profile: str | None,
        reports: tuple[str, ...],
        spare: FallbackReport,
        keep: Sequence[StoreKeep],
        now: Callable[[], str],
    ) -> None:
        """Opens the store on a thread. Errors of the store are raised by a later event, or at the end.

        Args:
            folder: folder of the store.
            run: id of the run; if the store has it, it is continued.
            revision: revision of its code.
            profile: profile of the configuration file.
            reports: the `.jsonl` reports of the run, as a command line names them.
            spare: has a report that is whole when the store fails; it gets each event first.
            keep: age or size beyond which the oldest runs are removed when this one has ended.
            now: returns the time."""
        self._folder = folder
        self._run = run
        self._revision = revision
        self._profile = profile
        self._reports = reports
        self._spare = spare
        self._keep = keep
        self._now = now
        self._suites: dict[str, Suite] = {}
        self._session = 0
        """Set, and read, on the thread of the writer."""
        self._lock: RunLock | None = None
        self._writer = _StoreThread(folder)

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Sends what is kept of an event to the thread. Raises StoreError."""
        try:
            self._send(event, so_far)
        except RunnerError as error:
            raise self._with_way_back(error) from error

    def _send(self, event: Event, so_far: Execution) -> None:
        if isinstance(event, TestEnd):
            result = event.result
            text = line_of_event(event, so_far) if result.attempts else self._text(result, so_far)
            self._send_result(result, text, 0)
        elif isinstance(event, AttemptEnd):
            self._send_result(event.result, self._text(event.result, so_far), event.result.run)
        elif isinstance(event, RunStart):
            self._begin(event, so_far)
        elif isinstance(event, SuiteStart):
            values = (event.selected, event.total, self._run, key_of(self._suites[event.suite]))
            self._execute("UPDATE suites SET selected = ?, total = ?, ended = 0 WHERE run = ? AND suite = ?", values)
        elif isinstance(event, SuiteEnd):
            key = key_of(self._suites[event.suite])
            self._execute("UPDATE suites SET ended = 1 WHERE run = ? AND suite = ?", (self._run, key))
        elif isinstance(event, (RunError, Warned)):
            line = line_of_event(event, so_far)
            self._writer.send(lambda database: database.execute(_REMARK, (self._run, self._session, line)))
        elif isinstance(event, RunEnd):
            self._end(event, line_of_event(event, so_far))

    def close(self) -> None:
        """Waits until everything is in the store, and removes old runs. Raises StoreError."""
        try:
            try:
                self._writer.close()
                if not self._suites:
                    return
                database = self._opened_again()
            except RunnerError as error:
                raise self._with_way_back(error) from error
            try:
                self._prune(database)
            finally:
                close(self._folder, database)
        finally:
            if self._lock is not None:
                self._lock.release()

    def _opened_again(self) -> sqlite3.Connection:
        """The database at the path of the store, which may be another one than was written. Raises StoreError when it
        does not have the run."""
        with understood(self._folder):
            if (self._folder / FILE).is_file():
                database = open_for_writing(self._folder)
                database.execute("SELECT count(*) FROM results WHERE run = ?", (self._run,)).fetchone()
                if database.execute("SELECT 1 FROM runs WHERE id = ?", (self._run,)).fetchone():
                    return database
                close(self._folder, database)
        raise StoreError(
            f"The run is not in the store {self._folder}: the store was removed, moved or replaced during the run",
            "Do not move the folder during a run",
        )

    def _with_way_back(self, error: RunnerError) -> StoreError:
        """The error with what puts the run into the store later: a report has all results."""
        hint = f"{error.hint}. " if error.hint else ""
        try:
            report = self._spare.begin()
        except OSError as also:
            return StoreError(error.message, f"{hint}Writing a report elsewhere also failed: {also.strerror}")
        again = shlex.join(["yao-test", "--resume", report, "--store", str(self._folder)])
        return StoreError(error.message, f"{hint}Then add the run to the store: {again}")

    def _prune(self, database: sqlite3.Connection) -> None:
        from runner.store.upkeep import prune

        try:
            with understood(self._folder):
                prune(database, self._folder, self._keep, self._now())
        except StoreError as error:
            said = f"{error.message}. The run is stored, but old runs were not removed"
            raise StoreError(said, error.hint) from error

    def _begin(self, event: RunStart, so_far: Execution) -> None:
        self._suites = {suite.id: suite.in_report for suite in event.suites}
        line = line_of_event(event, so_far)
        code = self._revision
        told = {"branch": code.branch, "revision": code.commit, "place": code.place, "profile": self._profile}
        told |= {"reports": json.dumps(self._reports), "start": line}
        suites = [(key_of(suite), suite.id, kind_of(suite)) for suite in self._suites.values()]

        def begin(database: sqlite3.Connection) -> None:
            self._lock = RunLock(self._folder, self._run)
            known = read(self._folder, database, RUNS, "SELECT session FROM runs WHERE id = ?", (self._run,))
            self._session = known[0][0] + 1 if known else 0
            row = {"id": self._run, "started_at": event.started_at, "session": self._session, **told}
            changes = ", ".join(f"{name} = excluded.{name}" for name in ("session", *told))
            database.execute(
                f"INSERT INTO runs ({', '.join(row)}) VALUES ({', '.join('?' * len(row))}) ON CONFLICT DO UPDATE SET"
                f" {changes}, ended_at = NULL, status = NULL, summary = NULL",
                tuple(row.values()),
            )
            database.executemany(
                "INSERT OR REPLACE INTO suites (run, suite, name, kind, session, ended) VALUES (?, ?, ?, ?, ?, 0)",
                [(self._run, *suite, self._session) for suite in suites],
            )

        self._writer.send(begin)

    def _send_result(self, result: TestResult, text: str | None, attempt: int) -> None:
        """Puts a result into the database, instead of one of the same attempt."""
        suite = self._suites[result.suite]

        def insert(database: sqlite3.Connection) -> None:
            row, made_of = row_of(suite, result, text, attempt)
            if made_of is not None:
                database.execute("INSERT OR IGNORE INTO fingerprints VALUES (?, ?)", (row["made_of"], made_of))
            database.execute(_INSERT, (self._run, self._session, *map(row.__getitem__, COLUMNS)))

        self._writer.send(insert)

    @staticmethod
    def _text(result: TestResult, so_far: Execution) -> str:
        if result.is_read:  # of an earlier session
            return line_without_fingerprint(result.line)
        return stored_text(result, so_far.suites[result.suite], with_fingerprint=False)

    def _end(self, event: RunEnd, line: str | None) -> None:
        def end(database: sqlite3.Connection) -> None:
            for table in ("results", "suites", "remarks"):
                database.execute(f"DELETE FROM {table} WHERE run = ? AND session < ?", (self._run, self._session))
            database.execute(
                "UPDATE runs SET ended_at = ?, status = ?, summary = ? WHERE id = ?",
                (event.completed_at, event.status.value, line, self._run),
            )

        self._writer.send(end)

    def _execute(self, statement: str, values: tuple[object, ...]) -> None:
        self._writer.send(lambda database: database.execute(statement, values))


BATCH_SECONDS = 0.5
"""How long a result may wait until it is in the store."""
Change = Callable[[sqlite3.Connection], object]
_REMARK = "INSERT INTO remarks (run, session, line) VALUES (?, ?, ?)"
_PLACES = ", ".join("?" * (2 + len(COLUMNS)))
_INSERT = f"INSERT OR REPLACE INTO results (run, session, {', '.join(COLUMNS)}) VALUES ({_PLACES})"


class _StoreThread:
    """A thread that makes changes in the database of a store, as many at a time as have come together, all of them or
    none. What fails there is raised by the next call."""

    def __init__(self, folder: Path) -> None:
        """Opens the store on the thread, and closes it in the end."""
        self._folder = folder
        self._waiting: SimpleQueue[Change | None] = SimpleQueue()
        self._closing = Flag()
        self._error: RunnerError | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def send(self, change: Change) -> None:
        """Has a change made. Raises an earlier error."""
        if self._error is not None:
            raise self._error
        self._waiting.put(change)

    def close(self) -> None:
        """Waits until all changes are made. Raises an earlier error."""
        self._closing.set()
        self._waiting.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            with open_store(self._folder) as database:
                batch: list[Change | None] = []
                while None not in batch:
                    batch = [self._waiting.get()]
                    self._closing.wait(BATCH_SECONDS)
                    while not self._waiting.empty():
                        batch.append(self._waiting.get())
                    with changing(database):
                        for change in filter(None, batch):
                            change(database)
        except RunnerError as error:
            self._error = error
        except Exception as error:
            self._error = StoreError(f"Cannot use the store {self._folder}: {type(error).__name__}: {error}")


class FallbackReport:
    """A reporter for a run that is stored."""

    def __init__(self, run: str, report: LineFile | None = None, name: str = "") -> None:
        """Writes nothing yet.

        Args:
            run: id of the run.
            report: the `.jsonl` report of the run, whose reporter gets each event first; None if there is none.
            name: what messages call it."""
        self._run = run
        self._report = report
        self._name = name
        self._is_trusted = False
        """Whether a message has named the report."""
        self._lines: list[str] = []
        self._file: LineFile | None = None

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Holds the line of an event, or writes it, unless the report has it. Raises OSError."""
        line = line_of_event(event, so_far)
        if line is None or self._is_covered:
            return
        if self._file is None:
            self._lines.append(line)
        else:
            self._file.write(line)
        if self._is_trusted:
            self.begin()

    @property
    def _is_covered(self) -> bool:
        return self._report is not None and not self._report.is_broken

    def begin(self) -> str:
        """The name of a report that has or gets all lines: the report of the run, or a file to which those that there
        are are written now, and further ones as they come. Raises OSError when it can be written nowhere."""
        if self._is_covered:
            self._is_trusted = True
            return self._name
        if self._file is None:
            self._file = self._written()
            self._lines.clear()
        return str(self._file.path)

    def close(self) -> None:
        """Closes the file. Raises OSError, and RunnerError where a message has named the report, which broke later."""
        if self._file is None:
            return
        self._file.close()
        if self._is_trusted:
            raise RunnerError(
                f"The report {self._name} does not have all results: they are in {self._file.path}",
                "Pass that file to --resume instead of the report",
            )

    def _written(self) -> LineFile:
        """A file in the folder for temporary files, with the lines of the report and those that it does not have."""
        from tempfile import mkstemp

        lines = self._lines
        if self._report is not None:
            lines = self._report.path.read_bytes().decode("utf-8", "replace").split("\n")[:-1] + lines
        descriptor, name = mkstemp(".jsonl", f"yao-test-run-{self._run}-")
        os.close(descriptor)
        file = LineFile(Path(name))
        try:
            for line in lines:
                file.write(line)
        except OSError:
            file.path.unlink(missing_ok=True)
            raise
        return file
