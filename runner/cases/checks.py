"""What has to hold for a case beyond the shape that its model says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from runner.assertions import problem as assertion_problem
from runner.cases.attachments import parts_of, problem_of
from runner.cases.explain import Finding
from runner.cases.model import Case
from runner.errors import ConfigurationError
from runner.options import duration


def findings_of(case: Case, folder: Path) -> list[Finding]:
    """What is wrong with a case; relative files count from the folder."""
    if type(case.input) is str and case.messages is None and case.timeout is None and not case.attachments:
        return list(_of_assertions(case)) if case.assertions else []
    return [*_of_parts(case, folder), *_of_assertions(case)]


def _of_parts(case: Case, folder: Path) -> Iterator[Finding]:
    said = case.input if case.messages is None else case.messages
    if said is None:
        yield Finding((), '"input" is missing', 'What is said to the agent is in "input" or in "messages"')
    elif said == []:
        yield Finding(("input" if case.messages is None else "messages",), "there is no message in it")
    if case.timeout is not None:
        try:
            duration(case.timeout, "timeout")
        except ConfigurationError as error:
            yield Finding(("timeout",), error.message[0].lower() + error.message[1:], error.hint)
    for place, part in parts_of(case):
        problem = problem_of(part, folder)
        if problem:
            yield Finding(place, problem)


def _of_assertions(case: Case) -> Iterator[Finding]:
    has_expected = case.expected is not None
    for index, assertion in enumerate(case.assertions or ()):
        problem = assertion_problem(assertion, has_expected=has_expected)
        if problem:
            yield Finding(("assert", index), f"assertion {index + 1}: {problem}")
