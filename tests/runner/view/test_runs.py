"""What the pages are given of runs that grow: only what is new is read, and it comes to the same as reading all."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event

from agent_files import agent, case_file
from command import PATIENCE, MakeApplication, eventually
from html_reports import CASES, everything, report, result, suite
from kept_runs import KeptRunUnderWay, keep

from runner.store.database import RunLock
from runner.store.places import FILE
from runner.store.store import Store
from runner.view.runs import StoredRuns

COUNTED = (
    "total",
    "passed",
    "failed",
    "skipped",
    "errors",
    "warnings",
    "usage",
    "pass_rate_interval",
    "mean_score",
    "parts",
)


def test_a_run_that_grows_is_the_same_as_one_that_is_read_whole(tmp_path: Path, app: MakeApplication) -> None:
    judged = {"type": "agent", "use": "agents:judge", "value": "is polite"}
    wanted = {"type": "contains", "value": "no"}
    cases = [{"id": f"c{at}", "input": "x", "tags": ["ab"[at % 2]], "assert": [judged, wanted][: 1 + at % 2]} for at in range(6)]  # fmt: skip
    files = agent(replies="- reply: 'heard {{ input }}'", cases=cases)
    files |= agent("judge", replies="- reply: { json: { passed: true, reason: fine } }")
    here = app({**files, "some_test.ts": "export function TestA(t) { t.fatal('no'); }\n"})
    folder = here.root / "store"
    assert here.run("-i", case_file(), "-i", "scripts.demo.some", "--runs", "3", "-q", "--store", "store").code == 1
    keep(folder, everything(tmp_path))
    with Store(folder) as store:
        kept = store.runs()
    for run in kept:
        with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as database:
            lock = RunLock(folder, run.id)
            database.execute("CREATE TEMP TABLE whole AS SELECT * FROM runs WHERE id = ?", (run.id,))
            database.execute("CREATE TEMP TABLE rest AS SELECT * FROM results WHERE run = ? ORDER BY seq", (run.id,))
            database.execute("DELETE FROM results WHERE run = ?", (run.id,))
            database.execute("UPDATE runs SET status = NULL, ended_at = NULL, summary = NULL WHERE id = ?", (run.id,))
            numbers = [number for (number,) in database.execute("SELECT seq FROM rest")]
            growing = StoredRuns(folder, None, str)
            for last in (*numbers[2:-1:5], numbers[-1]):
                database.execute("INSERT OR IGNORE INTO results SELECT * FROM rest WHERE seq <= ?", (last,))
                index = growing.index(run.id)
                with closing(StoredRuns(folder, None, str)) as fresh:
                    at_once = fresh.index(run.id)
                in_order = sorted(index["rows"], key=lambda row: row["key"])
                assert in_order == sorted(at_once["rows"], key=lambda row: row["key"])
                assert {**index, "rows": [], "revision": 1} == {**at_once, "rows": []}
                assert index["head"]["status"] == "running"
                assert index["summary"]["total"] == index["head"]["counts"]["total"]
            with Store(folder) as store:
                summary = {**store.report(run.id).summary, "status": "running"}
            assert {**summary, **index["summary"]} == {**index["summary"], "completed_at": None}
            assert all(index["summary"][key] == value for key, value in summary.items() if key in COUNTED), summary
            database.execute("REPLACE INTO runs SELECT * FROM whole")
            database.execute("DROP TABLE whole")
            database.execute("DROP TABLE rest")
            lock.release()
            growing.close()


def test_a_test_that_a_resumed_run_is_without_leaves_the_page(tmp_path: Path) -> None:
    cases = [result(CASES, id, input="x", output=id) for id in "abcd"]
    going = KeptRunUnderWay(tmp_path, report([suite(CASES)], cases))
    going.go_on(3)
    runs = StoredRuns(tmp_path, None, str)
    eventually(lambda: (list := runs.newest(1)["runs"]) and list[0]["counts"]["total"] == 3, "three results")
    revision = runs.index(going.id)["revision"]
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:  # as at the end of a run that goes on
        database.execute("DELETE FROM results WHERE test = 'b'")
    going.end()
    update = runs.since(going.id, revision)
    assert (update["count"], [(at, row["id"]) for at, row in update["rows"]]) == (3, [(0, "a"), (1, "c"), (2, "d")])
    assert runs.result(going.id, 2).line["output"] == "d"
    runs.close()


def test_the_run_before_is_the_newest_one_of_the_same_suites(tmp_path: Path) -> None:
    def kept(day: int, *suites: str) -> str:
        cases = [result(name, "a") for name in suites]
        return keep(tmp_path, report([suite(name) for name in suites], cases, timestamp=f"2026-01-0{day}T00:00:00Z"))

    first, other, second, both = (
        kept(1, "a.jsonl"),
        kept(2, "b.jsonl"),
        kept(3, "a.jsonl"),
        kept(4, "b.jsonl", "a.jsonl"),
    )
    runs = StoredRuns(tmp_path, None, str)
    found = [runs.index(id)["head"]["before"] for id in (first, other, second, both)]
    runs.close()
    assert found == [None, None, first, second]


def test_an_answer_is_made_once_for_each_state_of_the_store_and_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    id = keep(tmp_path, report([suite(CASES)], [result(CASES, "a")]))
    asked, is_read = Event(), Event()
    made: list[int] = []

    def make(store: Store) -> dict[str, int]:
        asked.set()
        assert is_read.wait(PATIENCE)
        made.append(len(store.runs()))
        return {"runs": made[-1]}

    with closing(StoredRuns(tmp_path, None, str)) as runs, ThreadPoolExecutor(5) as readers:
        answers = [readers.submit(runs.shared, "many", make) for _ in range(5)]
        assert asked.wait(PATIENCE)
        assert runs.index(id)["head"]["id"] == runs.newest(1)["runs"][0]["id"] == id  # while the others wait
        is_read.set()
        assert [answer.result() for answer in answers] == [{"runs": 1}] * 5
        assert made == [1]
        keep(tmp_path, report([suite(CASES)], [result(CASES, "a")]))
        assert runs.shared("many", make) == {"runs": 2}
        assert runs.shared("many", make) == {"runs": 2}
        assert made == [1, 2]
