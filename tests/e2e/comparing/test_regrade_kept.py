"""`yao-test regrade` by what the report keeps: cases whose file no longer exists, what agents did, the configuration file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file, lines, server
from command import Application, MakeApplication, Record
from faults import lines_of

REPLIES = """\
- when: { input: find }
  reply: { tool_calls: [{ name: find, arguments: { id: 7 } }] }
- reply: "Fine. {{ system }}"
"""
DELEGATES = """\
export function Create(ctx: agent.Context, messages: agent.Message[]) {
  const said = String(messages[messages.length - 1].content);
  if (/refund/.test(said)) return { delegate: { agent_id: "refunds", messages } };
  if (/price/.test(said)) ctx.agent.Call("prices", [{ role: "user", content: "price" }]);
  return null;
}
"""
YES = '- reply: { json: { passed: true, reason: "so", score: 1 } }'
NO = '- reply: { json: { passed: false, reason: "no", score: 0 } }'
JUDGED = {
    "type": "agent",
    "use": "agents:judge",
    "value": "kind",
    "options": {"connector": "scripted", "metadata": {"strictness": 3}},
    "judge": {"samples": 3},
}
PRICED = [{"type": "delegated", "value": "prices"}, {"type": "trajectory", "value": [{"agent": "prices"}]}]
CASES: list[Record] = [
    {"id": "one", "name": "The first", "input": "price", "assert": [JUDGED, *PRICED, {"type": "model_calls", "value": {"min": 1, "max": 2}}]},
    {"id": "listed", "messages": [{"role": "user", "content": "hi"}], "expected": "Fine. Be brief.", "tags": ["a"]},
    {"id": "table", "input": "say {{what}}", "vars": {"what": ["a", "b"]}, "assert": {"type": "contains", "value": "Fine"}},
    {
        "id": "graded",
        "input": "find it",
        "assert": [{"type": "tool_called", "value": "find", "weight": 2}, {**JUDGED, "weight": 1}],
        "threshold": 0.9,
    },
    {
        "id": "turns",
        "turns": [
            {"input": "find it", "assertions": [{"type": "delegated", "negate": True}, {"type": "model_calls", "value": {"min": 1, "max": 2}}]},
            {"input": "price", "assertions": PRICED},
            {"input": "a refund", "assertions": [{"type": "delegated", "value": "refunds"}]},
        ],
        "on_missing_input": "end",
        "final_assertions": [
            {
                "type": "trajectory",
                "value": [{"name": "find", "arguments": {"id": 7}}, {"agent": "prices"}, {"agent": "refunds"}],
                "mode": "exact",
            }
        ],
    },
    {
        "id": "reached",
        "input": "find it",
        "simulator": {"use": "scripts:user"},
        "checkpoints": [{"id": "found", "assertion": {"type": "tool_called", "value": "find"}}, {"id": "kind", "assertion": JUDGED}],
    },
    {
        "id": "talk",
        "mode": "conversation",
        "grader": "agents:judge",
        "turns": [{"input": "a", "assertions": ["It is kind"]}, {"input": "price", "assertions": PRICED}],
        "rubrics": [{"id": "whole", "outcome": "It is polite", "weight": 2, "required": True}],
        "threshold": 0.5,
    },
]  # fmt: skip
IDS = ["one", "listed", "table[a]", "table[b]", "graded", "turns", "reached", "talk"]
OF_JUDGE = ["one", "graded", "reached", "talk"]


def demo(app: MakeApplication, *cases: Record, **files: str) -> Application:
    return app(
        {
            **agent(
                package={"mcp": {"servers": ["shop"]}}, replies=REPLIES, hooks=DELEGATES, cases=list(cases or CASES)
            ),
            **agent("prices", replies="- reply: Ten."),
            **agent("refunds", replies="- reply: Here it is."),
            **agent("judge", replies=YES),
            **server("shop", {"find": "scripts.shop.Find"}),
            "/scripts/shop.ts": "export function Find(args) { return { id: args.id }; }\n",
            "/scripts/user.ts": "export function Simulate() { return { input: 'more' }; }\n",
            **files,
        }
    )


def saved(here: Application, *arguments: str, code: int = 0) -> list[Record]:
    run = here.run("-i", case_file(), "-o", "r.jsonl", *arguments)
    assert run.code == code, run.stdout + run.stderr
    return lines_of(here.root / "r.jsonl")


def regraded(here: Application, *arguments: str, code: int = 0, report: str = "r.jsonl") -> dict[str, Record]:
    return regraded_and_said(here, *arguments, code=code, report=report)[0]


def regraded_and_said(
    here: Application, *arguments: str, code: int = 0, report: str = "r.jsonl"
) -> tuple[dict[str, Record], str]:
    new = "new.jsonl" if report == "r.jsonl" else "newer.jsonl"
    run = here.run("regrade", report, "-o", new, *arguments)
    assert run.code == code, run.stdout + run.stderr
    return results(here.root / new), run.stdout + run.stderr


def results(path: Path) -> dict[str, Record]:
    return {record["id"]: record for record in lines_of(path) if record["type"] == "result"}


def gone(here: Application) -> Path:
    path: Path = here.root / case_file()
    path.unlink()
    return path


CHANGES = (
    "status",
    "score",
    "scores",
    "assertions",
    "checkpoints",
    "final_assertions",
    "tools",
    "model_calls",
    "usage",
    "regrade",
)


def told(record: Record) -> Record:
    """What must be the same if nothing was changed."""
    told = {key: record.get(key) for key in CHANGES}
    kept = told["regrade"]
    answers = [{key: value for key, value in one.items() if key != "duration_ms"} for one in kept["answers"]]
    return {**told, "regrade": {**kept, "answers": answers}}


def test_cases_whose_file_is_gone_are_graded_as_the_report_has_them(app: MakeApplication) -> None:
    here = demo(app)
    saved(here)
    before = results(here.root / "r.jsonl")
    assert sorted(before) == sorted(IDS)
    with_file = regraded(here)
    gone(here)

    without = regraded(here)
    again = regraded(here, report="new.jsonl")
    here.write({"/assistants/judge/replies.yml": NO})
    changed, said = regraded_and_said(here, code=1)

    for found in (with_file, without, again):
        assert {id: told(record) for id, record in found.items()} == {id: told(record) for id, record in before.items()}
    failed = {id for id, record in changed.items() if record["status"] == "failed"}
    assert failed == {*OF_JUDGE}
    assert f"{case_file()}, which is missing: one, listed, table" in said
    assert list(regraded(here, "--run", "listed|turns")) == ["listed", "turns"]
    assert list(regraded(here, "-i", case_file(), "--run", "listed")) == ["listed"]
    assert here.run("regrade", "r.jsonl", "--run", "nothing").code == 2


def test_a_record_says_how_its_judges_were_asked(app: MakeApplication) -> None:
    here = demo(app)
    saved(here)
    found = results(here.root / "r.jsonl")

    panel = found["one"]["assertions"][0]
    assert (panel["judge"], panel["judge_connector"]) == ("judge", "scripted")
    assert panel["options"] == {"connector": "scripted", "metadata": {"strictness": 3}}
    assert [vote["connector"] for vote in panel["votes"]] == ["scripted", "scripted"]
    criterion = found["talk"]["scores"][0]["assertions"][0]
    assert (criterion["judge"], criterion["judge_connector"], "options" in criterion) == ("judge", "scripted", False)
    assert here.run("show", "r.jsonl", "-o", "r.json").code == 0
    shown = json.loads((here.root / "r.json").read_text())["results"]
    assert shown[0]["assertions"][0] == panel
    assert "regrade" not in shown[0]


def test_the_file_wins_where_the_case_is_in_it(app: MakeApplication) -> None:
    here = demo(app)
    saved(here)
    stricter = {
        "id": "listed",
        "input": [{"role": "user", "content": "hi"}],
        "assert": {"type": "contains", "value": "odd"},
    }
    here.write({f"/{case_file()}": lines(stricter)})

    found, said = regraded_and_said(here, code=1)

    assert sorted(found) == sorted(IDS)
    assert {id for id, record in found.items() if record["status"] == "failed"} == {"listed"}
    assert f"no longer in {case_file()}: one, table" in said


def test_a_file_that_was_moved_is_named(app: MakeApplication) -> None:
    here = demo(app)
    saved(here)
    place = gone(here)
    (place.parent / "other.jsonl").write_text(lines({**CASES[0], "assert": {"type": "contains", "value": "odd"}}))

    found = regraded(here, "-i", "assistants/demo/tests/other.jsonl", code=1)

    assert found["one"]["status"] == "failed"
    assert found["one"]["suite"] == case_file()
    assert len(found) == len(IDS)


def test_it_works_from_another_folder_and_without_the_agent(app: MakeApplication) -> None:
    here = demo(app)
    saved(here)
    before = results(here.root / "r.jsonl")
    away = here.root / "scripts"
    run = here.run("regrade", "../r.jsonl", "-o", "../new.jsonl", directory=away)
    assert run.code == 0, run
    assert {id: record["suite"] for id, record in results(here.root / "new.jsonl").items()} == dict.fromkeys(
        IDS, case_file()
    )
    assert "as the report has them" not in run.stdout

    import shutil

    shutil.rmtree(here.root / "assistants/demo")
    found = regraded(here)
    assert {id: record["status"] for id, record in found.items()} == {id: one["status"] for id, one in before.items()}


VARIANTS = ("--variant", "a", "--variant", "b=prompts:kind.yml")
KIND = {"/kind.yml": "- { role: system, content: Be kind. }"}


@pytest.mark.parametrize("with_file", [True, False], ids=["with its file", "without"])
def test_variants_are_graded_again(app: MakeApplication, with_file: bool) -> None:
    cases = [{"id": f"c{at}", "input": "hi", "assert": {"type": "contains", "value": "kind"}} for at in range(8)]
    here = demo(app, *cases, **KIND)
    saved(here, *VARIANTS, "--until-decided", code=1)
    start, *_, end = lines_of(here.root / "r.jsonl")
    if not with_file:
        gone(here)

    assert here.run("regrade", "r.jsonl", "-o", "new.jsonl").code == 1

    again, *_, last = lines_of(here.root / "new.jsonl")
    assert [suite["id"] for suite in again["suites"]] == [suite["id"] for suite in start["suites"]]
    assert last["rounds"] == end["rounds"] == {"made": 1, "planned": 5}
    rows = [here.run("diff", name).stdout.splitlines() for name in ("r.jsonl", "new.jsonl")]
    verdicts = [next(line for line in lines if "(stopped after 1 of 5 rounds)" in line) for lines in rows]
    assert verdicts[0] == verdicts[1]
    assert "Improved" in verdicts[0]


def test_generated_cases_are_graded_again(app: MakeApplication) -> None:
    made = [{"id": "g", "input": "hi", "assert": JUDGED}]
    here = demo(app, **{"/scripts/made.ts": f"export function Generate() {{ return {json.dumps(made)}; }}\n"})
    assert here.run("-i", "scripts:made", "-n", "demo", "-o", "r.jsonl").code == 0
    here.write({"/assistants/judge/replies.yml": NO})

    assert regraded(here, code=1)["g"]["status"] == "failed"


def test_what_the_report_does_not_have_is_left_out_and_said(app: MakeApplication) -> None:
    long = {"type": "contains", "value": "x" * 100_000, "negate": True}
    cases = [
        {"id": "file", "input": "see", "attachments": [{"type": "file", "source": "file://note.txt"}]},
        {"id": "long", "input": "hi", "assert": long},
        {"id": "fine", "input": "hi"},
    ]
    here = demo(app, *cases, **{"/assistants/demo/tests/note.txt": "a note"})
    saved(here)
    place = gone(here)

    found, said = regraded_and_said(here)
    assert list(found) == ["fine"]
    assert "file (its case no longer exists, and its attachments were not saved)" in said
    assert "long (its case no longer exists and is not in the report)" in said
    path = here.root / "r.jsonl"
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if '"id": "fine"' not in line))
    run = here.run("regrade", "r.jsonl")
    assert (run.code, "Cannot regrade r.jsonl: it has no transcripts of these cases; " in run.stderr) == (2, True)
    place.write_text(lines(*cases))
    assert sorted(regraded(here)) == ["file", "long"]


@pytest.mark.parametrize(
    "kept",
    [3, [], {"case": 3}, {"case": {"nonsense": 1}}, {"case": {"assertions": [{"type": "odd"}]}}, {"answers": [{}]}],
)
def test_a_report_that_was_changed_by_hand_is_no_traceback(app: MakeApplication, kept: Any) -> None:
    here = demo(app, CASES[1], {"id": "fine", "input": "hi"})
    saved(here)
    records = lines_of(here.root / "r.jsonl")
    changed = [{**record, "regrade": kept} if record.get("id") == "listed" else record for record in records]
    (here.root / "r.jsonl").write_text(lines(*changed))
    gone(here)

    found, said = regraded_and_said(here)
    assert list(found) == ["fine"]
    assert "listed (" in said


def test_a_damaged_report_loses_no_case_in_silence(app: MakeApplication) -> None:
    cases: list[Record] = [{"id": "a", "input": "a"}, {"id": "b", "input": "b"}]
    here = app(agent(package={"connector": "scripted"}, replies="- reply: Fine.", cases=cases))
    here.run("-i", case_file(), "-o", "r.jsonl")
    start, one, two, end = (here.root / "r.jsonl").read_text().splitlines(keepends=True)
    for content, code, said in (
        (
            start + one[:40] + "\n" + two + end,
            2,
            "r.jsonl:2: the line is damaged\nHint: To run again what is lost: yao-",
        ),
        (start + one + end + start + two + end, 2, "r.jsonl: it is made of several reports\nHint: yao-test merge"),
        (start + one, 0, "did not end: cases without a result are left out"),
    ):
        here.write({"/r.jsonl": content})
        assert (run := here.run("regrade", "r.jsonl")).code == code and said in run.stdout + run.stderr, run


def test_one_answer_does_not_stand_for_all_runs_of_a_merged_case(app: MakeApplication) -> None:
    cases: list[Record] = [{"id": "a", "input": "a"}, {"id": "b", "input": "b"}]
    here = app(agent(package={"connector": "scripted"}, replies="- reply: Fine.", cases=cases))
    for part in ("1", "2"):
        here.run("-i", case_file(), "-o", f"{part}.jsonl", "--repeat", "all of 2", "--shard", f"{part}/2")
    assert here.run("merge", "1.jsonl", "2.jsonl", "-o", "m.jsonl").code == here.run("regrade", "1.jsonl").code == 0
    run = here.run("regrade", "m.jsonl")
    assert run.code == 2 and "regrade the reports that it was merged from" in run.stderr, run


def test_no_secret_is_kept_for_it(app: MakeApplication) -> None:
    key = "sk-canary-0123456789abcdef"
    schema = {
        "type": "json_schema",
        "value": {"type": "string", "properties": {"type": {"const": key}}},
        "negate": True,
    }
    case = {"id": "one", "input": "hi", "assert": [{"type": "contains", "value": key, "negate": True}, schema]}
    here = demo(app, case, **{"/.env": f"DESK_API_KEY={key}\n"})
    saved(here, code=1)

    assert key not in (here.root / "r.jsonl").read_text()
    assert lines_of(here.root / "r.jsonl")[1]["regrade"]["case"]["assertions"][0]["type"] == "contains"


def test_the_configuration_file_counts_where_the_first_command_line_did_not(app: MakeApplication) -> None:
    talk = {"id": "talk", "mode": "conversation", "turns": [{"input": "a", "assertions": [{"type": "contains", "value": "odd"}, {"type": "contains", "value": "Fine"}]}]}  # fmt: skip
    settings = (
        'threshold = 0.4\noutput = ["r.jsonl"]\nruns = 3\nbefore = "nowhere.Before"\n[profile.ci]\nuser = "ann"\n'
    )
    here = demo(app, talk, **{"/yao-test.toml": 'threshold = 0.3\n[profile.ci]\nuser = "eve"\n'})
    saved(here, "--profile", "ci")
    before = (here.root / "r.jsonl").read_text()
    here.write({"/yao-test.toml": settings})

    assert regraded(here)["talk"]["threshold"] == 0.4
    assert lines_of(here.root / "new.jsonl")[0]["environment"]["user_id"] == "ann"
    assert (here.root / "r.jsonl").read_text() == before
    assert regraded(here, "--threshold", "0.5")["talk"]["threshold"] == 0.5
    here.write({"/yao-test.toml": "[agent.demo]\nthreshold = 0.2\n"})
    found, said = regraded_and_said(here)
    assert found["talk"]["threshold"] == 0.2
    assert "yao-test.toml no longer has the profile ci" in said
    saved(here, "--threshold", "0.35")
    assert regraded(here)["talk"]["threshold"] == 0.35


def test_what_judges_cost_is_told_by_the_configuration_file(app: MakeApplication) -> None:
    prices = "[prices.scripted]\ninput = 1000000\noutput = 1000000\n"
    here = demo(app, CASES[0])
    saved(here)
    assert "cost" not in regraded(here)["one"]["usage"]
    here.write({"/yao-test.toml": prices})

    assert regraded(here, "--max-cost", "1000000").keys() == {"one"}
