"""`yao-test merge --as-runs`: reports of the same cases become one with runs."""

from __future__ import annotations

import json

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication
from table_tests import each
from two_reports import (
    cases,
    polite,
    runs,
    written,
)

from runner.record.saved import load


def test_reports_of_the_same_cases_become_one_with_runs(app: MakeApplication) -> None:
    nights = [{**cases(29, "p"), "x": runs(mark)} for mark in "pppfe"]
    files = {f"/nightly-{at}.jsonl": written(night) for at, night in enumerate(nights)}
    here = app({**files, "/now.jsonl": written({**cases(29, "ppppp"), "x": runs("fffff")})})
    names = [f"nightly-{at}.jsonl" for at in range(5)]
    run = here.run("merge", *names, "--as-runs", "-o", "history.jsonl", "-o", "history.json")

    assert (run.code, run.stderr) == (0, "")
    assert run.stdout.endswith("29 passed, 1 failed, 0 skipped in 5 reports\n")
    for name in ("history.jsonl", "history.json"):
        x = next(record for record in load(here.root / name).lines if record["id"] == "x")
        assert (x["status"], x["runs"]["count"], x["runs"]["passed"], x["runs"]["errors"]) == ("failed", 4, 3, 1)
        assert [run["run"] for run in x["runs"]["attempts"]] == [1, 2, 3, 4, 5]
    found = here.run("diff", "history.jsonl", "now.jsonl", "-o", "d.json")
    assert found.code == 0
    verdict = json.loads((here.root / "d.json").read_text())["verdict"]
    assert (verdict["runs"], verdict["left_out"]["broken"]) == ({"a": 149, "b": 150}, {"a": 1, "b": 0})


def test_runs_of_reports_with_runs_are_counted_on(app: MakeApplication) -> None:
    here = app({"/1.jsonl": written(cases(2, "ppf")), "/2.jsonl": written({**cases(2, "pf"), "new": runs("p")})})
    again = here.run("merge", "1.jsonl", "2.jsonl", "--as-runs", "-o", "h.jsonl")

    assert again.code == 0
    found = {record["id"]: record["runs"] for record in load(here.root / "h.jsonl").lines}
    assert {id: (one["passed"], one["count"]) for id, one in found.items()} == {
        "c0": (3, 5),
        "c1": (3, 5),
        "new": (1, 1),
    }
    assert here.run("merge", "h.jsonl", "2.jsonl", "--as-runs", "-o", "h2.jsonl").code == 0
    assert load(here.root / "h2.jsonl").lines[0]["runs"]["count"] == 7


def test_a_case_says_why_all_runs_fail_or_pass_where_those_of_each_report_did_not(app: MakeApplication) -> None:
    passed = {"c": runs("pfpp", repeat="3 of 5")}, {"c": runs("ppp", repeat="3 of 5")}
    failed = {"c": runs("ffpf", repeat="3 of 5")}, {"c": runs("ffpfp", repeat="3 of 5")}
    least = {"runs_per_case": 5, "min_pass_rate": 30}
    here = app({f"/p{at}.jsonl": written(one) for at, one in enumerate(passed)})
    here.write({f"/f{at}.jsonl": written(one, **least) for at, one in enumerate(failed)})
    found = {}
    for name in "pf":
        assert {load(here.root / f"{name}{at}.jsonl").lines[0]["status"] for at in (0, 1)} == {
            {"p": "passed", "f": "failed"}[name]
        }
        assert here.run("merge", f"{name}0.jsonl", f"{name}1.jsonl", "--as-runs", "-o", "h.jsonl").code == 0
        (line,) = load(here.root / "h.jsonl").lines
        found[name] = line["status"], line["error"], line.get("cause")
    assert found == {"p": ("failed", "no", "error"), "f": ("passed", None, None)}


def test_runs_of_a_case_that_said_something_else_are_left_out(app: MakeApplication) -> None:
    old = {**cases(2, "p"), "x": runs("f", input="old")}
    here = app({"/1.jsonl": written(old), "/2.jsonl": written({**cases(2, "p"), "x": runs("p", input="new")})})
    run = here.run("merge", "1.jsonl", "2.jsonl", "--as-runs", "-o", "h.jsonl")

    assert run.stderr == "Warning: 1.jsonl: cases that were changed in a later report are left out: x\n"
    found = {record["id"]: record["runs"]["count"] for record in load(here.root / "h.jsonl").lines}
    assert found == {"c0": 2, "c1": 2, "x": 1}


