"""One run, from options to exit code."""

from __future__ import annotations

import gc
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from bindings import SCRIPT_GLOBALS, HostProcesses, RunSnapshots
from runner import exit_codes
from runner.application.application import TestModule, repository_of
from runner.application.context import build_context
from runner.cli.options import DEFAULT_CASE_TIMEOUT, DEFAULT_SCRIPT_TIMEOUT, DEFAULT_THRESHOLD, RunOptions, absolute
from runner.environment import Environment
from runner.execution.closing import Guarded
from runner.execution.ending import exit_code_of, status_of
from runner.execution.processes import open_router
from runner.execution.repetition import Repetition
from runner.execution.scripts import ScriptRun, host_module, run_scripts, suite_of
from runner.execution.stopping import Signals, Stop, Woken
from runner.planning.inputs import CaseInput, GeneratorInput, resolve_application, resolve_inputs
from runner.reporters import BUILT_IN, maker_by_id, report_path
from runner.reporters.again import flags_of
from runner.reporters.multiplexer import Multiplexer
from runner.reporters.opening import Console, open_reporters
from runner.results.events import RunEnd, RunStart, SuiteEnd, SuiteStart, Warned
from runner.version import VERSION
from scripttest import ScriptHost, worker_command

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from bindings import Policy
    from runner.agents.service import AgentService
    from runner.cases.model import Case
    from runner.connectors.recording import Recording
    from runner.execution.budgets import Budgets
    from runner.execution.interactive import Person
    from runner.execution.scheduler import CaseSource
    from runner.execution.snapshots import SnapshotWatch
    from runner.modes.base import CaseEnvironment
    from runner.planning.resume import Taken
    from runner.planning.selection import Selection
    from runner.reporters import Maker
    from runner.reporters.base import Reporter
    from runner.reporters.console.progress import Progress
    from runner.results.events import SnapshotCounts, Suite
    from scripttest import HostRecord, Processes


def run(options: RunOptions, environment: Environment, parts: Path, processes: Processes | None) -> int:
    """Runs what the options name and reports it; the exit code. Raises ConfigurationError before anything ran."""
    return _Run(options, environment, parts, processes).run()


