"""A run on a cluster that outlives the kill of a worker and of the command: `history`, `view`, `diff` and `show` have it
once, and complete."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import browsers
import pytest
from agent_files import agent, case_file
from command import Application, eventually, make_application
from dask_cluster import DaskCluster
from faults import lines_of, with_model
from model_server import ModelServer, echo
from playwright.sync_api import Browser, expect
from view_server import View, serving

pytest.importorskip("distributed")
chromium = browsers.chromium
browser = browsers.browser
KEY = {"WORKER_KEY": "tok-of-workers-4711"}
COUNT, TURNS = 30, 2
CASES = case_file()
WHOLE = Path("whole.jsonl"), Path("killed.jsonl")
"""The reports of a run without kills, and of the one with them."""


def ended(report: Path) -> list[str]:
    records = lines_of(report) if report.exists() else []
    return [record["id"] for record in records if record["type"] == "result"]


def names() -> list[str]:
    return sorted(f"c{number}" for number in range(COUNT))


class Killed:
    """What the kills left behind."""

    def __init__(self, here: Application, before: list[str]) -> None:
        self.here = here
        self.before = before
        """The cases that had a result when the command was killed."""
        self.after = [name for name in names() if name not in before]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killed]:
    """An application whose store has both runs."""
    folder = tmp_path_factory.mktemp("killed")
    cases = [
        {"id": f"c{number}", "turns": [{"input": f"c{number} turn {turn}"} for turn in range(TURNS)]}
        for number in range(COUNT)
    ]
    with ModelServer(echo(0.02)) as server, DaskCluster(folder / "cluster", env=KEY) as cluster:
        files = agent(package={"connector": "local"}, cases=cases)
        here = make_application(folder, {**files, **with_model(server, key="$ENV.WORKER_KEY")})
        flags = ("--cluster", cluster.address, "-q", "--store", "store", "--trace", "full")
        assert here.run("-i", CASES, *flags, "-o", str(WHOLE[0])).code == 0
        report = here.root / WHOLE[1]
        with here.start("-i", CASES, *flags, "-o", str(WHOLE[1])) as command:
            eventually(lambda: len(ended(report)) > COUNT // 10, "the first results")
            cluster.kill(cluster.workers.pop())
            cluster.workers.append(cluster.add_worker())
            lost = len(ended(report))
            eventually(lambda: len(ended(report)) > lost + 3, "results after the kill of a worker")
            command.kill()
            command.communicate()
        before = ended(report)
        assert lost < len(before) < COUNT
        run = here.run("--resume", str(WHOLE[1]), *flags)
        assert run.code == 0, run
        yield Killed(here, before)


@pytest.fixture(scope="module")
def view(killed: Killed) -> Iterator[View]:
    with serving(killed.here.root / "store", killed.here.root) as view:
        yield view


def test_the_report_has_each_case_once(killed: Killed) -> None:
    assert sorted(ended(killed.here.root / WHOLE[1])) == names()
    shown = killed.here.run("show", str(WHOLE[1]))
    assert shown.code == 0
    assert f"Total:   {COUNT} tests\n  Passed:  {COUNT}\n  Failed:  0\n" in shown.stdout
    assert f"Total turns: {COUNT * TURNS}\n" in shown.stdout


def test_the_history_has_one_run_with_all_cases(killed: Killed) -> None:
    said = json.loads(killed.here.run("history", "--store", "store", "--json").stdout)
    assert [(run["state"], run["counts"], run["reports"]) for run in said["runs"]] == [
        ("passed", {"passed": COUNT}, [str(report)]) for report in reversed(WHOLE)
    ]
    assert sorted(test["test"] for test in said["tests"]) == names()
    for test in said["tests"]:
        assert (test["runs"], test["passed"], test["judged"], test["trends"]) == (2, 2, 2, ["passes"])
    for name in (killed.before[0], killed.after[0]):
        one = json.loads(killed.here.run("history", name, "--store", "store", "--json").stdout)
        tests = {test["test"]: test["results"] for test in one["tests"]}
        assert sorted(result["run"] for result in tests[name]) == sorted(run["id"] for run in said["runs"])
        assert {result["tokens"] for result in tests[name]} == {tests[name][0]["tokens"]}


def test_the_pages_have_one_run_with_all_conversations(killed: Killed, view: View) -> None:
    runs = view.get("/api/runs", limit=20)["runs"]
    assert [run["counts"]["passed"] for run in runs] == [run["planned"] for run in runs] == [COUNT, COUNT]
    id = runs[0]["id"]
    index = view.get(f"/api/runs/{id}/index")
    assert (len(index["rows"]), index["errors"]) == (COUNT, [])
    records = [
        record for number in range(len(index["blocks"])) for record, *_ in view.get(f"/api/runs/{id}/block-{number}")
    ]
    assert sorted(record["id"] for record in records) == names()
    for record in records:  # also of those that were under way when something was killed
        asked = [f"{record['id']} turn {turn}" for turn in range(TURNS)]
        assert [(turn["input"], turn["output"]) for turn in record["turns"]] == [(one, f"echo: {one}") for one in asked]
        steps = record["trace"]["steps"]
        assert [step["turn"] for step in steps] == list(range(1, TURNS + 1))
        assert [step["messages"][-1]["content"] for step in steps] == asked
    for name in (killed.before[0], killed.after[0]):
        occurrences = view.get("/api/history", suite=CASES, test=name)["occurrences"]
        assert [one["run"] for one in occurrences] == [run["id"] for run in runs]
    changes = view.get("/api/compare", run=[run["id"] for run in runs])["comparison"]
    assert len(changes["was"]) == COUNT
    assert "regressed" not in {change["word"] for change in changes["changes"]}


def test_people_see_two_runs_and_each_conversation_once(killed: Killed, view: View, browser: Browser) -> None:
    page = browser.new_page()
    try:
        page.goto(view.page())
        expect(page.locator(".run-title")).to_have_count(2)
        page.locator(".run-title").first.click()
        for name in (killed.before[0], killed.after[0]):
            page.get_by_label("Search").fill(f"{name} turn")
            rows = page.locator(".row-head").filter(has=page.get_by_text(name, exact=True))
            expect(rows).to_have_count(1)
            rows.click()
            shown = page.get_by_role("region", name=f"Result {name}", exact=True)
            for turn in range(TURNS):
                expect(shown).to_contain_text(f"echo: {name} turn {turn}")
    finally:
        page.close()


def test_a_comparison_finds_the_same_verdicts(killed: Killed) -> None:
    compared = killed.here.run("diff", *map(str, WHOLE), "--measure", "passed", "-v")
    assert compared.code == 0
    assert "  Case pass rate  100% (88.6-100%)  100% (88.6-100%)  0.0 points" in compared.stdout
