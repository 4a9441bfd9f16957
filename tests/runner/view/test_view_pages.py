"""The pages of `yao-test view` in a real browser: what they show, and what people can do with them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import assert_accessible, assert_fits_a_phone
from command import Application, eventually, make_application
from html_reports import CASES, NASTY, report, result, suite
from kept_runs import keep, multiply
from playwright.sync_api import Page, expect
from view_server import View, ids, opened, serving
from viewed_application import FILES

from runner.planning.last_failed import STORE as FOLDER
from runner.store.places import Revision
from runner.store.store import Store

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001"
    "a5f645400000000049454e44ae426082"
)
"""A PNG of one pixel."""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Application:
    """An application with a run of it in its store."""
    application = make_application(
        tmp_path_factory.mktemp("pages"), {**FILES, "/assistants/demo/tests/room.png": PICTURE}
    )
    (application.root / FOLDER).mkdir()
    run = application.run("-i", "assistants/demo/tests/cases.jsonl", "-q", "--trace", "full")
    assert run.code == 1, run
    return application


@pytest.fixture(scope="module")
def view(here: Application) -> Iterator[View]:
    with serving(here.root / FOLDER, here.root, here.environment) as view:
        yield view


def test_the_runs_are_listed_and_found(elsewhere: View, look: Any) -> None:
    page = look(elsewhere)
    runs = page.locator(".run")
    expect(runs).to_have_count(3)
    expect(runs.nth(0)).to_contain_text("main @ 22222222")
    expect(runs.nth(0)).to_contain_text("1 of 2 passed")
    expect(runs.nth(2)).to_contain_text("scripts.expense.setup")
    page.keyboard.press("/")
    page.keyboard.type("11111111")
    expect(runs).to_have_count(1)
    expect(page.get_by_role("status")).to_have_text("1 of 3 runs")


def test_runs_are_reached_without_a_mouse(elsewhere: View, look: Any) -> None:
    page = look(elsewhere)
    titles = page.locator(".run-title")
    titles.first.focus()
    page.keyboard.press("ArrowDown")
    expect(titles.nth(1)).to_be_focused()
    page.keyboard.press("End")
    expect(titles.nth(2)).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(page.locator(".row-id")).to_have_text(["late", "dog"])
    page.locator(".row-head").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Result dog")).to_contain_text("Yes, dogs are welcome.")


def focused(page: Page) -> str:
    """What the element with the focus is called."""
    return str(page.evaluate("(document.activeElement.labels?.[0] ?? document.activeElement).textContent"))


def pressed(page: Page, *keys: str) -> str:
    """The same after these keys."""
    for key in keys:
        page.keyboard.press(key)
    return focused(page)


def test_every_page_is_used_with_keys_alone(elsewhere: View, view: View, look: Any) -> None:
    page = look(elsewhere)
    expect(page.locator(".run")).to_have_count(3)
    assert pressed(page, "Tab", "Enter", "ArrowDown") == "2 Jan 2099, 09:00:00"
    assert pressed(page, "Shift+Tab") == "Compare the run of 2 Jan 2099, 09:00:00"
    page.keyboard.press("Space")
    assert pressed(page, "Tab", "ArrowDown", "Shift+Tab") == "Compare the run of 1 Jan 2099, 09:00:00"
    page.keyboard.press("Space")
    compare = page.get_by_role("link", name="Compare 2 runs")
    compare.focus()
    page.keyboard.press("Enter")
    table = page.get_by_label("Cases by variants")
    table.focus()
    assert pressed(page, "ArrowDown", "ArrowDown", "Enter") == "late"
    expect(table.locator(".answer")).to_have_text(["No dogs, please.", "Yes, dogs are welcome.", "No.", "No."])
    assert pressed(page, "ArrowUp", "ArrowUp") == "dog"
    page.get_by_role("link", name="Tests").focus()
    page.keyboard.press("Enter")
    page.locator(".table").focus()
    last = page.locator("tbody a").last.inner_text()
    assert pressed(page, "ArrowDown", "End") == last
    page.keyboard.press("/")
    page.keyboard.type("late")
    expect(page.locator("tbody tr")).to_have_count(2)  # TestLater too
    assert pressed(page, "Tab", "Tab") == "late"
    page.keyboard.press("Enter")
    page.locator(".table").focus()
    assert pressed(page, "ArrowDown", "ArrowDown") == "1 Jan 2099, 09:00:00"
    assert pressed(page, "Shift+Tab", "ArrowUp") == "Compare the run of 2 Jan 2099, 09:00:00"
    page.keyboard.press("Space")
    assert pressed(page, "ArrowDown", "Space") == "Compare the run of 1 Jan 2099, 09:00:00"
    expect(page.get_by_role("link", name="Compare 2 runs")).to_be_visible()

    page = look(view, "/run", run=ids(view)[-1])
    page.locator(".row-head").first.focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    again = page.get_by_role("button", name="Rerun…")
    expect(again).to_have_count(2)  # that of the run, and that of the result
    again = again.last
    again.focus()
    page.keyboard.press("Enter")
    panel = page.get_by_role("region", name="Run again: one result")
    expect(panel).to_be_focused()
    expect(panel).to_be_in_viewport()
    expect(panel.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    assert pressed(page, "Tab", "Tab", "Tab") == "Close"
    page.keyboard.press("Enter")
    expect(panel).to_have_count(0)
    expect(again).to_be_focused()


def test_two_runs_stand_side_by_side_with_what_differs_marked(elsewhere: View, look: Any) -> None:
    page = look(elsewhere)
    for at in (0, 1):
        page.locator(".run").nth(at).get_by_role("checkbox").check()
    page.get_by_role("link", name="Compare 2 runs").click()
    expect(page.locator(".side").nth(0)).to_contain_text("main @ 11111111")  # the older one is A
    matrix = page.get_by_role("region", name="Answers side by side")
    expect(matrix.locator("tbody th button")).to_have_text(["dog", "late"])
    expect(matrix.get_by_text("other answer")).to_have_count(1)
    expect(matrix.get_by_role("button", name="dog")).to_have_attribute("aria-expanded", "true")
    expect(matrix.get_by_role("button", name="late")).to_have_attribute("aria-expanded", "false")
    expect(matrix.locator(".answer")).to_have_text(["No dogs, please.", "Yes, dogs are welcome."])
    expect(matrix.locator(".answer.added mark")).to_have_text(["Yes,", "are welcome"])
    expect(opened(page, "dog").locator(".diff-body .added")).to_have_text("+Yes, dogs are welcome.")


def test_a_test_is_followed_over_time(elsewhere: View, look: Any) -> None:
    page = look(elsewhere, "/run", run=ids(elsewhere)[0])
    opened(page, "late").get_by_role("link", name="Over time").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("late")
    rows = page.get_by_label("Runs of this test").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("assertion failed: no")
    rows.nth(1).get_by_role("link").click()
    expect(page.get_by_role("region", name="Result late")).to_be_visible()
    page.get_by_role("link", name="Tests").click()
    expect(page.locator("tbody tr").first).to_be_visible()
    page.get_by_label("Search tests").fill("dog")
    expect(page.locator("tbody tr")).to_have_count(1)


def test_long_names_leave_the_rest_in_sight(tmp_path: Path, look: Any) -> None:
    long = "a-name-of-many-letters-" * 20
    suites = [suite(CASES), *(suite(f"assistants/travel/tests/{at}-{long[:60]}.jsonl") for at in range(5))]
    for day, status in ((1, "passed"), (2, "failed")):
        more = {} if day == 1 else {"error": "assertion failed: no", "cause": "assertion"}
        cases = [result(CASES, long, status, input="x", output={"气候": day}, **more)]
        made = report(suites, cases, timestamp=f"2099-01-0{day}T09:00:00Z")
        keep(tmp_path, made, Revision(branch="main", commit=f"{day}" * 40))
    with serving(tmp_path) as view:
        page = look(view)
        expect(page.locator(".run-said").first).to_have_text(re.compile("^main @ 22222222 · "))  # its end is cut off
        for path, values in (("/tests", {}), ("/compare", {"run": ids(view)[::-1]})):
            page = look(view, path, **values)
            tables = page.locator(".table")
            tables.first.wait_for()
            wide = (
                "tables => tables.filter(table => table.scrollWidth > table.clientWidth).map(table => table.ariaLabel)"
            )
            assert tables.evaluate_all(wide) == [], path
        page = look(view, "/test", suite=CASES, test=long)
        since = "Since the run of 2099-01-02 09:00 UTC (commit 22222222): 0 of 1 run passed, 100% before"
        expect(page.locator(".over")).to_contain_text(since)


def test_a_run_is_shown_with_its_trace_and_pictures(view: View, look: Any) -> None:
    page = look(view, "/run", run=ids(view)[-1])
    detail = opened(page, "seen")
    pictures = detail.get_by_role("img", name="room.png")
    expect(pictures).to_have_count(1)
    assert pictures.evaluate("image => [image.naturalWidth, image.src.slice(0, 5)]") == [1, "blob:"]
    expect(detail.get_by_role("img", name="fake.png")).to_have_count(0)
    detail.get_by_text("1 model call").click()
    step = detail.locator(".trace-step").first
    step.locator("summary").first.click()
    expect(step).to_contain_text("Be brief.")
    expect(step.get_by_role("img", name="room.png")).to_be_visible()
    late = opened(page, "late")
    late.get_by_text("2 model calls").click()
    roles = late.get_by_label("Duration and usage by role").locator("tbody th")
    expect(roles).to_have_text(["Agent", "Judge"])


def test_people_say_yes_no_and_why(view: View, look: Any) -> None:
    run = ids(view)[-1]
    page = look(view, "/run", run=run)
    question = opened(page, "late").get_by_role("group", name="is polite")
    expect(question).to_contain_text("judge says yes")
    question.get_by_role("button", name="No").click()
    expect(question.get_by_role("button", name="No")).to_have_attribute("aria-pressed", "true")
    question.get_by_role("textbox").fill(NASTY.replace("\0", ""))
    held: list[Any] = []
    page.route("**/labels", lambda route: held.append(route), times=1)
    question.get_by_role("textbox").press("Tab")
    question.get_by_role("button", name="Yes").press("y")  # before the reason is kept
    while not held:
        page.wait_for_timeout(10)
    held[0].continue_()
    expect(question.get_by_role("button", name="Yes")).to_have_attribute("aria-pressed", "true")

    def label() -> Any:
        with Store(view.folder) as store:
            return [(label.criterion, label.passed, bool(label.why)) for label in store.labels(run)]

    eventually(lambda: label() == [("is polite", True, True)], "the label is kept")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export 1 label").click()
    assert json.loads(Path(download.value.path()).read_text("utf-8"))["passed"] is True
    page.reload()
    late = page.get_by_role("region", name="Result late", exact=True)  # the address says that it is open
    again = late.get_by_role("group", name="is polite").get_by_role("button", name="Yes")
    expect(again).to_have_attribute("aria-pressed", "true")
    again.click()
    expect(again).to_have_attribute("aria-pressed", "false")
    assert label() == []


def test_running_again_takes_two_clicks_and_shows_the_output(view: View, look: Any) -> None:
    before = len(ids(view))
    page = look(view, "/run", run=ids(view)[-1])
    opened(page, "late").get_by_role("button", name="Rerun…").click()
    panel = page.get_by_role("region", name="Run again: one result")
    expect(panel.get_by_label("Command")).to_contain_text("--run=^late$")
    assert len(ids(view)) == before
    assert view.get("/api/again")["state"] == "none"
    panel.get_by_role("button", name="Run", exact=True).click()
    expect(panel.get_by_text("ended with exit code 0")).to_be_visible(timeout=30_000)
    expect(panel.get_by_label("Output")).to_contain_text("✓ [late]")
    panel.get_by_role("link").click()
    expect(page.locator(".run")).to_have_count(before + 1)


def test_a_run_from_elsewhere_offers_no_running_again(elsewhere: View, look: Any) -> None:
    page = look(elsewhere, "/run", run=ids(elsewhere)[0])
    expect(page.locator(".row")).to_have_count(2)
    expect(page.get_by_text("It cannot be run again from here")).to_be_visible()
    expect(page.get_by_role("button", name="Run again")).to_have_count(0)


def test_many_results_need_few_elements(tmp_path: Path, look: Any) -> None:
    made = report([suite(CASES)], [result(CASES, "C10000", input="x", output="said")])
    multiply(tmp_path, keep(tmp_path, made), 1400)
    with serving(tmp_path) as view:
        page = look(view, "/run", run=ids(view)[0])
        expect(page.locator(".count")).to_have_text("1,400 results", timeout=30_000)
        assert page.locator(".row").count() < 60
        page.evaluate("document.querySelector('.rows').scrollIntoView(); scrollBy(0, 54 * 700)")
        expect(page.get_by_text("C10700", exact=True)).to_be_in_viewport()
        page.get_by_label("Search everything").fill("said C11371")
        expect(page.locator(".row-id")).to_have_text(["C11371"], timeout=30_000)
        opened(page, "C11371")
        assert page.locator(".row").count() < 60
        search = page.get_by_label("Search everything")
        search.fill("")
        for delay in (150, 155, 160):  # a letter comes while the page is still busy with those before
            search.press_sequentially("said C11 ", delay=delay)
        assert search.input_value() == "said C11 " * 3


PAGES = ["/", "/run", "/tests", "/test", "/compare", "several"]


def expanded(name: str, look: Any, elsewhere: View, view: View) -> Page:
    """A page with everything opened."""
    newest, older = ids(elsewhere)[:2]
    values: dict[str, dict[str, Any]] = {
        "/compare": {"run": [older, newest]}, "several": {"run": [older, newest, older]}, "/test": {"suite": CASES, "test": "late"},
        "/run": {"run": ids(view)[-1]},
    }  # fmt: skip
    shown, path = view if name == "/run" else elsewhere, "/compare" if name == "several" else name
    page: Page = look(shown, path, **values.get(name, {}))
    page.locator({"/": ".run", "/run": ".row", "several": ".variants td"}.get(name, "td")).first.wait_for()
    page.evaluate(
        "document.querySelectorAll('.row-head, .variants .link[aria-expanded=false]').forEach((head) => head.click())"
    )
    if name == "/run":
        expect(page.get_by_role("img", name="room.png").first).to_be_visible()
        page.get_by_role("button", name="Rerun…").first.click()
        expect(page.get_by_label("Command")).to_be_visible()
    if name == "/":
        for at in (0, 1):
            page.locator(".run").nth(at).get_by_role("checkbox").check()
    expect(page.locator(".loading")).to_have_count(0)
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    return page


@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_use_it_on_every_screen(look: Any, elsewhere: View, view: View, name: str) -> None:
    page = expanded(name, look, elsewhere, view)
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        assert_accessible(page, scheme)
    assert_fits_a_phone(page)
    for width in (375, 768, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate("document.documentElement.scrollWidth") == width, width
        if width == 375:
            assert_accessible(page, "light")
    assert [page.get_by_role(role).count() for role in ("banner", "main", "contentinfo")] == [1, 1, 1]
    assert page.locator("h1").count() == 1
