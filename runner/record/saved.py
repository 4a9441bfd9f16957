"""Reads reports that earlier runs have written: `.jsonl`, also one that was cut off, and `.json`, whatever the file is
called."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from runner.errors import ConfigurationError
from runner.record.checks import HINT, result_problem, start_problem
from runner.record.combining import apply_inconclusive_policy, of_runs, policy_in
from runner.record.coverage import coverage_in
from runner.record.events import RunEnd, RunStart, RunStatus, looks_in
from runner.record.fold import counted, status_of
from runner.record.lines import as_read, from_seed, result_of
from runner.record.model import AGENT_TEST, KINDS, SCRIPT_TEST, Suite, TestResult, suite_in
from runner.record.report import PartialSuite, Report, in_order
from runner.record.summary import snapshots_in
from runner.record.texts import plain
from runner.security.files import read_bytes
from runner.shapes.codec import json_of, value_of
from scripttest import Cause, Status
from scripttest.typing_names import Record

_STATUSES = {"timeout": Cause.TIMEOUT, "error": Cause.INFRASTRUCTURE}


def is_upstream(value: Any) -> bool:
    """Whether a JSON value is such a report."""
    kinds = {"results": list, "summary": dict, "metadata": dict}
    return (
        isinstance(value, dict)
        and "type" not in value
        and all(isinstance(value.get(key), kind) for key, kind in kinds.items())
    )


def from_upstream(value: Record) -> Record:
    """The report as this command would have written it."""
    input = value["metadata"].get("input_file") or value["summary"].get("agent_id") or "cases"
    results = [_result(one) for one in value["results"]]
    metadata = {"run_id": _id(value), **value["metadata"]}
    return {**value, "type": AGENT_TEST, "input": str(input), "results": results, "metadata": metadata}


def _id(value: Record) -> str:
    """What stands for the id of the run, which Yao does not write: a digest, so that a copy has it too."""
    return blake2b(json.dumps(value, sort_keys=True).encode("utf-8", "replace"), digest_size=6).hexdigest()


def _result(record: Any) -> Any:
    if not isinstance(record, dict):
        return record
    found = {key: value for key, value in record.items() if key != "trace"}
    if record.get("status") in _STATUSES:
        found |= {"status": Status.FAILED.value, "cause": _STATUSES[record["status"]].value}
    trace = record.get("trace")
    calls = trace.get("tool_calls") if isinstance(trace, dict) else None
    if isinstance(calls, list):
        found["tools"] = [_tool(call) for call in calls if isinstance(call, dict)]
    return found


def _tool(call: Record) -> Record:
    known = {key: call.get(key) for key in ("server", "arguments", "result", "error")}
    return {**known, "name": str(call.get("tool") or ""), "server": str(call.get("server") or "")}


_RUN_STATUSES = {status.value: status for status in RunStatus}
_TEXTS = ("shard", "regraded_from", "run_id")
"""Texts of the start of some runs."""
_LISTS = ("flags", "result_flags", "run_ids")
"""Lists of texts of it."""
_NUMBERS = {"runs_per_case": "runs", "min_pass_rate": "min_pass_rate"}
"""Numbers of it → fields of `RunStart`."""
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""JSON's escape for half of a surrogate pair, which other tools write."""


def load(path: Path) -> Report:
    """Reads the report in a file.

    A JSONL report that ends in the middle of a line, or without a summary, is read as far as possible, with a warning.
    Blocks. Raises ConfigurationError if the file cannot be read or is not a report."""
    try:
        content = read_bytes(path, None)
    except OSError as error:
        raise ConfigurationError(f"Cannot read the report {path}: {error.strerror}") from error
    if not content.strip(b"\xef\xbb\xbf \t\r\n\0"):
        raise _broken(path, "it is empty", "Its run ended before writing the first line")
    try:
        text = content.decode("utf-8-sig")
        cut = False
    except UnicodeDecodeError as error:
        at = error.start
        if content.find(b"\n", at) >= 0:
            line = content.count(b"\n", 0, at) + 1
            raise _broken(f"{path}:{line}", "it is not UTF-8 text", HINT) from error
        text, cut = content[:at].decode("utf-8-sig"), True
    return read_text(path, text, cut)


def read_text(path: object, text: str, cut: bool = False) -> Report:
    """The same of the text of a report; `path` is what messages call it, and `cut` says whether the text ends in the
    middle of a letter."""
    return _Reader(path, plain if _HALF.search(text) else None).read(text, cut)


def start_in(record: Record) -> RunStart:
    """The start of a run, of a line that `start_problem` finds nothing wrong with."""
    known = record["environment"] if isinstance(record.get("environment"), dict) else {}
    said: Record = {key: record[key] for key in _TEXTS if isinstance(record.get(key), str)}
    said |= {key: tuple(map(str, record[key])) for key in _LISTS if isinstance(record.get(key), list)}
    said |= {field: record[key] for key, field in _NUMBERS.items() if key in record}
    return RunStart(
        started_at=str(record.get("timestamp") or ""),
        version=str(record.get("version") or ""),
        suites=tuple(map(suite_in, record.get("suites") or ())),
        environment={**known, **{key: str(known.get(key, "")) for key in ("user_id", "team_id", "locale")}},
        total_cases=record["total_cases"] if isinstance(record.get("total_cases"), int) else None,
        resume=record["resume"] if isinstance(record.get("resume"), dict) else None,
        **said,
    )


