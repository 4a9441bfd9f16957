"""What a test held is freed when it ends, and does not wait for the collector of cycles: memory stays flat in long runs."""

from __future__ import annotations

import gc

import pytest
from agent_files import agent
from command import MakeApplication, Record

from bindings import World
from runner.modes.base import CaseAttempt

SAYS = {"type": "contains", "value": "hi"}
CASES: dict[str, Record] = {
    "a single answer": {"id": "a", "input": "hi", "assert": SAYS},
    "a failure": {"id": "a", "input": "hi", "assert": {"type": "equals", "value": "ho"}},
    "several turns": {"id": "a", "turns": [{"input": "hi", "assert": SAYS}, {"input": "hi"}]},
    "several trials": {"id": "a", "mode": "conversation", "trials": 2, "turns": [{"input": "hi", "assert": SAYS}]},
}


def alive() -> list[CaseAttempt | World]:
    return [one for one in gc.get_objects() if isinstance(one, CaseAttempt | World)]


@pytest.mark.parametrize("name", CASES)
def test_a_case_leaves_nothing_behind(app: MakeApplication, name: str) -> None:
    application = app(agent(cases=[CASES[name]]))
    usual = gc.get_threshold()
    gc.collect()
    others = alive()  # of tests in the same process
    gc.set_threshold(1_000_000)
    try:
        run = application.run("-i", "assistants/demo/tests/cases.jsonl", "-o", "report.jsonl")
        left = [type(one).__name__ for one in alive() if not any(one is other for other in others)]
    finally:
        gc.set_threshold(*usual)
    assert (run.code, run.stderr) == (int(name == "a failure"), "")
    assert left == []
