"""Labels of people, and how far judges agree with them: `yao-test label` and `yao-test calibrate`."""

from __future__ import annotations

import csv
import json
import os
import pty
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file, lines
from command import COMMAND, PATIENCE, Application, MakeApplication, Record

JUDGE = {"type": "agent", "use": "agents:judge", "value": "kind"}


def judged(passed: bool, criterion: str = "kind", **more: Any) -> Record:
    return {"type": "agent", "passed": passed, "expected": criterion, "judge": "judge", "value": criterion, **more}


def result(at: int, *checks: Record, **more: Any) -> Record:
    where = {"type": "result", "suite": "c.jsonl", "position": at, "id": f"c{at}", "duration_ms": 1}
    status = "passed" if all(check["passed"] for check in checks) else "failed"
    said = {"input": f"question {at}", "output": f"answer {at}" + "!" * at}
    return {**where, "status": status, **said, "assertions": list(checks), **more}


def report_of(*results: Record) -> str:
    suite = {"id": "c.jsonl", "kind": "agent_test", "label": "c.jsonl", "file": "", "agent": "demo", "connector": ""}
    start = {"type": "start", "timestamp": "2026-11-20T10:00:00Z", "version": "1.0.0", "suites": [suite]}
    return lines(start, *results, {"type": "summary", "duration_ms": 1, "status": "passed"})


TWENTY_FOUR = [result(at, judged(at % 3 != 0)) for at in range(24)]


@pytest.fixture
def here(app: MakeApplication) -> Application:
    return app({"/r.jsonl": report_of(*TWENTY_FOUR)})


