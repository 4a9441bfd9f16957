"""Finds out what each `-i` names, in the order of the specification, section 2."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from runner.application.application import Application, TestModule, find_root, twins_among, twins_problem
from runner.errors import ConfigurationError, listed
from runner.options.options import RunOptions, absolute
from runner.planning.plan import CaseInput, GeneratorInput
from runner.security.files import (
    CASE_FILES,
    CODE,
    SUFFIXES,
    is_closed,
    is_collected,
    is_test,
    looks_like_test,
    walk,
)

_FILES_OF_AGENTS = ("prompts.yml", "replies.yml", "runner.yml")
"""YAML files beside `package.yao` that are no case files."""
RENAME = "Rename one of them, or delete it"
_FEW = 20
"""From more modules on, twins are looked for in the whole application at once."""
_GENERATOR = r"(?s)((?:agents|scripts):[\w./-]*)(?:\?(.*))?"
"""Matches `agents:id?name=value`. A text with a blank after the colon is a message."""


Input = TestModule | CaseInput | GeneratorInput


def resolve_application(options: RunOptions, directory: Path) -> Application:
    """The application of `--app`, else above an input, else above the working directory. Raises ConfigurationError."""
    if options.app is not None:
        root = absolute(options.app, directory)
        if not root.is_dir():
            raise ConfigurationError(f"Cannot use --app {options.app}: it is not a folder")
        return Application(root)
    paths = [path for input in options.inputs if (path := _path(input, directory)) is not None and path.exists()]
    try:
        return Application(find_root(*paths, directory))
    except ConfigurationError as error:
        if options.inputs:
            raise
        raise ConfigurationError(error.message, "Pass it with --app, or create one here with yao-test init") from error


class Modules:
    """The test modules of an application, which are looked for once for a plan."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self._all: list[TestModule] | None = None

    @property
    def are_known(self) -> bool:
        """Whether they have been looked for."""
        return self._all is not None

    def all(self) -> list[TestModule]:
        """All of them, sorted by agent."""
        if self._all is None:
            self._all = list(self.application.modules())
        return self._all


def resolve_inputs(
    options: RunOptions, application: Application, directory: Path, every: Modules | None = None
) -> list[Input]:
    """Resolves all inputs, each once, in their order. Raises ConfigurationError, also for several files of one id."""
    found: dict[str, Input] = {}
    same: list[TestModule] = []
    every = every or Modules(application)
    for input in options.inputs:
        items = list(_resolve(input, options, every, directory))
        modules = [item for item in items if isinstance(item, TestModule)]
        if every.are_known or len(modules) > _FEW:
            same += every.all()
        else:
            same += [twin for module in modules for twin in application.twins_of(module)]
        for item in items:
            found.setdefault(item.id, item)
    if twins := twins_among(one for one in same if one.id in found):
        raise ConfigurationError(f"Cannot run these tests: {twins_problem(twins, application.root)}", RENAME)
    return list(found.values())


def named_agent(options: RunOptions, application: Application) -> str:
    """The id of the agent of `--name`, however it is written there; empty without it. Raises ConfigurationError."""
    if options.name is None:
        return ""
    from runner.agents.assistant import Assistants

    return Assistants(application).find(options.name).id


def with_inputs(options: RunOptions, application: Application, directory: Path) -> RunOptions:
    """The options with inputs. Without `-i`, these are the agent of `--name`, else the agent whose folder contains the
    working directory, else all agents at or below it. Raises ConfigurationError."""
    return options if options.inputs else options.replace(inputs=(_everything(options, application, directory),))


def _everything(options: RunOptions, application: Application, directory: Path) -> str:
    if options.name is not None:
        return str(application.agent(options.name).folder)
    found = application.agent_of(directory)
    if found is not None and found.folder.is_relative_to(application.assistants):
        return os.path.relpath(found.folder, directory)
    if directory.is_relative_to(application.assistants):
        return "."
    if not directory.is_relative_to(application.root) or application.assistants.is_relative_to(directory):
        if application.assistants.is_dir():
            return os.path.relpath(application.assistants, directory)
        raise ConfigurationError(
            f"Nothing to test: there is no folder {application.assistants}", "yao-test init creates an agent with tests"
        )
    raise ConfigurationError(
        f"Nothing to test: {directory} contains no agents and is not inside one",
        f"Go to {application.root}, or pass the tests with -i",
    )


