"""Runs and failures as answers: what comes first, and in which words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from runner.environment import Environment
from runner.execution.outcome import JsonLines, bounded
from runner.mcp_server.answers import Answer, shown
from runner.options.options import RunOptions
from runner.record.coverage import coverage_in, figures, totals, uncovered
from runner.record.model import Suite, suite_in
from runner.record.story import shown_lines
from scripttest import Status
from scripttest.typing_names import Record

MESSAGE, VALUE = 700, 500
"""Characters of a message and of a value in a list."""
DETAIL = 2_500
"""Characters of each detail of one failure."""


UNNOTICED = "missed"
"""The verdict on a change of an answer that no assertion noticed."""


class RunLines(JsonLines):
    """What `--json=lines` prints of a run."""

    def __init__(self, lines: Iterable[Record] = (), environment: Environment | None = None) -> None:
        """`lines` are those that were printed; without them, a run that is kept is told to `on_event`, and
        `environment` is from where files are named."""
        super().__init__(RunOptions(), environment)  # type: ignore[arg-type]
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
        return sorted((one for one in self.results if one["status"] == Status.FAILED), key=self._place)

    @property
    def coverage(self) -> Mapping[str, Record]:
        """Coverage by file; empty without it."""
        found = coverage_in(self.summary)
        return {} if found is None else found.files

    def failures_of(self, test: str) -> list[Record]:
        """Those of a test."""
        return [line for line in self.failures if line["test"] == test]

    def _place(self, line: Record) -> int:
        return self._places[line["suite"]]

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
    return "  ".join(
        [
            *([item["input"]] if several else []),
            item["test"],
            *([place_in(item)] if "file" in item else []),
            _said(item),
        ]
    )


def place_in(item: Record) -> str:
    """The file, and the line if there is one, of a failure or a mutant."""
    return f"{item['file']}:{item['line']}" if "line" in item else str(item["file"])


def _said(item: Record) -> str:
    """What was expected, and was there instead."""
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
            found += [
                {
                    **place,
                    "mutator": one["kind"],
                    "original": str(one["about"] or ""),
                    "replacement": _text(one["answer"]),
                }
                for one in case["changes"]
                if one["verdict"] == UNNOTICED
            ]
    for rule in (prompts or {}).get("rules", ()):
        files.append(rule["agent"])
        if rule["verdict"] != "held":
            said = {"file": rule["agent"], "status": rule["verdict"], "mutator": "rule", "original": rule["rule"]}
            found.append({**said, "replacement": "", "reached_by": rule["held_by"]})
    return files, found
