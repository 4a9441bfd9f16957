"""What a page shows of the results, and how they are found."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from html_reports import CASES, NASTY, SCRIPT, TALKS, assertion, many, report, result, suite
from playwright.sync_api import Page, expect
from shown_results import ALL, expand, expect_ids, ids, lines

from runner.record.report import Report
from runner.reporters.html import render


def test_the_summary_says_how_it_went_and_where(page: Page) -> None:
    assert page.title() == "4 failed, 1 error – 3 suites"
    assert page.get_by_role("heading", level=2).first.inner_text() == "4 of 9 tests failed"
    assert page.get_by_role("img", name="Pass rate 42.9 %").is_visible()
    assert page.locator(".verdict .faint").first.inner_text() == "9 results in 1 min 39 s · 22 Nov 2026, 09:30"
    tiles = page.get_by_role("group", name="Show results by status").get_by_role("button").all_inner_texts()
    assert [tile.replace("\n", " ").split()[0] for tile in tiles] == ["9", "3", "4", "1", "1"]
    facts = dict(
        zip(
            page.locator(".surroundings dt").all_inner_texts(),
            page.locator(".surroundings dd").all_inner_texts(),
            strict=True,
        )
    )
    assert facts == {
        "Agents": "expense, travel",
        "Connectors": "deepseek.v3, openai.gpt4",
        "Suites": f"{SCRIPT}, {CASES}, {TALKS}",
        "User": "test-user",
        "Team": "test-team",
        "Locale": "en-us",
        "Tokens": "2,928 ($0.00093)",
        "Version": "0.9.0",
    }
    assert page.locator(".banner").all_inner_texts() == ["Warning Two cases have the id T001; both were run"]


@pytest.mark.parametrize(
    ("results", "title"),
    [
        ([result(CASES, "a")], "Everything passed"),
        ([result(CASES, "a"), result(CASES, "b", "skipped")], "Nothing failed"),
        ([], "Nothing ran"),
        ([result(CASES, "a", "failed", cause="infrastructure", error="HTTP 503")], "1 test could not be graded"),
    ],
    ids=["passed", "skipped", "empty", "errors"],
)
def test_the_title_says_how_it_went(open_report: Any, results: list[Any], title: str) -> None:
    page = open_report(report([suite(CASES)], results))

    assert page.get_by_role("heading", level=2).first.inner_text() == title


def test_failures_come_first_and_the_same_reason_is_said_once(open_report: Any) -> None:
    results = [
        result(CASES, f"c{number}", "failed", error=f'assertion failed: no "{number}" in it', cause="assertion")
        for number in range(12)
    ]
    page = open_report(
        report([suite(CASES)], [*results, result(CASES, "x", "failed", error="HTTP 503", cause="error")])
    )

    groups = page.locator(".group")
    assert lines(groups.nth(0))[:3] == ["assertion", "12 results", 'no "0" in it']
    assert lines(groups.nth(1)) == ["error", "1 result", "HTTP 503", "x"]
    groups.nth(0).get_by_role("button", name="and 4 more").click()
    groups.nth(0).get_by_role("button", name="c11").click()
    expect(page.get_by_role("region", name="Result c11")).to_be_in_viewport()


def test_results_are_listed_with_failures_first(page: Page) -> None:
    assert ids(page) == ALL


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("Status", "failed", ["TestSetupReturnsId", "TestSlowSetup", "T002", "book-a-trip"]),
        ("Status", "error", ["T003"]),
        ("Status", "skipped", ["TestLater"]),
        ("Suite", CASES, ["T002", "T003", "T001"]),
        ("Agent", "travel", ["book-a-trip", "polite-refusal"]),
        ("Mode", "dynamic", ["book-a-trip"]),
        ("Mode", "script", ["TestSetupReturnsId", "TestSlowSetup", "TestSystemReady", "TestLater"]),
        ("Tag", "money", ["T002", "book-a-trip"]),
    ],
)
def test_results_are_filtered(page: Page, name: str, value: str, wanted: list[str]) -> None:
    page.get_by_label(name, exact=True).select_option(value)

    expect_ids(page, *wanted)
    assert page.locator(".count").inner_text() == f"{len(wanted)} of 9 results"
    page.get_by_role("button", name="Clear filters").click()
    expect_ids(page, *ALL)


def test_filters_work_together_and_the_numbers_above_are_filters(page: Page) -> None:
    page.get_by_role("button", name="4 failed Failed").click()
    page.get_by_label("Tag", exact=True).select_option("money")
    page.get_by_label("Agent").select_option("expense")

    expect_ids(page, "T002")
    page.get_by_label("Search everything").fill("nothing of the kind")
    expect(page.get_by_text("No results match.")).to_be_visible()


@pytest.mark.parametrize(
    ("query", "wanted"),
    {
        "an id": ("t002", ["T002"]),
        "a name": ("submits", ["T002"]),
        "an error": ("longer than 30s", ["TestSlowSetup"]),
        "an output": ("tejo", ["book-a-trip", "polite-refusal"]),
        "a number in an output": ("0.97", ["T001"]),
        "an argument of a tool": ("lisbon nights", ["book-a-trip", "polite-refusal"]),
        "a log": ("cache is cold", ["TestSystemReady"]),
        "a stack": ("5:18", ["TestSetupReturnsId"]),
        "metadata": ("4711", ["T002"]),
        "a phrase": ('"the id was taken"', ["TestSetupReturnsId"]),
        "words that are not together": ("taken setting", ["TestSetupReturnsId"]),
        "not the name of a field": ("duration_ms", []),
        "other letters": ("réponds", ["T003"]),
    }.values(),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_search_looks_everywhere(page: Page, query: str, wanted: list[str]) -> None:
    page.get_by_label("Search everything").fill(query)

    expect_ids(page, *wanted)


@pytest.mark.parametrize(
    ("order", "first", "last"),
    [
        ("order", "TestSystemReady", "polite-refusal"),
        ("name", "book-a-trip", "TestSystemReady"),
        ("slowest", "T003", "TestLater"),
        ("fastest", "TestLater", "T003"),
        ("score", "polite-refusal", "book-a-trip"),
        ("tokens", "T001", "polite-refusal"),
    ],
)
def test_results_are_sorted(page: Page, order: str, first: str, last: str) -> None:
    page.get_by_label("Order").select_option(order)

    expect(page.locator(".row-id").first).to_have_text(first)
    expect(page.locator(".row-id").last).to_have_text(last)


def test_a_failed_script_test_shows_values_code_stack_steps_and_logs(page: Page) -> None:
    detail = expand(page, "TestSetupReturnsId")

    why = detail.get_by_role("group", name="Why it failed")
    assert why.locator(".message").all_inner_texts() == ["assertion failed: Result ID should match"]
    assert [value.inner_text() for value in why.locator(".pair .value").all()] == ["1", "2"]
    code = [line.inner_text().split("\n") for line in why.locator(".frame .line").all()]
    assert [line[0] for line in code] == ["4", "5", "6", "7", "8"]
    assert code[3] == ["7", '  t.assert.Equal(result.id, 1, "Result ID should match");', "           ^"]
    assert why.locator(".frame .here").count() == 1
    why.get_by_text("Stack").click()
    assert len(lines(why.get_by_role("group", name="Stack"))) == 2
    assert detail.locator(".step-head").all_inner_texts() == [
        "passed\ncreates the record\n4 ms",
        "failed\nreturns its id\n7 ms",
    ]
    assert lines(detail.get_by_role("group", name="Logs")) == ["setting up", "[error] the id was taken"]


def test_a_failed_case_shows_what_is_different(page: Page) -> None:
    detail = expand(page, "T002")

    assert detail.locator(".why .message").all_inner_texts() == [
        "assertion failed: the output is not what was expected",
        'assertion failed: no "submitted" in the answer',
    ]
    first = detail.locator(".assertions > li").nth(0)
    changed = [line.inner_text().split("\n") for line in first.locator(".diff .removed.line, .diff .added.line").all()]
    assert changed[:2] == [["−", '  "status": "submitted",'], ["+", '  "status": "draft",']]
    assert detail.locator(".assertion > summary .assertion-type").all_inner_texts() == ["equals", "contains", "regex"]
    assert detail.locator(".assertion[open]").count() == 2
    assert [lines(bubble) for bubble in detail.locator(".chat .bubble").all()][:2] == [
        ["User", "I paid 3500 EUR for the trip"],
        ["Assistant", "Shall I submit it?"],
    ]
    detail.locator(".tool > summary").click()
    assert lines(detail.get_by_role("group", name="Arguments of create_expense")) == [
        "{",
        '  "amount": 3500,',
        '  "type": "travel"',
        "}",
    ]
    assert lines(detail.get_by_role("group", name="Result of create_expense")) == ["403: the user may not submit"]


def test_turns_are_a_chat_and_checkpoints_a_timeline(page: Page) -> None:
    detail = expand(page, "book-a-trip")

    assert [lines(bubble) for bubble in detail.locator(".bubble").all()] == [
        ["User", "I need to go to Lisbon next week"],
        ["Agent", "For how many nights?"],
        ["User (simulated)", "Three, and find something near the river"],
        ["Agent", "Booked: three nights by the Tejo, 640 EUR."],
        ["User (simulated)", "Send me the invoice"],
        ["Agent", "I cannot do that."],
    ]
    assert detail.locator(".turn.failed .problem").first.inner_text() == 'Turn 3: no "invoice" in the answer'
    assert [lines(item) for item in detail.locator(".timeline > li").all()] == [
        ["Turn 1", "asks-for-nights", "The agent asks how long"],
        ["Turn 2", "books"],
        ["Not reached", "offers-insurance optional", 'no "insurance" in any answer'],
        ["Not reached", "sends-invoice", 'no "invoice" in any answer'],
    ]
    detail.locator(".tool > summary").click()
    assert '"trip": "L-204"' in detail.get_by_role("group", name="Result of book_trip").inner_text()


def test_a_graded_conversation_shows_its_scores_and_trials(page: Page) -> None:
    detail = expand(page, "polite-refusal")

    assert detail.locator(".score-head .figure").all_inner_texts() == ["100 %", "60 %"]
    assert [lines(item)[1:] for item in detail.locator(".criteria > li").all()] == [
        ["Asks for what is missing", "It asks for the number of nights", "100 %"],
        ["Names the price weight 2", "100 %"],
        ["Confirms the dates required", "No date is in the answer", "0 %"],
    ]
    assert [row.split() for row in detail.locator("tbody tr").all_inner_texts()] == [
        ["1", "passed", "passed", "80", "%", "800", "ms"],
        ["2", "failed", "failed", "–", "910", "ms", "no", "answer"],
    ]


def test_what_was_not_judged_is_counted_and_marked(open_report: Any) -> None:
    judge = {**assertion("agent", True, "Is polite", message="No model judged"), "judged": False}
    criterion = {"text": "Is short", "passed": True, "judged": False, "weight": 1, "reason": "No model judged"}
    score = {"name": "turn-1", "type": "rubrics", "score": None, "verdict": "pass", "assertions": [criterion]}
    checkpoint = {"id": "polite", "reached_at_turn": 1, "passed": True, "required": True, "judged": False}
    talk = {"mode": "conversation", "turns": [], "score": None, "scores": [score], "checkpoints": [checkpoint]}
    page = open_report(
        report(
            [suite(CASES)],
            [
                result(CASES, "one", input="Hi", assertions=[judge], not_judged=1),
                result(CASES, "talk", input="Hi", not_judged=2, **talk),
                result(CASES, "empty", input="Hi", assertions=[], checks_nothing=True),
            ],
        )
    )

    said = page.locator(".verdict .note").all_inner_texts()
    assert said == ["3 criteria were not judged", "1 case checks nothing: empty"]
    assert page.locator(".row-facts .badge.warning").all_inner_texts() == [
        "1 not judged",
        "2 not judged",
        "checks nothing",
    ]
    one = expand(page, "one")
    assert "not judged" in one.locator(".assertion.skipped > summary").inner_text()
    talked = expand(page, "talk")
    assert talked.locator(".score-head .figure").all_inner_texts() == ["not judged"]
    assert [lines(item)[1:] for item in talked.locator(".criteria > li").all()] == [
        ["Is short not judged", "No model judged"]
    ]
    assert "not judged" in talked.locator(".timeline > li.skipped").inner_text()
    assert "without checking anything" in expand(page, "empty").inner_text()


def test_everything_is_reached_with_the_keyboard(open_report: Any, whole: tuple[Report, Path]) -> None:
    page = open_report(whole[1])
    page.keyboard.press("/")
    expect(page.get_by_label("Search everything")).to_be_focused()
    page.get_by_role("button", name="CSV", exact=True).focus()
    page.keyboard.press("Tab")
    expect(page.locator(".row-head").nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".row-head").nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    detail = page.get_by_role("region", name="Result T002")
    expect(detail.get_by_role("button", name="Copy command")).to_be_visible()
    page.keyboard.press("Tab")
    expect(detail.get_by_role("button", name="Copy command")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowLeft")
    expect(detail).to_have_count(0)
    page.keyboard.press("End")
    expect(page.locator(".row-head").last).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.rows')") is None
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Home")
    expect(page.locator(".row-head").nth(0)).to_be_focused()


def test_two_results_of_one_id_are_two_results(open_report: Any) -> None:
    page = open_report(
        report([suite(CASES)], [result(CASES, "a", output=1, input="one"), result(CASES, "a", output=2, input="two")])
    )

    page.evaluate(f"location.hash = 'result={CASES}/a~2'")

    expect(page.get_by_role("region", name="Result a")).to_have_count(1)
    assert page.get_by_role("group", name="Output").inner_text() == "2"


def test_errors_of_the_run_stand_above_all(open_report: Any) -> None:
    page = open_report(report([suite(CASES)], [result(CASES, "a")], errors=["Reporter X broke: " + NASTY[:8]]))

    assert page.get_by_role("alert").inner_text() == "Error Reporter X broke: </script"


def test_what_was_expected_is_written_in_its_own_letters(open_report: Any) -> None:
    wanted = {"关键词": ["气候变化"]}
    failed = result(CASES, "a", "failed", input="x", output="no", error="assertion failed: not equal", cause="assertion", assertions=[assertion("equals", False, wanted, "no")])  # fmt: skip
    page = open_report(report([suite(CASES)], [failed]))

    expect(page.locator(".group-expected")).to_have_text('expected {"关键词": ["气候变化"]}')


def test_thousands_of_results_need_few_elements(open_report: Any, tmp_path: Path) -> None:
    times = [time.perf_counter()]
    report = many(4_000)
    times.append(time.perf_counter())
    path = tmp_path / "large.html"
    path.write_text(render(report), "utf-8")
    times.append(time.perf_counter())
    page = open_report(path)
    page.locator(".row").first.wait_for()
    times.append(time.perf_counter())
    figures = (
        f"written in {times[2] - times[1]:.2f} s, {path.stat().st_size >> 10} KB, opened in {times[3] - times[2]:.2f} s"
    )
    print(figures)  # noqa: T201

    assert page.locator(".count").inner_text() == "4,000 results"
    assert page.locator(".row").count() < 60
    assert page.locator(".row-id").first.inner_text() == "C000049"
    page.evaluate("document.querySelector('.rows').scrollIntoView(); scrollBy(0, 54 * 2000)")
    expect(page.get_by_text("C001959", exact=True)).to_be_in_viewport()
    assert page.locator(".row").count() < 60
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.get_by_text("C003998", exact=True)).to_be_in_viewport()
    page.get_by_label("Search everything").fill("expense 3711")
    expect(page.locator(".row-id")).to_have_text(["C003711"])
    page.evaluate(f"location.hash = 'result={CASES}/C003876'")
    expect(page.get_by_role("region", name="Result C003876")).to_be_in_viewport()
    assert page.locator(".row").count() < 60
    page.keyboard.press("End")
    expect(page.locator(".row-head").last).to_be_focused()
    assert page.locator(".row").last.get_attribute("aria-posinset") == "4000"


def test_the_file_is_much_smaller_than_its_results(tmp_path: Path) -> None:
    report = many(2_000)

    assert len(render(report)) < len(str(report.lines)) / 5


def test_the_story_of_a_failure_is_below_the_reason(open_report: Any) -> None:
    place = {"file": "assistants/shop/src/discount.ts", "kind": "returned"}
    story = [
        {"file": "", "line": 0, "depth": 0, "kind": "cut", "text": "7 earlier lines are left out"},
        {**place, "line": 10, "depth": 1, "text": "total is 100"},
        {**place, "line": 9, "depth": 2, "text": "returns 0"},
    ]
    page = open_report(report([suite(SCRIPT)], [result(SCRIPT, "TestBorder", "failed", error="no", story=story)]))

    shown = expand(page, "TestBorder").locator(".part", has_text="What happened before it failed").inner_text()
    assert "7 earlier lines are left out\ndiscount.ts:10  total is 100\ndiscount.ts:9     returns 0" in shown