class _Run:
    def __init__(self, options: RunOptions, environment: Environment, parts: Path, processes: Processes | None) -> None:
        self._options = options
        self._environment = environment
        self._parts = parts
        self._processes = processes
        self._started = environment.monotonic()
        self._application = resolve_application(options, environment.directory)
        self._calls = HostProcesses(self._application.root, self._policy, self._application.script)
        self._snapshots = RunSnapshots(
            lambda: self._snapshot_files, options.update_snapshots, environment.ci, environment.secrets.text
        )
        self._snapshot_files: dict[str, Path] = {}
        self._context: dict[str, Any] = {}
        self._done: dict[str, Collection[str]] = {}
        """Module → tests of it that have results of the run that is resumed."""
        self._service: AgentService | None = None
        self._permitted: Policy | None = None
        self._progress: Progress | None = None
        self._recording = self._open_recording()
        self._stop = Stop()
        self._budgets: Budgets | None = None
        self._selection: Selection | None = None
        self._resumable = False
        """Whether a report is written that a later run can resume."""

    def run(self) -> int:
        """Runs; the exit code. A signal before anything runs raises KeyboardInterrupt with its `code`."""
        try:
            with Signals(self._stop):
                return self._run()
        except KeyboardInterrupt as error:
            error.code = self._stop.code or exit_codes.INTERRUPTED  # type: ignore[attr-defined]
            raise

    def _run(self) -> int:
        options, environment = self._options, self._environment
        if options.run:
            from runner.planning.selection import Selection

            self._selection = Selection(options.run)
        router = open_router(
            self._calls,
            self._snapshots,
            self._answer,
            self._selection,
            context=lambda: self._context,
            done=lambda module, test: test in self._done.get(module, ()),
            require_judge=options.require_judge,
        )
        try:
            if self._processes is None:
                return self._with_host(None)
            host = ScriptHost(
                self._application.root,
                self._processes,
                router,
                SCRIPT_GLOBALS,
                workers=options.parallel or environment.cpus,
                timeout=options.timeout or DEFAULT_SCRIPT_TIMEOUT,
                filter=bool(options.run),
                list_only=options.dry_run,
                runs=options.runs,
            )
            with host, Woken(host.wake_descriptor):
                return self._with_host(host)
        finally:
            try:
                if self._service is not None:
                    self._service.close()
            finally:
                self._calls.close()

    def _with_host(self, host: ScriptHost | None) -> int:
        options, environment = self._options, self._environment
        inputs = resolve_inputs(options, self._application, environment.directory)
        modules = [item for item in inputs if isinstance(item, TestModule)]
        writes_cases = options.dry_run and any(isinstance(item, GeneratorInput) for item in inputs)
        if writes_cases:
            from runner.planning.generators import check_outputs, write_cases

            check_outputs(options.outputs)
        context = self._context = build_context(options, environment.directory)
        sources, warnings = self._sources([item for item in inputs if not isinstance(item, TestModule)], context)
        matched = any(source.selected for source in sources)
        ids = (id for source in sources for id in source.ids())
        if self._selection is not None and not matched and not modules:
            raise self._selection.nothing(ids)
        found = len(modules)
        if options.shard is not None:
            modules, sources = self._part(options.shard, modules, sources)
        self._stop.heeded = True
        if host is not None:
            self._stop.listen(host.wake)
        of_modules = {module.id: suite_of(module) for module in modules}
        of_cases = {source.suite.id: source.suite for source in sources}
        by_id = of_modules | of_cases
        root = str(repository_of(self._application.root))
        suites = tuple(by_id[item.id].replace(root=root) for item in inputs if item.id in by_id)
        taken = self._take_up(modules, sources, suites)
        if taken is not None:
            sources, warnings = taken.sources, [*warnings, *taken.warnings]
        self._snapshot_files = {module.id: module.test for module in modules}
        self._snapshot_files |= {source.suite.id: Path(source.suite.file) for source in sources if source.suite.file}
        if taken is not None and taken.kept is not None:
            self._done = {module.id: taken.kept.statuses(module.id) for module in modules}
        self._check_references(sources, [])
        records: Iterator[HostRecord] = iter(())
        if host is not None:
            records = host.run([host_module(module, context) for module in modules], self._stop.left)
            if self._selection is not None and not matched and len(modules) == found:
                begun = self._selection.begun(records, self._done, options.dry_run, ids)
                records = begun.records
                if begun.error is not None and not self._stop.reason:
                    raise begun.error
        going_on = taken.file if taken else None
        console = Console(options, environment)
        self._progress = console.progress
        outputs = () if writes_cases else options.outputs
        reporters = open_reporters(console, sources, outputs, going_on, partial(self._reporter, context))
        watch = self._watch()
        stream = self._stream([*reporters, watch] if watch else reporters)
        who = {"user_id": context["authorized"]["user_id"], "team_id": context["authorized"]["team_id"]}
        total = None if modules else sum(source.selected for source in sources)
        repetition = Repetition(stream.send, options.runs, options.min_pass_rate, stream.checked, options.strict)
        where = {**who, "locale": context["locale"]}
        runs, least = options.runs, options.min_pass_rate
        made_of, flags = taken.material if taken else None, flags_of(options)
        guarded = Guarded(stream.send, self._stop, environment, options.verbose > 1)
        unlisted = 0
        with guarded("running the tests"):
            stream.send(
                RunStart(
                    started_at=environment.now(),
                    version=VERSION,
                    suites=suites,
                    environment=where,
                    total_cases=total,
                    runs=runs,
                    min_pass_rate=least,
                    resume=made_of,
                    flags=flags,
                )
            )
            for warning in warnings:
                stream.send(Warned(message=warning))
            _collect_garbage()
            done = self._send_kept(taken, suites, repetition)
            self._open_budgets()
            if host is not None:
                of_modules_run = ScriptRun(
                    host=host,
                    stream=stream,
                    repetition=repetition,
                    fail_fast=options.fail_fast,
                    done=done,
                    records=records,
                    selection=self._selection,
                )
                unlisted = run_scripts(of_modules_run, [module.id for module in modules])
            if sources and not self._stop.reason and not (options.fail_fast and stream.execution.counts.bad):
                self._run_cases(sources, context, stream, repetition)
        if self._budgets is not None:
            self._budgets.end()
        snapshots = None
        with guarded("storing the snapshots"):
            snapshots = self._finish_snapshots(watch, stream)
        listed = stream.execution.listed
        unlisted += sum(source.selected for source in sources if source.suite.id not in listed)
        status, reason, left = status_of(stream.execution, self._stop, unlisted, options.fail_fast, guarded.broke)
        stream.send(
            RunEnd(
                status=status,
                seconds=environment.monotonic() - self._started,
                completed_at=environment.now(),
                stopped=reason,
                not_run=left,
                snapshots=snapshots,
            )
        )
        stream.close()
        for error in stream.untold:
            environment.stderr.write(f"Error: {error.message}\n")
        written = stream.written()
        if writes_cases:
            written = write_cases(sources, options.outputs, environment.directory, environment.secrets.text)
        if not options.quiet:
            self._name(written, console)
        return exit_code_of(stream.execution, options, environment, self._stop)

    def _name(self, written: list[Path], console: Console) -> None:
        """Says which files of `--output` were written; of devices and pipes nothing."""
        directory = self._environment.directory
        asked = dict.fromkeys(report_path(output, directory) for output in self._options.outputs)
        for path in asked:
            if path in written and path.is_file():
                shown = path.relative_to(directory) if path.is_relative_to(directory) else path
                console.write(f"Wrote {shown}\n")

    def _watch(self) -> SnapshotWatch | None:
        """What finds obsolete snapshots, where there are any."""
        if not any((path.parent / "__snapshots__").is_dir() for path in set(self._snapshot_files.values())):
            return None
        from runner.execution.snapshots import SnapshotWatch

        return SnapshotWatch()

    def _finish_snapshots(self, watch: SnapshotWatch | None, stream: Multiplexer) -> SnapshotCounts | None:
        if watch is None and self._snapshots.used is None:
            return None
        from runner.execution.snapshots import finish

        counts, problem = finish(self._snapshots, watch, self._options, self._stop, stream.execution)
        if problem is not None:
            stream.send(problem)
        return counts

    def _part(
        self, text: str, modules: list[TestModule], sources: list[CaseSource]
    ) -> tuple[list[TestModule], list[CaseSource]]:
        """What belongs to the shard of this run."""
        from runner.planning.shards import part_of, read_shard

        shard, root = read_shard(text), self._application.root
        parts = [part_of(source, shard, root) for source in sources]
        return [module for module in modules if shard.has(module.id)], [part for part in parts if part is not None]

    def _take_up(self, modules: list[TestModule], sources: list[CaseSource], suites: tuple[Suite, ...]) -> Taken | None:
        """What is taken from the run that this one resumes; for a run without a `.jsonl` report, nothing."""
        options = self._options
        self._resumable = not options.dry_run and bool(
            options.resume
            or any(output.lower().endswith(".jsonl") for output in options.outputs)
            or (not options.outputs and any(source.suite.file for source in sources))
        )
        if not self._resumable:
            return None
        from runner.planning.resume import take_up

        return take_up(options, self._application, modules, sources, suites, self._environment.directory)

    def _send_kept(
        self, taken: Taken | None, suites: tuple[Suite, ...], repetition: Repetition
    ) -> dict[str, Collection[int]]:
        """Puts the kept results into the stream; the positions of those of test modules."""
        if taken is None or taken.kept is None:
            return {}
        from runner.planning.resume import results_of

        for result in results_of(taken.kept, suites):
            repetition.end(result)
        modules = [suite.id for suite in suites if suite.kind == "script_test"]
        return {id: taken.kept.places(id) for id in modules}

    def _open_budgets(self) -> Budgets | None:
        options = self._options
        if options.dry_run or (options.max_cost, options.max_tokens, options.max_duration) == (None, None, None):
            return None
        from runner.execution.budgets import Budgets

        self._budgets = Budgets(options, self._stop)
        return self._budgets

    def _sources(
        self, inputs: list[CaseInput | GeneratorInput], context: dict[str, Any]
    ) -> tuple[list[CaseSource], list[str]]:
        if not inputs:
            return [], []
        from runner.planning.sources import open_sources

        generate = partial(self._generate, context)
        directory = self._environment.directory
        return open_sources(inputs, self._options, self._application, directory, generate, self._check_references)

    def _check_references(self, sources: list[CaseSource], generators: list[GeneratorInput]) -> None:
        """Raises ConfigurationError when the cases that will run, or flags, name what is not there, or the connector of
        `--connector` cannot be used."""
        if not sources and not generators:
            return
        from runner.agents.assistant import Assistants
        from runner.planning.resolution import check_references, named_by

        if generators and self._options.shard is not None:
            _, sources = self._part(self._options.shard, [], sources)
        folders = {source.assistant.id: source.assistant.folder for source in sources}
        folders |= dict(Assistants(self._application).find(generator.agent) for generator in generators)
        named = named_by(sources, generators, self._options, folders)
        for first in named:
            service = self._agents()
            service.run(check_references(chain([first], named), service.runtime, self._application))
        if self._options.connector and not self._options.dry_run:
            connectors = self._agents().runtime.connectors
            find = connectors.get if self._options.replay is None else connectors.model
            find(connectors.resolve(self._options.connector))

    def _generate(self, context: dict[str, Any], input: GeneratorInput) -> tuple[list[Case], list[str]]:
        """Has cases made; on a terminal a line says so meanwhile."""
        from runner.planning.generators import generate

        options, stdout, directory = self._options, self._environment.stdout, self._environment.directory
        folder = absolute(options.outputs[0], directory).parent if options.dry_run and options.outputs else directory
        shows = self._environment.terminal and not options.quiet
        if shows:
            stdout.write(f"Generating cases with {input.reference} ...")
            stdout.flush()
        try:
            return self._agents().run(generate(input, self._setting(context), folder, options.lenient))
        finally:
            if shows:
                stdout.write("\r\x1b[K")

    def _run_cases(
        self, sources: list[CaseSource], context: dict[str, Any], stream: Multiplexer, repetition: Repetition
    ) -> None:
        if self._options.dry_run:
            for source in sources:
                names = tuple(case.id for _, case in source.cases())
                stream.send(
                    SuiteStart(suite=source.suite.id, selected=source.selected, total=source.total, tests=names)
                )
                stream.send(SuiteEnd(suite=source.suite.id))
            return
        from asyncio import CancelledError
        from contextlib import suppress

        from runner.execution.scheduler import Plan, run_cases

        options = self._options
        setting, parallel = self._setting(context), options.parallel or 1
        plan = Plan(
            setting=setting,
            parallel=parallel,
            fail_fast=options.fail_fast,
            before=options.before,
            after=options.after,
            stop=self._stop,
        )
        with suppress(CancelledError):
            self._agents().run(run_cases(sources, plan, stream.send, repetition), self._stop)

    def _setting(self, context: dict[str, Any]) -> CaseEnvironment:
        from runner.modes.base import CaseEnvironment

        options, service = self._options, self._agents()
        return CaseEnvironment(
            application=self._application,
            runtime=service.runtime,
            helpers=service.helpers,
            context=context,
            user=options.user,
            team=options.team,
            connector=options.connector or "",
            timeout=options.timeout or DEFAULT_CASE_TIMEOUT,
            snapshot=self._snapshots.matcher,
            threshold=DEFAULT_THRESHOLD if options.threshold is None else options.threshold,
            simulator=options.simulator or "",
            on_missing_input=options.on_missing_input or "skip",
            interactive=options.interactive,
            person=self._person(),
            digests=self._resumable,
            require_judge=options.require_judge,
        )

    def _person(self) -> Person | None:
        """Who is asked at the terminal; nobody with `--skip-interactive`."""
        if self._options.skip_interactive:
            return None
        from runner.execution.interactive import Person

        clean = self._environment.secrets.text
        ci = self._environment.ci
        return Person(ci, clean, self._progress.paused) if self._progress else Person(ci, clean)

    def _agents(self) -> AgentService:
        if self._service is None:
            from runner.agents.service import AgentService
            from runner.application.dotenv import named_variables

            environment, options = self._environment, self._options
            variables = {**named_variables(self._application.root, environment.variables), **environment.variables}
            environment.secrets.add_application(self._application.root, variables)
            self._service = AgentService(
                self._application,
                self._calls,
                self._context,
                variables,
                worker_command(self._parts),
                environment.cpus,
                options.connector or "",
                options.timeout or DEFAULT_CASE_TIMEOUT,
                self._recording,
            )
            if self._budgets is not None:
                self._service.runtime.on_usage = self._budgets.spend
        return self._service

    def _open_recording(self) -> Recording | None:
        options, environment = self._options, self._environment
        if (options.record, options.replay, options.record_missing) == (None, None, None):
            return None
        from runner.connectors.recording import open_recording

        return open_recording(options, environment.directory, self._application.root, environment.secrets.text)

    def _stream(self, reporters: list[Reporter]) -> Multiplexer:
        options, secrets = self._options, self._environment.secrets
        if self._recording is None:
            return Multiplexer(reporters, secrets)
        from runner.execution.recorded import RecordedStream

        whole = not (options.run or options.dry_run or options.fail_fast or options.shard)
        return RecordedStream(reporters, secrets, self._recording, whole)

    def _answer(self, module: str, test: str, name: str, args: list[Any]) -> Any:
        return self._agents().answer(module, test, name, args)

    def _reporter(self, context: dict[str, Any], id: str, target: Path | TextIO) -> Maker:
        """The reporter of `--reporter`: a built-in one, or an agent of the application."""
        is_agent = any(known == id for known, _ in self._application.agents())
        if id in BUILT_IN or (id.startswith("report.") and not is_agent):
            return maker_by_id(id, target)
        from runner.reporters.files.agent import agent_maker

        options = self._options
        timeout = options.timeout or DEFAULT_CASE_TIMEOUT
        return agent_maker(id, target, self._agents(), context, timeout, bool(options.verbose))

    def _policy(self) -> Policy:
        if self._permitted is None:
            from bindings import Policy
            from runner.application.dotenv import named_variables

            environment, root = self._environment, self._application.root
            named = named_variables(root, environment.variables)
            environment.secrets.add_application(root, {**named, **environment.variables})
            self._permitted = Policy(
                allow_net=self._options.allow_net or None, environment=named, keep_secret=environment.secrets.add
            )
        return self._permitted


def _collect_garbage() -> None:
    """From here on unreachable cycles are collected, seldom, and what was loaded so far is not looked at."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
