"""Reads case files: JSONL and what people write for it, JSON, YAML, CSV; and cases that come as JSON values, from a
generator for instance, which are checked as those of a file.

A first pass finds everything that is wrong with a file, so that nothing runs in that case. The cases of a small
file are kept; a large one is read again while they run. Both passes have only a piece of it in memory at a time (YAML:
a document)."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.application.documents import Position
from runner.cases.entries import SHOWN, Entry, Finding, Problem, Problems
from runner.cases.model import Case
from runner.cases.validation import Batch, Validator, faults, findings_of
from runner.errors import ConfigurationError
from runner.filters import matcher
from runner.security.files import TABLES, open_text
from runner.shapes.shape import at
from scripttest.values import Value

CHECKED_AT_ONCE = 1 << 15
"""Characters of a file that the first pass takes at a time, and the rest of the line. With more, the cases of a piece
no longer fit into the processor's cache, and it takes half as long again."""
READ_AT_ONCE = 1 << 14
"""The same of the second pass, which must not be long before a case can run."""
KEPT = 1 << 18
"""Bytes of the largest file whose cases are kept: two thousand short ones, which take 6 MB."""
YAML = (".yaml", ".yml")
_IDS = "Give each case in the file its own id"
_HINT = "A case file contains JSON objects, one per line, or a list of them in JSON or YAML"
_HINT_OF_TABLES = (
    "The first row of a table must contain field names, such as id,input,expected; each further row is a case"
)
_HINT_OF_REPORTS = "Print it with yao-test show; a report in a folder tests is taken for cases, so write it elsewhere"
_REPORT = re.compile(r'\s*\{\s*"type":\s*"(start|agent_test|script_test|test_run)"')
_NOWHERE = Entry(line=0, column=0, text="", places={(): Position(line=0, column=0)})


Chosen = Callable[[Case], bool]


class Needs(Value):
    """What the chosen cases of a file depend on."""

    ids: frozenset[str]
    """Cases that others wait for."""
    added: Mapping[str, str]
    """Cases that are not chosen, and run all the same → the case that depends on each."""


class LocatedCase(Value):
    """A case, and where it stands in its file."""

    line: int
    """The line where it begins, from 1; 0: it is in no file."""
    case: Case
    position: int = -1
    """Its place among the cases that run, from 0; -1: it is not known yet."""


class AbsentFilesError(ConfigurationError):
    """Cases of a file without other faults name files that are not there."""

    def __init__(self, absent: Problems, file: CaseFile) -> None:
        super().__init__(*absent.said())
        self.lines = absent.lines()
        """Each, with its place."""
        self.file = file