def labels_of(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def fill(path: Path, wrong: tuple[str, ...] = ()) -> None:
    """Labels that agree with the judge's verdicts, except for some cases."""
    filled = [{**one, "passed": (int(one["id"][1:]) % 3 != 0) is (one["id"] not in wrong)} for one in labels_of(path)]
    path.write_text(lines(*filled))


def test_a_file_has_half_of_either_verdict_and_does_not_say_which(here: Application) -> None:
    run = here.run("label", "r.jsonl", "--count", "12", "-o", "l.jsonl")

    assert run.code == 0, run
    found = labels_of(here.root / "l.jsonl")
    assert [one["passed"] for one in found] == [None] * 12
    failed = [one for one in found if int(one["id"][1:]) % 3 == 0]
    assert (len(failed), set(found[0])) == (6, {*"suite id run turn criterion input output passed".split()})
    assert here.run("label", "r.jsonl", "--count", "12", "-o", "again.jsonl").code == 0
    assert labels_of(here.root / "again.jsonl") == found
    assert here.run("label", "r.jsonl", "--count", "500", "-o", "all.jsonl").code == 0
    assert len(labels_of(here.root / "all.jsonl")) == 24


def test_labels_are_held_against_the_verdicts(here: Application) -> None:
    here.run("label", "r.jsonl", "--count", "24", "-o", "l.jsonl")
    fill(here.root / "l.jsonl", wrong=("c1", "c3", "c6"))

    run = here.run("calibrate", "r.jsonl", "l.jsonl", "-o", "trust.json")

    assert run.code == 0, run
    head, kind, whole, strict, *_ = run.stdout.splitlines()
    assert head.split("  ")[1] == "Criterion"
    assert kind.split()[:3] == ["kind", "24", "87.5%"] and whole.split()[0] == "all"
    assert strict == "The judge is too strict in 2 of 24 labels, and too lenient in 1."
    found = json.loads((here.root / "trust.json").read_text())
    (of_kind, of_all) = found["criteria"]
    counts = [of_kind[key] for key in ("both_pass", "judge_too_strict", "judge_too_lenient", "both_fail")]
    assert counts == [15, 2, 1, 6]
    assert of_kind["kappa"] == pytest.approx(0.7097, abs=0.001) and of_kind["words"] == "partly agrees with people"
    assert of_all["corrected"]["rate"] == pytest.approx(17 / 24)
    assert here.run("calibrate", "r.jsonl", "l.jsonl", "--min-kappa", "0.3").code == 0
    assert here.run("calibrate", "r.jsonl", "l.jsonl", "--min-kappa", "0.6").code == 1


def test_too_few_labels_say_nothing_and_pass_no_gate(here: Application) -> None:
    here.run("label", "r.jsonl", "--count", "10", "-o", "l.jsonl")
    fill(here.root / "l.jsonl")

    run = here.run("calibrate", "r.jsonl", "l.jsonl", "--min-kappa", "0")

    assert run.code == 1 and "too few labels to say" in run.stdout


def test_a_spreadsheet_goes_out_and_comes_back(app: MakeApplication) -> None:
    odd = result(24, judged(True, "=kind"), id="-odd", output='=HYPERLINK("x"), "quoted"\nand more')
    quoted = result(25, judged(True, "'-5' is in the answer"), id="'=quoted", output="long " * 40_000)
    here = app({"/r.jsonl": report_of(*TWENTY_FOUR, odd, quoted)})
    here.run("label", "r.jsonl", "--count", "26", "-o", "l.csv")
    path = here.root / "l.csv"
    csv.field_size_limit(1_000_000)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    csv.field_size_limit(131_072)
    assert [row["output"][:2] for row in rows if row["id"] == "'-odd"] == ["'="], rows
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")  # as some spreadsheets write it
        writer.writeheader()
        writer.writerows({**row, "passed": "Yes" if row["id"] != "c1" else ""} for row in rows)

    run = here.run("calibrate", "r.jsonl", "l.csv", "-o", "t.json")

    assert run.code == 0, run
    found = json.loads((here.root / "t.json").read_text())
    assert (found["labels"], found["unknown"]) == (25, 0)


def test_several_people_are_counted_as_one_and_their_agreement_is_the_ceiling(here: Application) -> None:
    for name, wrong in (("a", ()), ("b", ("c1", "c3"))):
        here.run("label", "r.jsonl", "--count", "24", "-o", f"{name}.jsonl")
        fill(here.root / f"{name}.jsonl", wrong)

    run = here.run("calibrate", "r.jsonl", "a.jsonl", "b.jsonl")

    assert "People agree with each other on 91.7% of pairs" in run.stdout
    assert "2 answers with tied labels excluded" in run.stdout


def test_votes_say_how_steady_a_judge_is_and_whose_noise_it_is(app: MakeApplication) -> None:
    def votes(at: int, run: int) -> list[Record]:
        return [{"passed": (at + run + vote) % 4 != 0, "reason": "", "judge": "judge"} for vote in range(2)]

    runs = [result(at, judged(True, votes=votes(at, run)), run=run) for at in range(12) for run in (1, 2, 3)]
    here = app({"/r.jsonl": report_of(*runs)})

    run = here.run("calibrate", "r.jsonl")

    assert run.code == 0, run
    assert run.stdout.splitlines()[0].startswith(
        "Votes on one answer agree in 50.0% of pairs, kappa -0.33 (36 answers)."
    )
    assert " of the noise of one run, the agent " in run.stdout


def test_the_best_number_of_votes_weighs_the_noise_against_the_price(app: MakeApplication) -> None:
    def run_of(at: int, run: int, **totals: Record) -> Record:
        votes = [{"passed": (at * run + vote) % 3 != 0, "reason": "", "judge": "judge"} for vote in range(2)]
        steady = [{**vote, "passed": run == 1} for vote in votes]
        check = judged(True, votes=votes if at % 4 else steady)
        return result(at, check, run=run, **({"trace": {"totals": totals, "steps": []}} if totals else {}))

    def said(**totals: Record) -> tuple[str, int | None]:
        name = f"r{len(totals)}{len(str(totals))}.jsonl"
        here.write({f"/{name}": report_of(*(run_of(at, run, **totals) for at in range(12) for run in (1, 2)))})
        run = here.run("calibrate", name, "-o", "t.json")
        assert run.code == 0, run
        return run.stdout, json.loads((here.root / "t.json").read_text())["best_votes"]

    here = app({})
    agent_took = {"model_calls": 1, "input_tokens": 1000, "output_tokens": 500, "cost": 0.01}
    cheap = {"model_calls": 2, "input_tokens": 100, "output_tokens": 50, "cost": 0.0002}
    dear = {"model_calls": 2, "input_tokens": 100, "output_tokens": 50, "cost": 2.0}
    told, many = said(agent=agent_took, judge=cheap)
    _, few = said(agent=agent_took, judge=dear)
    untold, none = said()

    assert many is not None and few == 1 < many and none is None
    assert f"{many} votes per answer are most cost-effective." in told
    assert "for the money" not in untold


def test_scores_of_people_and_judge_are_grades_too(here: Application) -> None:
    grades = (0, 0.5, 1)
    checks = [judged(at % 3 != 0, score=grades[at % 3]) for at in range(24)]
    here.write({"/g.jsonl": report_of(*(result(at, check) for at, check in enumerate(checks)))})
    here.run("label", "g.jsonl", "--count", "24", "-o", "g.labels.jsonl")
    path = here.root / "g.labels.jsonl"
    label = [{**one, "passed": True, "score": grades[int(one["id"][1:]) % 3]} for one in labels_of(path)]
    path.write_text(lines(*[{**label[0], "score": 0.5 if label[0]["score"] != 0.5 else 1}, *label[1:]]))

    run = here.run("calibrate", "g.jsonl", "g.labels.jsonl", "-o", "t.json")

    kappa = json.loads((here.root / "t.json").read_text())["criteria"][-1]["weighted_kappa"]
    assert 0.9 < kappa < 1
    assert f"Weighted kappa of the scores, taken as grades: {kappa:.2f}." in run.stdout


def test_the_share_of_comparisons_that_turned_is_said(app: MakeApplication) -> None:
    def compared(score: float) -> Record:
        votes = [{"passed": passed, "reason": "", "judge": "judge"} for passed in (True, True, False, False)]
        return {**judged(score > 0, score=score, votes=votes), "type": "preference"}

    graded = {"name": "answer", "type": "preference", "assertions": [{**judged(True), "text": "p", "score": 0.5}]}
    del graded["assertions"][0]["type"]
    results = [result(at, compared(score)) for at, score in enumerate((1, 0.5, 0))]
    here = app({"/r.jsonl": report_of(*results, result(3, assertions=[], scores=[graded]), result(4, judged(True)))})

    run = here.run("calibrate", "r.jsonl", "-o", "t.json")

    assert "50.0% of 4 comparisons depended on the order of the two answers, and count as ties." in run.stdout
    found = json.loads((here.root / "t.json").read_text())
    assert (found["preferences"], found["turned"], found["agreement"]) == (4, 0.5, None)


def test_the_terminal_asks_with_one_key(here: Application) -> None:
    leader, follower = pty.openpty()
    with here.start(
        *("label", "r.jsonl", "--count", "4", "-o", "l.jsonl"),
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**here.environment, "TERM": "xterm"},
    ) as process:
        os.close(follower)
        shown = b""
        for at, key in enumerate("ynusxnq"):  # yes, no, undo the no, skip that, nothing, no, stop
            while shown.count(b"q stop ?") < at + 1:
                shown += os.read(leader, 65536)
            os.write(leader, key.encode())
        code = process.wait(PATIENCE)
        os.close(leader)

    assert code == 0
    said = [one["passed"] for one in labels_of(here.root / "l.jsonl")]
    assert (said.count(True), said.count(False), said.count(None)) == (1, 1, 2)
    assert b"1 of 4  c.jsonl" in shown and b"Criterion: kind" in shown


