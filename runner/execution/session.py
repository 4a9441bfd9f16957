"""The session of a run: its beginning, the tests, and its end, which always comes."""

from __future__ import annotations

import gc
from functools import partial
from typing import TYPE_CHECKING, Any

from bindings import DATABASE
from runner.cli.options import report_path
from runner.errors import RunnerError
from runner.execution.closing import Guarded
from runner.execution.ending import exit_code_of, status_of
from runner.execution.passes import Passes
from runner.execution.repetition import Repetition
from runner.execution.scripts import host_module, run_scripts
from runner.execution.services import RunServices, TestServices
from runner.execution.stopping import Stop
from runner.planning.plan import RunPlan
from runner.reporters.multiplexer import Multiplexer
from runner.reporters.opening import Console, open_reporters
from runner.reporters.rerun_command import flags_of
from runner.results.events import RunEnd, RunStart, RunStatus, Warned
from runner.version import VERSION
from scripttest import FUZZ, ScriptHost, kind_of, sandbox_of, system_walls

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from runner.cli.options import RunOptions
    from runner.environment import Environment
    from runner.execution.elsewhere import Elsewhere
    from runner.execution.observing import Observer
    from runner.execution.outcome import Outcome
    from runner.execution.rounds import Rounds
    from runner.execution.snapshots import SnapshotWatch
    from runner.planning.selection import Selection
    from runner.reporters.base import Reporter
    from runner.results.coverage import CoverageReport
    from runner.results.events import SnapshotCounts
    from scripttest import Compiled, Coverage, HostRecord, Source


