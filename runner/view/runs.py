"""The runs of a store as the pages ask for them. What a run was made into is kept for the next question, until the
store has something else of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

from runner.application.application import repository_of
from runner.errors import MissingError, RunnerError
from runner.record.case_result import json_of
from runner.record.fold import Counts, add_usage, count_result
from runner.record.model import Suite, TestResult, suite_in
from runner.record.model import key_of as result_key
from runner.record.outcomes import Verdict
from runner.record.report import Report
from runner.reporters.change_lines import variants_of
from runner.reporters.html import Rows, index_of
from runner.store.store import Store
from runner.store.stored import UNDER_WAY, StoredRun, key_of
from runner.version import VERSION
from runner.view.reruns import elsewhere
from scripttest.typing_names import Record
from scripttest.values import Value

RUNNING = "running"
"""The status of a running run, on a page."""
IN_MEMORY = 8
"""Answers that stay in memory; that about a run has all of its results."""
SIZE = 100
"""Results of a block."""


class _Answer:
    """What was made for a question, until the store has something else."""

    def __init__(self) -> None:
        self.lock = Lock()
        """Of the thread that brings it up to date, or reads it."""
        self.state: object = None
        """What the store was then."""
        self.made: Any = None


class StoredRuns:
    """Answers from any thread, to several at a time."""

    def __init__(self, folder: Path, application: Path | None, clean: Callable[[str], str]) -> None:
        """Opens the store. Raises ConfigurationError if there is none, or it has a newer version. `folder`: folder
        of the store. `application`: its files are shown and its tests can be run again; None if there is none.
        `clean`: removes secrets from a text."""
        self.folder = folder
        self.application = application
        self.root = repository_of(application) if application else Path()
        """From which runs of the application name files."""
        self._clean = clean
        self._watched = Store(folder)
        """Tells of changes, to one thread at a time."""
        self._watching = Lock()
        self._lock = Lock()
        """Held for a moment, of the answers."""
        self._revisions = count(1)
        self._answers: OrderedDict[tuple[str, str], _Answer] = OrderedDict()

    def reading(self) -> Store:
        """The store, for this thread alone. Raises ConfigurationError if there is none any more, StoreError."""
        return Store(self.folder)

    def close(self) -> None:
        """Closes the store."""
        with self._watching:
            self._watched.close()

    def change(self) -> object:
        """A value that changes whenever something is written, or a run ends."""
        try:
            with self._watching:
                if not self._watched.is_current:
                    store = Store(self.folder)
                    self._watched.close()
                    self._watched = store
                    with self._lock:
                        self._answers.clear()
                return self._watched, self._watched.change(), self._watched.under_way()
        except RunnerError as error:
            return error.message

    def shared(self, name: str, make: Callable[[Store], Record]) -> Record:
        """What is made of the store, once for each state of it. Who asks for the same meanwhile waits for it, and
        nobody else does. Raises RunnerError."""
        answer = self._answer("shared", name)
        with answer.lock:
            state = self.change()
            if answer.state != state:
                with self.reading() as store:
                    answer.made = make(store)
                answer.state = state
            found: Record = answer.made
        return found

    def _answer(self, kind: str, name: str) -> _Answer:
        """What is kept for a question, made if it is new; the newest of all stay."""
        with self._lock:
            found = self._answers.setdefault((kind, name), _Answer())
            self._answers.move_to_end((kind, name))
            while len(self._answers) > IN_MEMORY:
                self._answers.popitem(last=False)
        return found

    def newest(self, limit: int) -> Record:
        """`{runs: [head, ...], more, version}`, those that began last first."""

        def made(store: Store) -> Record:
            found = store.runs(limit=limit + 1)
            return {"runs": [self.head(run) for run in found[:limit]], "more": len(found) > limit, "version": VERSION}

        return self.shared(f"newest {limit}", made)

    def head(self, run: StoredRun) -> Record:
        """The entry of a run in a list; values are null if not known.

        `{id, started_at, status, suites, branch, revision, profile, connectors, counts: {total, passed, failed,
        skipped, errors}, planned, duration_ms, cost, cost_estimated, labels, elsewhere}`"""
        usage = run.summary.get("usage") or {}
        counts = dict.fromkeys(("total", "passed", "failed", "skipped", "errors"), 0)
        for verdict, number in run.counts.items():
            counts[Verdict(verdict).counted] += number
            counts["total"] += number
        return {
            "id": run.id,
            "started_at": run.started_at,
            "status": _status_of(run),
            "suites": list(dict.fromkeys(suite.shown for suite in run.start.suites)),
            "branch": run.branch,
            "revision": run.commit,
            "profile": run.profile,
            "connectors": list(run.connectors),
            "counts": counts,
            "planned": run.start.total_cases,
            "duration_ms": run.summary.get("duration_ms"),
            "cost": usage.get("cost"),
            "cost_estimated": usage.get("cost_estimated"),
            "labels": run.labels,
            "elsewhere": self.elsewhere(run),
        }

    def elsewhere(self, run: StoredRun) -> str:
        """Why a run is none of this application; empty when it is."""
        return elsewhere(run, self.application)

    def index(self, id: str) -> Record:
        """The index of a run, with its `head` and the `revision` that it is of."""
        with self._current(id) as (store, run, shown):
            return {**shown.index(), "head": self._head_before(store, run)}

    def since(self, id: str, revision: int) -> Record:
        """What has changed in a run since a revision; see `RunPages.since`."""
        with self._current(id) as (store, run, shown):
            return {**shown.since(revision), "head": self._head_before(store, run)}

    def block(self, id: str, number: int) -> str:
        """Results of a run as JSON."""
        with self._current(id) as (_, _, shown):
            return shown.block(number)

    def variants(self, id: str) -> Record | None:
        """The data about the variants of a run; None if it has none."""
        report = self.report(id)
        return variants_of(report) if any(suite.variant for suite in report.suites) else None

    def report(self, id: str) -> Report:
        """The run as a report, whose results are in the order of their places on the page."""
        with self._current(id) as (_, _, shown):
            return shown.report

    def result(self, id: str, place: int) -> TestResult:
        """The result at a place. Raises MissingError."""
        results = self.report(id).results
        if not 0 <= place < len(results):
            raise MissingError(f"Run {id} has no result {place}")
        return results[place]

    def suite(self, id: str, result: TestResult) -> Suite:
        """The suite of a result of a run, as reports have it."""
        return next(suite for suite in self.report(id).suites if suite.id == result.suite)

    def chosen(self, id: str, keys: Sequence[str]) -> list[TestResult]:
        """The results of these rows. Raises MissingError for a key that no row has."""
        with self._current(id) as (_, _, shown):
            known = shown.by_key()
        if unknown := [key for key in keys if key not in known]:
            raise MissingError(f"Run {id} has no result {unknown[0]}")
        return [known[key] for key in keys]

    def run(self, id: str) -> StoredRun:
        """A run of the store. Raises MissingError."""
        with self.reading() as store:
            return _run(store, id)

    def _head_before(self, store: Store, run: StoredRun) -> Record:
        return {**self.head(run), "before": store.before(run.id)}

    @contextmanager
    def _current(self, id: str) -> Iterator[tuple[Store, StoredRun, RunPages]]:
        """A run, and what it is on a page by now; meanwhile it stays as it is."""
        change = self.change()
        answer = self._answer("run", id)
        with answer.lock, self.reading() as store:
            run = _run(store, id)
            state = (run.session, run.state, None if run.is_over else change)
            shown: RunPages | None = answer.made
            if shown is None or shown.session != run.session:
                shown = answer.made = RunPages(run.session, self._revisions)
            if answer.state != state and run.state == UNDER_WAY:
                shown.add(self._prepared(store.ended_tests(id, shown.seen, run.last_seq)), _status_of(run))
            elif answer.state != state:
                shown.take(self._prepared(store.report(id)), _status_of(run))
            answer.state, shown.seen = state, run.last_seq
            yield store, run, shown

    def _prepared(self, report: Report) -> Report:
        suites = (suite_in({**json_of(suite), "key": key_of(suite)}) for suite in report.suites)
        return report.replace(
            start=report.start.replace(suites=tuple(suites)),
            root=str(self.root) if self.application else "",
            clean=self._clean,
            text="",
        )


def _run(store: Store, id: str) -> StoredRun:
    run = store.run(id)
    if run.id != id:
        raise MissingError(f"There is no run {id} in the store {store.folder}")
    return run


def _status_of(run: StoredRun) -> str:
    return RUNNING if run.state == UNDER_WAY else run.state


class _Shown(Value):
    result: TestResult
    row: Record
    text: str
    """What the block has of it."""
    changed: int
    """The revision in which it was last another one."""


class RunPages:
    """A run as a page has it: an index, which it reads at once, and the results in blocks of one size, as in the HTML
    report; here they grow while the run goes on. A result keeps its place when others come, so that nothing moves on a
    page that is open. Not for several threads at a time."""

    report: Report
    """What it was last; its results are in the order of their places."""

    def __init__(self, session: int, revisions: Iterator[int]) -> None:
        """`session` is that of the run; `revisions` are rising numbers, also for who has seen what the run was before
        it was shown anew."""
        self.session = session
        self.seen = 0
        """The highest number of a result in the store that it had."""
        self._revisions = revisions
        self.revision = 0
        """Grows with each change."""
        self._index: Record = {}
        self._forget()

    def _forget(self) -> None:
        self._places: dict[tuple[str, int], int] = {}
        """Suite and position in it → place."""
        self._named: dict[str, int] = {}
        """Name → how many rows have it."""
        self._shown: list[_Shown] = []
        self._counts = Counts()

    def take(self, report: Report, status: str) -> None:
        """Takes what the whole run is now."""
        if self._places.keys() - {_where(result) for result in report.results}:
            self._forget()  # a run that was resumed is without a test that it had
        rows = self._put_all(report)
        self._show(report, status, rows)

    def add(self, part: Report, status: str) -> None:
        """Reads the tests of a running run that have ended since the last call."""
        known = len(self._shown)
        rows = self._put_all(part)
        if len(self._shown) - known < len(part.results):  # tests of an earlier session ran again
            self._counts, known = Counts(), 0
        for place in range(known, len(self._shown)):
            result = self._shown[place].result
            count_result(result, result.suite, result_key(result).name, place, self._counts)
            add_usage(result.case, self._counts)
        end = part.end.replace(seconds=self._counts.milliseconds / 1000)
        self._show(part.replace(known_counts=self._counts, end=end), status, rows)

    def index(self) -> Record:
        """The index with all rows, and the `revision` that it is of."""
        rows = [shown.row for shown in self._shown]
        return {**self._index, "blocks": list(self._index["blocks"]), "rows": rows, "revision": self.revision}

    def since(self, revision: int) -> Record:
        """What has changed since then: the index, with `[place, row]` of results that are new or others, and how many
        there are."""
        rows = [[place, shown.row] for place, shown in enumerate(self._shown) if shown.changed > revision]
        return {**self.index(), "rows": rows, "count": len(self._shown)}

    def block(self, number: int) -> str:
        """The results of a block as JSON; an empty list where there is none."""
        return f"[{','.join(shown.text for shown in self._shown[number * SIZE : (number + 1) * SIZE])}]"

    def by_key(self) -> dict[str, TestResult]:
        """Each result by the key of its row."""
        return {shown.row["key"]: shown.result for shown in self._shown}

    def _show(self, report: Report, status: str, rows: Rows) -> None:
        results = [shown.result for shown in self._shown]
        self.report = report.replace(results=results, known_counts=report.known_counts)
        self._index = index_of(report, rows.frames, (), range(0, len(self._shown), SIZE))
        self._index["summary"]["status"] = status

    def _put_all(self, report: Report) -> Rows:
        self.revision = next(self._revisions)
        rows = Rows(report, self._named)
        for result in report.results:
            place = self._places.setdefault(_where(result), len(self._shown))
            known = self._shown[place] if place < len(self._shown) else None
            if known is not None and known.result.line == result.line:
                continue
            row, text = rows.made(result, known.row["key"] if known else None)
            row["position"] = result.position
            self._shown[place : place + 1] = [_Shown(result=result, row=row, text=text, changed=self.revision)]
        return rows


def _where(result: TestResult) -> tuple[str, int]:
    return result.suite, result.position
