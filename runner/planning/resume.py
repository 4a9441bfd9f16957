"""`--resume OUTPUT.jsonl`: what an earlier run has reported is kept, the rest runs, and the same file goes on.

The start line of a report holds under `resume` what it was made of: `{options, inputs: {suite: hash}, agents: {agent:
hash}}`; the line of a case has a hash of the case, `digest`.

| what is found | what happens |
| --- | --- |
| another run that still writes it | a configuration error |
| a torn line, and all behind it | cut off |
| lines of errors, warnings, stability and the summary | left out; the resumed run writes its own |
| a result that was cut short, or of which the cause is `infrastructure` | runs again |
| a case or a test module that has changed | runs again, which is said |
| a case that is gone | left out, which is said |
| other flags | a configuration error; another --timeout is only said |
| changed files of an agent | said |
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.cli.options import RunOptions, absolute
from runner.cli.shard import read_shard
from runner.errors import ConfigurationError
from runner.planning.resume_origin import check_application, taken_over
from runner.results.verdict import Verdict, verdict_in
from runner.security.files import read_bytes
from scripttest import Status
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.application.application import Application, TestModule
    from runner.cases.model import Case
    from runner.planning.case_source import CaseSource
    from runner.reporters.files.line_file import LineFile
    from runner.results.model import Suite, TestResult

Record = dict[str, Any]

COMPARED = (
    "name connector app user team ctx run runs min_pass_rate threshold require_judge simulator interactive "
    "skip_interactive on_missing_input before after strict lenient replay shard"
).split()
"""Options with which a result may be another one."""
_READ_AT_ONCE = 1 << 20


class Saved(Value):
    """What there is of a report."""

    path: Path
    start: Record
    """Its first line; empty when there is none."""
    results: list[Record]
    """Results that count, one for each test and run."""
    is_whole: bool
    """Whether the file has nothing but them."""


class ResumeState(Value):
    """What a run takes from an earlier one, and what a later one can take from it."""

    sources: list[CaseSource]
    """With what is done of them."""
    retained: Retained | None = None
    """None: the run begins from nothing."""
    fingerprint: Record | None = None
    """What the start line says of it; None when no report needs it."""
    warnings: tuple[str, ...] = ()
    resumed_report: LineFile | None = None
    """The report that goes on, held from before it was read."""

    @property
    def retained_count(self) -> int:
        """How many tests have a result of the earlier run."""
        if self.retained is None:
            return 0
        return len({(suite, record["id"]) for suite, kept in self.retained.results.items() for record in kept})


class Retained(Value):
    """What a run takes over."""

    saved: Saved
    results: dict[str, list[Record]]
    """Suite id → its results, with the positions that they have in this run."""
    warnings: list[str]

    @property
    def options(self) -> Record:
        """The flags that the report was made with."""
        found: Record = self.saved.start.get("resume", {}).get("options", {})
        return found

    def statuses(self, suite: str) -> dict[str, dict[int, Status]]:
        """Test → how its runs ended that have results; 0 stands for the only one."""
        found: dict[str, dict[int, Status]] = {}
        for record in self.results.get(suite, ()):
            found.setdefault(record["id"], {})[record.get("run", 0)] = record["status"]
        return found

    def places(self, suite: str) -> frozenset[int]:
        """The positions of the tests that have results."""
        return frozenset(record["position"] for record in self.results.get(suite, ()))


def read_saved(path: Path) -> Saved:
    """Reads a report as far as its lines are whole. Raises ConfigurationError when there is none."""
    try:
        content = read_bytes(path, None)
    except OSError as error:
        raise ConfigurationError(f"Cannot resume {path}: {error.strerror}") from error
    start: Record = {}
    results: dict[tuple[str, str, int], Record] = {}
    is_whole = True
    *lines, rest = content.split(b"\n")
    for line in lines:
        record = _record(line)
        if record is None or not (start or record["type"] == "start"):
            is_whole = False
            break
        if record["type"] == "start":
            start = record
        elif record["type"] == "result" and _counts(record):
            results[record.get("suite", ""), record["id"], record.get("run", 0)] = record
        else:
            is_whole = False
    if not start and lines and content[:8] != b'{"type":' and content.strip(b"\0\n"):
        raise ConfigurationError(f"Cannot resume {path}: it is no .jsonl report of yao-test")
    if start and not _says_origin(start):
        raise ConfigurationError(f"Cannot resume {path}: it does not say what it was made of", "Run without --resume")
    return Saved(path=path, start=start, results=list(results.values()), is_whole=is_whole and not rest)


def with_saved_options(options: RunOptions, directory: Path) -> RunOptions:
    """The options of a run that is resumed: what the command line leaves open is as it was. Raises ConfigurationError
    when it says something else."""
    assert options.resume is not None
    saved = read_saved(absolute(options.resume, directory))
    if not saved.start:
        if not options.inputs:
            raise ConfigurationError(f"Cannot resume {saved.path}: it has no whole line", "Say with -i what to run")
        return options
    before = saved.start["resume"]["options"]
    if options.app is None:
        check_application(saved.path, before.get("app"), directory)
    defaults = RunOptions(inputs=())
    values: Record = {}
    for key in ("inputs", *COMPARED):
        default, now = getattr(defaults, key), getattr(options, key)
        then = before.get(key, default)
        then = tuple(then) if isinstance(then, list) else read_shard(then) if key == "shard" and then else then
        if now == default:
            values[key] = then
        elif now != then:
            raise ConfigurationError(
                f"Cannot resume {saved.path}: it was made with {_flag(key, then)}, not with {_flag(key, now)}",
                "Give the same flags or none, or begin a new report with -o",
            )
    return options.replace(**values)


def take_up(
    options: RunOptions,
    application: Application,
    modules: list[TestModule],
    sources: list[CaseSource],
    suites: tuple[Suite, ...],
    directory: Path,
) -> ResumeState:
    """Reads what `--resume` names, and leaves in that file what is kept. Raises ConfigurationError, also when another
    run still writes it."""
    now = fingerprint_of(options, application, modules, sources)
    if options.resume is None:
        return ResumeState(sources=sources, fingerprint=now)
    path = absolute(options.resume, directory)
    file = _open(path)
    retained = keep(read_saved(path), now, sources, suites, options.runs)
    cut(retained, file)
    done = [source.replace(done=retained.statuses(source.suite.id)) for source in sources]
    count = sum(map(len, retained.results.values()))
    said = f"{count} results of {options.resume} are kept"
    taken = [f"{options.resume} says what to run: {taken_over(before)}"] if (before := retained.options) else []
    return ResumeState(
        sources=done,
        retained=retained,
        fingerprint=now,
        warnings=(said, *taken, *retained.warnings),
        resumed_report=file,
    )


def fingerprint_of(
    options: RunOptions,
    application: Application,
    modules: list[TestModule],
    sources: list[CaseSource],
) -> Record:
    """`{options, inputs, agents}` of the start line. Reads the files of all inputs."""
    defaults = RunOptions(inputs=())
    kept = ("inputs", "timeout", *COMPARED)
    given = {key: getattr(options, key) for key in kept if getattr(options, key) != getattr(defaults, key)}
    if options.shard is not None:
        given["shard"] = str(options.shard)
    inputs = {module.id: _hash([module.test, *([module.script] if module.script else [])]) for module in modules}
    inputs |= {source.suite.name: _hash([Path(source.suite.file)]) for source in sources if source.suite.file}
    agents = {source.assistant.id: source.assistant.folder for source in sources}
    folders = dict(application.agents())
    agents |= {module.agent: folders[module.agent] for module in modules if module.agent in folders}
    return {
        "options": given,
        "inputs": inputs,
        "agents": {id: _hash(_files_of(folder)) for id, folder in sorted(agents.items())},
    }


def keep(saved: Saved, now: Record, sources: Iterable[CaseSource], suites: Iterable[Suite], runs: int) -> Retained:
    """What of a report still holds. Raises ConfigurationError when it has results of inputs that this run has not."""
    known = {suite.name: suite for suite in suites}
    of_cases = {source.suite.name: source for source in sources}
    found: dict[str, list[Record]] = {}
    for record in saved.results:
        if record["suite"] not in known:
            raise ConfigurationError(
                f"Cannot resume {saved.path}: it has results of {record['suite']}, which this run does not test",
                "Run it from the same folder, with the same -i",
            )
        found.setdefault(record["suite"], []).append(record)
    before = saved.start.get("resume", {})
    warnings = list(_said(before, now))
    kept: dict[str, list[Record]] = {}
    for id, records in found.items():
        suite = known[id]
        changed = before["inputs"].get(id) != now["inputs"].get(id) or suite.is_generated
        if id in of_cases:
            records, said = _current(of_cases[id], records) if changed else (records, [])
        else:
            records, said = _of_module(records, runs, changed)
        warnings += [f"{suite.label}: {text}" for text in said]
        kept[suite.id] = records
    return Retained(saved=saved, results=kept, warnings=warnings)


def cut(retained: Retained, file: LineFile) -> None:
    """Leaves in the file what is kept of it. Raises ConfigurationError."""
    saved = retained.saved
    results = [record for records in retained.results.values() for record in records]
    if saved.is_whole and len(results) == len(saved.results):
        return
    records = [*([saved.start] if saved.start else []), *results]
    try:
        file.replace(json.dumps(record, ensure_ascii=False) for record in records)
    except OSError as error:
        raise ConfigurationError(f"Cannot resume {saved.path}: {error.strerror}") from error


def results_of(retained: Retained, suites: Iterable[Suite]) -> Iterator[TestResult]:
    """The kept results, as the stream has them."""
    from runner.results.result_json import result_of

    for suite in suites:
        for record in retained.results.get(suite.id, ()):
            result = result_of(suite, record["position"], record, suite.root)
            yield result.replace(name=record["id"], run=record.get("run", 0), record=record)


def digest_of(case: Case) -> str:
    """A hash of what a case says."""
    return blake2b(case.model_dump_json(exclude_unset=True).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _open(path: Path) -> LineFile:
    from runner.reporters.files.line_file import LineFile

    try:
        return LineFile(path, keep=True)
    except OSError as error:
        raise ConfigurationError(f"Cannot resume {path}: {error.strerror}") from error


def _record(line: bytes) -> Record | None:
    """A line that is whole."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        return None
    if record["type"] != "result":
        return record
    from runner.results.saved import result_problem

    return None if result_problem(record) else record


