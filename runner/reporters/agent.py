"""A reporter that is an agent of the application (seed 004, "Custom Reporter Agent"): it gets the report as a message,
and what it answers is the document."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from runner.errors import RunnerError
from runner.record.report import Report
from runner.reporters.document import DocumentReporter, write_whole
from runner.reporters.json_report import custom_report, json_document, json_text
from scripttest.typing_names import Record

FORMATS = {".htm": "html", ".html": "html", ".json": "json", ".md": "markdown", ".xml": "xml"}
"""Extension → the format that the agent shall write; `text` for any other."""

Ask = Callable[[Record], Any]
"""Sends `{report, format, options}` to the agent; what it answers: its data, else its text. Blocks."""


class ReportError(RunnerError):
    """An agent gave no report; where the results are is part of the message."""


class AgentReporter(DocumentReporter):
    """Writes the agent's answer. During the call, and if it fails, the results are in a JSON file beside the report."""

    def __init__(self, target: Path | TextIO, agent: str, ask: Ask, verbose: bool) -> None:
        super().__init__(target)
        self._path = target if isinstance(target, Path) else None
        self._agent = agent
        self._ask = ask
        self._verbose = verbose

    def write(self, report: Report) -> None:
        """Lets the agent make the document, and writes it; blocks. Raises ReportError when there is none, OSError."""
        beside = self._save(report)
        try:
            super().write(report)
        except BaseException as error:
            why = getattr(error, "message", None) or str(error) or type(error).__name__
            where = f"; the results are in {beside}" if beside else ""
            name = self._path or "a report"
            hint = getattr(error, "hint", None)
            raise ReportError(f"Cannot make {name} with {self._agent}: {why}{where}", hint) from error
        if beside is not None:
            beside.unlink(missing_ok=True)

    def render(self, report: Report) -> str:
        """The agent's answer: a text as it is, other data as JSON. Raises ReportError."""
        suffix = self._path.suffix.lower() if self._path else ""
        options = {"verbose": self._verbose, "include_outputs": True}
        payload = {"report": custom_report(report), "format": FORMATS.get(suffix, "text"), "options": options}
        answer = self._ask(payload)
        if answer in (None, "", {}, []):
            raise ReportError("it returned nothing")
        text = answer if isinstance(answer, str) else json.dumps(answer, indent=2, ensure_ascii=False) + "\n"
        return report.clean(text)

    def _save(self, report: Report) -> Path | None:
        if self._path is None:
            return None
        beside = self._path.with_name(f"{self._path.name}.json")
        write_whole(beside, json_text(json_document(report), len(report.results)))
        return beside
