"""The reporter of variants: it compares them when the run has ended."""

from __future__ import annotations

from collections.abc import Callable

from runner.errors import ConfigurationError
from runner.reporters.console.style import Style
from runner.reporters.console.variant_lines import text_of
from runner.reporters.files.document import Collector
from runner.results.events import Event, RunEnd
from runner.results.fold import Execution
from runner.results.result_json import ResultLine
from scripttest.typing_names import Record

_NOT_NEEDED = ("messages", "turns", "tools", "logs", "attachments", "sent", "failures")


class VariantReporter:
    """Writes to the console."""

    def __init__(self, write: Callable[[str], object], style: Style) -> None:
        self._write = write
        self._style = style
        self._collector = Collector(_taken)

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Collects results; writes at the end of the run."""
        self._collector.add(event, so_far)
        if isinstance(event, RunEnd):
            report = self._collector.report(so_far)
            try:
                self._write(text_of(report, self._style))
            except ConfigurationError as error:
                self._write(f"The variants cannot be compared. {error.message}\n")

    def close(self) -> None:
        """Does nothing."""


def _taken(line: ResultLine) -> Record:
    return {key: value for key, value in line.record.items() if key not in _NOT_NEEDED}
