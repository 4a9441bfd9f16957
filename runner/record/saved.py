"""Reads saved reports: `.jsonl`, also one that was cut off, and `.json`, whatever the file is called."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.errors import ConfigurationError
from runner.record.checks import HINT, SEVERAL, TO_MERGE, document_problem, result_problem, start_problem
from runner.record.combining import apply_inconclusive_policy, of_runs, policy_in
from runner.record.coverage import coverage_in
from runner.record.events import RunEnd, RunStart, RunStatus, SnapshotCounts, looks_in
from runner.record.fold import counted, status_of
from runner.record.lines import as_read, from_seed, result_of
from runner.record.model import AGENT_TEST, KINDS, SCRIPT_TEST, Suite, TestResult, suite_in
from runner.record.report import PartialSuite, Report, in_order
from runner.record.writing import plain
from runner.security.files import read_bytes
from runner.shapes.codec import fitting
from scripttest import Cause, Status
from scripttest.typing_names import Record

_STATUSES = {"timeout": Cause.TIMEOUT, "error": Cause.INFRASTRUCTURE}


def _as_ours(value: Any) -> Any:
    """A report that Yao wrote, as this command would have written it; any other value as it is."""
    kinds = {"results": list, "summary": dict, "metadata": dict}
    if not isinstance(value, dict) or "type" in value:
        return value
    if not all(isinstance(value.get(key), kind) for key, kind in kinds.items()):
        return value
    input = value["metadata"].get("input_file") or value["summary"].get("agent_id") or "cases"
    content = json.dumps(value, sort_keys=True).encode("utf-8", "replace")
    from hashlib import blake2b

    id = blake2b(content, digest_size=6).hexdigest()  # Yao writes none; a copy has the same one
    results = [_result(one) for one in value["results"]]
    metadata = {"run_id": id, **value["metadata"]}
    return {**value, "type": AGENT_TEST, "input": str(input), "results": results, "metadata": metadata}


def _result(record: Any) -> Any:
    if not isinstance(record, dict):
        return record
    found = {key: value for key, value in record.items() if key != "trace"}
    if record.get("status") in _STATUSES:
        found |= {"status": Status.FAILED.value, "cause": _STATUSES[record["status"]].value}
    trace = record.get("trace")
    calls = trace.get("tool_calls") if isinstance(trace, dict) else None
    if isinstance(calls, list):
        found["tools"] = [
            {key: call.get(key) for key in ("arguments", "result", "error")}
            | {"name": str(call.get("tool") or ""), "server": str(call.get("server") or "")}
            for call in calls
            if isinstance(call, dict)
        ]
    return found


_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""JSON's escape for half of a surrogate pair, which other tools write."""


