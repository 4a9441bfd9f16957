"""`yao-test init --data`: an agent whose cases are a table, and pass at once."""

from __future__ import annotations

import csv
import json

from command import Application, MakeApplication

LONG = "We open at nine on every day of the week, but on Sundays and on the days on which there is nothing to do."


def asserted(here: Application, file: str) -> list[dict[str, str]]:
    with (here.root / file).open(encoding="utf-8", newline="") as table:
        return [{name: cell for name, cell in row.items() if cell} for row in csv.DictReader(table)]


def test_a_table_of_questions_and_answers_becomes_cases_that_pass(app: MakeApplication) -> None:
    rows = f'Question;Answer;City\r\n"Where is {{{{ City }}}}?";"In Norway";Oslo\r\nAs JSON?;"{{""a"": 1}}";\r\nWhen?;"{LONG}";\r\n'
    here = app({"/My table.csv": b"\xef\xbb\xbf" + rows.encode()})
    made = here.run("init", "--data", "My table.csv", "--ci", "none")
    assert (made.code, made.stderr) == (0, "")
    first, second, third = asserted(here, "assistants/My-table/tests/My-table.csv")
    assert first == {"input": "Where is {{ City }}?", "City": "Oslo", "assert.icontains": "In Norway"}
    assert json.loads(second["assert"]) == {"type": "equals", "value": {"a": 1}}
    assert third["assert.agent:agents:workers.test.validator"] == f"Means the same as: {LONG}"
    report = here.report("-n", "My-table", code=0)
    assert [result["status"] for result in report["results"]] == ["passed"] * 3


def test_a_case_file_keeps_its_rows(app: MakeApplication) -> None:
    table = "id,input,assert.contains,city\na,Capital of {{ city }}?,Oslo,Norway\n"
    here = app({"/cases.csv": table})
    here.run("init", "--data", "cases.csv", "-n", "geo.quiz", "--ci", "none")
    assert (here.root / "assistants/geo/quiz/tests/cases.csv").read_text() == table
    assert here.run("-n", "geo.quiz").code == 0
    again = here.run("init", "--data", "cases.csv", "-n", "geo.quiz", "--ci", "none")
    assert "Kept assistants/geo/quiz/tests/cases.csv\n" in again.stdout


def test_what_is_no_table_is_refused(app: MakeApplication) -> None:
    here = app({"/x.xlsx": "PK", "/empty.csv": "question,answer\n"})
    for name, said in (
        ("x.xlsx", "Cannot read x.xlsx: it is not a table"),
        ("empty.csv", "Cannot make cases of empty.csv: it has no rows"),
        ("gone.csv", "Cannot read gone.csv: there is no such file"),
    ):
        run = here.run("init", "--data", name)
        assert (run.code, said in run.stderr) == (2, True), run.stderr
