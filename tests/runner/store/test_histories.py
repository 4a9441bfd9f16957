"""Tests over time: the list of all tests and the history of one are read differently, and say the same."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

from html_reports import CASES, report, result, suite
from kept_runs import keep

from runner.commands.history import history_record
from runner.store.history import Trend, histories
from runner.store.places import FILE
from runner.store.store import Store

RUNS, TESTS = 12, 40
CONNECTORS = (None, "scripted", "openai")


def test_the_list_of_all_tests_says_what_the_history_of_each_says(tmp_path: Path) -> None:
    names = [f"case-{number // 2}" for number in range(TESTS)]  # each name is that of two tests
    for hour in range(RUNS):
        results = [result(CASES, name, input="x", output="y") for name in names]
        keep(tmp_path, report([suite(CASES)], results, timestamp=f"2026-11-22T{hour:02}:00:00Z"))
    draw = random.Random(1)
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute("INSERT INTO fingerprints VALUES ('one', '{\"prompts\": \"1\"}')")
        for seq, position in database.execute("SELECT seq, position FROM results").fetchall():
            changes = draw.choice(
                [("passed", 1, 1), ("failed", 1, 3), ("failed", 0, 1), ("skipped", 0, 0), ("broken", 0, 0)]
            )
            row = (*changes, draw.choice(["cut_short", None, None]), draw.choice([None, 0.1, 0.2]), draw.randrange(2))
            more = (draw.randrange(900), CONNECTORS[position % 3], draw.choice([None, "one"]), seq)
            database.execute(
                "UPDATE results SET verdict = ?, passed = ?, judged = ?, cause = ?, cost = ?, cost_estimated = ?,"
                " duration_ms = ?, connector = ?, made_of = ? WHERE seq = ?",
                (*row, *more),
            )
    with Store(tmp_path) as store:
        for number in (2, RUNS):
            runs = store.runs(limit=number)
            listed = histories(store, runs)
            each = histories(store, runs, store.tests([run.id for run in runs]))
            assert list(map(history_record, each)) == list(map(history_record, listed))
            assert [one.replace(results=()) for one in each] == listed
        assert len(listed) == TESTS // 2
        assert {trend for one in listed for trend in one.trends} >= {Trend.FLAKY, Trend.NO_VERDICT}
