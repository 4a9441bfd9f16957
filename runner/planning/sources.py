"""Makes the cases that run from inputs. All files are checked completely before anything runs or is generated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from runner.agents.assistant import Assistant, Assistants, stand_in
from runner.application.application import Application
from runner.cases.model import Case
from runner.cases.reader import AbsentFilesError, CaseFile, LocatedCase
from runner.cases.selection import Chosen, both, chooser, needs_of
from runner.errors import BrokenError
from runner.options.options import RunOptions, Settings
from runner.paths import shown_path
from runner.planning.case_source import CaseSource, Sources
from runner.planning.inputs import CaseInput, GeneratorInput
from runner.results.model import Suite, SuiteKind

if TYPE_CHECKING:
    from runner.cases.reader import MadeCases
    from runner.planning.picks import Picks

Generate = Callable[[GeneratorInput], "MadeCases"]
"""Has generators make cases."""
Check = Callable[[list[CaseSource], list[GeneratorInput]], None]
"""Raises ConfigurationError when cases or generators name something that does not exist."""


def open_sources(
    inputs: list[CaseInput | GeneratorInput],
    options: RunOptions,
    application: Application,
    directory: Path,
    generate: Generate,
    check: Check,
    picks: Picks | None,
    settings: Settings,
) -> Sources:
    """The cases of inputs, in their order. Blocks while cases are generated, before which
    `check` looks at all others; `picks` are those of `--tag` and the like. Raises ConfigurationError with everything
    that is wrong with a file."""
    generators = [input for input in inputs if isinstance(input, GeneratorInput)]
    assistants = Assistants(application)
    by_name = chooser(options.run) if options.run else None
    sources: list[CaseSource] = []
    absent: list[AbsentFilesError] = []
    warnings: list[str] = []
    for input in sorted(inputs, key=lambda input: isinstance(input, GeneratorInput)):
        chosen = both(by_name, picks.chosen(input.id) if picks is not None else None)
        assistant, broken = _assistant(input.agent, assistants)
        connector = settings.of(assistant.id, options).connector or ""
        if isinstance(input, GeneratorInput):
            if input is generators[0]:
                _raise_absent(absent, partial(check, sources, generators))
                check(sources, generators)
            made = generate(input)
            sources.append(_generated(input, list(made.cases), chosen, assistant, connector, directory))
            warnings += made.warnings
            continue
        if broken and options.dry_run:
            warnings.append(f"the cases of {assistant.id} cannot run: {broken}")
        if input.path is None:
            sources.append(_message(input, connector, directory, assistant).replace(broken=broken))
            continue
        name = shown_path(input.path, directory)
        try:
            file = CaseFile.check(input.path, options.lenient, chosen, name)
        except AbsentFilesError as error:
            absent.append(error)
            file = error.file
        warnings += file.warnings
        warnings += [f'{name}: "{id}" runs too, "{other}" depends on it' for id, other in file.needs.added.items()]
        suite = Suite(
            id=input.id,
            kind=SuiteKind.CASE_FILE,
            label=name,
            file=str(input.path),
            agent=assistant.id,
            connector=connector,
            multi_turn=file.several_turns,
        )
        source = CaseSource(
            suite=suite,
            assistant=assistant,
            folder=file.folder,
            selected=file.count,
            total=file.total,
            cases=partial(iter, file),
            ids=partial(_ids, input.path, options.lenient),
            waited=file.needs.ids,
            refers=file.refers,
            broken=broken,
        )
        sources.append(source)
    _raise_absent(absent, partial(check, sources, []))
    order = [input.id for input in inputs]
    return Sources(sources=sorted(sources, key=lambda source: order.index(source.suite.id)), warnings=warnings)


def _raise_absent(absent: list[AbsentFilesError], check: Callable[[], None]) -> None:
    """Raises ConfigurationError for files that are not there, if there are such, with all else that leads nowhere."""
    if not absent:
        return
    from runner.planning.resolution import ReferencesError

    lines = [line for error in absent for line in error.lines]
    try:
        check()
    except ReferencesError as error:
        raise ReferencesError.of([*lines, *error.lines]) from error
    raise absent[0] if len(absent) == 1 else ReferencesError.of(lines)


def _assistant(id: str, assistants: Assistants) -> tuple[Assistant, str]:
    """The agent, and what is wrong with its files; a substitute when they cannot be used."""
    try:
        return assistants.get(id), ""
    except BrokenError as error:
        return stand_in(assistants.find(id)), error.message + (f". {error.hint}" if error.hint else "")


def _generated(
    input: GeneratorInput,
    cases: list[Case],
    chosen: Chosen | None,
    assistant: Assistant,
    connector: str,
    directory: Path,
) -> CaseSource:
    left_out = frozenset(case.id for case in cases if chosen is not None and not chosen(case))
    needs = needs_of({case.id: case.depends_on for case in cases}, left_out)
    selected = [LocatedCase(line=0, case=case) for case in cases if case.id not in left_out or case.id in needs.added]
    several_turns = any(case.in_turns for case in cases)
    ids = [case.id for case in cases]
    suite = Suite(
        id=input.id,
        kind=SuiteKind.GENERATED,
        label=input.id,
        file="",
        agent=assistant.id,
        connector=connector,
        multi_turn=several_turns,
    )
    return CaseSource(
        suite=suite,
        assistant=assistant,
        folder=directory,
        selected=len(selected),
        total=len(cases),
        cases=lambda: selected,
        ids=lambda: ids,
        waited=needs.ids,
    )


def _message(input: CaseInput, connector: str, directory: Path, assistant: Assistant) -> CaseSource:
    case = LocatedCase(line=0, case=Case(id="message", input=input.message))
    suite = Suite(
        id=input.id,
        kind=SuiteKind.MESSAGE,
        label=f'"{input.message}"',
        file="",
        agent=input.agent,
        connector=connector,
    )
    return CaseSource(suite=suite, assistant=assistant, folder=directory, selected=1, total=1, cases=lambda: [case])


def _ids(path: Path, lenient: bool) -> Iterator[str]:
    try:
        file = CaseFile.check(path, lenient)
    except AbsentFilesError as error:
        file = error.file
    return (located.case.id for located in file)
