"""Answers of more than a million characters in reports."""

from __future__ import annotations

import json

from agent_files import agent, case_file
from command import MakeApplication

LONG = 'é"\\ ' * 300_000
CHECKS = [{"type": "equals", "value": "no"}]


def test_a_long_answer_is_whole_once_and_short_where_it_was_looked_at(app: MakeApplication) -> None:
    cases = [{"id": "long", "input": LONG, "assert": CHECKS}, {"id": "short", "input": "é", "assert": CHECKS}]
    here = app(agent(replies='- reply: "{{ input }}"', cases=cases))
    here.run("-i", case_file(), "-o", "report.jsonl", "-o", "report.json")
    text = (here.root / "report.jsonl").read_text("utf-8")
    lines = {line["id"]: line for line in map(json.loads, text.splitlines()) if line["type"] == "result"}
    assert (lines["long"]["output"], lines["short"]["output"]) == (LONG, "é")
    assert lines["long"].keys() == lines["short"].keys() and {"regrade", "fingerprint"} <= lines["long"].keys()
    actual = lines["long"]["assertions"][0]["actual"]
    assert actual == f"{LONG[:500_000]} ... 200000 more characters ... {LONG[-500_000:]}"
    document = json.loads((here.root / "report.json").read_text("utf-8"))
    assert [one["output"] for one in document["results"]] == [LONG, "é"]
    again = here.run("show", "report.jsonl")
    assert again.code == 0 and "[long]" in again.stdout, again.stdout[-500:]
