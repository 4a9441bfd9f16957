"""`--resume OUTPUT.jsonl`: valid results of an earlier run are kept, everything else runs, and the same file continues.

The start line of a report says how it was made (`origin_of`). Each result has a `fingerprint` of what it depends on
(`runner.fingerprints`). Refused are reports of another application, and flags of a report that only the command line
may set."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import join, quote

from runner.application.application import find_root
from runner.errors import ConfigurationError
from runner.options.flags import Carried, Flag
from runner.options.options import FLAGS, TYPED, RunOptions, absolute, saved_values, spelled, taken_over, walls_in
from runner.planning.plan import CaseSource, Retained, RunPlan
from runner.record.checks import HINT, SEVERAL, TO_MERGE, is_number, result_problem, start_problem
from runner.record.lines import result_of
from runner.record.writing import is_utf8
from runner.security.files import read_bytes
from runner.version import VERSION
from scripttest import TestKey
from scripttest.typing_names import Record
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.fingerprints.fingerprints import Fingerprints
    from runner.record.model import Suite, TestResult
    from runner.record.writing import LineFile

LISTED = 1000
"""The start of a report lists the ids of at most this many cases of one input; of more it has only the number."""


def origin_of(
    options: RunOptions,
    typed: RunOptions,
    sources: Iterable[CaseSource],
    key: str,
    failed: Mapping[str, list[str]],
) -> Record:
    """`{key, options, from_file?, failed?, planned}` of the start line; `from_file` names the options that the
    configuration file has said, `failed` are the tests that `--last-failed` selects, by the keys of their suites, and
    `planned` is `{suite: {cases, ids?}}`, by which `merge` knows what is missing."""
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


def take_up(plan: RunPlan, fingerprints: Fingerprints) -> RunPlan:
    """Reads the report of `--resume`, and cuts all lines that are not kept; the plan with what is kept, and warnings.
    Raises ConfigurationError."""
    from runner.planning.still_valid import retain
    from runner.record.writing import LineFile

    options, origin = plan.options, plan.origin
    assert options.resume is not None and origin is not None
    path = absolute(options.resume, plan.environment.directory)
    try:
        file = LineFile(path, keep=True)
    except OSError as error:
        raise ConfigurationError(f"Cannot resume {path}: {error.strerror}") from error
    saved = read_saved(path)
    retained = retain(saved.results, saved.subject, plan, fingerprints)
    _cut(saved, retained, file, origin)
    kept = "result of {} is kept" if retained.count == 1 else "results of {} are kept"
    before = saved_values(saved.options)
    shown = taken_over({name: value for name, value in before.items() if name not in saved.file_options})
    taken = [f"flags taken from {options.resume}: {shown}"] if shown else []
    reruns = [rerun.text for rerun in retained.reruns]
    said = [f"{retained.count} {kept.format(options.resume)}", *taken, *differences(saved, options), *reruns]
    return plan.replace(
        sources=tuple(map(retained.source, plan.sources)),
        warnings=(*plan.warnings, *said),
        retained=retained.replace(report=file),
    )


def differences(saved: SavedRun, options: RunOptions) -> Iterator[str]:
    """Warnings about kept results that were made with other options."""
    if not saved.start:
        return
    then, now = (
        "the default" if value is None else f"{value:g}s" for value in (saved.options.get("timeout"), options.timeout)
    )
    if then != now:
        yield f"--timeout differs from that of the kept results: {now}, not {then}"
    version = saved.start.get("version")
    if version != VERSION:
        yield f"{saved.path.name} was started by yao-test {version}, but this is {VERSION}"


def _cut(saved: SavedRun, retained: Retained, file: LineFile, origin: Record) -> None:
    """Rewrites the report: it keeps the valid results, and lists the tests that are planned now."""
    results = [result.line for kept in retained.results.values() for result in kept]
    start: Record = {}
    if saved.start:  # the configuration file may have changed
        before, again = saved.start["resume"], {flag.field for flag in FLAGS if flag.is_read_again}
        options = {name: value for name, value in before["options"].items() if name not in again}
        options |= {name: value for name, value in origin["options"].items() if name in again}
        known = {name: value for name, value in before.items() if name != "from_file"}
        start = {**saved.start, "resume": {**known, **origin, "key": before["key"], "options": options}}
    if saved.is_whole and len(results) == len(saved.results) and start == saved.start:
        return
    records = [*([start] if start else []), *results]
    try:
        file.replace(json.dumps(record, ensure_ascii=False) for record in records)
    except OSError as error:
        raise ConfigurationError(f"Cannot resume {saved.path}: {error.strerror}") from error


def results_of(retained: Retained, suites: Iterable[Suite]) -> Iterator[TestResult]:
    """The kept results as they are in events of this run."""
    from runner.record.lines import below, result_of

    for suite in suites:
        for result in retained.results.get(suite.id, ()):
            yield result_of(result.line, suite=suite.id, outcome=below(suite.root, result.outcome), is_resumed=True)


RESUMING = "resume {}"
ELSEWHERE = "Run the command in that application's folder"
OTHER_APPLICATION = "If it is yours, pass --app {}; otherwise start a new report with -o"


class SavedRun(Value):
    """The content of a report."""

    path: Path
    start: Record
    """Its first line as a record; empty when there is none."""
    results: Sequence[TestResult]
    """Its results, the last one for each test and run."""
    is_whole: bool
    """Whether the file has only these lines."""
    end: Record
    """Its summary; empty when it has none."""
    subject: str
    """The beginning of errors about it: what cannot be done with it."""

    @property
    def options(self) -> Record:
        """The flags of the run, by the names of `RunOptions`; those that were not given are left out."""
        return self.start["resume"]["options"] if self.start else {}

    @property
    def file_options(self) -> Sequence[str]:
        """Those of them that the configuration file has set."""
        return self.start["resume"].get("from_file", ()) if self.start else ()


def lines_in(path: Path, subject: str) -> list[bytes]:
    """The lines of a report; none where there is no file. Raises ConfigurationError, which begins with `subject`."""
    try:
        if path.exists() and not path.is_file():
            raise ConfigurationError(f"{subject}: it is not a file")
        return read_bytes(path, None).split(b"\n")
    except OSError as error:
        raise ConfigurationError(f"{subject}: {error.strerror}") from error


def record_in(line: bytes) -> Record | None:
    """A line as a record, if the line is complete."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        return None
    return None if record["type"] == "result" and result_problem(record) else record


