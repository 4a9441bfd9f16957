"""`--resume OUTPUT.jsonl`: valid results of an earlier run are kept, everything else runs, and the same file continues.

The start line of a report says how it was made (`runner.planning.resumable`). Each result has a `fingerprint` of what
it depends on (`runner.fingerprints`).

| found in the report | what happens |
| --- | --- |
| another run is still writing it | a configuration error |
| a damaged line | it and everything after it are removed |
| lines of errors, warnings, stability and the summary | removed; the resumed run writes its own |
| a result that is still valid | kept |
| another result | its test runs again; the reason is printed (`runner.planning.gaps`) |
| other flags | a configuration error; another --timeout is only reported |
| a flag that opens a wall, or a place elsewhere | a configuration error, unless the command line has it too |
| another version of yao-test | is reported |
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote

from runner.errors import ConfigurationError
from runner.options.carried import TYPED, saved_values, spelled, taken_over
from runner.options.flags import Carried, Flag
from runner.options.options import FLAGS, RunOptions, absolute
from runner.planning.gaps import holding
from runner.planning.kept_runs import Runs
from runner.planning.resumable import ResumeState, Retained
from runner.planning.resume_origin import OTHER_APPLICATION, check_application, check_walls
from runner.planning.saved_run import RESUMING, Saved, read_saved
from runner.version import VERSION
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.fingerprints.fingerprints import Fingerprints
    from runner.planning.case_source import CaseSource
    from runner.results.line_file import LineFile
    from runner.results.model import Suite, TestResult


def with_saved_options(
    options: RunOptions,
    directory: Path,
    doing: str = RESUMING,
    elsewhere: str = OTHER_APPLICATION,
    command: str = "--resume",
    opens_walls: bool = True,
) -> RunOptions:
    """The options of a run that is resumed: what the command line leaves open is as it was. Raises ConfigurationError
    when it says something else, and for a flag that only the command line may set.

    Args:
        doing: as for `read_saved`.
        elsewhere: what to do about a report of another application.
        command: what the name of the report follows on the command line.
        opens_walls: whether the command opens what flags of the report permit; else it only compares with them.
    """
    assert options.resume is not None
    saved = read_saved(absolute(options.resume, directory), doing)
    if not saved.start:
        if not options.inputs:
            raise ConfigurationError(f"{saved.subject}: it has no whole line", "Say with -i what to run")
        return options
    before = saved_values(saved.options)
    if options.app is None:
        check_application(before.get("app"), directory, saved.subject, elsewhere)
    of_file = saved.start["resume"].get("from_file", ())
    values: Record = {}
    for flag in FLAGS:
        if flag.carried is Carried.NO:
            continue
        then, now = before.get(flag.field, flag.default), getattr(options, flag.field)
        if now == flag.default:
            if not (flag.is_read_again and flag.field in of_file):
                values[flag.field] = then
        elif flag.carried not in (Carried.OPEN, Carried.GUARD) and not _is_same(flag, then, now, directory):
            raise ConfigurationError(
                f"{saved.subject}: it was made with {spelled(flag, then)}, not with {spelled(flag, now)}",
                "Give the same flags or none, or begin a new report with -o",
            )
    if options.require_trust:  # approvals of the report's revision would be weaker
        values.pop("trust_from", None)
    used = values if opens_walls else {name: value for name, value in values.items() if name not in TYPED}
    check_walls(used, options, directory, saved.subject, f"yao-test {command} {quote(options.resume)}")
    return options.replace(**values)


def _is_same(flag: Flag, then: Any, now: Any, directory: Path) -> bool:
    """Whether two values of a flag mean the same: the configuration file names absolute paths."""

    def place(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(place, value))
        return value and os.path.normpath(directory / Path(value).expanduser())

    return bool(place(then) == place(now) if flag.is_path else then == now)


def take_up(
    options: RunOptions,
    origin: Record,
    sources: list[CaseSource],
    suites: tuple[Suite, ...],
    directory: Path,
    fingerprints: Fingerprints,
) -> ResumeState:
    """Reads the report that `--resume` names, and removes all results from it that are not kept. Raises
    ConfigurationError, also when another run still writes the report. `origin` goes into its start line."""
    assert options.resume is not None
    path = absolute(options.resume, directory)
    file = _open(path)
    retained = retain(read_saved(path), options, sources, suites, fingerprints)
    cut(retained, file, origin)
    done = [
        source.replace(done=retained.statuses(source.suite.id), ended=retained.ended.get(source.suite.id, {}))
        for source in sources
    ]
    verb = "result of {} is kept" if retained.count == 1 else "results of {} are kept"
    said = f"{retained.count} {verb.format(options.resume)}"
    saved = retained.saved
    of_file = saved.start["resume"].get("from_file", ()) if saved.start else ()
    before = saved_values(saved.options) if saved.start else {}
    shown = taken_over({name: value for name, value in before.items() if name not in of_file})
    taken = [f"flags taken from {options.resume}: {shown}"] if shown else []
    return ResumeState(
        sources=done,
        retained=retained,
        origin=origin,
        warnings=(said, *taken, *retained.warnings),
        resumed_report=file,
    )


def retain(
    saved: Saved,
    options: RunOptions,
    sources: Iterable[CaseSource],
    suites: Iterable[Suite],
    fingerprints: Fingerprints,
) -> Retained:
    """Finds the results of a report that are still valid. Raises ConfigurationError when it has results of inputs that
    this run does not have."""
    found = holding(saved, fingerprints, sources, suites, Runs(count=options.runs, repeat=options.repeat))
    said = [*_differences(saved, options), *(gap.text for gap in found.gaps)]
    return Retained(saved=saved, results=found.results, ended=found.ended, gaps=found.gaps, warnings=tuple(said))


def cut(retained: Retained, file: LineFile, origin: Record) -> None:
    """Rewrites the report: it keeps the valid results, and lists the tests that are planned now. Raises
    ConfigurationError."""
    saved = retained.saved
    results = [record for records in retained.results.values() for record in records]
    start = {**saved.start, "resume": _gone_on(saved.start["resume"], origin)} if saved.start else {}
    if saved.is_whole and len(results) == len(saved.results) and start == saved.start:
        return
    records = [*([start] if start else []), *results]
    try:
        file.replace(json.dumps(record, ensure_ascii=False) for record in records)
    except OSError as error:
        raise ConfigurationError(f"Cannot resume {saved.path}: {error.strerror}") from error


def _gone_on(before: Record, origin: Record) -> Record:
    """The start line of the continued report, since the configuration file may have changed."""
    again = {flag.field for flag in FLAGS if flag.is_read_again}
    options = {name: value for name, value in before["options"].items() if name not in again}
    options |= {name: value for name, value in origin["options"].items() if name in again}
    known = {name: value for name, value in before.items() if name != "from_file"}
    return {**known, **origin, "key": before["key"], "options": options}


def results_of(retained: Retained, suites: Iterable[Suite]) -> Iterator[TestResult]:
    """The kept results as values of the event stream."""
    from runner.results.result_json import result_of

    for suite in suites:
        for record in retained.results.get(suite.id, ()):
            result = result_of(suite, record["position"], record, suite.root)
            yield result.replace(name=record["id"], run=record.get("run", 0), record=record)


def _open(path: Path) -> LineFile:
    from runner.results.line_file import LineFile

    try:
        return LineFile(path, keep=True)
    except OSError as error:
        raise ConfigurationError(f"Cannot resume {path}: {error.strerror}") from error


def _differences(saved: Saved, options: RunOptions) -> Iterator[str]:
    """Warnings about kept results that were made with other options."""
    if not saved.start:
        return
    then, now = saved.options.get("timeout"), options.timeout
    if then != now:
        yield f"--timeout is not what it was when the kept results were made: {_seconds(now)}, not {_seconds(then)}"
    version = saved.start.get("version")
    if version != VERSION:
        yield f"{saved.path.name} was begun by yao-test {version}, and this is {VERSION}"


def _seconds(value: float | None) -> str:
    return "the default" if value is None else f"{value:g}s"
