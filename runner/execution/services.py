"""What a run has running beside its tests: the agents, recordings, budgets; and what its tests and cases are answered,
once the plan is there. Each is made when it is first needed, since a script test that passes needs next to nothing."""

from __future__ import annotations

import _thread
from functools import partial
from typing import TYPE_CHECKING, Any

from bindings import HostProcesses, RunSnapshots, Worlds
from runner.errors import ConfigurationError
from runner.execution.processes import open_router
from runner.planning.planner import make_plan
from scripttest import worker_command

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path
    from typing import TextIO

    from bindings import Policy, World
    from runner.agents.runtime import Runtime
    from runner.agents.service import AgentService
    from runner.application.application import Application
    from runner.cli.options import RunOptions
    from runner.cli.settings import Settings
    from runner.connectors.journal import Journal
    from runner.connectors.recording import Recording
    from runner.environment import Environment
    from runner.execution.budgets import UsageCounter
    from runner.execution.case_schedule import AgentCases
    from runner.execution.databases import RunDatabases
    from runner.execution.other_kinds import OtherKinds
    from runner.fingerprints.fingerprints import Fingerprints
    from runner.modes.case_environment import CaseEnvironment
    from runner.modes.interactive import Person
    from runner.planning.plan import RunPlan
    from runner.planning.selection import Selection
    from runner.reporters.console.progress import Progress
    from scripttest import Coverage


