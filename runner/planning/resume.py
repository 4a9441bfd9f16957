"""`--resume OUTPUT.jsonl`: valid results of an earlier run are kept, everything else runs, and the same file continues.

The start line of a report has in `resume` how it was made: `{key, options, planned}`. Each result has a `fingerprint`
of what it depends on (`runner.fingerprints`).

| found in the report | what happens |
| --- | --- |
| another run is still writing it | a configuration error |
| a damaged line | it and everything after it are removed |
| lines of errors, warnings, stability and the summary | removed; the resumed run writes its own |
| a result that is still valid | kept |
| another result | its test runs again; the reason is printed (`runner.planning.gaps`) |
| other flags | a configuration error; another --timeout is only reported |
| another version of yao-test | is reported |
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from runner.cli.options import FLAGS, RunOptions, absolute
from runner.cli.shard import read_shard
from runner.errors import ConfigurationError
from runner.planning.gaps import Gap, holding
from runner.planning.kept_runs import Runs
from runner.planning.resume_origin import OTHER_APPLICATION, check_application, taken_over
from runner.planning.saved_run import RESUMING, Saved, read_saved
from runner.version import VERSION
from scripttest.typing_names import Record
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.cli.variants import Variant
    from runner.fingerprints.fingerprints import Fingerprints
    from runner.planning.case_source import CaseSource
    from runner.results.line_file import LineFile
    from runner.results.model import Suite, TestResult
    from scripttest import Status

COMPARED = (
    "name connector app user team locale ctx run tags variants until_decided runs repeat min_pass_rate threshold "
    "require_judge judge_samples judge_connector on_inconclusive simulator interactive skip_interactive "
    "on_missing_input before after strict lenient record replay record_missing allow_net "
    "allow_exec update_snapshots shard profile strict_db"
).split()
"""Options that a resumed run takes from the earlier run, and that must not change."""
FROM_FILE = (
    "connector user team locale ctx threshold require_judge simulator interactive skip_interactive on_missing_input "
    "before after strict lenient strict_db timeout"
).split()
"""Options that come from the configuration file as it is now, unless the command line of the first run had them:
results show whether they were made with others."""
GUARDING = ("require_trust", "trust_from", "sandbox")
"""Options that it takes too, and that may change."""
LISTED = 1000
"""The start of a report lists the ids of at most this many cases of one input; of more it has only the number."""


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


def with_saved_options(
    options: RunOptions, directory: Path, doing: str = RESUMING, elsewhere: str = OTHER_APPLICATION
) -> RunOptions:
    """The options of a run that is resumed: what the command line leaves open is as it was. Raises ConfigurationError
    when it says something else; `doing` is as for `read_saved`, `elsewhere` what to do about a report of another
    application."""
    assert options.resume is not None
    saved = read_saved(absolute(options.resume, directory), doing)
    if not saved.start:
        if not options.inputs:
            raise ConfigurationError(f"{saved.subject}: it has no whole line", "Say with -i what to run")
        return options
    before = saved.options
    if options.app is None:
        check_application(before.get("app"), directory, saved.subject, elsewhere)
    defaults = RunOptions(inputs=())
    before = _typed(saved)
    values: Record = {}
    for key in ("inputs", *COMPARED):
        default, now = getattr(defaults, key), getattr(options, key)
        then = before.get(key, default)
        then = tuple(then) if isinstance(then, list) else read_shard(then) if key == "shard" and then else then
        if key == "variants":
            then = _variants(then)
        if now == default:
            values[key] = then
        elif now != then:
            raise ConfigurationError(
                f"{saved.subject}: it was made with {_flag(key, then)}, not with {_flag(key, now)}",
                "Give the same flags or none, or begin a new report with -o",
            )
    if options.timeout is None:
        values["timeout"] = before.get("timeout")
    values |= {key: before[key] for key in GUARDING if key in before and not getattr(options, key)}
    return options.replace(**values)


def _typed(saved: Saved) -> Record:
    """The options that the command line of a run set."""
    read = saved.start["resume"].get("from_file", ())
    return {name: value for name, value in saved.options.items() if name not in read}


def _variants(texts: Any) -> tuple[Variant, ...]:
    from runner.cli.variants import read_variant

    return tuple(map(read_variant, texts))


def take_up(
    options: RunOptions,
    typed: RunOptions,
    sources: list[CaseSource],
    suites: tuple[Suite, ...],
    directory: Path,
    fingerprints: Fingerprints,
) -> ResumeState:
    """Reads the report that `--resume` names, and removes all results from it that are not kept. Raises
    ConfigurationError, also when another run still writes the report. `typed` are the options without those of the
    configuration file."""
    origin = origin_of(options, typed, sources, fingerprints.parts.key)
    if options.resume is None:
        return ResumeState(sources=sources, origin=origin)
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
    before = _typed(retained.saved) if retained.saved.start else {}
    taken = [f"flags taken from {options.resume}: {taken_over(before)}"] if before else []
    return ResumeState(
        sources=done,
        retained=retained,
        origin=origin,
        warnings=(said, *taken, *retained.warnings),
        resumed_report=file,
    )


def origin_of(options: RunOptions, typed: RunOptions, sources: Iterable[CaseSource], key: str) -> Record:
    """`{key, options, from_file?, planned}` of the start line; `from_file` names the options that the configuration
    file has said, `planned` is `{suite: {cases, ids?}}`."""
    defaults = RunOptions(inputs=())
    kept = ("inputs", "timeout", *COMPARED, *GUARDING)
    given = {name: getattr(options, name) for name in kept if getattr(options, name) != getattr(defaults, name)}
    if options.shard is not None:
        given["shard"] = str(options.shard)
    if options.variants:
        given["variants"] = list(map(str, options.variants))
    planned: dict[str, Record] = {}
    for source in sources:
        planned[source.suite.name] = {"cases": source.selected}
        if source.selected <= LISTED:
            planned[source.suite.name]["ids"] = [located.case.id for located in source.cases()]
    read = [name for name in FROM_FILE if name in given and getattr(typed, name) != getattr(options, name)]
    return {"key": key, "options": given, **({"from_file": read} if read else {}), "planned": planned}


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
    said = [*_differences(saved, options, found.incomparable), *(gap.text for gap in found.gaps)]
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
    options = {name: value for name, value in before["options"].items() if name not in FROM_FILE}
    options |= {name: value for name, value in origin["options"].items() if name in FROM_FILE}
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


def _differences(saved: Saved, options: RunOptions, incomparable: int) -> Iterator[str]:
    """Warnings about kept results that were made with other options."""
    if not saved.start:
        return
    then, now = saved.options.get("timeout"), options.timeout
    if then != now:
        yield f"--timeout is not what it was when the kept results were made: {_seconds(now)}, not {_seconds(then)}"
    version = saved.start.get("version")
    if version != VERSION:
        yield f"{saved.path.name} was begun by yao-test {version}, and this is {VERSION}"
    if incomparable:
        yield f"{incomparable} kept results are of another version, which cannot tell whether they still hold"


def _seconds(value: float | None) -> str:
    return "the default" if value is None else f"{value:g}s"


def _flag(key: str, value: Any) -> str:
    flag = "-i" if key == "inputs" else next(f"--{flag.name}" for flag in FLAGS if flag.field == key)
    if value is None or value is False or value == ():
        return f"no {flag}"
    if value is True:
        return flag
    return " ".join(f"{flag} {item}" for item in (value if isinstance(value, tuple) else (value,)))
