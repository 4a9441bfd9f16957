"""Output for GitHub Actions: an annotation at its line for each failure and warning, and the summary of the job.

Formats: https://docs.github.com/actions/reference/workflow-commands-for-github-actions. While tests run, GitHub's
runner is told to accept no commands from the output, so that scripts cannot print any."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_hex

from runner.record.events import Event, RunStart
from runner.record.fold import Execution
from runner.record.model import Suite, TestResult
from runner.record.outcomes import stack_trace
from runner.record.report import Report
from runner.record.result_texts import FilePlace, case_line, name_of, place_of, placed_failure, told_lines, warnings_of
from runner.record.summary import in_lines, remarks
from runner.record.writing import utf8
from runner.reporters.document import Collector
from runner.reporters.markdown import LIMIT, markdown
from scripttest import Status
from scripttest.typing_names import Record

ANNOTATIONS = 50
"""GitHub shows no more of a job."""
MESSAGE_LIMIT = 4000
"""Characters of one annotation."""
TITLE_LIMIT = 200
LEAST = 2000
"""Bytes of a summary that are worth writing."""


class GithubReporter(Collector):
    """Writes annotations to the output, and Markdown to the file that `GITHUB_STEP_SUMMARY` names."""

    def __init__(self, write: Callable[[str], object], variables: Mapping[str, str]) -> None:
        self._print = write
        self._workspace = variables.get("GITHUB_WORKSPACE", "")
        self._summary = variables.get("GITHUB_STEP_SUMMARY", "")
        super().__init__(self._tell)
        self._stopped = ""
        """What lets the runner take commands again."""

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Collects results; writes at the end of the run. The runner takes no commands until then."""
        super().on_event(event, so_far)
        if isinstance(event, RunStart):
            self._stopped = token_hex(16)
            self._print(f"::stop-commands::{self._stopped}\n")

    def _tell(self, report: Report) -> None:
        """Writes annotations, and the summary of the job if there is a file for it."""
        self.close()
        self._print(commands(report, self._workspace))
        if self._summary:
            self._append(report)

    def close(self) -> None:
        """Lets the runner take commands again."""
        if self._stopped:
            self._print(f"::{self._stopped}::\n")
            self._stopped = ""

    def _append(self, report: Report) -> None:
        try:
            path = Path(self._summary)
            room = LIMIT - (path.stat().st_size if path.exists() else 0)
            if room >= LEAST:
                with path.open("ab") as stream:
                    stream.write(utf8(markdown(report, room)))
        except OSError as error:
            self._print(f"::warning title=yao-test::{_message(f'Cannot write the job summary: {error.strerror}')}\n")


def commands(report: Report, workspace: str) -> str:
    """A line for each failure and warning, for what broke outside any test, and for what passed without being judged;
    files are named from the repository, else from the workspace."""
    suites = {suite.id: suite for suite in report.suites}
    lines = [f"::error title=yao-test::{_message(error)}\n" for error in report.errors[:ANNOTATIONS]]
    failed = [result for result in report.results if result.status == Status.FAILED]
    shown = failed[: ANNOTATIONS - len(lines)]
    named = (workspace, report.root)
    for result in shown:
        suite = suites[result.suite]
        lines.append(_annotation("error", suite, result, place_of(suite, result), _said(result), named))
    lines += [f"::warning title=yao-test::{_message(said)}\n" for said in remarks(report.counts)]
    if len(shown) < len(failed):
        lines.append(f"::notice title=yao-test::{len(failed) - len(shown)} more failures are in the report\n")
    warned = [(result, *said) for result in report.results for said in warnings_of(result)]
    told = warned[: ANNOTATIONS - len(shown)]
    for result, message, place in told:
        suite = suites[result.suite]
        place = place if place.file else FilePlace(file=suite.file, line=case_line(result))
        lines.append(_annotation("warning", suite, result, place, message, named))
    if len(told) < len(warned):
        lines.append(f"::notice title=yao-test::{len(warned) - len(told)} more warnings are in the report\n")
    if report.end.snapshots is not None:
        lines.append(f"::notice title=yao-test::{_message(chr(10).join(in_lines(report.end.snapshots)))}\n")
    return "".join(lines)


def _said(result: TestResult) -> str:
    """What failed, the compared values, and the details of an error."""
    lines = told_lines(result) or ["it failed"]
    placed = placed_failure(result)
    stack = stack_trace(placed).split("\n") if placed is not None else []
    return "\n".join([*lines, *(line for line in stack if line.startswith(" "))])


def _annotation(
    level: str, suite: Suite, result: TestResult, place: FilePlace, message: str, named: tuple[str, str]
) -> str:
    properties: Record = {}
    if suite.file or place.line:
        properties = {"file": _named(place.file, *named), "line": place.line, "col": place.column}
    properties["title"] = f"{suite.shown} › {name_of(result)}"[:TITLE_LIMIT]
    return annotation(level, message, properties)


def annotation(level: str, message: str, properties: Record) -> str:
    """The line by which GitHub Actions shows a message at a place: `file`, `line`, `col`, `endLine`, `title`."""
    written = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value)
    return f"::{level} {written}::{_message(message)}\n"


def _named(file: str, workspace: str, root: str) -> str:
    """A file as GitHub knows it: from the repository; where there is none, from the workspace."""
    if root and not os.path.isabs(file):
        if os.path.exists(f"{root}/.git"):
            return file
        file = f"{root}/{file}"
    return Path(file).relative_to(workspace).as_posix() if workspace and Path(file).is_relative_to(workspace) else file


def _message(text: str) -> str:
    if len(text) > MESSAGE_LIMIT:
        text = f"{text[:MESSAGE_LIMIT]}... ({len(text)} characters)"
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