def read_saved(path: Path, doing: str = RESUMING) -> SavedRun:
    """Reads a report as far as its lines are whole. `doing`: for the ConfigurationError when there is none."""
    subject = f"Cannot {doing.format(path)}"
    *lines, rest = lines_in(path, subject)
    start: Record = {}
    end: Record = {}
    results: dict[TestKey, TestResult] = {}
    is_whole = not rest
    for line in lines:
        record = record_in(line)
        if record is None or not (start or record["type"] == "start"):
            is_whole = False
            break
        if record["type"] == "start":
            if start:
                raise ConfigurationError(f"{subject}: {SEVERAL}", TO_MERGE)
            start = record
        elif record["type"] == "result":
            key = TestKey(suite=record.get("suite", ""), test=record["id"], run=record.get("run", 0))
            results[key] = result_of({**record, "suite": key.suite})
        else:
            is_whole = False
            end = record if record["type"] == "summary" else end
    if not start and lines and lines[0][:8] != b'{"type":' and any(line.strip(b"\0") for line in (*lines, rest)):
        raise ConfigurationError(f"{subject}: it is not a .jsonl report of yao-test")
    origin = start.get("resume")
    if start and not (isinstance(origin, dict) and isinstance(origin.get("options"), dict)):
        raise ConfigurationError(
            f"{subject}: its flags are unknown",
            "Reports of merge and regrade cannot be resumed; resume the original reports",
        )
    if problem := start and made_problem(start):
        raise ConfigurationError(f"{subject}: {problem}", HINT)
    return SavedRun(path=path, start=start, results=list(results.values()), is_whole=is_whole, end=end, subject=subject)


