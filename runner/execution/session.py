"""Carries out the plan of a run: it sends the first events, runs the tests, and always sends the end of the run."""

from __future__ import annotations

import gc
import os
from contextlib import suppress

from runner.errors import shown_path
from runner.execution.ending import ending_of, exit_code_of, goes_well, name_written, write_comparison
from runner.execution.listeners import open_stream
from runner.execution.repetition import Repetition
from runner.planning.last_failed import memory_of
from runner.record.events import ONCE, HookOutput, InterimLooks, RunEnd, RunStart, RunStatus, TestEnd, Warned
from runner.reporters import Console
from runner.reporters.console.style import flags_of
from runner.reporters.stream import Reporter
from runner.version import VERSION
from scripttest import missing_walls, sandbox_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from runner.execution.outcome import JsonOutcome
    from runner.execution.run import Run
    from runner.execution.scripts import ScriptModules
    from runner.execution.snapshots import SnapshotKeeper
    from runner.execution.stopping import Budgets
    from runner.options.options import RunOptions
    from runner.planning.plan import RunPlan
    from runner.record.coverage import CoverageReport
    from runner.record.events import Event, SnapshotCounts
    from runner.record.fold import Execution


class Unpassed(Reporter):
    """A receiver of events that knows which watches no test has passed."""

    def __init__(self, names: set[str]) -> None:
        """`names` are those of all."""
        self.names = names

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Looks for their values in the captured lines."""
        logs = event.result.logs if isinstance(event, TestEnd) else event.logs if isinstance(event, HookOutput) else ()
        for line in logs:
            if line.level == "watch":
                self.names = {
                    name for name in self.names if not line.text.startswith((f"{name} = ", f"{name} throws "))
                }


class Session:
    """Carries out one run, from its first event to its exit code."""

    def __init__(self, run: Run, modules: ScriptModules | None) -> None:
        """`modules`: the test modules, which have begun to compile."""
        self._run, self._modules = run, modules
        self._plan, self._options, self._environment = run.plan, run.options, run.environment
        self._broke = False
        self._budgets: Budgets | None = None
        self._unlisted = 0
        """How many tests of modules were not even listed."""
        self._database: Path | None = None
        self._counts: SnapshotCounts | None = None
        self._coverage: CoverageReport | None = None

    def run(self) -> int:
        """Carries out the run and returns the exit code; blocks. Errors that break the tests become errors of the run,
        which ends like any other. Raises ConfigurationError when `--run` turns out to match nothing."""
        run, environment = self._run, self._environment
        if self._modules is not None:
            self._modules.begin()
        run.stop.heeded = True
        self._console = Console(self._options, environment)
        run.progress = self._console.progress
        self._snapshots, watches = self._open_snapshots(), run.services.watches
        self._unpassed = Unpassed(watches.names) if watches is not None else None
        self._outcome: JsonOutcome | None = None
        if self._options.json:
            from runner.execution.outcome import JsonOutcome

            self._outcome = JsonOutcome(self._options, environment)
        own = [one for one in (self._snapshots, self._unpassed) if one is not None]
        self._stream = open_stream(run, self._console, self._outcome, own)
        self._send = self._stream.send
        self._repetition = Repetition(self._send, self._options, self._stream.checked)
        for doing, step in (
            ("running the tests", self._run_tests),
            ("counting errors", self._warn),
            ("closing the journal of model calls", self._close_journal),
            ("storing the databases", self._store_databases),
            ("storing the snapshots", self._store_snapshots),
            ("counting results", self._count_coverage),
            ("ending the run", self._send_end),
        ):
            tracebacks = environment.stderr if self._options.verbose > 1 else None
            self._broke |= not goes_well(step, doing, self._send, run.stop, tracebacks)
        if self._stream.execution.end is None:
            seconds = environment.monotonic() - run.started
            self._send(RunEnd(status=RunStatus.ERROR, seconds=seconds, completed_at=environment.now()))
        self._stream.close()
        return self._close()

    def _open_snapshots(self) -> SnapshotKeeper | None:
        """Stores snapshots as tests end, where results are stored, too; finds obsolete ones, if there are any."""
        plan, may_look = self._plan, self._run.remote is None and not self._plan.is_part
        watches = may_look and any((path.parent / "__snapshots__").is_dir() for path in set(plan.test_files.values()))
        if not (plan.resumable or watches):
            return None
        from runner.execution.snapshots import SnapshotKeeper

        return SnapshotKeeper(self._run, stores=plan.resumable, watches=watches)

    # the steps

    def _run_tests(self) -> None:
        run, options = self._run, self._options
        self._send_start()
        if not gc.isenabled():  # from here on it is, seldom, and not of what was loaded so far
            gc.freeze()
            gc.set_threshold(20_000, 20, 20)
            gc.enable()
        if self._plan.retained is not None:
            from runner.planning.resume import results_of

            for result in results_of(self._plan.retained, self._plan.suites):
                self._repetition.end(result)
        if (options.max_cost, options.max_tokens, options.max_duration) != (None, None, None):
            from runner.execution.stopping import Budgets

            self._budgets = Budgets(options, run.stop)
            run.services.count_usage(self._budgets)
        if options.until_decided:
            from runner.execution.repetition import Rounds

            self._repetition.rounds = Rounds(options.runs, self._plan.sources, self._repetition.open_results)
        if run.remote is not None:
            self._unlisted = run.remote.run(run, self._repetition)
            return
        if self._modules is not None:
            self._unlisted = self._modules.run(self._repetition)
            if run.observer is None:  # else the next run takes the processes over
                self._modules.kill()
        if self._plan.sources and not run.stop.reason and not self._repetition.has_failed_enough:
            from asyncio import CancelledError

            from runner.execution.scheduler import run_cases

            work = run_cases(run, self._repetition)
            with suppress(CancelledError):
                run.services.agents().run(work, lambda: run.stop.over)

    def _warn(self) -> None:
        if self._budgets is not None:
            self._budgets.end()
        allowed, errors = self._options.max_errors, self._stream.execution.counts.errors
        if allowed is not None and errors:
            ended = "1 test" if errors == 1 else f"{errors} tests"
            self._send(Warned(message=f"{ended} ended with an error, and --max-errors allows {allowed}"))
        for name in sorted(self._unpassed.names) if self._unpassed is not None else ():
            self._send(Warned(message=f"{name} was never reached, so it has no value"))

    def _close_journal(self) -> None:
        """Closes the journal of model calls, and deletes it when no later run can use it."""
        services, run = self._run.services, self._stream.execution
        if services.journal is None:
            return
        services.journal.close(complete=self._run.stop.reason is None and len(run.ended) == len(run.suites))
        for warning in services.journal_warnings:
            self._send(Warned(message=warning))

    def _store_databases(self) -> None:
        services = self._run.services
        if services.databases is None:
            return
        for warning in services.databases.warnings:
            self._send(Warned(message=warning))
        services.worlds.close()
        self._database = services.databases.finish()

    def _store_snapshots(self) -> None:
        keeper = self._snapshots
        if not keeper and not self._run.snapshots.is_used and self._run.inline_snapshots is None:
            return
        from runner.execution.snapshots import SnapshotKeeper

        keeper = keeper or SnapshotKeeper(self._run, stores=False, watches=False)
        self._counts = keeper.finish(self._stream.execution, self._send, looks=not self._broke)

    def _count_coverage(self) -> None:
        if self._run.coverage is None:
            return
        from runner.application.application import repository_of
        from runner.options.values import misses_in
        from runner.record.coverage import CoverageReport

        root = self._plan.application.root
        folder = os.path.relpath(root, repository_of(root))
        there = self._run.coverage.finish(self._plan.application.files_of_scripts())
        found = CoverageReport(files=there, folder="" if folder == os.curdir else folder)
        self._coverage = found.replace(misses=misses_in(found.miss, self._options.coverage_thresholds))
        for miss in self._coverage.misses:
            self._send(Warned(message=miss))
        for path, file in found.files.items():
            if "unread" in file:
                said = f"{path} counts as uncovered, because it cannot be read: {file['unread']}"
                self._send(Warned(message=said))

    def _send_end(self) -> None:
        run, execution = self._run, self._stream.execution
        unlisted = sum(source.selected for source in self._plan.sources if source.suite.id not in execution.listed)
        misses = run.kinds is not None and run.kinds.is_worse
        misses = misses or (self._coverage is not None and bool(self._coverage.misses))
        left, rounds = self._unlisted + unlisted, self._repetition.rounds
        looks = ONCE if rounds is None else InterimLooks(made=rounds.made, planned=rounds.planned)
        status, stopped, not_run = ending_of(execution, run.stop, left, self._options, broke=self._broke, misses=misses)
        self._send(
            RunEnd(
                status=status,
                seconds=self._environment.monotonic() - run.started,
                completed_at=self._environment.now(),
                stopped=stopped,
                not_run=not_run,
                snapshots=self._counts,
                looks=looks if self._plan.transcripts is None else self._plan.transcripts.looks,
                coverage=self._coverage,
            )
        )

    # the parts of the steps

    def _send_start(self) -> None:
        run, plan, options = self._run, self._plan, self._options
        agents = {suite.agent for suite in plan.suites}
        context = plan.context_of(*agents) if len(agents) == 1 else plan.context
        typed = plan.settings.typed or options
        result_flags = _result_flags(options.placed(plan.application.root, self._environment.directory))
        walls = missing_walls() if run.remote is None else run.remote.missing_walls
        self._send(
            RunStart(
                started_at=self._environment.now(),
                version=VERSION,
                suites=plan.suites,
                environment={**_user_of(context), **sandbox_of(walls)},
                who_of={agent: _user_of(plan.context_of(agent)) for agent in agents},
                total_cases=plan.total_cases,
                runs=options.runs,
                min_pass_rate=options.min_pass_rate,
                resume=plan.origin,
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
            self._send(Warned(message=warning))

    def _close(self) -> int:
        """Prints the last lines, or the document of `--json`, and returns the exit code."""
        run, stream, environment, options = self._run, self._stream, self._environment, self._options
        if self._outcome is not None:
            from io import StringIO

            said = StringIO()
            said.writelines(f"Error: {error.message}\n" for error in stream.untold)
            code = exit_code_of(stream.execution, options, environment.replace(stderr=said), run.stop)
            self._outcome.finish(code, said.getvalue(), stream.written(), run.kinds.as_json if run.kinds else {})
            return code
        for error in stream.untold:
            environment.stderr.write(f"Error: {error.message}\n")
        if run.kinds is not None:
            from runner.reporters.console.table import columns_of, table

            for line in run.kinds.closing_lines(lambda rows: table(rows, columns_of(environment))):
                self._console.write(f"{line}\n")
        name_written(stream.written(), options, environment, self._console.write)
        if options.kept_baseline is not None:
            write_comparison(self._plan, self._console.write)
        if self._database is not None and not options.quiet:
            self._console.write(f"Wrote {shown_path(self._database, environment.directory)}\n")
        if environment.terminal and not options.quiet:
            self._console.write(advice(self._plan, stream.execution))
        return exit_code_of(stream.execution, options, environment, run.stop)


def _result_flags(options: RunOptions) -> tuple[str, ...]:
    return tuple(options.words(lambda flag: flag.changes_results))


def _user_of(context: Mapping[str, Any]) -> dict[str, str]:
    user = context["authorized"]
    return {"user_id": user["user_id"], "team_id": user["team_id"], "locale": context["locale"]}


_ADVICE = "advice"
"""Remembers what has been said, a word in each line: in the store, else where failures are remembered."""
_LINES = {
    "failed": "Next: yao-test --last-failed -v reruns failed tests; yao-test watch reruns tests as you save\n",
    "ran": "Next: yao-test watch reruns tests as you save; yao-test view shows all runs\n",
}


def advice(plan: RunPlan, run: Execution) -> str:
    """A line that is said once; empty where it has been said, nothing can be kept, or no person reads it."""
    from runner.security.files import check_target

    options, environment = plan.options, plan.environment
    is_quiet = options.quiet or options.json or options.watch or options.no_writes
    if not environment.terminal or is_quiet or not run.counts.total:
        return ""
    memory = memory_of(plan.application.root, environment)
    path = plan.store.folder / _ADVICE if plan.store is not None else memory and memory.with_name(_ADVICE)
    if path is None:
        return ""
    what, said = "failed" if run.counts.failed else "ran", set[str]()
    with suppress(OSError, ValueError):
        said.update(path.read_text("utf-8").split())
    if what in said:
        return ""
    try:
        check_target(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{word}\n" for word in sorted({*said, what, "ran"})), "utf-8")
    except OSError:
        return ""
    return _LINES[what]
