"""Runs that the server of `yao-test view` starts again, and how they are stopped."""

from __future__ import annotations

from pathlib import Path
from shlex import split
from typing import Any

import pytest
from agent_files import agent, case_file
from command import Application, eventually, make_application
from html_reports import report, result, suite
from kept_runs import keep
from table_tests import each
from view_server import View, serving
from viewed_application import FILES

from runner.planning.last_failed import STORE as FOLDER
from runner.store.places import Revision, place_of
from runner.store.store import Store
from runner.view import reruns


def test_what_is_run_again_is_the_command_line_of_the_run(
    view: View, kept: Application, runs: list[dict[str, Any]]
) -> None:
    run = runs[1]["id"]
    keys = [row["key"] for row in view.get(f"/api/runs/{run}/index")["rows"] if row["id"] in ("late", "-x --app=/")]
    plan = view.client.post(f"/api/runs/{run}/again/plan", json={"keys": keys}).json()
    store = kept.root / FOLDER
    assert plan["commands"] == [
        f"yao-test --input={case_file()} '--run=^late$|^-x.--app\\=.$' --runs=2 --trace=full --store={store}"
    ]
    assert len(view.get("/api/runs", limit=10)["runs"]) == 3  # a plan runs nothing
    begun = view.client.post(f"/api/runs/{run}/again", json={"keys": keys})
    assert begun.json()["state"] == "running", begun.text
    second = view.client.post(f"/api/runs/{run}/again", json={"keys": keys})
    assert second.status_code == 400
    assert second.json()["error"].startswith("Cannot start it: another run is in progress")
    again = eventually(lambda: (found := view.get("/api/again"))["state"] == "ended" and found, "it ended")
    assert again["code"] == 1
    assert "✗ [-x --app=/]" in again["output"]
    newest = view.get("/api/runs", limit=2)["runs"][1]
    assert newest["counts"] == {"total": 2, "passed": 1, "failed": 1, "skipped": 0, "errors": 0}
    assert view.get("/api/history", suite=case_file(), test="late")["occurrences"][0]["run"] == newest["id"]


SELECTIONS = {
    ("--run", "c1|TestA"): ["--run=c1|TestA"],
    ("--tag", "smoke", "--tag", "b c"): ["--tag=smoke", "--tag=b c"],
    ("--shard", "1/2"): ["--shard=1/2"],
    ("--run", "c", "--tag", "smoke"): ["--run=c", "--tag=smoke"],
    (): [],
}


@pytest.fixture(scope="module")
def selecting(tmp_path_factory: pytest.TempPathFactory) -> Application:
    cases = [{"id": f"c{number}", "input": "x", "tags": ["smoke", "b c"]} for number in range(3)]
    cases[2]["assert"] = {"type": "equals", "value": "none"}
    script = "export function TestA(t) {}\nexport function TestB(t) { t.fail('no'); }\n"
    root = tmp_path_factory.mktemp("selecting")
    return make_application(root, {**agent(cases=cases), "some_test.ts": script, f"/{FOLDER}/.keep": ""})


def plans(here: Application) -> list[list[str]]:
    """What would run all of the newest run again."""
    with serving(here.root / FOLDER, here.root) as view:
        newest = view.get("/api/runs", limit=1)["runs"][0]["id"]
        commands = view.client.post(f"/api/runs/{newest}/again/plan", json={"keys": []}).json()["commands"]
    return [[word for word in split(command)[1:] if not word.startswith("--store=")] for command in commands]


@each("flags", SELECTIONS, ids=" ".join)
def test_a_run_of_some_tests_is_run_again_with_those(selecting: Application, flags: tuple[str, ...]) -> None:
    selecting.run(*flags, "-q")
    (words,) = plans(selecting)
    assert [word for word in words if not word.startswith("--input=")] == SELECTIONS[flags]


