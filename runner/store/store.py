"""What a store has: runs, their results, one test over time, labels. Everything that reads a store goes through here.

A store may be read while runs are written: each call sees what was written before it. Whoever follows a run asks for
the results after the last `seq` that it has seen."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from runner.amounts import cost_in
from runner.errors import ConfigurationError
from runner.record.checks import result_problem, start_problem
from runner.record.report import Report
from runner.record.saved import read_text, start_in
from runner.store import stored
from runner.store.database import changing, close, damaged, is_under_way, open_for_reading, parsing, understood
from runner.store.places import FILE
from scripttest import Status, kind_of
from scripttest.typing_names import Record
from scripttest.values import fields_of, names_of

FEW = 4
"""The share of all runs, as 1 in so many, whose results are quicker to pick out of all than to read all."""
LATEST = "latest"
"""Names the run that began last."""
_RUN = "id, started_at, ended_at, status, branch, revision, place, profile, reports, start, summary, session"
_LABELLED = ("run", "suite", "test", "attempt", "turn", "criterion", "person")
"""The key of a label."""
_FINGERPRINTS = "LEFT JOIN fingerprints ON digest = results.made_of"
_LINES = f"SELECT line, content FROM results {_FINGERPRINTS}"
_OF_LINES = stored.RESULTS | {"content": stored.OPTIONAL_TEXT}
_OF_CHOSEN = {name: column for name, column in stored.RESULTS.items() if name != "run"}
"""Of results of runs that are known."""
_GROUPS = "SELECT verdict, attempt, count(*), max(seq) AS seq FROM results WHERE run = ? GROUP BY attempt, verdict"
"""The results of a run, in numbers that an index knows."""
_CONNECTORS = """
    WITH RECURSIVE each(connector) AS (
        SELECT min(connector) FROM results WHERE run = ?
        UNION ALL
        SELECT (SELECT min(connector) FROM results WHERE run = ? AND connector > each.connector)
        FROM each WHERE connector IS NOT NULL
    )
    SELECT connector FROM each WHERE connector IS NOT NULL
"""
"""What a run has asked, each once: as many looks into an index, and not one for each result."""
_ENDED_LINES = f"""
    SELECT results.line, content
    FROM results AS verdict CROSS JOIN results USING (run, suite, position) {_FINGERPRINTS}
    WHERE verdict.seq > ? AND verdict.seq <= ? AND verdict.attempt = 0 AND verdict.run = ? AND results.line IS NOT NULL
    ORDER BY results.seq
