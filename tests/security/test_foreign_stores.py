"""A store that came with a clone is data: nothing in its file changes what runs write or what commands say."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication
from table_tests import each

PLANTED = {
    "a trigger": "CREATE TRIGGER better AFTER INSERT ON results BEGIN UPDATE results SET verdict = 'passed'; END",
    "a trigger on runs": "CREATE TRIGGER better AFTER UPDATE ON runs BEGIN DELETE FROM results; END",
    "a view": "CREATE VIEW better AS SELECT * FROM results",
    "an index": "CREATE UNIQUE INDEX better ON results (verdict)",
    "an index over an expression": "CREATE INDEX better ON results (upper(verdict))",
    "a table of its own": "CREATE TABLE better (x)",
    "a virtual table": "CREATE VIRTUAL TABLE better USING fts5(x)",
}
STANDS_IN = (
    "ALTER TABLE results RENAME TO better",
    "CREATE VIEW results AS SELECT *, 'passed' AS told FROM better",
)
CHANGED = {
    "a computed column": "replace(sql, 'passed INTEGER', 'passed INTEGER GENERATED ALWAYS AS (judged)')",
    "a check": "replace(sql, 'verdict TEXT', 'verdict TEXT CHECK (verdict = ''passed'')')",
    "a collation": "replace(sql, 'test TEXT', 'test TEXT COLLATE NOCASE')",
}
COMMANDS = (
    f"-i {case_file()} -q", "diff --baseline main", "history", "history a",  "store list",
    "store merge .yao-test other", "store merge new .yao-test", "show run:latest", "diff run:latest run:latest",
    "store prune --keep 1d", f"-i {case_file()} --last-failed --dry-run",
)  # fmt: skip


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    files = {
        **agent(
            replies="- reply: broken\n", cases=[{"id": "a", "input": "x", "assert": {"type": "equals", "value": "y"}}]
        ),
        "/.git/HEAD": "ref: refs/heads/main\n",
        "/.git/objects/.keep": "",
        "/.git/refs/heads/main": f"{'1' * 40}\n",
        "/.yao-test/.keep": "",
    }
    here = shared_app(files)
    assert here.run("-i", case_file(), "-q", "-o", "r.jsonl").code == 1
    shutil.copytree(here.root / ".yao-test", here.root / "other")
    shutil.copytree(here.root / ".yao-test", here.root / "whole")
    return here


def planted(here: Application, *statements: str) -> None:
    shutil.rmtree(here.root / ".yao-test")
    shutil.rmtree(here.root / "new", ignore_errors=True)
    shutil.copytree(here.root / "whole", here.root / ".yao-test")
    with closing(sqlite3.connect(here.root / ".yao-test/runs.sqlite", isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)


def test_a_store_that_is_as_runs_write_it_is_used(here: Application) -> None:
    planted(here)
    codes = [here.run(*words.split()).code for words in COMMANDS if words != "store prune --keep 1d"]
    assert max(codes) <= 1, codes
    planted(here, "ANALYZE")
    assert here.run("history", "a").code == 0


@each("what", PLANTED)
def test_what_was_planted_is_named_before_anything_runs(here: Application, what: str) -> None:
    planted(here, PLANTED[what])
    kept = (here.root / ".yao-test/runs.sqlite").read_bytes()
    for words in COMMANDS if what == "a trigger" else COMMANDS[:2]:
        run = here.run(*words.split())
        assert run.code == 2, (words, run)
        assert "better in its runs.sqlite was not made by yao-test" in run.stderr, (words, run)
        assert run.stdout == "", (words, run)
    assert (here.root / ".yao-test/runs.sqlite").read_bytes() == kept


def test_a_view_does_not_stand_in_for_a_table(here: Application) -> None:
    planted(here, *STANDS_IN)
    run = here.run("history")
    assert run.code == 2
    assert "was not made by yao-test" in run.stderr


@pytest.mark.parametrize("what", CHANGED)
def test_a_table_that_computes_is_not_used(here: Application, what: str) -> None:
    change = f"UPDATE sqlite_master SET sql = {CHANGED[what]} WHERE name = 'results'"
    planted(here, "PRAGMA writable_schema = ON", change)
    run = here.run("history")
    assert run.code == 2, run
    assert "the table results in its runs.sqlite was not made by yao-test" in run.stderr


def test_what_waits_in_the_log_of_the_database_is_seen_too(here: Application) -> None:
    planted(here)
    folder = here.root / ".yao-test"
    with closing(sqlite3.connect(folder / "runs.sqlite", isolation_level=None)) as database:
        database.execute(PLANTED["a trigger"])
        shutil.copytree(folder, here.root / "copy")
    shutil.rmtree(folder)
    (here.root / "copy").rename(folder)
    assert (folder / "runs.sqlite-wal").exists()
    run = here.run("-i", case_file(), "-q")
    assert run.code == 2, run
    assert "the trigger better" in run.stderr


def test_a_run_with_a_report_that_asks_for_no_store_goes_on_without_it(here: Application) -> None:
    planted(here, PLANTED["a trigger"])
    kept = (here.root / ".yao-test/runs.sqlite").read_bytes()
    for words in (f"-i {case_file()} -q -o own.jsonl", "--resume own.jsonl -q"):
        run = here.run(*words.split())
        assert run.code == 1, (words, run)
        assert "Warning: The run was not saved to the store. Cannot use the store" in run.stdout, (words, run)
        assert "the trigger better in its runs.sqlite was not made by yao-test" in run.stdout, (words, run)
    assert here.run("-i", case_file(), "--dry-run").code == 0
    for asks in ("--store .yao-test", "--baseline main", "--last-failed"):
        run = here.run("-i", case_file(), "-q", "-o", "own.jsonl", *asks.split())
        assert run.code == 2, (asks, run)
        assert "was not made by yao-test" in run.stderr, (asks, run)
    assert (here.root / ".yao-test/runs.sqlite").read_bytes() == kept
