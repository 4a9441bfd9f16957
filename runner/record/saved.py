"""Reads reports that earlier runs have written: `.jsonl`, also one that was cut off, and `.json`, whatever the file is
called."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from runner.errors import ConfigurationError
from runner.record.checks import HINT, result_problem, start_problem
from runner.record.combining import apply_inconclusive_policy, of_runs, policy_in
from runner.record.events import RunStatus, looks_in, looks_record
from runner.record.fold import counted, status_of
from runner.record.lines import as_read, from_seed, result_of
from runner.record.model import TestResult
from runner.record.report import Report, in_order
from runner.record.suites import AGENT_TEST, KINDS, SCRIPT_TEST, blank_suite, has_cases, suite_of
from runner.record.summary import certainty_of, counts_record, usage_record
from runner.record.texts import plain
from runner.record.upstream import from_upstream, is_upstream
from runner.security.files import read_bytes
from scripttest.typing_names import Record

_RUN_STATUSES = {status.value: status for status in RunStatus}
OF_RUNS = ("runs_per_case", "min_pass_rate")
"""Fields of the start line if each test ran several times."""
OF_START = ("shard", "regraded_from", "run_id")
"""Texts of the start of some runs."""
LISTS_OF_START = ("flags", "result_flags", "run_ids")
"""Lists of texts of it."""
OF_WHOLE = ("snapshots", "coverage")
"""Objects of a summary that are not computed from its results."""
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""JSON's escape for half of a surrogate pair, which other tools write."""


def load(path: Path, *, count: bool = True) -> Report:
    """Reads the report in a file. Counting its results takes as long as reading them; without it, the summary has only
    what the file says about the whole run.

    A JSONL report that ends in the middle of a line, or without a summary, is read as far as possible, with a warning.
    Blocks. Raises ConfigurationError if the file cannot be read or is not a report.
    """
    try:
        content = read_bytes(path, None)
    except OSError as error:
        raise ConfigurationError(f"Cannot read the report {path}: {error.strerror}") from error
    if not content.strip(b"\xef\xbb\xbf \t\r\n\0"):
        raise _broken(path, "it is empty", "The run that should have written it ended before its first line")
    try:
        text = content.decode("utf-8-sig")
        cut = False
    except UnicodeDecodeError as error:
        at = error.start
        if content.find(b"\n", at) >= 0:
            line = content.count(b"\n", 0, at) + 1
            raise _broken(f"{path}:{line}", "it is not UTF-8 text", HINT) from error
        text, cut = content[:at].decode("utf-8-sig"), True
    return read_text(path, text, cut, count=count)


def read_text(path: object, text: str, cut: bool = False, *, count: bool = True) -> Report:
    """The same of the text of a report; `path` is what messages call it, and `cut` says whether the text ends in the
    middle of a letter."""
    return _Reader(path, count, plain if _HALF.search(text) else None).read(text, cut)