"""
"""Of the tests on which there is a verdict with one of these numbers: its lines, and those of their single runs."""


class Store:
    """An open store. Its methods block, raise StoreError when it cannot be read, and may be called from any thread, one
    at a time."""

    def __init__(self, folder: Path) -> None:
        """Opens it. Raises ConfigurationError when there is none, or one of a newer version."""
        self.folder = folder
        self._database = open_for_reading(folder)
        self._file = _file_in(folder)
        self._fingerprints: dict[str, Record] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes it."""
        close(self.folder, self._database)

    @property
    def is_current(self) -> bool:
        """Whether the folder still has the database that was opened, and not another one or none."""
        return _file_in(self.folder) == self._file

    def change(self) -> int:
        """A number that is another one as soon as a process has written something: cheap enough to ask often."""
        return int(self.rows({}, "PRAGMA data_version")[0][0])

    def runs(self, *, branch: str | None = None, commit: str | None = None, limit: int = -1) -> list[stored.StoredRun]:
        """The runs, those that began last first."""
        return self._runs(
            "WHERE (? IS NULL OR branch = ?) AND (? IS NULL OR revision LIKE ? || '%')"
            " ORDER BY started_at DESC, rowid DESC LIMIT ?",
            (branch, branch, commit, commit, limit),
        )

    def under_way(self) -> list[str]:
        """The ids of the runs whose process is there."""
        open_ended = self.rows(stored.RUNS, "SELECT id FROM runs WHERE status IS NULL")
        return [id for (id,) in open_ended if is_under_way(self.folder, id)]

    def before(self, run: str) -> str | None:
        """The id of the newest run that ended, began before the one with this id, and has some of its suites."""
        found = self.rows(
            stored.RUNS,
            "SELECT older.id FROM runs JOIN runs AS older ON older.started_at < runs.started_at"
            " WHERE runs.id = ? AND older.ended_at IS NOT NULL AND EXISTS (SELECT 1 FROM suites WHERE run = older.id"
            " AND suite IN (SELECT suite FROM suites WHERE run = runs.id)) ORDER BY older.started_at DESC LIMIT 1",
            (run,),
        )
        return found[0][0] if found else None

    def run(self, name: str) -> stored.StoredRun:
        """The run with an id, or one that begins so, or the `latest`. Raises ConfigurationError for none, or
        several."""
        if name == LATEST:
            found = self.runs(limit=1)
        else:
            found = self._runs("WHERE id = ?", (name,))
            found = found or self._runs("WHERE substr(id, 1, ?) = ? LIMIT 2", (len(name), name))
        if len(found) == 1 and name:
            return found[0]
        if found:
            raise ConfigurationError(
                f"Cannot tell which run {name} is meant: several ids start with it", "Use more characters of the id"
            )
        raise ConfigurationError(f"There is no run {name} in the store {self.folder}", "yao-test store list shows them")

    def results(self, run: str, after: int = 0) -> list[stored.StoredResult]:
        """The results of a run, and each run of those that have several, in the order in which they ended; only those
        that were written `after` a `seq`."""
        return self._results("WHERE run = ? AND seq > ? ORDER BY seq", (run, after))

    def by_test(self, runs: Sequence[str], names: Sequence[str]) -> Iterator[dict[str, tuple[Any, ...]]]:
        """Columns of the verdicts on each test that ended in some runs, which are given in the order in which they
        began; `suite`, `test` and `run` are the first of the `names`."""
        ((number,),) = self.rows({}, "SELECT count(*) FROM runs")
        index = "NOT INDEXED" if len(runs) > number / FEW else ""
        condition = "attempt = 0 AND cause IS NOT ? AND run IN (SELECT value FROM json_each(?))"
        statement = f"SELECT {', '.join(names)} FROM results {index} WHERE {condition} ORDER BY test, suite, seq"
        place = {run: at for at, run in enumerate(runs)}
        with understood(self.folder):
            found = self._database.execute(statement, (stored.NOT_ENDED, json.dumps(list(runs))))
            for _, rows in groupby(found, itemgetter(0, 1)):
                in_order = sorted(rows, key=lambda row: place[row[2]])
                yield stored.checked(self.folder, _OF_CHOSEN, names, in_order)

    def over_time(self, suite: str, test: str, runs: Sequence[str] | None = None) -> list[stored.StoredResult]:
        """The verdicts on one test, in the order in which its runs began; of some runs only."""
        return self._results(
            "JOIN runs ON runs.id = run WHERE suite = ? AND test = ? AND attempt = 0"
            " AND (? IS NULL OR run IN (SELECT value FROM json_each(?))) ORDER BY started_at, runs.rowid, position",
            (suite, test, *(2 * [None if runs is None else json.dumps(list(runs))])),
        )

    def tests(self, runs: Sequence[str]) -> list[tuple[str, str]]:
        """Suite and name of each test that ended in one of these runs."""
        return self.rows(
            stored.RESULTS,
            "SELECT DISTINCT suite, test FROM results WHERE attempt = 0 AND cause IS NOT ?"
            " AND run IN (SELECT value FROM json_each(?)) ORDER BY 1, 2",
            (stored.NOT_ENDED, json.dumps(list(runs))),
        )

    def of_test(self, run: str, suite: str, test: str) -> list[stored.StoredResult]:
        """The results of one test in a run: the verdict, and each run of it where it has several."""
        return self._results("WHERE run = ? AND suite = ? AND test = ? ORDER BY seq", (run, suite, test))

    def line(self, seq: int) -> Record:
        """The line of a result, as a `.jsonl` report has it: with transcript, trace, assertions. Raises
        ConfigurationError when it is gone."""
        rows = self.rows(_OF_LINES, f"{_LINES} WHERE seq = ?", (seq,))
        if not rows or rows[0][0] is None:
            raise ConfigurationError(
                f"There is no result {seq} in the store {self.folder}", "Its run may have been removed"
            )
        with parsing(self.folder, f"result {seq}"):
            line = stored.line_with_fingerprint(stored.unpacked(rows[0][0]), rows[0][1])
            return stored.parsed(line, dict, result_problem)

    def text(self, run: str) -> str:
        """The run, named as for `run`, as the text of a `.jsonl` report; without a summary while it has not ended."""
        id = self.run(run).id
        lines = self.rows(_OF_LINES, f"{_LINES} WHERE run = ? AND line IS NOT NULL ORDER BY seq", (id,))
        return self._text(id, lines)

    def report(self, run: str) -> Report:
        """The run, named as for `run`, as a report, such as all other commands take."""
        id = self.run(run).id
        return self._report(id, self.text(id))

    def ended_tests(self, run: str, after: int, last: int) -> Report:
        """A part of a run with this id: the tests that ended with a `seq` above `after` and up to `last`."""
        lines = self.rows(_OF_LINES, _ENDED_LINES, (after, last, run))
        return self._report(run, self._text(run, lines)).replace(text="")

    def fingerprint(self, digest: str | None) -> Record | None:
        """The fingerprint of a result: `{part: digest}`."""
        if digest is None:
            return None
        if digest not in self._fingerprints:
            rows = self.rows(stored.FINGERPRINTS, "SELECT content FROM fingerprints WHERE digest = ?", (digest,))
            with parsing(self.folder, f"fingerprint {digest}"):
                self._fingerprints[digest] = stored.parsed(rows[0][0], dict) if rows else {}
        return self._fingerprints[digest] or None

    def labels(self, run: str | None = None) -> list[stored.StoredLabel]:
        """All labels, or those of a run, in the order in which they were made."""
        names = names_of(stored.StoredLabel)
        asked = f"SELECT {', '.join(names)} FROM labels WHERE ? IS NULL OR run = ?"
        rows = self.rows(stored.LABELS, f"{asked} ORDER BY made_at, rowid", (run, run))
        found = (dict(zip(names, row, strict=True)) for row in rows)
        return [stored.StoredLabel(**{**label, "passed": bool(label["passed"])}) for label in found]

    def put_label(self, label: stored.StoredLabel) -> None:
        """Keeps a label, instead of one of the same person on the same answer, which one without a verdict takes away.
        Raises ConfigurationError when the run is gone, StoreError when nothing can be written."""
        self.run(label.run)
        names, values = zip(*fields_of(label).items(), strict=True)
        same = " AND ".join(f"{name} = ?" for name in _LABELLED)
        places = ", ".join("?" * len(names))
        with understood(self.folder), changing(self._database):
            self._database.execute(f"DELETE FROM labels WHERE {same}", [getattr(label, name) for name in _LABELLED])
            if label.passed is not None:
                self._database.execute(f"INSERT INTO labels ({', '.join(names)}) VALUES ({places})", values)

    def _text(self, run: str, results: Sequence[Any]) -> str:
        """The text of a report on a run, with these lines of results and their fingerprints."""
        (start, summary), *_ = self.rows(stored.RUNS, "SELECT start, summary FROM runs WHERE id = ?", (run,))
        with parsing(self.folder, f"run {run}"):
            lines = [
                start,
                *(stored.line_with_fingerprint(stored.unpacked(line), fingerprint) for line, fingerprint in results),
            ]
        remarks = self.rows(stored.REMARKS, "SELECT line FROM remarks WHERE run = ? ORDER BY seq", (run,))
        lines += [line for (line,) in remarks]
        return "".join(f"{line}\n" for line in [*lines, *([summary] if summary is not None else ())])

    def _runs(self, condition: str, values: Sequence[Any]) -> list[stored.StoredRun]:
        rows = self.rows(stored.RUNS, f"SELECT {_RUN} FROM runs {condition}", values)
        return [self._run(row) for row in rows]

    def _run(self, row: Sequence[Any]) -> stored.StoredRun:
        id, started_at, ended_at, status, branch, commit, place, profile, reports, start, summary, session = row
        groups = self.rows(stored.RESULTS, _GROUPS, (id,))
        ((labels,),) = self.rows({}, "SELECT count(*) FROM labels WHERE run = ?", (id,))
        with parsing(self.folder, f"run {id}"):
            names = stored.parsed(reports, list)
            first = start_in(stored.parsed(start, dict, start_problem))
            last = {} if summary is None else stored.parsed(summary, dict, _problem_of_summary)
        return stored.StoredRun(
            id=id,
            started_at=started_at,
            ended_at=ended_at,
            state=status or (stored.UNDER_WAY if is_under_way(self.folder, id) else stored.CUT_SHORT),
            branch=branch,
            commit=commit,
            place=place,
            profile=profile,
            connectors=tuple(name for (name,) in self.rows(stored.RESULTS, _CONNECTORS, (id, id))),
            reports=tuple(map(str, names)),
            start=first,
            summary=last,
            session=session,
            counts={verdict: number for verdict, attempt, number, _ in groups if not attempt},
            last_seq=max((last for *_, last in groups), default=0),
            labels=labels,
        )

    def _results(self, condition: str, values: Sequence[Any]) -> list[stored.StoredResult]:
        names = names_of(stored.StoredResult)
        asked = ", ".join(f"results.{name}" for name in names)
        rows = self.rows(stored.RESULTS, f"SELECT {asked} FROM results {condition}", values)
        records = (dict(zip(names, row, strict=True)) for row in rows)
        return [stored.StoredResult(**{**record, "cost": cost_in(record)}) for record in records]

    def _report(self, run: str, text: str) -> Report:
        try:
            report = read_text(f"run:{run}", text)
        except ConfigurationError as error:
            raise damaged(self.folder, error.message.removeprefix("Cannot read the report ")) from error
        said = [warning for warning in report.warnings if warning not in report.damage]
        return report.replace(warnings=said, damage=[], text=text)

    def rows(self, columns: stored.Columns, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """The result of a query; see `runner.store.database` for the tables, and `read` for `columns`."""
        return stored.read(self.folder, self._database, columns, statement, values)


def _problem_of_summary(summary: Record) -> str | None:
    return None if isinstance(summary.get("usage", {}), dict) else "the summary of a run has no usage"


def _file_in(folder: Path) -> tuple[int, int] | None:
    """What identifies the database of a folder; None if it has none."""
    try:
        found = (folder / FILE).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


_WHEN = "runs.started_at || printf('%020d', runs.rowid)"
_NEWEST = f"""
    SELECT suite, test, verdict, max({_WHEN}) AS newest FROM results JOIN runs ON runs.id = run
    WHERE attempt = 0 AND cause IS NOT '{stored.NOT_ENDED}' GROUP BY suite, test
"""
"""How each test ended when it last ran, and when that was."""
_OF_NEWEST = stored.RESULTS | {"newest": stored.TEXT}
_LISTED = f"""
    SELECT suite, kind, max({_WHEN}) AS last, max(CASE WHEN ended AND selected = total THEN {_WHEN} END) AS whole
    FROM suites JOIN runs ON runs.id = run WHERE selected IS NOT NULL GROUP BY suite
"""
"""When the tests of a suite were last known, and when all of them last ran."""
_OF_LISTED = stored.SUITES | {"last": stored.TEXT, "whole": stored.OPTIONAL_TEXT}


def failed_in(folder: Path, repository: Path) -> dict[str, list[str]]:
    """Suite → the names of its tests that failed or broke; a file of cases is named by its absolute path, other suites
    by their ids. A module that could not be loaded has its own name among them. Empty where nothing is known, or there
    is no store. Raises ConfigurationError, and StoreError when the store cannot be read."""
    if not (folder / FILE).is_file():
        return {}
    with Store(folder) as store:
        listed = {suite: (kind, last, whole or "") for suite, kind, last, whole in store.rows(_OF_LISTED, _LISTED)}
        found: dict[str, list[str]] = {}
        for suite, test, verdict, when in store.rows(_OF_NEWEST, _NEWEST):
            kind, last, whole = listed.get(suite, ("", "", ""))
            is_gone = when < whole or (kind == stored.MODULE and not kind_of(test) and when < last)
            if verdict not in (Status.PASSED, Status.SKIPPED) and not is_gone:
                key = str(repository / suite) if kind == stored.CASE_FILE else suite
                found.setdefault(key, []).append(test)
    return found
