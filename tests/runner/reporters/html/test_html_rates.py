"""Error bars: the rates and mean scores of a run and of its parts, with whiskers."""

from __future__ import annotations

from typing import Any

import pytest
from html_reports import report, result, suite, summed
from playwright.sync_api import expect

PARTS = [
    {"kind": "suite", "name": "a.jsonl", "cases": 5, "pass_rate": 0.8, "pass_rate_interval": [0.4, 0.96]},
    {"kind": "tag", "name": "<b>smoke</b>", "cases": 3, "pass_rate": 1.0, "pass_rate_interval": [0.4385, 1.0]},
    {"kind": "criterion", "name": "tone", "cases": 2, "mean_score": 0.7, "mean_score_interval": [0.5, 0.9]},
    *({"kind": "checkpoint", "name": f"step-{at:02}", "cases": 1, "pass_rate": 0.0} for at in range(12)),
]
SUMMARY = {"pass_rate": 0.8, "pass_rate_interval": [0.4, 0.96], "mean_score": 0.7, "mean_score_interval": [0.5, 0.9]}


def rated() -> Any:
    made = report([suite("a.jsonl")], [result("a.jsonl", "a"), result("a.jsonl", "b")])
    return summed(made, **SUMMARY, parts=PARTS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_rates_have_whiskers_in_every_theme(open_report: Any, scheme: str) -> None:
    page = open_report(rated(), scheme=scheme)

    section = page.get_by_role("region", name="Rates with 95% intervals")
    rows = {row[0]: row[1:] for row in (text.split("\t") for text in section.locator("tbody tr").all_inner_texts())}
    assert {name: [cell.strip() for cell in cells] for name, cells in rows.items() if cells} == {
        "All cases": ["", "80 % (40 – 96 %)", "70 % (50 – 90 %)"],
        "a.jsonl": ["5", "80 % (40 – 96 %)", ""],
        "<b>smoke</b>": ["3", "100 % (43.9 – 100 %)", ""],
        "tone": ["2", "", "70 % (50 – 90 %)"],
        **{f"step-{at:02}": ["1", "0 %", ""] for at in range(8)},
    }
    whiskers = section.locator(".whisker")
    expect(whiskers).to_have_count(5)
    stroke, back = whiskers.first.evaluate(
        "bar => [getComputedStyle(bar).stroke, getComputedStyle(bar.closest('.card')).backgroundColor]"
    )
    assert stroke != back
    ends = whiskers.first.locator("path").evaluate("path => [path.getBBox().x, path.getBBox().width]")
    assert ends == pytest.approx([3 + 0.4 * 134, 0.56 * 134], abs=0.01)
    expect(page.locator(".summary .ends").first).to_contain_text("80 % (40 – 96 %)")


def test_many_parts_are_shown_when_somebody_asks(open_report: Any) -> None:
    page = open_report(rated())

    section = page.get_by_role("region", name="Rates with 95% intervals")
    section.get_by_role("button", name="4 more").click()
    expect(section.get_by_role("row").filter(has_text="step-11")).to_be_visible()
    section.get_by_role("button", name="Fewer").click()
    expect(section.get_by_role("row").filter(has_text="step-11")).to_have_count(0)


def test_a_run_without_parts_has_no_such_section(open_report: Any) -> None:
    made = rated()
    page = open_report(made.replace(more={**made.more, "parts": []}))

    expect(page.get_by_role("heading", name="Rates")).to_have_count(0)
    expect(page.locator(".summary .whisker")).to_have_count(1)
