"""`yao-test history`, baselines, and the commands on a store: real runs of an application that changes."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from agent_files import agent, case_file
from command import PATIENCE, Application, MakeApplication
from faults import with_model
from model_server import ModelServer, says

from runner.store.places import FILE
from runner.store.store import Store
from runner.store.stored import StoredLabel

COMMITS = {number: f"{number}" * 40 for number in range(1, 10)}
CASES = [
    {"id": "small", "input": "20 euros", "assert": {"type": "contains", "value": "paid"}},
    {"id": "large", "input": "90 euros", "assert": {"type": "contains", "value": "colleague"}},
]
PAID = "- when: { input: { regex: '\\b[1-4]?\\d euros' } }\n  reply: It is paid.\n- reply: A colleague decides.\n"
FILES = {
    **agent(replies=PAID, cases=CASES),
    "some_test.ts": "export function TestA(t) { t.assert.True(true); }\n",
    "/.yao-test/.keep": "",
}
BOTH = ("-i", case_file(), "-i", "scripts.demo.some", "-q")


def commit(here: Application, number: int, branch: str = "main") -> None:
    """Makes files of Git as if a commit was checked out."""
    commit = {f"/.git/refs/heads/{branch}": f"{COMMITS[number]}\n"}
    here.write({"/.git/HEAD": f"ref: refs/heads/{branch}\n", "/.git/objects/.keep": "", **commit})


def history(here: Application, *arguments: str) -> dict[str, dict[str, object]]:
    """The entry of each test in `history --json`."""
    run = here.run("history", "--json", *arguments)
    assert run.code == 0, run
    return {one["test"]: one for one in json.loads(run.stdout)["tests"]}


@pytest.fixture(scope="module")
def broken(shared_app: MakeApplication) -> Application:
    """Two commits on which all is well, and one on which a reply is another one."""
    here = shared_app(FILES)
    for number in (1, 1, 2):
        commit(here, number)
        assert here.run(*BOTH).code == 0
    commit(here, 3)
    here.write({"/assistants/demo/replies.yml": PAID.replace("paid", "refused")})
    for _ in range(2):
        assert here.run(*BOTH).code == 1
    return here


def test_a_test_that_broke_comes_first_with_the_commit(broken: Application) -> None:
    found = history(broken)
    assert list(found) == ["small", "large", "TestA"]
    small = found["small"]
    assert (small["trends"], small["passed"], small["judged"], small["failing"]) == (["broke"], 0, 2, 2)
    assert small["pass_rate_interval"] == [0.0, 0.6576]
    since = small["since"]
    assert isinstance(since, dict)
    assert (since["commit"], since["branch"], since["pass_rate_before"]) == (COMMITS[3], "main", 1.0)
    assert since["changed"] == ["replies demo"]
    assert found["large"]["trends"] == ["passes"]

    table = broken.run("history", "-v")
    assert table.stdout.splitlines()[1] == "assistants/demo/tests/cases.jsonl"
    assert table.stdout.splitlines()[2].split()[:3] == ["small", "0.0%", "(0.0-65.8%)"]
    assert "broke   3333333 " in table.stdout
    assert table.stdout.endswith(f"3 tests in 5 runs since {str(since['started_at'])[:10]}\n")


def test_one_test_over_time(broken: Application) -> None:
    run = broken.run("history", "small")
    first, passed, broke, _, head, *rows = run.stdout.splitlines()
    assert first == "assistants/demo/tests/cases.jsonl › small"
    assert passed == "  Run pass rate: 0.0% of 2 runs, 100.0% before"
    assert "  Run pass rate: 0.0% (0.0-65.8%) of 2 runs, 100.0% before" in broken.run("history", "small", "-v").stdout
    assert broke.startswith("  Broke since 3333333 (main, ")
    assert broke.endswith("), changed: replies of demo")
    assert head.split() == ["Run", "When", "Branch", "Commit", "Verdict", "Duration", "Tokens", "Changed"]
    assert [row.split()[4:6] for row in rows] == [
        ["3333333", "failed"], ["3333333", "failed"], ["2222222", "passed"], ["1111111", "passed"], ["1111111", "passed"],
    ]  # fmt: skip
    assert [row.endswith("  replies of demo") for row in rows] == [False, True, False, False, False]


def test_names_and_branches_that_there_are_not(broken: Application) -> None:
    assert broken.run("history", "smal").code == 0, "a part of a name"
    unknown = broken.run("history", "smoll")
    assert (unknown.code, unknown.stderr) == (2, 'Error: No run has a test smoll\nHint: Did you mean "small"?\n')
    branch = broken.run("history", "--branch", "other")
    assert (branch.code, branch.stderr.splitlines()[1]) == (2, "Hint: There are runs on main")
    assert broken.run("history", "--store", "none").code == 2
    assert not (broken.root / "none").exists()


def test_a_test_is_not_flaky_because_one_run_repeats_it(app: MakeApplication) -> None:
    here = app(FILES)
    here.write({"/assistants/demo/replies.yml": PAID.replace("paid", "refused")})
    assert here.run(*BOTH).code == 1
    here.write({"/assistants/demo/replies.yml": PAID})
    for repeated in ((), ("--runs", "3")):
        assert here.run(*BOTH, *repeated).code == 0
    small = history(here)["small"]
    assert (small["trends"], small["passed"], small["judged"]) == (["fixed"], 4, 4)


def test_a_model_that_answers_by_chance_is_flaky(app: MakeApplication) -> None:
    with ModelServer() as server:
        server.plan(*map(says, "yes no yes yes no yes yes yes".split()))
        cases = [{"id": "asked", "input": "?", "assert": {"type": "equals", "value": "yes"}}]
        files = agent(package={"connector": "local"}, replies=None, cases=cases)
        here = app({**files, **with_model(server), "/.yao-test/.keep": ""})
        for _ in range(8):
            here.run("-i", case_file(), "-q", "--trace", "off")
    found = history(here)["asked"]
    assert (found["trends"], found["passed"], found["judged"]) == (["flaky"], 6, 8)
    assert "since" not in found


def test_slower_and_dearer_since_which_run(broken: Application, tmp_path: Path) -> None:
    """Durations are put into a copy of the store, since no test waits for them."""
    folder = tmp_path / "copy"
    folder.mkdir()
    (folder / FILE).write_bytes((broken.root / ".yao-test" / FILE).read_bytes())
    with closing(sqlite3.connect(folder / FILE)) as database:
        for seq, run in enumerate(id for (id,) in database.execute("SELECT id FROM runs ORDER BY rowid").fetchall()):
            figures = (1000 if seq < 3 else 2600, 0.001 if seq < 3 else 0.004, run)
            database.execute(
                "UPDATE results SET duration_ms = ?, cost = ?, passed = 1, verdict = 'passed' WHERE run = ?", figures
            )
        database.commit()
    found = history(broken, "--store", str(folder))["small"]
    assert found["trends"] == ["slower", "dearer", "passes"]
    slower, dearer = found["slower"], found["dearer"]
    assert isinstance(slower, dict)
    assert isinstance(dearer, dict)
    assert (slower["ratio"], slower["commit"]) == (2.6, COMMITS[3])
    assert (dearer["ratio"], dearer["before"], dearer["after"]) == (4.0, 0.001, 0.004)
    shown = broken.run("history", "small", "--store", str(folder)).stdout
    assert "  Slower x2.6, 1.00s → 2.60s, since 3333333 (main, " in shown
    assert "  Dearer x4, $0.0010 → $0.0040, since 3333333 (main, " in shown


def test_a_run_is_compared_with_a_branch(broken: Application) -> None:
    commit(broken, 4, "feature")
    run = broken.run(*BOTH, "--baseline", "main")
    assert run.code == 1
    assert "Compared with main (5 runs, the newest run on " in run.stdout
    assert "Still failing (1)" in run.stdout
    assert "Unchanged: all 3 cases passed equally often." in run.stdout

    older = broken.run("diff", "--baseline", COMMITS[2][:7], "--fail-on", "regressed")
    assert older.code == 1
    assert "New failures (1)\n  assistants/demo/tests/cases.jsonl › small: passed → failed" in older.stdout
    assert "changed: replies of demo" in older.stdout
    assert broken.run("diff", "run:latest", "--baseline", "main", "--fail-on", "regressed").code == 0
    part = broken.run("-i", "scripts.demo.some", "-q", "--baseline", "main")
    assert (part.code, "Removed" in part.stdout) == (0, False), "a run of a part is compared with that part"


def test_a_baseline_that_there_is_not_costs_no_result(app: MakeApplication) -> None:
    here = app(FILES)
    run = here.run(*BOTH, "--baseline", "main", "-o", "r.jsonl")
    assert run.code == 0
    assert "Warning: Cannot compare with main: the store <app>/.yao-test has no earlier run on it" in run.stderr
    assert here.run("diff", "--baseline", "main", "r.jsonl").code == 2
    (here.root / ".yao-test").rename(here.root / "gone")
    refused = here.run(*BOTH, "--baseline", "main")
    assert (refused.code, refused.stderr.splitlines()[0]) == (2, "Error: Cannot compare with main: there is no store")


def test_a_report_of_a_run_is_one_of_any_command(broken: Application) -> None:
    assert "TestA" in broken.run("show", "run:latest", "-v").stdout
    with Store(broken.root / ".yao-test") as store:
        run = store.runs()[-1]
    shown = broken.run("show", f"run:{run.id[:6]}", "-o", "again.jsonl")
    assert shown.code == 0
    assert broken.run("diff", "again.jsonl", f"run:{run.id}").stdout.count("A and B are the same report") == 1
    assert broken.run("status", "again.jsonl").stdout.startswith("again.jsonl: 1 of 3 tests have a current result")
    assert "There is no run nothing" in broken.run("show", "run:nothing").stderr


@pytest.fixture
def two(app: MakeApplication) -> Callable[[], Application]:
    """An application with a store of one run each in `a` and `b`."""

    def make() -> Application:
        here = app(FILES)
        for name in "ab":
            assert here.run(*BOTH, "--store", name, "-o", f"{name}.jsonl").code == 0
        return here

    return make


def test_a_number_that_is_too_large_is_said(two: Callable[[], Application]) -> None:
    run = two().run("history", "--store", "a", "--last", "9" * 30)
    assert run.code == 2
    assert 'Cannot read --last "999' in run.stderr


def test_stores_are_joined_once_whatever_the_order(two: Callable[[], Application]) -> None:
    here = two()
    with Store(here.root / "b") as store:
        run = store.run("latest")
        label = StoredLabel(run=run.id, suite="s", test="small", passed=True, made_at="2026-01-01T00:00:00Z")
        store.put_label(label)
        text = store.text(run.id)
    assert here.run("store", "merge", "a", "b").stdout == "b: 1 run added, 1 label added\n"
    assert (
        here.run("store", "merge", "a", "b", f"b/{FILE}").stdout
        == "b: 0 runs added, 1 known\nb/runs.sqlite: 0 runs added, 1 known\n"
    )
    with Store(here.root / "a") as store:
        assert store.runs()[0].id == run.id
        assert len(store.runs()) == 2
        assert store.text(run.id) == text
        assert store.labels(run.id) == [label]
        assert store.run(run.id).labels == 1
    assert here.run("store", "merge", "new", "a").stdout == "a: 2 runs added, 1 label added\n"
    assert here.run("store", "merge", "a", "none").code == 2
    assert here.run("store", "merge", "a", "a").code == 2
    assert here.run("store").code == 2


def test_the_last_word_of_a_person_counts_in_all_stores(two: Callable[[], Application]) -> None:
    here = two()
    with Store(here.root / "b") as store:
        id = store.run("latest").id
        label = StoredLabel(run=id, suite="s", test="small", passed=True, person="ann", made_at="2026-01-01T00:00:00Z")
        for person in ("ann", "bob"):
            store.put_label(label.replace(person=person))
    here.run("store", "merge", "a", "b")

    def labels(folder: str) -> tuple[list[str], int]:
        with Store(here.root / folder) as store:
            return [label.person for label in store.labels(id)], store.run(id).labels

    def say(folder: str, **what: object) -> None:
        with Store(here.root / folder) as store:
            store.put_label(label.replace(**what))

    say("a", person="bob", passed=None)
    assert labels("a") == (["ann"], 1)
    assert here.run("store", "merge", "b", "a").stdout == "a: 1 run added, 1 known\n"
    assert labels("b") == (["ann", "bob"], 2)
    say("a", passed=False, made_at="2026-01-02T00:00:00Z")
    assert here.run("store", "merge", "b", "a").stdout == "a: 0 runs added, 2 known, 1 label added\n"
    assert labels("b") == (["bob", "ann"], 2)


def test_a_copy_that_has_more_of_a_run_wins(two: Callable[[], Application]) -> None:
    here = two()
    with closing(sqlite3.connect(here.root / "b" / FILE)) as database:
        (id,) = database.execute("SELECT id FROM runs").fetchone()
    assert here.run("store", "merge", "c", "b").code == 0
    with closing(sqlite3.connect(here.root / "c" / FILE)) as database:  # as a copy of the time before it ended
        database.execute("UPDATE runs SET ended_at = NULL, status = NULL, summary = NULL")
        database.execute("DELETE FROM results WHERE test = 'large'")
        database.commit()
    listed = here.run("store", "list", "--store", "c").stdout
    assert "cut short" in listed
    assert f"{id} was interrupted. To continue it: yao-test --resume b.jsonl --store c\n" in listed
    assert here.run("store", "merge", "b", "c").stdout == "c: 0 runs added, 1 known\n"
    assert here.run("store", "merge", "c", "b").stdout == "b: 0 runs added, 1 completed\n"
    with Store(here.root / "c") as store:
        assert (store.run(id).state, len(store.results(id))) == ("passed", 3)


def test_old_runs_leave_a_store_by_age_and_by_size(two: Callable[[], Application]) -> None:
    here = two()
    here.run("store", "merge", "a", "b")
    for _ in range(3):
        assert here.run(*BOTH, "--store", "a").code == 0
    with Store(here.root / "a") as store:
        newest, *_, labelled, oldest = store.runs()
        store.put_label(StoredLabel(run=labelled.id, suite="s", test="small", passed=True, made_at=oldest.started_at))
    with closing(sqlite3.connect(here.root / "a" / FILE)) as database:
        database.execute("UPDATE runs SET started_at = '2020-01-01T00:00:00Z' WHERE id = ?", (oldest.id,))
        database.commit()
    assert here.run(*BOTH, "--store", "a", "--store-keep", "90d").code == 0
    with Store(here.root / "a") as store:
        assert len(store.runs()) == 5
        assert oldest.id not in {run.id for run in store.runs()}
    before = os.path.getsize(here.root / "a" / FILE)
    pruned = here.run("store", "prune", "--store", "a", "--keep", "1KB")
    assert pruned.stdout.startswith("3 runs removed, 2 left, ")
    assert os.path.getsize(here.root / "a" / FILE) < before
    with Store(here.root / "a") as store:
        assert labelled.id in {run.id for run in store.runs()}
        assert len(store.report("latest").lines) == 3
    assert newest.id != labelled.id
    with Store(here.root / "a") as store:
        store.put_label(StoredLabel(run=labelled.id, suite="s", test="small", passed=None, made_at=newest.started_at))
        store.put_label(
            StoredLabel(run=store.run("latest").id, suite="s", test="small", passed=True, made_at=newest.started_at)
        )
    assert here.run("store", "prune", "--store", "a", "--keep", "1KB").stdout.startswith("1 run removed, 1 left, ")
    wrong = here.run(*BOTH, "--store", "a", "--store-keep", "many")
    assert (wrong.code, wrong.stderr.splitlines()[0]) == (
        2,
        'Error: Cannot read --store-keep "many": it must be an age or a size',
    )


def test_all_commands_have_the_store_of_the_configuration_file(app: MakeApplication) -> None:
    here = app({**FILES, "/yao-test.toml": 'store = "kept"\nstore-keep = ["90d", "1GB"]\n'})
    commit(here, 1)
    below = "assistants/demo"
    assert here.run("-i", "tests", "-q", directory=below).code == 0
    assert (here.root / "kept" / FILE).is_file()
    assert not (here.root / ".yao-test" / FILE).exists()
    assert list(history(here, "small")) == ["small"]
    assert here.run("store", "list", directory=below).stdout.endswith("1 run\n")
    for words in (
        ("history",), ("store", "prune", "--keep", "90d"), ("show", "run:latest"),
        ("-i", "tests", "--last-failed"), ("-i", "tests", "-q", "--baseline", "main"), ("diff", "--baseline", "main"),
    ):  # fmt: skip
        run = here.run(*words, directory=below)
        assert run.code == 0, (words, run)
    elsewhere = here.root.parent
    served = here.start("view", "-a", str(here.root), cwd=elsewhere)
    with served as process:
        assert process.stdout is not None
        process.stdout.readline()
        said = here.anonymous(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
    assert said == "Showing runs from <app>/kept. Press Ctrl-C to stop.\n"
