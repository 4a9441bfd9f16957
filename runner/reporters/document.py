"""Reports in files: documents, which are made when the run has ended, and then written at once; and the `.jsonl` report
of seed 004: a `start` line, a `result` line as each test ends, a `summary` line. Each line is passed to the system at
once; `runner.record.writing` says when it is on the disk.

With `--runs`, each run has a `result` line with the number of the `run`. After the last run of a test, a `stability`
line has the figures."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from io import BufferedWriter, TextIOWrapper
from pathlib import Path

from runner.record.events import Event, RunEnd, RunStart, TestEnd, TestStart, Warned
from runner.record.fold import Execution
from runner.record.lines import is_long, line_of, result_of, stored_pieces
from runner.record.model import Suite, TestResult
from runner.record.report import Report, error_line, in_order, line_of_event, partial_suites, start_line
from runner.record.writing import PIECE, LineFile, is_pipe, json_line, open_part, open_pipe, utf8, without_root
from runner.reporters.stream import Reporter
from scripttest import Status
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


BATCH = 32
"""Results that documents take at a time: one after the other they take a third of what they take each on its own, when
the processor has had other things to do in between."""

LONGEST_NAME = 200
"""Bytes of the name of a file while it is written; file systems take 255."""


class Collector(Reporter):
    """A reporter that collects results, and writes the report of the whole run when that has ended."""

    only_bad = False
    """Whether `write` needs only the results that failed or have warnings."""

    def __init__(self, write: Callable[[Report], object], unused: Collection[str] = ()) -> None:
        """`write` writes a report, and has no use for the `unused` members of a result."""
        self._write, self._unused = write, unused
        self._start: RunStart | None = None
        self._ended: list[tuple[TestResult, Suite]] = []
        self._results: list[TestResult] = []
        self._warnings: list[str] = []

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Collects results; writes at the end of the run. Raises OSError."""
        if isinstance(event, TestStart):
            return
        if isinstance(event, TestEnd):
            self._ended.append((event.result, so_far.suites[event.result.suite]))
            if len(self._ended) == BATCH:
                self._take()
        elif isinstance(event, RunStart):
            self._start = event.in_report
        elif isinstance(event, Warned):
            self._warnings.append(without_root(event.message, so_far.root))
        elif isinstance(event, RunEnd):
            self.write(self._report(so_far, event))

    def write(self, report: Report) -> None:
        """Writes a report. Raises OSError."""
        self._write(report)

    def _report(self, run: Execution, end: RunEnd) -> Report:
        assert self._start is not None
        self._take()
        errors = [without_root(problem.message, run.root) for problem in run.errors]
        results = in_order(self._start.suites, self._results)
        hints = {without_root(problem.message, run.root): problem.hint for problem in run.errors if problem.hint}
        return Report(
            start=self._start,
            results=results,
            errors=errors,
            warnings=self._warnings,
            end=end,
            partial=partial_suites(run),
            root=run.root,
            hints=hints,
            clean=run.clean,
            known_counts=run.counts,
            suite_counts={suite.name: run.counts_by_suite[suite.id] for suite in run.suites.values()},
        )

    def _take(self) -> None:
        for result, suite in self._ended:
            if not self.only_bad or result.status == Status.FAILED or result.outcome.warnings:
                self._results.append(taken(result, suite, self._unused))
        self._ended.clear()


def taken(result: TestResult, suite: Suite, unused: Collection[str] = ()) -> TestResult:
    """The result as reports have it, without the members of its line that are `unused`."""
    line = line_of(result, suite)
    kept = {key: value for key, value in line.items() if key not in unused} if unused else line
    return result_of(kept, suite=suite.name, position=result.position)


class DocumentReporter(Collector):
    """A reporter that writes one document when the run has ended."""

    def __init__(self, target: Path | TextIO, render: Callable[[Report], str], unused: Collection[str] = ()) -> None:
        """`target` is a file, which is replaced whole, a pipe, or a stream; `render` makes the text of a report. Raises
        ConfigurationError for a pipe that nobody reads."""
        self._render = render
        self._pipe: TextIO | None = None
        if isinstance(target, Path) and is_pipe(target):
            self._pipe = TextIOWrapper(BufferedWriter(open_pipe(target)), encoding="utf-8", newline="")
        self._target = self._pipe or target
        super().__init__(self._put, unused)

    @property
    def path(self) -> Path | None:
        """The file that is written; None for a stream."""
        return self._target if isinstance(self._target, Path) else None

    def close(self) -> None:
        """Closes the pipe, if it is one."""
        if self._pipe is not None:
            self._pipe.close()

    def _put(self, report: Report) -> None:
        text = self._render(report)
        if isinstance(self._target, Path):
            write_whole(self._target, text)
        else:
            self._target.write(utf8(text).decode())
            self._target.flush()


def _encoded(text: str) -> Iterator[bytes]:
    return (utf8(text[start : start + PIECE]) for start in range(0, len(text), PIECE))


def write_whole(path: Path, text: str) -> None:
    """Writes a file so that a reader never sees half of it; what is left when it is killed, the next one for the same
    file uses again. Raises OSError, and ConfigurationError for a pipe that nobody reads."""
    if is_pipe(path):
        with BufferedWriter(open_pipe(path)) as pipe:
            pipe.writelines(_encoded(text))
        return
    if path.exists() and not path.is_file():  # a device
        path.write_bytes(utf8(text))
        return
    path = Path(os.path.realpath(path))
    part = path.with_name(os.fsdecode(os.fsencode(f".yao-test.{path.name}")[:LONGEST_NAME]))
    try:
        with open_part(part, wait=True) as file:
            try:
                file.truncate(0)
                with BufferedWriter(file) as stream:
                    stream.writelines(_encoded(text))
                    stream.flush()
                    os.replace(part, path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


class JsonlReporter(Reporter):
    """Writes results in the order in which tests end."""

    def __init__(self, target: Path | LineFile) -> None:
        """`target`: the open file of the run which this one resumes, else where to write. Raises ConfigurationError
        when another run writes it."""
        self.line_file = target if isinstance(target, LineFile) else LineFile(target)
        """What it writes to."""
        self._resumes = isinstance(target, LineFile) and not target.is_empty

    @property
    def path(self) -> Path:
        """The file that is written."""
        return self.line_file.path

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Writes the line of an event."""
        line: str | Iterator[str] | None
        if isinstance(event, TestEnd) and is_long(event.result) and not (event.result.attempts or self._resumes):
            line = stored_pieces(event.result, so_far.suites[event.result.suite])
        else:
            line = line_of_event(event, so_far, self._resumes)
        if line is not None:
            self.line_file.write(line)

    def write(self, report: Report) -> None:
        """Writes a whole report; one that was read from lines, as these are."""
        if report.text:
            self.line_file.write(report.text.removesuffix("\n"))
            return
        total = report.counts.total if all(suite.has_cases for suite in report.suites) else None
        self._write(start_line(report.start.replace(total_cases=total)))
        for warning in report.warnings:
            self._write({"type": "warning", "warning": warning})
        for record in report.lines:
            self._write(record)
        for error in report.errors:
            self._write(error_line(error, report.hints.get(error)))
        self._write({"type": "summary", **report.summary})

    def close(self) -> None:
        """Closes the file. Raises OSError when the disk has not kept all of it."""
        self.line_file.close()

    def _write(self, record: Record) -> None:
        self.line_file.write(json_line(record))
