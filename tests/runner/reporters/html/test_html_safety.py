"""Whatever is in a result is shown as text, and only the page's own script runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browsers import Chromium
from html_reports import CASES, NASTY, SCRIPT, assertion, everything, report, result, suite
from playwright.sync_api import Page, expect

from runner.reporters.html import render

SHOWN = (
    "</script><script>window.broken=1</script><img src=x onerror=window.broken=1> ␀␛[31m ⟨U+2028⟩ ⟨U+202E⟩gnp.exe <!--"
)


def nasty() -> Any:
    """A report with that text in every place that is shown."""
    tool = {"name": NASTY, "args": {NASTY: NASTY}, "server": NASTY, "result": NASTY}
    turn = {
        "turn": 1, "input": NASTY, "input_source": NASTY, "status": "failed", "output": [{"type": NASTY, "x": NASTY}], "response": NASTY,
        "tool_calls": [tool], "awaiting_input": True, "awaiting_reason": NASTY, "input_hint": NASTY, "error": NASTY, "note": NASTY,
        "question": NASTY, "skip_reason": NASTY, "duration_ms": 1, "assertions": [assertion(NASTY, False, NASTY, NASTY, NASTY, path=NASTY)],
    }  # fmt: skip
    more = {
        "name": NASTY, "error": NASTY, "cause": NASTY, "tags": [NASTY], "input": NASTY, "output": {NASTY: [NASTY]}, "expected": NASTY,
        "assertions": [assertion("equals", False, NASTY, f"{NASTY}!", NASTY, name=NASTY)], "logs": [NASTY], "metadata": {NASTY: NASTY},
        "location": f"{NASTY}:1:1", "stack_trace": f"{NASTY}\n{NASTY}", "skip_reason": NASTY, "sent": [{NASTY: NASTY}], "connector": NASTY,
        "steps": [{"name": NASTY, "status": "failed", "duration_ms": 1, "error": NASTY}],
        "runs": {"count": 2, "passed": 1, "pass_rate": 50, "consistency": 1, "avg_duration_ms": 1, "min_duration_ms": 1, "max_duration_ms": 1,
                 "std_deviation_ms": 0, "classification": NASTY,
                 "attempts": [{"run": 1, "status": "failed", "duration_ms": 1, "error": NASTY, "output": NASTY}, {"run": 2, "status": "passed", "duration_ms": 1}]},
    }  # fmt: skip
    talk = {
        "mode": "dynamic", "turns": [turn], "tags": [NASTY],
        "checkpoints": [{"id": NASTY, "reached_at_turn": None, "passed": False, "required": True, "description": NASTY, "message": NASTY}],
        "scores": [{"name": NASTY, "type": NASTY, "score": 0, "verdict": "fail", "assertions": [{"text": NASTY, "passed": False, "score": 0, "weight": 1, "reason": NASTY}]}],
        "trials": [{"trial": 1, "score": 1, "status": "failed", "duration_ms": 1, "error": NASTY}],
    }  # fmt: skip
    suites = [
        {**suite(NASTY), "label": NASTY, "file": NASTY, "agent": NASTY, "connector": NASTY},
        suite(SCRIPT, "script_test"),
    ]
    made = report(
        suites,
        [result(NASTY, NASTY, "failed", **more), result(SCRIPT, NASTY, **talk)],
        errors=[NASTY],
        warnings=[NASTY],
    )
    who = {**made.start.environment, "user_id": NASTY}
    made = made.replace(start=made.start.replace(environment=who, version=NASTY))
    return made


def open_all(page: Page) -> None:
    page.evaluate("document.querySelectorAll('.row-head').forEach((head) => head.click())")
    expect(page.locator(".row-head[aria-expanded=false]")).to_have_count(0)
    expect(page.locator(".loading")).to_have_count(0)
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")


def test_markup_and_control_characters_are_shown_as_text(open_report: Any) -> None:
    page = open_report(nasty(), nasty())
    open_all(page)
    page.get_by_label("Search everything").fill("</script>")
    expect(page.locator(".row")).to_have_count(2)

    assert page.evaluate("window.broken") is None
    assert (
        page.evaluate("document.querySelectorAll('img, iframe, object, #app script, body > script:not([type])').length")
        == 1
    )
    text = page.evaluate("document.querySelector('#app').textContent")
    assert text.count(SHOWN) >= 60
    for letter in ("\0", "\x1b", "\u2028", "\u202e"):
        assert letter not in text


def test_no_result_is_in_the_markup() -> None:
    page = render(nasty(), nasty())

    head, _, rest = page.partition("<style>")
    assert "window.broken=1</script>" not in page
    assert "gnp.exe" not in rest
    assert head.replace("\n", "").isprintable()


def test_a_foreign_script_does_not_run(chromium: Chromium, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render(everything(tmp_path)), "utf-8")
    page = chromium.usual
    page.goto(path.as_uri())
    refused = page.evaluate(
        """() => new Promise((done) => {
            addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective));
            const script = document.createElement('script');
            script.textContent = 'window.broken = 1';
            document.body.append(script);
        })"""
    )

    assert refused == "script-src-elem"
    assert page.evaluate("window.broken") is None
    policy = page.locator("meta[http-equiv]").get_attribute("content") or ""
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_megabytes_are_shown_in_parts(open_report: Any) -> None:
    long = "<b>0123456789</b>\n" * 60_000
    page = open_report(
        report(
            [suite(CASES)],
            [
                result(
                    CASES,
                    "long",
                    "failed",
                    input="x",
                    output=long,
                    error=long,
                    assertions=[assertion("equals", False, long, long + "!")],
                )
            ],
        )
    )
    open_all(page)

    output = page.get_by_role("group", name="Output")
    assert len(output.inner_text()) == 6000
    page.get_by_role("button", name="Show more (6,000 of 1,080,000 characters)").last.click()
    expect(page.get_by_role("button", name="Show more (206,000 of 1,080,000 characters)")).to_have_count(1)
    assert page.locator("b").count() == 0


VALUES = {
    "lone surrogates": ("a\ud800b", "a\\ud800b"),
    "not a number": ({"x": float("nan")}, '{\n  "x": "NaN"\n}'),
    "infinite": ([float("-inf")], '[\n  "-Infinity"\n]'),
    "emoji and right-to-left": ("👩‍👩‍👧 שלום مرحبا", "👩‍👩‍👧 שלום مرحبا"),
    "nothing": ("", "(empty)"),
    "text in Chinese": ({"回答": "你好"}, '{\n  "回答": "你好"\n}'),
}


@pytest.mark.parametrize(("value", "shown"), VALUES.values(), ids=VALUES)
def test_every_value_is_shown(open_report: Any, value: Any, shown: str) -> None:
    page = open_report(report([suite(CASES)], [result(CASES, "one", input="x", output=value)]))
    open_all(page)

    assert page.get_by_role("group", name="Output").inner_text() == shown


def test_a_report_shows_no_file_but_scripts(open_report: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret.env"
    secret.write_text("KEY=1\n")
    page = open_report(
        report(
            [suite(SCRIPT, "script_test")],
            [result(SCRIPT, "TestA", "failed", error="no", location=f"{secret}:1:1", stack_trace="")],
        )
    )
    open_all(page)

    expect(page.locator(".location")).to_have_text(f"at {secret}:1:1")
    assert page.locator(".frame").count() == 0


def test_a_file_that_was_cut_off_says_so(chromium: Chromium, tmp_path: Path) -> None:
    whole = render(everything(tmp_path))
    broken = tmp_path / "broken.html"
    broken.write_text(whole.replace('id="index"', 'id="lost"'))
    page = chromium.usual
    page.goto(broken.as_uri())

    expect(page.locator("#app")).to_have_text("Cannot show this report: The file is incomplete: it lacks index")
