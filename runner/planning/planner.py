"""Makes the plan of a run, step by step: it resolves the inputs, selects tests by flags, takes the part of this shard,
keeps valid results of an earlier run, and checks that everything that is named exists.

If a step raises, nothing has run yet, except generators of cases."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import chain

from runner.application.application import TestModule, repository_of
from runner.application.context import all_variables, build_context
from runner.errors import ConfigurationError
from runner.options.options import check_kept
from runner.planning.inputs import Input, Modules, named_agent, not_collected, resolve_inputs, with_inputs
from runner.planning.last_failed import store_of
from runner.planning.plan import CaseInput, CaseSource, GeneratorInput, RunPlan, RunRequest, suite_of
from runner.record.events import new_run
from scripttest import kind_of
from scripttest.values import fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from runner.agents.service import AgentService
    from runner.fingerprints.fingerprints import Fingerprints
    from runner.options.options import RunOptions
    from runner.planning.case_planning import CasePlanning
    from runner.planning.regrading import Regrading
    from runner.planning.selection import Choice, Selection
    from runner.record.model import Suite
    from scripttest.typing_names import Record


def make_plan(
    request: RunRequest, *, agents: Callable[[], AgentService], fingerprints: Callable[[], Fingerprints]
) -> RunPlan:
    """Decides what will run. Blocks while cases are generated. Raises ConfigurationError. `request`: with its
    contexts. `agents`: returns the agents of the run; generators and references need them. `fingerprints`: returns
    the object that makes and compares fingerprints of results."""
    planner = _Planner(request, agents)
    planner.find()
    planner.take_shard()
    planner.warn()
    planner.vary()
    return planner.plan(fingerprints)


def with_contexts(request: RunRequest) -> RunRequest:
    """The same request with the contexts of its tests, which may be in files. Raises ConfigurationError."""
    options, directory = request.options, request.environment.directory
    named = named_agent(options, request.application)
    return request.replace(
        context=build_context(options, directory, named),
        contexts={agent: build_context(own, directory, named) for agent, own in request.settings.agents.items()},
    )


def looking(request: RunRequest) -> RunRequest:
    """The same for a run that writes no snapshots."""
    environment = request.environment
    in_ci = environment.replace(variables={**environment.variables, "CI": "1"})
    return with_contexts(request.replace(environment=in_ci))


def selection_of(options: RunOptions) -> Selection | None:
    """The pattern of `--run`, `--fuzz` or `--bench`; None when none of them is given. Raises ConfigurationError."""
    if not options.pattern:
        return None
    from runner.planning.selection import Selection

    flag = "--run" if options.run else "--fuzz" if options.fuzz else "--bench"
    return Selection(options.pattern, options.selecting, flag)


class _Planner:
    """Makes the plan of one run. Each step leaves fewer tests to run."""

    def __init__(self, request: RunRequest, agents: Callable[[], AgentService]) -> None:
        self._request = request
        self._options = request.options
        self._named = request.options
        """The options, with the inputs of a run without `-i` filled in."""
        self._environment = request.environment
        self._application = request.application
        self._agents = agents
        self._every = Modules(request.application)
        self._selection = selection_of(request.options)
        self._choice = self._choose()
        self._inputs: list[Input] = []
        self._modules: list[TestModule] = []
        self._sources: list[CaseSource] = []
        self._warnings = list(request.settings.warnings)
        self._picked: dict[str, frozenset[str] | None] = {}
        self._matched = True
        self._writes_cases = False

    def _choose(self) -> Choice | None:
        """The selection by tags and earlier failures, and the order; None when no flag asks for either."""
        options, selection = self._options, self._selection
        if not (options.tags or options.last_failed or options.reorders):
            return None
        from runner.planning.selection import Choice

        named, saved = selection.test if selection is not None else None, None
        if options.resume is not None and options.last_failed:
            start = self._request.resumed
            saved = start["resume"].get("failed", {}) if start else None
        return Choice(options, self._environment, self._application, named, saved)

    @property
    def _filter(self) -> Choice | None:
        return self._choice if self._choice is not None and self._choice.selects else None

    @cached_property
    def _cases(self) -> CasePlanning:
        from runner.planning.case_planning import CasePlanning

        return CasePlanning(self._request, self._agents)

    def find(self) -> None:
        """Resolves the inputs and selects tests and cases by the flags. When a saved run is graded again, finds the
        cases that it is graded by."""
        options, selection, directory = self._options, self._selection, self._environment.directory
        all_variables(self._application.root, self._environment)
        regrading: Regrading | None = None
        if self._request.transcripts is None:
            self._named = with_inputs(options, self._application, directory)
        else:
            from runner.planning.regrading import Regrading

            regrading = Regrading(self._request)
            self._named = options.replace(inputs=regrading.inputs())
        inputs = resolve_inputs(self._named, self._application, directory, self._every)
        if self._choice is not None and self._choice.order is not None:
            inputs = self._choice.order.suites(inputs, lambda item: item.id)
            inputs.sort(key=lambda item: not isinstance(item, TestModule))  # as they run
        if options.fuzz or options.bench:  # no case does that
            inputs = [item for item in inputs if isinstance(item, TestModule)]
        self._inputs = inputs
        paths = [item.path for item in inputs if isinstance(item, CaseInput) and item.path is not None]
        check_kept(() if options.dry_run else options.outputs, paths, directory)
        self._writes_cases = options.dry_run and any(isinstance(item, GeneratorInput) for item in inputs)
        if self._writes_cases:
            from runner.planning.generators import check_outputs

            check_outputs(options.outputs)
        self._select()
        if regrading is not None:
            self._sources = regrading.cases(self._sources)
            self._request = self._request.replace(transcripts=regrading.transcripts)
            self._warnings += regrading.warnings
        self._matched = selection is None or any(source.selected for source in self._sources)
        if selection is not None and not self._matched and not self._modules:
            raise selection.nothing(id for source in self._sources for id in source.ids())

    def _select(self) -> None:
        """Selects by `--tag` and `--last-failed`, which selects everything when no test is known to have failed."""
        modules = [item for item in self._inputs if isinstance(item, TestModule)]
        found = self._apply_filter(modules)
        choice = self._choice
        if choice is not None and choice.by_failure and self._has_nothing:
            if self._options.resume is not None:
                raise ConfigurationError(
                    f"Cannot resume {self._options.resume}: none of the failed tests exists any more",
                    "Start a new report with -o",
                )
            choice.select_all(self._options)
            found = self._apply_filter(modules)
        if choice is not None and choice.selects and self._has_nothing:
            if self._selection is None:
                raise choice.nothing()
            from runner.planning.names import names_in

            files = (module.test for module in modules)
            raise self._selection.nothing(chain(names_in(files), *(source.ids() for source in found)))
        self._warnings += self._cases.warnings if found else []
        self._warnings += choice.tag_warnings if choice is not None else []

    def _apply_filter(self, modules: list[TestModule]) -> list[CaseSource]:
        """Selects modules and cases, and returns all cases, also those of files of which none is selected."""
        of_cases = [item for item in self._inputs if not isinstance(item, TestModule)]
        tests = self._filter
        self._picked = tests.modules(modules) if tests is not None else {}
        self._modules = [module for module in modules if tests is None or module.id in self._picked]
        found = self._cases.sources(of_cases, tests) if of_cases else []
        self._sources = [one for one in found if tests is None or one.selected or tests.keeps(one.suite.id)]
        return found

    @property
    def _has_nothing(self) -> bool:
        return not (self._modules or self._sources)

    def take_shard(self) -> None:
        """Leaves out the tests of other shards."""
        shard = self._options.shard
        if shard is None:
            return
        modules, sources = self._modules, self._sources
        self._modules = [module for module in modules if shard.has(module.id)]
        self._picked = {id: names for id, names in self._picked.items() if shard.has(id)}
        if sources:
            from runner.planning.case_planning import parts_of

            resumes, chat = self._options.resume is not None, self._request.context["chat_id"]
            self._sources = parts_of(sources, shard, self._application.root, chat, empty=resumes)
        self._matched = self._matched or len(self._modules) < len(modules)

    def warn(self) -> None:
        """Adds warnings about the selection."""
        options = self._options
        if options.team is not None and _is_test(options.team, self._modules, self._sources):
            self._warnings.append(
                f"-t {options.team} sets the team of the test user; to select that test, use --run {options.team}"
            )
        self._warnings += not_collected(
            self._named, self._every, self._environment.directory, is_bare=not options.inputs
        )
        if self._choice is not None and self._choice.problem is not None:
            self._warnings.append(self._choice.problem)

    def vary(self) -> None:
        """Makes the cases run once for each `--variant`."""
        variants = self._options.variants
        if not variants:
            return
        from runner.planning.case_planning import varied

        for variant in variants:
            self._environment.secrets.add_variables(dict(variant.env))
        in_rounds = self._options.until_decided
        self._sources = varied(self._sources, variants, self._environment.directory, in_rounds=in_rounds)

    def plan(self, fingerprints: Callable[[], Fingerprints]) -> RunPlan:
        """Finishes the plan: takes out what an earlier run has results of, and checks that everything that is named
        exists. Raises ConfigurationError."""
        options = self._options
        by_id: dict[str, list[Suite]] = {module.id: [suite_of(module)] for module in self._modules}
        for source in self._sources:
            by_id.setdefault(source.suite.without_variant, []).append(source.suite)
        listed = [suite for item in self._inputs for suite in by_id.pop(item.id, ())]  # in the order of the inputs
        root = str(repository_of(self._application.root))
        suites = tuple(suite.replace(root=root) for suite in chain(listed, *by_id.values()))
        store = self._store()
        resumable = self._is_resumable(store)
        origin = self._origin(fingerprints()) if resumable else None
        if options.dry_run and options.outputs and not self._writes_cases:
            self._warnings.append(f"--dry-run writes no report to {', '.join(options.outputs)}")
        choice, run_id, place = self._choice, new_run(), None
        if origin is not None and self._request.resumed:
            own = self._request.resumed.get("run_id")
            run_id = own if isinstance(own, str) and own.isalnum() else run_id
        if store is not None:
            from runner.store.places import StorePlace

            place = StorePlace(folder=store, run=run_id)
        cases = sum(source.selected for source in self._sources)
        plan = RunPlan(
            **fields_of(self._request),
            suites=suites,
            modules=tuple(self._modules),
            sources=tuple(self._sources),
            warnings=tuple(self._warnings),
            notes=choice.notes(self._picked, cases) if choice is not None else (),
            selection=self._selection,
            picked=self._picked,
            order=choice.order if choice is not None else None,
            matched=self._matched,
            resumable=resumable,
            origin=origin,
            store=place,
            run_id=run_id,
            writes_cases=self._writes_cases,
        )
        if origin is not None and options.resume is not None:
            from runner.planning.resume import take_up

            plan = take_up(plan, fingerprints())
        self._check(plan)
        return plan

    def _store(self) -> Path | None:
        """The folder of the store that keeps the run. Raises ConfigurationError, unless a report keeps it anyway."""
        options = self._options
        keeps = not (options.dry_run or options.bench or self._request.transcripts is not None)
        keeps = keeps and (options.store is not None or not options.no_writes)
        try:
            store = store_of(options, self._environment, self._application) if keeps else None
        except ConfigurationError as error:
            has_report = bool(options.outputs) or options.resume is not None
            if options.store is not None or options.kept_baseline is not None or not has_report:
                raise
            hint = f". {error.hint}" if error.hint else ""
            self._warnings.append(f"The run was not saved to the store. {error.message}{hint}")
            return None
        if options.kept_baseline is not None and store is None:
            raise ConfigurationError(
                f"Cannot compare with {options.kept_baseline}: there is no store",
                "Pass one with --store, or create the folder .yao-test",
            )
        return store

    def _is_resumable(self, store: Path | None) -> bool:
        options = self._options
        if options.dry_run or options.watch or self._request.transcripts is not None:
            return False
        writes_own = options.inputs and not options.outputs and any(source.suite.file for source in self._sources)
        named = any(output.lower().endswith(".jsonl") for output in options.outputs)
        return bool(options.resume or store or named or writes_own)

    def _origin(self, fingerprints: Fingerprints) -> Record:
        """What a later run will need."""
        from runner.planning.resume import origin_of

        tests, typed = self._filter, self._request.settings.typed or self._options
        failed = tests.failed_of(item.id for item in self._inputs) if tests is not None else {}
        return origin_of(self._named, typed, self._sources, fingerprints.parts.key, failed)

    def _check(self, plan: RunPlan) -> None:
        """Raises ConfigurationError when something that will run names what does not exist or cannot be used."""
        if not plan.sources and not self._options.judge_connector:
            return
        try:
            self._cases.check(plan.sources, only_cases=not plan.modules and plan.transcripts is None)
        except BaseException:
            if plan.resumed_report is not None:
                plan.resumed_report.close()
            raise


def _is_test(name: str, modules: list[TestModule], sources: list[CaseSource]) -> bool:
    """Whether a test or a case has this name; tests are searched in the source text of modules."""
    if kind_of(name):
        from runner.planning.names import names_in

        return name in names_in(module.test for module in modules)
    return any(name in source.ids() for source in sources)