def end_in(ended: Record, results: Sequence[TestResult], has_errors: bool) -> RunEnd:
    """The end of a run, of the summary of its report, which is empty where it did not end; what that does not say is as
    its results are. Raises ValueError for coverage that cannot be read."""
    status = _RUN_STATUSES.get(str(ended.get("status"))) or status_of(counted(results), has_errors)
    duration, left = ended.get("duration_ms"), ended.get("not_run")
    if not isinstance(duration, int):
        duration = sum(result.line["duration_ms"] for result in results)
    return RunEnd(
        status=status if ended else RunStatus.INTERRUPTED,
        seconds=duration / 1000,
        completed_at=str(ended.get("completed_at") or ""),
        stopped=str(ended["stopped"]) if ended.get("stopped") else None,
        not_run=left if isinstance(left, int) else 0,
        looks=looks_in(ended),
        snapshots=snapshots_in(ended),
        coverage=coverage_in(ended),
    )


class _Reader:
    def __init__(self, path: object, clean: Callable[[Any], Any] | None) -> None:
        self._path = path
        self._clean = clean
        self._start: RunStart | None = None
        self._suites: dict[str, Suite] = {}
        self._results: list[TestResult] = []
        self._errors: list[str] = []
        self._warnings: list[str] = []
        self._damage: list[str] = []
        self._hints: dict[str, str] = {}
        self._text = ""
        self._summary: Record = {}

    def read(self, text: str, cut: bool) -> Report:
        first = text.lstrip().partition("\n")[0]
        try:
            is_lines = isinstance(json.loads(first), dict) and "results" not in json.loads(first)
        except (ValueError, RecursionError):
            is_lines = first.startswith('{"type": "start"')  # cut off within its first line
        if is_lines:
            self._lines(text, cut)
            self._text = "" if self._damage else text
        else:
            self._document(text)
        return self._report()

    def _lines(self, text: str, cut: bool) -> None:
        position = 0
        lines = list(_lines_of(text))
        for number, line in lines:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                is_last = number == lines[-1][0]
                if is_last and (cut or not text.endswith("\n")):
                    self._damage.append(f"{self._path}:{number}: the file ends in the middle of this line")
                    break
                raise self._bad_json(error, number) from error
            where = f"{self._path}:{number}"
            if not isinstance(record, dict) or not isinstance(record.get("type"), str):
                raise _broken(where, 'it is not an object with a "type"', HINT)
            if self._start is None and record["type"] != "start":
                raise _broken(where, "the first line is not the start of a report", HINT)
            position += self._take(record, where, position)
        if self._start is None:
            raise _broken(self._path, "it was cut off within its first line", None)
        if not self._summary:
            self._damage.append(f"{self._path}: the run did not end, so there is no summary")

    def _cleaned(self, value: Any) -> Any:
        """A value without halves of surrogate pairs, where the report has some."""
        return value if self._clean is None else self._clean(value)

    def _take(self, record: Record, where: str, position: int) -> int:
        """Takes one line; 1 for a result."""
        kind = record["type"]
        if kind == "start":
            self._begin(record, where)
            return 0
        record = self._cleaned(record)
        if kind == "result":
            self._results.append(self._result(record, where, position))
            return 1
        elif kind == "error":
            self._errors.append(str(record.get("error")))
            if isinstance(record.get("hint"), str):
                self._hints[self._errors[-1]] = record["hint"]
        elif kind == "warning":
            self._warnings.append(str(record.get("warning")))
        elif kind == "summary":
            self._summary = record
        return 0

    def _begin(self, line: Record, where: str) -> None:
        problem = start_problem(line) or ("it has no suites" if line.get("suites") is None else None)
        if problem:
            raise _broken(where, problem, HINT)
        line = self._cleaned(line)
        start = start_in(line)
        for suite in start.suites:
            self._suites.setdefault(suite.id, suite)
        self._start = self._start or start

    def _result(self, record: Record, where: str, position: int) -> TestResult:
        problem = result_problem(record)
        if problem:
            raise _broken(where, problem, HINT)
        milliseconds = record.get("duration_ms")
        duration = milliseconds if isinstance(milliseconds, int) else 0
        suite = record.get("suite") or record.get("script") or ""
        known = self._suites.get(suite)
        if known is None:
            kind = SCRIPT_TEST if "script" in record else AGENT_TEST
            known = self._suites[suite] = suite_in({"id": suite, "kind": kind})
        of_script = {} if known.has_cases else {"script": suite}
        head = {"type": "result", "suite": suite, "position": record.get("position", position), "id": record["id"]}
        return result_of(
            {**head, **of_script, **record, "suite": suite, "position": head["position"], "duration_ms": duration}
        )

    def _document(self, text: str) -> None:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self._bad_json(error, 1) from error
        value = self._cleaned(value)
        if is_upstream(value):
            value = from_upstream(value)
        several = isinstance(value, dict) and value.get("type") == "test_run"
        parts = value.get("reports") if several else [value]
        if not isinstance(parts, list) or not all(_is_part(part) for part in parts):
            raise _broken(self._path, f"it is {_named(value)}, not a report of a run", HINT)
        metadata = value.get("metadata") or {}
        summary = value.get("summary") or {}
        start = {
            **metadata,
            "timestamp": metadata.get("started_at"),
            "environment": value.get("environment"),
            "runs_per_case": summary.get("runs_per_case", 1),
        }
        for number, part in enumerate(parts, 1):
            self._part(part, f"{self._path}: report {number}" if several else f"{self._path}")
        start["suites"] = [json_of(suite) for suite in self._suites.values()]
        problem = start_problem(start)
        if problem:
            raise _broken(self._path, problem, HINT)
        self._start = start_in(start)
        self._errors += map(str, value.get("errors") or [])
        self._warnings += map(str, value.get("warnings") or [])
        if isinstance(value.get("hints"), dict):
            self._hints = {error: str(hint) for error, hint in value["hints"].items()}
        self._summary = {**summary, "completed_at": metadata.get("completed_at")}

    def _part(self, part: Record, where: str) -> None:
        is_script = part["type"] == SCRIPT_TEST
        id, about = part.get("script" if is_script else "input"), part.get("summary")
        results = part.get("results")
        if not isinstance(id, str) or not isinstance(results, list) or not isinstance(about, dict):
            raise _broken(where, "it has no results or no suite", HINT)
        agent = id.removeprefix("scripts.").rpartition(".")[0] if is_script else str(about.get("agent_id", ""))
        label = str(part.get("script_path", id)) if is_script else id
        known = part.get("suite")
        known = known if isinstance(known, dict) and known.get("id") == id else {}
        if isinstance(part.get("file"), str):
            known = {"file": part["file"], **known}
        self._suites[id] = suite_in({"id": id, "label": label, "agent": agent, **known, "kind": part["type"]})
        for position, record in enumerate(results):
            if not isinstance(record, dict):
                raise _broken(where, f"result {position + 1} is not an object", HINT)
            record = from_seed(record)
            named = {**record, "id": record.get("name")} if is_script else record
            if is_script:
                named.pop("name", None)
            line = {**named, "suite": id, "position": position}
            self._results.append(self._result(line, f"{where}, result {position + 1}", position))

    def _report(self) -> Report:
        assert self._start is not None
        suites = tuple(self._suites.values())
        results = in_order(suites, self._together(self._start))
        try:
            end = end_in(self._summary, results, bool(self._errors))
        except ValueError as error:
            raise _broken(self._path, "its coverage is invalid", HINT) from error
        return Report(
            start=self._start.replace(suites=suites),
            results=results,
            errors=self._errors,
            warnings=[*self._warnings, *self._damage],
            end=end,
            partial=_partial_in(self._summary.get("suites")),
            hints=self._hints,
            damage=self._damage,
            text=self._text,
        )

    def _together(self, start: RunStart) -> list[TestResult]:
        """The results; one for all runs of a test."""
        found: dict[tuple[str, int, str], list[TestResult]] = {}
        for result in self._results:
            found.setdefault((result.suite, result.position, result.name), []).append(result)
        policy = policy_in((*start.flags, *start.result_flags))
        results: list[TestResult] = []
        for made in found.values():
            runs = sorted((result for result in made if result.run), key=lambda result: result.run)
            results += [result for result in made if not result.run]
            if runs:
                combined = apply_inconclusive_policy(of_runs(runs, start.min_pass_rate), policy)
                results.append(as_read(combined, self._suites[combined.suite], combined.suite))
        return results

    def _bad_json(self, error: Exception, line: int) -> ConfigurationError:
        if isinstance(error, json.JSONDecodeError):
            where = f"{self._path}:{line + error.lineno - 1}:{error.colno}"
            return _broken(where, f"it is not JSON: {error.msg}", HINT)
        too_deep = isinstance(error, RecursionError)
        why = "its values are nested too deeply" if too_deep else "a number has too many digits"
        return _broken(f"{self._path}:{line}", why, None)


def _lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers; only a line feed ends a line."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip(" \t\r\0"):
            yield number, line.rstrip("\r")


def _partial_in(said: Any) -> tuple[PartialSuite, ...]:
    """Suites with other tests than results."""
    entries = said if isinstance(said, list) else []
    numbers = ("selected", "total")
    return tuple(
        value_of(PartialSuite, entry)
        for entry in entries
        if isinstance(entry, dict)
        and isinstance(entry.get("id"), str)
        and (entry.get("started") is False or all(isinstance(entry.get(key), int) for key in numbers))
    )


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in KINDS


def _named(value: Any) -> str:
    """What a foreign JSON document is."""
    if isinstance(value, dict) and value.get("reportFormat") == "CTRF":
        return "a CTRF report, which has too little data"
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _broken(where: object, why: str, hint: str | None) -> ConfigurationError:
    return ConfigurationError(f"Cannot read the report {where}: {why}", hint)