class Session:
    """A plan, carried out."""

    def __init__(
        self,
        *,
        plan: RunPlan,
        environment: Environment,
        services: RunServices,
        tests: TestServices,
        selection: Selection | None,
        stop: Stop,
        host: ScriptHost | None,
        started: float,
        observer: Observer | None,
        coverage: Coverage | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._observer = observer
        self._coverage = coverage
        self._elsewhere = elsewhere
        self._traces = plan.resumable or (observer is not None and observer.traces)
        """Whether it is noted what results are made of."""
        self._plan = plan
        self._options = plan.options
        self._environment = environment
        self._services = services
        self._tests = tests
        self._selection = selection
        self._stop = stop
        self._host = host
        self._started = started
        self._outcome: Outcome | None = None
        """What `--json` prints of the run."""
        self._rounds: Rounds | None = None
        self._sources: Mapping[str, Source] = {}
        """The test modules, when their results have fingerprints."""

    def run(self) -> int:
        """From the first event to the exit code. Whatever breaks the tests, the run ends as every run does."""
        options, environment, services = self._options, self._environment, self._services
        self._stop.heeded = True
        records = self._begin_scripts()
        console = Console(options, environment)
        self._tests.progress = console.progress
        watch = self._watch()
        stream = self._open_stream(console, watch)
        repetition = Repetition(
            stream.send, options.runs, options.min_pass_rate, stream.checked, options.strict, options.on_inconclusive
        )
        guarded = Guarded(stream.send, self._stop, environment, options.verbose > 1)
        unlisted = 0
        with guarded("running the tests"):
            self._send_start(stream)
            _collect_garbage()
            self._send_retained(repetition)
            self._open_budgets()
            if self._elsewhere is not None:
                unlisted = self._elsewhere.run(self._plan, stream.send, repetition, self._stop, services)
            else:
                unlisted = self._run_scripts(records, stream, repetition)
                self._run_cases(stream, repetition)
        if services.budgets is not None:
            services.budgets.end()
        self._say_errors(stream)
        with guarded("closing the journal of model calls"):
            self._finish_journal(stream)
        kept = None
        if services.databases is not None:
            for warning in services.databases.warnings:
                stream.send(Warned(message=warning))
            with guarded("storing the databases"):
                services.worlds.close()
                kept = services.databases.finish()
        snapshots = None
        with guarded("storing the snapshots"):
            snapshots = self._finish_snapshots(None if guarded.broke else watch, stream)
        covered = None
        if self._coverage is not None:
            with guarded("counting what ran"):
                covered = self._covered(stream)
        self._send_end(stream, unlisted, guarded.broke, snapshots, covered)
        stream.close()
        if self._outcome is not None:
            return self._print_outcome(stream)
        for error in stream.untold:
            environment.stderr.write(f"Error: {error.message}\n")
        for line in self._tests.kinds.said if self._tests.kinds is not None else ():
            console.write(f"{line}\n")
        name_written(stream.written(), options, environment, console.write)
        if options.kept_baseline is not None:
            self._say_baseline(console)
        if kept is not None and not options.quiet:
            console.write(f"Wrote {shown_path(kept, environment.directory)}\n")
        return exit_code_of(stream.execution, options, environment, self._stop)

    def _say_baseline(self, console: Console) -> None:
        """Prints how the run differs from its baseline. Whatever cannot be compared costs no result."""
        from runner.execution.baseline import comparison_text

        options, store = self._options, self._plan.store
        assert options.kept_baseline is not None
        assert store is not None
        colors = self._environment.colors and not options.no_color
        try:
            console.write(comparison_text(store, options.kept_baseline, colors))
        except RunnerError as error:
            hint = f"Hint: {error.hint}\n" if error.hint else ""
            self._environment.stderr.write(f"Warning: {error.message}\n{hint}")

    def _print_outcome(self, stream: Multiplexer) -> int:
        """Prints the document of `--json`; the exit code."""
        from io import StringIO

        from runner.execution.outcome import text_of

        assert self._outcome is not None
        said = StringIO()
        for error in stream.untold:
            said.write(f"Error: {error.message}\n")
        code = exit_code_of(stream.execution, self._options, self._environment.replace(stderr=said), self._stop)
        document = self._outcome.document(code, said.getvalue(), stream.written())
        self._environment.stdout.write(text_of(document))
        return code

    def _begin_scripts(self) -> Iterator[HostRecord]:
        """What the host reports. With `--run`, it has begun when this returns: ConfigurationError is raised when that
        turns out to match nothing."""
        plan, host, stop = self._plan, self._host, self._stop
        if self._observer is not None:
            self._observer.begin(self._services.fingerprints().parts)
        if host is None:
            return iter(())
        stop.listen(host.wake)
        modules = [host_module(module, plan) for module in plan.modules]
        takers = [self._services.fingerprints().parts.take] if self._traces else []
        takers += [self._tests.other_kinds().fuzz().take] if self._options.fuzz else []
        if takers:

            def told(compiled: Compiled) -> None:
                for take in takers:
                    take(compiled)

            host.tell_compiled(told)
        if self._traces:
            self._sources = {module.source.key: module.source for module in modules}
        records = host.run(modules, stop.left)
        if self._selection is None or plan.matched:
            return records
        ids = (id for source in plan.sources for id in source.ids())
        begun = self._selection.begun(records, plan.retained_tests, ids)
        if begun.error is not None and not stop.reason:
            raise begun.error
        return begun.records

    def _open_stream(self, console: Console, watch: SnapshotWatch | None) -> Multiplexer:
        """Opens the reporters. Raises ConfigurationError."""
        plan, services, secrets = self._plan, self._services, self._environment.secrets
        resumed = plan.resume.resumed_report if plan.resume else None
        chosen = partial(services.reporter, plan.context)
        reporters: list[Reporter] = []
        if not plan.is_part:
            reporters = open_reporters(console, plan.case_folders, plan.options.outputs, resumed, chosen)
        if self._options.json:
            from runner.execution.outcome import Outcome

            self._outcome = Outcome(self._options, self._environment.directory)
            reporters.insert(0, self._outcome)  # it is closed last, and hears what the others say then
        if self._observer is not None:
            reporters.append(self._observer)
            self._tests.snapshots.before_writing = self._observer.writes
            if services.recording is not None and self._observer.held_back is not None:
                services.recording.held_back = self._observer.held_back
        if watch is not None:
            reporters.append(watch)
        if plan.resumable:
            from runner.execution.snapshots import SnapshotWriter

            reporters.insert(0, SnapshotWriter(self._tests.snapshots))
        self._keep_run(reporters)
        self._remember_failures(reporters)
        self._keep_answers(reporters)
        if services.recording is None or self._elsewhere is not None:
            return Multiplexer(reporters, secrets)
        from runner.execution.recorded import RecordedStream

        services.recording.set_messages(suite.id for suite in plan.suites if suite.is_message)
        return RecordedStream(reporters, secrets, services.recording, plan.is_whole)

    def _keep_run(self, reporters: list[Reporter]) -> None:
        """Has the run written into its store, if it has one."""
        plan = self._plan
        if plan.store is None:
            return
        from runner.cli.store_keep import STANDARD
        from runner.store.keeping import RunKeeper
        from runner.store.places import place_of
        from runner.store.revisions import revision_of

        paths = (getattr(reporter, "path", None) for reporter in reporters)
        reports = [path for path in paths if path is not None and path.suffix.lower() == ".jsonl"]
        reporters.append(
            RunKeeper(
                plan.store.folder,
                plan.store.run,
                revision_of(plan.application.root, self._environment.variables).replace(
                    place=place_of(plan.application.root)
                ),
                profile=self._options.profile,
                reports=tuple(str(shown_path(path, self._environment.directory)) for path in reports),
                keep=self._options.store_keep or (STANDARD,),
                now=self._environment.now,
            )
        )

    def _remember_failures(self, reporters: list[Reporter]) -> None:
        """Has what fails remembered for later runs, unless a store does that, or a saved run is graded again."""
        if self._plan.store is not None or self._plan.transcripts is not None:
            return
        from runner.planning.last_failed import memory_of

        root = self._plan.application.root
        memory = memory_of(root, self._environment)
        if memory is not None:
            from runner.execution.remembering import FailureMemory

            reporters.append(FailureMemory(memory, root))

    def _keep_answers(self, reporters: list[Reporter]) -> None:
        """Has the answers of models kept beside the first `.jsonl` report, if the run can be resumed."""
        plan = self._plan
        paths = (getattr(reporter, "path", None) for reporter in reporters)
        report = next((path for path in paths if path is not None and path.suffix.lower() == ".jsonl"), None)
        if plan.resume is not None and plan.resume.resumed_report is not None:
            report = plan.resume.resumed_report.path
        if report is None or not plan.resumable or not report.is_file():
            return
        from runner.execution.journaled import JournalWatch

        options, at_once = self._options, self._environment.cpus if plan.modules else 1
        self._services.keep_answers(report, goes_on=options.resume is not None, at_once=options.parallel or at_once)
        reporters.append(JournalWatch(self._services, self._stop))

    def _finish_journal(self, stream: Multiplexer) -> None:
        """Closes the journal of model calls, which is removed when no later run has a use for it."""
        if self._services.journal is None:
            return
        run = stream.execution
        self._services.journal.close(complete=self._stop.reason is None and len(run.ended) == len(run.suites))
        for warning in self._services.journal_warnings:
            stream.send(Warned(message=warning))

    def _send_start(self, stream: Multiplexer) -> None:
        plan, options = self._plan, self._options
        who = plan.context["authorized"]
        stream.send(
            RunStart(
                started_at=self._environment.now(),
                version=VERSION,
                suites=plan.suites,
                environment={
                    "user_id": who["user_id"],
                    "team_id": who["team_id"],
                    "locale": plan.context["locale"],
                    **sandbox_of(system_walls()),
                },
                total_cases=plan.total_cases,
                runs=options.runs,
                min_pass_rate=options.min_pass_rate,
                resume=plan.resume.origin if plan.resume else None,
                notes=plan.notes,
                flags=flags_of(plan.settings.typed or options),
                shard=str(options.shard) if options.shard is not None else None,
                regraded_from=plan.transcripts.report if plan.transcripts else None,
                run_id=plan.store.run if plan.store is not None else None,
            )
        )
        for warning in plan.warnings:
            stream.send(Warned(message=warning))

    def _send_retained(self, repetition: Repetition) -> None:
        """Puts the results of an earlier run into the stream."""
        resume = self._plan.resume
        if resume is None or resume.retained is None:
            return
        from runner.planning.resume import results_of

        for result in results_of(resume.retained, self._plan.suites):
            repetition.end(result)

    def _open_budgets(self) -> None:
        options = self._options
        if (options.max_cost, options.max_tokens, options.max_duration) == (None, None, None):
            return
        from runner.execution.budgets import Budgets

        self._services.count_usage(Budgets(options, self._stop))

    def _run_scripts(self, records: Iterator[HostRecord], stream: Multiplexer, repetition: Repetition) -> int:
        """Runs the test modules; how many of their tests were not even listed."""
        if self._host is None:
            return 0
        return run_scripts(
            host=self._host,
            records=records,
            modules=[module.id for module in self._plan.modules],
            send=stream.send,
            repetition=repetition,
            max_failures=self._options.failure_limit,
            retained=self._plan.retained_places,
            selection=self._selection,
            fingerprint=self._fingerprint if self._traces else None,
            passes=Passes(self._options.retry_errors, stream.send, self._stop),
            again=self._scripts_again,
            worlds=self._services.worlds,
            snapshots=self._tests.snapshots,
        )

    def _fingerprint(self, module: str, test: str) -> Mapping[str, Any]:
        """What a script test was made of; see `run_scripts`."""
        from runner.fingerprints.parts import part_of, parts_of_database

        assert self._host is not None
        fingerprints, root = self._services.fingerprints(), self._plan.application.root
        own = self._sources[module]
        agent = next(one.agent for one in self._plan.modules if one.id == module)
        parts = [part_of(source, root) for source in (own, *self._host.called_by(module))]
        world = self._services.worlds.known(module, test)
        parts += parts_of_database(world.held(DATABASE) if world is not None else None)
        if kind_of(test) == FUZZ:
            parts.append(f"corpus {shown_path(self._tests.other_kinds().fuzz().corpus_of(module, test), root)}")
        digests = {part: fingerprints.parts.of(part) for part in parts}
        return fingerprints.of_test(agent, {**digests, **self._services.parts_of(module, test)})

    def _run_cases(self, stream: Multiplexer, repetition: Repetition) -> None:
        """Runs the cases, unless the run is over already."""
        options, plan = self._options, self._plan
        limit = options.failure_limit
        if not plan.sources or self._stop.reason or (limit is not None and repetition.failures >= limit):
            return
        from asyncio import CancelledError
        from contextlib import suppress

        from runner.execution.scheduler import CaseSchedule, run_cases

        schedule = CaseSchedule(
            environment=self._tests.case_environment(options, plan.context, self._traces),
            own={
                agent: (plan.settings.of(agent, options), environment)
                for agent, environment in self._tests.case_environments(self._traces).items()
            },
            parallel=options.parallel or 1,
            max_failures=limit,
            failure_flag=options.failure_flag,
            arrange=plan.order.tests if plan.order is not None else None,
            before=options.before,
            after=options.after,
            repeat=options.repeat,
            rounds=self._open_rounds(repetition),
            retries=options.retry_errors,
            stop=self._stop,
        )
        with suppress(CancelledError):
            self._services.agents().run(
                run_cases(list(plan.sources), schedule, stream.send, repetition), lambda: self._stop.over
            )

    def _open_rounds(self, repetition: Repetition) -> Rounds | None:
        if not self._options.until_decided:
            return None
        from runner.execution.rounds import Rounds

        self._rounds = Rounds(self._options.runs, self._plan.sources, repetition.open_results)
        return self._rounds

    @property
    def _looks(self) -> tuple[int, int]:
        """Rounds that were made and planned."""
        if self._plan.transcripts is not None:
            return self._plan.transcripts.looks
        return (self._rounds.made, self._rounds.planned) if self._rounds is not None else (1, 1)

    def _say_errors(self, stream: Multiplexer) -> None:
        """Says how many tests broke, and how many may."""
        allowed, errors = self._options.max_errors, stream.execution.counts.errors
        if allowed is not None and errors:
            said = "1 test broke" if errors == 1 else f"{errors} tests broke"
            stream.send(Warned(message=f"{said}; --max-errors is {allowed}"))

    def _scripts_again(self, tests: Mapping[str, Collection[str] | None]) -> Iterator[HostRecord]:
        """Runs tests of modules again; None stands for all tests of a module."""
        assert self._host is not None
        self._tests.begin_again(tests)
        modules = [host_module(module, self._plan) for module in self._plan.modules if module.id in tests]
        return self._host.run(modules, self._stop.left)

    def _watch(self) -> SnapshotWatch | None:
        """What finds obsolete snapshots, where there are any."""
        if self._elsewhere is not None or self._plan.is_part:
            return None
        if not any((path.parent / "__snapshots__").is_dir() for path in set(self._plan.test_files.values())):
            return None
        from runner.execution.snapshots import SnapshotWatch

        return SnapshotWatch()

    def _finish_snapshots(self, watch: SnapshotWatch | None, stream: Multiplexer) -> SnapshotCounts | None:
        snapshots = self._tests.snapshots
        if watch is None and snapshots.used is None and snapshots.used_inline is None:
            return None
        from runner.execution.snapshots import finish

        counts, problem = finish(snapshots, watch, self._options, self._stop, stream.execution)
        if problem is not None:
            stream.send(problem)
        return counts

    def _covered(self, stream: Multiplexer) -> CoverageReport:
        """What the run has covered; says which files could not be counted."""
        from runner.execution.covering import coverage_of

        assert self._coverage is not None
        found = coverage_of(self._coverage, self._options.coverage_thresholds, self._plan.application.root)
        for miss in found.misses:
            stream.send(Warned(message=miss))
        for path in self._coverage.unread:
            stream.send(Warned(message=f"{path} is not counted: it could not be read for --coverage"))
        return found

    def _send_end(
        self,
        stream: Multiplexer,
        unlisted: int,
        broke: bool,
        snapshots: SnapshotCounts | None,
        coverage: CoverageReport | None,
    ) -> None:
        listed = stream.execution.listed
        unlisted += sum(source.selected for source in self._plan.sources if source.suite.id not in listed)
        status, reason, left = status_of(stream.execution, self._stop, unlisted, self._options, broke)
        kinds = self._tests.kinds
        misses = (kinds is not None and kinds.is_worse) or (coverage is not None and coverage.misses)
        if misses and status == RunStatus.PASSED:
            status = RunStatus.FAILED
        stream.send(
            RunEnd(
                status=status,
                seconds=self._environment.monotonic() - self._started,
                completed_at=self._environment.now(),
                stopped=reason,
                not_run=left,
                snapshots=snapshots,
                looks=self._looks,
                coverage=coverage,
            )
        )


def name_written(
    written: Collection[Path], options: RunOptions, environment: Environment, write: Callable[[str], object]
) -> None:
    """Says which files of `--output` were written; of devices and pipes nothing."""
    if options.quiet:
        return
    directory = environment.directory
    for path in dict.fromkeys(report_path(output, directory) for output in options.outputs):
        if path in written and path.is_file():
            write(f"Wrote {shown_path(path, directory)}\n")


def shown_path(path: Path, directory: Path) -> Path:
    """A path as it is named: from the working directory, where it is below that."""
    return path.relative_to(directory) if path.is_relative_to(directory) else path


def _collect_garbage() -> None:
    """From here on unreachable cycles are collected, seldom, and what was loaded so far is not looked at; unless this
    process has collected them all along."""
    if gc.isenabled():
        return
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