def not_collected(options: RunOptions, every: Modules, directory: Path, *, is_bare: bool = False) -> list[str]:
    """Warnings about what is not tested below the tested folders: test files that belong to no agent, files that look
    like tests, agents in folders that hold none, and folders out of the application, to which links lead; in a run that
    was given no inputs, also below `scripts/`. Then test files of one id elsewhere."""
    application = every.application
    folders = _folders_of(options, application, directory)
    found, named, closed, outside = set(), set(), set(), set()
    sources: tuple[str, ...] = ()
    for top in [*folders, application.root / "scripts"] if is_bare else folders:
        for folder in walk(*_tops(top, application), root=application.root):
            parent = folder.path
            outside |= {f"{parent}/{name}" for name in folder.outside}
            closed |= {f"{parent}/{name}" for name in folder.closed if os.path.isfile(f"{parent}/{name}/package.yao")}
            if "package.yao" in folder.files and Path(parent).is_relative_to(application.assistants):
                sources += (f"{parent}/src/",)
            tests = {f"{parent}/{name}" for name in folder.files if looks_like_test(name)}
            named |= {path for path in tests if not is_test(path)}
            if not f"{parent}/".startswith(sources):
                found |= {path for path in tests if is_test(path)}
    collected = {os.path.realpath(module.test) for module in every.all()} if found else set()
    found = {path for path in found if os.path.realpath(path) not in collected}
    rule = f"Tests must be in the src/ folder of an agent, a folder with package.yao below {application.assistants}"
    warnings = [f"Not collected: {_listed(found, application)}. {rule}"] if found else []
    if named:
        rule = f"Names of test files end in {', '.join(f'_test{suffix}' for suffix in SUFFIXES)}"
        warnings.append(f"Not collected: {_listed(named, application)}. {rule}")
    if closed:
        rule = "Folders with such names are not searched for agents or tests"
        warnings.append(f"Not collected: {_listed(closed, application)}. {rule}")
    if every.are_known and (twins := twins_among(every.all())):
        warnings.append(f"Cannot be run: {twins_problem(twins, application.root)}. {RENAME}")
    if outside:
        where = f"{_listed(outside, application)}, which is a link" if len(outside) == 1 else ""
        where = where or f"{_listed(outside, application)}, which are links"
        warnings.append(f"Did not look for tests in {where} outside the application")
    return warnings


def _folders_of(options: RunOptions, application: Application, directory: Path) -> list[Path]:
    """The folders that inputs name: by their paths, or the `src/` of an agent by its id."""
    folders = [path for input in options.inputs if (path := _path(input, directory)) is not None and path.is_dir()]
    for input in options.inputs:
        agent = application.agent_of_id(input.removeprefix("scripts.")) if input.startswith("scripts.") else None
        folders += [agent.folder / "src"] if agent is not None else []
    return folders


def _listed(paths: set[str], application: Application) -> str:
    return listed([os.path.relpath(path, application.root) for path in sorted(paths)])


def is_generator(input: str) -> bool:
    """Whether an input names a generator of cases."""
    return _generator_of(input) is not None


def _generator_of(input: str) -> re.Match[str] | None:
    return re.fullmatch(_GENERATOR, input) if input.startswith(("agents:", "scripts:")) else None


def _path(input: str, directory: Path) -> Path | None:
    """The input as a path; None when it names scripts, or cannot be a path."""
    if input.startswith("scripts.") or "\n" in input or "\0" in input or len(input) > 1000:
        return None
    return absolute(input.removeprefix("@"), directory)


def _resolve(input: str, options: RunOptions, every: Modules, directory: Path) -> Iterator[Input]:
    application = every.application
    path = _path(input, directory)
    if not input.strip():
        raise ConfigurationError("Cannot use -i: it is empty", "Pass a script, a folder, a case file, or a message")
    if input.startswith("scripts."):
        yield from application.resolve(input, every.all)
    elif generator := _generator_of(input):
        yield _generator(input, generator[1], generator[2] or "", options, application)
    elif path is not None and path.is_dir():
        yield from _below(path, options, every)
    elif path is not None and path.is_file() and is_test(path.name):
        yield application.module_at(path)
    elif path is not None and path.is_file() and path.suffix in CODE:
        suffix = path.suffix if path.suffix in SUFFIXES else SUFFIXES[0]
        stem = re.sub(r"(?i)[._](test|spec)\Z", "", path.stem)
        raise ConfigurationError(
            f"Cannot run {path}: it is not a test file", f"Its tests are in {stem}_test{suffix} next to it"
        )
    elif path is not None and (path.is_file() or path.suffix.lower() in CASE_FILES):
        if not path.exists():
            from runner.planning.names import missing_path_hint

            raise ConfigurationError(
                f"Cannot read case file {path}: there is no such file",
                missing_path_hint(input.removeprefix("@"), directory, application),
            )
        if path.suffix.lower() == ".yao" or (path.name in _FILES_OF_AGENTS and (path.parent / "package.yao").is_file()):
            raise ConfigurationError(
                f"Cannot use -i {input}: it is a file of the application, not a case file",
                "Case files are in the tests/ folders of agents; -i FOLDER runs all tests below a folder",
            )
        yield CaseInput(agent=_agent(options, application, path, f"case file {path}", directory), path=path)
    else:
        file, colon, _ = input.partition(":")  # as a place in a file, `a_test.ts:12` or `a_test.ts::TestA`
        is_place = bool(colon and re.fullmatch(r"\S+", input) and absolute(file, directory).is_file())
        if is_place or (re.fullmatch(r"[\w./-]+", input) and ("/" in input or looks_like_test(input))):
            from runner.planning.names import missing_path_hint

            hint = missing_path_hint(input, directory, application)
            hint = hint or "A message that looks like a path must contain a space"
            raise ConfigurationError(f"Cannot use -i {input}: there is no such file or folder", hint)
        yield CaseInput(
            agent=_agent(options, application, directory, f'message "{input[:60]}"', message=input),
            path=None,
            message=input,
        )


