"""The `.xml` report: JUnit XML as the schema of the Jenkins xUnit plugin has it (`junit-10.xsd`), with the attributes
`file` and `line` on test cases that GitLab, CircleCI and others read.

A failed assertion is a `failure`; anything else that made a test fail is an `error`. What broke outside any test is an
`error` of the test case `run` in a suite of its own. Warnings of a result are its `system-err`.
"""

from __future__ import annotations

import json
import re
from pathlib import PurePath
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from runner.reporters.files.document import DocumentReporter, Record, Report
from runner.reporters.files.json_report import MARKS
from runner.results.attachments import sizes
from runner.results.facts import (
    Place,
    differences_of,
    errors_of,
    is_error,
    name_of,
    place_of,
    remarks_of,
    values_of,
    warnings_of,
)
from runner.results.snapshot_lines import in_lines, snapshots_in
from runner.results.summary import counts_of, usage_of

TEXT_LIMIT = 100_000
"""Characters of one text that are written."""
UNUSED = ("assertions", "scores", "transcript", "tools", "sent", "metadata", "checkpoints", "trials")
"""Parts of a result that the format has no place for."""

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufddf\ufffe\uffff]")

_PLAIN = re.compile(r"[\w ./:,;()?!=+*@#-]{0,1000}", re.ASCII)
"""Texts that stand in XML as they are, which most are."""


class JunitReporter(DocumentReporter):
    """Writes a document for CI servers."""

    def keep(self, record: Record) -> Record | None:
        """What the format has a place for."""
        found = {"differences": differences_of(record)} if record["status"] == "failed" else {}
        return {**{key: value for key, value in record.items() if key not in UNUSED}, **found}

    def render(self, report: Report) -> str:
        """The document."""
        suites = [_suite(report, suite, results) for suite, results in report.by_suite()]
        if report.errors:
            suites.append(_run_errors(report))
        total, failures, errors = (sum(counts[at] for counts, _ in suites) for at in range(3))
        attributes = {
            "name": "yao-test",
            "tests": total,
            "failures": failures,
            "errors": errors,
            "time": _seconds(report.summary["duration_ms"]),
        }
        body = "".join(text for _, text in suites)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites{_attributes(attributes)}>\n{body}</testsuites>\n'


Counted = tuple[tuple[int, int, int], str]
"""`(tests, failures, errors)` of a suite, and its element."""


def _suite(report: Report, suite: Record, results: list[Record]) -> Counted:
    failed = [record for record in results if record["status"] == "failed"]
    errors = sum(is_error(record) for record in failed)
    failures = len(failed) - errors
    attributes = {
        "name": suite["id"],
        "tests": len(results),
        "failures": failures,
        "errors": errors,
        "skipped": sum(record["status"] == "skipped" for record in results),
        "time": _seconds(sum(record["duration_ms"] for record in results)),
        "timestamp": report.start["timestamp"].removesuffix("Z"),
        "file": suite["file"] or suite["label"],
    }
    environment = report.start["environment"]
    properties = {
        "kind": suite["kind"],
        "agent": suite["agent"],
        "connector": suite["connector"],
        **{key: environment.get(key) for key in ("user_id", "team_id", "locale")},
        "yao-test": report.start["version"],
        **{key: _listed(value) for key, value in counts_of(results).items() if key in MARKS},
        **_snapshots(report),
        **(usage_of(results).get("usage") or {}),
        **{key: report.summary[key] for key in ("stopped", "not_run") if key in report.summary},
    }
    text = "".join(
        f"      <property{_attributes({'name': name, 'value': value})}/>\n"
        for name, value in properties.items()
        if value or value == 0
    )
    text = f"  <testsuite{_attributes(attributes)}>\n    <properties>\n{text}    </properties>\n"
    stem = PurePath(suite["label"]).stem if suite["file"] else suite["label"]
    name = suite["id"] if suite["kind"] == "script_test" else f"{suite['agent']}.{stem}".strip(".")
    text += "".join(_case(suite, name, record) for record in results)
    return (len(results), failures, errors), f"{text}  </testsuite>\n"


