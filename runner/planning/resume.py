"""`--resume OUTPUT.jsonl`: valid results of an earlier run are kept, everything else runs, and the same file continues.

The start line of a report says how it was made (`runner.planning.resume`). Each result has a `fingerprint` of what
it depends on (`runner.fingerprints`).

| found in the report | what happens |
| --- | --- |
| another run is still writing it | a configuration error |
| a damaged line | it and everything after it are removed |
| lines of errors, warnings, stability and the summary | removed; the resumed run writes its own |
| a result that is still valid | kept |
| another result | its test runs again; the reason is printed (`runner.planning.still_valid`) |
| other flags | a configuration error; another --timeout is only reported |
| a flag that opens a wall, or a place elsewhere | a configuration error, unless the command line has it too |
| another version of yao-test | is reported |
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from shlex import join, quote

from runner.application.application import find_root
from runner.errors import ConfigurationError
from runner.options.carried import TYPED, saved_values, spelled, taken_over, walls_in
from runner.options.flags import Carried, Flag
from runner.options.options import FLAGS, RunOptions, absolute
from runner.results.json_text import is_utf8
from runner.results.start_problems import HINT, is_number, start_problem
from runner.security.files import read_bytes
from runner.version import VERSION
from scripttest import TestKey
from scripttest.typing_names import Record
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.fingerprints.fingerprints import Fingerprints
    from runner.planning.case_source import CaseSource
    from runner.planning.still_valid import Gap
    from runner.results.line_file import LineFile
    from runner.results.model import Suite, TestResult
    from scripttest import Status

RESUMING = "resume {}"
LISTED = 1000
"""The start of a report lists the ids of at most this many cases of one input; of more it has only the number."""
OTHER_APPLICATION = "If it is yours, say so with --app {}; or begin a new report with -o"


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
    from runner.planning.still_valid import Runs, holding

    found = holding(
        saved.results, saved.subject, fingerprints, sources, suites, Runs(count=options.runs, repeat=options.repeat)
    )
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
    from runner.results.lines import result_of
    from runner.results.outcomes import outcome_in

    for suite in suites:
        for record in retained.results.get(suite.id, ()):
            yield result_of(record, suite=suite.id, outcome=outcome_in(record, suite.root), is_resumed=True)


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


class Saved(Value):
    """The content of a report."""

    path: Path
    start: Record
    """Its first line as a record; empty when there is none."""
    results: list[Record]
    """Its results, the last one for each test and run."""
    is_whole: bool
    """Whether the file has only these lines."""
    subject: str
    """The beginning of errors about it: what cannot be done with it."""

    @property
    def options(self) -> Record:
        """The flags of the run, by the names of `RunOptions`; those that were not given are left out."""
        found: Record = self.start["resume"]["options"]
        return found


def read_saved(path: Path, doing: str = RESUMING) -> Saved:
    """Reads a report as far as its lines are whole. Raises ConfigurationError when there is none, which says what was
    to be done with it, as `doing` has it."""
    subject = f"Cannot {doing.format(path)}"
    try:
        if path.exists() and not path.is_file():
            raise ConfigurationError(f"{subject}: it is not a file")
        content = read_bytes(path, None)
    except OSError as error:
        raise ConfigurationError(f"{subject}: {error.strerror}") from error
    start: Record = {}
    results: dict[TestKey, Record] = {}
    is_whole = True
    *lines, rest = content.split(b"\n")
    for line in lines:
        record = _record(line)
        if record is None or not (start or record["type"] == "start"):
            is_whole = False
            break
        if record["type"] == "start":
            start = record
        elif record["type"] == "result":
            key = TestKey(suite=record.get("suite", ""), test=record["id"], run=record.get("run", 0))
            results[key] = record
        else:
            is_whole = False
    if not start and lines and content[:8] != b'{"type":' and content.strip(b"\0\n"):
        raise ConfigurationError(f"{subject}: it is not a .jsonl report of yao-test")
    if start and not _says_origin(start):
        raise ConfigurationError(
            f"{subject}: it does not say with which flags it was made",
            "A report of merge or regrade cannot be resumed; name the reports that it was made from",
        )
    if problem := start and made_problem(start):
        raise ConfigurationError(f"{subject}: {problem}", HINT)
    return Saved(
        path=path, start=start, results=list(results.values()), is_whole=is_whole and not rest, subject=subject
    )


def key_of(options: RunOptions, directory: Path) -> str:
    """The key that values of variables are hashed with in a report: that of the resumed report, else a new one."""
    if options.resume is not None:
        start = read_saved(absolute(options.resume, directory)).start
        if start and isinstance(start["resume"].get("key"), str):
            return str(start["resume"]["key"])
    return os.urandom(8).hex()


def _record(line: bytes) -> Record | None:
    """A line as a record, if the line is complete."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        return None
    if record["type"] != "result":
        return record
    from runner.results.result_problems import result_problem

    return None if result_problem(record) else record


