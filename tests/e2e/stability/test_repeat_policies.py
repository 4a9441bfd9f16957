"""Policies of repeats: how many runs a case makes, their verdict, and where it is reported."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from agent_files import agent, case_file
from command import PATIENCE, Application, MakeApplication, Record
from model_server import Exchange, ModelServer, says

REPLIES = """\
- when: { input: second, metadata.run: 2 }
  reply: "No."
- when: { input: holes, metadata.run: 2 }
  reply: "{{ metadata.nothing }}"
- when: { input: down }
  reply: "{{ metadata.nothing }}"
- when: { input: never }
  reply: "No."
- reply: "Yes."
"""


def case(id: str, repeat: Any = None, input: str = "", **more: Any) -> Record:
    """A case that passes when the agent says yes."""
    said = {"id": id, "input": input or "steady", "assert": {"type": "contains", "value": "Yes"}, **more}
    return said if repeat is None else {**said, "repeat": repeat}


def demo(app: MakeApplication, *cases: Record, **files: str) -> Application:
    return app({**agent(replies=REPLIES, cases=list(cases)), **files})


def made(record: Record) -> tuple[str, int, str | None, int]:
    """How a case ended, how many runs were judged, and what its policy says."""
    repeat = record["repeat"]
    return record["status"], record["runs"], repeat["verdict"], repeat["decided_after"]


POLICIES: dict[str, tuple[Any, str, tuple[str, int, str, int]]] = {
    # policy, input, (status, judged runs, verdict, decided after)
    "passed at once": ("2 of 3", "", ("passed", 2, "passed", 2)),
    "any": ("any of 3", "", ("passed", 1, "passed", 1)),
    "any, never": ("any of 3", "never", ("failed", 3, "failed", 3)),
    "all, and the second fails": ("all of 5", "second", ("failed", 2, "failed", 2)),
    "a majority in spite of it": ("majority of 5", "second", ("passed", 4, "passed", 4)),
    "a share": ("80% of 5", "second", ("passed", 5, "passed", 5)),
    "all are made": ({"pass": "2 of 4", "stop": False}, "", ("passed", 4, "passed", 2)),
    "what broke is made up for": ("3 of 3", "holes", ("passed", 3, "passed", 4)),
    "two rates": ("90% not 50%", "", ("passed", 6, "passed", 6)),
    "two rates, failed": ("90% not 70%", "never", ("failed", 3, "failed", 3)),
    "two rates as an object": ({"good": 1, "bad": 0.5, "error": 0.1}, "second", ("failed", 2, "failed", 2)),
}


@pytest.mark.parametrize("parallel", ["1", "4"])
def test_a_case_runs_as_often_as_its_policy_needs(app: MakeApplication, parallel: str) -> None:
    application = demo(app, *(case(name, policy, input) for name, (policy, input, _) in POLICIES.items()))

    report = application.report("-i", case_file(), "--parallel", parallel, code=1)

    found = {record["id"]: made(record) for record in report["results"]}
    assert found == {name: expected for name, (_, _, expected) in POLICIES.items()}
    assert report["summary"]["stopped_early"] == {"not_needed": 116, "of": 151}
    broke = next(record for record in report["results"] if record["id"] == "what broke is made up for")
    assert [run["status"] for run in broke["run_details"]] == ["passed", "failed", "passed", "passed"]
    assert "pass_at_k" not in broke


def test_a_case_that_breaks_too_often_is_an_error(app: MakeApplication) -> None:
    application = demo(app, case("down", "any of 3", "down"))

    report = application.report("-i", case_file(), code=1)

    (record,) = report["results"]
    assert (record["cause"], len(record["attempts"])) == ("infrastructure", 4)
    assert (report["summary"]["failed"], report["summary"]["errors"]) == (0, 1)


def test_an_undecided_case_is_inconclusive_in_every_format(app: MakeApplication) -> None:
    replies = "- when: { metadata.run: [2, 4, 6, 8, 10] }\n  reply: No.\n- reply: Yes.\n"
    policy = {"good": 0.9, "bad": 0.3, "most": 4, "error": 0.1}
    application = app(agent(replies=replies, cases=[case("odd", policy), case("plain")]))

    run = application.run(
        "-i", case_file(), *(word for end in ("jsonl", "json", "md", "xml") for word in ("-o", f"r.{end}"))
    )

    said = "inconclusive: 2 of 4 runs passed, which 90% not 30%, at most 4, error 10% does not decide"
    assert run.code == 1 and said in run.stdout and "Errors:  1" in run.stdout
    odd, _ = json.loads((application.root / "r.json").read_text())["results"]
    assert (odd["status"], odd["cause"], odd["error"]) == ("failed", "inconclusive", said)
    assert [ends["rate"] for ends in odd["repeat"]["exact_errors"]] == [0.9, 0.6, 0.3]
    assert said in (application.root / "r.md").read_text()
    assert 'errors="1"' in (application.root / "r.xml").read_text()
    again = application.run("show", "r.jsonl")
    assert said in again.stdout and again.stdout.count("4 of 4 runs, undecided: 2 passed") == 1


@pytest.mark.parametrize(("how", "counted"), [("pass", "Passed"), ("fail", "Failed"), ("skip", "Skipped")])
def test_what_is_inconclusive_counts_as_the_flag_says(app: MakeApplication, how: str, counted: str) -> None:
    replies = "- when: { metadata.run: [2, 4] }\n  reply: No.\n- reply: Yes.\n"
    policy = {"good": 0.9, "bad": 0.3, "most": 4, "error": 0.1}
    application = app(agent(replies=replies, cases=[case("odd", policy)]))

    run = application.run("-i", case_file(), "--on-inconclusive", how, "-o", "r.jsonl")

    assert run.code == (1 if how == "fail" else 0)
    for said in (run.stdout, application.run("show", "r.jsonl").stdout):
        assert f"{counted}:  1" in said.replace("Skipped: 1", "Skipped:  1") and "inconclusive: 2 of 4" in said


def test_the_flag_is_for_cases_that_say_nothing(app: MakeApplication) -> None:
    application = demo(app, case("own", "any of 2"), case("silent"), case("left", skip="not now"))

    report = application.report("-i", case_file(), "--repeat", "3 of 4", code=0)

    assert {record["id"]: record.get("runs", 0) for record in report["results"]} == {"own": 1, "silent": 3, "left": 0}
    report = application.report("-i", case_file(), "--runs", "2", code=0)
    assert {record["id"]: record.get("runs", 0) for record in report["results"]} == {"own": 1, "silent": 2, "left": 0}


def test_a_wave_runs_at_once_and_other_cases_fill_its_places(app: MakeApplication) -> None:
    """Three runs could decide: nobody is answered before all three, and the other case, have asked."""
    together = asyncio.Event()
    asked: list[str] = []

    async def answer(exchange: Exchange) -> None:
        asked.append(exchange.request.last_text)
        if len(asked) == 4:
            together.set()
        await asyncio.wait_for(together.wait(), PATIENCE)
        await says("Yes.")(exchange)

    with ModelServer(answer) as server:
        files = agent(package={"connector": "own"}, cases=[case("a", "3 of 5"), case("b", input="other")])
        options = {"host": server.url, "model": "m", "key": "k"}
        files["/connectors/own.conn.yao"] = json.dumps({"type": "openai", "options": options})
        report = app(files).report("-i", case_file(), "--parallel", "8", code=0)

    assert [record.get("runs", 1) for record in report["results"]] == [3, 1]
    assert sorted(asked) == ["other", "steady", "steady", "steady"]


def test_a_run_that_was_stopped_goes_on_with_the_runs_that_are_missing(app: MakeApplication) -> None:
    application = demo(app, case("a", "3 of 5"), case("b", "2 of 4"), case("c", "all of 2"))
    application.run("-i", case_file(), "-o", "whole.jsonl")
    lines = (application.root / "whole.jsonl").read_text().splitlines()
    results = [line for line in lines if '"type": "result"' in line]
    kept = [lines[0], *(line for line in results if '"id": "a"' in line), results[3], results[5].replace('"c"', '"c"')]
    (application.root / "cut.jsonl").write_text("".join(f"{line}\n" for line in kept))

    run = application.run("--resume", "cut.jsonl")

    assert run.code == 0, run
    assert "5 results of cut.jsonl are kept" in run.stdout
    ended = [json.loads(line) for line in (application.root / "cut.jsonl").read_text().splitlines()]
    assert sorted((line["id"], line["run"]) for line in ended if line["type"] == "result") == [
        *(("a", run) for run in (1, 2, 3)),
        *(("b", run) for run in (1, 2)),
        *(("c", run) for run in (1, 2)),
    ]
    done = application.run("--resume", "cut.jsonl")
    assert "7 results of cut.jsonl are kept" in done.stdout and done.code == 0


def test_another_policy_takes_of_the_kept_runs_what_it_needs(app: MakeApplication) -> None:
    application = demo(app, case("a", "4 of 4"))
    application.run("-i", case_file(), "-o", "r.jsonl")
    application.write(agent(replies=REPLIES, cases=[case("a", "any of 6")]))

    run = application.run("--resume", "r.jsonl")

    assert run.code == 0 and "1 result of r.jsonl is kept" in run.stdout, run
    application.write(agent(replies=REPLIES, cases=[case("a", "all of 2")]))
    assert "Runs: ✓✓ 2 of 2 runs" in application.run("--resume", "r.jsonl").stdout


def test_a_comparison_takes_the_runs_that_were_certain(app: MakeApplication) -> None:
    application = demo(app, case("a", "3 of 5", "second"))
    application.run("-i", case_file(), "-o", "a.jsonl")
    application.run("-i", case_file(), "-o", "b.json", "--repeat", "2 of 2")

    run = application.run("diff", "a.jsonl", "b.json", "--noise", "runs", "-o", "d.json")

    assert run.code == 0, run
    assert json.loads((application.root / "d.json").read_text())["verdict"]["runs"] == {"a": 3, "b": 3}


def test_runs_of_a_policy_are_graded_again(app: MakeApplication) -> None:
    application = demo(app, case("a", "all of 5", "second"))
    application.run("-i", case_file(), "-o", "r.jsonl")
    application.write(
        agent(replies=REPLIES, cases=[{**case("a", "1 of 2", "second"), "assert": {"type": "regex", "value": "."}}])
    )

    run = application.run("regrade", "r.jsonl", "-o", "again.json")

    assert run.code == 0, run
    (record,) = json.loads((application.root / "again.json").read_text())["results"]
    assert (record["runs"], record["passed"], record["repeat"]["policy"]) == (2, 2, "1 of 2")


def test_the_plan_says_how_often_cases_run(app: MakeApplication) -> None:
    application = demo(app, case("own", "4 of 5"), case("all", {"pass": "1 of 3", "stop": False}), case("silent"))

    run = application.run("-i", case_file(), "--dry-run", "--repeat", "95% not 70%")

    assert run.stdout.splitlines()[1:4] == [
        "  own (4 of 5: 2 to 5 runs)",
        "  all (1 of 3, all made: 3 runs)",
        "  silent (95% not 70%: 2 to 40 runs)",
    ]


REFUSED: dict[str, tuple[Any, str]] = {
    "no policy": ("often", 'cannot read repeat "often": it is not a policy'),
    "too many": ("6 of 5", "6 of 5 runs can never pass"),
    "none": ("0 of 5", "0 runs always pass"),
    "no runs": ("all of 0", "it must be of 1 to 1000 runs, not 0"),
    "rates the wrong way": ("70% not 95%", "the second rate must be above 0 and below the first"),
    "never decided": ({"good": 0.95, "bad": 0.7, "most": 5}, "with at most 5 runs it can never be decided: that takes 10 passes"),
    "rates too near": ("99.99999999% not 99.99999998%", "it can never be decided"),
    "half of it": ({"good": 0.95}, 'it needs "pass", or "good" and "bad"'),
    "both": ({"pass": "1 of 2", "bad": 0.5}, '"pass" and "bad" cannot be used together'),
    "an unknown field": ({"passes": "1 of 2"}, 'unknown field "passes" in "repeat"'),
    "a rate that is none": ({"good": 95, "bad": 70}, '"repeat.good" must be at most 1, not 95'),
    "a number": (5, '"repeat" must be'),
}  # fmt: skip


def test_a_policy_that_cannot_be_is_an_error_of_the_file(app: MakeApplication) -> None:
    talk = {"mode": "conversation", "turns": [{"input": "x"}], "trials": 2}
    application = demo(
        app,
        *(case(name, policy) for name, (policy, _) in REFUSED.items()),
        {"id": "trials", "repeat": "1 of 2", **talk},
    )

    run = application.run("-i", case_file())

    assert (run.code, run.stdout) == (2, "")
    for number, (_, said) in enumerate(REFUSED.values(), 1):
        line = next(line for line in run.stderr.splitlines() if f"cases.jsonl:{number}:" in line)
        assert said in line
    assert '"repeat" and "trials" cannot be used together' in run.stderr
    assert application.run("-i", case_file(), "--repeat", "5").stderr.startswith(
        'Error: Cannot read --repeat "5": it is no'
    )
    both = application.run("-i", case_file(), "--repeat", "1 of 2", "--runs", "2")
    assert (both.code, both.stderr) == (2, "Error: --repeat and --runs cannot be used together\n")
