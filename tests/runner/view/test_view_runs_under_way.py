"""Pages of `yao-test view` that stay open in a real browser while runs and the server go on and end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from command import eventually
from html_reports import CASES, report, result, suite
from kept_runs import KeptRunUnderWay
from playwright.sync_api import expect
from view_server import ids, opened, serving


def test_results_of_a_run_under_way_appear_by_themselves(tmp_path: Path, look: Any) -> None:
    cases = [result(CASES, f"case-{number}", input="x", output="y") for number in range(130)]
    cases[120] |= {"status": "failed", "error": "assertion failed: too late", "cause": "assertion"}
    going = KeptRunUnderWay(tmp_path, report([suite(CASES)], cases))
    going.go_on(3)
    with serving(tmp_path) as view:
        eventually(lambda: ids(view), "the run begins")
        page = look(view)
        expect(page.locator(".run")).to_contain_text("running")
        page.locator(".run-title").click()
        expect(page.locator("h2").first).to_have_text("Running: 3 results so far")
        opened(page, "case-1")
        page.evaluate("window.same = true")
        going.go_on(120)
        expect(page.locator(".count")).to_have_text("123 results")
        expect(page.locator(".row-id").first).to_have_text("case-120")
        expect(page.get_by_role("region", name="Result case-1", exact=True)).to_be_visible()  # it stays open
        expect(opened(page, "case-120").locator(".why")).to_contain_text("too late")
        other = look(view, beside=True)
        going.end()
        expect(page.locator("h2").first).to_have_text("1 of 130 tests failed")
        expect(other.locator(".run .badge")).to_have_count(0)
        assert page.evaluate("window.same")


def test_a_run_that_is_cut_short_is_followed_when_it_goes_on(tmp_path: Path, look: Any) -> None:
    cases = [result(CASES, f"case-{number}", input="x", output="y") for number in range(6)]
    whole = report([suite(CASES)], cases)
    going = KeptRunUnderWay(tmp_path, whole)
    going.go_on(4)
    with serving(tmp_path) as view:
        eventually(lambda: ids(view), "the run begins")
        page = look(view, "/run", run=going.id)
        expect(page.locator(".count")).to_have_text("4 results")
        going.break_off()
        expect(page.locator("h2").first).to_have_text("The run was cut short")
        resumed = KeptRunUnderWay(tmp_path, whole, resumed=going.id)
        resumed.go_on(5)
        expect(page.locator("h2").first).to_have_text("Running: 5 results so far")
        resumed.end()
        expect(page.locator("h2").first).to_have_text("Everything passed")
        expect(page.locator(".count")).to_have_text("6 results")


def test_the_end_of_the_server_is_said(store: Path, look: Any) -> None:
    with serving(store) as view:
        page = look(view)
        page.locator(".run").first.wait_for()
    expect(page.get_by_role("alert")).to_contain_text("yao-test view is not running or cannot be reached")


def test_a_list_that_could_not_be_read_is_asked_for_again(store: Path, look: Any, window: Any) -> None:
    with serving(store) as view:
        page = look(view, "/tests")
        refused = {"status": 400, "json": {"error": "the store is busy"}}
        page.route("**/api/runs?*", lambda route: route.fulfill(**refused), times=2)
        page.get_by_role("link", name="Runs", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("the store is busy")
        expect(page.locator(".run").first).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)
        assert len(window.said) == 2 and all("status of 400" in text for text in window.said)
        window.said.clear()
