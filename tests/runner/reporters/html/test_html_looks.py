"""How a page looks: light, dark, narrow, printed; and whether everybody can use it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from browsers import assert_accessible, assert_fits_a_phone
from html_reports import report, result, stable, suite
from playwright.sync_api import Browser, Page, expect
from table_tests import each

from runner.compare.variants import verdicts_on
from runner.record.report import Report
from runner.reporters.change_lines import variants_record
from runner.reporters.html import render

LIGHT, DARK = "rgb(246, 247, 249)", "rgb(14, 17, 22)"


def background(page: Page) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def open_all(page: Page) -> None:
    """Opens every result, and everything that is closed in them."""
    closed = page.locator(".row-head[aria-expanded=false]")
    for _ in range(10):  # rows that a page draws again while it loads, or as it scrolls, are closed
        page.evaluate("document.querySelectorAll('.row-head[aria-expanded=false]').forEach((head) => head.click())")
        with suppress(AssertionError):
            expect(closed).to_have_count(0, timeout=2000)
            break
    expect(closed).to_have_count(0)
    expect(page.locator(".loading")).to_have_count(0)
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")


@pytest.mark.parametrize(("scheme", "color"), [("light", LIGHT), ("dark", DARK)])
def test_the_colours_are_those_of_the_system(page: Page, scheme: Any, color: str) -> None:
    page.emulate_media(color_scheme=scheme)

    assert background(page) == color


def test_the_colours_can_be_chosen_and_stay(open_report: Any, whole: tuple[Report, Path]) -> None:
    page = open_report(whole[1], color_scheme="dark")

    seen = []
    for _ in range(3):
        button = page.get_by_role("button", name="Theme:")
        button.click()
        seen.append((button.inner_text(), background(page)))
    page.get_by_role("button", name="Theme:").click()
    assert seen == [("Theme: Light", LIGHT), ("Theme: Dark", DARK), ("Theme: Auto", DARK)]
    assert page.evaluate("localStorage.getItem('yao-test-theme')") == "light"


REPORTS = ["everything", "stability"]


@pytest.fixture(scope="module")
def expanded(browser: Browser, whole: tuple[Report, Path]) -> Callable[[str], Page]:
    """One of the reports with everything opened, on a page that has been there since it was first asked for."""

    @cache
    def of(name: str) -> Page:
        path = whole[1]
        if name == "stability":
            path = path.with_name("stable.html")
            path.write_text(render(stable(7)), "utf-8")
        page = browser.new_page()
        page.goto(path.as_uri())
        open_all(page)
        return page

    return of


@each("width", [390, 768, 1280, 1920])
@each("report", REPORTS)
def test_nothing_is_wider_than_the_window(expanded: Callable[[str], Page], report: str, width: int) -> None:
    page = expanded(report)
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    open_all(page)

    assert page.evaluate("document.documentElement.scrollWidth") == width
    wide = "[...document.querySelectorAll('.detail > *, .card, .row-head')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.className)"
    assert page.evaluate(wide) == []


@pytest.mark.parametrize("name", [*REPORTS, "variants", "comparison"])
def test_tables_are_blocks_on_a_phone(
    browser: Browser, expanded: Callable[[str], Page], tmp_path: Path, name: str
) -> None:
    if name in REPORTS:
        open_all(page := expanded(name))
        assert_fits_a_phone(page)
        return
    long = "assistants/desk/tests/a-file-of-cases-with-a-long-name.jsonl"
    ids = ["asks-about-a-gift-card-that-has-expired-long-ago", "returns-without-a-receipt", "greets"]
    made = {}
    for variant, status in (("as-usual", "passed"), ("with-a-terse-prompt", "failed")):
        named = {**suite(f"{long} [{variant}]"), "label": long, "file": long, "variant": variant}
        more = {"output": f"said {status}", "tokens": {"input": 1234, "output": 567}, "cost": 0.0123}
        made[variant] = (named, [result(named["id"], id, status, 1234, input="x", **more) for id in ids])
    both = report([named for named, _ in made.values()], [one for _, results in made.values() for one in results])
    compared = verdicts_on(both)
    before, after = compared.parts
    path = tmp_path / "page.html"
    if name == "variants":
        path.write_text(render(both, variants=variants_record(compared)), "utf-8")
    else:
        path.write_text(render(after, before, verdicts=[("after.jsonl", compared.verdicts[0])] * 2), "utf-8")
    with closing(browser.new_page(viewport={"width": 390, "height": 844})) as page:
        page.goto(path.as_uri())
        page.locator(".row").first.wait_for()
        open_all(page)
        page.evaluate(
            "document.querySelectorAll('.variants .link[aria-expanded=false]').forEach((head) => head.click())"
        )
        assert page.locator(".table").count() > 1
        assert_fits_a_phone(page)


def test_long_names_of_suites_and_tags_fit_a_phone(browser: Browser, tmp_path: Path) -> None:
    suites = [suite(f"assistants/{'a-long-folder/' * 20}{name}.jsonl") for name in "ab"]
    results = [result(each["id"], f"{'x' * 300}{at}", tags=[f"{'y' * 300}{at}"]) for at, each in enumerate(suites)]
    path = tmp_path / "long.html"
    path.write_text(render(report(suites, results)), "utf-8")
    with closing(browser.new_page(viewport={"width": 390, "height": 800})) as page:
        page.goto(path.as_uri())
        assert page.get_by_role("combobox").count() > 3, "one of suites and one of tags among them"
        open_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_open_results_do_not_cover_each_other(page: Page) -> None:
    open_all(page)

    page.wait_for_function("""() => {
      const boxes = [...document.querySelectorAll('.row')].map((row) => row.getBoundingClientRect());
      return boxes.length === 9 && boxes.every((box, at) => at === 0 || Math.round(box.top - boxes[at - 1].bottom) === 0);
    }""")


def test_a_printed_page_shows_every_result_and_failures_in_full(page: Page) -> None:
    page.emulate_media(media="print", color_scheme="dark")

    expect(page.get_by_role("group", name="Why it failed")).to_have_count(5)
    assert page.locator(".row-id").count() == 9
    assert not page.locator(".toolbar").is_visible()
    assert not page.get_by_role("button", name="Copy command").first.is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('.summary')).backgroundColor") == "rgb(255, 255, 255)"
    boxes = [row.bounding_box() for row in page.locator(".row").all()]
    page.emulate_media(media="screen")
    assert all(
        after["y"] >= before["y"] + before["height"] - 1 for before, after in pairwise(boxes) if before and after
    )


def test_a_page_printed_by_the_browser_shows_failures_in_full(page: Page) -> None:
    page.emulate_media(media=None, color_scheme=None)
    page.wait_for_function("""() => {
      dispatchEvent(new Event('beforeprint'));
      const shown = document.querySelectorAll('.why').length;
      dispatchEvent(new Event('afterprint'));
      return shown === 5;
    }""")
    page.evaluate(
        "addEventListener('beforeprint', () => { window.printed = document.querySelectorAll('.why').length; })"
    )

    pdf = page.pdf(format="A4")

    assert pdf.startswith(b"%PDF")
    assert page.evaluate("window.printed") == 5
    expect(page.get_by_role("group", name="Why it failed")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("report", REPORTS)
def test_everybody_can_use_it(expanded: Callable[[str], Page], report: str, scheme: Any) -> None:
    page = expanded(report)
    page.emulate_media(color_scheme=scheme)
    open_all(page)

    assert_accessible(page, scheme)


def test_the_landmarks_and_headings_are_an_outline(page: Page) -> None:
    assert [page.get_by_role(role).count() for role in ("banner", "main", "contentinfo", "search")] == [1, 1, 1, 1]
    headings = page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3')].map(h => h.tagName + ' ' + h.textContent.trim())"
    )
    rates = "H2 Rates with 95% intervals"
    failed = ["H2 4 of 9 tests failed", "H2 What failed for 5 reasons"]
    assert headings == ["H1 Test report", *failed, rates, "H2 Results"]
