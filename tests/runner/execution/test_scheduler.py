"""The scheduler with cases that no file check has seen."""

from __future__ import annotations

import pytest
from agent_files import agent
from case_runs import results_of, run_here
from command import MakeApplication, Record

from runner.record import events as sent
from runner.record.events import AttemptEnd, SuiteEnd, SuiteStart


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


SAYS_HI = {"input": "Hi", "assert": {"type": "contains", "value": "heard"}}
FAILS = {"input": "Hi", "assert": {"type": "contains", "value": "never said"}}


@pytest.mark.parametrize(
    ("cases", "statuses"),
    [
        ([{"id": "a", **SAYS_HI}, {"id": "b", **SAYS_HI, "depends_on": ["a"]}], {"a": "passed", "b": "passed"}),
        ([{"id": "a", **FAILS}, {"id": "b", **SAYS_HI, "depends_on": ["a"]}], {"a": "failed", "b": "skipped"}),
        (
            [{"id": "b", **SAYS_HI, "depends_on": ["a"]}, {"id": "a", "skip": True, **SAYS_HI}],
            {"a": "skipped", "b": "skipped"},
        ),
        (
            [
                {"id": "c", **SAYS_HI, "depends_on": ["b"]},
                {"id": "b", **SAYS_HI, "depends_on": ["a"]},
                {"id": "a", **FAILS},
            ],
            {"a": "failed", "b": "skipped", "c": "skipped"},
        ),
    ],
    ids=["passed", "failed", "skipped", "through another one"],
)
@pytest.mark.parametrize("parallel", [1, 3])
def test_a_case_runs_when_what_it_depends_on_has_passed(
    app: MakeApplication, cases: list[Record], statuses: dict[str, str], parallel: int
) -> None:
    events = run_here(app(agent(replies="- reply: heard")), *cases, parallel=parallel)
    found = {id: str(result.outcome.status) for id, result in results_of(events).items()}
    assert found == statuses


def test_no_case_begins_after_the_failure_that_is_one_too_many(app: MakeApplication) -> None:
    cases = [{"id": "a", **FAILS}, {"id": "b", **SAYS_HI}, {"id": "c", **SAYS_HI}]
    events = run_here(app(agent(replies="- reply: heard")), *cases, fail_fast=True)
    assert list(results_of(events)) == ["a"]
    assert isinstance(events[-1], SuiteEnd)


def test_each_run_of_a_case_ends_before_the_case_does(app: MakeApplication) -> None:
    events = run_here(app(agent(replies="- reply: heard")), {"id": "a", **SAYS_HI}, runs=3, parallel=2)
    ends = [event for event in events if isinstance(event, AttemptEnd | sent.TestEnd)]
    assert sorted(event.result.run for event in ends[:-1]) == [1, 2, 3]
    assert isinstance(ends[-1], sent.TestEnd)
    assert [attempt.run for attempt in ends[-1].result.attempts] == [1, 2, 3]
