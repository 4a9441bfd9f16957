"""Checks of a case that its model cannot express. Models of other than plain standard cases add their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from runner.application.json_parts import JsonPath
from runner.assertions.checking import problem_with_assertion
from runner.assertions.model import Assertion
from runner.cases.attachments import Reference, absence_of, parts_of_case, problem_of
from runner.cases.model import Case
from runner.cases.problems import Finding

_NO = ("no", "off", "false", "n")
"""Texts that mean "do not", and are no reasons. YAML reads `no` and `off` as texts here."""


def findings_of(case: Case, folder: Path) -> list[Finding]:
    """What is wrong with a case; relative files count from the folder."""
    found = _all_of(case, folder)
    if case.repeat is not None:
        from runner.cases.repeats import problem_of_repeat

        finding = problem_of_repeat(case)
        found = [*([finding] if finding else []), *found]
    if type(case.skip) is str and case.skip.strip().lower() in _NO:
        text = f'"skip" is true, false or a reason, and "{case.skip}" is none of them'
        found.append(Finding(path=("skip",), text=text, hint="Write false, or leave it out"))
    return found


def _all_of(case: Case, folder: Path) -> list[Finding]:
    if type(case) is not Case:
        said = _of_said(case) if case.in_turns else _of_standard(case)
        return [*said, *findings_of_parts(parts_of_case(case), folder), *case.findings(folder)]
    if type(case.input) is str and case.messages is None and not case.attachments:
        has_expected = case.expected is not None
        for assertion in case.assertions or ():
            if problem_with_assertion(assertion, has_expected=has_expected):
                return list(_of_assertions(case))
        return []
    return [*_of_standard(case), *findings_of_parts(parts_of_case(case), folder), *_of_assertions(case)]


def findings_of_parts(references: Iterable[Reference], folder: Path) -> Iterator[Finding]:
    """What is wrong with parts of messages."""
    for reference in references:
        if problem := problem_of(reference.part, folder):
            yield Finding(path=reference.place, text=problem)
        elif problem := absence_of(reference.part, folder):
            yield Finding(path=reference.place, text=problem, absent=True)


def findings_of_assertions(
    assertions: Iterable[Assertion], place: JsonPath, *, has_expected: bool = False
) -> Iterator[Finding]:
    """What is wrong with a list of assertions at a place of a case."""
    for index, assertion in enumerate(assertions):
        problem = problem_with_assertion(assertion, has_expected=has_expected)
        if problem:
            yield Finding(path=(*place, index), text=f"assertion {index + 1}: {problem}")


def _of_standard(case: Case) -> Iterator[Finding]:
    if case.input is None and case.messages is None:
        yield Finding(
            path=(), text='"input" is missing', hint='What is said to the agent is in "input" or in "messages"'
        )
    yield from _of_said(case)


def _of_said(case: Case) -> Iterator[Finding]:
    if (case.input if case.messages is None else case.messages) == []:
        yield Finding(path=("input" if case.messages is None else "messages",), text="there is no message in it")


def _of_assertions(case: Case) -> Iterator[Finding]:
    yield from findings_of_assertions(case.assertions or (), ("assert",), has_expected=case.expected is not None)
