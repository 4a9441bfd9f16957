"""Plans the cases of a run: reads them, or has generators make them, checks everything that they name, and takes the
part of a shard or makes the variants of `--variant`. This is the part of planning that may need agents.

With `--shard I/N`, a case belongs to the shard that a hash of its file and id names, so that it stays where it is when
others are added or removed; cases that depend on each other, or share a chat, stay together. Test modules are not
divided: the hash is of their id."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from runner.agents.assistant import Assistant, Assistants, stand_in
from runner.cases.model import Case
from runner.cases.reader import AbsentFilesError, CaseFile, Chosen, LocatedCase, MadeCases, both, chooser, needs_of
from runner.errors import BrokenError, ConfigurationError, shown_path
from runner.options.options import absolute
from runner.planning.plan import CaseInput, CaseSource, GeneratorInput, RunRequest
from runner.record.model import AGENT_TEST, Suite
from runner.security.terminal import own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.agents.service import AgentService
    from runner.options.values import Shard, Variant
    from runner.planning.selection import Choice


class CasePlanning:
    """Plans the cases of one run. Agents are started only when they are needed."""

    def __init__(self, request: RunRequest, agents: Callable[[], AgentService]) -> None:
        self._request = request
        self._options = request.options
        self._application = request.application
        self._directory = request.environment.directory
        self._agents = agents
        self._assistants = Assistants(request.application)
        self.warnings: list[str] = []
        """About the cases that `sources` has found."""

    def sources(self, inputs: list[CaseInput | GeneratorInput], tests: Choice | None) -> list[CaseSource]:
        """The cases of inputs, in their order. Blocks while cases are generated, before which all others are checked.
        `tests` selects by tags and earlier failures. Raises ConfigurationError with everything that is wrong with a
        file."""
        by_name = chooser(self._options.run) if self._options.run else None
        generators = [input for input in inputs if isinstance(input, GeneratorInput)]
        found: list[CaseSource] = []
        absent: list[AbsentFilesError] = []
        self.warnings = []
        for input in sorted(inputs, key=lambda input: isinstance(input, GeneratorInput)):
            chosen = both(by_name, tests.chosen(input.id) if tests is not None else None)
            if isinstance(input, GeneratorInput):
                if input is generators[0]:
                    self._check_files(absent, found, generators)
                    self._check_references(found, generators)
                found.append(self._generated(input, chosen))
            else:
                found.append(self._read(input, chosen, absent))
        self._check_files(absent, found, [])
        order = [input.id for input in inputs]
        clean = self._request.environment.secrets.text
        return [source.cleaned(clean) for source in sorted(found, key=lambda source: order.index(source.suite.id))]

    def check(self, sources: Sequence[CaseSource], *, only_cases: bool) -> None:
        """Raises ConfigurationError for names that lead nowhere; with `only_cases`, also when none can ask a model."""
        self._check_references(sources, [])
        options, settings = self._options, self._request.settings
        given = options.connector or any(settings.of(one.assistant.id, options).connector for one in sources)
        asks = not (options.dry_run or options.replay is not None or options.variants)
        if only_cases and sources and asks and not given:
            from runner.planning.references import check_own_connectors

            check_own_connectors(sources, self._assistants, self._check_connector)

    def _check_references(self, sources: Sequence[CaseSource], generators: list[GeneratorInput]) -> None:
        options = self._options
        if options.judge_connector and not options.dry_run:
            self._check_connector(options.judge_connector)
        if options.embedding_connector and not options.dry_run:
            self._check_connector(options.embedding_connector)
            connectors = self._agents().runtime.connectors
            connectors.check_embeds(connectors.resolve(options.embedding_connector))
        if not sources and not generators:
            return
        from runner.planning.references import check_references, named_by

        if generators and options.shard is not None:
            sources = parts_of(sources, options.shard, self._application.root, self._request.context["chat_id"])
        folders = {source.assistant.id: source.assistant.folder for source in sources}
        folders |= {one.agent: self._assistants.find(one.agent).folder for one in generators}
        named = named_by(sources, generators, options, folders)
        for first in named:
            service = self._agents()
            service.run(check_references(chain([first], named), service.runtime))
        if options.dry_run:
            return
        own = [self._request.settings.of(source.assistant.id, options).connector for source in sources]
        for connector in filter(None, dict.fromkeys((options.connector, *own))):
            self._check_connector(connector)
        for variant in options.variants:
            if variant.connector:
                self._check_connector(variant.connector, dict(variant.env))

    def _check_files(
        self, absent: list[AbsentFilesError], sources: list[CaseSource], generators: list[GeneratorInput]
    ) -> None:
        """Raises ConfigurationError for files that are not there, with all else that leads nowhere."""
        if not absent:
            return
        from runner.planning.references import ReferencesError

        lines = [line for error in absent for line in error.lines]
        try:
            self._check_references(sources, generators)
        except ReferencesError as error:
            raise ReferencesError.of([*lines, *error.lines]) from error
        raise absent[0] if len(absent) == 1 else ReferencesError.of(lines)

    def _check_connector(self, id: str, variables: Mapping[str, str] | None = None) -> None:
        """Raises ConfigurationError when a connector cannot be used, with these variables in the environment."""
        connectors = self._agents().runtime.connectors
        if variables:
            connectors = connectors.with_variables(variables)
        options = self._options
        has_keys = options.replay is None and options.cluster is None  # workers have their own
        find = connectors.get if has_keys else connectors.model
        find(connectors.resolve(id))

    def _assistant(self, id: str) -> tuple[Assistant, str]:
        """An agent, or a substitute for one whose files cannot be used, and what is wrong with these."""
        try:
            return self._assistants.get(id), ""
        except BrokenError as error:
            return stand_in(self._assistants.find(id)), error.message + (f". {error.hint}" if error.hint else "")

    def _source(self, input: CaseInput | GeneratorInput, **more: Any) -> CaseSource:
        """The cases of an input; of a message, where nothing else is said. An agent whose files cannot be used has a
        substitute."""
        assistant, broken = self._assistant(input.agent)
        connector = self._request.settings.of(assistant.id, self._options).connector or ""
        suite = {"kind": AGENT_TEST, "label": input.id, "file": "", "agent": assistant.id, **more.pop("suite")}
        about = {"folder": self._directory, "selected": 1, "total": 1, "broken": broken, **more}
        return CaseSource(suite=Suite(id=input.id, connector=connector, **suite), assistant=assistant, **about)

    def _read(self, input: CaseInput, chosen: Chosen | None, absent: list[AbsentFilesError]) -> CaseSource:
        lenient = self._options.lenient
        assistant, broken = self._assistant(input.agent)
        if broken and self._options.dry_run:
            self.warnings.append(f"the cases of {assistant.id} cannot run: {broken}")
        if input.path is None:
            case = LocatedCase(line=0, case=Case(id="message", input=input.message))
            suite = {"label": f'"{input.message}"', "agent": input.agent, "is_message": True}
            return self._source(input, suite=suite, cases=lambda: [case])
        name = shown_path(input.path, self._directory)
        try:
            file = CaseFile.check(input.path, lenient, chosen, name)
        except AbsentFilesError as error:
            absent.append(error)
            file = error.file
        self.warnings += file.warnings
        added = file.needs.added.items()
        self.warnings += [f'{name}: "{id}" runs too, because "{other}" depends on it' for id, other in added]
        path = input.path

        def ids() -> Iterator[str]:
            try:
                every = CaseFile.check(path, lenient)
            except AbsentFilesError as error:
                every = error.file
            return (located.case.id for located in every)

        suite = {"label": name, "file": str(path), "multi_turn": file.several_turns}
        return self._source(
            input,
            suite=suite,
            folder=file.folder,
            selected=file.count,
            total=file.total,
            cases=partial(iter, file),
            ids=ids,
            waited=file.needs.ids,
            refers=file.refers,
        )

    def _generated(self, input: GeneratorInput, chosen: Chosen | None) -> CaseSource:
        made = self._generate(input)
        self.warnings += made.warnings
        left_out = frozenset(case.id for case in made.cases if chosen is not None and not chosen(case))
        needs = needs_of({case.id: case.depends_on for case in made.cases}, left_out)
        wanted = [case for case in made.cases if case.id not in left_out or case.id in needs.added]
        selected = [LocatedCase(line=0, case=case) for case in wanted]
        ids = [case.id for case in made.cases]
        return self._source(
            input,
            suite={"is_generated": True, "multi_turn": any(case.in_turns for case in made.cases)},
            broken="",
            selected=len(selected),
            total=len(ids),
            cases=lambda: selected,
            ids=lambda: ids,
            waited=needs.ids,
        )

    def _generate(self, input: GeneratorInput) -> MadeCases:
        """Has a generator make cases; at a terminal, a line says that it is at work."""
        from runner.planning.generators import generate

        options, environment = self._options, self._request.environment
        stdout, directory = environment.stdout, environment.directory
        folder = absolute(options.outputs[0], directory).parent if options.dry_run and options.outputs else directory
        shows = environment.terminal and not (options.quiet or options.json)
        if shows:
            stdout.write(f"Generating cases with {input.named} ...")
            stdout.flush()
        try:
            service = self._agents()
            return service.run(generate(input, self._request, service, folder))
        finally:
            if shows:
                stdout.write(own("\r\x1b[K"))


def parts_of(
    sources: Iterable[CaseSource], shard: Shard, root: Path, chat: str, empty: bool = False
) -> list[CaseSource]:
    """What belongs to a shard of all cases. Reads the cases. `root`: of the application, from which files are named.
    `chat`: id of the chat that all cases of a file share; empty: each has its own. `empty`: whether sources stay of
    which nothing belongs to it, since an earlier run may have results of them."""
    parts = [_part_of(source, shard, root, chat) for source in sources]
    return [part for part in parts if part.selected or empty]


def _part_of(source: CaseSource, shard: Shard, root: Path, chat: str) -> CaseSource:
    name = shown_path(Path(source.suite.file), root) if source.suite.file else source.suite.label
    name = source.suite.label if os.path.isabs(name) else name
    groups = groups_of(source) if source.waited else {}

    def cases() -> Iterator[LocatedCase]:
        for located in source.cases():
            id = located.case.id
            if shard.has(f"{name}\0{'' if chat else groups.get(id, id)}"):
                yield located

    return source.replace(selected=sum(1 for _ in cases()), cases=cases)


def groups_of(source: CaseSource) -> dict[str, str]:
    """Case → the case that represents its group, for cases that are connected by dependencies."""
    leaders: dict[str, str] = {}

    def leader(id: str) -> str:
        while (above := leaders.setdefault(id, id)) != id:
            id = above
        return id

    for located in source.cases():
        for needed in located.case.depends_on:
            first, second = sorted((leader(located.case.id), leader(needed)))
            leaders[second] = first
    return {id: leader(id) for id in leaders}


def varied(
    sources: Iterable[CaseSource], variants: Iterable[Variant], directory: Path, *, in_rounds: bool
) -> list[CaseSource]:
    """The sources once for each `--variant`; `in_rounds`: with `--until-decided`. Raises ConfigurationError."""
    from runner.agents.assistant import agent_variant

    found = []
    for source in sources:
        own = [located.case.id for located in source.cases() if located.case.repeat is not None] if in_rounds else []
        if own:
            raise ConfigurationError(
                f'Cannot run {source.suite.label} with --until-decided: case "{own[0]}" sets its own number of runs',
                "Remove its `repeat`, or leave out --until-decided",
            )
        for variant in variants:
            suite = source.suite.replace(
                id=f"{source.suite.id} [{variant.name}]",
                variant=variant.name,
                connector=variant.connector or source.suite.connector,
            )
            found.append(source.replace(suite=suite, variant=agent_variant(variant, source.assistant, directory)))
    if not found:
        raise ConfigurationError(
            "There are no cases for --variant",
            "Script tests have no connector and no prompts: run them without --variant",
        )
    return found
