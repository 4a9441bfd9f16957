"""What the server of `yao-test view` answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent_files import case_file
from command import Application, eventually, make_application
from html_reports import report, result, suite
from kept_runs import KeptRunUnderWay
from table_tests import each
from view_server import NOW, View, serving
from viewed_application import FILES, PNG

from runner.planning.last_failed import STORE as FOLDER
from runner.store.store import Store


def places(view: View, run: str) -> dict[str, int]:
    return {row["id"]: at for at, row in enumerate(view.get(f"/api/runs/{run}/index")["rows"])}


def test_a_run_is_as_its_report_has_it(view: View, runs: list[dict[str, Any]]) -> None:
    elsewhere, twice, first = runs
    assert [run["counts"]["total"] for run in runs] == [1, 5, 5]
    assert first["status"] == "failed"
    assert first["suites"] == [case_file()]
    index = view.get(f"/api/runs/{first['id']}/index")
    with Store(view.folder) as store:
        saved = store.report(first["id"])
    results = [result for result, _ in view.get(f"/api/runs/{first['id']}/block-0")]
    assert results == saved.lines
    assert [row["id"] for row in index["rows"]] == [result["id"] for result in results]
    assert index["summary"]["failed"] == 1
    assert view.get(f"/api/runs/{first['id']}/block-1") == []
    assert view.get(f"/api/runs/{first['id']}/variants") is None
    assert [row["runs"]["count"] for row in view.get(f"/api/runs/{twice['id']}/index")["rows"]] == [2] * 5
    assert elsewhere["elsewhere"]


@each(
    ("source", "kind"),
    [("file://room.png", "image/png"), ("file://fake.png", None), ("file://../../../outside.png", "image/png"), ("file://package.yao", None), ("file:///etc/passwd", None)],
)  # fmt: skip
def test_pictures_are_what_they_say(view: View, runs: list[dict[str, Any]], source: str, kind: str | None) -> None:
    run = runs[-1]["id"]
    response = view.client.get(f"/api/runs/{run}/picture", params={"at": places(view, run)["seen"], "source": source})
    assert response.headers.get("content-type") == kind
    assert (response.status_code, response.content) == ((200, PNG) if kind else (204, b""))
    other = view.client.get(f"/api/runs/{run}/picture", params={"at": places(view, run)["late"], "source": source})
    assert other.status_code == 204


def test_a_picture_that_has_changed_is_not_shown(tmp_path: Path) -> None:
    application = make_application(tmp_path, FILES)
    application.run("-i", case_file(), "--run", "seen", "-q", "--store", FOLDER)
    (application.root / "assistants/demo/tests/room.png").write_bytes(PNG + b"other")
    with serving(application.root / FOLDER, application.root) as view:
        run = view.get("/api/runs", limit=1)["runs"][0]["id"]
        found = view.client.get(f"/api/runs/{run}/picture", params={"at": 0, "source": "file://room.png"})
    assert found.status_code == 204


def test_labels_are_kept_and_exported_for_calibrate(view: View, kept: Application, runs: list[dict[str, Any]]) -> None:
    run = runs[-1]["id"]
    at = places(view, run)
    assert view.get(f"/api/runs/{run}/labels", at=at["late"])["questions"] == [
        {"run": 1, "turn": 0, "criterion": "", "input": "May I check out late?", "output": "heard May I check out late?"},
        {"run": 1, "turn": 0, "criterion": "is polite", "input": "May I check out late?", "output": "heard May I check out late?", "judged": {"passed": True, "judge": "judge"}},
    ]  # fmt: skip
    assert [(one["turn"], one["criterion"]) for one in view.get(f"/api/runs/{run}/labels", at=at["talk"])["questions"]] == [
        (0, ""), (1, "is polite"), (2, "is polite"),
    ]  # fmt: skip

    def say(test: str, turn: int, criterion: str, passed: bool | None, why: str = "") -> Any:
        said = {"at": at[test], "run": 1, "turn": turn, "criterion": criterion, "passed": passed, "why": why}
        response = view.client.put(f"/api/runs/{run}/labels", json=said)
        assert response.status_code == 200, response.text
        return response.json()

    assert say("late", 0, "is polite", True) == {"count": 1, "label": {"passed": True, "why": "", "person": "ann"}}
    assert say("late", 0, "is polite", False, 'it says "heard"')["count"] == 1
    assert say("talk", 2, "is polite", True)["count"] == 2
    assert say("late", 0, "", True)["count"] == 3
    assert say("late", 0, "", None) == {"count": 2}
    with Store(view.folder) as store:
        assert [(label.test, label.passed, label.made_at) for label in store.labels(run)] == [
            ("late", False, NOW), ("talk", True, NOW),
        ]  # fmt: skip
    text = view.client.get(f"/api/runs/{run}/labels.jsonl").text
    assert [json.loads(line) for line in text.splitlines()] == [
        {"suite": case_file(), "id": "late", "run": 1, "turn": 0, "criterion": "is polite", "input": "May I check out late?", "output": "heard May I check out late?", "passed": False, "why": 'it says "heard"'},
        {"suite": case_file(), "id": "talk", "run": 1, "turn": 2, "criterion": "is polite", "input": "bye", "output": "heard bye", "passed": True},
    ]  # fmt: skip
    (kept.root / "labels.jsonl").write_text(text, "utf-8")
    with Store(view.folder) as store:
        (kept.root / "run.jsonl").write_text(store.text(run), "utf-8")
    trust = kept.run("calibrate", "run.jsonl", "labels.jsonl")
    assert trust.code == 0, trust
    assert "is polite  2       50.0%" in trust.stdout
    assert (trust.stderr, "whole answers" in trust.stdout) == ("", False)

    say("late", 0, "", True)
    text = view.client.get(f"/api/runs/{run}/labels.jsonl").text
    (kept.root / "labels.jsonl").write_text(text, "utf-8")
    trust = kept.run("calibrate", "run.jsonl", "labels.jsonl")
    assert "is polite  2       50.0%" in trust.stdout
    assert "Left out: 1 label for whole answers, which no judge graded." in trust.stdout
    (whole,) = [line for line in text.splitlines() if json.loads(line)["criterion"] == ""]
    (kept.root / "labels.jsonl").write_text(f"{whole}\n", "utf-8")
    refused = kept.run("calibrate", "run.jsonl", "labels.jsonl")
    assert (refused.code, refused.stderr.splitlines()[0]) == (
        2,
        "Error: Cannot calibrate run.jsonl: labels.jsonl has labels for whole answers only",
    )


def test_each_run_of_a_case_has_its_own_labels(view: View, runs: list[dict[str, Any]]) -> None:
    run = runs[1]["id"]
    at = places(view, run)["late"]
    said = {"at": at, "run": 2, "turn": 0, "criterion": "is polite", "passed": True, "why": ""}
    view.client.put(f"/api/runs/{run}/labels", json=said)
    questions = view.get(f"/api/runs/{run}/labels", at=at)["questions"]
    assert [(one["run"], one["criterion"], "label" in one) for one in questions] == [
        (1, "", False), (1, "is polite", False), (2, "", False), (2, "is polite", True),
    ]  # fmt: skip
    assert json.loads(view.client.get(f"/api/runs/{run}/labels.jsonl").text)["run"] == 2

    half = view.client.put(f"/api/runs/{run}/labels", content=json.dumps({**said, "why": "half \ud800"}))
    assert half.json()["label"]["why"] == "half \\ud800"


def test_two_runs_are_compared(view: View, runs: list[dict[str, Any]]) -> None:
    found = view.get("/api/compare", run=[runs[-1]["id"], runs[1]["id"]])
    assert found["comparison"]["changes"][0]["word"] == "unchanged"
    assert found["comparison"]["was"] == [0, 1, 2, 3, 4]
    assert found["variants"]["head"] == ["Case", "Run A", "Run B"]
    three = view.get("/api/compare", run=[runs[2]["id"], runs[1]["id"], runs[2]["id"]])
    assert three["comparison"] is None
    assert [row[0] for row in three["variants"]["overview"]] == ["Run", "Run A", "Run B", "Run C"]
    other = view.client.get("/api/compare", params={"run": [runs[0]["id"], runs[1]["id"]]})
    assert other.json()["error"].startswith("Cannot compare Run A with Run B: they have no case in common")


def test_a_test_is_shown_over_time(view: View, runs: list[dict[str, Any]]) -> None:
    found = view.get("/api/history", suite=case_file(), test="late")
    assert [(one["run"], one["verdict"], one["passed"], one["judged"]) for one in found["occurrences"]] == [
        (runs[1]["id"], "passed", 2, 2), (runs[-1]["id"], "passed", 1, 1),
    ]  # fmt: skip
    assert {one["answer"] for one in found["occurrences"]} == {"heard May I check out late?"}
    assert found["rate"][1] == 1
    tests = view.get("/api/tests")["tests"]
    assert (tests[0]["test"], tests[0]["verdicts"]) == ("-x --app=/", ["failed", "failed"])
    assert view.get("/api/history", suite="nowhere", test="none")["occurrences"] == []


def test_changes_of_a_run_come_as_events(tmp_path: Path) -> None:
    made = report([suite("a.jsonl")], [result("a.jsonl", id, input="x", output=id) for id in "abcd"])
    going = KeptRunUnderWay(tmp_path, made)
    going.go_on(2)
    with serving(tmp_path) as view:
        eventually(lambda: view.get("/api/runs", limit=1)["runs"], "the run begins")
        eventually(lambda: len(view.get(f"/api/runs/{going.id}/index")["rows"]) == 2, "two results")
        index = view.get(f"/api/runs/{going.id}/index")
        assert (index["summary"]["status"], index["head"]["status"]) == ("running", "running")
        seen = []
        with view.client.stream("GET", f"/api/runs/{going.id}/events?after={index['revision']}") as stream:
            assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
            going.end()
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    seen.append(json.loads(line[6:]))
                if seen and seen[-1]["summary"]["status"] != "running":  # the stream stays: it may be resumed
                    break
        assert {at: row["id"] for update in seen for at, row in update["rows"]} == {2: "c", 3: "d"}
        assert seen[-1]["summary"]["status"] == "passed"


def test_a_run_that_was_killed_is_cut_short(tmp_path: Path) -> None:
    going = KeptRunUnderWay(tmp_path, report([suite("a.jsonl")], [result("a.jsonl", id) for id in "ab"]))
    going.go_on(1)
    id = going.break_off()
    with serving(tmp_path) as view:
        (head,) = view.get("/api/runs", limit=1)["runs"]
        assert (head["id"], head["status"], head["counts"]["total"]) == (id, "cut short", 1)
        assert view.get(f"/api/runs/{id}/index")["summary"]["status"] == "cut short"
