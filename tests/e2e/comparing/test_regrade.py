"""`yao-test regrade`: other assertions and judges over what agents have said, without asking them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file, lines, server
from command import Application, MakeApplication, Record
from faults import lines_of, with_model
from model_server import Behaviour, Exchange, ModelServer, says, status


def partner(verdict: str = "true", reason: str = "fine") -> Behaviour:
    """Plays the agent, the simulator and the judge, each known by its prompt."""
    turn = 0

    async def behave(exchange: Exchange) -> None:
        nonlocal turn
        system = exchange.request.body["messages"][0]["content"]
        if "JUDGE" in system:
            return await says(f'{{"passed": {verdict}, "score": 1, "reason": "{reason}"}}')(exchange)
        if "PLAYER" in system:
            turn += 1
            done = "true" if turn % 3 == 0 else "false"
            return await says(f'{{"input": "question {turn}?", "goal_achieved": {done}}}')(exchange)
        await says(f"heard {exchange.request.last_text}", delay=0.05)(exchange)

    return behave


def asked(server: ModelServer) -> list[str]:
    """The agents that were called."""
    names = {"JUDGE": "judge", "PLAYER": "player"}
    systems = [request.body["messages"][0]["content"] for request in server.requests]
    return [next((name for word, name in names.items() if word in system), "agent") for system in systems]


def talking(app: MakeApplication, server: ModelServer, cases: list[Record]) -> Application:
    local = {"connector": "local"}
    return app(
        {
            **agent(package=local, cases=cases),
            **agent("judge", package=local, prompts="- { role: system, content: You are the JUDGE. }"),
            **agent("player", package=local, prompts="- { role: system, content: You are the PLAYER. }"),
            **with_model(server, retries=0),
        }
    )


def saved(here: Application, *arguments: str, code: int = 0) -> Path:
    path = here.home / "r.jsonl"
    run = here.run("-i", case_file(), "-o", str(path), *arguments)
    assert run.code == code, run
    return path


def regraded(here: Application, path: Path, *arguments: str, code: int = 0) -> dict[str, Record]:
    new = here.home / "new.jsonl"
    run = here.run("regrade", str(path), "-o", str(new), *arguments)
    assert run.code == code, run
    return {record["id"]: record for record in lines_of(new) if record["type"] == "result"}


def change(here: Application, *cases: Record) -> None:
    here.write({f"/{case_file()}": lines(*cases)})


JUDGED = {"type": "agent", "use": "agents:judge", "value": "Is it polite?"}
SINGLE: Record = {"id": "one", "input": "hello"}
TALK: Record = {"id": "talk", "mode": "conversation", "turns": [{"input": "a"}, {"input": "b"}]}
GIVEN: Record = {"id": "given", "turns": [{"input": "x"}, {"input": "y"}]}
PLAYED: Record = {"id": "played", "input": "start?", "simulator": {"use": "agents:player", "goal": "know"}}
REACHED: Record = {
    "id": "reached",
    "input": "start",
    "simulator": {"use": "agents:player"},
    "checkpoints": [{"id": "second", "assert": {"type": "contains", "value": "question 2"}}],
}


def test_new_assertions_are_held_against_what_was_said(app: MakeApplication) -> None:
    cases = [SINGLE, TALK, GIVEN, PLAYED]
    with ModelServer(partner()) as server:
        here = talking(app, server, cases)
        path = saved(here)
        before = {record["id"]: record for record in lines_of(path) if record["type"] == "result"}
        server.requests.clear()
        change(
            here,
            {**SINGLE, "assert": [JUDGED, {"type": "contains", "value": "nothing"}]},
            {**TALK, "grader": "agents:judge", "assertions": ["It is polite"]},
            {**GIVEN, "turns": [{"input": "x", "assert": {"type": "contains", "value": "heard x"}}, {"input": "y"}]},
            {**PLAYED, "final_assertions": [{"type": "contains", "value": "heard"}]},
        )

        began = time.monotonic()
        found = regraded(here, path, code=1)
        took = (time.monotonic() - began) * 1000

        assert asked(server) == ["judge", "judge"]
        assert {id: record["status"] for id, record in found.items()} == {
            "one": "failed",
            "talk": "passed",
            "given": "passed",
            "played": "passed",
        }
        assert [check["passed"] for check in found["one"]["assertions"]] == [True, False]
        assert found["talk"]["scores"][-1]["assertions"][0]["text"] == "It is polite"
        for id in ("talk", "given", "played"):
            said = [(turn["input"], turn["output"], turn["input_source"]) for turn in found[id]["turns"]]
            assert said == [(turn["input"], turn["output"], turn["input_source"]) for turn in before[id]["turns"]]
            times = [turn["duration_ms"] for turn in found[id]["turns"]]
            assert all(
                -2 < ms - turn["duration_ms"] < took for ms, turn in zip(times, before[id]["turns"], strict=True)
            )


def test_checkpoints_are_looked_for_in_the_saved_talk(app: MakeApplication) -> None:
    with ModelServer(partner()) as server:
        here = talking(app, server, [REACHED])
        path = saved(here)
        server.requests.clear()
        first = {"id": "first", "assert": {"type": "contains", "value": "question 1"}}
        never = {"id": "never", "assert": {"type": "contains", "value": "question 9"}}

        change(here, {**REACHED, "checkpoints": [first]})
        assert regraded(here, path)["reached"]["checkpoints"][0]["reached_at_turn"] == 2
        change(here, {**REACHED, "checkpoints": [first, never]})
        found = regraded(here, path, code=1)["reached"]

        assert found["error"] == "missing checkpoints: never"
        assert server.requests == []


@pytest.mark.parametrize(
    ("most", "error"), [(9, "missing checkpoints: never"), (1, "max turns (1) exceeded")], ids=["content", "too often"]
)
def test_a_graded_talk_without_its_checkpoint_ends_as_it_did(app: MakeApplication, most: int, error: str) -> None:
    never = {"id": "never", "assert": {"type": "contains", "value": "nothing"}}
    talk = {**PLAYED, "mode": "conversation", "checkpoints": [never], "max_turns": most}
    with ModelServer(partner()) as server:
        here = talking(app, server, [talk])
        path = saved(here, code=1)
        (before,) = [record for record in lines_of(path) if record["type"] == "result"]
        assert before["error"] == error
        again = regraded(here, path, code=1)["played"]
        assert again["error"] == error
        assert len(again["turns"]) == len(before["turns"])


def test_tools_and_times_are_those_of_the_saved_run(app: MakeApplication) -> None:
    replies = """\
