"""Carries out the plan of a run: it sends the first events, runs the tests, and always sends the end of the run."""

from __future__ import annotations

import gc

from runner.errors import shown_path
from runner.execution.ending import Guarded, ending_of, exit_code_of, name_written, say_baseline
from runner.execution.listeners import Listeners
from runner.execution.repetition import Repetition
from runner.execution.services import RunServices
from runner.execution.services_of_tests import TestServices
from runner.execution.stopping import Stop
from runner.options.readers import LINES
from runner.planning.plan import RunPlan
from runner.reporters.console.rerun_command import flags_of
from runner.reporters.opening import Console
from runner.results.events import RunEnd, RunStart, RunStatus, Warned
from runner.results.looks import ONCE, Looks
from runner.version import VERSION
from scripttest import missing_walls, sandbox_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from runner.environment import Environment
    from runner.execution.observing import Observer, Remote
    from runner.execution.outcome import Lines, Outcome
    from runner.execution.scripts import ScriptModules
    from runner.execution.snapshots import SnapshotWatch
    from runner.execution.stopping import Budgets
    from runner.execution.tally import Rounds
    from runner.options.options import RunOptions
    from runner.reporters.stream import Multiplexer
    from runner.results.coverage import CoverageReport
    from runner.results.events import SnapshotCounts
    from scripttest import Coverage