MISTAKES: dict[str, tuple[tuple[str, ...], str]] = {
    "no judges": (("calibrate", "plain.jsonl"), "Cannot calibrate plain.jsonl: it has no judge verdicts"),
    "nothing to label": (
        ("label", "plain.jsonl", "-o", "x.jsonl"),
        "Cannot label plain.jsonl: it has no judge verdicts",
    ),
    "foreign labels": (("calibrate", "r.jsonl", "foreign.jsonl"), "none of its answers has a label in foreign.jsonl"),
    "empty labels": (("calibrate", "r.jsonl", "empty.jsonl"), "empty.jsonl has no labels yet"),
    "no JSON": (("calibrate", "r.jsonl", "bad.jsonl"), "Cannot read the labels bad.jsonl:2: it is not JSON"),
    "no verdict": (("calibrate", "r.jsonl", "maybe.jsonl"), 'Cannot read the labels maybe.jsonl:1: passed is "maybe"'),
    "no column": (("calibrate", "r.jsonl", "bad.csv"), "Cannot read the labels bad.csv: there is no column passed"),
    "no file": (("calibrate", "r.jsonl", "gone.jsonl"), "Cannot read the labels gone.jsonl: No such file"),
    "a gate without labels": (("calibrate", "r.jsonl", "--min-kappa", "0.5"), "--min-kappa needs labels"),
    "a gate that nothing fails": (
        ("calibrate", "r.jsonl", "l", "--min-kappa", "nan"),
        'Cannot read --min-kappa "nan"',
    ),
    "a run without end": (
        ("calibrate", "r.jsonl", "endless.jsonl"),
        "endless.jsonl:1: inf is not a run or turn number",
    ),
    "labels of another report": (("label", "r.jsonl", "-o", "foreign.jsonl"), "Cannot write to foreign.jsonl"),
}


