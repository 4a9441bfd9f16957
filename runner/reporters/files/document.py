"""The report of a whole run as one value, which every document (JSON, Markdown, HTML, JUnit ...) is made from, whether
the run has just ended or was saved in a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from io import BufferedWriter
from pathlib import Path
from typing import Any, TextIO

from runner.reporters.files.line_file import open_current
from runner.results.events import Event, RunEnd, RunStart, Suite, TestEnd, TestStart, Warned
from runner.results.fold import Execution
from runner.results.places import path_below, without_root
from runner.results.plain import utf8
from runner.results.result_lines import ResultLine, line_of, suite_id
from runner.results.script_records import summary_record, usage_record
from scripttest.values import Value

Record = dict[str, Any]

BATCH = 32
"""Results that documents take at a time: one after the other they take a third of what they take each on its own, when
the processor has had other things to do in between."""

LONGEST_NAME = 200
"""Bytes of the name of a file while it is written; file systems take 255."""


class Report(Value):
    """A run and its results, as JSON values.

    | field | shape |
    | --- | --- |
    | `start` | `{timestamp, version, environment: {user_id, team_id, locale}, suites: [suite, ...]}` |
    | `results` | the `result` lines of a JSONL report, in the order of the suites and their tests |
    | `errors`, `warnings` | texts |
    | `summary` | `{total, passed, failed, skipped, errors?, warnings?, duration_ms, usage?, status, ...}`;
    `usage` is `{input_tokens, output_tokens, cost?}` |

    The summary also has `stopped` and `not_run`, how many tests it did not come to, for a run that was stopped; and
    `snapshots`, `{written?, updated?, removed?, obsolete?}`: numbers, and the names of the obsolete ones.
    """

    start: Record
    results: list[Record]
    errors: list[str]
    warnings: list[str]
    summary: Record
    root: str = ""
    """The folder from which places are named; no format writes it."""
    hints: Mapping[str, str] = {}
    """Error → what to do about it, where something is known."""
    damage: Sequence[str] = ()
    """Those of the warnings that are about the file which the report was read from."""
    text: str = ""
    """The whole JSONL file that it was read from; empty where it was no such file, or a damaged one."""

    @property
    def suites(self) -> list[Record]:
        """The sources of the tests, in their order."""
        found: list[Record] = self.start["suites"]
        return found

    def by_suite(self) -> list[tuple[Record, list[Record]]]:
        """Each suite with its results, also those that have none."""
        found: dict[str, list[Record]] = {suite["id"]: [] for suite in self.suites}
        for record in self.results:
            found[record["suite"]].append(record)
        return [(suite, found[suite["id"]]) for suite in self.suites]


class Collector:
    """Folds events into a report."""

    def __init__(self, take: Callable[[ResultLine], Record | None]) -> None:
        """`take` says what is needed of the line of a result, with its `suite` and `position`; None when nothing is."""
        self._take_one = take
        self._start: Record = {}
        self._ended: list[ResultLine] = []
        self._results: list[Record] = []
        self._warnings: list[str] = []

    def add(self, event: Event, so_far: Execution) -> None:
        """Folds one event in."""
        if isinstance(event, TestStart):
            return
        if isinstance(event, TestEnd):
            self._ended.append(line_of(event.result, so_far))
            if len(self._ended) == BATCH:
                self._take()
        elif isinstance(event, RunStart):
            self._start = start_record(event)
        elif isinstance(event, Warned):
            self._warnings.append(without_root(event.message, so_far.root))

    def report(self, run: Execution) -> Report:
        """The report of a run that has ended."""
        self._take()
        errors = [without_root(problem.message, run.root) for problem in run.errors]
        results = in_order(self._start["suites"], self._results)
        hints = {without_root(problem.message, run.root): problem.hint for problem in run.errors if problem.hint}
        return Report(
            start=self._start,
            results=results,
            errors=errors,
            warnings=self._warnings,
            summary=end_record(run),
            root=run.root,
            hints=hints,
        )

    def _take(self) -> None:
        records = map(self._take_one, self._ended)
        self._results += [record for record in records if record is not None]
        self._ended.clear()


class DocumentReporter:
    """A reporter that writes one document when the run has ended; a subclass says how it reads in `render`."""

    def __init__(self, target: Path | TextIO) -> None:
        """`target` is a file, which is replaced whole, or a stream."""
        self._target = target
        self._collector = Collector(self.take)

    @property
    def path(self) -> Path | None:
        """The file that is written; None for a stream."""
        return self._target if isinstance(self._target, Path) else None

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Collects results; writes at the end of the run. Raises OSError."""
        self._collector.add(event, so_far)
        if isinstance(event, RunEnd):
            self.write(self._collector.report(so_far))

    def close(self) -> None:
        """Nothing is left to do."""

    def take(self, line: ResultLine) -> Record | None:
        """What is kept of a result until the end of the run, with its `suite` and `position`."""
        return self.keep(line.record)

    def keep(self, record: Record) -> Record | None:
        """What the document needs of a record; None when it needs nothing. The record belongs to others too."""
        return record

    def render(self, report: Report) -> str:
        """The document."""
        raise NotImplementedError

    def write(self, report: Report) -> None:
        """Writes the document of a report. Raises OSError."""
        text = self.render(report)
        if isinstance(self._target, Path):
            write_whole(self._target, text)
        else:
            self._target.write(utf8(text).decode())


