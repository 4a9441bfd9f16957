"""Annotations and job summaries for GitHub Actions."""

from __future__ import annotations

import re

import pytest
from sample_reports import ODD, SUITE, odd, report, result
from table_tests import each

from runner.reporters.github import commands
from scripttest.typing_names import Record

SCRIPTS = {
    **SUITE,
    "id": "scripts.demo.a",
    "kind": "script_test",
    "label": "demo/src/a_test.ts",
    "file": "/w/x/a_test.ts",
}
COMMAND = re.compile(r"::(error|notice) ((?:[a-z]+=[^,:\r\n]*,?)*)::[^\r\n]*")


def test_a_failed_case_is_placed_at_its_line() -> None:
    failed = result("T003", "failed", error="no: 100%\nbut 5", line=7)

    assert commands(report(result(), failed), "/w") == (
        "::error file=tests/a.jsonl,line=7,title=tests/a.jsonl › T003::no: 100%25%0Abut 5\n"
    )


def test_a_failed_script_is_placed_where_it_failed() -> None:
    failed = result("TestA", "failed", suite=SCRIPTS["id"], error="no", location="/w/x/b, c.ts:14:12")

    assert commands(report(failed, suites=(SCRIPTS,)), "/w/x") == (
        "::error file=b%2C c.ts,line=14,col=12,title=demo/src/a_test.ts › TestA::no\n"
    )


def test_a_failed_subtest_places_its_test() -> None:
    step = {"name": "TestA/b", "status": "failed", "error": "no", "location": "/w/x/a_test.ts:3:5", "duration_ms": 1}
    failed = result("TestA", "failed", suite=SCRIPTS["id"], error="subtest b failed", steps=[step])

    assert commands(report(failed, suites=(SCRIPTS,)), "/w") == (
        "::error file=x/a_test.ts,line=3,col=5,title=demo/src/a_test.ts › TestA::subtest b failed%0ATestA/b: no\n"
    )


def test_checks_of_one_message_have_their_own_values() -> None:
    def unequal(expected: int, actual: int, type: str = "Equal") -> Record:
        values = {"expected_text": str(expected), "actual_text": str(actual)}
        return {"cause": "assertion", "type": type, "message": "No", "expected": expected, "actual": actual, **values}

    step = {"name": "TestA/b", "status": "failed", "duration_ms": 1, "failures": [unequal(5, 6), unequal(7, 7, "Less")]}
    failed = result("TestA", "failed", suite=SCRIPTS["id"], failures=[unequal(1, 2), unequal(3, 4)], steps=[step])

    told = commands(report(failed, suites=(SCRIPTS,)), "/w").split("::")[2].strip().split("%0A")
    values = [f"{side}: {number}" for number, side in enumerate(["expected", "actual"] * 3, start=1)]
    assert [line for line in told if ": No" not in line] == [*values, "expected: 7", "actual: 7"]
    assert told[0::3] == [*["assertion failed: No"] * 2, *["TestA/b: assertion failed: No"] * 2]


@pytest.mark.parametrize("workspace", ["", "/elsewhere"])
def test_a_file_outside_the_workspace_keeps_its_path(workspace: str) -> None:
    assert commands(report(result("T", "failed", error="no")), workspace).startswith("::error file=/w/tests/a.jsonl,")


def test_a_message_has_no_file() -> None:
    suite = {**SUITE, "id": '"hello"', "label": '"hello"', "file": ""}

    assert commands(report(result("message", "failed", error="no", suite='"hello"'), suites=(suite,)), "/w") == (
        '::error title="hello" › message::no\n'
    )


def test_errors_outside_the_tests_come_first_and_the_rest_is_counted() -> None:
    many = report(*(result(f"T{number}", "failed", error="no") for number in range(100))).replace(errors=["it broke"])
    lines = commands(many, "/w").splitlines()

    assert lines[0] == "::error title=yao-test::it broke"
    assert len(lines) == 51
    assert lines[-1] == "::notice title=yao-test::51 more failures are in the report"


@each("text", ODD.values(), ids=ODD)
def test_no_text_becomes_a_command(text: str) -> None:
    lines = re.split(r"[\r\n]", commands(odd(text), "/w"))

    assert lines.pop() == ""
    assert len(lines) == 2
    assert all(COMMAND.fullmatch(line) for line in lines)
    assert all(len(line) < 20_000 for line in lines)
