"""Reports for tests, and unusual texts for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from runner.record.lines import result_of
from runner.record.report import Record, Report
from runner.record.saved import end_in, start_in
from runner.reporters import maker_for_file

GOLDEN = Path(__file__).parents[1] / "runner/reporters/files/golden"
STREAMS = ("scripts", "cases", "mixed")
ENVIRONMENT = {"user_id": "test-user", "team_id": "test-team", "locale": "en-us"}
SUITE = {
    "id": "tests/a.jsonl",
    "kind": "agent_test",
    "label": "tests/a.jsonl",
    "file": "/w/tests/a.jsonl",
    "agent": "keyword",
    "connector": "deepseek.v3",
}
ODD = {
    "NUL": "a\0b",
    "every control character": "".join(map(chr, range(32))) + "\x7f\x80\x9f",
    "lone surrogates": "\ud800 \udc00 x",
    "not characters": "\ufffe \uffff \ufdd0",
    "right to left": "שלום \u202eabc\u202c مرحبا",
    "emoji": "👩‍🚀🏳️‍🌈 é",
    "markup": "</details><script>alert(1)</script> & <b> ]]> <!-- \"'",
    "markdown": "# a\n| b | `c` ``` ~~~\n````\n- [x](http://y) ![z](w) *s* _u_ $m$ @n \\",
    "line breaks": "a\r\nb\rc\nd\u2028e\u0085f",
    "commands of GitHub": "::error::x\n::set-output name=a::b\n%0A%",
    "megabytes": "x" * 3_000_000,
    "many lines": "y\n" * 300_000,
    "nothing": "",
}


def result(id: str = "T001", status: str = "passed", **more: Any) -> Record:
    """The record of a case."""
    head = {"type": "result", "suite": SUITE["id"], "position": 0, "id": id, "status": status}
    body = {"input": "hi", "output": "ho", "expected": None, "duration_ms": 234, "error": None, "assertions": []}
    return {**head, **body, **more}


def report(*results: Record, suites: tuple[Record, ...] = (SUITE,), **summary: Any) -> Report:
    """A report of results."""
    end = {"duration_ms": 12345, "completed_at": "2024-12-17T10:00:12Z", **summary}
    start = {"timestamp": "2024-12-17T10:00:00Z", "version": "0.10.5", "environment": ENVIRONMENT}
    placed = [{**record, "position": position} for position, record in enumerate(results)]
    made = list(map(result_of, placed))
    began = start_in({**start, "suites": list(suites)})
    return Report(start=began, results=made, errors=[], warnings=[], end=end_in(end, made, has_errors=False))


def odd(text: str) -> Report:
    """A report that has a text wherever a text can be."""
    failed = result(
        text or "(empty)",
        "failed",
        name=text,
        input=text,
        output={"a": [text]},
        expected=text,
        response=text,
        error=text,
        cause="assertion",
        assertion_errors=[text],
        assertions=[
            {"type": "contains", "path": text, "passed": False, "expected": text, "actual": text, "message": text}
        ],
        tags=[text],
        logs=[text],
        stack_trace=text,
        connector=text,
        metadata={text: text},
        turns=[{"turn": 1, "input": text, "status": "failed", "output": text, "error": text, "duration_ms": 1}],
        tools=[{"name": text, "arguments": {text: text}, "result": text, "server": text}],
    )
    suite = {**SUITE, "id": text, "label": text, "agent": text, "connector": text}
    skipped = result("other", "skipped", skip_reason=text, suite=text)
    whole = report({**failed, "suite": text}, skipped, suites=(suite,))
    return whole.replace(errors=[text], warnings=[text])


def written(report: Report, folder: Path, extension: str) -> bytes:
    """What a format makes of a report."""
    path = folder / f"report.{extension}"
    reporter = maker_for_file(path)()
    reporter.write(report)
    reporter.close()
    return path.read_bytes()
