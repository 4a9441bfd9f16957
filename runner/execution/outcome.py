"""`--json`: what came of a command, on standard output, for tools and coding agents.

It is one JSON document with what they need to act: every result with its answer, calls and assertions, and what failed,
where, why, and the command to run it again. `--json=lines` prints the same while the run goes on, a line for each
result as it ends. `runner.record.outcome_schema` describes both."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from heapq import nlargest

from runner import exit_codes
from runner.options.flags import LINES
from runner.record.events import Event, RunEnd, RunError, RunStart, RunStatus, TestEnd, Warned
from runner.record.model import AGENT_TEST, SCRIPT_TEST, Suite, TestResult
from runner.record.outcomes import Verdict
from runner.record.report import end_record, start_line
from runner.record.result_texts import errors_of, place_of, warnings_of
from runner.record.writing import json_line, path_below, plain, without_halves, without_root
from runner.reporters.console.style import command_of, has_failed_step
from runner.reporters.document import taken
from runner.reporters.stream import Reporter
from runner.version import FORMAT, VERSION
from scripttest import Status
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from runner.environment import Environment
    from runner.options.options import RunOptions
    from runner.record.fold import Execution

MOST = 4_000
"""At most about this many characters of each detail of a result are in the document."""
LEAST = 200
"""Characters that each item of a long list or object may have at least."""
ELSEWHERE = frozenset(
    (
        *("type", "suite", "position", "id", "script", "status", "duration_ms", "fingerprint", "regrade"),
        *("location", "stack_trace", "errors", "failures", "assertion", "assertion_errors", "log_levels", "story"),
    )
)
"""What reports have of a result and documents have otherwise, or not at all."""
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
    """What a command that came to nothing prints: a document, or one of the `lines`."""
    error = {"message": message, **({"hint": hint} if hint else {})}
    if lines:
        return json_line({"type": "error", **_head(code, None), **error}) + "\n"
    return document_text(document_of(code, None, errors=[error]))


def help_text(text: str) -> str:
    """The document of `--help` and `--version` with `--json`."""
    return document_text(document_of(exit_codes.PASSED, None, help=text))


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


def document_of(code: int, status: str | None, **members: Any) -> Record:
    """A document with further members."""
    empty: Record = {key: [] for key in ("errors", "warnings", "notes", "failures")}
    return {**_head(code, status), **empty, **members}


def _head(code: int, status: str | None) -> Record:
    known = status or _STATUSES.get(code, "interrupted")
    return {"format": FORMAT, "version": VERSION, "status": known, "exit_code": code}


def _has(**members: Any) -> Record:
    return {key: value for key, value in members.items() if value not in (None, "", [], {})}


class JsonOutcome(Reporter):
    """A reporter that prints the lines of `--json=lines`, each as soon as it is known, or the document of `--json` at
    the end."""

    tells_errors = True

    def __init__(self, options: RunOptions, environment: Environment) -> None:
        self._options, self._environment = options, environment
        self._is_lines = options.json == LINES
        self._told: dict[str, list[Record]] = {"start": [], "error": [], "warning": []}
        """The other lines, of which the document is made, by their kinds."""
        self._results: dict[tuple[int, int], tuple[Record, Record | None, list[Record]]] = {}
        """Positions of a suite, and in it → the result, what failed, and its warnings, for the document."""
        self._root = ""
        self._suites: dict[str, tuple[int, Suite, Callable[[str, bool], str]]] = {}
        """Suite, as reports name it → its position, itself, and the command that runs one of its tests again."""

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Receives an event."""
        if isinstance(event, TestEnd):
            self._on_test(event.result, so_far.suites[event.result.suite])
        elif isinstance(event, RunStart):
            start, self._root = event.in_report, so_far.root
            self._suites = {
                suite.id: (place, suite, command_of(suite, start.flags)) for place, suite in enumerate(start.suites)
            }
            self.tell("start", {"format": FORMAT, **start_line(start)})
        elif isinstance(event, RunError):
            self.tell("error", {"message": without_root(event.message, so_far.root), **_has(hint=event.hint)})
        elif isinstance(event, Warned):
            self.tell("warning", {"message": without_root(event.message, so_far.root)})
        elif isinstance(event, RunEnd):
            self._summary = end_record(so_far)
            self._interrupted = event.status == RunStatus.INTERRUPTED

    def finish(self, code: int, said: str, written: Iterable[Path], more: Record) -> None:
        """Prints what comes at the end of a run that has ended with an exit code. `said`: other messages of the
        command, one for each line. `written`: the reports that were written. `more`: further members of the
        document."""
        kinds = {"Error": "error", "Hint": "hint"}
        for line in said.splitlines():
            kind, _, text = line.partition(": ")
            self.tell(kinds.get(kind, "warning"), {"message": text or line})
        head = _head(code, "interrupted" if self._interrupted else None)
        more = {**more, "reports": [path_below(str(self._environment.directory), str(path)) for path in written]}
        if self._is_lines:
            self.tell("summary", {**self._summary, **more, **head})
        else:
            self._environment.stdout.write(document_text({**self._document(head), **more, **self._slowest()}))

    def tell(self, kind: str, line: Record) -> None:
        """Prints a line, or keeps it for the document; a hint with its error."""
        if self._is_lines:
            self._environment.stdout.write(f"{json_line({'type': kind, **line})}\n")
            self._environment.stdout.flush()
        elif kind == "hint":
            self._told["error"][-1]["hint"] = line["message"]
        else:
            self._told[kind].append(line)

    def _document(self, head: Record) -> Record:
        known = [one for _, one in sorted(self._results.items())]
        return {
            **head,
            "summary": {key: value for key, value in self._summary.items() if key not in ("suites", "status")},
            "errors": self._told["error"],
            "warnings": [warning["message"] for warning in self._told["warning"]],
            "notes": [note for start in self._told["start"] for note in start.get("notes", ())],
            "results": [result for result, _, _ in known],
            "failures": [failure for _, failure, _ in known if failure is not None],
            "test_warnings": [warning for _, _, warnings in known for warning in warnings],
        }

    def _slowest(self) -> Record:
        """The results that took longest, with `--durations`."""
        if not self._options.durations:
            return {}
        results = [result for _, (result, _, _) in sorted(self._results.items())]
        slow = nlargest(self._options.durations, results, key=lambda one: int(one["duration_ms"]))
        return {"slowest": [{key: one[key] for key in ("suite", "test", "duration_ms")} for one in slow]}

    def _on_test(self, result: TestResult, suite: Suite) -> None:
        read = taken(result, suite)
        line, name = read.line, str(read.line["suite"])
        head = {"suite": name, "test": line["id"], "status": line["status"], "duration_ms": line["duration_ms"]}
        unsaid = ELSEWHERE | ({"response"} if line.get("response") == line.get("output") else set())
        details = {key: bounded(value) for key, value in line.items() if key not in unsaid}
        record = {**head, **_has(**details, story=self._story(read))}
        failure = self._failure(read) if result.status == Status.FAILED else None
        if self._is_lines:
            self.tell("result", {"id": line["id"], **record, **(failure or {})})
            return
        warnings = [
            {"suite": name, "test": line["id"], "message": message, **self._at(at.file, at.line, at.column)}
            for message, at in warnings_of(read)
        ]
        self._results[self._suites[name][0], result.position] = record, failure, warnings

    def _failure(self, result: TestResult) -> Record:
        record = result.line
        _, suite, command = self._suites[str(record["suite"])]
        at = place_of(suite, result)
        return {
            "suite": suite.id,
            "test": record["id"],
            "kind": AGENT_TEST if suite.has_cases else SCRIPT_TEST,
            "broken": result.verdict is Verdict.BROKEN,
            "cause": str(result.outcome.cause or "error"),
            "message": "\n".join(errors_of(result)) or "it failed",
            **self._at(at.file, at.line, at.column),
            "duration_ms": record["duration_ms"],
            "problems": self._problems(record),
            **_has(
                subtests=[*self._failed_steps(record)],
                **{key: bounded(record.get(key)) for key in ("input", "output", "expected", "logs", "stack_trace")},
                turns=bounded(record.get("turns")),
                attempts=(record.get("runs") or {}).get("attempts"),
                story=self._story(result),
            ),
            "run_again": command(str(record["id"]), has_failed_step(record)),
        }

    def _story(self, result: TestResult) -> list[Record]:
        return [{**one, **self._at(one["file"])} for one in result.story]

    def _problems(self, record: Record) -> list[Record]:
        values = ("expected", "actual", "diff")
        found = [dict(problem) for problem in record.get("failures") or ()]
        for problem in found:
            problem.update({key: bounded(problem[key]) for key in values if key in problem})
            if "frames" in problem:
                problem["frames"] = [{**frame, **self._at(frame["file"])} for frame in problem["frames"]]
        return found

    def _failed_steps(self, record: Record) -> Iterator[Record]:
        for step in record.get("steps") or ():
            if step.get("status") == Status.FAILED:
                yield {"test": step["name"], "problems": self._problems(step)}
            yield from self._failed_steps(step)

    def _at(self, file: str, line: int | None = None, column: int | None = None) -> Record:
        """A place in a file of a report, named from the working directory; absolute if it is not below it."""
        path = path_below(str(self._environment.directory), os.path.join(self._root, file)) if file else ""
        return {key: value for key, value in (("file", path), ("line", line), ("column", column)) if value}
