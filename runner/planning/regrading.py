"""`yao-test regrade REPORT`: reads the flags and the transcripts of a saved report. `regraded_cases` finds the cases
that they are graded by."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from runner.errors import ConfigurationError
from runner.modes.transcripts import Transcripts, problem_of
from runner.options.carried import saved_values
from runner.options.flags import Regrade
from runner.options.options import FLAGS
from runner.planning.saved_run import made_problem
from runner.results.looks import looks_in
from runner.results.model import Suite, TestResult
from runner.results.regradable import regradable_in
from runner.results.report import Report
from runner.results.result_json import result_of
from runner.results.result_problems import result_problem
from runner.results.start_problems import HINT
from runner.results.suite_json import blank_suite, has_cases, suite_of
from runner.security.files import read_bytes
from scripttest import TestKey
from scripttest.typing_names import Record


def saved_options(shown: str, path: Path) -> tuple[tuple[str, ...], Record]:
    """The inputs of a report that have cases, and the values of those flags that it may set for `regrade`, by fields of
    `RunOptions`. Raises ConfigurationError."""
    start, _, _ = _read(shown, path)
    labels = dict.fromkeys(suite.label for suite in _suites_of(start) if not suite.is_message)
    if not labels:
        raise ConfigurationError(
            f"Cannot regrade {shown}: it has no results of case files",
            "Script tests and messages have no assertions on answers",
        )
    said = start.get("resume")
    options = said.get("options") if isinstance(said, dict) else None
    of_file = said.get("from_file") or () if isinstance(said, dict) else ()
    told = saved_values(options if isinstance(options, dict) else {})
    wanted = {flag.field for flag in FLAGS if flag.regrade is Regrade.YES}
    wanted -= {flag.field for flag in FLAGS if flag.is_read_again and flag.field in of_file}
    taken = {name: value for name, value in told.items() if name in wanted}
    return tuple(labels), {**taken, "runs": _runs(start), "min_pass_rate": start.get("min_pass_rate", 100)}


def _suites_of(start: Record) -> list[Suite]:
    """The suites of a report that have cases."""
    records = ({**blank_suite(suite["id"], suite["kind"], ""), **suite} for suite in start.get("suites") or ())
    return [suite_of(record) for record in records if has_cases(record)]


def _runs(start: Record) -> int:
    """How often each case ran."""
    return int(start.get("runs_per_case", 1))


def transcripts_in(shown: str, path: Path) -> Transcripts:
    """The transcripts of a report. Raises ConfigurationError when it has none."""
    start, records, end = _read(shown, path)
    suites = {suite.id: suite for suite in _suites_of(start)}
    found: dict[TestKey, TestResult] = {}
    refused: dict[str, str] = {}
    for record in records:
        suite = suites.get(record.get("suite", ""))
        if suite is None:
            continue
        try:
            regradable = regradable_in(record.get("regrade"))
            result = result_of(suite, 0, record).replace(regradable=regradable)
            problem = problem_of(result)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            problem = "it is not as this version writes it"
        if problem is None:
            found[result.key] = result
        else:
            refused.setdefault(record["id"], problem)
    counts = Counter((key.suite, key.test) for key in found)
    looks = looks_in(end)
    runs = looks.made if looks.planned > 1 else _runs(start)
    repeated = {(record["suite"], record["id"]) for record in records if record.get("repeat") is not None}
    for key in list(found):
        test = (key.suite, key.test)
        if counts[test] < runs and test not in repeated:
            del found[key]
            refused.setdefault(key.test, "not all of its runs have a transcript")
    if not found:
        why = f", such as {next(iter(refused))}: {next(iter(refused.values()))}" if refused else ""
        raise ConfigurationError(f"Cannot regrade {shown}: none of its results has a transcript{why}", "Run it again")
    ids = Report(start=start, results=[], errors=[], warnings=[], summary={}).run_ids
    return Transcripts(
        report=shown, suites=list(suites.values()), results=found, refused=refused, looks=looks, run_ids=tuple(ids)
    )


def _read(shown: str, path: Path) -> tuple[Record, list[Record], Record]:
    """The start, the results and the summary of a `.jsonl` report, which is empty where there is none. Raises
    ConfigurationError."""
    try:
        if path.exists() and not path.is_file():
            raise ConfigurationError(f"Cannot regrade {shown}: it is not a file")
        lines = read_bytes(path, None).split(b"\n")
    except OSError as error:
        raise ConfigurationError(f"Cannot regrade {shown}: {error.strerror}") from error
    records = [record for line in lines if (record := _record(line)) is not None]
    if not records or records[0].get("type") != "start":
        hint = "Only .jsonl reports have the data for it; -o FILE.jsonl writes one"
        raise ConfigurationError(f"Cannot regrade {shown}: it is not a .jsonl report of yao-test", hint)
    if problem := made_problem(records[0]):
        raise ConfigurationError(f"Cannot regrade {shown}: {problem}", HINT)
    results = [record for record in records if record.get("type") == "result" and not result_problem(record)]
    return records[0], results, next((record for record in reversed(records) if record.get("type") == "summary"), {})


def _record(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
