"""A store whose database can be opened, and holds what no run wrote: commands and pages say so in one sentence, and
what is copied out of it into another store can be read."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication, Run

from runner.errors import RunnerError
from runner.record.writing import json_line
from runner.store.places import FILE
from runner.store.store import Store
from runner.store.stored import StoredLabel
from runner.view.page_actions import PageActions
from runner.view.reruns import Reruns
from runner.view.runs import StoredRuns

JUDGED = {"type": "agent", "use": "agents:judge", "value": "is polite"}
CASES = [
    {"id": "dog", "input": "a dog?", "assert": JUDGED},
    {"id": "late", "input": "late?", "assert": {"type": "contains", "value": "no"}},
]
FILES = {
    **agent(replies="- reply: 'heard {{ input }}'", cases=CASES),
    **agent("judge", replies="- reply: { json: { passed: true, reason: fine } }"),
    "some_test.ts": "export function TestA(t) { t.fatal('no'); }\n",
    "/.git/HEAD": "ref: refs/heads/main\n",
    "/.git/objects/.keep": "",
    "/.git/refs/heads/main": f"{'1' * 40}\n",
    "/.yao-test/.keep": "",
}
NOW = "2026-11-23T06:00:00Z"
BLOB = "X'01ff00'"
VALUES = ("NULL", "''", "'x'", "-5", "0.5", f"{2**63 - 1}", "9e999", "CAST(X'ff' AS TEXT)")
"""Each column gets a blob, and one of these."""
TEXTS = ("'{'", "'[1]'", "'{}'", """'{"type": "start", "suites": []}'""")
"""Columns with JSON get these too."""
JSON = ("start", "summary", "reports", "line", "content")
REFERENCES = ("run", "digest")
"""A row that names another thing than there is belongs to nothing."""
SAID = re.compile(
    r"Error: (Cannot use the store <app>/\.yao-test: it is damaged: \S.*|Cannot read \d runs? of \.yao-test: damaged"
    r"|There is no run \w+ in the store <app>/(\.yao-test|new)|No run has a test dog"
    r"|The store <app>/new has no runs|Cannot compare main with run:\S+: run:\S+ has no results)\n(Hint: .+\n)?"
)

NO_RUN = "Error: The store <app>/new has no runs\n"


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    """Two runs in a store, with labels and a warning; its tables take NULL everywhere."""
    here = shared_app(FILES)
    for number in ("2", "1"):
        assert here.run("-i", case_file(), "-i", "scripts.demo.some", "-q", "--runs", number).code == 1
    with Store(here.root / ".yao-test") as store:
        (newest, _) = store.runs()
        store.put_label(StoredLabel(run=newest.id, suite=case_file(), test="dog", passed=True, made_at=NOW))
    path = here.root / ".yao-test" / FILE
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        remark = '{"type": "warning", "warning": "it is late"}'
        database.execute("INSERT INTO remarks (run, session, line) VALUES (?, 0, ?)", (newest.id, remark))
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')")
    path.rename(here.root / "whole.sqlite")
    return here


def damages(whole: Path) -> Iterator[tuple[int, str, str, str, str]]:
    """Number of the column, table, column, value, and the statement that puts it into the newest row there."""
    with closing(sqlite3.connect(whole)) as database:
        names = "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.name NOT LIKE 'sqlite%' AND m.type = 'table'"
        columns = database.execute(names).fetchall()
    for number, (table, column) in enumerate(columns):
        own = "digest" if table == "fingerprints" else "rowid"
        which = f"{own} = (SELECT max({own}) FROM {table})"
        for value in (BLOB, VALUES[number % len(VALUES)], *(TEXTS if column in JSON else ())):
            yield number, table, column, value, f"UPDATE {table} SET {column} = {value} WHERE {which}"
        if number % 11 == 0:
            yield number, table, column, "nothing", f"ALTER TABLE {table} RENAME COLUMN {column} TO other"


def commands(newest: str, value: str, number: int) -> Iterator[tuple[str, ...]]:
    """What reads the whole store, each line of it once; for a blob, also a third of what reads it as one of these does."""
    yield from (("history", "--json"), ("show", f"run:{newest}", "--store", ".yao-test"))
    yield from (("store", "merge", "new", ".yao-test"), ("history", "--store", "new"))
    if value == BLOB:
        more: list[tuple[str, ...]] = [("history", "dog"), ("store", "list"), ("diff", "--baseline", "main")]
        more += [("calibrate", f"run:{newest}"), ("label", f"run:{newest}", "-o", "labels.jsonl")]
        more += [("-i", "scripts.demo.some", "--last-failed", "--dry-run"), ("store", "prune", "--keep", "1d")]
        yield from more[number % 3 :: 3]


def pages(runs: StoredRuns, newest: str, oldest: str) -> Iterator[Callable[[], Any]]:
    """What pages ask for: all of it for a blob, a third of it for other values."""
    actions = PageActions(runs, Reruns({}), "ann", lambda: NOW)
    yield from (lambda: runs.newest(10), lambda: runs.index(newest), actions.tests)
    yield from (lambda: actions.over_time(case_file(), "dog"), lambda: actions.compare([oldest, newest]))
    yield from (lambda: actions.labels.questions(newest, 0), lambda: actions.labels.exported(newest))
    yield from (lambda: actions.plan(newest, []), lambda: actions.picture(newest, 0, "x.png"))


def said(run: Run) -> str:
    """The error, as it is printed."""
    if not run.stdout.startswith("{"):
        return run.stderr
    (error,) = json.loads(run.stdout)["errors"]
    return f"Error: {error['message']}\n" + (f"Hint: {error['hint']}\n" if error.get("hint") else "")


def test_what_no_run_wrote_is_said_in_one_sentence(here: Application) -> None:
    folder, whole = here.root / ".yao-test", here.root / "whole.sqlite"
    with closing(sqlite3.connect(whole)) as database:
        (newest,), (oldest,) = database.execute("SELECT id FROM runs ORDER BY rowid DESC").fetchall()
    for number, table, column, value, statement in damages(whole):
        shutil.rmtree(here.root / "new", ignore_errors=True)
        shutil.copy(whole, folder / FILE)
        with closing(sqlite3.connect(folder / FILE)) as database, database:
            try:
                database.execute(statement)
            except sqlite3.IntegrityError:  # the number or the name of a row
                continue
        what = f"{table}.{column} = {value}"
        ended = {words: here.run(*words) for words in commands(newest, value, number)}
        for words, run in ended.items():
            assert run.code == 0 or (run.code == 2 and SAID.fullmatch(said(run))), (what, words, run)
        copied = ended["history", "--store", "new"]
        assert copied.code == 0 or copied.stderr == NO_RUN, (what, copied)
        if value == BLOB and column not in REFERENCES:
            assert ended["store", "merge", "new", ".yao-test"].code == 2, what
        with suppress(RunnerError), closing(StoredRuns(folder, here.root, str)) as runs:
            asked = [*pages(runs, newest, oldest)]
            for page in asked if value == BLOB else asked[number % 3 :: 3]:
                try:
                    json_line(page())
                except RunnerError as error:
                    assert error.message
                except Exception as error:
                    raise AssertionError(what) from error


def damage(here: Application, *statements: str) -> None:
    """Changes a copy of the whole store."""
    shutil.copy(here.root / "whole.sqlite", here.root / ".yao-test" / FILE)
    with closing(sqlite3.connect(here.root / ".yao-test" / FILE)) as database, database:
        for statement in statements:
            database.execute(statement)


def test_the_value_and_its_run_are_named(here: Application) -> None:
    damage(here, "UPDATE results SET passed = 'x' WHERE attempt = 0 AND run = (SELECT run FROM results LIMIT 1)")
    run = here.run("history")
    assert run.code == 2
    assert re.fullmatch(
        r"Error: Cannot use the store <app>/\.yao-test: it is damaged: passed is 'x' in run '\w+'\n"
        r"Hint: Move the folder away, and recover readable runs into a new store: yao-test store merge NEW OLD\n",
        run.stderr,
    )


def test_results_without_a_fingerprint_are_whole(here: Application) -> None:
    damage(here, "UPDATE results SET made_of = NULL", "DELETE FROM fingerprints")
    for words in (("show", "run:latest"), ("history", "dog"), ("store", "merge", "bare", ".yao-test")):
        assert here.run(*words).code == 0, words


def test_a_run_that_is_named_like_a_path_removes_no_file(here: Application) -> None:
    renamed = "UPDATE runs SET id = '../../kept.txt', started_at = '2020-01-01T00:00:00Z' WHERE rowid = 1"
    damage(here, renamed, "DELETE FROM labels")
    (here.root / ".yao-test/running").mkdir(exist_ok=True)
    here.write({"/kept.txt": "mine"})
    run = here.run("store", "prune", "--keep", "1d")
    assert (run.code, (here.root / "kept.txt").exists()) == (2, True)
    assert "it is damaged: id is '../../kept.txt'" in run.stderr


def test_a_whole_copy_of_a_run_takes_the_place_of_a_damaged_one(here: Application) -> None:
    damage(here)
    assert here.run("store", "merge", "fine", ".yao-test").code == 0
    damage(here, "UPDATE runs SET session = NULL WHERE rowid = 1")
    assert here.run("history").code == 2
    merged = here.run("store", "merge", ".yao-test", "fine")
    assert (merged.code, merged.stdout) == (0, "fine: 0 runs added, 1 completed, 1 known\n")
    assert here.run("history").code == 0
