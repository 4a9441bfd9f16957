"""Checks of a case that its model cannot express, its policy for repeats among them. Models of other than plain
standard cases add their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.application.json_parts import JsonPath
from runner.assertions.checking import problem_with_assertion
from runner.assertions.model import Assertion
from runner.cases.messages import AttachedPart, parts_of_case, problem_with_file, problem_with_part
from runner.cases.model import Case
from runner.cases.problems import Finding

if TYPE_CHECKING:
    from runner.statistics.policies import Policy

_NO = ("no", "off", "false", "n")
"""Texts that mean "do not", and are no reasons. YAML reads `no` and `off` as texts here."""


def findings_of(case: Case, folder: Path) -> list[Finding]:
    """What is wrong with a case; relative files count from the folder."""
    found = _all_of(case, folder)
    if case.repeat is not None:
        finding = problem_with_repeat(case)
        found = [*([finding] if finding else []), *found]
    if type(case.skip) is str and case.skip.strip().lower() in _NO:
        text = f'"skip" must be true, false or a reason, not "{case.skip}"'
        found.append(Finding(path=("skip",), text=text, hint="Use false, or remove it"))
    return found


def findings_of_parts(references: Iterable[AttachedPart], folder: Path) -> Iterator[Finding]:
    """What is wrong with parts of messages."""
    for reference in references:
        if problem := problem_with_part(reference.part, folder):
            yield Finding(path=reference.place, text=problem)
        elif problem := problem_with_file(reference.part, folder):
            yield Finding(path=reference.place, text=problem, absent=True)


def findings_of_assertions(
    assertions: Iterable[Assertion], place: JsonPath, *, has_expected: bool = False
) -> Iterator[Finding]:
    """What is wrong with a list of assertions at a place of a case."""
    for index, assertion in enumerate(assertions):
        problem = problem_with_assertion(assertion, has_expected=has_expected)
        if problem:
            yield Finding(path=(*place, index), text=f"assertion {index + 1}: {problem}")


def repeat_of(case: Case) -> Any:
    """The policy of a case, as written in its file; None if it has none."""
    repeat = case.repeat
    if repeat is None or isinstance(repeat, str):
        return repeat
    said = repeat.model_dump(exclude_defaults=True)
    return {"pass" if key == "wanted" else key: value for key, value in said.items()}


def policy_of(written: Any) -> Policy | None:
    """The policy that a case, or `--repeat`, says; it was checked before."""
    if written is None:
        return None
    from runner.statistics.policies import read_policy

    return read_policy(written)


def problem_with_repeat(case: Case) -> Finding | None:
    """What is wrong with the policy of a case."""
    from runner.statistics.policies import PolicyError, read_policy

    written = repeat_of(case)
    if getattr(case, "trials", 1) > 1:
        return Finding(
            path=("repeat",),
            text='"repeat" and "trials" cannot be used together',
            hint="Each run of a case has its own chat",
        )
    try:
        read_policy(written)
    except PolicyError as error:
        shown = f' "{written}"' if isinstance(written, str) else ""
        return Finding(path=("repeat",), text=f"cannot read repeat{shown}: {error}", hint=error.hint)
    return None


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


def _of_standard(case: Case) -> Iterator[Finding]:
    if case.input is None and case.messages is None:
        yield Finding(path=(), text='"input" is missing', hint='Put the message to the agent in "input" or "messages"')
    yield from _of_said(case)


def _of_said(case: Case) -> Iterator[Finding]:
    if (case.input if case.messages is None else case.messages) == []:
        yield Finding(path=("input" if case.messages is None else "messages",), text="it contains no message")


def _of_assertions(case: Case) -> Iterator[Finding]:
    yield from findings_of_assertions(case.assertions or (), ("assert",), has_expected=case.expected is not None)
