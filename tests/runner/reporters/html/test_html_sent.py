"""What a page shows of what was sent and left, how failures are grouped, links, and differences of JSON values."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from html_reports import CASES, SCRIPT, TALKS, assertion, report, result, suite, summed
from playwright.sync_api import Page, expect
from test_html_results import expand, expect_ids

from runner.record.report import Report

DOT = {"type": "image", "name": "dot.png", "media_type": "image/png", "size": 3008, "source": "file://dot.png"}
FAR = {"type": "image", "source": "https://example.com/far.png"}
SUITES = [suite(SCRIPT, "script_test", "expense"), suite(CASES, agent="expense"), suite(TALKS, agent="travel")]


def failed(id: str, expected: Any, actual: Any, message: str, type: str = "contains", **more: Any) -> dict[str, Any]:
    checks = [assertion(type, False, expected, actual, message)]
    error = f"assertion failed: {message}"
    return result(
        CASES, id, "failed", error=error, cause="assertion", assertions=checks, input="x", output=actual, **more
    )


def groups(page: Page) -> list[list[str]]:
    """The results of each reason."""
    found = page.locator(".group")
    return [found.nth(at).locator(".links button").all_inner_texts() for at in range(found.count())]


def test_files_are_shown_with_their_type_and_size(open_report: Any) -> None:
    turn = {
        "turn": 1,
        "input": "Look",
        "input_source": "static",
        "status": "passed",
        "output": "A dot",
        "duration_ms": 1,
    }
    history = [{"role": "user", "content": "Before it all"}, {"role": "assistant", "content": "Yes"}]
    records = [
        result(CASES, "call", input="Look", output="A dot", attachments=[DOT, FAR]),
        result(CASES, "talk", mode="multi_turn", input=history, output="A dot", turns=[{**turn, "attachments": [DOT]}]),
    ]
    page = open_report(report(SUITES, records))

    files = expand(page, "call").get_by_role("list", name="Attachments").get_by_role("listitem")
    expect(files).to_have_text(["dot.png image/png, 3.0 KB", "https://example.com/far.png image"])
    talk = expand(page, "talk")
    expect(talk.locator(".turn").get_by_role("list", name="Attachments")).to_have_text("dot.png image/png, 3.0 KB")
    talk.get_by_text("Conversation before the case").click()
    expect(talk.get_by_text("Before it all")).to_be_visible()


def test_the_summary_says_what_did_not_run_and_what_it_took(open_report: Any) -> None:
    ended = report(SUITES, [failed("a", "x", "y", "no")])
    usage = {"input_tokens": 1200, "output_tokens": 34, "cost": 0.5}

    page = open_report(summed(ended, usage=usage, stopped="--fail-fast", not_run=41))

    expect(page.locator(".left")).to_have_text("41 tests were not run: the run ended early (--fail-fast)")
    expect(page.locator(".surroundings")).to_contain_text("1,234 ($0.50)")


@pytest.mark.parametrize(
    ("records", "wanted"),
    [
        (
            [failed(f"{word}{number}", word, "z", f'Expected the output to contain "{word}", found "z{number}"') for word in ("taxi", "hotel") for number in (1, 2)],
            [["taxi1", "taxi2"], ["hotel1", "hotel2"]],
        ),
        ([failed(f"n{number}", number, 7, f"Expected the output to equal {number}, found 7", "equals") for number in (1, 2)], [["n1"], ["n2"]]),
        ([failed("a", {"x": 1, "y": 2}, {}, "differs"), failed("b", {"y": 2, "x": 1}, {}, "differs")], [["a", "b"]]),
        (
            [result(SCRIPT, id, "failed", error="assertion failed: Not equal", cause="assertion", assertion={"type": "Equal", "expected": wanted, "actual": 0, "message": "Not equal"}, logs=[]) for id, wanted in (("TestA", 1), ("TestB", 2), ("TestC", 1))],
            [["TestA", "TestC"], ["TestB"]],
        ),
        ([result(CASES, f"t{at}", "failed", error=f"timeout after {at}s", cause="timeout") for at in (1, 2)], [["t1", "t2"]]),
    ],
    ids=["texts", "numbers", "objects in another order", "script tests", "no expectation"],
)  # fmt: skip
def test_failures_are_grouped_by_what_was_expected_too(
    open_report: Any, records: list[Any], wanted: list[list[str]]
) -> None:
    page = open_report(report(SUITES, records))

    assert groups(page) == wanted


def test_a_group_says_what_was_expected_where_its_error_does_not(open_report: Any) -> None:
    checks = {"type": "Equal", "expected": 84, "actual": 60, "message": "Not equal"}
    page = open_report(report(SUITES, [result(SCRIPT, "TestA", "failed", error="assertion failed: Not equal", cause="assertion", assertion=checks, logs=[])]))  # fmt: skip

    expect(page.locator(".group-expected")).to_have_text("expected 84")


# Links


def many() -> Report:
    records = [
        result(CASES, f"C{number}", input=f"trip {number % 2}", output="x", tags=["odd" if number % 2 else "even"])
        for number in range(6)
    ]
    return report(SUITES, [*records, failed("broken", "x", "y", "no")])


@pytest.mark.parametrize(
    ("hash", "ids"),
    [
        ("#query=%22trip+1%22&result={key}", ["C1", "C3", "C5"]),
        ("#tag=odd&query=trip&sort=name&result={key}", ["C1", "C3", "C5"]),
        ("#status=passed&query=trip&result={key}", ["C0", "C1", "C2", "C3", "C4", "C5"]),
    ],
    ids=["search", "search, filter and order", "status"],
)
def test_a_link_restores_the_search_and_the_open_result(open_report: Any, hash: str, ids: list[str]) -> None:
    page = open_report(many(), hash=hash.format(key=f"{CASES}/C3"))

    expect_ids(page, *ids)
    expect(page.get_by_role("region", name="Result C3", exact=True).locator(".actions")).to_be_visible()
    assert page.get_by_role("searchbox").input_value() in ("trip", '"trip 1"')
    for part in hash.partition("&result")[0].lstrip("#").split("&"):
        assert part in page.evaluate("location.hash")


def test_a_copied_link_keeps_the_search(open_report: Any) -> None:
    page = open_report(many(), permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("searchbox").fill('"trip 1"')
    expect_ids(page, "C1", "C3", "C5")
    page.get_by_label("Tag", exact=True).select_option("odd")
    expand(page, "C3").get_by_role("button", name="Copy link").click()

    link = page.evaluate("navigator.clipboard.readText()")

    assert sorted(re.split("[#&]", link)[1:]) == [
        "query=%22trip+1%22",
        f"result={CASES.replace('/', '%2F')}%2FC3",
        "tag=odd",
    ]


def test_a_link_to_a_result_that_its_search_does_not_find_shows_the_result(open_report: Any) -> None:
    page = open_report(many(), hash=f"#query=nowhere&result={CASES}/C3")

    expect(page.get_by_role("region", name="Result C3", exact=True)).to_be_visible()


def test_a_reason_opens_its_result_within_the_search(open_report: Any) -> None:
    page = open_report(many(), hash="#query=x")
    page.locator(".links button", has_text="broken").click()

    expect(page.get_by_role("region", name="Result broken", exact=True)).to_be_visible()
    assert page.get_by_role("searchbox").input_value() == "x"


# Differences

WANTED = {"status": "open", "items": [{"kind": "taxi", "price": 40}], "who": "Maria"}
FOUND = {"who": "Maria", "items": [{"price": 41, "kind": "taxi"}], "status": "open"}


@pytest.mark.parametrize(
    "answer",
    [FOUND, json.dumps(FOUND), json.dumps(FOUND, indent=4), f"```json\n{json.dumps(FOUND)}\n```"],
    ids=["value", "text", "indented text", "code fence"],
)
def test_json_values_are_compared_whatever_the_order_of_their_keys(open_report: Any, answer: Any) -> None:
    page = open_report(report(SUITES, [failed("a", WANTED, answer, "differs", "equals")]))
    detail = expand(page, "a")

    changed = detail.locator(".diff .line.removed, .diff .line.added").all_inner_texts()
    assert [" ".join(line.split()) for line in changed] == ['− "price": 40', '+ "price": 41']


@pytest.mark.parametrize("as_text", [False, True], ids=["values", "texts"])
def test_an_output_in_another_order_has_not_changed(open_report: Any, as_text: bool) -> None:
    first, second = ({"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1})
    outputs = (json.dumps(first), json.dumps(second, indent=2)) if as_text else (first, second)
    before, now = (report(SUITES, [result(CASES, "a", input="x", output=output)]) for output in outputs)

    page = open_report(now, before)

    expect(expand(page, "a").get_by_text("The output is the same.")).to_be_visible()
    assert page.get_by_text("Changed output").count() == 0