def test_what_cannot_be_calibrated_is_said(here: Application) -> None:
    foreign = {"suite": "d.jsonl", "id": "x", "criterion": "kind", "passed": True}
    here.write(
        {
            "/plain.jsonl": report_of(result(0, {"type": "contains", "passed": True, "value": "a"})),
            "/foreign.jsonl": lines(foreign),
            "/empty.jsonl": lines({**foreign, "suite": "c.jsonl", "id": "c1", "passed": None}),
            "/bad.jsonl": lines(foreign) + "{\n",
            "/maybe.jsonl": lines({**foreign, "passed": "maybe"}),
            "/endless.jsonl": '{"suite": "c.jsonl", "id": "c1", "run": 1e400, "passed": true}\n',
            "/bad.csv": "suite,id\na,b\n",
        }
    )
    for arguments, said in MISTAKES.values():
        run = here.run(*arguments)
        assert (run.code, run.stdout) == (2, ""), run
        assert said in run.stderr


def test_a_run_can_be_labelled(app: MakeApplication) -> None:
    replies = "- when: { metadata.output: { contains: rude } }\n  reply: { json: { passed: false, reason: r } }\n"
    files = agent("judge", replies=replies + "- reply: { json: { passed: true, reason: r } }")
    talk = {"id": "talk", "mode": "conversation", "turns": [{"input": "x", "assertions": ["short"]}]}
    cases = [{"id": "a", "input": "x", "assert": JUDGE}, talk, {"id": "m", "turns": [{"input": "y", "assert": JUDGE}]}]
    here = app({**agent(replies="- reply: Hello.", cases=cases), **files})
    here.run("-i", case_file(), "--runs", "2", "-o", "r.jsonl")
    here.run("-i", case_file(), "-o", "r.json")

    assert here.run("label", "r.jsonl", "-o", "l.jsonl").code == 0
    found = sorted((one["id"], one["run"], one["turn"], one["criterion"]) for one in labels_of(here.root / "l.jsonl"))
    assert [one for one in found if one[0] != "talk"] == [
        *(("a", run, 0, "kind") for run in (1, 2)),
        *(("m", run, 1, "kind") for run in (1, 2)),
    ]
    assert here.run("label", "r.json", "-o", "l2.jsonl").code == 0
    assert COMMAND
