"""A reporter that is an agent of the application (seed 004, "Custom Reporter Agent"): it gets the report as a message,
and what it answers is the document."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from runner.errors import RunnerError
from runner.reporters import check_writable
from runner.reporters.document import DocumentReporter, Record, Report, write_whole
from runner.reporters.json_report import custom_report, json_document, json_text

if TYPE_CHECKING:
    from runner.agents.service import AgentService
    from runner.reporters import Maker

FORMATS = {".htm": "html", ".html": "html", ".json": "json", ".md": "markdown", ".xml": "xml"}
"""Extension → what the agent is told to write; anything else is `text`."""

Ask = Callable[[Record], Any]
"""Sends `{report, format, options}` to the agent; what it answers: its data, else its text. Blocks."""


def agent_maker(
    agent: str, target: Path | TextIO, service: AgentService, context: dict[str, Any], timeout: float, verbose: bool
) -> Maker:
    """A reporter that asks an agent, which has `timeout` seconds. Raises ConfigurationError when there is no such
    agent."""
    service.runtime.assistants.get(agent)

    async def answer(payload: Record) -> Any:
        import asyncio

        from runner.agents.chat import Chat

        chat = Chat({**context, "chat_id": "report"})
        try:
            async with asyncio.timeout(timeout):
                return (await service.helpers.ask(agent, "reporter", payload, {}, chat)).output
        except TimeoutError as error:
            raise ReportError(f"it did not answer within {timeout:g}s") from error

    def make() -> AgentReporter:
        if isinstance(target, Path):
            check_writable(target)
        return AgentReporter(target, agent, lambda payload: service.run(answer(payload)), verbose)

    return make


class ReportError(RunnerError):
    """An agent gave no report; where the results are is part of the message."""


class AgentReporter(DocumentReporter):
    """Writes what the agent answers. While it is asked, and when it fails, the results are in a JSON file beside."""

    def __init__(self, target: Path | TextIO, agent: str, ask: Ask, verbose: bool) -> None:
        super().__init__(target)
        self._path = target if isinstance(target, Path) else None
        self._agent = agent
        self._ask = ask
        self._verbose = verbose

    def write(self, report: Report) -> None:
        """Has the document made; blocks. Raises ReportError when there is none, OSError."""
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
        """What the agent answers: a text as it is, other data as JSON."""
        suffix = self._path.suffix.lower() if self._path else ""
        options = {"verbose": self._verbose, "include_outputs": True}
        payload = {"report": custom_report(report), "format": FORMATS.get(suffix, "text"), "options": options}
        answer = self._ask(payload)
        if answer in (None, "", {}, []):
            raise ReportError("it answered nothing")
        if isinstance(answer, str):
            return answer
        return json.dumps(answer, indent=2, ensure_ascii=False) + "\n"

    def _save(self, report: Report) -> Path | None:
        """Saves the results beside the document."""
        if self._path is None:
            return None
        beside = self._path.with_name(f"{self._path.name}.json")
        write_whole(beside, json_text(json_document(report), len(report.results)))
        return beside