class CaseFile:
    """A file without faults, made by `check`; iterating over it yields its chosen cases."""

    def __init__(self, path: Path, name: str, lenient: bool, chosen: Chosen | None) -> None:
        self.path = path
        self.name = name
        """How messages call it: as the user wrote it."""
        self.folder = path.parent
        """What relative attachments count from."""
        self.total = 0
        """Cases in the file."""
        self.count = 0
        """Cases that run: those that are chosen, and those that they depend on."""
        self.needs = Needs(ids=frozenset(), added={})
        """What they depend on."""
        self.several_turns = False
        """Whether a case of it is anything but a standard one."""
        self.refers = False
        """Whether a case of it names agents, scripts or connectors."""
        self.warnings: list[str] = []
        """Unknown fields that were dropped, each with its place."""
        self._lenient = lenient
        self._chosen = chosen
        self._kept: list[LocatedCase] | None = None
        """Those that run, of a small file."""

    @classmethod
    def check(cls, path: Path, lenient: bool = False, chosen: Chosen | None = None, name: str = "") -> CaseFile:
        """Reads the whole file for the first time. Blocks, for some microseconds for each case. Raises
        AbsentFilesError: the only problem is that attached files do not exist; ConfigurationError: with all
        problems, each with file:line:column.

        Args:
            path: the file; `.yaml` and `.yml` are YAML, `.csv` and `.tsv` tables, anything else is JSON in one of its
                forms.
            lenient: ignore unknown fields with a warning, instead of refusing the file.
            chosen: whether a case runs (`chooser`); by default all do.
            name: name of the file in messages; by default its path."""
        file = cls(path, name or str(path), lenient, chosen)
        collecting = gc.isenabled()
        gc.disable()  # cases are freed by their counts; looking for cycles among them takes as long as reading them
        try:
            file._check()
        finally:
            if collecting:
                gc.enable()
        return file

    def __iter__(self) -> Iterator[LocatedCase]:
        """The chosen cases; of a large file lazily, with ConfigurationError when it is not what it was when it was
        checked."""
        if self._kept is not None:
            yield from self._kept
            return
        problems = Problems(self.name)
        for batch in self._batches(problems, Problems(self.name), READ_AT_ONCE):
            problems.raise_any()
            for line, case in zip(batch.lines, batch.cases, strict=True):
                if self._runs(case):
                    yield LocatedCase(line=line, case=case)
        problems.raise_any()

    def _runs(self, case: Case) -> bool:
        return self._chosen is None or self._chosen(case) or case.id in self.needs.added

    def _check(self) -> None:
        problems, absent, warnings = Problems(self.name), Problems(self.name), Problems(self.name)
        validator, of_absent = Validator(problems, None), Validator(absent, None)
        lines: dict[str, int] = {}
        waits: dict[str, list[str]] = {}
        left_out: set[str] = set()
        lacking: set[str] = set()
        """Cases that are left out and whose files do not exist."""
        chosen = self._chosen
        is_small = self.path.is_file() and self.path.stat().st_size <= KEPT
        found: list[tuple[int, Case]] = []
        for batch in self._batches(problems, warnings, CHECKED_AT_ONCE):
            if is_small:
                found += zip(batch.lines, batch.cases, strict=True)
            begins = dict(zip([case.id for case in batch.cases], batch.lines, strict=True))
            if len(begins) < len(batch.cases) or not lines.keys().isdisjoint(begins):
                self._report_repeated(batch, lines, validator)
            lines |= begins
            for index, case in enumerate(batch.cases):
                for finding in findings_of(case, self.folder):
                    if finding.absent and (case.skip or not (chosen is None or chosen(case))):
                        lacking.add(case.id)
                        continue
                    for one in (validator, of_absent) if finding.absent else (validator,):
                        one.report(batch.entry(index), {"id": case.id}, finding)
                if case.depends_on:
                    waits[case.id] = case.depends_on
                self.several_turns = self.several_turns or case.in_turns
                if problems.count == absent.count:  # else it is refused, and may have assertions of no type
                    self.refers = self.refers or any(case.references(simulator="any"))
            if chosen is not None:
                left_out.update([case.id for case in batch.cases if not chosen(case)])
        if waits:
            self._check_dependencies(waits, lines, validator)
        if problems.count > absent.count:
            self._refuse_report()
            problems.raise_any()
        if waits:
            self.needs = needs_of(waits, frozenset(left_out))
            self._check_files(lacking.intersection(self.needs.added), absent)
        self.total = len(lines)
        self.count = self.total - len(left_out) + len(self.needs.added)
        if is_small:
            self._kept = [LocatedCase(line=line, case=case) for line, case in found if self._runs(case)]
        if not self.total:
            hint = _HINT_OF_TABLES if self.path.suffix.lower() in TABLES else _HINT
            raise ConfigurationError(f"Cannot read cases from {self.name}: the file has no cases", hint)
        self.warnings = warnings.lines()
        if absent.count:
            raise AbsentFilesError(absent, self)

    def _refuse_report(self) -> None:
        """Raises ConfigurationError for a report of an earlier run, which has nothing of a case."""
        if self.path.is_file():
            with open_text(self.path, "replace") as file:
                head = file.read(100)
            if _REPORT.match(head):
                raise ConfigurationError(f"Cannot read cases from {self.name}: it is a report", _HINT_OF_REPORTS)

    def _report_repeated(self, batch: Batch, lines: dict[str, int], validator: Validator) -> None:
        known = dict(lines)
        for index, (line, case) in enumerate(zip(batch.lines, batch.cases, strict=True)):
            if case.id in known:
                text = f'the id "{case.id}" is already used by {self.name}:{known[case.id]}'
                validator.report(batch.entry(index), {}, Finding(path=("id",), text=text, hint=_IDS))
            known[case.id] = line

    def _check_dependencies(self, waits: dict[str, list[str]], ids: dict[str, int], validator: Validator) -> None:
        wrong: dict[str, list[Finding]] = {}
        for name, finding in faults(waits, ids, "case"):
            wrong.setdefault(name, []).append(finding.replace(path=("depends_on", *finding.path)))
        for entry, case in self._again(wrong):
            for finding in wrong[case.id]:
                validator.report(entry, {"id": case.id}, finding)

    def _check_files(self, lacking: set[str], absent: Problems) -> None:
        """Looks for files that are not there of cases that others need."""
        for entry, case in self._again(lacking):
            for finding in findings_of(case, self.folder) if not case.skip else ():
                Validator(absent, None).report(entry, {"id": case.id}, finding)

    def _again(self, ids: Collection[str]) -> Iterator[tuple[Entry, Case]]:
        """The cases of some ids, read once more."""
        told = Problems(self.name)
        for batch in self._batches(told, told, CHECKED_AT_ONCE) if ids else ():
            yield from ((batch.entry(index), case) for index, case in enumerate(batch.cases) if case.id in ids)

    def _batches(self, problems: Problems, warnings: Problems, letters: int) -> Iterator[Batch]:
        validator = Validator(problems, warnings if self._lenient else None)
        try:
            if not self.path.is_file():
                why = "it is not a file" if self.path.exists() else "there is no such file"
                raise ConfigurationError(f"Cannot read cases from {self.name}: {why}")
            if self.path.suffix.lower() in TABLES:
                from runner.cases.csv_rows import entries_of as entries_of_rows

                yield from map(validator.of_entries, entries_of_rows(self.path, problems, warnings))
                return
            with open_text(self.path) as file:
                if self.path.suffix.lower() in YAML:
                    from runner.cases.yaml_entries import entries_of

                    yield from map(validator.of_entries, entries_of(file, problems))
                else:
                    yield from validator.of_lines(iter(lambda: file.readlines(letters), []))
        except OSError as error:
            raise ConfigurationError(f"Cannot read cases from {self.name}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise self._no_text() from error

    def _no_text(self) -> ConfigurationError:
        with self.path.open("rb") as file:
            if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
                return ConfigurationError(f"Cannot read cases from {self.name}: it is UTF-16 text", "Save it as UTF-8")
        with open_text(self.path, "surrogateescape") as text:
            for number, line in enumerate(text, 1):
                wrong = next((column for column, letter in enumerate(line, 1) if "\udc80" <= letter <= "\udcff"), None)
                if wrong:
                    where = f"{self.name}:{number}:{wrong}"
                    hint = 'Save it as "CSV UTF-8"' if self.path.suffix.lower() in TABLES else "Save it as UTF-8"
                    return ConfigurationError(f"Cannot read cases from {where}: not UTF-8 text", hint)
        return ConfigurationError(f"Cannot read cases from {self.name}: it changed while being read")


def chooser(pattern: str) -> Chosen:
    """Cases whose id or name the pattern of `--run` is found in. Raises ConfigurationError when it is invalid."""
    matches = matcher(pattern)
    return lambda case: matches(case.id) or (case.name is not None and matches(case.name))


def both(first: Chosen | None, second: Chosen | None) -> Chosen | None:
    """Cases that both choices select; None selects all."""
    if first is None or second is None:
        return first or second
    return lambda case: second(case) and first(case)


def needs_of(dependencies: Mapping[str, Sequence[str]], left_out: frozenset[str]) -> Needs:
    """The cases that must run, by id. `dependencies`: case → the cases it depends on; only cases with dependencies,
    also those that are not selected. `left_out`: the cases that are not selected."""
    added: dict[str, str] = {}
    waited: set[str] = set()
    pending = [id for id in dependencies if id not in left_out]
    while pending:
        id = pending.pop()
        for needed in dependencies.get(id, ()):
            waited.add(needed)
            if needed in left_out and needed not in added:
                added[needed] = id
                pending.append(needed)
    return Needs(ids=frozenset(waited), added=added)


class MadeCases(Value):
    """Cases that came from no file."""

    cases: tuple[Case, ...]
    warnings: tuple[str, ...]


def cases_from_values(values: list[Any], origin: str, folder: Path, lenient: bool = False) -> MadeCases:
    """Reads JSON values as cases. Raises ConfigurationError: with all problems; if `lenient`, only if no case is
    left.

    Args:
        values: JSON values, one for each case.
        origin: where they come from, for messages: `agents:workers.test.generator`.
        folder: where relative attachments are looked for.
        lenient: ignore unknown fields, and leave out wrong cases; each is a warning."""
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
        hint = "--lenient runs the remaining cases" if cases else None
        raise ConfigurationError(f"Cannot use {left_out} cases from {origin}:{listing}", hint)
    if not cases:
        raise ConfigurationError(f"Cannot read cases from {origin}: there are none")
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
        validator.report(_NOWHERE, value, Finding(path=(), text="the id is already used by an earlier case"))
    for finding in findings_of(case, folder):
        if not (finding.absent and case.skip):
            validator.report(_NOWHERE, value, finding)
    return case


def _waiting_in_vain(cases: dict[str, Case], given: set[str]) -> Iterator[tuple[str, str]]:
    """Cases that depend on what does not exist, one after another: the caller takes each away, which may leave others
    waiting. `given` are the ids of all, also of those that were taken away."""
    while True:
        waits = {case.id: case.depends_on for case in cases.values() if case.depends_on}
        found = next(faults(waits, cases, "case"), None)
        if found is None:
            return
        name, fault = found
        needed = at(waits[name], fault.path)
        if needed in given and needed not in cases:
            yield name, f'it depends on case "{needed}", which cannot be used'
        else:
            yield name, fault.text + (f". {fault.hint}" if fault.hint else "")