def _snapshots(report: Report) -> Record:
    """Properties of the run that each suite repeats: what was done with snapshots."""
    counts = snapshots_in(report.summary)
    return {} if counts is None else {"snapshots": "\n".join(in_lines(counts))}


def _case(suite: Record, class_name: str, record: Record) -> str:
    is_script = suite["kind"] == "script_test"
    file = suite["file"] or suite["label"]
    place = place_of(suite, record)
    attributes = {
        "name": name_of(record),
        "classname": class_name,
        "time": _seconds(record["duration_ms"]),
        "file": file,
        "line": place.line if place.file == file else None,
    }
    content = ""
    if record["status"] == "failed":
        content += _failed(record)
    elif record["status"] == "skipped":
        reason = record.get("skip_reason")
        content += f"      <skipped{_attributes({'message': reason})}/>\n"
    out = _output(record, is_script)
    if out:
        content += f"      <system-out>{_text(out)}</system-out>\n"
    said = [f"warning: {message}{_at(place)}" for message, place in warnings_of(record)]
    if said:
        content += f"      <system-err>{_text(chr(10).join(said))}</system-err>\n"
    head = f"    <testcase{_attributes(attributes)}"
    return f"{head}>\n{content}    </testcase>\n" if content else f"{head}/>\n"


def _failed(record: Record) -> str:
    tag = "error" if is_error(record) else "failure"
    errors = errors_of(record) or ["it failed"]
    assertion = record.get("assertion") or {}
    lines = list(errors)
    lines += [f"{side}: {text}" for side, text in values_of(assertion)]
    lines += record["differences"] if "differences" in record else differences_of(record)
    lines += [record["stack_trace"]] if record.get("stack_trace") else []
    decided = record.get("cause") == "timeout"
    kind = (not decided and assertion.get("type")) or record.get("cause") or "assertion"
    message = record["error"] if decided else errors[0]
    head = _attributes({"message": message.split("\n")[0], "type": kind})
    return f"      <{tag}{head}>{_text(chr(10).join(lines))}</{tag}>\n"


def _listed(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


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


def _at(place: Place) -> str:
    return f"\n  at {place.file}:{place.line}:{place.column}" if place.file else ""


def _said(when: str, part: Record, answer_too: bool) -> list[str]:
    """What was said in a case or a turn, and the files that went with it."""
    lines = [f"{when}input: {_json(part['input'])}"] if part.get("input") is not None else []
    lines += [f"{when}attachment: {line}" for line in sizes(part.get("attachments"))]
    if answer_too and part.get("output") not in (None, ""):
        lines.append(f"{when}output: {_json(part['output'])}")
    return lines


def _run_errors(report: Report) -> Counted:
    attributes = {"name": "run", "tests": 1, "failures": 0, "errors": 1, "skipped": 0, "time": "0.000"}
    error = _attributes({"message": report.errors[0].split("\n")[0], "type": "error"})
    case = '    <testcase name="run" classname="run" time="0.000">\n'
    case += f"      <error{error}>{_text(chr(10).join(report.errors))}</error>\n    </testcase>\n"
    return (1, 0, 1), f"  <testsuite{_attributes(attributes)}>\n{case}  </testsuite>\n"


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"


def _legal(text: str) -> str:
    """Text with the characters that XML has no place for as escapes."""
    if len(text) > TEXT_LIMIT:
        text = f"{text[:TEXT_LIMIT]}... ({len(text)} characters)"
    return _ILLEGAL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _text(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else escape(_legal(text), {"\r": "&#13;"})


def _attributes(values: Record) -> str:
    return "".join(f" {name}={_quoted(str(value))}" for name, value in values.items() if value is not None)


def _quoted(text: str) -> str:
    return f'"{text}"' if _PLAIN.fullmatch(text) else quoteattr(_legal(text))
