"""Cases that were run several times, and reports compared with an older one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import Chromium
from html_pages import as_at_first
from html_reports import CASES, report, result, stable, suite
from playwright.sync_api import Browser, Page, expect

from runner.compare.change_verdict import change_between
from runner.compare.comparison import Thresholds, compare
from runner.reporters.change_lines import variants_of
from runner.reporters.html import render

DRAWN = """canvas => {
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const colors = new Set();
  for (let at = 0; at < pixels.length; at += 4) if (pixels[at + 3] === 255) colors.add(pixels.slice(at, at + 3).join(' '));
  return [...colors];
}"""


def expand(page: Page, id: str) -> Any:
    page.locator(".row-head", has=page.get_by_text(id, exact=True)).click()
    detail = page.get_by_role("region", name=f"Result {id}", exact=True)
    detail.locator(".actions").wait_for()
    return detail


def test_charts_show_how_stable_cases_are(open_report: Any) -> None:
    page = open_report(stable())

    section = page.get_by_role("region", name="Stability 70 runs of 14 cases")
    assert [text.strip() for text in section.locator(".legend li").all_inner_texts()] == [
        "Stable 8",
        "Mostly Stable 2",
        "Unstable 2",
        "Highly Unstable 2",
    ]
    rates, times = section.locator("canvas").all()
    green, red = "23 117 58", "196 35 47"
    assert {green, red} <= set(rates.evaluate(DRAWN))
    assert {"188 214 251", "11 87 194"} <= set(times.evaluate(DRAWN))
    cells = [row.split("\n") for row in section.locator("tbody tr").all_inner_texts()]
    assert [row[0].strip() for row in cells] == [
        "S012",
        "S005",
        "S007",
        "S014",
        "S003",
        "S010",
    ]


def test_charts_take_the_colours_of_the_theme(open_report: Any) -> None:
    page = open_report(stable())

    page.get_by_role("button", name="Theme:").click()
    page.get_by_role("button", name="Theme: Light").click()

    expect(page.get_by_role("button", name="Theme: Dark")).to_be_visible()
    assert "76 194 110" in page.locator("canvas").first.evaluate(DRAWN)


def test_a_click_on_the_chart_or_the_table_opens_the_case(open_report: Any) -> None:
    page = open_report(stable())

    page.get_by_role("button", name="S007").last.click()
    expect(page.get_by_role("region", name="Result S007")).to_be_in_viewport()
    page.evaluate("scrollTo(0, 0)")
    over = page.locator(".u-over").first
    box = over.bounding_box()
    assert box
    over.click(position={"x": 8, "y": box["height"] - 8})
    expect(page.get_by_role("region", name="Result S012")).to_be_in_viewport()


def test_a_case_shows_each_of_its_runs(open_report: Any) -> None:
    page = open_report(stable())

    expect(page.locator(".row", has_text="S003").get_by_role("img", name="4 of 5 runs passed")).to_be_visible()
    detail = expand(page, "S003")
    figures = detail.locator(".figures div").all_inner_texts()
    assert [figure.split("\n") for figure in figures] == [
        ["Run pass rate", "80 %"], ["Consistency", "0.8"], ["Mean duration", "430 ms"], ["Range", "274 ms – 690 ms"], ["Deviation", "153 ms"],
    ]  # fmt: skip
    assert [row.split()[:3] for row in detail.locator("tbody tr").all_inner_texts()] == [
        ["1", "failed", "failed"], *[[str(run), "passed", "passed"] for run in range(2, 6)],
    ]  # fmt: skip
    detail.get_by_text("Output of run 1").click()
    assert '"spam"' in detail.get_by_role("group", name="Output of run 1").inner_text()


def test_cases_are_sorted_by_stability(open_report: Any) -> None:
    page = open_report(stable())

    page.get_by_label("Order").select_option("stability")

    expect(page.locator(".row-id").first).to_have_text("S005")
    expect(page.locator(".row-id").last).to_have_text("S013")


def test_one_run_has_no_stability(open_report: Any) -> None:
    page = open_report(report([suite(CASES)], [result(CASES, "a")]))

    assert page.get_by_text("Stability").count() == 0


@pytest.fixture(scope="module")
def comparison(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Page:
    """The page of a report that is compared with an older one, opened once."""

    def made(*rows: tuple[str, str, int, Any], timestamp: str) -> Any:
        results = [
            result(CASES, id, status, ms, input="x", output=output, error="no" if status == "failed" else None)
            for id, status, ms, output in rows
        ]
        return report([suite(CASES)], results, timestamp=timestamp)

    before = made(
        ("same", "passed", 10, {"a": 1}), ("broke", "passed", 10, "yes"), ("mended", "failed", 10, "no"), ("still", "failed", 10, "no"),
        ("slow", "passed", 100, 1), ("gone", "passed", 10, 1), ("other", "passed", 10, {"a": 1, "b": 2}), ("later", "passed", 1, 1),
        timestamp="2026-11-20T08:00:00Z",
    )  # fmt: skip
    now = made(
        ("same", "passed", 11, {"a": 1}), ("broke", "failed", 10, "no"), ("mended", "passed", 10, "no"), ("still", "failed", 10, "no"),
        ("slow", "passed", 400, 1), ("new", "passed", 10, 1), ("other", "passed", 10, {"a": 1, "b": 3}), ("later", "skipped", 0, 1),
        timestamp="2026-11-22T08:00:00Z",
    )  # fmt: skip
    path = tmp_path_factory.mktemp("compared") / "report.html"
    path.write_text(render(now, before), "utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.locator(".row").first.wait_for()
    return page


@pytest.fixture
def compared(comparison: Page) -> Iterator[Page]:
    """That page as it was at first."""
    with as_at_first(comparison, 8):
        yield comparison


def test_a_baseline_says_what_changed(compared: Page) -> None:
    section = compared.get_by_role("region", name="Compared with the baseline of 20 Nov 2026, 08:00")

    assert section.locator(".chip").all_inner_texts() == [
        "New failures 1", "Still failing 1", "Fixed 1", "Slower 1", "Changed outputs 1", "Other status 1", "Added 1",
    ]  # fmt: skip
    assert section.locator(".outcome").inner_text() == "1 result looks worse"
    assert section.locator(".figures > div").all_inner_texts() == [
        "Results\n8 → 8",
        "Case pass rate\n66.7% → 66.7%",
        "Duration\n25ms → 75ms",
    ]
    section.get_by_text("1 result of the baseline not run").click()
    assert section.locator(".links li").all_inner_texts() == ["gone"]


@pytest.mark.parametrize(
    ("kind", "wanted"),
    {"New failures": ["broke"], "Fixed": ["mended"], "Slower": ["slow"], "Added": ["new"], "Changed outputs": ["other"], "Other status": ["later"]}.items(),
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_changed_is_a_filter(compared: Page, kind: str, wanted: list[str]) -> None:
    button = compared.locator(".chips").get_by_role("button", name=kind)
    button.click()

    expect(compared.locator(".row-id")).to_have_text(wanted)
    button.click()
    expect(compared.locator(".row")).to_have_count(8)


def test_a_result_shows_how_its_output_changed(compared: Page) -> None:
    detail = expand(compared, "other")

    lines = [line.inner_text().split("\n") for line in detail.locator(".diff .line").all()]
    assert lines == [[" ", "{"], [" ", '  "a": 1,'], ["−", '  "b": 2'], ["+", '  "b": 3'], [" ", "}"]]
    assert "The output is the same." in expand(compared, "same").inner_text()


def test_a_baseline_says_what_of_the_application_changed(open_report: Any) -> None:
    def made(status: str, model: str) -> Any:
        made_of = {"format": 1, "model local": model, "prompts demo": "1"}
        return report([suite(CASES)], [result(CASES, "a", status, input="x", output=1, fingerprint=made_of)])

    page = open_report(made("failed", "2"), made("passed", "1"))

    section = page.get_by_role("region", name="Compared with the baseline")
    expect(section.locator(".parts")).to_have_text("Changed since the baseline: model of local (1 result)")
    assert "changed: model of local" in expand(page, "a").inner_text()


def repeated(id: str, passed: int, failed: int, **more: Any) -> Any:
    statuses = ["passed"] * passed + ["failed"] * failed
    attempts = [{"run": run, "status": status, "duration_ms": 10} for run, status in enumerate(statuses, 1)]
    times = {f"{name}_duration_ms": 10 for name in ("avg", "min", "max")}
    runs = {
        "count": len(statuses),
        "passed": passed,
        "pass_rate": 100 * passed / len(statuses),
        **times,
        "std_deviation_ms": 0,
    }
    status = "failed" if failed else "passed"
    return result(CASES, id, status, 10, input="x", output=1, runs={**runs, "attempts": attempts}, **more)


def broken(id: str) -> Any:
    return result(CASES, id, "failed", 10, input="x", output=1, error="HTTP 503", cause="infrastructure")


def test_the_page_says_what_the_comparison_says(open_report: Any) -> None:
    old = [
        repeated("far", 9, 1),
        repeated("little", 9, 1),
        result(CASES, "talk", mode="conversation", score=0.95),
        result(CASES, "down"),
    ]
    new = [
        repeated("far", 1, 9),
        repeated("little", 8, 2),
        result(CASES, "talk", mode="conversation", score=0.82),
        broken("down"),
    ]
    page = open_report(report([suite(CASES)], new), report([suite(CASES)], old))

    section = page.get_by_role("region", name="Compared with the baseline")
    assert section.locator(".outcome").inner_text() == "1 result looks worse, 1 error"
    assert section.locator(".chip").all_inner_texts() == ["Lower pass rates 2", "Flaky 2", "Errors 1", "Lower scores 1"]
    badges = {
        row.locator(".row-id").inner_text(): row.locator(".badge").all_inner_texts()
        for row in page.locator(".row").all()
    }
    assert badges == {
        "far": ["looks worse", "lower pass rate"],
        "little": ["lower pass rate", "flaky"],
        "down": ["error", "infrastructure"],
        "talk": ["lower score", "conversation"],
    }
    assert expand(page, "far").locator(".earlier + .links li").all_inner_texts() == [
        "Lower pass rates: 9 of 10 → 1 of 10 runs passed, looks worse",
        "Flaky: flaky → flaky (9 of 10 → 1 of 10 runs passed)",
    ]
    assert expand(page, "talk").locator(".earlier + .links li").all_inner_texts() == ["Lower scores: score 0.95 → 0.82"]
    assert expand(page, "down").locator(".earlier").inner_text().endswith("Error in 10 ms")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_says_whether_it_is_worse(open_report: Any, tmp_path: Path, scheme: str) -> None:
    def made(marks: dict[str, tuple[int, int]], timestamp: str) -> Any:
        return report([suite(CASES)], [repeated(id, *runs) for id, runs in marks.items()], timestamp=timestamp)

    steady = {f"c{at}": (5, 0) for at in range(30)}
    old = made(steady, "2026-11-20T08:00:00Z")
    new = made({**steady, "c3": (0, 5), "c4": (4, 1)}, "2026-11-22T08:00:00Z")
    path = tmp_path / "verdict.html"
    path.write_text(render(new, old, None, [("new.jsonl", change_between(old, new))]), "utf-8")
    page = open_report(path, scheme=scheme)

    section = page.get_by_role("region", name="Compared with the baseline")
    assert section.locator(".outcome").inner_text() == "Regressed: 2 of 30 cases got worse."
    measures = section.get_by_role("group", name="Measures with their intervals")
    passed = measures.get_by_role("row").nth(1)
    assert passed.get_by_role("rowheader").inner_text() == "Case pass rate"
    assert [cell.inner_text() for cell in passed.get_by_role("cell").all()] == [
        "100% (88.6-100%)",
        "96.0% (83.4-99.1%)",
        "-4.0 points (-6.9 to -1.1)",
        "regressed",
    ]
    bars = passed.locator("svg.whisker")
    assert [bar.get_attribute("aria-hidden") for bar in bars.all()] == ["true"] * 3
    bar, middle, zero = (bars.nth(2).locator(f"css={part}").bounding_box() for part in ("path", "circle", "line.zero"))
    assert bar and middle and zero
    assert bar["x"] < middle["x"] < bar["x"] + bar["width"] < zero["x"]
    assert bars.nth(0).locator("path").evaluate("one => getComputedStyle(one).stroke") == (
        "rgb(11, 87, 194)" if scheme == "light" else "rgb(121, 176, 255)"
    )
    fell = section.get_by_role("group", name="Cases that got worse").get_by_role("row")
    assert [row.inner_text().split("\t") for row in fell.all()][1:] == [
        ["c3", "5/5", "0/5", "0.004", "worse"],
        ["c4", "5/5", "4/5", "0.500", "lower"],
    ]
    assert section.locator(".lists").inner_text() == "2 results look worse"


@pytest.mark.parametrize("factor", [1.5, 4.0])
def test_the_page_has_no_thresholds_of_its_own(open_report: Any, factor: float) -> None:
    old, new = (report([suite(CASES)], [result(CASES, "a", ms=ms)]) for ms in (1000, 3000))
    path = open_report(new, old)
    assert path.locator(".chip").all_inner_texts() == ["Slower 1"]

    found = compare(old, new, Thresholds(slower_factor=factor))
    page = open_report(new, old, found=found)
    assert page.locator(".outcome").inner_text() == ("Nothing looks worse" if factor == 1.5 else "No changes")
    assert page.locator(".chip").all_inner_texts() == (["Slower 1"] if factor == 1.5 else [])


def test_the_second_result_of_a_name_goes_with_the_second(open_report: Any) -> None:
    old = report(
        [suite(CASES)], [result(CASES, "a", output="first", input="x"), result(CASES, "a", output="second", input="x")]
    )
    new = report(
        [suite(CASES)], [result(CASES, "a", output="first", input="x"), result(CASES, "a", output="third", input="x")]
    )
    page = open_report(new, old)

    page.locator(".row-head").nth(1).click()
    expect(page.locator(".detail .diff .line")).to_have_text(["−second", "+third"])


def test_variants_are_a_matrix_with_their_answers_side_by_side(chromium: Chromium, tmp_path: Path) -> None:
    suites = [{**suite("c.jsonl"), "id": f"c.jsonl [{name}]", "variant": name} for name in ("old", "new")]
    answers = {"same": ("Yes.", "Yes."), "other": ("Be brief.", "Be <b>long</b>.")}
    results = [
        result(one["id"], id, "passed" if at == 0 or id == "same" else "failed", input="x", output=said[at])
        for at, one in enumerate(suites)
        for id, said in answers.items()
    ]
    kept = report(suites, results)
    path = tmp_path / "variants.html"
    path.write_text(render(kept, variants=variants_of(kept)))
    page = chromium.usual
    page.goto(path.as_uri())

    section = page.get_by_role("region", name="Variants")
    table = section.get_by_role("group", name="Cases by variants")
    table.wait_for()
    assert [row.inner_text().split() for row in table.locator("tbody tr").all()] == [
        ["other", "other", "answer", "1/1", "0/1"],
        ["same", "1/1", "1/1"],
    ]
    assert "new: 1 of 2 cases got worse. Too few runs to be sure." in section.inner_text()
    table.get_by_role("button", name="other").click()
    old, new = section.locator("figure").all()
    assert (old.inner_text(), new.inner_text()) == ("old\n\nBe brief.", "new\n\nBe <b>long</b>.")
    assert [mark.inner_text() for mark in new.locator("mark").all()] == ["<b>long</b>"]
