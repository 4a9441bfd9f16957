"""`merge` with missing parts: the report is written, what is missing is named, and the exit code is 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import agent, case_file, lines
from command import Application, MakeApplication, Run
from faults import lines_of, results_in

CASES = [{"id": f"c{number}", "input": f"say {number}"} for number in range(6)]
MODULES = {
    f"{name}_test.ts": f"export function Test{name.title()}(t) {{}}\nexport function TestToo(t) {{}}\n"
    for name in "abc"
}
FOLDER = ("-i", "assistants")
HINT = "Hint: Pass the missing parts, or --partial to merge without them\n"


@pytest.fixture
def here(app: MakeApplication) -> Application:
    return app({**agent(replies="- reply: 'heard {{ input }}'", cases=CASES), **MODULES})


def parts(here: Application, of: int = 3, extension: str = "jsonl") -> list[Path]:
    found = []
    for number in range(1, of + 1):
        found.append(here.home / f"part-{number}.{extension}")
        run = here.run(*FOLDER, "--shard", f"{number}/{of}", "-o", str(found[-1]))
        assert run.code == 0, run
    return found


def merge(here: Application, *paths: Path, more: tuple[str, ...] = ()) -> Run:
    return here.run("merge", *map(str, paths), "-o", "whole.json", "-o", "whole.jsonl", *more)


def test_parts_that_are_all_are_whole(here: Application) -> None:
    run = merge(here, *parts(here))
    assert (run.code, run.stderr) == (0, "")
    assert len(results_in(here.root / "whole.jsonl")) == 12


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((0, 1), "shard without a report: 3/3"),
        ((1,), "shards without a report: 1/3, 3/3"),
        ((2, 2), "shards without a report: 1/3, 2/3"),
    ],
)
def test_missing_shards_are_named(here: Application, given: tuple[int, ...], said: str) -> None:
    all_parts = parts(here)
    chosen = [all_parts[number] for number in given]

    run = merge(here, *chosen)
    partial = merge(here, *chosen, more=("--partial",))

    assert run.code == 2, run
    assert run.stderr == f"Error: {said}\n{HINT}" or given == (2, 2)
    assert f"Error: {said}\n" in run.stderr
    assert (here.root / "whole.json").exists()
    assert (partial.code, f"Warning: {said}\n" in partial.stderr) == (0, True)


def test_shards_of_other_tests_do_not_complete_each_other(here: Application) -> None:
    first, second, third = parts(here)
    here.run(*FOLDER, "--shard", "3/3", "--run", "c1", "-o", str(here.home / "other.jsonl"))

    run, again = merge(here, first, second, here.home / "other.jsonl"), merge(here, first, second, third)

    assert run.code == 2
    assert run.stderr.startswith(
        "Error: shard without a report: 3/3 of all tests\n"
        "Error: shards without a report: 1/3, 2/3 of the tests of --run c1\n"
    )
    assert again.code == 0


def test_missing_cases_of_a_part_that_was_killed_are_named(here: Application) -> None:
    (path,) = parts(here, of=1)
    kept = [line for line in lines_of(path) if line.get("id") not in ("c1", "c4") and line["type"] != "summary"]
    path.write_text(lines(*kept))

    run = merge(here, path)

    assert run.code == 2
    assert f"Error: {case_file()}: no result for 2 of 6 cases: c1, c4\n" in run.stderr
    assert len(results_in(here.root / "whole.jsonl")) == 10


def test_missing_modules_of_a_part_that_was_killed_are_named(here: Application) -> None:
    path = here.home / "r.jsonl"
    assert here.run(*FOLDER, "-o", str(path)).code == 0
    kept = [
        line
        for line in lines_of(path)
        if line["type"] != "summary" and not (line.get("suite") == "scripts.demo.b" or line.get("id") == "TestToo")
    ]
    path.write_text(lines(*kept))

    run = merge(here, path)

    assert run.code == 2
    assert "Error: demo/src/b_test.ts: no results\n" in run.stderr
    assert f"Error: demo/src/a_test.ts: it may have more tests, because {path} did not end\n".replace(
        str(here.home), "<home>"
    ) in (run.stderr)


def test_single_runs_that_never_came_are_named(here: Application) -> None:
    paths = [here.home / "part-1.jsonl", here.home / "part-2.jsonl"]
    for number, path in enumerate(paths, 1):
        shard = ("--shard", f"{number}/2", "--runs", "3", "-o", str(path))
        assert here.run(*FOLDER, *shard).code == 0
    assert merge(here, *paths).code == 0
    absent = {("c1", 2), ("c1", 3), ("c4", 1), ("TestB", 3)}
    for path in paths:
        kept = [line for line in lines_of(path) if (line.get("id"), line.get("run")) not in absent]
        path.write_text(lines(*[line for line in kept if line["type"] != "summary"]))

    run = merge(here, *paths)
    states = "".join(here.run("status", str(path)).stdout for path in paths)

    assert run.code == 2, run
    assert f"Error: {case_file()}: no result for 3 runs of 2 tests: c1 (runs 2, 3), c4 (run 1)\n" in run.stderr
    assert "Error: demo/src/b_test.ts: no result for 1 run of 1 test: TestB (run 3)\n" in run.stderr
    assert merge(here, *paths, more=("--partial",)).code == 0
    assert f"  {case_file()}: without a result of run 2, run 3: c1\n" in states
    assert f"  {case_file()}: without a result of run 1: c4\n" in states
    assert "  demo/src/b_test.ts: without a result of run 3: TestB\n" in states


def test_runs_that_a_policy_needs_are_named_and_no_others(app: MakeApplication) -> None:
    cases = [{"id": id, "input": "x", "expected": "heard x", "repeat": "3 of 5"} for id in ("some", "all")]
    here = app(agent(replies="- reply: 'heard {{ input }}'", cases=cases))
    path = here.home / "r.jsonl"
    assert here.run("-i", case_file(), "--runs", "7", "-o", str(path)).code == 0
    assert merge(here, path).code == 0
    kept = [line for line in lines_of(path) if (line.get("id"), line.get("run")) != ("some", 3)]
    path.write_text(lines(*[line for line in kept if line["type"] in ("start", "result")]))

    run, state = merge(here, path), here.run("status", str(path))

    assert (run.code, state.code) == (2, 1), (run, state)
    assert f"Error: {case_file()}: no result for 1 run of 1 test: some (run 3)\n" in run.stderr
    assert f"  {case_file()}: without a result of as many runs as needed: some\n" in state.stdout


def test_parts_as_json_know_their_shard(here: Application) -> None:
    first, second, third = parts(here, of=3, extension="json")
    run = merge(here, first, third)
    assert (run.code, run.stderr) == (2, f"Error: shard without a report: 2/3\n{HINT}")
    assert merge(here, first, second, third).code == 0
    assert "shard" not in (here.root / "whole.jsonl").read_text().splitlines()[0]
    assert here.run("merge", "whole.jsonl", "-o", "again.md").code == 0


def test_a_second_attempt_of_a_part_completes_it(here: Application) -> None:
    first, second = parts(here, of=2)
    killed = here.home / "killed.jsonl"
    killed.write_text(lines(*[line for line in lines_of(first) if line["type"] == "start"]))
    assert merge(here, killed, second).code == 2
    assert merge(here, killed, first, second).code == 0


@pytest.mark.parametrize("extension", ["jsonl", "json"])
def test_what_a_run_that_was_stopped_left_is_named(app: MakeApplication, extension: str) -> None:
    here = app({"a_test.ts": "export function TestA(t) { t.assert.True(false); }\nexport function TestB(t) {}\n"})
    path = here.home / f"r.{extension}"
    assert here.run("-i", "scripts.demo.a", "--fail-fast", "--parallel", "1", "-o", str(path)).code == 1

    run = merge(here, path)

    assert run.code == 2
    assert "Error: demo/src/a_test.ts: no result for 1 of 2 tests\n" in run.stderr


def test_very_many_cases_are_counted(app: MakeApplication) -> None:
    cases = [{"id": f"c{number}", "input": "x"} for number in range(1005)]
    here = app(agent(replies="- reply: yes", cases=cases))
    path = here.home / "r.jsonl"
    assert here.run("-i", case_file(), "-o", str(path), "-q").code == 0
    assert "ids" not in json.dumps(lines_of(path)[0]["resume"])
    assert merge(here, path).code == 0
    path.write_text(lines(*[line for line in lines_of(path) if line.get("id") not in ("c7", "c8")]))
    assert f"Error: {case_file()}: no result for 2 of 1005 cases\n" in merge(here, path).stderr


def test_a_resumed_part_plans_what_there_is_now(here: Application) -> None:
    path = here.home / "r.jsonl"
    assert here.run("-i", case_file(), "-o", str(path)).code == 0
    here.write({f"/{case_file()}": lines(*CASES[1:], {"id": "new", "input": "x"})})
    assert here.run("--resume", str(path)).code == 0
    assert merge(here, path).code == 0


def test_a_part_whose_cases_are_gone_goes_on(here: Application) -> None:
    """The cases of the part are other ones now, none of which belongs to it."""
    first, _ = parts(here, of=2)
    gone = {line["id"] for line in lines_of(first) if line["type"] == "result" and line["id"].startswith("c")}
    assert 0 < len(gone) < len(CASES)
    here.write({f"/{case_file()}": lines(*[case for case in CASES if case["id"] not in gone])})

    state, run = here.run("status", str(first)), here.run("--resume", str(first))

    assert "no longer exist, so their results are left out" in state.stdout, state
    assert run.code == 0, run
    assert not gone & {line.get("id") for line in lines_of(first)}
    assert lines_of(first)[-1]["status"] == "passed"
