"""From entries of a case file to cases: many at once when nothing is wrong with them, one by one to say what is; and
checks of a case that its model cannot express, its policy for repeats among them. Models of other than plain standard
cases add their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.application.documents import KEEP_ONE, JsonPath, Position, given_twice, repeated_keys
from runner.cases.entries import Entry, Finding, Problem, Problems, Splitter, entries_in, list_of, without_noise
from runner.cases.kinds import finding_of, model_of, without_nulls
from runner.cases.messages import findings_of_parts, parts_of_case
from runner.cases.model import Case
from runner.errors import did_you_mean
from runner.shapes.shape import Misfit, at, json_of, plain_json
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.statistics.policies import Policy

VARS, SIMULATOR = "vars", "simulator"
"""An entry with one of these fields may stand for several cases."""
_AT_ONCE = 500
"""Most entries of one line."""
_WHERE = r"(?s)(.*) at line (\d+) column (\d+)"
_BROKEN = (
    ("EOF", "unexpected end: a bracket or a quote is not closed"),
    ("expected `,` or", "a comma or a closing bracket is missing before this"),
    ("expected `:`", "a colon is missing before this"),
    ("key must be a string", "a field name in double quotes is missing here"),
    ("trailing comma", "a value is missing after the comma"),
    ("trailing characters", "unexpected text after the end of the object"),
    ("expected", "this is not a JSON value"),
    ("control character", "a control character in a string must be escaped, such as \\n"),
    ("invalid escape", "invalid escape sequence"),
    ("number out of range", "a number has too many digits"),
    ("recursion limit", "it is nested too deeply"),
)
"""Message of the JSON parser → our message."""
SHOWN_OF_CIRCLE = 10
"""How many names of a cycle are listed."""
CIRCLES = 20
"""How many cycles are listed."""
Waits = Mapping[str, Sequence[str]]
"""Name → the names that it waits for."""
_NO = ("no", "off", "false", "n")
"""Texts that mean "do not", and are no reasons. YAML reads `no` and `off` as texts here."""


class Batch(Value):
    """Valid cases, in their order in the file."""

    cases: Sequence[Case]
    lines: Sequence[int]
    """Where each begins, from 1."""
    entry: Callable[[int], Entry]
    """The entry of each, by index."""


class Validator:
    """Makes cases of entries; what is wrong goes to `problems`, unknown fields to `warnings` when they may be."""

    def __init__(self, problems: Problems, warnings: Problems | None) -> None:
        self._problems = problems
        self._warnings = warnings
        self._told: set[Problem] = set()

    def of_lines(self, pieces: Iterable[list[str]]) -> Iterator[Batch]:
        """The valid cases of a JSON text that comes in pieces of whole lines."""
        splitter = Splitter(self._problems)
        for lines in pieces:
            cases = _one_a_line(lines) if splitter.idle else None
            if cases:
                first = splitter.number + 1
                splitter.number += len(lines)
                yield Batch(cases=cases, lines=range(first, first + len(lines)), entry=partial(_line, lines, first))
            else:
                entries = splitter.split(lines)
                while some := list(islice(entries, _AT_ONCE)):
                    yield self.of_entries(some)
        yield self.of_entries(list(splitter.end()))

    def of_entries(self, entries: list[Entry]) -> Batch:
        """The valid cases among some entries."""
        cases = _all([entry.text for entry in entries])
        if cases is None:
            valid = [valid for entry in entries for valid in self._one(entry)]
            entries = [entry for entry, _ in valid]
            cases = [case for _, case in valid]
        return Batch(cases=cases, lines=[entry.line for entry in entries], entry=entries.__getitem__)

    def report(self, entry: Entry, value: Any, finding: Finding) -> None:
        """Adds what was found in a case to the problems, or to the warnings."""
        named = value.get("id")
        text = f'case "{named}": {finding.text}' if isinstance(named, str) and finding.path != ("id",) else finding.text
        target = self._warnings if finding.unknown and self._warnings else self._problems
        if entry.inherits(finding.path):
            place = entry.place(_as_written(finding.path, entry))
            problem = Problem(position=place, text=f"defaults: {finding.text}", hint=finding.hint)
            self._tell(target, problem)
            return
        place = entry.place(_as_written(finding.path, entry)) if target.wanting else entry.start
        target.add(Problem(position=place, text=text, hint=finding.hint))

    def _tell(self, target: Problems, problem: Problem) -> None:
        """Adds what may be found more than once: in a list and in its cases, or in the defaults of each case."""
        if problem not in self._told:
            self._told.add(problem)
            target.add(problem)

    def case(self, entry: Entry, value: dict[str, Any]) -> Case | None:
        """The case that a JSON value is; None when it is none, which has been reported then."""
        model = model_of(value)
        value = without_nulls(value, model)
        try:
            return model.model_validate(value)
        except Misfit as error:
            findings = [finding_of(complaint, value, model) for complaint in error.complaints]
        for finding in findings:
            self.report(entry, value, finding)
        if self._warnings is None or not all(finding.unknown for finding in findings):
            return None
        for finding in findings:
            del at(value, finding.path[:-1])[finding.path[-1]]
        return self.case(entry, value)

    def _one(self, entry: Entry) -> Iterator[tuple[Entry, Case]]:
        text = without_noise(entry.text)
        try:
            value = json_of(text)
        except ValueError as error:
            if "trailing characters" not in str(error):
                self._problems.add(_broken(entry, str(error)))
                return
            for inner in Splitter(self._problems).objects_of(entry):
                yield from self._one(inner)
            return
        repeated = repeated_keys(text) if entry.places is None else []
        for found in repeated:
            said = given_twice(found.key, f"{self._problems.name}:{entry.at(found.first)}")
            self._tell(self._problems, Problem(position=entry.at(found.again), text=said, hint=KEEP_ONE))
        if list_of(value):
            batch = self.of_entries(list(entries_in(entry, value, self._problems)))
            yield from ((batch.entry(index), case) for index, case in enumerate(batch.cases))
            return
        if isinstance(value, dict) and (VARS in value or SIMULATOR in value):
            from runner.cases.tables import is_table

            if is_table(value):
                if not repeated:
                    yield from self._table(entry, value)
                return
        case = self.case(entry, value)
        if case and not repeated:
            yield entry, case

    def _table(self, entry: Entry, value: dict[str, Any]) -> Iterator[tuple[Entry, Case]]:
        """The cases of an entry that stands for several. What is wrong with one of them is said once."""
        from runner.cases.tables import cases_of

        try:
            for one in cases_of(value):
                case = self.case(entry, one)
                if case is None:
                    return
                yield entry, case
        except Misfit as error:
            (wrong,) = error.complaints
            self.report(entry, value, Finding(path=wrong.path, text=wrong.sentence(value), hint=wrong.hint))


def _one_a_line(lines: list[str]) -> list[Case] | None:
    """The cases of lines with a whole case each; None when there is anything else in them."""
    return _all(lines) if all(line[:1] == "{" for line in lines) else None


def _line(lines: list[str], first: int, index: int) -> Entry:
    return Entry(line=first + index, column=1, text=lines[index].strip())


def _all(texts: Sequence[str]) -> list[Case] | None:
    """The cases of some texts; None when one of them is wrong, or unusual."""
    try:
        values = list(map(plain_json, texts))
        try:
            return list(map(Case.model_validate, values))
        except Misfit:
            return [model_of(value).model_validate(value) for value in values]
    except (ValueError, RecursionError):
        return None


def _as_written(path: JsonPath, entry: Entry) -> JsonPath:
    """A path with the spellings of its fields that the entry has."""
    for end, part in enumerate(path, 1):
        before = path[: end - 1]
        if part == "assert" and not entry.holds((*before, part)):
            others = (name for name in ("assertions", "assertion") if entry.holds((*before, name)))
            path = (*before, next(others, part), *path[end:])
    return path


def _broken(entry: Entry, why: str) -> Problem:
    match = re.fullmatch(_WHERE, why)
    text, line, column = (match[1], int(match[2]), int(match[3])) if match else (why, 1, 1)
    lines = entry.text.split("\n")
    before = lines[line - 1].encode()[: max(column - 1, 0)].decode(errors="ignore")
    said = next((ours for theirs, ours in _BROKEN if text.startswith(theirs)), text)
    place = Position(line=entry.line + line - 1, column=len(before) + (entry.column if line == 1 else 1))
    if "\0" in lines[line - 1][len(before) : len(before) + 2]:
        said = "it contains a NUL byte"
    return Problem(position=place, text=f"broken JSON: {said}")


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


def repeat_of(case: Case, otherwise: str | None = None) -> Any:
    """The policy of a case, as written in its file, `otherwise` what `--repeat` says; None if it has none."""
    repeat = otherwise if case.repeat is None else case.repeat
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
        text = '"repeat" and "trials" cannot be used together'
        return Finding(path=("repeat",), text=text, hint="Each run of a case has its own chat")
    try:
        read_policy(written)
    except PolicyError as error:
        shown = f' "{written}"' if isinstance(written, str) else ""
        return Finding(path=("repeat",), text=f"cannot read repeat{shown}: {error}", hint=error.hint)
    return None


def _all_of(case: Case, folder: Path) -> list[Finding]:
    if type(case) is Case and type(case.input) is str and case.messages is None and not case.attachments:
        return list(case.findings(folder))
    return [*_of_said(case), *findings_of_parts(parts_of_case(case), folder), *case.findings(folder)]


def _of_said(case: Case) -> Iterator[Finding]:
    name, said = ("input", case.input) if case.messages is None else ("messages", case.messages)
    if said is None and not case.in_turns:
        yield Finding(path=(), text='"input" is missing', hint='Put the message to the agent in "input" or "messages"')
    if said == []:
        yield Finding(path=(name,), text="it contains no message")


def faults(waits: Waits, known: Collection[str], what: str) -> Iterator[tuple[str, Finding]]:
    """Names that nothing has, names that wait for themselves, and circles, each once: what waits, and what is wrong,
    whose path is the place in its list. `what` is said of a name: `case`, `checkpoint`."""
    for name, others in waits.items():
        for index, other in enumerate(others):
            if other == name:
                yield name, Finding(path=(index,), text=f'the {what} "{name}" depends on itself')
            elif other not in known:
                text = f'there is no {what} "{other}"'
                yield name, Finding(path=(index,), text=text, hint=did_you_mean(other, known))
    for circle in islice(_circles(waits), CIRCLES):
        first, second = circle[:2]
        names = circle if len(circle) <= SHOWN_OF_CIRCLE else [*circle[: SHOWN_OF_CIRCLE - 1], "..."]
        text = f"{what}s that depend on each other: {' → '.join([*names, first])}"
        path = (waits[first].index(second),)
        yield first, Finding(path=path, text=text, hint="Remove one of these dependencies")


def _circles(waits: Waits) -> Iterator[list[str]]:
    """Circles of two and more; of those that share a part, at least one."""
    done: set[str] = set()
    for start in waits:
        path: dict[str, Iterator[str]] = {}
        current: str | None = None if start in done else start
        while current is not None:
            if current not in path:
                path[current] = iter(waits.get(current, ()))
            other = next(path[current], None)
            if other is None:
                done.add(current)
                del path[current]
                current = next(reversed(path), None)
            elif other in path:
                names = list(path)
                circle = names[names.index(other) :]
                if len(circle) > 1:
                    yield circle
            elif other not in done:
                current = other