def test_a_run_of_what_had_failed_is_run_again_with_that(selecting: Application) -> None:
    assert selecting.run("-q").code == 1
    assert selecting.run("--last-failed", "-q").code == 1
    assert sorted(plans(selecting)) == sorted(
        [["--input=scripts.demo.some", "--run=^TestB$"], [f"--input={case_file()}", "--run=^c2$"]]
    )
    assert selecting.run("--last-failed", "--run", "Test", "-q").code == 1
    assert plans(selecting) == [["--input=scripts.demo.some", "--run=^TestB$"]]
    assert selecting.run("--last-failed", "--tag", "smoke", "-q").code == 1
    assert plans(selecting) == [[f"--input={case_file()}", "--run=^c2$"]]


def test_a_module_that_could_not_be_loaded_is_run_again_as_a_whole(tmp_path: Path) -> None:
    here = make_application(tmp_path, {"some_test.ts": "export function TestA(t) {", f"/{FOLDER}/.keep": ""})
    assert here.run("-q").code == 1
    assert here.run("--last-failed", "-q").code == 1
    assert plans(here) == [["--input=scripts.demo.some"]]


def test_what_cannot_be_started_ends_and_is_said(
    view: View, kept: Application, runs: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reruns, "PROGRAM", (str(kept.root / "nothing"),))
    view.client.post(f"/api/runs/{runs[1]['id']}/again", json={"keys": []})
    again = eventually(lambda: (found := view.get("/api/again"))["state"] == "ended" and found, "it ended")
    assert again["code"] == 3
    assert "Error: Cannot start " in again["output"]


def test_a_run_from_elsewhere_is_not_run_again(view: View, runs: list[dict[str, Any]]) -> None:
    for path in ("again", "again/plan"):
        refused = view.client.post(f"/api/runs/{runs[0]['id']}/{path}", json={"keys": []})
        assert refused.status_code == 400
        assert refused.json() == {
            "error": "Cannot rerun it from here: it comes from another machine or another application"
        }


@pytest.mark.parametrize(
    "flags", [["--app", "/"], ["--store", "/x"], ["--nothing"], ["-o", "x.json"], ["--timeout", "1s", "--watch"]]
)
def test_flags_that_no_run_has_are_not_taken(tmp_path: Path, flags: list[str]) -> None:
    application = make_application(tmp_path, FILES)
    made = report([suite("a.jsonl")], [result("a.jsonl", "a", input="x")])
    made = made.replace(start=made.start.replace(flags=tuple(flags)))
    id = keep(tmp_path / "store", made, Revision(place=place_of(application.root)))
    with serving(tmp_path / "store", application.root) as view:
        response = view.client.post(f"/api/runs/{id}/again/plan", json={"keys": []})
    if flags[0] == "--app":  # the application is always that of the server
        assert response.json()["commands"] == [f"yao-test --input=a.jsonl --store={tmp_path / 'store'}"]
    else:
        assert response.json()["error"].endswith("its flags do not match this version")


def test_what_runs_can_be_stopped(tmp_path: Path) -> None:
    slow = {"slow_test.ts": "export function TestSlow() { for (;;) {} }\n"}
    application = make_application(tmp_path, slow)
    run = application.run("-i", "scripts.demo.slow", "--timeout", "100ms", "-q", "--store", FOLDER)
    assert run.code == 1, run
    with Store(application.root / FOLDER) as store:
        (first,) = store.runs()
    with serving(application.root / FOLDER, application.root, {**application.environment}) as view:
        with Store(application.root / FOLDER) as store:
            assert store.run(first.id).start.flags == ("--timeout", "100ms")
        view.client.post(f"/api/runs/{first.id}/again", json={"keys": []})
        eventually(
            lambda: "Running" in view.get("/api/again")["output"] or view.get("/api/again")["state"] == "ended",
            "it begins",
        )
        view.client.request("DELETE", "/api/again")
        again = eventually(lambda: (found := view.get("/api/again"))["state"] == "ended" and found, "it is stopped")
    assert again["code"] in (1, 130)
