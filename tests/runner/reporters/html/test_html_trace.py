"""The trace of a result on the page: folded, the agent apart from its judge, in both colours."""

from __future__ import annotations

from typing import Any

import pytest
from html_reports import CASES, report, result, suite
from playwright.sync_api import expect
from test_html_results import expand

AGENT = {"kind": "model", "role": "agent", "agent": "demo", "turn": 1, "model": "gpt", "duration_ms": 1200}
JUDGE = {"kind": "model", "role": "judge", "agent": "judge", "connector": "openai", "duration_ms": 3, "error": "503"}
TOOL = {"kind": "tool", "role": "agent", "agent": "demo", "name": "find", "server": "shop", "duration_ms": 5}
WHOLE = {
    "totals": {
        "agent": {"model_calls": 1, "tool_calls": 1, "duration_ms": 1205, "input_tokens": 90, "output_tokens": 7},
        "judge": {"model_calls": 1, "tool_calls": 0, "duration_ms": 3},
    },
    "steps": [
        {
            **AGENT,
            "input_tokens": 90,
            "output_tokens": 7,
            "cost": 0.002,
            "before": 2,
            "messages": [
                {"role": "user", "content": "<b>find</b> it"},
                {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "find"}}]},
            ],
            "answer": {"content": "Here it is", "finish_reason": "stop"},
        },
        {**TOOL, "arguments": {"id": 7}, "result": {"left": 0}},
        JUDGE,
    ],
    "cut": True,
}
SUMMARY = {"totals": {"agent": {"model_calls": 1, "tool_calls": 0, "duration_ms": 1200}}, "steps": [AGENT]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_trace_is_folded_and_opens_call_by_call(open_report: Any, scheme: str) -> None:
    page = open_report(report([suite(CASES)], [result(CASES, "a", input="x", trace=WHOLE)]), scheme=scheme)

    detail = expand(page, "a")
    expect(detail.get_by_text("Here it is")).to_be_hidden()
    detail.get_by_text("2 model calls, 1 tool call").click()
    totals = detail.get_by_label("Duration and usage by role").get_by_role("row")
    expect(totals.nth(1)).to_contain_text("Agent")
    expect(totals.nth(1)).to_contain_text("90 in, 7 out")
    expect(totals.nth(2)).to_contain_text("Judge")
    steps = detail.locator(".trace-step")
    expect(steps).to_have_count(3)
    expect(detail.get_by_text("Here it is")).to_be_hidden()
    steps.nth(0).locator("summary").first.click()
    expect(steps.nth(0)).to_contain_text("<b>find</b> it")
    expect(steps.nth(0)).to_contain_text("After 2 messages of its call before")
    expect(steps.nth(0).get_by_text("Here it is")).to_be_visible()
    steps.nth(1).locator("summary").first.click()
    expect(steps.nth(1)).to_contain_text("shop.find")
    expect(steps.nth(1).get_by_text("left")).to_be_visible()
    expect(steps.nth(2)).to_contain_text("503")
    expect(detail.get_by_text("The trace was too long")).to_be_visible()
    text, back = steps.nth(0).evaluate(
        "step => [getComputedStyle(step).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert text != back


def test_a_summary_has_nothing_to_open(open_report: Any) -> None:
    page = open_report(
        report([suite(CASES)], [result(CASES, "a", input="x", trace=SUMMARY), result(CASES, "b", input="y")])
    )

    detail = expand(page, "a")
    detail.get_by_text("1 model call", exact=True).click()
    expect(detail.locator(".trace-step")).to_contain_text("turn 1 · demo · 1.20 s")
    expect(detail.locator(".trace-step details")).to_have_count(0)
    expect(expand(page, "b").get_by_text("Trace", exact=True)).to_have_count(0)
