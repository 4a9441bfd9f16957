"""The verdict on a result, and the counts that are made of verdicts."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from table_tests import each

from runner.commands.merge import merged
from runner.commands.parser import command_of
from runner.environment import Environment
from runner.record.fold import counted
from runner.record.lines import result_of
from runner.record.model import TestResult
from runner.record.outcomes import Verdict, verdict_of
from runner.record.report import Report
from runner.record.saved import end_in, start_in
from runner.record.summary import counts_record, usage_record
from runner.reporters import maker_for_file
from runner.reporters.html import render
from runner.security.secrets import Secrets

SUITE = {"id": "a.jsonl", "kind": "agent_test", "label": "a.jsonl", "file": "a.jsonl", "agent": "a", "connector": ""}


def result(id: str, status: str, **more: Any) -> TestResult:
    head = {"type": "result", "suite": "a.jsonl", "position": 0, "id": id}
    return result_of({**head, "status": status, "duration_ms": 3, "input": "x", **more})


GREEN, RED = "%2317753a", "%23c4232f"
BROKEN = result("broken", "failed", cause="infrastructure", error="the judge is gone")


def report(*results: TestResult, errors: tuple[str, ...] = ()) -> Report:
    start = start_in({"timestamp": "2026-01-01T00:00:00Z", "version": "1", "suites": [SUITE]})
    end = end_in({"duration_ms": 9}, results, bool(errors))
    return Report(start=start, results=list(results), errors=list(errors), warnings=[], end=end)


@each(
    ("status", "cause", "verdict"),
    [
        ("passed", None, "passed"),
        ("skipped", None, "skipped"),
        *(
            ("failed", cause, "failed")
            for cause in (None, "assertion", "error", "timeout", "crash", "setup", "pending")
        ),
        ("failed", "infrastructure", "broken"),
    ],
)
def test_only_what_broke_is_no_verdict_on_the_test(status: str, cause: str | None, verdict: str) -> None:
    found = verdict_of(status, cause)
    assert found is Verdict(verdict)
    assert found.status == status
    assert result("a", status, cause=cause).verdict is found
    assert result("a", status, cause=cause).as_run.verdict is found


def test_counts_tell_what_broke_from_what_failed() -> None:
    results = [result("a", "passed", warnings=[{"message": "odd"}]), result("b", "failed", cause="timeout"), BROKEN]
    assert counts_record(counted(results)) == {
        "total": 3,
        "passed": 1,
        "failed": 1,
        "skipped": 0,
        "errors": 1,
        "warnings": 1,
    }
    assert counted(results).milliseconds == 9


def test_the_time_of_a_test_is_that_of_all_its_runs() -> None:
    attempts = [{"run": 1, "status": "passed", "duration_ms": 4}, {"run": 2, "status": "failed", "duration_ms": 5}]
    assert counted([result("a", "passed", runs={"attempts": attempts})]).milliseconds == 9


def test_usage_is_counted_where_there_is_some() -> None:
    used = result("a", "passed", usage={"input_tokens": 2, "output_tokens": 3, "cost": 0.1})
    more = result("b", "passed", usage={"input_tokens": 1, "output_tokens": 0, "cost": 0.2})
    assert usage_record(counted([used, more, BROKEN])) == {
        "usage": {"input_tokens": 3, "output_tokens": 3, "cost": 0.3}
    }
    assert usage_record(counted([BROKEN])) == {}


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ([report(BROKEN)], "failed"),
        ([report(result("a", "passed")), report(BROKEN)], "failed"),
        ([report(result("a", "passed")), report(result("b", "skipped"))], "passed"),
        ([report(result("a", "passed"), errors=("a hook threw",))], "error"),
    ],
    ids=["what broke", "a part that broke", "nothing bad", "an error outside the tests"],
)
def test_a_merged_run_passes_only_if_nothing_broke(parts: list[Report], status: str) -> None:
    whole = merged(parts, tuple(map(str, range(len(parts))))).report
    assert whole.summary["status"] == status


def test_merge_says_what_broke(tmp_path: Path) -> None:
    written = maker_for_file(tmp_path / "one.jsonl")()
    written.write(report(result("a", "passed"), BROKEN))
    written.close()
    out = io.StringIO()
    environment = Environment(directory=tmp_path, variables={}, stdout=out, stderr=out, cpus=1, secrets=Secrets())
    command_of("merge").main(["one.jsonl", "-o", "all.json"], obj=environment, standalone_mode=False)
    assert out.getvalue().endswith("1 passed, 0 failed, 0 skipped, 1 error in 1 part\n")


@pytest.mark.parametrize(
    ("shown", "is_green"),
    [
        (report(result("a", "passed"), result("b", "skipped")), True),
        (report(result("a", "passed"), BROKEN), False),
        (report(result("a", "failed", cause="assertion")), False),
        (report(result("a", "passed"), errors=("a hook threw",)), False),
    ],
    ids=["passed", "broke", "failed", "an error outside the tests"],
)
def test_only_a_run_that_passed_has_a_green_icon(shown: Report, is_green: bool) -> None:
    page = render(shown)
    assert (GREEN in page, RED in page) == (is_green, not is_green)
