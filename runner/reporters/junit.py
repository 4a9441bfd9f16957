"""The `.xml` report: JUnit XML by the schema of the Jenkins xUnit plugin (`junit-10.xsd`), with the attributes `file`
and `line` on test cases, which GitLab, CircleCI and others read.

A failed assertion is a `failure`; any other reason of a failure is an `error`. Something that broke outside any test is
an `error` of the test case `run` in a separate suite. Warnings of a result are in `system-err`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from xml.sax.saxutils import escape

from runner.record import result_texts
from runner.record.case_result import CaseResult, TurnResult, json_of
from runner.record.fold import Counts
from runner.record.lines import sizes
from runner.record.model import AGENT_TEST, SCRIPT_TEST, Suite, TestResult
from runner.record.outcomes import Verdict, error_text, log_members, stack_trace
from runner.record.report import Report
from runner.record.summary import Certainty, Figures, certainty_of, counts_record, in_lines, usage_record
from runner.reporters.json_report import MARKS
from runner.security.terminal import inert
from scripttest import Cause
from scripttest.typing_names import Record
from scripttest.values import names_of

TEXT_LIMIT = 131_072
"""Characters of one text that are written."""
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'

_IN_ATTRIBUTES = {'"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#09;"}
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufddf\ufffe\uffff]")


def junit(report: Report) -> str:
    """The document for CI servers."""
    counts, broke = report.counts, bool(report.errors)
    attributes = {
        "name": "yao-test",
        "tests": counts.total + broke,
        "failures": counts.failed,
        "errors": counts.errors + broke,
        "time": _seconds(report.end.milliseconds),
    }
    texts = [_suite(report, suite, results) for suite, results in report.by_suite()]
    texts += [_run_errors(report.errors)] if broke else []
    return f"{DECLARATION}\n{_element(0, 'testsuites', attributes, inner=texts or [''])}"


def _suite(report: Report, suite: Suite, results: list[TestResult]) -> str:
    counts = report.counts_of(suite, results)
    attributes = {
        "name": suite.id,
        "tests": counts.total,
        "failures": counts.failed,
        "errors": counts.errors,
        "skipped": counts.skipped,
        "time": _seconds(counts.milliseconds),
        "timestamp": report.start.started_at.removesuffix("Z"),
        "file": suite.file or None,
    }
    properties = [
        _element(3, "property", {"name": name, "value": value})
        for name, value in _properties(report, suite, counts).items()
        if value or value == 0
    ]
    stem = PurePath(suite.label).stem if suite.file else suite.label
    stem += f"-{suite.variant}" if suite.variant else ""
    class_name = f"{suite.agent}.{stem}".strip(".") if suite.has_cases else suite.id
    inner = [_element(2, "properties", {}, inner=properties), *(_case(suite, class_name, result) for result in results)]
    return _element(1, "testsuite", attributes, inner=inner)


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
    said = ((name, getattr(known, name)) for name in names_of(Figures))
    return {f"{of}{name}": "-".join(map(str, one)) if isinstance(one, tuple) else one for name, one in said}


def _case(suite: Suite, class_name: str, result: TestResult) -> str:
    inner: list[str] = []
    verdict = result.verdict
    if verdict is Verdict.FAILED or verdict.is_none:
        inner.append(_failed(result, "error" if verdict.is_none else "failure"))
    elif verdict is Verdict.SKIPPED:
        inner.append(_element(3, "skipped", {"message": result.outcome.skip_text or None}))
    if out := _output(result):
        inner.append(_element(3, "system-out", {}, out))
    if said := [f"warning: {message}{_at(place)}" for message, place in result_texts.warnings_of(result)]:
        inner.append(_element(3, "system-err", {}, "\n".join(said)))
    attributes = {
        "name": result_texts.name_of(result),
        "classname": class_name,
        "time": _seconds(result.outcome.milliseconds),
        "file": suite.file or None,
        "line": result_texts.line_of(suite, result) or None,
    }
    return _element(2, "testcase", attributes, inner=inner)


def _failed(result: TestResult, tag: str) -> str:
    errors = result_texts.errors_of(result) or ["it failed"]
    check = result_texts.checked_failure(result)
    lines = result_texts.told_lines(result) or errors
    placed, cause = result_texts.placed_failure(result), result.outcome.cause
    lines += [stack_trace(placed)] if placed is not None else []
    decided = result.outcome.decisive if cause == Cause.TIMEOUT else None
    kind = (check.type if check is not None and decided is None else None) or cause or "assertion"
    message = errors[0] if decided is None else error_text(decided)
    return _element(3, tag, {"message": message.split("\n")[0], "type": kind}, "\n".join(lines))


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


def _run_errors(errors: list[str]) -> str:
    error = _element(3, "error", {"message": errors[0].split("\n")[0], "type": "error"}, "\n".join(errors))
    time = _seconds(0)
    case = _element(2, "testcase", {"name": "run", "classname": "run", "time": time}, inner=[error])
    attributes = {"name": "run", "tests": 1, "failures": 0, "errors": 1, "skipped": 0, "time": time}
    return _element(1, "testsuite", attributes, inner=[case])


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


def _element(level: int, tag: str, attributes: Record, text: str = "", inner: Sequence[str] = ()) -> str:
    """An element as a line, or as lines with those of its `inner` elements. A carriage return is written as a
    reference: readers take a bare one for a line feed. Attributes that are None are left out."""
    named = {name: _legal(str(value)) for name, value in attributes.items() if value is not None}
    begin = f"<{tag}" + "".join(f' {name}="{escape(value, _IN_ATTRIBUTES)}"' for name, value in named.items())
    indent = "  " * level
    if inner:
        return f"{indent}{begin}>\n{''.join(inner)}{indent}</{tag}>\n"
    written = escape(_legal(text), {"\r": "&#13;"})
    return f"{indent}{begin}>{written}</{tag}>\n" if written else f"{indent}{begin} />\n"
