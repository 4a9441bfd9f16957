"""Reports of many results."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from html_reports import CASES, many
from playwright.sync_api import expect

from runner.reporters.html import render


def test_ten_thousand_results_need_few_elements(open_report: Any, tmp_path: Path) -> None:
    times = [time.perf_counter()]
    report = many(10_000)
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

    assert page.locator(".count").inner_text() == "10,000 results"
    assert page.locator(".row").count() < 60
    assert page.locator(".row-id").first.inner_text() == "C000049"
    page.evaluate("document.querySelector('.rows').scrollIntoView(); scrollBy(0, 54 * 5000)")
    expect(page.get_by_text("C004897", exact=True)).to_be_in_viewport()
    assert page.locator(".row").count() < 60
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.get_by_text("C009998", exact=True)).to_be_in_viewport()
    page.get_by_label("Search everything").fill("expense 4711")
    expect(page.locator(".row-id")).to_have_text(["C004711"])
    page.evaluate(f"location.hash = 'result={CASES}/C009876'")
    expect(page.get_by_role("region", name="Result C009876")).to_be_in_viewport()
    assert page.locator(".row").count() < 60
    page.keyboard.press("End")
    expect(page.locator(".row-head").last).to_be_focused()
    assert page.locator(".row").last.get_attribute("aria-posinset") == "10000"


def test_the_file_is_much_smaller_than_its_results(tmp_path: Path) -> None:
    report = many(2_000)

    assert len(render(report)) < len(str(report.lines)) / 5
