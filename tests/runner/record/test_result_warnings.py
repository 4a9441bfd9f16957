"""Warnings of results: every format shows them, saved reports keep them, and `--strict` makes failures of them."""

from __future__ import annotations

import gzip
import io
import json
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from runner.environment import Environment
from runner.execution.repetition import Repetition
from runner.options.options import RunOptions
from runner.record import model
from runner.record.case_result import CaseResult
from runner.record.events import RunEnd, RunStart, SuiteEnd, SuiteStart
from runner.record.model import AGENT_TEST, SCRIPT_TEST, Suite
from runner.record.report import events_of
from runner.record.saved import load
from runner.reporters import maker_for_file
from runner.reporters.console.console import ConsoleReporter
from runner.reporters.github import GithubReporter
from runner.reporters.stream import Multiplexer
from runner.security.secrets import Secrets
from scripttest import Failure, Location, Outcome, ResultWarning, StackFrame, Status

SCRIPTS = Suite(
    id="scripts.shop.cart", kind=SCRIPT_TEST, label="shop/src/cart_test.ts", file="/app/cart_test.ts", agent="shop"
)
CASES = Suite(id="cases", kind=AGENT_TEST, label="tests/shop.jsonl", file="/app/shop.jsonl", agent="shop")
TIMER = ResultWarning(
    kind="pending",
    message="an interval is still set",
    frames=(StackFrame(function="TestCart", location=Location(file="/app/cart_test.ts", line=7, column=3)),),
    code_frame="> 7 | set",
)
USAGE = ResultWarning(kind="usage", message="the answer says no tokens")
WHERE = {"user_id": "u", "team_id": "t", "locale": "en"}


def script(
    name: str = "TestCart", *warnings: ResultWarning, status: Status = "passed", **more: Any
) -> model.TestResult:
    failures = (Failure(cause="assertion", message="no", type="True"),) if status == "failed" else ()
    return model.TestResult(
        suite=SCRIPTS.id,
        name=name,
        position=0,
        outcome=Outcome(name=name, status=status, milliseconds=3, failures=failures, warnings=warnings),
        **more,
    )


def case(*warnings: ResultWarning) -> model.TestResult:
    return model.TestResult(
        suite=CASES.id,
        name="C1",
        position=0,
        outcome=Outcome(name="C1", status="passed", milliseconds=3, warnings=warnings),
        case=CaseResult(title=None, input="hi"),
    )


class Written:
    """What the reporters wrote of a run."""

    def __init__(
        self, folder: Path, *results: model.TestResult, runs: int = 1, strict: bool = False, **flags: Any
    ) -> None:
        stdout, github = io.StringIO(), io.StringIO()
        environment = Environment(
            directory=Path("/app"), variables={}, stdout=stdout, stderr=stdout, cpus=1, secrets=Secrets()
        )
        self._folder = folder
        files = [folder / f"r.{end}" for end in ("jsonl", "json", "md", "html", "xml", "ctrf.json", "txt")]
        stream = Multiplexer(
            [
                ConsoleReporter(RunOptions(inputs=(), **flags), environment, stdout.write),
                GithubReporter(github.write, {"GITHUB_WORKSPACE": "/app"}),
                *(maker_for_file(file)() for file in files),
            ]
        )
        suites = tuple(suite for suite in (SCRIPTS, CASES) if suite.id in {result.suite for result in results})
        repetition = Repetition(stream.send, RunOptions(inputs=(), runs=runs, strict=strict))
        stream.send(
            RunStart(started_at="2026-01-01T00:00:00Z", version="1", suites=suites, environment=WHERE, runs=runs)
        )
        for suite in suites:
            own = [result for result in results if result.suite == suite.id]
            stream.send(SuiteStart(suite=suite.id, selected=len(own), total=len(own)))
            for result in own:
                repetition.end(result)
            stream.send(SuiteEnd(suite=suite.id))
        bad = stream.execution.counts.bad
        stream.send(RunEnd(status="failed" if bad else "passed", seconds=1.5, completed_at="2026-01-01T00:00:02Z"))
        stream.close()
        self.counts = stream.execution.counts
        self.console, self.github = stdout.getvalue(), github.getvalue()

    def text(self, end: str) -> str:
        return (self._folder / f"r.{end}").read_text("utf-8")

    def lines(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in map(json.loads, self.text("jsonl").splitlines()) if line["type"] == kind]


