"""The command line: flags to options, errors to text, status to exit code.

The reader in `quick` serves plain command lines; click, which costs more to load than a small run, serves the
rest.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from bindings import SCRIPT_PARTS
from runner import exit_codes
from runner.descriptors import make_room
from runner.environment import Environment, from_process
from runner.errors import ConfigurationError, RunnerError
from runner.options.options import FLAGS, Configured, check_needs, options_from, texts_in
from runner.options.readers import LINES
from runner.security.terminal import UnwrittenError
from scripttest import hide_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    import click

    from runner.application.application import Application
    from runner.options.options import RunOptions, Settings
    from scripttest import Coverage


COMMANDS = {
    "calibrate": "runner.commands.labels:calibrate",
    "completion": "runner.commands.completion:completion",
    "config": "runner.commands.settings:config",
    "diff": "runner.commands.diff:diff",
    "doctor": "runner.commands.doctor:doctor",
    "extract": "runner.commands.show:extract",
    "history": "runner.commands.history:history",
    "init": "runner.commands.init:init",
    "label": "runner.commands.labels:label",
    "merge": "runner.commands.merge:merge",
    "regrade": "runner.commands.saved_runs:regrade",
    "schema": "runner.commands.settings:schema",
    "show": "runner.commands.show:show",
    "status": "runner.commands.saved_runs:status",
    "store": "runner.commands.store:store",
    "trust": "runner.commands.settings:trust",
    "types": "runner.commands.types:types",
    "view": "runner.commands.view:view",
}
"""First argument → module and function of a command other than the run."""
YAO_WORDS = (["agent"], ["eval"], ["run"], ["test"])
"""First arguments with which command lines of Yao begin."""
HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
"""Spellings of `--help`, for all commands."""
COMPLETING = "_YAO_TEST_COMPLETE"
"""The shell sets this variable when it asks how a command line can be completed."""


def main() -> int:
    """Runs the command line of this process, and returns the exit code when everything is written."""
    environment = from_process()
    hide_environment()
    code = _completed(environment) if COMPLETING in environment.variables else run_command(sys.argv[1:], environment)
    try:
        environment.stdout.flush()
        environment.stderr.flush()
    except BrokenPipeError:
        code = code or exit_codes.RUNTIME
    except UnwrittenError as error:
        from contextlib import suppress

        code = code or exit_codes.RUNTIME
        with suppress(OSError):
            os.write(2, f"Error: {_unwritten(error)}\n".encode() if error.is_first else b"")
    return code


def _completed(environment: Environment) -> int:
    from runner.commands.completion import complete

    return complete(environment, COMMANDS)


def run_command(arguments: Sequence[str], environment: Environment) -> int:
    """Runs a command line and returns its exit code. Every error is printed to standard error."""
    arguments = list(arguments)
    json = next((word for word in arguments if word.partition("=")[0] == "--json"), "")
    as_json = bool(json) and arguments[0] not in COMMANDS
    verbose = arguments.count("-v") + 2 * arguments.count("-vv") + arguments.count("--verbose")

    def say(message: str, hint: str | None, code: int) -> int:
        if not as_json:
            return _say(environment, message, hint, code, verbose)
        from runner.execution.outcome import refusal

        try:
            text = refusal(environment.secrets.text(message), hint, code, lines=json == f"--json={LINES}")
            environment.stdout.write(text)
        except BrokenPipeError:
            return code
        except OSError as error:
            return _say(environment, _unwritten(error), None, code, verbose)
        return code

    try:
        if arguments[:1] in YAO_WORDS or "-s" in arguments or any(word.startswith("--scripts") for word in arguments):
            from runner.commands.habits import from_yao

            arguments = from_yao(arguments)
        values = texts_in(arguments) or _through_click(arguments, environment)
        if isinstance(values, int):
            return values
        options = options_from(values)
        if options.env_files:
            from runner.application.context import with_files

            environment = with_files(environment, options.env_files)
        if options.app is None and (root := environment.variables.get("YAO_ROOT")):
            options = options.replace(app=root)
        if options.resume is not None:
            from runner.planning.resume import with_saved_options

            options = with_saved_options(options, environment.directory)
        from runner.planning.inputs import resolve_application

        application = resolve_application(options, environment.directory)
        typed = options
        found = _configured(typed, values, application)
        options, settings = _fitted(found)
        if options.sandbox is not None or options.verbose:
            from runner.execution.walls import look_at_walls

            look_at_walls(options, environment)
        if options.cluster is not None:
            from runner.cluster.cluster import Cluster
            from runner.execution.run import run
            from scripttest import end_ahead

            end_ahead()
            with Cluster(options.cluster, environment, application) as there:
                return run(options, environment, application, None, settings=settings, remote=there)
        if typed.coverage_thresholds and not options.coverage:
            raise ConfigurationError("--coverage-threshold needs --coverage", "Without it nothing is counted")
        coverage = _coverage_of(options, application)
        try:
            if options.watch and environment.terminal and sys.stdin is not None and sys.stdin.isatty():
                return _watch(typed, values, environment, application, coverage)
            processes = None
            if not _only_cases(options.inputs, environment.directory):
                from scripttest import start_processes

                processes = start_processes(SCRIPT_PARTS, application.root, coverage.folder if coverage else None)
            from runner.execution.run import run

            return run(options, environment, application, processes, settings=settings, coverage=coverage)
        finally:
            if coverage is not None:
                coverage.close()
    except RunnerError as error:
        return say(error.message, error.hint, exit_codes.CONFIGURATION)
    except KeyboardInterrupt as error:
        from runner.execution.stopping import Interrupted

        return error.code if isinstance(error, Interrupted) else exit_codes.INTERRUPTED
    except BrokenPipeError:
        return exit_codes.RUNTIME
    except Exception as error:
        if isinstance(error, UnwrittenError) and not error.is_first:  # it has been said
            return exit_codes.RUNTIME
        from runner.execution.ending import error_of

        broken = error_of(error)
        return say(broken.message, broken.hint, exit_codes.RUNTIME)


def _configured(options: RunOptions, values: dict[str, Any], application: Application) -> Configured:
    """The options, completed with those of the configuration file, if there is one."""
    found = Configured(options=options)
    if options.profile is not None or os.path.lexists(application.root / "yao-test.toml"):
        from runner.planning.configured import with_configuration

        found = with_configuration(options, values, application)
    check_needs(found.options, values)
    return found


def _fitted(found: Configured) -> tuple[RunOptions, Settings]:
    """The options and settings, with as many tests at a time as the system has room for."""
    options, settings = found.options, found.settings
    fitting = make_room(options.parallel or 1)
    if fitting == (options.parallel or 1):
        return options, settings
    said = f"--parallel is {fitting} instead of {options.parallel}: no more files may be open at once here (ulimit -n)"
    return options.replace(parallel=fitting), settings.replace(warnings=(*settings.warnings, said))


def _coverage_of(options: RunOptions, application: Application) -> Coverage | None:
    """Collects the coverage of a run with `--coverage`, until it is closed."""
    if not options.coverage or options.dry_run:
        return None
    from scripttest import Coverage

    return Coverage(application.root)


def _watch(
    options: RunOptions,
    values: dict[str, Any],
    environment: Environment,
    application: Application,
    coverage: Coverage | None,
) -> int:
    """Runs the tests again after each change, at a terminal. Returns the exit code."""
    from runner.watch.loop import Watch

    return Watch(options, environment, application, lambda: _configured(options, values, application), coverage).run()


def _only_cases(inputs: Sequence[str], directory: Path) -> bool:
    """Whether all inputs are case files, which need no script host."""
    return bool(inputs) and all(
        input.lower().endswith((".jsonl", ".json", ".yaml", ".yml")) and os.path.isfile(directory / input)
        for input in inputs
    )


def _say(environment: Environment, message: str, hint: str | None, code: int, verbose: int) -> int:
    """Prints an error and returns its exit code, also if nobody can read the error."""
    from contextlib import suppress

    with suppress(OSError):
        if verbose > 1:
            import traceback

            environment.stderr.write(traceback.format_exc())
        environment.stderr.write(f"Error: {message}\n" + (f"Hint: {hint}\n" if hint else ""))
    return code


def _unwritten(error: OSError) -> str:
    return f"Cannot write the output: {error.strerror}"


def _through_click(arguments: list[str], environment: Environment) -> dict[str, Any] | int:
    """The values of the flags, or an exit code when click has printed something, such as the help, or another command
    has run."""
    from contextlib import redirect_stdout

    import click

    if arguments and arguments[0] in COMMANDS:
        from importlib import import_module

        module, _, name = COMMANDS[arguments[0]].partition(":")
        command = getattr(import_module(module), name)
        program = f"yao-test {arguments[0]}"
        arguments = arguments[1:]
    elif arguments and not arguments[0].startswith("-"):
        from runner.commands.habits import with_agent_and_message, with_inputs
        from runner.errors import did_you_mean
        from runner.planning.inputs import is_agent

        first, near = arguments[0], did_you_mean(arguments[0], COMMANDS)
        known = is_agent(first, environment.directory)
        hint = near or "To test something, name it after -i; yao-test --help lists the commands"
        if not known and (first.startswith("scripts.") or os.path.exists(environment.directory / first)):
            hint = with_inputs(arguments)
        elif flags := with_agent_and_message(arguments) if near is None or known else None:
            return texts_in(flags) or _through_click(flags, environment)
        elif known:
            hint = f"Type: yao-test -n {first}"
        raise ConfigurationError(f'Cannot run "{first[:60]}": there is no such command', hint)
    else:
        from runner.commands.habits import refuse_habits

        refuse_habits(arguments)
        command, program = click_command(), "yao-test"
    try:
        with redirect_stdout(environment.stdout):  # where click prints help and version
            result = command.main(arguments, prog_name=program, standalone_mode=False, obj=environment, **HELP)
    except click.UsageError as error:
        program = error.ctx.command_path if error.ctx else program
        said, hint = error.format_message(), f"{program} --help lists the flags"
        if program == "yao-test" and "extra argument" in said:
            hint = f"Each input has an -i before it, and a message of several words is in quotes; {hint}"
        raise ConfigurationError(said, hint) from error
    except click.ClickException as error:
        environment.stderr.write(f"Error: {error.format_message()}\n")
        return error.exit_code
    return result if isinstance(result, dict) else int(result or 0)


def click_command() -> click.Command:
    """The click command of a run, used when the quick reader cannot read the command line."""
    import click

    from runner.commands.flags import Command, options_of
    from runner.version import VERSION

    command: click.Command = Command(
        "yao-test",
        params=options_of(FLAGS),
        callback=lambda **values: values,
        help="Runs tests of Yao-style AI agents: script tests of their handlers, and cases for the agents themselves.",
        epilog="Without -i, runs all tests at or below the working directory, or those of the agent whose folder it is "
        "in. Other commands, each with its own --help: init creates an application or an agent; types installs the"
        " TypeScript declarations; schema prints JSON Schemas for editors; doctor shows what is installed and what"
        " agents need; trust approves the files that decide where keys go; config prints the settings; completion "
        "sets up a shell. For saved reports and the store: show, extract, diff, merge, regrade, status, history, "
        "store, view, label, calibrate. Exit codes: 0 passed, 1 failed, 2 configuration error, 3 the tool itself "
        "failed, 130 interrupted.",
    )
    with_version: click.Command = click.version_option(VERSION, prog_name="yao-test")(command)
    return with_version