def _says_origin(start: Record) -> bool:
    fingerprint = start.get("resume")
    return isinstance(fingerprint, dict) and all(
        isinstance(fingerprint.get(key), dict) for key in ("options", "inputs", "agents")
    )


def _counts(record: Record) -> bool:
    from runner.results.case_json import is_cut_short

    return not (verdict_in(record) is Verdict.BROKEN or is_cut_short(record))


def _current(source: CaseSource, records: list[Record]) -> tuple[list[Record], list[str]]:
    """Results of cases that are as they were, at their places, and what is to be said of the others."""
    ids = {record["id"] for record in records}
    now = {case.id: (position, digest_of(case)) for position, (_, case) in enumerate(source.cases()) if case.id in ids}
    kept, changed = [], set()
    for record in records:
        position, digest = now.get(record["id"], (0, None))
        if digest is not None and digest == record.get("digest"):
            kept.append({**record, "position": position})
        elif digest is not None:
            changed.add(record["id"])
    gone = ids - now.keys()
    said = [f"changed since, so they run again: {_listed(changed)}"] if changed else []
    return kept, said + ([f"gone since, so their results are left out: {_listed(gone)}"] if gone else [])


def _of_module(records: list[Record], runs: int, changed: bool) -> tuple[list[Record], list[str]]:
    """Results of tests that have all their runs; what stands for a module that did not load is none."""
    if changed:
        return [], ["changed since, so its tests run again"]
    counts: dict[str, int] = {}
    for record in records:
        counts[record["id"]] = counts.get(record["id"], 0) + 1
    return [record for record in records if counts[record["id"]] == runs and record["id"].startswith("Test")], []


