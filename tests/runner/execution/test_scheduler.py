"""The scheduler with cases that no file check has seen."""

from __future__ import annotations

from agent_files import agent
from case_runs import results_of, run_here
from command import MakeApplication

from runner.results.events import SuiteEnd, SuiteStart


def test_cases_whose_dependencies_never_end_run_when_nothing_else_is_left(app: MakeApplication) -> None:
    """A file may have changed after it was checked."""
    cases = [
        {"id": "a", "input": "Hi", "depends_on": ["b"]},
        {"id": "b", "input": "Hi", "depends_on": ["a"]},
        {"id": "c", "input": "Hi"},
    ]

    events = run_here(app(agent()), *cases, parallel=3)

    assert list(results_of(events)) == ["c", "a", "b"]
    assert [type(event) for event in (events[0], events[-1])] == [SuiteStart, SuiteEnd]