def load(path: Path) -> Report:
    """Reads the report in a file; JSONL that is cut off as far as possible, with a warning. Blocks. Raises
    ConfigurationError if the file cannot be read or is not a report."""
    try:
        content = read_bytes(path, None)
    except OSError as error:
        raise ConfigurationError(f"Cannot read the report {path}: {error.strerror}") from error
    if not content.strip(b"\xef\xbb\xbf \t\r\n\0"):
        raise _broken(path, "it is empty", "Its run ended before writing the first line")
    try:
        return read_text(path, content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        at = error.start
        if content.find(b"\n", at) >= 0:
            line = content.count(b"\n", 0, at) + 1
            raise _broken(f"{path}:{line}", "it is not UTF-8 text", HINT) from error
        return read_text(path, content[:at].decode("utf-8-sig"), cut=True)


def read_text(path: object, text: str, cut: bool = False) -> Report:
    """The same of its text; `path` is what messages call it, and `cut`: it ends in the middle of a letter."""
    clean = plain if _HALF.search(text) else lambda value: value
    first = text.lstrip().partition("\n")[0]
    try:
        is_lines = isinstance(json.loads(first), dict) and "results" not in json.loads(first)
    except (ValueError, RecursionError):
        is_lines = first.startswith('{"type": "start"')  # cut off within its first line
    damage: list[str] = []
    said: dict[str, list[Record]] = {"error": [], "warning": [], "summary": []}
    start: RunStart | None = None
    results: list[TestResult] = []
    for where, record in _lines(path, text, cut, damage) if is_lines else _document(path, text, clean):
        line = clean(record)
        if record["type"] == "start":
            if start is not None:
                raise _broken(where, SEVERAL, TO_MERGE)
            start, is_of_yao = _start_of(line, where)
            suites = {suite.id: suite for suite in start.suites}
        elif record["type"] == "result":
            results.append(_result_of(_result(line) if is_of_yao else line, where, suites, len(results)))
        elif record["type"] in said:
            said[record["type"]].append(line)
    if start is None:
        raise _broken(path, "it was cut off within its first line", None)
    summary = said["summary"][-1] if said["summary"] else {}
    if is_lines and not summary:
        damage.append(f"{path}: the run did not end, so there is no summary")
    results = in_order(tuple(suites.values()), _together(start, results, suites))
    errors = [str(one.get("error")) for one in said["error"]]
    try:
        end = end_in(summary, results, bool(errors))
    except ValueError as error:
        raise _broken(path, "its coverage is invalid", HINT) from error
    return Report(
        start=start.replace(suites=tuple(suites.values())),
        results=results,
        errors=errors,
        warnings=[*(str(one.get("warning")) for one in said["warning"]), *damage],
        end=end,
        partial=tuple(_partial_in(summary.get("suites"))),
        hints={str(one.get("error")): one["hint"] for one in said["error"] if isinstance(one.get("hint"), str)},
        damage=damage,
        text=text if is_lines and not damage else "",
    )


def start_in(record: Record) -> RunStart:
    """The start of a run, of a line that `start_problem` finds nothing wrong with."""
    return fitting(RunStart, record).replace(suites=tuple(map(suite_in, record.get("suites") or ())))


def end_in(ended: Record, results: Sequence[TestResult], has_errors: bool) -> RunEnd:
    """The end of a run, of the summary of its report (empty: it did not end), else as its results are. Raises
    ValueError for coverage that cannot be read."""
    status = next((status for status in RunStatus if status == ended.get("status")), None)
    duration, left, snapshots = (ended.get(key) for key in ("duration_ms", "not_run", "snapshots"))
    if not isinstance(duration, int):
        duration = sum(result.line["duration_ms"] for result in results)
    return RunEnd(
        status=(status or status_of(counted(results), has_errors)) if ended else RunStatus.INTERRUPTED,
        seconds=duration / 1000,
        completed_at=str(ended.get("completed_at") or ""),
        stopped=str(ended["stopped"]) if ended.get("stopped") else None,
        not_run=left if isinstance(left, int) else 0,
        looks=looks_in(ended),
        snapshots=fitting(SnapshotCounts, snapshots) if isinstance(snapshots, dict) else None,
        coverage=coverage_in(ended),
    )


def _lines(path: object, text: str, cut: bool, damage: list[str]) -> Iterator[tuple[str, Record]]:
    """Each line that is not blank, with its place; only a line feed ends a line. `damage` gets what is said of the
    last one, if it is cut off."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip(" \t\r\0")]
    for number, line in lines:
        where = f"{path}:{number}"
        try:
            record = json.loads(line.rstrip("\r"))
        except (ValueError, RecursionError) as error:
            if number == lines[-1][0] and (cut or not text.endswith("\n")):
                damage.append(f"{where}: the file ends in the middle of this line")
                return
            raise _bad_json(path, error, number) from error
        if not isinstance(record, dict) or not isinstance(record.get("type"), str):
            raise _broken(where, 'it is not an object with a "type"', HINT)
        if number == lines[0][0] and record["type"] != "start":
            raise _broken(where, "the first line is not the start of a report", HINT)
        yield where, record


def _start_of(line: Record, where: str) -> tuple[RunStart, bool]:
    """The start of a run, and whether Yao has written it."""
    agent = line.get("agent_id")
    is_of_yao = line.get("suites") is None and bool(agent) and isinstance(agent, str)
    if is_of_yao:
        line = {**line, "suites": [{"id": agent, "kind": AGENT_TEST, "agent": agent}]}
    problem = start_problem(line) or ("it has no suites" if line.get("suites") is None else None)
    if problem:
        raise _broken(where, problem, HINT)
    return start_in(line), is_of_yao


def _result_of(record: Record, where: str, suites: dict[str, Suite], position: int) -> TestResult:
    """A result, whose suite is added to the others if it is unknown; `position` where it says none."""
    if problem := result_problem(record):
        raise _broken(where, problem, HINT)
    duration = record.get("duration_ms")
    suite = record.get("suite") or record.get("script") or next(iter(suites), "")
    if suite not in suites:
        suites[suite] = suite_in({"id": suite, "kind": SCRIPT_TEST if "script" in record else AGENT_TEST})
    head = {"type": "result", "suite": suite, "position": record.get("position", position)}
    of_script = {} if suites[suite].has_cases else {"script": suite}
    tail = {**head, "duration_ms": duration if isinstance(duration, int) else 0}
    return result_of({**head, "id": record["id"], **of_script, **record, **tail})


def _document(path: object, text: str, clean: Callable[[Any], Any]) -> Iterator[tuple[str, Record]]:
    """A report in one piece as lines, each with its place."""
    try:
        value = _as_ours(clean(json.loads(text)))
    except (ValueError, RecursionError) as error:
        raise _bad_json(path, error, 1) from error
    several = isinstance(value, dict) and value.get("type") == "test_run"
    parts = value.get("reports") if several else [value]
    if not isinstance(parts, list) or not all(isinstance(one, dict) and one.get("type") in KINDS for one in parts):
        raise _broken(path, f"it is {_named(value)}, not a report of a run", HINT)
    if problem := document_problem(value):
        raise _broken(path, problem, HINT)
    metadata, summary, hints = (value.get(key) or {} for key in ("metadata", "summary", "hints"))
    whole = f"{path}"
    places = [f"{whole}: report {number}" if several else whole for number, _ in enumerate(parts, 1)]
    suites = {suite["id"]: suite for suite in map(_suite_of, parts, places)}
    start = {"timestamp": metadata.get("started_at"), "environment": value.get("environment")}
    more = {"runs_per_case": summary.get("runs_per_case", 1), "suites": list(suites.values())}
    yield whole, {**metadata, **start, **more, "type": "start"}
    for part, where in zip(parts, places, strict=True):
        id = part["script" if part["type"] == SCRIPT_TEST else "input"]
        for position, record in enumerate(part["results"]):
            place = f"{where}, result {position + 1}"
            if not isinstance(record, dict):
                raise _broken(where, f"result {position + 1} is not an object", HINT)
            line = from_seed(record)
            if part["type"] == SCRIPT_TEST:
                line = {key: item for key, item in line.items() if key != "name"} | {"id": line.get("name")}
            yield place, {**line, "type": "result", "suite": id, "position": position}
    for said in value.get("errors") or ():
        yield whole, {"type": "error", "error": said, "hint": str(hints[said]) if said in hints else None}
    for warning in value.get("warnings") or ():
        yield whole, {"type": "warning", "warning": warning}
    yield whole, {**summary, "type": "summary", "completed_at": metadata.get("completed_at")}


def _together(start: RunStart, read: Sequence[TestResult], suites: Mapping[str, Suite]) -> list[TestResult]:
    """The results of tests, of which those that ran several times are made of their runs."""
    found: dict[tuple[str, int, str], list[TestResult]] = {}
    for result in read:
        found.setdefault((result.suite, result.position, result.name), []).append(result)
    policy = policy_in((*start.flags, *start.result_flags))
    results: list[TestResult] = []
    for made in found.values():
        runs = sorted((result for result in made if result.run), key=lambda result: result.run)
        results += [result for result in made if not result.run]
        if runs:
            combined = apply_inconclusive_policy(of_runs(runs, start.min_pass_rate), policy)
            results.append(as_read(combined, suites[combined.suite], combined.suite))
    return results


def _bad_json(path: object, error: Exception, line: int) -> ConfigurationError:
    if isinstance(error, json.JSONDecodeError):
        where = f"{path}:{line + error.lineno - 1}:{error.colno}"
        return _broken(where, f"it is not JSON: {error.msg}", HINT)
    too_deep = isinstance(error, RecursionError)
    why = "its values are nested too deeply" if too_deep else "a number has too many digits"
    return _broken(f"{path}:{line}", why, None)


def _suite_of(part: Record, where: str) -> Record:
    is_script = part["type"] == SCRIPT_TEST
    id, about = part.get("script" if is_script else "input"), part.get("summary")
    if not isinstance(id, str) or not isinstance(part.get("results"), list) or not isinstance(about, dict):
        raise _broken(where, "it has no results or no suite", HINT)
    agent = id.removeprefix("scripts.").rpartition(".")[0] if is_script else str(about.get("agent_id", ""))
    label = str(part.get("script_path", id)) if is_script else id
    known = part.get("suite")
    known = known if isinstance(known, dict) and known.get("id") == id else {}
    file = {"file": part["file"]} if isinstance(part.get("file"), str) else {}
    return {"label": label, "agent": agent, **file, **known, "id": id, "kind": part["type"]}


def _partial_in(said: Any) -> Iterator[PartialSuite]:
    for entry in said if isinstance(said, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            known = fitting(PartialSuite, entry)
            if entry.get("started") is False or None not in (known.selected, known.total):
                yield known


def _named(value: Any) -> str:
    if isinstance(value, dict) and value.get("reportFormat") == "CTRF":
        return "a CTRF report, which has too little data"
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _broken(where: object, why: str, hint: str | None) -> ConfigurationError:
    return ConfigurationError(f"Cannot read the report {where}: {why}", hint)
