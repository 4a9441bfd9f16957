"""`--json`: the result of a command on standard output, for tools and coding agents.

It is one JSON document with what they need to act: every result with its answer, calls and assertions, and what failed,
where, why, and the command to run it again. `outcome_schema.py` describes it. `--json=lines` prints the lines of a
`.jsonl` report instead, each as its test ends.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from heapq import nlargest

from runner import exit_codes
from runner.record.events import Event, RunEnd, RunStart, RunStatus
from runner.record.lines import result_of
from runner.record.model import AGENT_TEST, SCRIPT_TEST, Suite, TestResult
from runner.record.report import Report, error_line, line_of_event
from runner.record.result_texts import errors_of, place_of, warnings_of
from runner.record.texts import json_line, path_below, plain, without_halves
from runner.record.verdict import Verdict
from runner.reporters.console.rerun_command import command_of, has_failed_step
from runner.reporters.document import Collector, taken
from runner.version import VERSION
from scripttest import Status
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, TextIO

    from runner.options.options import RunOptions
    from runner.record.fold import Execution

MOST = 4_000
"""At most about this many characters of each detail of a result are in the document."""
LEAST = 200
"""Characters that each item of a long list or object may have at least."""
DETAILS = (
    *("variant", "connector", "finish_reason", "skip_reason", "todo", "only", "cause", "error", "output", "tools"),
    *("assertions", "score", "usage", "logs", "turns", "trace"),
)
"""What the document has of a result, if it has it."""
FORMAT = 1
"""Version of the format of the documents. It changes when a field is removed or gets another meaning."""
_STATUSES = {
    exit_codes.PASSED: "passed",
    exit_codes.FAILED: "failed",
    exit_codes.CONFIGURATION: "configuration_error",
    exit_codes.RUNTIME: "error",
}


def document_text(document: Record) -> str:
    """A document as the text that is printed."""
    return without_halves(json.dumps(plain(document), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def refusal(message: str, hint: str | None, code: int, *, lines: bool = False) -> str:
    """What a command that could not start a run prints: a document, or one of the `lines`."""
    if lines:
        return json_line(error_line(message, hint)) + "\n"
    error = {"message": message, **({"hint": hint} if hint else {})}
    return document_text({**_head(code, None), "errors": [error], "warnings": [], "notes": [], "failures": []})


def bounded(value: Any, most: int = MOST) -> Any:
    """A JSON value of about that many characters: texts are cut, and of lists and objects the first items stay, where
    each gets a share, so that a long one leaves room for the others; what is missing is said in its place."""
    if _size(value) <= most:
        return value
    if isinstance(value, str):
        return f"{value[:most]}... {len(value) - most} more characters"
    if not isinstance(value, dict | list):
        return value
    keys: Iterable[Any] = value if isinstance(value, dict) else range(len(value))
    shown: dict[Any, Any] = {}
    left = most
    for key in keys:
        if left > 0:
            shown[key] = bounded(value[key], max(left // (len(value) - len(shown)), LEAST))
            left -= _size(shown[key]) + len(f'"{key}": , ')
    more = len(value) - len(shown)
    if isinstance(value, dict):
        return {**shown, **({"...": f"{more} more"} if more else {})}
    return [*shown.values(), *([f"... {more} more"] if more else [])]


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=str))


def listing(tests: list[Record], notes: Iterable[str], warnings: Iterable[str], left_out: Record, code: int) -> Record:
    """The document of `--dry-run`; `tests` are `{suite, test}`, and `left_out` says how many tests each flag leaves
    out."""
    head = {**_head(code, "listed" if code == exit_codes.PASSED else None), "errors": []}
    return {**head, "warnings": [*warnings], "notes": [*notes], "failures": [], "tests": tests, "left_out": left_out}


def _head(code: int, status: str | None) -> Record:
    known = status or _STATUSES.get(code, "interrupted")
    return {"format": FORMAT, "version": VERSION, "status": known, "exit_code": code}


def _result(record: Record) -> Record:
    """A result as the document has it, its details bounded."""
    details = {key: bounded(record[key]) for key in DETAILS if record.get(key) not in (None, [], {})}
    head = {"test": record["id"], "status": record["status"]}
    return {**head, "duration_ms": record["duration_ms"], **details}


class JsonLines:
    """A reporter that prints the lines of `--json=lines`, each as soon as it is known."""

    tells_errors = True

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Prints the line of an event, if it has one."""
        line = line_of_event(event, so_far)
        if line is not None:
            self._stream.write(line + "\n")
            self._stream.flush()

    def close(self) -> None:
        """Does nothing."""

    def text(self, _code: int, said: str, _written: Iterable[Path]) -> str:
        """The lines of what was `said` after the end of the run, as for `JsonOutcome`."""
        kinds = {"Error": "error", "Hint": "hint"}
        parts = (line.partition(": ") for line in said.splitlines())
        told = ((kinds.get(kind, "warning"), text or kind) for kind, _, text in parts)
        return "".join(json_line({"type": kind, kind: text}) + "\n" for kind, text in told)


