"""Everything that is decided before a run begins, as one value.

`make_plan` goes from the options to it, step by step: inputs, cases, `--shard`, `--resume`, and whether what is named
is there. When it raises, nothing has run yet, except generators of cases.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.application.application import Application, TestModule, repository_of
from runner.application.context import build_context
from runner.cli.options import RunOptions, absolute
from runner.cli.settings import Settings
from runner.errors import ConfigurationError
from runner.planning.inputs import CaseInput, GeneratorInput, everything, not_collected, resolve_inputs
from runner.planning.last_failed import store_of
from runner.results.model import Suite, SuiteKind
from scripttest import kind_of
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.service import AgentService
    from runner.cases.model import Case
    from runner.environment import Environment
    from runner.fingerprints.fingerprints import Fingerprints
    from runner.modes.transcripts import Transcripts
    from runner.planning.case_source import CaseSource
    from runner.planning.choice import Choice
    from runner.planning.order import Order
    from runner.planning.picks import Picks
    from runner.planning.resume import ResumeState
    from runner.planning.selection import Selection
    from runner.store.places import StorePlace


class LeftOut(Value):
    """What does not run because of a flag."""

    flag: str
    """As it is given, such as `--run Ready`."""
    modules: int = 0
    """Whole test modules, whose tests are not known."""
    tests: int = 0
    """Cases, and tests of the modules that run."""

    def plus(self, tests: int) -> LeftOut:
        """With so many tests more."""
        return self.replace(tests=self.tests + tests)

    @property
    def words(self) -> str:
        """`1 module and 2 tests`."""
        parts = ((self.modules, "module"), (self.tests, "test"))
        return " and ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in parts if number)


class RunPlan(Value):
    """What will run, and how."""

    options: RunOptions
    application: Application
    context: Mapping[str, Any]
    """Of the run: the fields of `agent.Context`."""
    settings: Settings
    """Of the configuration file."""
    contexts: Mapping[str, Mapping[str, Any]]
    """Agent → the context of its tests, for those that have settings of their own."""
    suites: tuple[Suite, ...]
    """All of them, in the order in which they were named."""
    modules: tuple[TestModule, ...]
    """Suites that are test modules."""
    sources: tuple[CaseSource, ...]
    """The cases of the other suites, read anew when they are needed."""
    warnings: tuple[str, ...]
    """What is to be said before anything runs."""
    notes: tuple[str, ...]
    """What is to be known of the choice and the order of the tests, a sentence each."""
    picked: Mapping[str, frozenset[str] | None]
    """Module → its tests that flags pick; None, and modules that are not among them: all of them."""
    order: Order | None
    """In which tests run; None: as they stand."""
    matched: bool
    """Whether it is certain that `--run` matches something; else the modules have to show it."""
    left_out: tuple[LeftOut, ...]
    """What the flags leave out, as far as it is known before modules are loaded."""
    resumable: bool
    """Whether a report is written that a later run can resume."""
    resume: ResumeState | None
    """What is taken from an earlier run, and what a later one needs to know; None when no report can be resumed."""
    store: StorePlace | None
    """Where the run is kept; None: nowhere."""
    transcripts: Transcripts | None
    """What agents said in the saved run that is graded again; None when they are asked."""
    is_part: bool = False
    """Whether other machines run other tests of the same suites."""
    writes_cases: bool
    """Whether the cases that generators made are written to `--output`, and nothing runs."""

    def context_of(self, agent: str) -> Mapping[str, Any]:
        """The context of the tests of an agent."""
        return self.contexts.get(agent, self.context)

    @property
    def total_cases(self) -> int | None:
        """How many cases run; None when modules run too, whose tests are not known yet."""
        return None if self.modules else sum(source.selected for source in self.sources)

    @property
    def is_whole(self) -> bool:
        """Whether all tests of the suites run."""
        options = self.options
        return not (options.selecting or options.failure_limit or options.shard or self.is_part)

    @property
    def test_files(self) -> dict[str, Path]:
        """Suite id → its test or case file, for those that have one."""
        files = {module.id: module.test for module in self.modules}
        return files | {source.suite.id: Path(source.suite.file) for source in self.sources if source.suite.file}

    @property
    def case_folders(self) -> set[Path]:
        """The folders of the case files, of which the first gets a report where none is named. A run without inputs,
        and a watched one, writes none that was not asked for."""
        if self.transcripts is not None or not self.options.inputs or self.options.watch:
            return set()
        return {source.folder for source in self.sources if source.suite.file}

    @property
    def retained_tests(self) -> dict[str, Collection[str]]:
        """Module → its tests that have results of an earlier run."""
        if self.resume is None or self.resume.retained is None:
            return {}
        return {module.id: self.resume.retained.statuses(module.id) for module in self.modules}

    @property
    def retained_places(self) -> dict[str, Collection[int]]:
        """The same as positions in their suite."""
        if self.resume is None or self.resume.retained is None:
            return {}
        return {module.id: self.resume.retained.places(module.id) for module in self.modules}


def make_plan(
    options: RunOptions,
    environment: Environment,
    application: Application,
    context: dict[str, Any],
    selection: Selection | None,
    agents: Callable[[], AgentService],
    fingerprints: Callable[[], Fingerprints],
    regraded_from: str | None = None,
    settings: Settings | None = None,
) -> RunPlan:
    """Decides what will run; blocks while cases are generated. Raises ConfigurationError.

    Args:
        selection: what `--run` names.
        agents: gives the agents of the run, since generators are agents and scripts, and references lead to them.
        fingerprints: gives what makes and compares the fingerprints of results.
        regraded_from: the report whose transcripts are graded; no agent is asked then.
        settings: of the configuration file.
    """
    settings = settings or Settings()
    planning = _Planning(options, environment, application, context, agents, settings)
    choice = _choice(options, environment, application)
    named = options
    regrading = None
    if regraded_from is not None:
        from runner.planning.regraded_cases import Regrading
        from runner.planning.regrading import transcripts_in

        saved = transcripts_in(regraded_from, absolute(regraded_from, environment.directory))
        regrading = Regrading(saved, options, application, environment.directory)
        named = options.replace(inputs=regrading.inputs())
    elif not options.inputs:
        named = options.replace(inputs=(everything(options, application, environment.directory),))
    inputs = resolve_inputs(named, application, environment.directory)
    if choice is not None and choice.order is not None:
        inputs = choice.order.suites(inputs, lambda item: item.id)
        inputs.sort(key=lambda item: not isinstance(item, TestModule))  # as they run
    if options.fuzz or options.bench:  # no case does that
        inputs = [item for item in inputs if isinstance(item, TestModule)]
    modules = [item for item in inputs if isinstance(item, TestModule)]
    of_cases = [item for item in inputs if not isinstance(item, TestModule)]
    writes_cases = options.dry_run and any(isinstance(item, GeneratorInput) for item in of_cases)
    if writes_cases:
        from runner.planning.generators import check_outputs

        check_outputs(options.outputs)
    found = len(modules)
    picks = choice.picks if choice is not None else None
    picked = picks.modules(modules) if picks is not None else {}
    sources, warnings = planning.sources(of_cases, picks)
    if choice is not None and picks is not None and not picked and not any(source.selected for source in sources):
        if not picks.by_failure:
            raise picks.nothing() if selection is None else selection.nothing(())
        choice = choice.of_all(options, application)
        picks = choice.picks
        picked = picks.modules(modules) if picks is not None else {}
        sources, warnings = planning.sources(of_cases, picks)
    unpicked = sum(source.total - source.selected for source in sources)
    if picks is not None:
        modules = [module for module in modules if module.id in picked]
        sources = [source for source in sources if source.selected]
        warnings = [*warnings, *picks.warnings]
    left_out = [LeftOut(flag=options.selecting, modules=found - len(modules), tests=unpicked)]
    found = len(modules)
    transcripts = None
    if regrading is not None:
        regraded = regrading.cases(sources)
        sources, transcripts = regraded.sources, regraded.transcripts
        warnings = [*warnings, *regraded.warnings]
    matched = selection is None or any(source.selected for source in sources)
    if selection is not None and not matched and not modules:
        raise selection.nothing(id for source in sources for id in source.ids())
    if options.shard is not None:
        from runner.planning.shards import parts_of

        modules = [module for module in modules if options.shard.has(module.id)]
        cases = sum(source.selected for source in sources)
        sources = parts_of(sources, options.shard, application.root, empty=options.resume is not None)
        cases -= sum(source.selected for source in sources)
        left_out.append(LeftOut(flag=f"--shard {options.shard}", modules=found - len(modules), tests=cases))
    if options.team is not None and _is_test(options.team, modules, sources):
        meant = f"-t {options.team} is the team of the test user; the test of that name is --run {options.team}"
        warnings = [*warnings, meant]
    warnings = [*warnings, *not_collected(options, application, environment.directory)]
    if choice is not None:
        warnings = [*warnings, *choice.warnings]
    warnings = [*settings.warnings, *warnings]
    if options.variants:
        from runner.planning.variants import varied

        for variant in options.variants:
            environment.secrets.add_variables(dict(variant.env))
        sources = varied(sources, options.variants, environment.directory)
    suites = _suites(inputs, modules, sources, str(repository_of(application.root)))
    keeps = None if options.dry_run or regraded_from else store_of(options, environment, application)
    if options.kept_baseline is not None and keeps is None:
        raise ConfigurationError(
            f"Cannot compare with {options.kept_baseline}: there is no store",
            "Name one with --store, or make the folder .yao-test",
        )
    resumable = not (options.dry_run or options.watch or regraded_from) and bool(
        options.resume
        or keeps
        or any(output.lower().endswith(".jsonl") for output in options.outputs)
        or (options.inputs and not options.outputs and any(source.suite.file for source in sources))
    )
    resume = None
    if resumable:
        from runner.planning.resume import take_up

        resume = take_up(named, settings.typed or options, sources, suites, environment.directory, fingerprints())
        sources, warnings = resume.sources, [*warnings, *resume.warnings]
        left_out.append(LeftOut(flag=f"--resume {options.resume}", tests=resume.retained_count))
    elif options.dry_run and options.outputs and not writes_cases:
        warnings = [*warnings, f"--dry-run writes no report to {', '.join(options.outputs)}"]
    try:
        planning.check_references(sources, [])
        if not modules and regraded_from is None:
            planning.check_own_connectors(sources)
    except BaseException:
        if resume is not None and resume.resumed_report is not None:
            resume.resumed_report.close()
        raise
    return RunPlan(
        options=options,
        application=application,
        context=context,
        settings=settings,
        contexts={agent: build_context(own, environment.directory) for agent, own in settings.agents.items()},
        suites=suites,
        modules=tuple(modules),
        sources=tuple(sources),
        warnings=tuple(warnings),
        notes=choice.notes_on(picked, sources) if choice is not None else (),
        picked=picked,
        order=choice.order if choice is not None else None,
        matched=matched or len(modules) < found,
        left_out=tuple(one for one in left_out if one.modules or one.tests),
        resumable=resumable,
        resume=resume,
        store=_place_of(keeps, resume),
        transcripts=transcripts,
        writes_cases=writes_cases,
    )


def _place_of(folder: Path | None, resume: ResumeState | None) -> StorePlace | None:
    """Where the run is kept: in the place of the one that it resumes."""
    if folder is None:
        return None
    from runner.store.places import StorePlace, new_run

    if resume is None or resume.retained is None or not resume.retained.saved.start:
        return StorePlace(folder=folder, run=new_run())
    from runner.store.rows import id_of

    return StorePlace(folder=folder, run=id_of(resume.retained.saved.start))


def _choice(options: RunOptions, environment: Environment, application: Application) -> Choice | None:
    """What flags choose by more than names, and the order; None where they leave both as they are."""
    if not (options.tags or options.last_failed or options.reorders):
        return None
    from runner.planning.choice import choice_of

    return choice_of(options, environment, application)


def suite_of(module: TestModule) -> Suite:
    """The suite that a test module is."""
    return Suite(id=module.id, kind=SuiteKind.MODULE, label=module.label, file=str(module.test), agent=module.agent)


def _is_test(name: str, modules: list[TestModule], sources: list[CaseSource]) -> bool:
    """Whether a test or a case bears a name, as far as the source texts of modules show."""
    if kind_of(name):
        from re import escape, search

        from runner.security.files import read_text

        pattern = rf"\b(?:function\*?|const|let|var)\s+{escape(name)}\b"
        try:
            return any(search(pattern, read_text(module.test, "replace")) for module in modules)
        except OSError:  # said when the module is compiled
            return False
    return any(name in source.ids() for source in sources)


def _suites(
    inputs: list[TestModule | CaseInput | GeneratorInput],
    modules: list[TestModule],
    sources: list[CaseSource],
    root: str,
) -> tuple[Suite, ...]:
    """The suites of what runs, in the order of the inputs."""
    by_id: dict[str, list[Suite]] = {module.id: [suite_of(module)] for module in modules}
    for source in sources:
        by_id.setdefault(source.input, []).append(source.suite)
    listed = [suite for item in inputs for suite in by_id.pop(item.id, ())]
    return tuple(suite.replace(root=root) for suite in chain(listed, *by_id.values()))


class _Planning:
    """The steps that need agents."""

    def __init__(
        self,
        options: RunOptions,
        environment: Environment,
        application: Application,
        context: dict[str, Any],
        agents: Callable[[], AgentService],
        settings: Settings,
    ) -> None:
        self._settings = settings
        self._options = options
        self._environment = environment
        self._application = application
        self._context = context
        self._agents = agents

    def sources(
        self, inputs: list[CaseInput | GeneratorInput], picks: Picks | None
    ) -> tuple[list[CaseSource], list[str]]:
        """The cases of inputs, and warnings about them."""
        if not inputs:
            return [], []
        from runner.application.dotenv import all_variables
        from runner.planning.sources import open_sources

        environment = self._environment
        all_variables(self._application.root, environment)
        sources, warnings = open_sources(
            inputs,
            self._options,
            self._application,
            environment.directory,
            self._generate,
            self.check_references,
            picks,
            self._settings,
        )
        return [source.cleaned(environment.secrets.text) for source in sources], warnings

    def check_references(self, sources: list[CaseSource], generators: list[GeneratorInput]) -> None:
        """Raises ConfigurationError when the cases that will run, or flags, name what is not there, or the connector of
        `--connector` or `--judge-connector` cannot be used."""
        options = self._options
        if options.judge_connector and not options.dry_run:
            self._check_connector(options.judge_connector)
        if not sources and not generators:
            return
        from runner.agents.assistant import Assistants
        from runner.planning.resolution import check_references, named_by

        if generators and options.shard is not None:
            from runner.planning.shards import parts_of

            sources = parts_of(sources, options.shard, self._application.root)
        folders = {source.assistant.id: source.assistant.folder for source in sources}
        folders |= dict(Assistants(self._application).find(generator.agent) for generator in generators)
        named = named_by(sources, generators, options, folders)
        for first in named:
            service = self._agents()
            service.run(check_references(chain([first], named), service.runtime, self._application))
        own = [self._settings.of(source.assistant.id, options).connector for source in sources]
        for connector in dict.fromkeys((options.connector, *own)):
            if connector and not options.dry_run:
                self._check_connector(connector)
        for variant in options.variants if not options.dry_run else ():
            if variant.connector:
                self._check_connector(variant.connector, dict(variant.env))

    def check_own_connectors(self, sources: list[CaseSource]) -> None:
        """Raises ConfigurationError when no case can ask a model, as the connectors of all agents cannot be used."""
        options = self._options
        given = options.connector or any(self._settings.of(one.assistant.id, options).connector for one in sources)
        if not sources or given or options.dry_run or options.replay is not None or options.variants:
            return
        from runner.agents.assistant import Assistants
        from runner.planning.own_connectors import check_own_connectors

        check_own_connectors(sources, Assistants(self._application), self._check_connector)

    def _check_connector(self, id: str, variables: Mapping[str, str] | None = None) -> None:
        """Raises ConfigurationError when a connector cannot be used, with these further variables."""
        connectors = self._agents().runtime.connectors
        if variables:
            connectors = connectors.with_variables(variables)
        options = self._options
        has_keys = options.replay is None and options.cluster is None  # workers have their own
        find = connectors.get if has_keys else connectors.model
        find(connectors.resolve(id))

    def _generate(self, input: GeneratorInput) -> tuple[list[Case], list[str]]:
        """Has cases made; on a terminal a line says so meanwhile."""
        from runner.planning.generators import Generators, generate

        options, stdout, directory = self._options, self._environment.stdout, self._environment.directory
        folder = absolute(options.outputs[0], directory).parent if options.dry_run and options.outputs else directory
        shows = self._environment.terminal and not (options.quiet or options.json)
        if shows:
            stdout.write(f"Generating cases with {input.reference} ...")
            stdout.flush()
        try:
            service = self._agents()
            generators = Generators(
                application=self._application,
                runtime=service.runtime,
                helpers=service.helpers,
                context=self._context,
                connector=options.connector or "",
                timeout=options.case_timeout,
            )
            return service.run(generate(input, generators, folder, options.lenient))
        finally:
            if shows:
                stdout.write("\r\x1b[K")
