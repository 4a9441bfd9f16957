"""Cases that come as JSON values, from a generator for instance, checked as those of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runner.application.positions import Position
from runner.cases.checks import findings_of
from runner.cases.entries import Entry
from runner.cases.graph import faults
from runner.cases.model import Case
from runner.cases.problems import SHOWN, Finding, Problem, Problems
from runner.cases.validation import Validator
from runner.errors import ConfigurationError
from scripttest.values import Value

_NOWHERE = Entry(line=0, column=0, text="", places={(): Position(line=0, column=0)})


class MadeCases(Value):
    """Cases that came from no file."""

    cases: tuple[Case, ...]
    warnings: tuple[str, ...]


def cases_from_values(values: list[Any], origin: str, folder: Path, lenient: bool = False) -> MadeCases:
    """Reads JSON values as cases.

    Args:
        values: JSON values, one for each case.
        origin: where they come from, for messages: `agents:workers.test.generator`.
        folder: where relative attachments are looked for.
        lenient: ignore unknown fields, and leave out wrong cases; each is a warning.

    Raises:
        ConfigurationError: with all problems; if `lenient`, only if no case is left.
    """
    dropped: list[str] = []
    wrong: list[str] = []
    cases: dict[str, Case] = {}
    for number, value in enumerate(values, 1):
        problems, unknown = Problems(f"entry {number}"), Problems(f"entry {number}")
        case = _checked(value, cases, folder, Validator(problems, unknown if lenient else None), problems)
        wrong += problems.lines()
        dropped += unknown.lines()
        if case is not None and not problems.count:
            cases[case.id] = case
    given = {str(value.get("id")) for value in values if isinstance(value, dict)}
    for id, why in _waiting_in_vain(cases, given):
        wrong.append(f'case "{id}": {why}')
        del cases[id]
    if wrong and not (lenient and cases):
        left_out = f"{len(values) - len(cases)} of {len(values)}"
        more = [f"and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else []
        listing = "".join(f"\n  {line}" for line in [*wrong[:SHOWN], *more])
        hint = "--lenient runs the others" if cases else None
        raise ConfigurationError(f"Cannot use {left_out} cases from {origin}:{listing}", hint)
    if not cases:
        raise ConfigurationError(f"Cannot read cases from {origin}: there is none")
    warnings = [*dropped, *(f"left out, {line}" for line in wrong)]
    return MadeCases(cases=tuple(cases.values()), warnings=tuple(f"{origin}: {line}" for line in warnings))


def _checked(
    value: Any, earlier: dict[str, Case], folder: Path, validator: Validator, problems: Problems
) -> Case | None:
    if not isinstance(value, dict):
        problems.add(Problem(position=_NOWHERE.start, text="it is not a case: an object was expected"))
        return None
    case = validator.case(_NOWHERE, value)
    if case is None:
        return None
    if case.id in earlier:
        validator.report(_NOWHERE, value, Finding(path=(), text="the id is taken by an earlier case"))
    for finding in findings_of(case, folder):
        if finding.absent and case.skip:
            continue
        validator.report(_NOWHERE, value, finding)
    return case


def _waiting_in_vain(cases: dict[str, Case], given: set[str]) -> Iterator[tuple[str, str]]:
    """Cases that depend on what does not exist, one after another: the caller takes each away, which may leave others
    waiting. `given` are the ids of all, also of those that were taken away."""
    while True:
        waits = {case.id: case.depends_on for case in cases.values() if case.depends_on}
        fault = next(faults(waits, cases, "case"), None)
        if fault is None:
            return
        needed = waits[fault.name][fault.which]
        if needed in given and needed not in cases:
            yield fault.name, f'it depends on case "{needed}", which cannot be used'
        else:
            yield fault.name, fault.text + (f". {fault.hint}" if fault.hint else "")
