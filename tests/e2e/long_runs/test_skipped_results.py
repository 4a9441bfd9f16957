"""What broke, and what was skipped because of it: which of these a resumed run runs again."""

from __future__ import annotations

import pytest
from agent_files import agent, case_file, lines
from command import MakeApplication, Record
from faults import results_in, with_model
from model_server import ModelServer, status

CHAIN: list[Record] = [
    {"id": "first", "input": "x"},
    {"id": "second", "input": "x", "depends_on": ["first"]},
    {"id": "third", "input": "x", "depends_on": ["second"]},
    {"id": "free", "skip": "for now", "input": "x", "depends_on": ["first"]},
]


@pytest.mark.parametrize("runs", [(), ("--runs", "2")], ids=["once", "twice"])
def test_what_was_skipped_because_something_broke_runs_again(app: MakeApplication, runs: tuple[str, ...]) -> None:
    with ModelServer() as model:
        here = app({**agent(package={"connector": "local"}, cases=CHAIN), **with_model(model)})
        path = here.home / "r.jsonl"
        usual, model.default = model.default, status(503)
        assert here.run("-i", case_file(), *runs, "-o", str(path), "--timeout", "2s").code == 1
        assert ("third", "skipped") in results_in(path)
        before = here.run("status", str(path))
        model.default = usual

        run = here.run("--resume", str(path), "--timeout", "20s")

    assert before.code == 1
    assert f"  {case_file()}: re-run because they ended with an error: first\n" in before.stdout
    assert f"  {case_file()}: re-run because cases they depend on are re-run: second, third\n" in before.stdout
    assert run.code == 0, run
    times = 2 if runs else 1
    assert results_in(path) == sorted(
        [*[(id, "passed") for id in ("first", "second", "third") for _ in range(times)], ("free", "skipped")]
    )
    assert here.run("status", str(path)).stdout.startswith("<home>/r.jsonl: 4 of 4 tests have a current result\n")


def test_what_was_skipped_because_something_failed_stays(app: MakeApplication) -> None:
    here = app(agent(replies="- reply: no", cases=[{**CHAIN[0], "expected": "yes"}, *CHAIN[1:]]))
    path = here.home / "r.jsonl"
    assert here.run("-i", case_file(), "-o", str(path)).code == 1
    before = path.read_bytes().splitlines()[:5]
    assert here.run("status", str(path)).code == 0
    assert here.run("--resume", str(path)).code == 1
    assert path.read_bytes().splitlines()[:5] == before


def test_a_changed_case_runs_those_again_that_were_skipped_for_it(app: MakeApplication) -> None:
    here = app(agent(replies="- reply: yes", cases=[{**CHAIN[0], "expected": "no"}, *CHAIN[1:]]))
    path = here.home / "r.jsonl"
    assert here.run("-i", case_file(), "-o", str(path)).code == 1
    here.write({f"/{case_file()}": lines({**CHAIN[0], "expected": "yes"}, *CHAIN[1:])})
    assert here.run("--resume", str(path)).code == 0
    assert ("third", "passed") in results_in(path)


def test_a_case_whose_simulator_broke_runs_again(app: MakeApplication) -> None:
    case = {"id": "played", "turns": [{"input": "x"}], "simulator": {"use": "agents:player"}}
    asking = "function Next(ctx, payload) { return { data: { awaiting_input: true, question: 'which?' } }; }"
    with ModelServer() as model:
        files = agent("player", package={"connector": "local"})
        here = app({**agent(replies="- reply: which?", cases=[case], hooks=asking), **files, **with_model(model)})
        model.default = status(503)
        path = here.home / "r.jsonl"
        here.run("-i", case_file(), "-o", str(path), "--timeout", "2s")
    assert results_in(path) == [("played", "skipped")]
    assert "they ended with an error: played" in here.run("status", str(path)).stdout
