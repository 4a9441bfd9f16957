"""Runs the tests of one command, from options to exit code: makes the plan, opens what is needed to run it, and lets a
`Session` carry it out."""

from __future__ import annotations

from bindings import SCRIPT_GLOBALS, SCRIPT_PARTS
from runner import exit_codes
from runner.execution.services import RunServices
from runner.execution.services_of_tests import TestServices
from runner.execution.stopping import Interrupted, Signals, Stop, Woken
from runner.options.options import Settings
from runner.planning.plan import RunRequest
from runner.planning.planner import make_plan, with_contexts
from scripttest import EVERY_RUN, belongings_of, written_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.application.application import Application
    from runner.environment import Environment
    from runner.execution.observing import Observer, Remote
    from runner.execution.scripts import ScriptModules
    from runner.options.options import RunOptions
    from runner.planning.plan import RunPlan
    from runner.planning.selection import Selection
    from scripttest import Coverage, Processes, ScriptHost


def run(
    options: RunOptions,
    environment: Environment,
    application: Application,
    processes: Processes | None,
    regraded_from: str | None = None,
    settings: Settings | None = None,
    observer: Observer | None = None,
    coverage: Coverage | None = None,
    remote: Remote | None = None,
) -> int:
    """Runs what the options name, reports it, and returns the exit code. Raises Interrupted for a signal before
    anything runs, and ConfigurationError before anything is reported.

    Args:
        processes: run scripts; None for a run that has only case files.
        regraded_from: the report whose answers are graded; then no agent is asked.
        settings: from the configuration file, if there is one.
        observer: watches the run; it gets the processes back.
        coverage: counts what the scripts run in `processes`; None without `--coverage`.
        remote: runs the tests instead of this machine.
    """
    stop = observer.stop if observer is not None else Stop()
    results = environment.stdout
    if options.bench and not options.dry_run:
        environment = environment.replace(stdout=environment.stderr)
    try:
        with Signals(stop):
            started = environment.monotonic()
            belongings_of.cache_clear()  # another run may have found another state of the repository
            written_files.refused.clear()
            if options.require_trust or options.trust_from:
                from runner.application.trust import require

                commit = require(options, application.root, environment.directory, environment.variables)
                if commit and not options.quiet:
                    environment.stderr.write(f"Approved by yao-test.trust of {options.trust_from}, commit {commit}\n")
            request = with_contexts(
                RunRequest(
                    options=options,
                    settings=settings or Settings(),
                    environment=environment,
                    application=application,
                    regraded_from=regraded_from,
                )
            )
            closed = observer.closed if observer is not None else None
            with RunServices(request, coverage=coverage, closed=closed) as services:
                try:
                    plan = make_plan(request, agents=services.agents, fingerprints=services.fingerprints)
                    selection = plan.selection
                    tests = TestServices(services, plan, selection, environment, results, lambda: bool(stop.reason))
                    if options.kinds != EVERY_RUN:
                        tests.other_kinds()
                except BaseException:
                    if processes is not None:
                        processes.close()
                    raise
                if remote is not None:
                    try:
                        if selection is not None and not (plan.matched or plan.retained_tests):
                            _check_selection(selection, plan, services, environment, stop)
                        remote.open(plan, services)
                    except BaseException:
                        if plan.resume is not None and plan.resume.resumed_report is not None:
                            plan.resume.resumed_report.close()
                        raise

                def carry_out(host: ScriptHost | None) -> int:
                    if options.dry_run:
                        return _list(plan, host, selection, stop, environment)
                    traces = plan.resumable or (observer is not None and observer.with_fingerprints)
                    if observer is not None:
                        observer.begin(services.fingerprints().parts)
                    modules = begun_modules(host, plan, services, tests, selection, stop, traces)
                    from runner.execution.session import Session  # loaded while the compiler works

                    return Session(
                        plan=plan,
                        environment=environment,
                        services=services,
                        tests=tests,
                        stop=stop,
                        modules=modules,
                        traces=traces,
                        started=started,
                        observer=observer,
                        coverage=coverage,
                        remote=remote,
                    ).run()

                if processes is None:
                    return carry_out(None)
                workers = 1 if options.fuzz or options.bench else options.parallel or environment.cpus
                with open_host(options, application, processes, tests, workers, coverage) as host:
                    with Woken(host.wake_descriptor), tests:
                        code = carry_out(host)
                    if observer is not None:
                        observer.processes = host.release()
                    return code
    except KeyboardInterrupt as error:
        raise Interrupted(stop.code or exit_codes.INTERRUPTED) from error


