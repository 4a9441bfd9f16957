"""What leaves a page: links, copies, commands and exports."""

from __future__ import annotations

import csv
import io
import json
import random
from base64 import b64decode
from gzip import decompress
from pathlib import Path
from typing import Any

import pytest
from html_reports import CASES, SCRIPT, TALKS, everything, report, result, suite
from playwright.sync_api import Page, expect
from shown_results import ALL, expand, expect_ids
from table_tests import each

from runner.record.fold import counted
from runner.record.lines import result_of
from runner.record.outcomes import verdict_in
from runner.record.report import Report
from runner.record.saved import load
from runner.record.summary import counts_record
from runner.reporters.html import blocks_of


def test_a_link_leads_to_a_result_and_to_the_same_filters(open_report: Any, tmp_path: Path) -> None:
    page = open_report(everything(tmp_path), hash=f"#status=failed&result={CASES}/T002")

    expect(page.get_by_role("region", name="Result T002")).to_be_in_viewport()
    expect(page.locator(".row-head[data-at='5']")).to_be_focused()
    expect_ids(page, "TestSetupReturnsId", "TestSlowSetup", "T002", "book-a-trip")
    page.locator(".row-head").first.click()
    expect(page.get_by_role("region", name="Result TestSetupReturnsId")).to_be_visible()
    assert page.evaluate("location.hash").endswith("result=scripts.expense.setup%2FTestSetupReturnsId")
    page.evaluate(f"location.hash = 'result={TALKS}/polite-refusal'")
    expect(page.get_by_role("region", name="Result polite-refusal")).to_be_in_viewport()
    expect_ids(page, *ALL)


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("Copy command", "yao-test -i assistants/expense/tests/inputs.jsonl --run '^T002$' --connector deepseek.v3"),
        ("Copy link", f"#result={CASES.replace('/', '%2F')}%2FT002"),
        ("Copy JSON", '"metadata": {\n    "owner": "finance",'),
    ],
)
def test_what_one_needs_is_copied(page: Page, label: str, wanted: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    expand(page, "T002").get_by_role("button", name=label).click()

    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert wanted in page.evaluate("navigator.clipboard.readText()")


COMMANDS = {
    "a script test": (suite(SCRIPT, "script_test"), "TestIt", f"yao-test -i {SCRIPT} --run '^TestIt$'"),
    "a module that broke": (suite(SCRIPT, "script_test"), "(load)", f"yao-test -i {SCRIPT}"),
    "a case with blanks": (suite("a b.jsonl"), "x y", "yao-test -i 'a b.jsonl' --run '^x.y$'"),
    "a case with dashes": (suite("a.jsonl"), "-ab-c_1", "yao-test -i a.jsonl --run '^-ab-c_1$'"),
    "a case with signs": (suite("a.jsonl"), "a.b'c", """yao-test -i a.jsonl --run '^a\\.b\\'"'"'c$'"""),
    "a message": ({**suite('"hello you"'), "message": True}, "message", "yao-test -i 'hello you' --name demo"),
}


@each(("of", "id", "command"), COMMANDS.values(), ids=COMMANDS)
def test_the_command_runs_the_same_again(of: Any, id: str, command: str) -> None:
    made = blocks_of(report([of], [result(of["id"], id)]), "")

    ((_, extra),) = json.loads(decompress(b64decode(dict(made)["block-0"])))
    assert extra["command"] == command


def test_a_result_of_another_version_may_have_any_keys() -> None:
    odd = {**result(SCRIPT, "TestA"), "row": 1, "text": 2, "failed": 3}

    made = blocks_of(report([suite(SCRIPT, "script_test")], [odd]), "")

    ((record, _),) = json.loads(decompress(b64decode(dict(made)["block-0"])))
    assert record == odd


def test_the_shown_results_are_exported_as_json_that_can_be_read_again(
    page: Page, whole: tuple[Report, Path], tmp_path: Path
) -> None:
    page.get_by_label("Status", exact=True).select_option("failed")

    with page.expect_download() as download:
        page.get_by_role("button", name="JSON", exact=True).click()

    assert download.value.suggested_filename == "results.json"
    saved = tmp_path / "results.json"
    download.value.save_as(saved)
    read = load(saved)
    kept = [one for one in whole[0].lines if one["status"] == "failed" and one["cause"] != "infrastructure"]
    ignored = ("position", "script")
    assert [{key: value for key, value in one.items() if key not in ignored} for one in read.lines] == [
        {key: value for key, value in one.items() if key not in ignored} for one in kept
    ]
    assert {key: read.summary[key] for key in ("total", "passed", "failed", "skipped")} == {
        "total": 4,
        "passed": 0,
        "failed": 4,
        "skipped": 0,
    }
    assert read.start.environment == whole[0].start.environment


def made_up(seed: int) -> Report:
    """A run of everything that counts differently, by chance."""
    draw = random.Random(seed)
    suites = [suite(SCRIPT, "script_test"), suite(CASES), suite(TALKS)]
    results = []
    for at in range(80):
        status = draw.choice(["passed", "failed", "skipped"])
        cause = draw.choice(["assertion", "infrastructure", "inconclusive", "timeout"]) if status == "failed" else None
        more: dict[str, Any] = {"cause": cause} if cause else {}
        if draw.random() < 0.3:
            more["warnings"] = [{"kind": "late", "message": "m"}] * draw.randrange(1, 4)
        if draw.random() < 0.3:
            attempts = [{"run": run, "status": status, **more, "duration_ms": draw.randrange(100)} for run in (1, 2, 3)]
            more["runs"] = {"count": 3, "passed": 0, "pass_rate": 0.0, "attempts": attempts} | dict.fromkeys(
                ("avg_duration_ms", "min_duration_ms", "max_duration_ms", "std_deviation_ms"), 1
            )
        of = draw.choice(suites)["id"]
        results.append(result(of, f"test-{at}", status, draw.randrange(1000), position=at, **more))
    results.sort(key=lambda one: [known["id"] for known in suites].index(one["suite"]))
    return report(suites, results)


@pytest.mark.parametrize("seed", [1, 2])
def test_an_export_counts_as_the_fold_does(open_report: Any, seed: int) -> None:
    whole = made_up(seed)
    page = open_report(whole)

    def check(chosen: list[dict[str, Any]], **selected: str) -> None:
        for label, value in selected.items():
            page.get_by_label(label, exact=True).select_option(value)
        with page.expect_download() as download:
            page.get_by_role("button", name="JSON", exact=True).click()
        made = json.loads(Path(download.value.path()).read_text("utf-8"))
        parts = {part.get("script") or part["input"]: part["summary"] for part in made["reports"]}
        for name, summary in parts.items():
            expected = of_fold([one for one in chosen if one["suite"] == name])
            assert {
                key: value for key, value in summary.items() if key in {*expected, "errors", "warnings"}
            } == expected
        assert parts.keys() == {one["suite"] for one in chosen}
        assert made["summary"] == (of_fold(chosen) if len(chosen) < len(whole.lines) else whole.summary)
        for label in selected:
            page.get_by_label(label, exact=True).select_option("")

    check(whole.lines)
    check([one for one in whole.lines if one["suite"] == CASES], Suite=CASES)
    for shown, verdicts in {
        "passed": ["passed"],
        "failed": ["failed"],
        "error": ["broken", "inconclusive"],
        "skipped": ["skipped"],
    }.items():
        check([one for one in whole.lines if verdict_in(one) in verdicts], Status=shown)


def of_fold(results: list[dict[str, Any]]) -> dict[str, Any]:
    counts = counted(map(result_of, results))
    return {**counts_record(counts), "duration_ms": counts.milliseconds}


def test_the_shown_results_are_exported_as_csv_without_formulas(open_report: Any, tmp_path: Path) -> None:
    results = [
        result(CASES, "=1+1", "failed", error='say "no",\nplease', tags=["a", "b"], score=0.5),
        result(CASES, "other"),
    ]
    page = open_report(report([suite(CASES, connector="c")], results))

    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).click()

    text = Path(download.value.path()).read_bytes().decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["id"] for row in rows] == ["'=1+1", "other"]
    shown = {key: value for key, value in rows[0].items() if value}
    assert shown == {
        "suite": CASES, "id": "'=1+1", "status": "failed", "duration_ms": "12", "agent": "demo", "mode": "script",
        "tags": "a b", "score": "0.5", "error": 'say "no", please',
    }  # fmt: skip
