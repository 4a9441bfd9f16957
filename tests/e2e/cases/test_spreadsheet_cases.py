"""Tables (CSV, TSV) as case files, through the command."""

from __future__ import annotations

from agent_files import agent
from command import MakeApplication

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
    assert (again.code, "2 passed, 1 failed" in again.stdout) == (1, True), again
    rows = (here.root / "again.csv").read_text()
    assert '"Hello\nfrom Oslo"' in rows
    assert "'=1+1" in rows  # no formula for a spreadsheet
