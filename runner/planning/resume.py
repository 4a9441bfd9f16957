"""`--resume OUTPUT.jsonl`: valid results of an earlier run are kept, everything else runs, and the same file continues.

The start line of a report says how it was made (`origin_of`). Each result has a `fingerprint` of what it depends on
(`runner.fingerprints`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from runner.errors import ConfigurationError
from runner.options.carried import saved_values, taken_over
from runner.options.flags import Carried
from runner.options.options import FLAGS, RunOptions, absolute
from runner.planning.saved_run import SavedRun, read_saved
from scripttest.typing_names import Record
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.fingerprints.fingerprints import Fingerprints
    from runner.planning.case_source import CaseSource
    from runner.planning.still_valid import Retained
    from runner.record.line_file import LineFile
    from runner.record.model import Suite, TestResult

LISTED = 1000
"""The start of a report lists the ids of at most this many cases of one input; of more it has only the number."""


class ResumeState(Value):
    """What a run takes from an earlier one, and what a later run can take from this one."""

    retained: Retained | None = None
    """The results that are kept; None: there is no earlier run."""
    origin: Record | None = None
    """The content of `resume` in the start line of the report; None when the run writes no report that needs it."""
    start: Record | None = None
    """The start line of the report that is continued, if it has one."""
    warnings: tuple[str, ...] = ()
    resumed_report: LineFile | None = None
    """The open report that is continued; it is locked from before it was read."""


def origin_of(
    options: RunOptions,
    typed: RunOptions,
    sources: Iterable[CaseSource],
    key: str,
    failed: Mapping[str, list[str]],
) -> Record:
    """`{key, options, from_file?, failed?, planned}` of the start line; `from_file` names the options that the
    configuration file has said, `failed` are the tests that `--last-failed` selects, by the keys of their suites, and
    `planned` is `{suite: {cases, ids?}}`."""
    used = [flag for flag in FLAGS if flag.carried is not Carried.NO]
    given = {flag.field: _stored(value) for flag in used if (value := getattr(options, flag.field)) != flag.default}
    planned: dict[str, Record] = {}
    for source in sources:
        planned[source.suite.name] = {"cases": source.selected}
        if source.selected <= LISTED:
            planned[source.suite.name]["ids"] = [located.case.id for located in source.cases()]
    in_file = (flag.field for flag in used if flag.in_file and flag.field in given)
    read = [name for name in in_file if getattr(typed, name) != getattr(options, name)]
    more = {"from_file": read, "failed": dict(failed)}
    return {"key": key, "options": given, **{name: value for name, value in more.items() if value}, "planned": planned}


def _stored(value: Any) -> Any:
    """The value of a flag as JSON, which `Flag.saved_value` reads."""
    if isinstance(value, tuple):
        return [str(one) for one in value]
    return value if isinstance(value, str | int | float) else str(value)


def take_up(
    options: RunOptions,
    origin: Record,
    sources: list[CaseSource],
    suites: tuple[Suite, ...],
    directory: Path,
    fingerprints: Fingerprints,
) -> ResumeState:
    """Reads the report of `--resume`, and cuts all lines that are not kept. Raises ConfigurationError."""
    from runner.planning.still_valid import retain
    from runner.record.line_file import LineFile

    assert options.resume is not None
    path = absolute(options.resume, directory)
    try:
        file = LineFile(path, keep=True)
    except OSError as error:
        raise ConfigurationError(f"Cannot resume {path}: {error.strerror}") from error
    saved = read_saved(path)
    retained = retain(saved, options, sources, suites, fingerprints)
    _cut(saved, retained, file, origin)
    kept = "result of {} is kept" if retained.count == 1 else "results of {} are kept"
    before = saved_values(saved.options)
    shown = taken_over({name: value for name, value in before.items() if name not in saved.file_options})
    taken = [f"flags taken from {options.resume}: {shown}"] if shown else []
    return ResumeState(
        retained=retained,
        origin=origin,
        start=saved.start,
        warnings=(f"{retained.count} {kept.format(options.resume)}", *taken, *retained.warnings),
        resumed_report=file,
    )


def _cut(saved: SavedRun, retained: Retained, file: LineFile, origin: Record) -> None:
    """Rewrites the report: it keeps the valid results, and lists the tests that are planned now."""
    results = [result.line for kept in retained.results.values() for result in kept]
    start = {**saved.start, "resume": _continued(saved.start["resume"], origin)} if saved.start else {}
    if saved.is_whole and len(results) == len(saved.results) and start == saved.start:
        return
    records = [*([start] if start else []), *results]
    try:
        file.replace(json.dumps(record, ensure_ascii=False) for record in records)
    except OSError as error:
        raise ConfigurationError(f"Cannot resume {saved.path}: {error.strerror}") from error


def _continued(before: Record, origin: Record) -> Record:
    """`resume` of the continued report, since the configuration file may have changed."""
    again = {flag.field for flag in FLAGS if flag.is_read_again}
    options = {name: value for name, value in before["options"].items() if name not in again}
    options |= {name: value for name, value in origin["options"].items() if name in again}
    known = {name: value for name, value in before.items() if name != "from_file"}
    return {**known, **origin, "key": before["key"], "options": options}


def results_of(retained: Retained, suites: Iterable[Suite]) -> Iterator[TestResult]:
    """The kept results as they are in events of this run."""
    from runner.record.lines import result_of
    from runner.record.outcomes import outcome_in

    for suite in suites:
        for result in retained.results.get(suite.id, ()):
            outcome = outcome_in(result.line, suite.root)
            yield result_of(result.line, suite=suite.id, outcome=outcome, is_resumed=True)
