"""A report for a run that its store does not take, so that no result is lost.

The lines of a `.jsonl` report are held in memory. Only when the store fails they are written, with all later ones, into
a file elsewhere, from which `--resume` puts the run into the store.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import gettempdir, mkstemp

from runner.results.events import Event
from runner.results.fold import Execution
from runner.results.line_file import LineFile
from runner.results.run_lines import line_of_event


class SpareReport:
    """A reporter for a run without a `.jsonl` report."""

    def __init__(self, run: str, directory: Path) -> None:
        """`run`: its id; `directory`: the working directory, which is used if there is no folder for temporary files
        that can be written."""
        self._run = run
        self._directory = directory
        self._lines: list[str] = []
        self._file: LineFile | None = None

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Holds the line of an event, or writes it."""
        line = line_of_event(event, so_far)
        if line is None:
            return
        if self._file is None:
            self._lines.append(line)
        else:
            self._file.write(line)

    def begin(self) -> Path:
        """Writes what there is into a file, and from now on each further line; returns its path. Raises OSError when it
        can be written nowhere."""
        if self._file is None:
            try:
                self._file = self._written_to(Path(gettempdir()))
            except OSError:
                self._file = self._written_to(self._directory)
            self._lines.clear()
        return self._file.path

    def close(self) -> None:
        """Closes the file. Raises OSError."""
        if self._file is not None:
            self._file.close()

    def _written_to(self, folder: Path) -> LineFile:
        descriptor, name = mkstemp(".jsonl", f"yao-test-run-{self._run}-", folder)
        os.close(descriptor)
        file = LineFile(Path(name))
        try:
            for line in self._lines:
                file.write(line)
        except OSError:
            file.path.unlink(missing_ok=True)
            raise
        return file