def begun_modules(
    host: ScriptHost | None,
    plan: RunPlan,
    services: RunServices,
    tests: TestServices,
    selection: Selection | None,
    stop: Stop,
    traces: bool,
) -> ScriptModules | None:
    """The test modules of a plan, whose compilation has begun; None without a host. `traces`: results get fingerprints,
    which say what they depend on."""
    if host is None:
        return None
    from runner.execution.scripts import ScriptModules

    modules = ScriptModules(
        host=host, plan=plan, services=services, tests=tests, selection=selection, stop=stop, traces=traces
    )
    modules.compile()
    return modules


def _check_selection(
    selection: Selection, plan: RunPlan, services: RunServices, environment: Environment, stop: Stop
) -> None:
    """Lists tests here until `--run` matches one, for a run that has them run elsewhere; where only a subtest may
    match, runs the tests that may have it until one begins. Raises ConfigurationError when it matches none."""
    from runner.execution.scripts import host_modules
    from scripttest import start_processes

    application, options = plan.application, plan.options
    in_ci = environment.replace(variables={**environment.variables, "CI": "1"})  # which writes no snapshots
    tests = TestServices(services, plan, selection, in_ci, stopped=lambda: bool(stop.reason))
    modules = host_modules(plan)
    cases = [id for source in plan.sources for id in source.ids()]
    processes = start_processes(SCRIPT_PARTS, application.root)
    with open_host(options.replace(dry_run=True), application, processes, tests, environment.cpus) as host:
        partly = selection.may_match(host.run(modules, stop.left), cases)
        if not partly:
            return
        processes = host.release()
    with open_host(options, application, processes, tests, environment.cpus) as host, tests:
        modules = [module for module in modules if module.source.key in partly]
        selection.begun(host.run(modules, stop.left), {}, cases, lambda: bool(stop.reason))


def open_host(
    options: RunOptions,
    application: Application,
    processes: Processes,
    tests: TestServices,
    workers: int,
    coverage: Coverage | None = None,
) -> ScriptHost:
    """Opens the script host with at most `workers` workers."""
    from scripttest import ScriptHost

    return ScriptHost(
        application.root,
        processes,
        tests.router,
        SCRIPT_GLOBALS,
        workers=workers,
        timeout=options.script_timeout,
        filter=bool(options.pattern),
        list_only=options.dry_run,
        runs=options.runs,
        seed=options.seed,
        instrument=coverage.instrument if coverage is not None else None,
        kinds=options.kinds,
    )


def _list(
    plan: RunPlan, host: ScriptHost | None, selection: Selection | None, stop: Stop, environment: Environment
) -> int:
    """Prints the plan, writes generated cases to the files of `--output`, and returns the exit code."""
    from runner.execution.listing import print_plan
    from runner.execution.scripts import host_modules

    records = host.run(host_modules(plan), stop.left) if host else iter(())
    code = print_plan(plan, records, selection, environment)
    if plan.writes_cases:
        from runner.execution.ending import name_written
        from runner.planning.generators import write_cases

        written = write_cases(plan.sources, plan.options.outputs, environment.directory, environment.secrets.text)
        if not plan.options.json:
            name_written(written, plan.options, environment, environment.stdout.write)
    return code