- when: { tool.name: book }
  reply: Booked.
- reply: { tool_calls: [{ name: book, arguments: { amount: 5 } }], delay: 80ms }
"""
    booking = "function Book(args) { return { id: 'EXP-1', amount: args.amount }; }"
    case = {"id": "tool", "input": "book it"}
    here = app(
        {
            **agent(package={"mcp": {"servers": ["booking"]}}, replies=replies, cases=[case]),
            "/scripts/tools.ts": booking,
            **server("booking", {"book": "scripts.tools.Book"}),
        }
    )
    path = saved(here)
    (before,) = [record for record in lines_of(path) if record["type"] == "result"]
    change(
        here,
        {
            **case,
            "assert": [
                {"type": "tool_called", "value": "book"},
                {"type": "latency_ms", "value": before["duration_ms"] - 40},
            ],
        },
    )

    began = time.monotonic()
    found = regraded(here, path, code=1)["tool"]
    took = (time.monotonic() - began) * 1000

    assert before["tools"][0]["result"] == {"id": "EXP-1", "amount": 5}
    assert found["tools"] == before["tools"]
    assert [check["passed"] for check in found["assertions"]] == [True, False]
    assert -2 < found["assertions"][1]["actual"] - before["duration_ms"] < took


def test_a_judge_that_was_down_is_asked_again(app: MakeApplication) -> None:
    case = {**SINGLE, "assert": JUDGED}
    with ModelServer(partner()) as server:
        here = talking(app, server, [case])
        server.plan(partner(), status(401, "no"))
        path = saved(here, code=1)
        server.requests.clear()

        assert regraded(here, path)["one"]["status"] == "passed"

        assert asked(server) == ["judge"]


def test_results_without_a_transcript_are_left_out_and_counted(app: MakeApplication) -> None:
    cases: list[Record] = [
        SINGLE,
        {"id": "refused", "input": "no"},
        {"id": "skipped", "input": "x", "skip": True},
        {"id": "broken", "mode": "conversation", "turns": [{"input": "no"}, {"input": "b"}]},
    ]

    async def behave(exchange: Exchange) -> None:
        await (status(401, "never") if exchange.request.last_text == "no" else partner())(exchange)

    with ModelServer(behave) as server:
        here = talking(app, server, cases)
        path = saved(here, code=1)
        server.requests.clear()
        change(here, *cases, {"id": "new", "input": "never asked"})

        new = here.home / "new.jsonl"
        run = here.run("regrade", str(path), "-o", str(new), "-o", str(here.home / "new.md"))

        assert run.code == 0, run
        assert "Warning: Regraded from" in run.stdout
        assert "1 case; no agent was called" in run.stdout
        assert "3 results have no transcript and are left out: " in run.stdout
        for id in ("refused", "skipped", "broken"):
            assert f"{id} (" in run.stdout
        assert [record["id"] for record in lines_of(new) if record["type"] == "result"] == ["one"]
        (start,) = [record for record in lines_of(new) if record["type"] == "start"]
        assert start["regraded_from"] == str(path)
        assert "Regraded from" in (here.home / "new.md").read_text()
        assert server.requests == []


def test_a_case_that_says_something_else_now_is_no_verdict(app: MakeApplication) -> None:
    with ModelServer(partner()) as server:
        here = talking(app, server, [SINGLE, TALK])
        path = saved(here)
        server.requests.clear()
        change(
            here,
            {**SINGLE, "input": "good bye"},
            {**TALK, "turns": [{"input": "a"}, {"input": "b"}, {"input": "c"}]},
        )

        found = regraded(here, path, code=1)

        assert {id: record["cause"] for id, record in found.items()} == {
            "one": "infrastructure",
            "talk": "infrastructure",
        }
        assert "the input of the case differs" in found["one"]["error"]
        assert "has no turn 3" in found["talk"]["error"]
        assert server.requests == []


def test_each_run_of_a_case_has_its_own_transcript(app: MakeApplication) -> None:
    numbers = iter(range(1, 9))

    async def behave(exchange: Exchange) -> None:
        await says(f"answer {next(numbers)}")(exchange)

    with ModelServer(behave) as server:
        here = talking(app, server, [SINGLE])
        path = saved(here, "--runs", "3", "--min-pass-rate", "30")
        change(here, {**SINGLE, "assert": {"type": "contains", "value": "answer 2"}})

        new = here.home / "new.jsonl"
        assert here.run("regrade", str(path), "-o", str(new)).code == 0

        runs = {record["run"]: record for record in lines_of(new) if record["type"] == "result"}
        old = {record["run"]: record for record in lines_of(path) if record["type"] == "result"}
        assert {run: record["output"] for run, record in runs.items()} == {
            run: record["output"] for run, record in old.items()
        }
        assert sorted(record["status"] for record in runs.values()) == ["failed", "failed", "passed"]


def test_the_flags_of_the_saved_run_hold_and_can_be_changed(app: MakeApplication) -> None:
    with ModelServer(partner()) as server:
        here = talking(app, server, [{**TALK, "grader": "agents:judge", "assertions": ["It is polite"]}])
        path = saved(here, "--threshold", "0.3", "-u", "ann")

        assert regraded(here, path)["talk"]["threshold"] == 0.3
        (start,) = [line for line in lines_of(here.home / "new.jsonl") if line["type"] == "start"]
        assert start["environment"]["user_id"] == "ann"
        assert regraded(here, path, "--threshold", "0.9")["talk"]["threshold"] == 0.9


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file or directory"),
        ('{"type": "result"}\n', "it is not a .jsonl report of yao-test"),
        ("x", "it is not a .jsonl report of yao-test"),
        (
            json.dumps({"type": "start", "suites": [{"id": "scripts.a.b", "kind": "script_test", "label": "b"}]})
            + "\n",
            "it has no results of case files",
        ),
    ],
    ids=["gone", "no_start", "no_json", "scripts"],
)
def test_what_cannot_be_graded_is_an_error_of_configuration(app: MakeApplication, content: Any, said: str) -> None:
    here = app(agent(cases=[SINGLE]))
    path = here.home / "r.jsonl"
    if content is not None:
        path.write_text(content)

    run = here.run("regrade", str(path))

    assert run.code == 2
    assert f"Error: Cannot regrade <home>/r.jsonl: {said}" in run.stderr


def test_a_report_of_nothing_but_errors_cannot_be_graded(app: MakeApplication) -> None:
    async def behave(exchange: Exchange) -> None:
        await status(401, "never")(exchange)

    with ModelServer(behave) as server:
        here = talking(app, server, [SINGLE])
        path = saved(here, code=1)

        run = here.run("regrade", str(path))

        assert run.code == 2
        assert "none of its results has a transcript, such as one: the agent did not answer" in run.stderr


def test_a_regraded_report_is_not_resumed_but_can_be_graded_again(app: MakeApplication) -> None:
    with ModelServer(partner()) as server:
        here = talking(app, server, [SINGLE])
        path = saved(here)
        server.requests.clear()
        regraded(here, path)
        new = here.home / "new.jsonl"

        assert here.run("--resume", str(new)).code == 2
        assert here.run("regrade", str(new), "-o", str(here.home / "third.jsonl")).code == 0
        assert server.requests == []


def test_tokens_and_cost_of_turns_are_those_of_the_saved_run(app: MakeApplication) -> None:
    def bounded(tokens: int, cost: float) -> list[Record]:
        bounds = [{"type": "tokens", "value": tokens}, {"type": "cost", "value": cost}]
        turns = [{"input": said, "assertions": bounds} for said in "ab"]
        return [{"id": "given", "turns": turns}, {"id": "talk", "mode": "conversation", "turns": turns}]

    with ModelServer(partner()) as model:
        here = talking(app, model, bounded(1000, 10))
        here.write(with_model(model, price={"input": 1000, "output": 1000}))
        path = saved(here)
        (took,) = {
            turn["usage"]["input_tokens"] + turn["usage"]["output_tokens"]
            for record in lines_of(path)
            if record["type"] == "result"
            for turn in record["turns"]
        }
        count = len(model.requests)

        change(here, *bounded(took, took / 1000))
        holds = regraded(here, path)
        change(here, *bounded(took - 1, took / 1001))
        fails = regraded(here, path, code=1)

        assert {record["status"] for record in holds.values()} == {"passed"}
        assert {record["cause"] for record in fails.values()} == {"assertion"}
        assert all(len(record["turns"][0]["assertion_errors"]) == 2 for record in fails.values())
        assert len(model.requests) == count


def test_a_report_is_not_regraded_into_itself(app: MakeApplication) -> None:
    here = app(agent(replies="- reply: yes", cases=[SINGLE]))
    path = saved(here)
    before = path.read_bytes()

    run = here.run("regrade", str(path), "-o", str(here.home / "../home/r.jsonl"), "-o", "other.md")

    assert (run.code, run.stderr) == (
        2,
        "Error: Cannot write over <home>/r.jsonl, the report being regraded\nHint: Choose another file with -o\n",
    )
    assert path.read_bytes() == before
