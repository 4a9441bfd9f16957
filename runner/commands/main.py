"""The command line: flags to options, errors to text, status to exit code.

`texts_in` of the options reads plain command lines; click, which costs more to load than a small run, reads the rest.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import pairwise

from bindings import SCRIPT_PARTS
from runner import exit_codes
from runner.commands import COMMANDS, COMPLETING
from runner.environment import Environment, from_process
from runner.errors import ConfigurationError, RunnerError
from runner.options.flags import LINES
from runner.options.options import ConfiguredOptions, absolute, check_needs, options_from, texts_in
from runner.security.files import CASE_FILES
from runner.security.terminal import UnwrittenError
from scripttest import hide_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.application.application import Application
    from runner.options.options import RunOptions


WHOLE = (["completion"], ["convert"], ["extract"], ["mcp"], ["repl"], ["schema"], ["types"], ["view"])
"""Commands that print documents, values or links, of which a terminal gets whole lines."""


def main() -> int:
    """Runs the command line of this process, and returns the exit code when everything is written."""
    environment = from_process()
    hide_environment()
    if COMPLETING in environment.variables:
        from runner.commands.completion import complete

        code = complete(environment)
    else:
        code = run_command(sys.argv[1:], environment)
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


def run_command(arguments: Sequence[str], environment: Environment) -> int:
    """Runs a command line and returns its exit code. Every error is printed to standard error."""
    words = list(arguments)
    if environment.terminal and not (_json_in(words) or words[:1] in WHOLE):
        from runner.reporters.console.table import on_terminal

        environment = on_terminal(environment)
    try:
        values = _texts_or_code(words, environment)
        if isinstance(values, int):
            return values
        options = options_from(values)
        if options.env_files:
            from runner.application.context import with_files

            environment = with_files(environment, options.env_files)
        return _run(options, values, environment)
    except RunnerError as error:
        return _refuse(environment, words, error.message, error.hint, exit_codes.CONFIGURATION)
    except KeyboardInterrupt as error:
        from runner.execution.stopping import Interrupted

        code = error.code if isinstance(error, Interrupted) else exit_codes.INTERRUPTED
        return _refuse(environment, words, "Interrupted", None, code) if _json_in(words) else code
    except BrokenPipeError:
        return exit_codes.RUNTIME
    except Exception as error:
        if isinstance(error, UnwrittenError) and not error.is_first:  # it has been said
            return exit_codes.RUNTIME
        from runner.execution.ending import error_of

        broken = error_of(error)
        return _refuse(environment, words, broken.message, broken.hint, exit_codes.RUNTIME)


def _texts_or_code(words: list[str], environment: Environment) -> dict[str, Any] | int:
    """The texts of the flags of a run, or the exit code of another command, or of click."""
    texts = texts_in(words)
    if texts and not (texts["reporter"] or _is_count(texts["name"])):
        return texts
    if words[0] not in COMMANDS:
        from runner.commands.words import meant

        words = meant(words, environment, COMMANDS)
        if texts := texts_in(words):
            return texts
    from runner.commands.parser import read_or_run

    return read_or_run(words, environment)


def _is_count(name: str | None) -> bool:
    """Whether `-n` has what it has in pytest."""
    return name is not None and (name.isdecimal() or name in ("auto", "logical"))


def _run(typed: RunOptions, values: dict[str, Any], environment: Environment) -> int:
    """Runs tests with the options of the command line, completed with all others. Returns the exit code."""
    if typed.app is None and (root := environment.variables.get("YAO_ROOT")):
        typed = typed.replace(app=root)
    resumed: dict[str, Any] = {}
    if typed.resume is not None:
        from runner.planning.resume import read_saved, with_saved_options

        saved = read_saved(absolute(typed.resume, environment.directory))
        typed, resumed = with_saved_options(saved, typed, environment.directory), saved.start
    from runner.planning.inputs import resolve_application
    from runner.planning.plan import RunRequest

    directory = environment.directory
    application = resolve_application(typed, directory)
    found = _fitted(_configured(typed, values, application))
    options = _in_brief(found.options, environment)
    request = RunRequest(
        options=options,
        settings=found.settings,
        environment=environment,
        application=application,
        resumed=resumed,
    )
    if options.sandbox is not None or options.verbose:
        from runner.execution.start import check_sandbox

        check_sandbox(options, environment)
    if options.cluster is not None:
        from runner.cluster.cluster import Cluster
        from runner.execution.start import run
        from scripttest import end_ahead

        end_ahead()
        with Cluster(options.cluster, environment, application) as there:
            return run(request, None, remote=there)
    if typed.coverage_thresholds and not options.coverage:
        raise ConfigurationError("--coverage-threshold needs --coverage", "Coverage is only measured with --coverage")
    coverage = None
    if options.coverage and not options.dry_run:
        from scripttest import Coverage

        coverage = Coverage(application.root)
    try:
        if options.watch and environment.terminal and sys.stdin is not None and sys.stdin.isatty():
            from runner.watch.loop import Watch

            return Watch(
                typed, environment, application, lambda: _configured(typed, values, application), coverage
            ).run()
        processes = None
        names = (name for name in options.inputs if name.lower().endswith(CASE_FILES))
        if not options.inputs or sum(os.path.isfile(directory / name) for name in names) < len(options.inputs):
            from scripttest import start_processes

            processes = start_processes(SCRIPT_PARTS, application.root, coverage.folder if coverage else None)
        from runner.execution.start import run  # loaded while the processes start

        return run(request, processes, coverage=coverage)
    finally:
        if coverage is not None:
            coverage.close()


def _configured(options: RunOptions, values: dict[str, Any], application: Application) -> ConfiguredOptions:
    found = ConfiguredOptions(options=options)
    if options.profile is not None or os.path.lexists(application.root / "yao-test.toml"):
        from runner.application.configuration import with_configuration

        found = with_configuration(options, values, application)
    check_needs(found.options, values)
    return found


KEPT = 40
"""Descriptors for the rest: modules, libraries, the store, reports, the compiler."""
EACH = 3
"""Descriptors of a test under way: its connection to a model, a file that it reads, pipes to a worker."""
FEW = 16
"""As many at a time fit into the smallest limit in use, 256 of macOS."""


def _fitted(found: ConfiguredOptions) -> ConfiguredOptions:
    """The options with as many tests at a time as there may be open files; raises that limit as far as it can."""
    parallel = found.options.parallel or 1
    if parallel <= FEW:
        return found
    from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit

    soft, hard = getrlimit(RLIMIT_NOFILE)
    needed = KEPT + EACH * parallel
    if soft != RLIM_INFINITY and soft < needed:
        soft = needed if hard == RLIM_INFINITY else min(hard, needed)
        setrlimit(RLIMIT_NOFILE, (soft, hard))
    fitting = parallel if soft == RLIM_INFINITY else max(1, min(parallel, (soft - KEPT) // EACH))
    if fitting == parallel:
        return found
    said = f"--parallel is {fitting} instead of {parallel}: the limit of open files is too low (ulimit -n)"
    settings = found.settings.replace(warnings=(*found.settings.warnings, said))
    return found.replace(options=found.options.replace(parallel=fitting), settings=settings)


def _in_brief(options: RunOptions, environment: Environment) -> RunOptions:
    """The options with those that `--brief` stands for, also where a coding agent runs the command."""
    others = options.json or options.verbose or options.watch or options.interactive or options.dry_run or options.bench
    if not (options.brief or (environment.agent and not environment.ci and not others)):
        return options
    return options.replace(brief=True, quiet=True, story=options.story or "few")


def _refuse(environment: Environment, words: list[str], message: str, hint: str | None, code: int) -> int:
    """Prints an error, for `--json` as a document, and returns its exit code, also if nobody can read the error."""
    if json := _json_in(words):
        from runner.execution.outcome import refusal

        try:
            text = refusal(environment.secrets.text(message), hint, code, lines=json == LINES)
            environment.stdout.write(text)
            return code
        except BrokenPipeError:
            return code
        except OSError as error:
            message, hint = _unwritten(error), None
    from contextlib import suppress

    with suppress(OSError):
        if words.count("-v") + 2 * words.count("-vv") + words.count("--verbose") > 1:
            import traceback

            environment.stderr.write(traceback.format_exc())
        environment.stderr.write(f"Error: {message}\n" + (f"Hint: {hint}\n" if hint else ""))
    return code


def _json_in(words: list[str]) -> str:
    """The form of JSON that a command line asks for; empty: none."""
    is_lines = f"--json={LINES}" in words or ("--json", LINES) in pairwise(words)
    return LINES if is_lines else "document" if any(word.partition("=")[0] == "--json" for word in words) else ""


def _unwritten(error: OSError) -> str:
    return f"Cannot write the output: {error.strerror}"
