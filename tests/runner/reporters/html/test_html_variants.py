"""Variants side by side, and what judges voted: matrices, marked answers, badges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from html_reports import report, result, suite, summed
from playwright.sync_api import expect

from runner.compare.variants import verdicts_on
from runner.reporters.change_lines import variants_record
from runner.reporters.html import render

FILE = "t.jsonl"


def two_variants() -> Any:
    suites = [{**suite(f"{FILE} [{name}]"), "label": FILE, "file": FILE, "variant": name} for name in ("old", "new")]
    results = []
    for variant, answer in (("old", "No dogs, please."), ("new", "No <b>cats</b>, please.")):
        name = f"{FILE} [{variant}]"
        status = "passed" if variant == "old" else "failed"
        results.append(result(name, "dog", status, input="May I bring a dog?", output=answer, response=answer))
        results.append(result(name, "towel", input="A towel?", output="Yes.", response="Yes."))
    return report(suites, results)


def test_each_result_is_named_with_its_variant(open_report: Any, tmp_path: Path) -> None:
    made, path = two_variants(), tmp_path / "named.html"
    for record in made.lines:
        runs = {"count": 2, "passed": 2, "pass_rate": 100, "consistency": 1, "avg_duration_ms": 1, "min_duration_ms": 1}
        record["runs"] = {**runs, "max_duration_ms": 2, "std_deviation_ms": 0, "attempts": []}
        record["runs"] |= {"passed": 1, "pass_rate": 50.0} if record["id"] == "dog" else {}
    path.write_text(render(made), "utf-8")
    page = open_report(path)

    named = ["dog [new]", "dog [old]", "towel [new]", "towel [old]"]
    assert sorted(page.locator(".row-id").all_inner_texts()) == named
    assert page.locator(".failures .links button").all_inner_texts() == ["dog [new]"]
    suites = page.get_by_label("Suite").locator("option").all_inner_texts()
    assert suites == ["All suites", "t.jsonl [old]", "t.jsonl [new]"]
    assert sorted(page.locator(".stability td button").all_inner_texts()) == ["dog [new]", "dog [old]"]
    page.get_by_label("Search everything").fill('"towel [new]"')
    expect(page.locator(".row-id")).to_have_text(["towel [new]"])


def test_answers_of_variants_stand_side_by_side_with_what_differs_marked(open_report: Any, tmp_path: Path) -> None:
    made, path = two_variants(), tmp_path / "variants.html"
    path.write_text(render(made, variants=variants_record(verdicts_on(made))), "utf-8")
    page = open_report(path)

    section = page.get_by_role("region", name="Variants")
    expect(section.locator(".outcome").first).to_contain_text("new: ")
    table = section.get_by_role("group", name="Cases by variants")
    expect(table.get_by_role("columnheader")).to_have_text(["Case", "old", "new"])
    rows = table.get_by_role("row")
    assert [row.split() for row in rows.all_inner_texts()[1:]] == [
        ["dog", "other", "answer", "1/1", "0/1"],
        ["towel", "1/1", "1/1"],
    ]
    expect(rows.nth(1)).to_have_class("differs")
    expect(rows.nth(2)).not_to_have_class("differs")
    expect(rows.nth(1).locator(".good")).to_have_text("1/1")
    expect(rows.nth(1).locator(".bad")).to_have_text("0/1")

    dog = table.get_by_role("button", name="dog")
    expect(dog).to_have_attribute("aria-expanded", "false")
    dog.press("Enter")
    expect(dog).to_have_attribute("aria-expanded", "true")
    answers = table.get_by_role("figure")
    expect(answers).to_have_count(2)
    expect(answers.locator("figcaption")).to_have_text(["old", "new"])
    expect(answers.nth(0).locator(".answer")).to_have_text("No dogs, please.")
    expect(answers.nth(1).locator(".answer")).to_have_text("No <b>cats</b>, please.")
    marked = [answers.nth(at).locator("mark").all_inner_texts() for at in range(2)]
    assert "dogs" in "".join(marked[0])
    assert "cats" in "".join(marked[1])
    assert not any("please" in text for side in marked for text in side)
    left, right = (answers.nth(at).bounding_box() for at in range(2))
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"] + 1

    table.get_by_role("button", name="towel").click()
    expect(table.get_by_role("figure")).to_have_count(4)
    dog.click()
    expect(table.locator("mark")).to_have_count(0)
    expect(table.get_by_role("figure")).to_have_count(2)
    table.get_by_role("button", name="towel").click()
    expect(table.get_by_role("figure")).to_have_count(0)


def test_votes_of_judges_are_shown(open_report: Any) -> None:
    votes = [
        {"passed": True, "score": 1, "reason": "fine", "judge": "kind", "connector": "gpt"},
        {"passed": False, "score": 0.5, "reason": "<i>rude</i>", "judge": "strict"},
    ]
    judged = {"type": "agent", "passed": False, "expected": "kind", "message": "inconclusive: 1 of 2", "votes": votes}
    judged |= {"judge": "kind, strict", "inconclusive": True, "agreement": 0}
    reached = {"id": "done", "reached_at_turn": None, "passed": False, "required": True, "inconclusive": True}
    talk = result(
        FILE,
        "talk",
        "failed",
        mode="dynamic",
        turns=[],
        checkpoints=[{**reached, "message": "inconclusive: 1 of 2", "assertions": [judged]}],
        trials=[{"trial": at, "score": 0.5, "status": "passed", "duration_ms": 1} for at in (1, 2)],
        trials_noise={"error": 0.05, "judge": 0.004, "agent": 0.001},
    )
    made = report([suite(FILE)], [talk])
    noise = {"answers": 12, "pass_rate": 0.031, "mean_score": 0.02}
    page = open_report(summed(made, judges_noise=noise))

    expect(page.locator(".summary .ends").filter(has_text="noise")).to_have_text(
        "Judge noise ±3.1 %, of the mean score ±2 %"
    )
    page.locator(".row-head").click()
    checkpoints = page.locator(".timeline li").first
    expect(checkpoints.get_by_text("inconclusive", exact=True).first).to_be_visible()
    expect(checkpoints.get_by_text("1 of 2 votes", exact=True)).to_be_visible()
    expect(checkpoints.locator(".criteria li")).to_have_count(2)
    expect(checkpoints.get_by_text("kind, with gpt")).to_be_visible()
    expect(checkpoints.get_by_text("<i>rude</i>")).to_be_visible()
    expect(page.get_by_text("the judge causes 80 % of the noise of one trial")).to_be_visible()
