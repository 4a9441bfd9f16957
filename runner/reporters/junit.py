"""The `.xml` report: JUnit XML by the schema of the Jenkins xUnit plugin (`junit-10.xsd`), with the attributes `file`
and `line` on test cases, which GitLab, CircleCI and others read.

A failed assertion is a `failure`; any other reason of a failure is an `error`. Something that broke outside any test is
an `error` of the test case `run` in a separate suite. Warnings of a result are in `system-err`.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from pathlib import PurePath
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from runner.record.fold import Counts, counted
from runner.record.lines import sizes
from runner.record.model import TestResult
from runner.record.report import Report
from runner.record.result_texts import (
    FilePlace,
    answer_of,
    as_text,
    differences_of,
    errors_of,
    line_of,
    name_of,
    remarks_of,
    values_of,
    warnings_of,
)
from runner.record.suites import has_cases
from runner.record.summary import BARS, certainty_of, counts_record, in_lines, snapshots_in, usage_record
from runner.record.verdict import Verdict, verdict_in
from runner.reporters.document import DocumentReporter
from runner.reporters.json_report import MARKS
from runner.security.terminal import inert
from scripttest import Cause
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


TEXT_LIMIT = 131_072
"""Characters of one text that are written."""
COUNTED = ("tests", "failures", "errors")
"""What the whole document counts."""
BATCH = 100
"""Cases that are written at a time: as elements they take several times the memory of their text."""
END = "\n  </testsuite>"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
UNUSED = ("transcript", "tools", "sent", "metadata", "trials", "trace")
"""Parts of a result that the format has no place for."""

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufddf\ufffe\uffff]")


class JunitReporter(DocumentReporter):
    """Writes a document for CI servers."""

    def keep(self, record: Record) -> Record | None:
        """What the format has a place for."""
        return {key: value for key, value in record.items() if key not in UNUSED}

    def render(self, report: Report) -> str:
        """The document."""
        totals = Counter[str]()
        texts: list[str] = []
        suites = (_suite(report, suite, results) for suite, results in report.by_suite())
        for counts, parts in chain(suites, [_run_errors(report)] if report.errors else []):
            totals.update(counts)
            texts += parts
        counts = {key: totals[key] for key in COUNTED}
        time = _seconds(report.summary["duration_ms"])
        whole = Element("testsuites", _attributes({"name": "yao-test", **counts, "time": time}))
        whole.text = "\n"
        head, end = _written(whole).split("\n")
        return "".join([f"{DECLARATION}\n{head}\n", *texts, f"{end}\n"])


def _suite(report: Report, suite: Record, results: list[TestResult]) -> tuple[dict[str, int], list[str]]:
    """What a suite counts, and the parts of its text."""
    counts = counted(results)
    numbers = {"tests": counts.total, "failures": counts.failed, "errors": counts.errors}
    file = suite["file"] or suite["label"]
    attributes = {
        "name": suite["id"],
        **numbers,
        "skipped": counts.skipped,
        "time": _seconds(counts.milliseconds),
        "timestamp": report.start["timestamp"].removesuffix("Z"),
        "file": file,
    }
    element = Element("testsuite", _attributes(attributes))
    inner = SubElement(element, "properties")
    for name, value in _properties(report, suite, counts).items():
        if value or value == 0:
            SubElement(inner, "property", _attributes({"name": name, "value": value}))
    indent(element, level=1)
    texts = [_written(element).removesuffix(END)]
    stem = PurePath(suite["label"]).stem if suite["file"] else suite["label"]
    stem += f"-{suite['variant']}" if suite.get("variant") else ""
    class_name = suite["id"] if not has_cases(suite) else f"{suite['agent']}.{stem}".strip(".")
    same = (_legal(class_name), _legal(file))
    for start in range(0, len(results), BATCH):
        cases = Element("testsuite")
        for result in results[start : start + BATCH]:
            _case(cases, suite, same, result.line)
        indent(cases, level=1)
        texts.append(_written(cases).removeprefix("<testsuite>").removesuffix(END))
    return numbers, ["  ", *texts, f"{END}\n"]


def _properties(report: Report, suite: Record, counts: Counts) -> Record:
    environment = report.start["environment"]
    return {
        "kind": suite["kind"],
        "agent": suite["agent"],
        "connector": suite["connector"],
        **{key: environment.get(key) for key in ("user_id", "team_id", "locale")},
        "yao-test": report.start["version"],
        **{
            key: ", ".join(value) if isinstance(value, list) else str(value)
            for key, value in counts_record(counts).items()
            if key in MARKS
        },
        **_snapshots(report),
        **usage_record(counts).get("usage", {}),
        **_bars(certainty_of(counts)),
        **{key: report.summary[key] for key in ("stopped", "not_run") if key in report.summary},
    }


def _bars(known: Record) -> Record:
    """Rates and mean scores with their intervals, of the suite and of its parts: `tag smoke pass_rate`."""
    bars = {key: _interval(value) for key, value in known.items() if key not in ("parts", "judges_noise")}
    bars |= {f"judges_noise {name}": value for name, value in known.get("judges_noise", {}).items()}
    for part in known.get("parts") or ():
        of = f"{part['kind']} {part['name']}"
        bars |= {f"{of} {key}": _interval(part[key]) for key in BARS if key in part}
    return bars


def _interval(value: float | list[float]) -> float | str:
    return "-".join(map(str, value)) if isinstance(value, list) else value


def _snapshots(report: Report) -> Record:
    """Properties of the run that each suite repeats: what was done with snapshots."""
    counts = snapshots_in(report.summary)
    return {} if counts is None else {"snapshots": "\n".join(in_lines(counts))}


def _case(parent: Element, suite: Record, same: tuple[str, str], record: Record) -> None:
    """Adds a test case; `same` is what all cases of the suite have, class name and file."""
    class_name, file = same
    time = _seconds(record["duration_ms"])
    attributes = {"name": _legal(name_of(record)), "classname": class_name, "time": time, "file": file}
    if line := line_of(suite, record):
        attributes["line"] = str(line)
    case = SubElement(parent, "testcase", attributes)
    verdict = verdict_in(record)
    if verdict is Verdict.FAILED or verdict.is_none:
        _failed(case, record, "error" if verdict.is_none else "failure")
    elif verdict is Verdict.SKIPPED:
        SubElement(case, "skipped", _attributes({"message": record.get("skip_reason")}))
    if out := _output(record, is_script=not has_cases(suite)):
        SubElement(case, "system-out").text = _legal(out)
    if said := [f"warning: {message}{_at(place)}" for message, place in warnings_of(record)]:
        SubElement(case, "system-err").text = _legal("\n".join(said))


def _failed(case: Element, record: Record, tag: str) -> None:
    errors = errors_of(record) or ["it failed"]
    assertion = record.get("assertion") or {}
    lines = list(errors)
    lines += [f"{side}: {text}" for side, text in values_of(assertion)]
    lines += differences_of(record)
    lines += [record["stack_trace"]] if record.get("stack_trace") else []
    decided = record.get("cause") == Cause.TIMEOUT
    kind = (not decided and assertion.get("type")) or record.get("cause") or "assertion"
    message = record["error"] if decided else errors[0]
    attributes = _attributes({"message": message.split("\n")[0], "type": kind})
    SubElement(case, tag, attributes).text = _legal("\n".join(lines))


def _output(record: Record, is_script: bool) -> str:
    parts = remarks_of(record)
    if not is_script:
        turns = record.get("turns") or []
        answer_too = not turns or record.get("mode") == "conversation"
        parts += _said("", record, answer_too)
        for turn in turns:
            parts += _said(f"turn {turn.get('turn')} ", turn, answer_too=True)
    parts += record.get("logs") or []
    return "\n".join(parts)


def _at(place: FilePlace) -> str:
    return f"\n  at {place.file}:{place.line}:{place.column}" if place.file else ""


def _said(when: str, part: Record, answer_too: bool) -> list[str]:
    lines = [f"{when}input: {as_text(part['input'])}"] if part.get("input") is not None else []
    lines += [f"{when}attachment: {line}" for line in sizes(part.get("attachments"))]
    if answer_too and (answer := answer_of(part)) is not None:
        lines.append(f"{when}output: {as_text(answer)}")
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