def _said(before: Record, now: Record) -> Iterator[str]:
    if not before:
        return
    then, this = before["options"].get("timeout"), now["options"].get("timeout")
    if then != this:
        yield f"--timeout is not what it was when the kept results were made: {_seconds(this)}, not {_seconds(then)}"
    for id, digest in now["agents"].items():
        if before["agents"].get(id, digest) != digest:
            yield f"The files of {id} have changed since the kept results were made; without --resume all would run"


def _seconds(value: float | None) -> str:
    return "the default" if value is None else f"{value:g}s"


def _listed(ids: Iterable[str]) -> str:
    names = sorted(ids)
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def _flag(key: str, value: Any) -> str:
    flag = "-i" if key == "inputs" else f"--{key.replace('_', '-')}"
    if value is None or value is False or value == ():
        return f"no {flag}"
    if value is True:
        return flag
    return " ".join(f"{flag} {item}" for item in (value if isinstance(value, tuple) else (value,)))


def _files_of(folder: Path) -> list[Path]:
    """What an agent is made of, without its cases and the agents in it."""
    own = [path for path in folder.iterdir() if path.is_file() and path.suffix in (".yao", ".yml", ".yaml", ".json")]
    source = folder / "src"
    return sorted(own) + sorted(path for path in source.rglob("*") if path.is_file() and path.suffix in (".ts", ".js"))


def _hash(paths: Iterable[Path]) -> str:
    digest = blake2b(digest_size=12)
    for path in paths:
        digest.update(f"{path.name}\0".encode("utf-8", "surrogateescape"))
        try:
            with path.open("rb") as file:
                while part := file.read(_READ_AT_ONCE):
                    digest.update(part)
        except OSError:
            continue
    return digest.hexdigest()