class Session:
    """Carries out one plan."""

    def __init__(
        self,
        *,
        plan: RunPlan,
        environment: Environment,
        services: RunServices,
        tests: TestServices,
        stop: Stop,
        modules: ScriptModules | None,
        traces: bool,
        started: float,
        observer: Observer | None,
        coverage: Coverage | None = None,
        remote: Remote | None = None,
    ) -> None:
        """`modules`: the test modules, which have begun; `traces`: results get fingerprints, which say what they
        depend on."""
        self._traces = traces
        self._observer = observer
        self._coverage = coverage
        self._remote = remote
        self._plan = plan
        self._options = plan.options
        self._environment = environment
        self._services = services
        self._tests = tests
        self._stop = stop
        self._started = started
        self._modules = modules
        self._outcome: Outcome | Lines | None = None
        """Makes the output of `--json`."""
        self._rounds: Rounds | None = None
        self._budgets: Budgets | None = None

    def run(self) -> int:
        """Carries out the plan and returns the exit code; blocks. Errors that break the tests become errors of the run,
        which ends like any other. Raises ConfigurationError when `--run` turns out to match nothing."""
        options, environment, services = self._options, self._environment, self._services
        if self._modules is not None:
            self._modules.begin()
        self._stop.heeded = True
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
            if self._remote is not None:
                unlisted = self._run_remote(self._remote, stream, repetition)
            else:
                unlisted = self._run_modules(stream, repetition)
                self._run_cases(stream, repetition)
        if self._budgets is not None:
            with guarded("ending the budgets"):
                self._budgets.end()
        with guarded("counting what broke"):
            self._say_errors(stream)
        with guarded("closing the journal of model calls"):
            self._finish_journal(stream)
        kept = None
        if services.databases is not None:
            with guarded("storing the databases"):
                for warning in services.databases.warnings:
                    stream.send(Warned(message=warning))
                services.worlds.close()
                kept = services.databases.finish()
        snapshots = None
        with guarded("storing the snapshots"):
            snapshots = self._finish_snapshots(None if guarded.broke else watch, stream)
        covered = None
        if self._coverage is not None:
            with guarded("counting what ran"):
                covered = self._covered(stream)
        with guarded("ending the run"):
            self._send_end(stream, unlisted, guarded.broke, snapshots, covered)
        if stream.execution.end is None:
            seconds = environment.monotonic() - self._started
            stream.send(RunEnd(status=RunStatus.ERROR, seconds=seconds, completed_at=environment.now()))
        stream.close()
        if self._outcome is not None:
            return self._print_outcome(stream)
        for error in stream.untold:
            environment.stderr.write(f"Error: {error.message}\n")
        for line in self._tests.kinds.said if self._tests.kinds is not None else ():
            console.write(f"{line}\n")
        name_written(stream.written(), options, environment, console.write)
        if options.kept_baseline is not None:
            say_baseline(self._plan, environment, console.write)
        if kept is not None and not options.quiet:
            console.write(f"Wrote {shown_path(kept, environment.directory)}\n")
        return exit_code_of(stream.execution, options, environment, self._stop)

    def _print_outcome(self, stream: Multiplexer) -> int:
        """Prints the document of `--json` and returns the exit code."""
        from io import StringIO

        assert self._outcome is not None
        said = StringIO()
        for error in stream.untold:
            said.write(f"Error: {error.message}\n")
        code = exit_code_of(stream.execution, self._options, self._environment.replace(stderr=said), self._stop)
        self._environment.stdout.write(self._outcome.text(code, said.getvalue(), stream.written()))
        return code

    def _open_stream(self, console: Console, watch: SnapshotWatch | None) -> Multiplexer:
        """Opens the reporters. Raises ConfigurationError."""
        if self._options.json:
            from runner.execution.outcome import Lines, Outcome

            stdout, directory = self._environment.stdout, self._environment.directory
            self._outcome = Lines(stdout) if self._options.json == LINES else Outcome(self._options, directory)
        listeners = Listeners(
            plan=self._plan,
            environment=self._environment,
            services=self._services,
            tests=self._tests,
            stop=self._stop,
            observer=self._observer,
            runs_here=self._remote is None,
        )
        return listeners.open(console, self._outcome, watch)

    def _watch(self) -> SnapshotWatch | None:
        """Finds obsolete snapshots, if there are any snapshots."""
        if self._remote is not None or self._plan.is_part:
            return None
        if not any((path.parent / "__snapshots__").is_dir() for path in set(self._plan.test_files.values())):
            return None
        from runner.execution.snapshots import SnapshotWatch

        return SnapshotWatch()

    def _finish_journal(self, stream: Multiplexer) -> None:
        """Closes the journal of model calls, and deletes it when no later run can use it."""
        if self._services.journal is None:
            return
        run = stream.execution
        self._services.journal.close(complete=self._stop.reason is None and len(run.ended) == len(run.suites))
        for warning in self._services.journal_warnings:
            stream.send(Warned(message=warning))

    def _send_start(self, stream: Multiplexer) -> None:
        plan, options = self._plan, self._options
        agents = {suite.agent for suite in plan.suites}
        context = plan.context_of(*agents) if len(agents) == 1 else plan.context
        typed = plan.settings.typed or options
        result_flags = _result_flags(options.placed(plan.application.root, self._environment.directory))
        stream.send(
            RunStart(
                started_at=self._environment.now(),
                version=VERSION,
                suites=plan.suites,
                environment={
                    **_who(context),
                    **sandbox_of(missing_walls() if self._remote is None else self._remote.missing_walls),
                },
                who_of={agent: _who(plan.context_of(agent)) for agent in agents},
                total_cases=plan.total_cases,
                runs=options.runs,
                min_pass_rate=options.min_pass_rate,
                resume=plan.resume.origin if plan.resume else None,
                notes=plan.notes,
                flags=flags_of(typed),
                shard=str(options.shard) if options.shard is not None else None,
                regraded_from=plan.transcripts.report if plan.transcripts else None,
                result_flags=() if result_flags == _result_flags(typed) else result_flags,
                run_id=plan.run_id or None,
                run_ids=plan.transcripts.run_ids if plan.transcripts else (),
            )
        )
        for warning in plan.warnings:
            stream.send(Warned(message=warning))

    def _send_retained(self, repetition: Repetition) -> None:
        """Sends the results that are kept from an earlier run."""
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
        from runner.execution.stopping import Budgets

        self._budgets = Budgets(options, self._stop)
        self._services.count_usage(self._budgets)

    def _run_remote(self, remote: Remote, stream: Multiplexer, repetition: Repetition) -> int:
        """Runs all tests on other machines, and returns how many were not even listed."""
        from runner.execution.observing import PlanRun

        run = PlanRun(
            plan=self._plan,
            send=stream.send,
            repetition=repetition,
            stop=self._stop,
            services=self._services,
            rounds=self._open_rounds(repetition),
        )
        return remote.run(run)

    def _run_modules(self, stream: Multiplexer, repetition: Repetition) -> int:
        """Runs the test modules, and returns how many tests have sent nothing when too many have failed."""
        if self._modules is None:
            return 0
        unlisted = self._modules.run(stream.send, repetition)
        if self._observer is None:  # else the next run takes the processes over
            self._modules.kill()
        return unlisted

    def _run_cases(self, stream: Multiplexer, repetition: Repetition) -> None:
        """Runs the cases, unless the run has been stopped."""
        options, plan = self._options, self._plan
        limit = options.failure_limit
        if not plan.sources or self._stop.reason or (limit is not None and repetition.failures >= limit):
            return
        from asyncio import CancelledError
        from contextlib import suppress

        from runner.execution.case_schedule import CaseSchedule
        from runner.execution.scheduler import run_cases

        schedule = CaseSchedule(
            cases=self._tests.cases(options, plan.context, self._traces),
            own={
                agent: self._tests.cases(own, plan.context_of(agent), self._traces)
                for agent, own in plan.settings.agents.items()
            },
            parallel=options.parallel or 1,
            max_failures=limit,
            failure_flag=options.failure_flag,
            arrange=plan.order.tests if plan.order is not None else None,
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
        from runner.execution.tally import Rounds

        self._rounds = Rounds(self._options.runs, self._plan.sources, repetition.open_results)
        return self._rounds

    @property
    def _looks(self) -> Looks:
        if self._plan.transcripts is not None:
            return self._plan.transcripts.looks
        return Looks(made=self._rounds.made, planned=self._rounds.planned) if self._rounds is not None else ONCE

    def _say_errors(self, stream: Multiplexer) -> None:
        """Prints how many tests broke, and how many may break."""
        allowed, errors = self._options.max_errors, stream.execution.counts.errors
        if allowed is not None and errors:
            said = "1 test broke" if errors == 1 else f"{errors} tests broke"
            stream.send(Warned(message=f"{said}; --max-errors is {allowed}"))

    def _finish_snapshots(self, watch: SnapshotWatch | None, stream: Multiplexer) -> SnapshotCounts | None:
        snapshots = self._tests.snapshots
        if watch is None and snapshots.used is None and snapshots.used_inline is None:
            return None
        from runner.execution.snapshots import finish

        return finish(snapshots, watch, self._options, self._stop, stream.execution, stream.send)

    def _covered(self, stream: Multiplexer) -> CoverageReport:
        """The coverage of the run. Warns about files that cannot be read."""
        from runner.execution.covering import coverage_of

        assert self._coverage is not None
        found = coverage_of(self._coverage, self._options.coverage_thresholds, self._plan.application.root)
        for miss in found.misses:
            stream.send(Warned(message=miss))
        for path, file in found.files.items():
            if "unread" in file:
                said = f"{path} counts as not covered, because it cannot be read: {file['unread']}"
                stream.send(Warned(message=said))
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
        ending = ending_of(stream.execution, self._stop, unlisted, self._options, broke)
        kinds = self._tests.kinds
        misses = (kinds is not None and kinds.is_worse) or (coverage is not None and coverage.misses)
        fails = misses and ending.status == RunStatus.PASSED
        stream.send(
            RunEnd(
                status=RunStatus.FAILED if fails else ending.status,
                seconds=self._environment.monotonic() - self._started,
                completed_at=self._environment.now(),
                stopped=ending.stopped,
                not_run=ending.not_run,
                snapshots=snapshots,
                looks=self._looks,
                coverage=coverage,
            )
        )


def _result_flags(options: RunOptions) -> tuple[str, ...]:
    return tuple(options.words(lambda flag: flag.changes_results))


def _collect_garbage() -> None:
    """From here on unreachable cycles are collected, seldom, and what was loaded so far is not looked at; unless this
    process has collected them all along."""
    if gc.isenabled():
        return
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def _who(context: Mapping[str, Any]) -> dict[str, str]:
    """Whose context it is."""
    who = context["authorized"]
    return {"user_id": who["user_id"], "team_id": who["team_id"], "locale": context["locale"]}