class RunServices:
    """Of one run. To be used as a context manager: at its end all processes, connections and threads are ended."""

    def __init__(
        self,
        *,
        options: RunOptions,
        environment: Environment,
        application: Application,
        context: Mapping[str, Any],
        parts: Path,
        settings: Settings,
        coverage: Coverage | None = None,
        key: str | None = None,
    ) -> None:
        """Raises ConfigurationError when what `--record`, `--replay` or `--db` names cannot be used.

        Args:
            context: the fields of the run's context.
            parts: the folder of the script half of the bindings.
            settings: of the configuration file.
            coverage: counts what hooks and tools run, if anything is counted.
            key: what values of variables are hashed with; None: that of the report.
        """
        self._coverage = coverage
        self._key = key
        self.on_agents: Callable[[AgentService], None] | None = None
        """Hears of the agents when they are made."""
        self._settings = settings
        self.usage: UsageCounter | None = None
        self._options = options
        self._environment = environment
        self._application = application
        self._parts = parts
        self._service: AgentService | None = None
        self._fingerprints: Fingerprints | None = None
        self.journal: Journal | None = None
        """What keeps the answers of models; None until agents are needed, or when nothing is kept."""
        self.journal_warnings: list[str] = []
        """Why answers are not kept."""
        self._report: tuple[Path, bool, int] | None = None
        self._permitted: Policy | None = None
        self._context = context
        self.worlds = Worlds(options.seed)
        """Of the script tests."""
        self.databases: RunDatabases | None = None
        """Of the tests; None while no test has used models."""
        self.processes = HostProcesses(
            application.root, self._policy, application.script, lambda world: self.open_databases().of_script(world)
        )
        """Answers the processes that are no business of agents."""
        self.recording = self._open_recording()
        if options.db is not None:
            self.open_databases()

    def __enter__(self) -> RunServices:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._service is not None:
                self._service.close()
        finally:
            self.worlds.close()
            self.processes.close()

    def plan(self, selection: Selection | None, regraded_from: str | None = None) -> RunPlan:
        """What the run will do; see `make_plan`."""
        return make_plan(
            options=self._options,
            environment=self._environment,
            application=self._application,
            context=self._context,
            settings=self._settings,
            selection=selection,
            agents=self.agents,
            fingerprints=self.fingerprints,
            regraded_from=regraded_from,
        )

    def begin_again(self, tests: Mapping[str, Collection[str] | None]) -> None:
        """Has agents forget what tests of each module have said, since they run again; None stands for all of them."""
        if self._service is not None:
            self._service.runtime.begin_pass()
            for module, names in tests.items():
                self._service.forget(module, names)

    def forget(self, module: str, test: str) -> None:
        """Has agents forget what a test has said."""
        if self._service is not None:
            self._service.forget(module, [test])

    def count_usage(self, usage: UsageCounter) -> None:
        """Tells of every model call from here on."""
        self.usage = usage
        if self._service is not None:
            self._service.runtime.on_usage = usage.spend

    def keep_answers(self, report: Path, goes_on: bool, at_once: int) -> None:
        """Keeps what models answer from here on beside a `.jsonl` report, and has no more than `at_once` of them asked
        at a time, since a kill loses what was asked and not answered. A run that `goes_on` with that report gets the
        answers that are there."""
        if self._options.replay is not None:
            return
        self._report = report, goes_on, at_once
        if self._service is not None or report.with_suffix(".calls.jsonl").exists():
            service = self.agents()
            if self.journal is None:
                self._open_journal(service.runtime)

    @property
    def keeps_answers(self) -> bool:
        """Whether what models answer is kept beside the report."""
        return self._report is not None

    def _open_journal(self, runtime: Runtime) -> None:
        assert self._report is not None
        from runner.connectors.journal import Journal, journal_beside
        from runner.results.line_file import LineFile

        report, goes_on, at_once = self._report
        runtime.connectors.bound(at_once)
        runtime.journal = self.journal = Journal(
            journal_beside(report),
            lambda path: LineFile(path, keep=True),
            self._application.root,
            self._environment.secrets.text,
            self.journal_warnings.append,
            goes_on,
        )

    def agents(self) -> AgentService:
        """The agents of the run, on a thread of their own."""
        if self._service is None:
            from runner.agents.prompts import PromptVariables
            from runner.agents.service import AgentService

            environment, options = self._environment, self._options
            named, variables = self._variables()
            self._service = AgentService(
                self._application,
                self.processes,
                self._context,
                variables,
                PromptVariables(named=named, environment=variables, clean=environment.secrets.text),
                worker_command(self._parts, self._coverage.folder if self._coverage is not None else None),
                environment.cpus,
                options.connector or "",
                options.case_timeout,
                self.recording,
                self.fingerprints().parts,
                self._settings.prices,
                self._coverage.instrument if self._coverage is not None else None,
            )
            if self.usage is not None:
                self._service.runtime.on_usage = self.usage.spend
            if self._report is not None:
                self._open_journal(self._service.runtime)
            if self.on_agents is not None:
                self.on_agents(self._service)
        return self._service

    def fingerprints(self) -> Fingerprints:
        """Makes the fingerprints of the results of this run, and compares those of an earlier one."""
        if self._fingerprints is None:
            from runner.application.context import build_context
            from runner.application.dotenv import named_variables
            from runner.fingerprints.fingerprints import Fingerprints
            from runner.fingerprints.parts import PartDigests
            from runner.planning.saved_run import key_of

            options, environment, root = self._options, self._environment, self._application.root
            variables = {**named_variables(root, environment.variables), **environment.variables}
            replays = self.recording is not None and self.recording.mode == "replay"
            folder = self.recording.folder if self.recording is not None and replays else None
            parts = PartDigests(
                self._application, variables, self._key or key_of(options, environment.directory), folder
            )
            agents = {
                agent: (own, build_context(own, environment.directory)) for agent, own in self._settings.agents.items()
            }
            self._fingerprints = Fingerprints(parts, options, self._context, agents)
        return self._fingerprints

    def parts_of(self, module: str, test: str) -> Mapping[str, str]:
        """What a script test has used of the agents so far; see `AgentService.parts`."""
        return self._service.parts(module, test) if self._service is not None else {}

    def open_databases(self) -> RunDatabases:
        """The databases of the run, made when they are first needed."""
        if self.databases is None:
            from runner.execution.databases import RunDatabases

            self.databases = RunDatabases(self._application, self._options, self._environment.directory)
        return self.databases

    def _open_recording(self) -> Recording | None:
        options, environment = self._options, self._environment
        if (options.record, options.replay, options.record_missing) == (None, None, None):
            return None
        from runner.connectors.recording import open_recording

        return open_recording(options, environment.directory, self._application.root, environment.secrets.text)

    def _policy(self) -> Policy:
        if self._permitted is None:
            from bindings import Policy, ProcessError

            try:
                named, _ = self._variables()
            except ConfigurationError as error:
                raise ProcessError(f"{error.message}. {error.hint}", 403) from error
            self._permitted = Policy(
                allow_net=self._options.allow_net or None,
                allow_exec=self._options.allow_exec,
                environment=named,
                keep_secret=self._environment.secrets.add,
            )
        return self._permitted

    def _variables(self) -> tuple[dict[str, str], dict[str, str]]:
        from runner.application.dotenv import all_variables

        return all_variables(self._application.root, self._environment)