class _Reader:
    def __init__(self, path: object, count: bool, clean: Callable[[Any], Any] | None) -> None:
        self._path = path
        self._count = count
        self._clean = clean
        self._start: Record = {}
        self._suites: dict[str, Record] = {}
        self._results: list[TestResult] = []
        self._errors: list[str] = []
        self._warnings: list[str] = []
        self._damage: list[str] = []
        self._hints: dict[str, str] = {}
        self._text = ""
        self._summary: Record = {}
        self._origin: Record = {}

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
            if not self._start and record["type"] != "start":
                raise _broken(where, "the first line is not the start of a report", HINT)
            position += self._take(record, where, position)
        if not self._start:
            raise _broken(self._path, "it was cut off within its first line", None)
        if not self._summary:
            self._damage.append(f"{self._path}: the run did not end, there is no summary")

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
        problem = start_problem(line) or ("it names no suites" if line.get("suites") is None else None)
        if problem:
            raise _broken(where, problem, HINT)
        line = self._cleaned(line)
        for suite in line["suites"]:
            self._suites.setdefault(suite["id"], {**blank_suite(suite["id"], suite["kind"], ""), **suite})
        if not self._start:
            self._start = self._started(line.get("timestamp"), line.get("version"), line.get("environment"))
            self._start |= {key: line[key] for key in OF_RUNS if key in line}
            self._start |= _flags(line)
            self._origin = line["resume"] if isinstance(line.get("resume"), dict) else {}

    @staticmethod
    def _started(timestamp: Any, version: Any, environment: Any) -> Record:
        known = environment if isinstance(environment, dict) else {}
        who = {key: str(known.get(key, "")) for key in ("user_id", "team_id", "locale")}
        return {"timestamp": str(timestamp or ""), "version": str(version or ""), "environment": {**known, **who}}

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
            known = self._suites[suite] = blank_suite(suite, kind, str(self._start.get("agent_id") or ""))
        of_script = {} if has_cases(known) else {"script": suite}
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
        self._start = self._started(metadata.get("started_at"), metadata.get("version"), value.get("environment"))
        self._start |= _flags(metadata)
        if summary.get("runs_per_case", 1) != 1:
            self._start["runs_per_case"] = summary["runs_per_case"]
        if "min_pass_rate" in metadata:
            self._start["min_pass_rate"] = metadata["min_pass_rate"]
        for number, part in enumerate(parts, 1):
            self._part(part, f"{self._path}: report {number}" if several else f"{self._path}")
        problem = start_problem({**self._start, "suites": list(self._suites.values())})
        if problem:
            raise _broken(self._path, problem, HINT)
        self._errors += map(str, value.get("errors") or [])
        self._warnings += map(str, value.get("warnings") or [])
        if isinstance(value.get("hints"), dict):
            self._hints = {error: str(hint) for error, hint in value["hints"].items()}
        self._summary = {"duration_ms": summary.get("duration_ms"), "completed_at": metadata.get("completed_at")}
        self._summary |= {
            key: summary[key] for key in ("status", "stopped", "not_run", "suites", "rounds") if key in summary
        }
        self._summary |= {key: summary[key] for key in OF_WHOLE if isinstance(summary.get(key), dict)}

    def _part(self, part: Record, where: str) -> None:
        is_script = part["type"] == SCRIPT_TEST
        id, about = part.get("script" if is_script else "input"), part.get("summary")
        results = part.get("results")
        if not isinstance(id, str) or not isinstance(results, list) or not isinstance(about, dict):
            raise _broken(where, "it has no results or does not say of what", HINT)
        agent = id.removeprefix("scripts.").rpartition(".")[0] if is_script else str(about.get("agent_id", ""))
        label = str(part.get("script_path", id)) if is_script else id
        known = part.get("suite")
        known = known if isinstance(known, dict) and known.get("id") == id else {}
        if isinstance(part.get("file"), str):
            known = {"file": part["file"], **known}
        self._suites[id] = {**blank_suite(id, part["type"], agent), "label": label, **known, "kind": part["type"]}
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
        suites = list(self._suites.values())
        about: Record = {key: self._start[key] for key in ("timestamp", "version", "environment") if key in self._start}
        start = {**about, "suites": suites, **_flags(self._start)}
        start |= {key: self._start[key] for key in OF_RUNS if key in self._start}
        results = in_order(suites, self._together())
        ended = self._summary
        of_whole = {key: ended[key] for key in OF_WHOLE if isinstance(ended.get(key), dict)}
        if rounds := looks_record(looks_in(ended)):
            of_whole["rounds"] = rounds
        return Report(
            start=start,
            results=results,
            errors=self._errors,
            warnings=[*self._warnings, *self._damage],
            summary=self._counted(results, of_whole) if self._count else of_whole,
            hints=self._hints,
            damage=self._damage,
            origin=self._origin,
            text=self._text,
        )

    def _counted(self, results: list[TestResult], of_whole: Record) -> Record:
        """The summary of the results, with what the file has about the whole run."""
        counts, ended = counted(results), self._summary
        status = _RUN_STATUSES.get(str(ended.get("status"))) or status_of(counts, bool(self._errors))
        duration = ended.get("duration_ms")
        return {
            **counts_record(counts),
            "duration_ms": duration
            if isinstance(duration, int)
            else sum(result.line["duration_ms"] for result in results),
            **of_whole,
            **usage_record(counts),
            **certainty_of(counts),
            "status": status if ended else RunStatus.INTERRUPTED,
            **_stopped(ended),
            **({"suites": lists} if (lists := _lists(ended.get("suites"))) else {}),
            "completed_at": ended.get("completed_at"),
        }

    def _together(self) -> list[TestResult]:
        """The results; one for all runs of a test."""
        found: dict[tuple[str, int, str], list[TestResult]] = {}
        for result in self._results:
            found.setdefault((result.suite, result.position, result.name), []).append(result)
        least = self._start.get("min_pass_rate", 100)
        policy = policy_in((*self._start.get("flags", ()), *self._start.get("result_flags", ())))
        results: list[TestResult] = []
        for made in found.values():
            runs = sorted((result for result in made if result.run), key=lambda result: result.run)
            results += [result for result in made if not result.run]
            if runs:
                combined = apply_inconclusive_policy(of_runs(runs, least), policy)
                results.append(as_read(combined, suite_of(self._suites[combined.suite]), combined.suite))
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


def _stopped(summary: Record) -> Record:
    """Why a run ended before its time, and what it left."""
    reason, left = summary.get("stopped"), summary.get("not_run")
    return {"stopped": str(reason), "not_run": left if isinstance(left, int) else 0} if reason else {}


def _lists(said: Any) -> list[Record]:
    """Suites with other tests than results."""
    entries = said if isinstance(said, list) else []
    numbers = ("selected", "total")
    return [
        entry
        for entry in entries
        if isinstance(entry, dict)
        and isinstance(entry.get("id"), str)
        and (entry.get("started") is False or all(isinstance(entry.get(key), int) for key in numbers))
    ]


def _flags(said: Any) -> Record:
    """`{flags?, result_flags?, run_ids?, shard?, regraded_from?, run_id?}`: how a report was made."""
    found: Record = {key: list(map(str, said[key])) for key in LISTS_OF_START if isinstance(said.get(key), list)}
    return found | {key: said[key] for key in OF_START if isinstance(said.get(key), str)}


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in KINDS


def _named(value: Any) -> str:
    """What a foreign JSON document is."""
    if isinstance(value, dict) and value.get("reportFormat") == "CTRF":
        return "a CTRF report, which leaves out too much"
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _broken(where: object, why: str, hint: str | None) -> ConfigurationError:
    return ConfigurationError(f"Cannot read the report {where}: {why}", hint)
