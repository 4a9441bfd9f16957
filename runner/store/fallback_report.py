"""A report for a run that its store does not take, so that no result is lost.

A run without a `.jsonl` report has its lines held in memory, and so has one whose report could not be written to its
end, from there on. Only when the store fails too they are written, with all later ones, into a file elsewhere, from
which `--resume` puts the run into the store."""

from __future__ import annotations

import os
from pathlib import Path

from runner.errors import RunnerError
from runner.record.events import Event
from runner.record.fold import Execution
from runner.record.line_file import LineFile
from runner.record.report import line_of_event


class FallbackReport:
    """A reporter for a run that is stored."""

    def __init__(self, run: str, directory: Path, report: LineFile | None = None, name: str = "") -> None:
        """Writes nothing yet.

        Args:
            run: id of the run.
            directory: the working directory, which is used if there is no folder for temporary files that can be
                written.
            report: the `.jsonl` report of the run, whose reporter gets each event first; None if there is none.
            name: what messages call it."""
        self._run = run
        self._directory = directory
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
            from tempfile import gettempdir

            earlier = self._earlier()
            try:
                self._file = self._written_to(Path(gettempdir()), earlier)
            except OSError:
                self._file = self._written_to(self._directory, earlier)
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

    def _earlier(self) -> list[str]:
        """The lines that the report got."""
        if self._report is None:
            return []
        lines = self._report.path.read_bytes().decode("utf-8", "replace").split("\n")[:-1]
        return lines[:-1] if lines[-1:] == self._lines[:1] else lines  # it was written, and the disk did not keep it

    def _written_to(self, folder: Path, earlier: list[str]) -> LineFile:
        from tempfile import mkstemp

        descriptor, name = mkstemp(".jsonl", f"yao-test-run-{self._run}-", folder)
        os.close(descriptor)
        file = LineFile(Path(name))
        try:
            for line in [*earlier, *self._lines]:
                file.write(line)
        except OSError:
            file.path.unlink(missing_ok=True)
            raise
        return file