def test_the_console_shows_a_warning_under_a_test_that_passed(tmp_path: Path) -> None:
    written = Written(tmp_path, script("TestCart", TIMER, USAGE))
    assert (
        "✓ PASSED (3ms)\n    ⚠ an interval is still set\n      at cart_test.ts:7:3\n    ⚠ the answer" in written.console
    )
    assert "Summary: 1 passed, 0 failed, 0 skipped, 2 warnings (1.50s)" in written.console


def test_the_console_shows_a_warning_under_a_case(tmp_path: Path) -> None:
    written = Written(tmp_path, case(USAGE))
    assert "  Messages: 0\n  ⚠ the answer says no tokens\n" in written.console
    assert "  Warnings: 1\n" in written.console


def test_a_run_of_several_suites_shows_warnings_at_its_end(tmp_path: Path) -> None:
    written = Written(tmp_path, script("TestCart", TIMER), case())
    assert "✓ scripts.shop.cart › TestCart\n  ⚠ an interval is still set\n    at cart_test.ts:7:3\n" in written.console


def test_a_quiet_run_counts_warnings_and_shows_none(tmp_path: Path) -> None:
    written = Written(tmp_path, script("TestCart", TIMER), quiet=True)
    assert "⚠" not in written.console and ", 1 warning (" in written.console


def test_a_run_without_warnings_says_nothing_of_them(tmp_path: Path) -> None:
    written = Written(tmp_path, script(), case())
    said = [written.console, written.github, *(written.text(end) for end in ("jsonl", "json", "md", "xml", "txt"))]
    assert [text for text in said if "warning" in text.lower()] == []


@pytest.mark.parametrize("make", [script, case])
def test_records_have_the_warnings(make: Callable[..., model.TestResult], tmp_path: Path) -> None:
    result = case(TIMER, USAGE) if make is case else script("TestCart", TIMER, USAGE)
    written = Written(tmp_path, result)
    expected = [
        {
            "kind": "pending",
            "message": "an interval is still set",
            "location": "/app/cart_test.ts:7:3",
            "frames": [{"function": "TestCart", "file": "/app/cart_test.ts", "line": 7, "column": 3}],
            "code_frame": "> 7 | set",
        },
        {"kind": "usage", "message": "the answer says no tokens"},
    ]
    assert written.lines("result")[0]["warnings"] == expected
    assert written.lines("summary")[0]["warnings"] == 2
    document = json.loads(written.text("json"))
    assert (document["results"][0]["warnings"], document["summary"]["warnings"]) == (expected, 2)
    ctrf = json.loads(written.text("ctrf.json"))["results"]
    assert (ctrf["tests"][0]["extra"]["warnings"], ctrf["summary"]["extra"]["result_warnings"]) == (expected, 2)