def test_criteria_are_kept_in_runs(app: MakeApplication) -> None:
    here = app({f"/{at}.jsonl": written({"c": polite(mark)}) for at, mark in enumerate("pf")})
    assert here.run("merge", "0.jsonl", "1.jsonl", "--as-runs", "-o", "h.jsonl").code == 0

    run = here.run("diff", "h.jsonl", "h.jsonl", "--measure", "polite", "-v")
    assert "  criterion polite  50.0% (" in run.stdout


def test_whole_reports_are_not_partial(app: MakeApplication) -> None:
    here = app({"/1.jsonl": written(cases(1, "p"))})

    assert here.run("merge", "1.jsonl", "--as-runs", "--partial", "-o", "h.jsonl").code == 2


@pytest.fixture(scope="module")
def ran(shared_app: MakeApplication) -> Application:
    """An application with the reports of two honest runs of one second, and copies of the first in several forms."""
    here = shared_app(
        {
            **agent(replies="- reply: hello\n", cases=[{"id": "a", "input": "x", "expected": "hello"}]),
            "/.yao-test/.keep": "",
        }
    )
    for name in ("one", "two"):
        run = here.run("-i", case_file(), "-o", f"{name}.jsonl", "-o", f"{name}.json")
        assert run.code == 0, run
    (here.root / "elsewhere").mkdir()
    (here.root / "elsewhere/renamed.jsonl").write_bytes((here.root / "one.jsonl").read_bytes())
    for words in (
        ("merge", "one.jsonl", "two.jsonl", "--as-runs", "-o", "both.jsonl", "-o", "both.json"),
        ("merge", "one.jsonl", "-o", "alone.json"),
        ("merge", "one.jsonl", "two.jsonl", "-o", "parts.jsonl"),
        ("regrade", "one.jsonl", "-o", "regraded.jsonl", "-o", "regraded.json"),
    ):
        assert here.run(*words).code == 0, words
    start, *_ = (here.root / "one.jsonl").read_text().splitlines()
    (here.root / "cut.jsonl").write_text(f"{start}\n")
    assert here.run("--resume", "cut.jsonl", "-o", "resumed.json").code == 0
    return here


COPIES = (
    *("one.jsonl", "one.json", "elsewhere/renamed.jsonl", "both.jsonl", "both.json", "alone.json", "parts.jsonl"),
    *("regraded.jsonl", "regraded.json", "cut.jsonl", "resumed.json", "run:first"),
)


@each("copy", COPIES)
@each("first", ["one.jsonl", "one.json", "both.json"])
def test_a_run_and_its_copy_are_not_two_runs(ran: Application, first: str, copy: str) -> None:
    id = load(ran.root / "one.jsonl").start.run_id
    copy = copy.replace("first", id)

    run = ran.run("merge", first, copy, "--as-runs", "-o", "h.jsonl")

    assert (run.code, run.stdout) == (2, ""), run
    assert run.stderr.endswith(
        f"Error: Cannot merge {copy}: {first} also has the run {id}\nHint: Each run counts once: remove the copy\n"
    )
    assert not (ran.root / "h.jsonl").exists()


def test_honest_runs_of_one_second_are_runs(ran: Application) -> None:
    times = {load(ran.root / f"{name}.jsonl").start.started_at for name in ("one", "two")}
    for name in ("one", "two"):  # as when both began in the same second
        path = ran.root / f"{name}.jsonl"
        (ran.root / f"same-{name}.jsonl").write_text(path.read_text().replace(max(times), min(times)))
    for second in ("same-two.jsonl", "two.json", "run:latest"):
        run = ran.run("merge", "same-one.jsonl", second, "--as-runs", "-o", "honest.jsonl")
        assert run.code == 0, run
        assert load(ran.root / "honest.jsonl").lines[0]["runs"]["count"] == 2
