"""The `.xml` report: JUnit XML by the schema of the Jenkins xUnit plugin (`junit-10.xsd`), with the attributes `file`
and `line` on test cases, which GitLab, CircleCI and others read.

A failed assertion is a `failure`; any other reason of a failure is an `error`. Something that broke outside any test is
an `error` of the test case `run` in a separate suite. Warnings of a result are in `system-err`."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from pathlib import PurePath
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from runner.record import result_texts
from runner.record.case_result import json_of
from runner.record.fold import Counts
from runner.record.lines import sizes
from runner.record.model import AGENT_TEST, SCRIPT_TEST, Suite, TestResult
from runner.record.outcomes import Verdict, error_text, log_members, stack_trace
from runner.record.report import Report
from runner.record.summary import certainty_of, counts_record, in_lines, usage_record
from runner.reporters.document import DocumentReporter
from runner.reporters.json_report import MARKS
from runner.security.terminal import inert
from scripttest import Cause
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.record.case_result import CaseResult, TurnResult
    from runner.record.summary import Certainty, Figures

TEXT_LIMIT = 131_072
"""Characters of one text that are written."""
COUNTED = ("tests", "failures", "errors")
"""What the whole document counts."""
BATCH = 100
"""Cases that are written at a time: as elements they take several times the memory of their text."""
END = "\n  </testsuite>"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufddf\ufffe\uffff]")


class JunitReporter(DocumentReporter):
    """Writes a document for CI servers."""

    unused = ("transcript", "tools", "sent", "metadata", "trials", "trace")

    def render(self, report: Report) -> str:
        """The document."""
        totals = Counter[str]()
        texts: list[str] = []
        suites = (_suite(report, suite, results) for suite, results in report.by_suite())
        for counts, parts in chain(suites, [_run_errors(report)] if report.errors else []):
            totals.update(counts)
            texts += parts
        counts = {key: totals[key] for key in COUNTED}
        time = _seconds(report.end.milliseconds)
        whole = Element("testsuites", _attributes({"name": "yao-test", **counts, "time": time}))
        whole.text = "\n"
        head, end = _written(whole).split("\n")
        return "".join([f"{DECLARATION}\n{head}\n", *texts, f"{end}\n"])


def _suite(report: Report, suite: Suite, results: list[TestResult]) -> tuple[dict[str, int], list[str]]:
    """What a suite counts, and the parts of its text."""
    counts = report.counts_of(suite, results)
    numbers = {"tests": counts.total, "failures": counts.failed, "errors": counts.errors}
    file = suite.place
    attributes = {
        "name": suite.id,
        **numbers,
        "skipped": counts.skipped,
        "time": _seconds(counts.milliseconds),
        "timestamp": report.start.started_at.removesuffix("Z"),
        "file": file,
    }
    element = Element("testsuite", _attributes(attributes))
    inner = SubElement(element, "properties")
    for name, value in _properties(report, suite, counts).items():
        if value or value == 0:
            SubElement(inner, "property", _attributes({"name": name, "value": value}))
    indent(element, level=1)
    texts = [_written(element).removesuffix(END)]
    stem = PurePath(suite.label).stem if suite.file else suite.label
    stem += f"-{suite.variant}" if suite.variant else ""
    class_name = f"{suite.agent}.{stem}".strip(".") if suite.has_cases else suite.id
    same = (_legal(class_name), _legal(file))
    for start in range(0, len(results), BATCH):
        cases = Element("testsuite")
        for result in results[start : start + BATCH]:
            _case(cases, suite, same, result)
        indent(cases, level=1)
        texts.append(_written(cases).removeprefix("<testsuite>").removesuffix(END))
    return numbers, ["  ", *texts, f"{END}\n"]


def _properties(report: Report, suite: Suite, counts: Counts) -> Record:
    environment, end = report.start.environment, report.end
    return {
        "kind": AGENT_TEST if suite.has_cases else SCRIPT_TEST,
        "agent": suite.agent,
        "connector": suite.connector,
        **{key: environment.get(key) for key in ("user_id", "team_id", "locale")},
        "yao-test": report.start.version,
        **{
            key: ", ".join(value) if isinstance(value, list) else str(value)
            for key, value in counts_record(counts).items()
            if key in MARKS
        },
        **({} if end.snapshots is None else {"snapshots": "\n".join(in_lines(end.snapshots))}),
        **usage_record(counts).get("usage", {}),
        **_bars(certainty_of(counts)),
        **({"stopped": end.stopped, "not_run": end.not_run} if end.stopped else {}),
    }


def _bars(known: Certainty) -> Record:
    """Rates and mean scores with their intervals, of the suite and of its parts: `tag smoke pass_rate`."""
    bars = _figures(known, "")
    if known.judges_noise is not None:
        bars |= {f"judges_noise {name}": value for name, value in json_of(known.judges_noise).items()}
    for part in known.parts:
        bars |= _figures(part, f"{part.kind} {part.name} ")
    return bars


def _figures(known: Figures, of: str) -> Record:
    said = {
        "pass_rate": known.pass_rate,
        "pass_rate_interval": known.pass_rate_interval,
        "mean_score": known.mean_score,
        "mean_score_interval": known.mean_score_interval,
    }
    return {f"{of}{name}": "-".join(map(str, one)) if isinstance(one, tuple) else one for name, one in said.items()}


def _case(parent: Element, suite: Suite, same: tuple[str, str], result: TestResult) -> None:
    class_name, file = same
    time = _seconds(result.outcome.milliseconds)
    attributes = {"name": _legal(result_texts.name_of(result)), "classname": class_name, "time": time, "file": file}
    if line := result_texts.line_of(suite, result):
        attributes["line"] = str(line)
    case = SubElement(parent, "testcase", attributes)
    verdict = result.verdict
    if verdict is Verdict.FAILED or verdict.is_none:
        _failed(case, result, "error" if verdict.is_none else "failure")
    elif verdict is Verdict.SKIPPED:
        SubElement(case, "skipped", _attributes({"message": result.outcome.skip_text or None}))
    if out := _output(result):
        SubElement(case, "system-out").text = _legal(out)
    if said := [f"warning: {message}{_at(place)}" for message, place in result_texts.warnings_of(result)]:
        SubElement(case, "system-err").text = _legal("\n".join(said))


def _failed(case: Element, result: TestResult, tag: str) -> None:
    errors = result_texts.errors_of(result) or ["it failed"]
    check = result_texts.checked_failure(result)
    lines = result_texts.told_lines(result) or errors
    placed, cause = result_texts.placed_failure(result), result.outcome.cause
    lines += [stack_trace(placed)] if placed is not None else []
    decided = result.outcome.decisive if cause == Cause.TIMEOUT else None
    kind = (check.type if check is not None and decided is None else None) or cause or "assertion"
    message = errors[0] if decided is None else error_text(decided)
    attributes = _attributes({"message": message.split("\n")[0], "type": kind})
    SubElement(case, tag, attributes).text = _legal("\n".join(lines))


def _output(result: TestResult) -> str:
    parts, case = result_texts.remarks_of(result), result.case
    if case is not None:
        parts += _said("", case, answer_too=not case.turns or case.mode == "conversation")
        for turn in case.turns:
            parts += _said(f"turn {turn.turn} ", turn, answer_too=True)
    return "\n".join([*parts, *log_members(result.logs)["logs"]])


def _at(place: result_texts.FilePlace) -> str:
    return f"\n  at {place.file}:{place.line}:{place.column}" if place.file else ""


def _said(when: str, part: CaseResult | TurnResult, answer_too: bool) -> list[str]:
    lines = [f"{when}input: {result_texts.as_text(part.input)}"] if part.input is not None else []
    lines += [f"{when}attachment: {line}" for line in sizes(part.attachments)]
    if answer_too and (answer := part.answer) is not None:
        lines.append(f"{when}output: {result_texts.as_text(answer)}")
    return lines


def _run_errors(report: Report) -> tuple[dict[str, int], list[str]]:
    counts = {"tests": 1, "failures": 0, "errors": 1}
    element = Element("testsuite", _attributes({"name": "run", **counts, "skipped": 0, "time": _seconds(0)}))
    case = SubElement(element, "testcase", {"name": "run", "classname": "run", "time": _seconds(0)})
    attributes = _attributes({"message": report.errors[0].split("\n")[0], "type": "error"})
    SubElement(case, "error", attributes).text = _legal("\n".join(report.errors))
    indent(element, level=1)
    return counts, [f"  {_written(element)}\n"]


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"


def _legal(text: str) -> str:
    """Text with the characters that XML has no place for as escapes."""
    if len(text) > TEXT_LIMIT:
        half = TEXT_LIMIT // 2
        text = f"{text[:half]}... ({len(text) - 2 * half} characters) ...{text[-half:]}"
    if not (text.isascii() and text.isprintable()):
        text = _ILLEGAL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return inert(text)


def _attributes(values: Record) -> dict[str, str]:
    return {name: _legal(str(value)) for name, value in values.items() if value is not None}


def _written(element: Element) -> str:
    """An element as XML. A carriage return is written as a reference: readers take a bare one for a line feed."""
    return tostring(element, "unicode").replace("\r", "&#13;")
