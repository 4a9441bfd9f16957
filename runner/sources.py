"""From case inputs to the cases that run: files are checked whole before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from runner.agents.assistant import Assistants
from runner.application import Application
from runner.cases.model import Case
from runner.cases.reader import CaseFile
from runner.cases.select import chooser
from runner.events import Suite
from runner.inputs import CaseInput
from runner.options import RunOptions
from runner.scheduler import CaseSource


def open_sources(
    inputs: list[CaseInput], options: RunOptions, application: Application, directory: Path
) -> tuple[list[CaseSource], list[str]]:
    """The cases of inputs, and warnings about them. Raises ConfigurationError with everything that is wrong with a
    file."""
    assistants = Assistants(application)
    chosen = chooser(options.run) if options.run else None
    sources, warnings = [], []
    for input in inputs:
        assistant = assistants.get(input.agent)
        if input.path is None:
            sources.append(_message(input, options, directory, assistants))
            continue
        name = _shown(input.path, directory)
        file = CaseFile.check(input.path, options.lenient, chosen, name)
        warnings += file.warnings
        warnings += [f'{name}: "{id}" runs too, "{other}" depends on it' for id, other in file.needs.added.items()]
        connector = options.connector or ""
        suite = Suite(input.id, "agent_test", name, str(input.path), assistant.id, connector, file.several_turns)
        sources.append(
            CaseSource(suite, assistant, file.folder, file.count, file.total, partial(_cases, file), file.needs.ids)
        )
    return sources, warnings


def _message(input: CaseInput, options: RunOptions, directory: Path, assistants: Assistants) -> CaseSource:
    case = Case(id="message", input=input.message)
    suite = Suite(input.id, "agent_test", f'"{input.message}"', "", input.agent, options.connector or "")
    return CaseSource(suite, assistants.get(input.agent), directory, 1, 1, lambda: [(0, case)])


def _cases(file: CaseFile) -> Iterator[tuple[int, Case]]:
    for _, line, case in file:
        yield line, case


def _shown(path: Path, directory: Path) -> str:
    """A path as people near the working directory write it."""
    return str(path.relative_to(directory)) if path.is_relative_to(directory) else str(path)
