"""What `yao-test mutate` writes: StrykerJS' schema, a page, Markdown, JSON, annotations."""

from __future__ import annotations

import json
from pathlib import Path

import browsers
import pytest
from browsers import Chromium
from command import Application, MakeApplication, Record
from jsonschema import Draft7Validator

SCHEMA = Path(__file__).parents[3] / (
    "bindings/node_modules/mutation-testing-report-schema/dist/src/mutation-testing-report-schema.json"
)
SOURCE = """export function toll(axles: number): number {
  if (axles < 2) throw new Error("</script><b>no</b> vehicle 🚗");
  return axles * 3;
}

export function unused(): number {
  return 7; // yao-test-ignore mutate: nobody asks
}
"""
TEST = """import { toll } from "./toll";

export function TestToll(t: testing.T) {
  t.assert.Equal([toll(2), toll(3)], [6, 9]);
  t.assert.Panic(() => toll(1));
}
"""
chromium = browsers.chromium


@pytest.fixture(scope="module")
def road(shared_app: MakeApplication) -> Application:
    made = shared_app({"toll.ts": SOURCE, "toll_test.ts": TEST})
    run = made.run("mutate", "-o", "m.json", "-o", "m.html", "-o", "m.md", directory="")
    assert run.code == 0, run.stderr
    return made


def test_the_json_is_a_report_of_strykerjs(road: Application) -> None:
    report = json.loads((road.root / "m.json").read_bytes())
    if SCHEMA.exists():
        Draft7Validator(json.loads(SCHEMA.read_bytes())).validate(report)
    file = report["files"]["assistants/demo/src/toll.ts"]
    assert (file["source"], file["language"]) == (SOURCE, "typescript")
    survivor = next(one for one in file["mutants"] if one["mutatorName"] == "StringLiteral")
    assert survivor == {
        "id": survivor["id"],
        "mutatorName": "StringLiteral",
        "replacement": '""',
        "location": {"start": {"line": 2, "column": 34}, "end": {"line": 2, "column": 65}},
        "status": "Survived",
        "coveredBy": ["scripts.demo.toll TestToll"],
        "killedBy": [],
        "testsCompleted": 1,
    }
    assert {one["status"] for one in file["mutants"]} == {"Killed", "Survived", "NoCoverage", "Ignored"}
    ignored = [one["statusReason"] for one in file["mutants"] if one["status"] == "Ignored"]
    assert set(ignored) == {"nobody asks"}
    assert report["testFiles"]["assistants/demo/src/toll_test.ts"]["tests"][0]["name"] == "TestToll"


def test_the_page_shows_mutants_without_a_network(road: Application, chromium: Chromium) -> None:
    page, asked = chromium.usual, []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"file://{road.root}/m.html")
    page.get_by_role("link", name="toll.ts").click()
    page.get_by_text("no</b> vehicle").first.wait_for()
    assert [url for url in asked if not url.startswith("file:")] == []


def test_markdown_has_the_scores_and_the_survivors_as_diffs(road: Application) -> None:
    text = (road.root / "m.md").read_text("utf-8")
    assert "| assistants/demo/src/toll.ts |" in text
    assert '+   if (axles < 2) throw new Error("");' in text


def test_json_on_the_output_has_the_score_of_each_function(road: Application) -> None:
    printed = json.loads(road.run("mutate", "--json", "--threshold", "1").stdout)
    functions: Record = printed["files"]["assistants/demo/src/toll.ts"]["functions"]
    assert functions["toll"] == {"score": pytest.approx(12 / 13), "counts": {"killed": 12, "survived": 1}}
    assert functions["unused"]["score"] == 0
    assert [one["mutator"] for one in printed["mutants"] if one["function"] == "toll"] == ["StringLiteral"]
    assert printed["threshold"] == 1


def test_another_extension_is_refused(road: Application) -> None:
    run = road.run("mutate", "-o", "m.xml")
    assert run.code == 2
    assert 'unknown extension ".xml"' in run.stderr