def made_problem(start: Record) -> str | None:
    """Why the start line of a report does not say what was run, and with which options; None when it does."""
    if problem := start_problem(start):
        return problem
    origin = start.get("resume")
    options = origin.get("options", {}) if isinstance(origin, dict) else {}
    for name, value in options.items():
        if not _holds(str(RunOptions.__annotations__.get(name, "")), value):
            return f'the "{name}" of its options cannot be {json.dumps(value)[:40]}'
    return None


def _holds(kind: str, value: Any) -> bool:
    """Whether an option of this type can have a value, as the start line has it. An option of another version may have
    any."""
    if kind.startswith("tuple"):
        return isinstance(value, list) and all(isinstance(item, str) and is_utf8(item) for item in value)
    if kind.startswith("bool"):
        return isinstance(value, bool)
    if kind.startswith(("int", "float")):
        return is_number(value)
    return not kind or (isinstance(value, str) and is_utf8(value))


def _says_origin(start: Record) -> bool:
    origin = start.get("resume")
    return isinstance(origin, dict) and isinstance(origin.get("options"), dict)


class ResumeState(Value):
    """What a run takes from an earlier one, and what a later run can take from this one."""

    sources: list[CaseSource]
    """The cases, with their results of the earlier run."""
    retained: Retained | None = None
    """The results that are kept; None: there is no earlier run."""
    origin: Record | None = None
    """The content of `resume` in the start line of the report; None when the run writes no report that needs it."""
    warnings: tuple[str, ...] = ()
    resumed_report: LineFile | None = None
    """The open report that is continued; it is locked from before it was read."""

    @property
    def retained_count(self) -> int:
        """How many tests have a result of the earlier run."""
        if self.retained is None:
            return 0
        return len({(suite, record["id"]) for suite, kept in self.retained.results.items() for record in kept})


class Retained(Value):
    """The results that a run takes from the earlier one."""

    saved: Saved
    results: Mapping[str, list[Record]]
    """Suite id → its results, with the positions that their tests have in this run."""
    ended: Mapping[str, Mapping[str, Status]]
    """Suite id → its cases of which no run is repeated, with their statuses."""
    gaps: tuple[Gap, ...]
    """What runs again, as far as that is known before modules are loaded."""
    warnings: tuple[str, ...]

    def statuses(self, suite: str) -> dict[str, dict[int, Status]]:
        """Test → the status of each of its runs that has a result; 0 is the only run of a test that runs once."""
        found: dict[str, dict[int, Status]] = {}
        for record in self.results.get(suite, ()):
            found.setdefault(record["id"], {})[record.get("run", 0)] = record["status"]
        return found

    def places(self, suite: str) -> frozenset[int]:
        """The positions of the tests that have results."""
        return frozenset(record["position"] for record in self.results.get(suite, ()))

    @property
    def count(self) -> int:
        """How many results there are."""
        return sum(map(len, self.results.values()))


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


def check_application(named: str | None, directory: Path, subject: str, hint: str) -> None:
    """Raises ConfigurationError if a report was made in another application than the current one.

    Args:
        named: `--app` when the report was made, if the command line does not have it now.
        directory: the working directory.
        subject: the beginning of the message: what cannot be done with the report.
        hint: what to do; `{}` is the other application.
    """
    if not named:
        return
    theirs = (directory / named).resolve()
    try:
        ours = find_root(directory).resolve()
    except ConfigurationError:
        ours = directory.resolve()
        if theirs.is_relative_to(ours):
            return
    if theirs != ours:
        raise ConfigurationError(
            f"{subject}: it was made in the application {theirs}, and this is {ours}",
            hint.format(quote(named)),
        )


def check_walls(values: Mapping[str, Any], typed: RunOptions, directory: Path, subject: str, again: str) -> None:
    """Raises ConfigurationError if a report would set a flag that opens a wall.

    Args:
        values: what the report would set, by fields of `RunOptions`.
        typed: the options of the command line.
        subject: the beginning of the message: what cannot be done with the report.
        again: the command that names the report.
    """
    app = typed.app or values.get("app")
    try:
        root = directory / app if app else find_root(directory)
    except ConfigurationError:
        root = directory
    if walls := walls_in(values, root, directory):
        given = typed.replace(**walls).words(lambda flag: flag.name != "resume")
        raise ConfigurationError(
            f"{subject}: it was made with {taken_over(walls)}, which a report may not set",
            f"If that is what you want, type: {again} {join(given)}",
        )