class JsonOutcome:
    """A reporter that collects the content of the document of a run."""

    tells_errors = True

    def __init__(self, options: RunOptions, directory: Path) -> None:
        """`directory` is the working directory, from which files are named."""
        self._durations = options.durations or 0
        self._directory = str(directory)
        self._collector = Collector(self._kept)
        self._report: Report | None = None
        self._interrupted = False
        self._written: list[str] = []

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Collects results."""
        self._collector.add(event, so_far)
        if isinstance(event, RunStart):
            self._notes = event.notes
        elif isinstance(event, RunEnd):
            self._report = self._collector.report(so_far)
            self._interrupted = event.status == RunStatus.INTERRUPTED

    def close(self) -> None:
        """Does nothing."""

    @staticmethod
    def _kept(result: TestResult, suite: Suite) -> TestResult:
        whole = taken(result, suite)
        if result.status == Status.FAILED or result.outcome.warnings:
            return whole
        kept = ("suite", "position", "id", "status", "duration_ms")
        return result_of({**{key: whole.line[key] for key in kept}, "shown": _result(whole.line)})

    def text(self, code: int, said: str, written: Iterable[Path]) -> str:
        """The document of a run that has ended with an exit code, as it is printed.

        Args:
            said: other messages of the command, one for each line.
            written: the reports that were written.
        """
        report = self._report
        assert report is not None
        errors = [{"message": error, **self._hint(report, error)} for error in report.errors]
        warnings = [*report.warnings]
        for line in said.splitlines():
            kind, _, text = line.partition(": ")
            if kind == "Hint" and errors:
                errors[-1]["hint"] = text
            elif kind == "Error":
                errors.append({"message": text})
            else:
                warnings.append(text or line)
        summary = {key: value for key, value in report.summary.items() if key not in ("suites", "status")}
        document = {
            **_head(code, "interrupted" if self._interrupted else None),
            "summary": summary,
            "errors": errors,
            "warnings": warnings,
            "notes": [*self._notes],
            "results": [{"suite": one["suite"], **(one.get("shown") or _result(one))} for one in report.lines],
            "failures": [*self._failures(report)],
            "test_warnings": [*self._test_warnings(report)],
            "reports": [path_below(self._directory, str(path)) for path in written],
        }
        return document_text(document | ({"slowest": self._slowest(report)} if self._durations else {}))

    def _hint(self, report: Report, error: str) -> Record:
        hint = report.hints.get(error)
        return {"hint": hint} if hint else {}

    def _failures(self, report: Report) -> Iterator[Record]:
        flags = report.start.flags
        for suite, results in report.by_suite():
            command = command_of(suite, flags)
            for result in results:
                if result.status != Status.FAILED:
                    continue
                record, outcome = result.line, result.outcome
                at = place_of(suite, result)
                place = {"file": self._path(at.file, report.root), "line": at.line, "column": at.column}
                details = ("input", "output", "expected", "logs", "stack_trace", "turns")
                more = {
                    "subtests": [*self._failed_steps(record, report.root)],
                    **{key: bounded(record.get(key)) for key in details},
                    "attempts": (record.get("runs") or {}).get("attempts"),
                    "story": [{**one, "file": self._path(one["file"], report.root)} for one in result.story],
                }
                yield {
                    "suite": suite.id,
                    "test": record["id"],
                    "kind": AGENT_TEST if suite.has_cases else SCRIPT_TEST,
                    "broken": result.verdict is Verdict.BROKEN,
                    "cause": str(outcome.cause or "error"),
                    "message": "\n".join(errors_of(result)) or "it failed",
                    **{key: value for key, value in place.items() if value},
                    "duration_ms": record["duration_ms"],
                    "problems": self._problems(record, report.root),
                    **{key: value for key, value in more.items() if value not in (None, [], "")},
                    "run_again": command(str(record["id"]), has_failed_step(record)),
                }

    def _test_warnings(self, report: Report) -> Iterator[Record]:
        for result in report.results:
            for message, at in warnings_of(result):
                place = {"file": self._path(at.file, report.root), "line": at.line, "column": at.column}
                known = {key: value for key, value in place.items() if value}
                yield {"suite": result.suite, "test": result.name, "message": message, **known}

    def _slowest(self, report: Report) -> list[Record]:
        slow = nlargest(self._durations, report.lines, key=lambda record: int(record["duration_ms"]))
        return [{"suite": one["suite"], "test": one["id"], "duration_ms": one["duration_ms"]} for one in slow]

    def _problems(self, record: Record, root: str) -> list[Record]:
        """The failures of a test or a subtest."""
        values = ("expected", "actual", "diff")
        found = [dict(problem) for problem in record.get("failures") or ()]
        for problem in found:
            problem.update({key: bounded(problem[key]) for key in values if key in problem})
            if "frames" in problem:
                frames = problem["frames"]
                problem["frames"] = [{**frame, "file": self._path(frame["file"], root)} for frame in frames]
        return found

    def _failed_steps(self, record: Record, root: str) -> Iterator[Record]:
        """The failed subtests by their full names, with their failures."""
        for step in record.get("steps") or ():
            if step.get("status") == Status.FAILED:
                yield {"test": step["name"], "problems": self._problems(step, root)}
            yield from self._failed_steps(step, root)

    def _path(self, file: str, root: str) -> str:
        """The path of a file in a report, relative to the working directory; absolute if it is not below it."""
        return path_below(self._directory, os.path.join(root, file)) if file else ""