def write_whole(path: Path, text: str) -> None:
    """Writes a file so that a reader never sees half of it; what is left when it is killed, the next one for the same
    file uses again. Raises OSError."""
    if path.exists() and not path.is_file():  # a device or a pipe
        path.write_bytes(utf8(text))
        return
    path = Path(os.path.realpath(path))
    part = path.with_name(os.fsdecode(os.fsencode(f".yao-test.{path.name}")[:LONGEST_NAME]))
    try:
        with open_current(part, wait=True) as file:
            try:
                file.truncate(0)
                with BufferedWriter(file) as stream:
                    stream.write(utf8(text))
                    stream.flush()
                    os.replace(part, path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def suite_record(suite: Suite) -> Record:
    """`{id, kind, label, file, agent, connector, message?, several_turns?}`; `file` is named from the repository, as
    all places are, `message` tells a message of the command line, and `several_turns` that some case has several."""
    record: Record = {
        "id": suite_id(suite),
        "kind": suite.kind,
        "label": suite.label,
        "file": path_below(suite.root, suite.file),
        "agent": suite.agent,
        "connector": suite.connector,
    }
    marks = {"message": suite.is_message, "several_turns": suite.multi_turn}
    return record | {key: True for key, holds in marks.items() if holds}


def start_record(start: RunStart) -> Record:
    """`Report.start`."""
    record: Record = {
        "timestamp": start.started_at,
        "version": start.version,
        "environment": start.environment,
        "suites": [suite_record(suite) for suite in start.suites],
    }
    if start.flags:
        record["flags"] = list(start.flags)
    if start.runs == 1:
        return record
    return {**record, "runs_per_case": start.runs, "min_pass_rate": start.min_pass_rate}


def end_record(run: Execution) -> Record:
    """`Report.summary`."""
    end = run.end
    assert end is not None
    summary: Record = summary_record(run.counts, end.seconds * 1000)
    stopped = {"stopped": end.stopped, "not_run": end.not_run} if end.stopped else {}
    if end.snapshots is not None:
        from runner.results.snapshot_lines import snapshot_record

        summary["snapshots"] = snapshot_record(end.snapshots)
    usage = usage_record(run.counts)
    lists = {"suites": found} if (found := _lists(run)) else {}
    return {**summary, **usage, "status": end.status, **stopped, **lists, "completed_at": end.completed_at}


def _lists(run: Execution) -> list[Record]:
    """`[{id, selected, total, ended?}]` for suites that have other tests than results, or did not end (`ended: false`),
    and `[{id, started: false}]` for those whose tests were never known."""
    found: list[Record] = []
    for suite in run.suites.values():
        ended, listed = run.of_suite[suite.id].total, run.listed.get(suite.id)
        if listed is None:
            found.append({"id": suite_id(suite), "started": False})
        elif (listed.selected, listed.total) != (ended, ended) or suite.id not in run.ended:
            record = {"id": suite_id(suite), "selected": listed.selected, "total": listed.total}
            found.append(record if suite.id in run.ended else {**record, "ended": False})
    return found


def in_order(suites: list[Record], results: list[Record]) -> list[Record]:
    """Results in the order of the suites and of the tests in them; those that do not say their place, as they are."""
    places = {suite["id"]: place for place, suite in enumerate(suites)}
    return sorted(results, key=lambda record: (places[record["suite"]], record.get("position", 0)))


def load(path: Path) -> Report:
    """A saved report, `.jsonl` or `.json`; see `runner.results.saved`. Raises ConfigurationError."""
    from runner.results.saved import read

    return read(path)