def with_saved_options(
    saved: SavedRun, options: RunOptions, directory: Path, *, only_compares: bool = False
) -> RunOptions:
    """The options of a run that is resumed: what the command line leaves open is as it was. Raises ConfigurationError
    when it says something else, and for a flag that only the command line may set. `only_compares`: for `status`, which
    opens nothing that flags of the report permit."""
    assert options.resume is not None
    if not saved.start:
        if not options.inputs:
            raise ConfigurationError(f"{saved.subject}: it has no complete line", "Pass the tests with -i")
        return options
    before = saved_values(saved.options)
    if options.app is None:
        elsewhere = ELSEWHERE if only_compares else OTHER_APPLICATION
        check_application(before.get("app"), directory, saved.subject, elsewhere)
    values: Record = {}
    for flag in FLAGS:
        if flag.carried is Carried.NO:
            continue
        then, now = before.get(flag.field, flag.default), getattr(options, flag.field)
        if now == flag.default:
            if not (flag.is_read_again and flag.field in saved.file_options):
                values[flag.field] = then
        elif flag.carried not in (Carried.OPEN, Carried.GUARD) and not _is_same(flag, then, now, directory):
            raise ConfigurationError(
                f"{saved.subject}: it was made with {spelled(flag, then)}, not with {spelled(flag, now)}",
                "Use the same flags or none, or start a new report with -o",
            )
    if options.require_trust:  # approvals of the report's revision would be weaker
        values.pop("trust_from", None)
    used = {name: value for name, value in values.items() if not (only_compares and name in TYPED)}
    command = "status" if only_compares else "--resume"
    check_walls(used, options, directory, saved.subject, f"yao-test {command} {quote(options.resume)}")
    return options.replace(**values)


def check_application(named: str | None, directory: Path, subject: str, hint: str) -> None:
    """Raises ConfigurationError, whose message begins with `subject`, if a report was made in another application than
    that of the working directory. `named`: its `--app`. `hint`: what to do; `{}` is the other application."""
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
        message = f"{subject}: it was made in the application {theirs}, but this is {ours}"
        raise ConfigurationError(message, hint.format(quote(named)))


def check_walls(values: Mapping[str, Any], typed: RunOptions, directory: Path, subject: str, again: str) -> None:
    """Raises ConfigurationError, whose message begins with `subject`, if a report would set a flag that opens a wall.
    `values`: what it would set, by fields of `RunOptions`. `typed`: the command line. `again`: the command that names
    the report."""
    app = typed.app or values.get("app")
    try:
        root = directory / app if app else find_root(directory)
    except ConfigurationError:
        root = directory
    if walls := walls_in(values, root, directory):
        given = typed.replace(**walls).words(lambda flag: flag.name != "resume")
        raise ConfigurationError(
            f"{subject}: it was made with {taken_over(walls)}, which cannot be taken from a report",
            f"To allow this, run: {again} {join(given)}",
        )


def made_problem(start: Record) -> str | None:
    """Why the start line of a report does not say what was run, and with which options; None when it does."""
    if problem := start_problem(start):
        return problem
    origin = start.get("resume")
    for name, value in origin.get("options", {}).items() if isinstance(origin, dict) else ():
        if not _holds(str(RunOptions.__annotations__.get(name, "")), value):
            return f'the "{name}" of its options cannot be {json.dumps(value)[:40]}'
    return None


def _is_same(flag: Flag, then: Any, now: Any, directory: Path) -> bool:
    """Whether two values of a flag mean the same: the configuration file names absolute paths."""

    def place(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(place, value))
        return value and os.path.normpath(directory / Path(value).expanduser())

    return bool(place(then) == place(now) if flag.is_path else then == now)


def _holds(kind: str, value: Any) -> bool:
    """Whether an option of this type can have a value of the start line; an unknown one may have any."""
    if kind.startswith("tuple"):
        return isinstance(value, list) and all(isinstance(item, str) and is_utf8(item) for item in value)
    if kind.startswith("bool"):
        return isinstance(value, bool)
    if kind.startswith(("int", "float")):
        return is_number(value)
    return not kind or (isinstance(value, str) and is_utf8(value))