class TestServices:
    """What the tests and cases of a plan are answered, and what cases run in."""

    def __init__(
        self,
        services: RunServices,
        plan: RunPlan,
        selection: Selection | None,
        environment: Environment,
        results: TextIO | None = None,
        stopped: Callable[[], bool] = bool,
    ) -> None:
        """`selection` is what `--run` names; `results` takes the lines of benchmarks, and `stopped` says whether the
        run is to end."""
        self.kinds: OtherKinds | None = None
        """What leads tests that are no plain ones; None while there was none."""
        self._lock = _thread.allocate_lock()
        self._results = results or environment.stdout
        self._stopped = stopped
        self.progress: Progress | None = None
        """The live line, which makes room when a person is asked."""
        self._services = services
        self._plan = plan
        self._environment = environment
        options, self._retained = plan.options, plan.retained_tests
        self._again: Mapping[str, Collection[str] | None] = {}
        self.snapshots = RunSnapshots(
            plan.test_files, options.update_snapshots, environment.ci, environment.secrets.text
        )
        self.router = open_router(
            services.processes,
            self.snapshots,
            lambda world, name, args: services.agents().answer(world, name, args),
            selection,
            plan.context,
            done=self._is_done,
            require_judge=options.require_judge,
            judge_samples=options.judge_samples,
            judge_connector=options.judge_connector or "",
            worlds=services.worlds,
            picked=plan.picked,
            arrange=plan.order.tests if plan.order is not None else None,
            kinds={"fuzz": lambda: self.other_kinds().fuzz(), "benchmark": lambda: self.other_kinds().benchmarks()},
            goes_on=services.forget,
        )
        """Answers what scripts ask."""

    def begin_again(self, tests: Mapping[str, Collection[str] | None]) -> None:
        """Has only these tests of each module run from here on, as if they had not run before; None stands for all."""
        self._again = tests
        for module, names in tests.items():
            self.router.forget(module, names)
        self._services.begin_again(tests)

    def __enter__(self) -> TestServices:
        return self

    def __exit__(self, *_: object) -> None:
        if self.kinds is not None:
            self.kinds.close()

    def other_kinds(self) -> OtherKinds:
        """What leads tests that are no plain ones, made when it is first needed. From any thread. Raises
        ConfigurationError when a flag that concerns them cannot be used."""
        with self._lock:
            if self.kinds is None:
                from runner.execution.other_kinds import OtherKinds

                self.kinds = OtherKinds(self._plan, self._environment, self._write, self._stopped)
        return self.kinds

    def _write(self, text: str) -> None:
        """Writes lines of benchmarks, which the live line makes room for."""
        from contextlib import nullcontext

        with self.progress.paused() if self.progress else nullcontext():
            self._results.write(text)
            self._results.flush()

    def _is_done(self, module: str, test: str) -> bool:
        again = self._again.get(module)
        return test in self._retained.get(module, ()) or (again is not None and test not in again)

    def cases(self, options: RunOptions, context: Mapping[str, Any], traces: bool) -> AgentCases:
        """What the cases of an agent run in; see below."""
        from runner.execution.case_schedule import AgentCases

        environment = self._case_environment(options, context, traces)
        return AgentCases(environment=environment, before=options.before, after=options.after)

    def _case_environment(self, options: RunOptions, context: Mapping[str, Any], traces: bool) -> CaseEnvironment:
        """What cases run in, by their options and the fields of their context; `traces`: their results say what they
        are made of."""
        from runner.modes.case_environment import CaseEnvironment

        plan, service = self._plan, self._services.agents()
        return CaseEnvironment(
            application=plan.application,
            runtime=service.runtime,
            helpers=service.helpers,
            context=context,
            user=options.user,
            team=options.team,
            connector=options.connector or "",
            timeout=options.case_timeout,
            snapshot=self.snapshots.matcher,
            threshold=options.score_threshold,
            simulator=options.simulator or "",
            on_missing_input=options.on_missing_input or "skip",
            interactive=options.interactive,
            person=self._person(),
            fingerprints=self._services.fingerprints() if traces else None,
            require_judge=options.require_judge,
            judge_samples=options.judge_samples,
            judge_connector=options.judge_connector or "",
            seed=options.seed,
            spans=options.otlp is not None,
            trace=options.trace or ("full" if self._spans_hold_content(options) else "summary"),
            clean=self._environment.secrets.text,
            transcripts=plan.transcripts,
            database=self._services.open_databases().of_case,
        )

    def calls_of_scripts(self) -> Callable[[World], dict[str, Any] | None] | None:
        """Tells what a script test has asked of agents, for spans; None when none are sent."""
        if (options := self._plan.options).otlp is None or options.trace == "off":
            return None
        from runner.execution.outside import calls_of

        return partial(calls_of, clean=self._environment.secrets.text, whole=self._spans_hold_content(options))

    def _spans_hold_content(self, options: RunOptions) -> bool:
        return options.otlp is not None and self._environment.content_in_spans

    def _person(self) -> Person | None:
        """Who is asked at the terminal; nobody with `--skip-interactive`."""
        if self._plan.options.skip_interactive:
            return None
        from runner.modes.interactive import Person

        clean, ci = self._environment.secrets.text, self._environment.ci
        return Person(ci, clean, self.progress.paused) if self.progress else Person(ci, clean)
