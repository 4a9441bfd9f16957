"""Runs and failures as answers: what comes first, and in which words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path

from runner.application.application import repository_of
from runner.compare.change_report import BeforeAfter
from runner.compare.change_verdict import change_between
from runner.compare.comparison import KINDS, compare
from runner.environment import Environment
from runner.errors import ConfigurationError, MissingError
from runner.execution.outcome import JsonOutcome, bounded
from runner.mcp_server.tools import Answer, nearest, shown
from runner.options.flags import LINES
from runner.options.options import RunOptions
from runner.record.coverage import coverage_in, figures, totals, uncovered
from runner.record.fold import Execution
from runner.record.model import Suite, suite_in
from runner.record.report import events_of
from runner.record.story import shown_lines
from runner.reporters.change_lines import fact_of
from runner.reporters.console.verdict_lines import sentences
from runner.store.places import FILE
from runner.store.store import Store
from runner.store.stored import StoredResult, key_of
from scripttest import Status
from scripttest.typing_names import Record
from scripttest.values import Value

MESSAGE, VALUE = 700, 500
"""Characters of a message and of a value in a list."""
DETAIL = 2_500
"""Characters of each detail of one failure."""


UNNOTICED = "missed"
"""The verdict on a change of an answer that no assertion noticed."""


class RunLines(JsonOutcome):
    """What `--json=lines` prints of a run."""

    def __init__(self, lines: Iterable[Record] = (), environment: Environment | None = None) -> None:
        """`lines` are those that were printed; without them, a run that is kept is told to `on_event`, and
        `environment` is from where files are named."""
        super().__init__(RunOptions(json=LINES), environment)  # type: ignore[arg-type]
        self.summary: Record = {}
        self.suites: dict[str, Suite] = {}
        self.results: list[Record] = []
        self.said: list[str] = []
        """Errors and warnings of the run, and hints."""
        self.run = ""
        """Its id."""
        for line in lines:
            self.tell(str(line["type"]), line)

    def tell(self, kind: str, line: Record) -> None:
        """Takes a line."""
        if kind == "start":
            self.suites = {suite["id"]: suite_in(suite) for suite in line["suites"]}
            self._places = {id: place for place, id in enumerate(self.suites)}
            self.run = str(line.get("run_id", ""))
        elif kind == "result":
            self.results.append(line)
        elif kind == "summary":
            self.summary = line
        else:
            self.said += [str(line[key]) for key in ("message", "hint") if line.get(key)]

    @property
    def has_begun(self) -> bool:
        """Whether there was a run."""
        return bool(self.suites)

    @property
    def failures(self) -> list[Record]:
        """The results of tests that failed or broke."""
        return sorted(
            (one for one in self.results if one["status"] == Status.FAILED), key=lambda one: self._places[one["suite"]]
        )

    @property
    def coverage(self) -> Mapping[str, Record]:
        """Coverage by file; empty without it."""
        found = coverage_in(self.summary)
        return {} if found is None else found.files

    def failures_of(self, test: str) -> list[Record]:
        """Those of a test."""
        return [line for line in self.failures if line["test"] == test]

    def input_of(self, line: Record) -> str:
        """The value of `-i` for the suite of a result."""
        return self.suites[line["suite"]].input


def run_answer(run: RunLines) -> Answer:
    """What a run came to, failures first."""
    summary = run.summary
    others = [
        {"input": run.input_of(line), "test": line["test"], "status": line["status"]}
        | ({"message": bounded(line["skip_reason"], MESSAGE)} if "skip_reason" in line else {})
        for line in run.results
        if line["status"] != Status.FAILED
    ]
    others.sort(key=lambda item: item["status"] == Status.PASSED)
    counts = {key: int(summary.get(key) or 0) for key in ("total", "passed", "failed", "skipped", "errors")}
    said = bounded([*run.said, *([f"stopped: {summary['stopped']}"] if summary.get("stopped") else [])])
    head: Record = {"run": run.run, "status": str(summary.get("status", "interrupted")), **counts}
    head |= {key: value for key, value in (("said", said), ("usage", summary.get("usage"))) if value}
    words = [f"{counts['passed']} passed", f"{counts['failed']} failed"]
    words += [f"{number} {word}" for word in ("errors", "skipped") if (number := counts[word])]
    title = [f"{', '.join(words)} (run {run.run})", *said]
    if run.coverage:
        files = uncovered_in(run.coverage)
        known = [file for file in files if file["lines"]][:20]
        head["coverage"] = {"totals": totals_of(run.coverage), "files": known}
        more = "; uncovered_lines has the others" if len(files) > 20 else ""
        title.append(f"coverage of lines: {head['coverage']['totals']['lines']['percent']} %{more}")
        title += [f"  {file['file']}: not covered {file['lines']}" for file in known]
    several = len(run.suites) > 1
    return Answer(
        title="\n".join(title),
        head=head,
        name="tests",
        items=[*(short(line, run) for line in run.failures), *others],
        told=lambda item: line_of(item, several),
        first=len(run.failures),
    )


def short(line: Record, run: RunLines) -> Record:
    """A failure in a list."""
    problem = _problem(line)
    found = {"input": run.input_of(line), "test": line["test"], "status": "error" if line["broken"] else "failed"}
    found |= {key: line[key] for key in ("file", "line") if key in line}
    found["message"] = bounded(problem.get("message") or line["message"], MESSAGE)
    return found | {key: bounded(problem[key], VALUE) for key in ("expected", "actual") if key in problem}


def _problem(line: Record) -> Record:
    """What a failure comes from: that of its first subtest which failed by itself."""
    for one in line.get("subtests") or ():
        for problem in one["problems"]:
            if problem.get("type"):
                return {**problem, "message": f"{one['test']}: {problem['message']}"}
    return (line.get("problems") or [{}])[0]  # type: ignore[no-any-return]


def line_of(item: Record, several: bool) -> str:
    """A result in one line, as text."""
    if item["status"] != Status.FAILED:
        reason = f"  {item['message']}" if "message" in item else ""
        return f"{item['status']}  {item['input']}  {item['test']}{reason}"
    place = [place_in(item)] if "file" in item else []
    return "  ".join([*([item["input"]] if several else []), item["test"], *place, _said(item)])


def place_in(item: Record) -> str:
    """The file, and the line if there is one, of a failure or a mutant."""
    return f"{item['file']}:{item['line']}" if "line" in item else str(item["file"])


def _said(item: Record) -> str:
    values = [f"{key} {shown(item[key])}" for key in ("expected", "actual") if key in item]
    return str(item["message"]) + (f": {', '.join(values)}" if values else "")


def explained(run: RunLines, line: Record, note: str) -> Answer:
    """Why a test fails; `line` is its result, and `note` says when it failed."""
    known = short(line, run)
    problem = _problem(line)
    texts = {"code": problem.get("code_frame"), "diff": problem.get("diff"), "output": line.get("output")}
    details = {key: bounded(_text(value), DETAIL) for key, value in texts.items() if value}
    outside = [one for one in bounded(line.get("outside") or [], DETAIL) if isinstance(one, dict)]
    story = line.get("story") or []
    del known["status"]
    head = {**known, "cause": line["cause"], **details} | ({"note": note} if note else {})
    place = f", {place_in(known)}" if "file" in known else ""
    title = [f"{known['test']} of {known['input']} failed{f' ({note})' if note else ''}{place}", _said(known)]
    title += [*details.values(), *(f"outside: {shown(one)}" for one in outside)]
    title += [f"Run again: {line['run_again']}", *(["Story, oldest first:"] if story else [])]
    head |= {"outside": outside, "run_again": line["run_again"]}
    told = lambda one: shown_lines([one])[0]  # noqa: E731
    return Answer(title="\n".join(title), head=head, name="story", items=story, told=told, ends=True)


def _text(value: object) -> str:
    return value if isinstance(value, str) else shown(value)


def past(one: Record) -> str:
    """A test over time, or one of its runs, in one line."""
    if "verdict" in one:
        return f"{one.get('run', '')}  {one['verdict']}"
    rate = "" if one.get("pass_rate") is None else f"  {one['pass_rate']:.0%} of {one['judged']} passed"
    return f"{one['suite']} › {one['test']}  {', '.join(one['trends'])}{rate}"


def totals_of(files: Mapping[str, Record]) -> Record:
    """The figures of coverage of files."""
    return {
        metric: {"covered": figure.covered, "total": figure.total, "percent": figure.percent}
        for metric, figure in totals(files.values()).items()
    }


def uncovered_in(files: Mapping[str, Record]) -> list[Record]:
    """The files of coverage, the least covered first."""
    found = [
        {"file": path, "percent": figures(file)["lines"].percent, "lines": bounded(uncovered(file), VALUE)}
        for path, file in files.items()
    ]
    return sorted(found, key=lambda one: float(one["percent"]))


def survivors_in(
    handlers: Record | None, cases: Record | None, prompts: Record | None
) -> tuple[list[str], list[Record]]:
    """The files with mutants, and the mutants that nothing noticed, of the documents of the last runs of `mutate`. Of a
    case, `original` is what was changed and `replacement` the answer; of a prompt, `file` is the agent and `original`
    the rule that was left out."""
    shown = ("file", "line", "status", "mutator", "original", "replacement", "reached_by")
    found = [{key: one[key] for key in shown} for one in (handlers or {}).get("mutants", ())]
    files = [*(handlers or {}).get("files", ())]
    for file in (cases or {}).get("files", ()):
        files.append(file["file"])
        for case in file["cases"]:
            place = {"file": file["file"], "line": case["line"], "reached_by": [case["id"]], "status": "survived"}
            for one in case["changes"]:
                if one["verdict"] == UNNOTICED:
                    answer = {"original": str(one["about"] or ""), "replacement": _text(one["answer"])}
                    found.append({**place, "mutator": one["kind"], **answer})
    for rule in (prompts or {}).get("rules", ()):
        files.append(rule["agent"])
        if rule["verdict"] != "held":
            said = {"file": rule["agent"], "status": rule["verdict"], "mutator": "rule", "original": rule["rule"]}
            found.append({**said, "replacement": "", "reached_by": rule["held_by"]})
    return files, found


LOOKED_AT = 100
"""How many of the newest runs are looked through for a test."""


class KeptResult(Value):
    """The newest result of a test."""

    suite: Suite
    result: StoredResult


class KeptRuns:
    """The runs of a store."""

    def __init__(self, folder: Path, environment: Environment) -> None:
        """`environment` is that of commands, in the folder of the application."""
        self._folder, self._environment = folder, environment

    @contextmanager
    def _reading(self) -> Iterator[Store]:
        if not (self._folder / FILE).exists():
            raise MissingError("No run is stored yet", "Call run_tests first")
        with Store(self._folder) as store:
            yield store

    def result(self, test: str, input: str | None, run: str | None) -> KeptResult:
        """The newest result of a test, in the input and the run that are named, if they are. Raises
        MissingError when there is none, ConfigurationError for several."""
        with self._reading() as store:
            runs = [store.run(run)] if run else store.runs(limit=LOOKED_AT)
            names: dict[str, None] = {}
            for one in runs:
                suites = {key_of(suite): suite for suite in one.start.suites if not input or is_in(suite, input)}
                found = [one for one in store.results(one.id) if one.attempt == 0 and one.suite in suites]
                names |= dict.fromkeys(result.test for result in found)
                hits = [result for result in found if result.test == test]
                if len(hits) > 1:
                    those = ", ".join(suites[hit.suite].input for hit in hits[:10])
                    raise ConfigurationError(f"Several tests are named {test}", f"Name one of these inputs: {those}")
                if hits:
                    return KeptResult(suite=suites[hits[0].suite], result=hits[0])
        where = "".join(f" in {place}" for place in (input, run and f"run {run}") if place)
        raise MissingError(f"There is no stored result of {test}{where}", nearest(test, names, "results"))

    def line(self, kept: KeptResult) -> Record:
        """The whole result, as reports have it."""
        with self._reading() as store:
            return store.line(kept.result.seq)

    def run(self, kept: KeptResult) -> RunLines:
        """A run with this result alone."""
        result = kept.result
        with self._reading() as store:
            report = store.ended_tests(result.run, result.seq - 1, result.seq)
        run, so_far = RunLines(environment=self._environment), Execution()
        for event in events_of(report.replace(root=str(repository_of(self._environment.directory)))):
            so_far.add(event)
            run.on_event(event, so_far)
        run.summary = report.summary
        return run

    def newest(self, limit: int) -> list[tuple[str, str, str]]:
        """Id, time and state of the newest runs."""
        with suppress(MissingError), self._reading() as store:
            return [(run.id, run.started_at, run.state) for run in store.runs(limit=limit)]
        return []

    def difference(self, before: str | None, after: str | None) -> tuple[Record, list[Record]]:
        """`{before, after, verdict}` of two runs, and the changes, `{kind, input, test, fact, error?}`, regressions
        first. Raises ConfigurationError."""
        with self._reading() as store:
            newer = store.run(after or "latest").id
            older = store.run(before).id if before else _before(store, newer)
            if older is None:
                raise ConfigurationError(
                    f"There is no run before {newer} of the same tests", "Name it as before, or call run_tests again"
                )
            a, b = store.report(older), store.report(newer)
        verdict = change_between(a, b, names=BeforeAfter(a=older, b=newer))
        found = compare(a, b)
        changes = [
            {
                "kind": kind.key,
                "input": change.suite,
                "test": change.id,
                "fact": fact_of(kind.key, change),
                **({"error": change.error[:1000]} if change.error else {}),
            }
            for kind in KINDS
            for change in found.of(kind.key)
        ]
        return {"before": older, "after": newer, "verdict": " ".join(sentences(verdict))}, changes


def is_in(suite: Suite, input: str) -> bool:
    """Whether an input names a suite, or has it in it."""
    named = suite.input
    return (
        input in (named, suite.agent)
        or named.startswith((f"{input}.", f"{input.rstrip('/')}/"))
        or (suite.file.endswith(input) and bool(input))
        or fnmatch(named, input)
    )


def _before(store: Store, run: str) -> str | None:
    """The newest run before one that has a test in common with it."""
    ids = [one.id for one in store.runs()]
    tests = {*store.tests([run])}
    earlier = ids[ids.index(run) + 1 :][:LOOKED_AT]
    return next((one for one in earlier if not tests.isdisjoint(store.tests([one]))), None)
