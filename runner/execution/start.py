"""The way of a run from what the command line asks to the exit code: it is planned, opened, and carried out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from bindings import SCRIPT_PARTS
from runner import exit_codes
from runner.application.application import Application
from runner.errors import ConfigurationError
from runner.execution.run import Observer, Remote, Run
from runner.execution.services import RunServices
from runner.execution.stopping import Interrupted, Signals, Stop, woken
from runner.planning.last_failed import kept_folder
from runner.planning.planner import make_plan, with_contexts
from scripttest import EVERY_RUN, belongings_of, written_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.environment import Environment
    from runner.options.options import RunOptions
    from runner.planning.plan import RunRequest
    from scripttest import Coverage, Processes, ScriptHost


def check_sandbox(options: RunOptions, environment: Environment) -> None:
    """With --verbose, prints which walls around scripts the operating system cannot put up, unless the tests run on a
    cluster; with --sandbox=require, raises ConfigurationError if there is any."""
    if options.sandbox is None and not options.verbose:
        return
    from scripttest import missing_walls

    missing = [f"{name}: {why}" for name, why in missing_walls().items()]
    if missing and options.sandbox is not None:
        raise ConfigurationError(
            f"Cannot run with --sandbox=require: this machine lacks {len(missing)} sandbox walls\n  "
            + "\n  ".join(missing),
            "yao-test doctor lists them all; docs/security.md explains what they protect",
        )
    if missing and options.verbose and options.cluster is None:
        environment.stderr.write("Note: this machine lacks sandbox walls\n  " + "\n  ".join(missing) + "\n")


def check_trust(request: RunRequest) -> None:
    """With --require-trust or --trust-from, raises ConfigurationError where something is not approved."""
    options, environment = request.options, request.environment
    if options.require_trust or options.trust_from:
        from runner.application.trust import require

        commit = require(options, request.application.root, environment.directory, environment.variables)
        if commit and not options.quiet:
            environment.stderr.write(f"Approved by yao-test.trust of {options.trust_from}, commit {commit}\n")


def run(
    request: RunRequest,
    processes: Processes | None,
    *,
    observer: Observer | None = None,
    coverage: Coverage | None = None,
    remote: Remote | None = None,
) -> int:
    """Runs what is asked for, reports it, and returns the exit code. Raises Interrupted for a signal before anything
    runs, and ConfigurationError before anything is reported.

    Args:
        processes: run scripts; None for a run that has only case files.
        observer: watches the run; it gets the processes back.
        coverage: counts what the scripts run in `processes`; None without `--coverage`.
        remote: runs the tests instead of this machine."""
    options, environment = request.options, request.environment
    started, results = environment.monotonic(), environment.stdout
    stop, closed, is_heard = Stop(), None, False
    if observer is not None:
        stop, closed, is_heard = observer.stop, observer.closed, observer.hears_signals
    with nullcontext() if is_heard else _hearing(stop):
        belongings_of.cache_clear()  # another run may have found another state of the repository
        written_files.refused.clear()
        check_trust(request)
        root = request.application.root
        request = request.replace(application=Application(root, kept_folder(options, environment, root, "yaml")))
        if options.bench and not (options.dry_run or options.json):
            request = request.replace(environment=environment.replace(stdout=environment.stderr))
        request = with_contexts(request)
        with RunServices(request, coverage=coverage, closed=closed) as services:
            try:
                plan = make_plan(request, agents=services.agents, fingerprints=services.fingerprints)
                run = Run(plan, services, stop, started, results, observer, coverage, remote)
                if options.kinds != EVERY_RUN:
                    run.fuzz_or_benchmarks()
            except BaseException:
                if processes is not None:
                    processes.close()
                raise
            if remote is not None:
                _open_remote(run, remote)
            act = _list if options.dry_run else carry_out
            if processes is None:
                return act(run, None)
            with run.open_host(processes) as host:
                with nullcontext() if is_heard else woken(host.wake_descriptor), run:
                    code = act(run, host)
                if observer is not None:
                    observer.processes = host.release()
                return code


@contextmanager
def _hearing(stop: Stop) -> Iterator[None]:
    """In which signals stop a run; what comes before anything runs is raised as Interrupted."""
    try:
        with Signals(stop):
            yield
    except KeyboardInterrupt as error:
        raise Interrupted(stop.code or exit_codes.INTERRUPTED) from error


def carry_out(run: Run, host: ScriptHost | None) -> int:
    """Runs the tests of a run and returns the exit code; no host: it has only cases, or its tests run elsewhere."""
    if run.observer is not None and run.with_fingerprints:
        run.observer.begin(run.services.fingerprints().parts)
    modules = None
    if host is not None:
        from runner.execution.scripts import ScriptModules

        modules = ScriptModules(run, host)
        modules.compile()
    from runner.execution.session import Session  # loaded while the compiler works

    return Session(run, modules).run()


def _open_remote(run: Run, remote: Remote) -> None:
    """Connects to what runs the tests. Before, tests are listed here until `--run` matches one; where only a subtest
    may match, the tests that may have it run until one begins. Raises ConfigurationError when it matches none."""
    plan = run.plan
    try:
        if plan.selection is not None and not plan.matched and plan.retained is None:
            _check_selection(run)
        remote.open(run)
    except BaseException:
        if plan.resumed_report is not None:
            plan.resumed_report.close()
        raise


def _check_selection(run: Run) -> None:
    from runner.execution.scripts import host_modules
    from scripttest import start_processes

    plan, environment, stop = run.plan, run.environment, run.stop
    in_ci = environment.replace(variables={**environment.variables, "CI": "1"})  # which writes no snapshots
    looking = Run(plan.replace(environment=in_ci), run.services, stop)
    modules, selection = host_modules(plan), plan.selection
    assert selection is not None
    cases = [id for source in plan.sources for id in source.ids()]
    processes = start_processes(SCRIPT_PARTS, plan.application.root)
    with looking.open_host(processes, environment.cpus, lists=True) as host:
        partly = selection.may_match(host.run(modules, stop.left), cases)
        if not partly:
            return
        processes = host.release()
    with looking.open_host(processes, environment.cpus) as host, looking:
        modules = [module for module in modules if module.source.key in partly]
        selection.begun(host.run(modules, stop.left), lambda _: (), cases, lambda: bool(stop.reason))


def _list(run: Run, host: ScriptHost | None) -> int:
    """Prints the plan, writes generated cases to the files of `--output`, and returns the exit code."""
    from runner.execution.listing import print_plan
    from runner.execution.scripts import host_modules

    plan, environment = run.plan, run.environment
    records = host.run(host_modules(plan), run.stop.left) if host else iter(())
    code = print_plan(plan, records)
    if plan.writes_cases:
        from runner.execution.ending import name_written
        from runner.planning.generators import write_cases

        written = write_cases(plan.sources, plan.options.outputs, environment.directory, environment.secrets.text)
        if not plan.options.json:
            name_written(written, plan.options, environment, environment.stdout.write)
    return code