def test_documents_for_people_and_servers_show_them(tmp_path: Path) -> None:
    written = Written(tmp_path, script("TestCart", TIMER))
    assert "⚠️ an interval is still set\n\nat `/app/cart_test.ts:7:3`\n" in written.text("md")
    assert "| Warnings" in written.text("md")
    testcase = ElementTree.fromstring(written.text("xml")).find(".//testcase")
    assert testcase is not None
    assert testcase.findtext("system-err") == "warning: an interval is still set\n  at /app/cart_test.ts:7:3"
    assert testcase.find("error") is testcase.find("failure") is None
    assert "::warning file=cart_test.ts,line=7,col=3,title=shop/src/cart_test.ts › TestCart::an interval" in (
        written.github
    )
    assert "1 passed, 0 failed, 0 skipped, 1 warning in 1.50s\nWARNING scripts.shop.cart TestCart: an interval" in (
        written.text("txt")
    )
    assert "0 skipped, 1 warning<" in written.text("html")
    blocks = [line.split(">")[1] for line in written.text("html").splitlines() if line.startswith('<script type="text')]
    entries, index = (json.loads(gzip.decompress(b64decode(block.partition("<")[0]))) for block in blocks)
    assert (index["rows"][0]["warnings"], index["summary"]["warnings"]) == (1, 1)
    assert entries[0][0]["warnings"][0]["location"] == "/app/cart_test.ts:7:3"


def test_an_annotation_without_a_place_is_at_the_file_of_its_suite(tmp_path: Path) -> None:
    written = Written(tmp_path, case(USAGE))
    assert "::warning file=shop.jsonl,title=tests/shop.jsonl › C1::the answer says no tokens\n" in written.github


@pytest.mark.parametrize("end", ["jsonl", "json"])
def test_a_saved_report_gives_them_back(end: str, tmp_path: Path) -> None:
    Written(tmp_path, script("TestCart", TIMER), case(USAGE))
    report = load(tmp_path / f"r.{end}")
    assert report.summary["warnings"] == 2
    results = [event.result for event in events_of(report) if hasattr(event, "result")]
    found = {result.suite: result.outcome.warnings for result in results}
    assert list(found.values()) == [(TIMER,), (USAGE,)]


def test_the_warnings_of_all_runs_are_those_of_the_test_each_once(tmp_path: Path) -> None:
    other = USAGE.replace(message="another")
    runs = [("TestCart", TIMER), ("TestCart",), ("TestCart", TIMER, other)]
    written = Written(tmp_path, *(script(*of, run=at) for at, of in enumerate(runs, 1)), runs=3)
    assert written.counts.warnings == 2
    assert load(tmp_path / "r.jsonl").lines[0]["warnings"] == json.loads(written.text("json"))["results"][0]["warnings"]


def test_strict_makes_failures_of_warnings(tmp_path: Path) -> None:
    written = Written(tmp_path, script("TestCart", TIMER), strict=True)
    (record,) = written.lines("result")
    assert (record["status"], record["cause"], record["error"]) == ("failed", "pending", TIMER.message)
    assert (record["location"], "warnings" in record) == ("/app/cart_test.ts:7:3", False)
    assert "> 7 | set" in written.console
    testcase = ElementTree.fromstring(written.text("xml")).find(".//testcase")
    assert testcase is not None and testcase.find("failure[@type='pending']") is not None


@pytest.mark.parametrize("status", ["failed", "skipped"])
def test_strict_adds_to_what_a_test_has(status: Status, tmp_path: Path) -> None:
    written = Written(tmp_path, script("TestCart", USAGE, status=status), strict=True)
    (record,) = written.lines("result")
    said = ["assertion failed: no", USAGE.message] if status == "failed" else [USAGE.message]
    assert (record["status"], record.get("errors") or [record["error"]]) == ("failed", said)


def test_strict_leaves_results_without_warnings_alone(tmp_path: Path) -> None:
    assert Written(tmp_path, script(), case(), strict=True).counts.passed == 2


@pytest.mark.parametrize("value", ['"x"', "[1]", '[{"kind": "pending"}]'])
def test_a_report_whose_warnings_are_something_else_is_said(value: str, tmp_path: Path) -> None:
    from runner.errors import ConfigurationError

    Written(tmp_path, script("TestCart", USAGE))
    path = tmp_path / "r.jsonl"
    path.write_text(path.read_text("utf-8").replace(json.dumps([{"kind": "usage", "message": USAGE.message}]), value))
    with pytest.raises(ConfigurationError, match=r'the "warnings" of a result'):
        load(path)
