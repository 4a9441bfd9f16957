"""Tables (CSV, TSV) as case files, through the command."""

from __future__ import annotations

import json

import pytest
from agent_files import agent, case_file
from command import MakeApplication, Record

TABLE = b"""id;input;city;assert.contains;skip
a;"Hello
from {{city}}";Oslo;Oslo;
b;Say hi;;Bergen;
c;=1+1;;=1+1;later
"""


def test_a_table_runs_beside_data_and_comes_back_from_the_report(app: MakeApplication) -> None:
    here = app(
        {
            **agent(replies="- reply: 'heard {{ input }}'"),
            "/assistants/demo/tests/cases.csv": TABLE,
            "/assistants/demo/tests/prices.csv": b"day,price\n1,2\n",
        }
    )
    run = here.run("-i", "assistants", "-q", "-o", "r.json")
    assert (run.code, "1 passed, 1 failed, 1 skipped" in run.stdout) == (1, True), run
    assert "assistants/demo/tests/cases.csv › b" in run.stdout

    extracted = here.run("extract", "r.json", "-o", "again.csv")
    again = here.run("-i", "again.csv", "-n", "demo", "-q", "-o", "r2.json")

    assert (extracted.code, extracted.stdout) == (0, "Wrote 3 cases to <app>/again.csv\n")
    assert (again.code, "1 passed, 1 failed, 1 skipped" in again.stdout) == (1, True), again
    rows = (here.root / "again.csv").read_text()
    assert '"Hello\nfrom Oslo"' in rows
    assert "'=1+1" in rows  # no formula for a spreadsheet


CASES: list[Record] = [
    {
        "id": "all",
        "input": "5 of it",
        "options": {"temperature": 0.5, "stop": ["a", "b"]},
        "timeout": "5s",
        "repeat": {"pass": "1 of 1"},
        "tags": ["x", "y"],
        "metadata": {"k": [1]},
        "assert": [
            {"type": "contains", "value": "5"},
            {"type": "contains", "value": "heard"},
            {"type": "regex", "value": "h.*t$"},
            {"type": "json_path", "path": "$.a", "value": "5", "negate": True},
            {"type": "not_contains", "value": "\\N"},
        ],
    },
    {
        "id": "talk",
        "turns": [{"input": "hi", "assert": {"type": "contains", "value": "hi"}}],
        "on_missing_input": "end",
    },
    {
        "id": "chat",
        "input": [{"role": "user", "content": "Hi"}],
        "assert": {"type": "json_path", "path": "$.a", "value": 1},
    },
    {"id": "later", "input": "x", "skip": "not yet"},
]


def test_a_table_of_a_report_has_the_whole_cases(app: MakeApplication) -> None:
    here = app(agent(replies="- reply: 'heard {{ input }}'", cases=CASES))
    here.run("-i", case_file(), "-o", "r.jsonl", "-o", "r.json")
    found = []
    for name in ("again.csv", "again.csv"):  # a table is replaced
        here.run("extract", "r.jsonl", "-o", name)
        here.run("-i", name, "-n", "demo", "-o", "r2.jsonl")
        found = [json.loads(line) for line in (here.root / "r2.jsonl").read_text().splitlines()]
    before = [json.loads(line) for line in (here.root / "r.jsonl").read_text().splitlines()]
    told = ("id", "status", "input", "tags", "metadata", "skip_reason")

    def cases(lines: list[Record]) -> list[Record]:
        return [
            {name: line.get(name) for name in told}
            | {name: value for name, value in line.get("regrade", {}).get("case", {}).items() if name != "assertions"}
            | {"checks": sorted(json.dumps(check, sort_keys=True) for check in line.get("assertions", ()))}
            for line in lines
            if line["type"] == "result"
        ]

    assert cases(found) == cases(before)
    short = here.run("extract", "r.json", "-o", "short.csv")
    assert short.stdout.endswith("short.csv, without 1 with several turns, which only a .jsonl report has in full\n")
    assert here.run("-i", "short.csv", "-n", "demo", "--dry-run").code == 0


WRITTEN = {
    "postgres": ("tsv", "input\tassert.contains\tskip\toptions.temperature\nhi\thi\tf\t\\N\nho\tho\tt\t0.5\n"),
    "sqlite": ("csv", "input,assert.contains,skip\r\nhi,hi,0\r\nho,ho,1\r\n"),
}


@pytest.mark.parametrize("by", WRITTEN)
def test_databases_write_truth_and_nothing_in_their_own_way(app: MakeApplication, by: str) -> None:
    suffix, text = WRITTEN[by]
    here = app({**agent(replies="- reply: 'heard {{ input }}'"), f"/assistants/demo/tests/rows.{suffix}": text})
    run = here.run("-i", f"assistants/demo/tests/rows.{suffix}", "-q")
    assert (run.code, "1 passed, 0 failed, 1 skipped" in run.stdout) == (0, True), run
