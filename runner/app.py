"""One run, from options to exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bindings import SCRIPT_GLOBALS, HostCalls
from runner import exit_codes
from runner.application import Application
from runner.context import build_context
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.events import RunEnd, RunError, RunStart, RunStatus
from runner.execution import Execution
from runner.inputs import resolve_application, resolve_inputs
from runner.options import DEFAULT_SCRIPT_TIMEOUT, RunOptions, absolute
from runner.reporters import maker_by_id, maker_for_file
from runner.reporters.console import ConsoleReporter
from runner.reporters.multiplexer import Multiplexer, describe
from runner.reporters.ordered import Ordered
from runner.scripts import host_module, run_scripts, suite_of
from runner.version import VERSION
from scripttest import HostError, ScriptHost

if TYPE_CHECKING:
    from bindings import Policy
    from runner.reporters.base import Reporter
    from scripttest import Processes


def run(options: RunOptions, environment: Environment, processes: Processes) -> int:
    """Runs what the options name and reports it; the exit code. Raises ConfigurationError before anything ran."""
    started = environment.monotonic()
    application = resolve_application(options, environment.directory)
    calls = HostCalls(application.root, lambda: _policy(options, application, environment), application.script)
    levels: tuple[str, ...] = ()
    if options.run:
        from runner.filters import levels_of, matcher

        levels = levels_of(options.run)
        calls.filter, *_ = [matcher(level) for level in levels]  # also the others, so that a bad one is said now
    host = ScriptHost(
        application.root,
        processes,
        calls,
        SCRIPT_GLOBALS,
        workers=options.parallel or environment.cpus,
        timeout=options.timeout or DEFAULT_SCRIPT_TIMEOUT,
        filter=levels[1:],
        list_only=options.dry_run,
    )
    with host:
        modules = resolve_inputs(options, application, environment.directory)
        context = build_context(options, environment.directory)
        calls.context = context
        stream = Multiplexer(_reporters(options, environment))
        calls.snapshot_files = {module.id: module.test for module in modules}
        calls.updates_snapshots, calls.ci = options.update_snapshots, environment.ci
        who = {"user_id": context["authorized"]["user_id"], "team_id": context["authorized"]["team_id"]}
        suites = tuple(suite_of(module) for module in modules)
        stream.send(RunStart(environment.now(), VERSION, suites, {**who, "locale": context["locale"]}))
        interrupted = False
        try:
            run_scripts(host, [host_module(module, context) for module in modules], stream, options.fail_fast)
            calls.save_snapshots()
        except KeyboardInterrupt:
            interrupted = True
        except HostError as error:
            stream.send(RunError(error.message, error.hint))
        except OSError as error:
            stream.send(RunError(f"Cannot store the snapshots: {describe(error)}"))
        seconds = environment.monotonic() - started
        stream.send(RunEnd(_status(stream.execution, interrupted), seconds, environment.now()))
        stream.close()
    return _exit_code(stream.execution, options, environment)


def _reporters(options: RunOptions, environment: Environment) -> list[Reporter]:
    """Console first; files are opened now, so that a path that cannot be written is said before the run."""
    reporters: list[Reporter] = []
    if environment.terminal and not options.quiet:
        from runner.reporters.progress import Progress

        progress = Progress(environment.stdout)
        reporters.append(progress)
        write = progress.write
    else:

        def write(text: str) -> None:
            environment.stdout.write(text)

    reporters.append(Ordered(ConsoleReporter(options, environment, write)))
    if options.reporter and not options.outputs:
        raise ConfigurationError("--reporter needs a file to write to", "Name it with -o")
    paths = [absolute(output, environment.directory) for output in options.outputs]
    makers = [maker_by_id(options.reporter, path) if options.reporter else maker_for_file(path) for path in paths]
    return reporters + [make() for make in makers]


def _policy(options: RunOptions, application: Application, environment: Environment) -> Policy:
    from bindings import Policy
    from runner.dotenv import named_variables

    named = named_variables(application.root, environment.variables)
    return Policy(allow_net=options.allow_net or None, environment=named)


def _status(run: Execution, interrupted: bool) -> RunStatus:
    if interrupted:
        return "interrupted"
    if run.errors:
        return "error"
    return "failed" if run.counts.failed else "passed"


def _exit_code(run: Execution, options: RunOptions, environment: Environment) -> int:
    assert run.end is not None
    codes = {"interrupted": exit_codes.INTERRUPTED, "error": exit_codes.RUNTIME, "failed": exit_codes.FAILED}
    if run.errors and run.end.status != "interrupted":  # also those of reporters that broke on the end of the run
        return exit_codes.RUNTIME
    if run.end.status in codes:
        return codes[run.end.status]
    if not any(suite.total for suite in run.listed.values()):
        environment.stderr.write(
            "Error: No tests to run\nHint: A test is a function of a *_test.ts file whose name starts with Test\n"
        )
        return exit_codes.CONFIGURATION
    if not run.counts.total and not options.dry_run:
        environment.stderr.write(f"Warning: no test matches --run {options.run}\n")
    return exit_codes.PASSED