def _generator(input: str, reference: str, query: str, options: RunOptions, application: Application) -> GeneratorInput:
    from bindings import agent_id
    from runner.agents.assistant import Assistants
    from runner.cases.model import generator_reference
    from runner.planning.generators import parameters

    if reference.endswith(":"):
        raise ConfigurationError(
            f"Cannot use -i {input}: no generator is named", "For example: agents:workers.test.generator"
        )
    if options.name is None:
        raise ConfigurationError(f"Cannot generate cases with {reference}: no agent to test is set", "Set it with -n")
    target = Assistants(application).find(agent_id(options.name)).id
    return GeneratorInput(
        agent=target,
        id=input,
        reference=generator_reference(reference),
        named=reference,
        parameters=parameters(query, f"-i {input}"),
    )


def _below(path: Path, options: RunOptions, every: Modules) -> Iterator[Input]:
    application = every.application
    other = _other_application(path, application)
    if other is not None and any(module.test.is_relative_to(path) for module in other.modules()):
        raise _elsewhere(str(path), other, application)
    inside = path.relative_to(application.assistants).parts if path.is_relative_to(application.assistants) else ()
    closed = next(filter(is_closed, inside), None)
    if closed is not None:
        raise ConfigurationError(f"Nothing to test below {path}: folders named {closed} contain no tests and no agents")
    modules = [module for module in every.all() if _is_below(module.test, path, application)]
    files = sorted(_case_files(path, application))
    if not modules and not files:
        raise ConfigurationError(
            f"Nothing to test below {path}: no agent there has a src/**/*_test.ts, or cases in tests/*.jsonl",
            "yao-test init creates an agent with a test and a case",
        )
    yield from modules
    for file in files:
        yield CaseInput(agent=_agent(options, application, file, f"case file {file}"), path=file)


def _other_application(path: Path, application: Application) -> Application | None:
    try:
        root = find_root(path)
    except ConfigurationError:
        return None
    return Application(root) if root != application.root.resolve() else None


def _elsewhere(what: str, other: Application, application: Application) -> ConfigurationError:
    return ConfigurationError(
        f"Cannot test {what}: it is in the application {other.root}, and this run is of {application.root}",
        "A run covers one application: run the command once for each",
    )


def _is_below(file: Path, folder: Path, application: Application) -> bool:
    """Whether a test file is below a folder, or below the one to which a link in `assistants/` leads."""
    if file.is_relative_to(folder) or folder.is_relative_to(application.assistants):
        return file.is_relative_to(folder)
    return file.resolve().is_relative_to(folder.resolve())


def _tops(folder: Path, application: Application) -> tuple[Path, ...]:
    """Where to look for the tests below a folder: those of agents have the names of the links in `assistants/`."""
    holds = application.assistants.is_relative_to(folder) and application.assistants.is_dir()
    return (application.assistants, folder) if holds else (folder,)


def _case_files(path: Path, application: Application) -> Iterator[Path]:
    for folder in walk(*_tops(path, application), root=application.root):
        if os.path.basename(folder.path) == "tests":
            for name in folder.files:
                if is_collected(f"{folder.path}/{name}"):
                    yield Path(folder.path, name)


def _agent(
    options: RunOptions,
    application: Application,
    place: Path,
    what: str,
    directory: Path | None = None,
    message: str = "",
) -> str:
    """The tested agent: that of `--name`, else the one around the place, or around the working directory."""
    if options.name is not None:
        return named_agent(options, application)
    other = _other_application(place, application) if options.app is None else None
    if other is not None and directory is not place and other.agent_of(place) is not None:
        raise _elsewhere(what, other, application)
    found = application.agent_of(place)
    if found is None and directory is not None and not place.is_relative_to(application.root):
        found, place = application.agent_of(directory), directory
        what += ", which is outside the application"
    if found is None:
        named = next((agent for agent in application.agents() if agent.id == message), None)
        folder = os.path.relpath(named.folder, place) if named is not None else ""
        hint = f"; {message} is an agent, -i {folder} runs all its tests" if named is not None else ""
        raise ConfigurationError(
            f"Cannot find the agent for {what}: no folder from {place} upward contains package.yao",
            f"Set the agent with -n{hint}",
        )
    return found.id
