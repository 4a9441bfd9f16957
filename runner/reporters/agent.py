"""A reporter that is an agent of the application (seed 004, "Custom Reporter Agent"): it gets the report as a message,
and what it answers is the document."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from runner.errors import RunnerError
from runner.record.outcomes import verdict_in
from runner.record.report import Report
from runner.record.result_texts import cut
from runner.reporters.document import DocumentReporter, write_whole
from runner.reporters.json_report import custom_report, json_document, json_text
from scripttest import Status
from scripttest.typing_names import Record

FORMATS = {".htm": "html", ".html": "html", ".json": "json", ".md": "markdown", ".xml": "xml"}
"""Extension → the format that the agent shall write; `text` for any other."""

LIMIT = 400_000
"""Characters of a report that an agent gets: about what models take."""
TEXT_LIMIT = 2000
"""Characters of a text in a report that is longer than that."""
WHOLE = 0.8
"""Share of the report from which on results have no details."""
RESERVE = 200
"""Characters that are reserved for the counts of what is left out."""
BRIEF = "suite id name status cause duration_ms error skip_reason not_judged".split()
"""What such results say."""

Ask = Callable[[Record], Any]
"""Sends `{report, format, options}` to the agent; what it answers: its data, else its text. Blocks."""


class ReportError(RunnerError):
    """An agent gave no report; where the results are is part of the message."""


class AgentReporter(DocumentReporter):
    """Writes the agent's answer. During the call, and if it fails, the results are in a JSON file beside the report."""

    def __init__(self, target: Path | TextIO, agent: str, ask: Ask, verbose: bool) -> None:
        super().__init__(target, self._document)
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

    def _document(self, report: Report) -> str:
        """The agent's answer: a text as it is, other data as JSON. Raises ReportError."""
        suffix = self._path.suffix.lower() if self._path else ""
        document, is_whole = bounded(custom_report(report))
        options = {"verbose": self._verbose, "include_outputs": is_whole}
        payload = {"report": document, "format": FORMATS.get(suffix, "text"), "options": options}
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


def bounded(document: Record, limit: int = LIMIT) -> tuple[Record, bool]:
    """A report in at most `limit` characters of JSON, and whether it has all details: where it is longer, long texts
    are cut, then results have no details, and then they are left out and counted in `left_out`. Failures come first."""
    size = len(json.dumps(document))
    if size <= limit:
        return document, True
    results: list[Record] = document["results"]
    rest = {key: _cut(value) for key, value in document.items() if key != "results"}
    size = len(json.dumps(rest))
    kept: dict[int, Record] = {}
    left_out = Counter[str]()
    for place in sorted(range(len(results)), key=lambda place: results[place]["status"] != Status.FAILED):
        record = _cut(results[place])
        length = len(json.dumps(record))
        if size + length > limit * WHOLE:
            record = {key: record[key] for key in BRIEF if record.get(key) is not None}
            length = len(json.dumps(record))
        if left_out or size + length > limit - RESERVE:
            left_out[verdict_in(record).counted] += 1
            continue
        kept[place] = record
        size += length + 2
    more = {"left_out": dict(left_out)} if left_out else {}
    return {**rest, "results": [kept[place] for place in sorted(kept)], **more}, False


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return cut(value, TEXT_LIMIT)
    if isinstance(value, dict):
        return {cut(key, TEXT_LIMIT): _cut(item) for key, item in value.items()}
    return [_cut(item) for item in value] if isinstance(value, list) else value
