"""`yao-test completion SHELL`: has a shell complete flags, commands, and what an application has: agents, modules, case
files, tests."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from runner.application.application import Application, TestModule
from runner.commands import COMMANDS, COMPLETING, tables
from runner.commands.parser import Completer, command_of, options_of
from runner.commands.words import VERBS
from runner.environment import Environment
from runner.errors import RunnerError
from runner.options.flags import Flag
from runner.options.options import FLAGS, RunOptions
from runner.planning.inputs import resolve_application, resolve_inputs, with_inputs
from runner.planning.names import functions_in
from runner.planning.plan import CaseInput
from runner.security.files import is_collected, open_text, read_text

PROGRAM = "yao-test"
_CASE = re.compile(r"""["']?\bid["']?\s*:\s*["']?([\w.-]+)""")
READ = 1 << 20
"""At most this many bytes of a case file are read to find the ids in it."""


def completion(environment: Environment, given: tables.Completion) -> int:
    """Prints the completion script for a shell."""
    environment.stdout.write(_completer(given.shell, environment).source() + "\n")
    return 0


def complete(environment: Environment) -> int:
    """Prints the words that complete a command line, none after an error, and returns the exit code."""
    shell, _, what = environment.variables.get(COMPLETING, "").partition("_")
    if what != "complete" or get_completion_class(shell) is None:
        return 1
    environment.stdout.write(_completer(shell, environment).complete() + "\n")
    return 0


def _completer(shell: str, environment: Environment) -> Any:
    found = get_completion_class(shell)
    assert found is not None
    return found(_Root(environment), {}, PROGRAM, COMPLETING)


class _Root(click.Group):
    def __init__(self, environment: Environment) -> None:
        self._completer = lambda flag: _completer_of(flag, environment)
        self._inputs = _completer_of(FLAGS[0], environment) or _paths
        super().__init__(PROGRAM, params=options_of(FLAGS, self._completer), invoke_without_command=True)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What completes a word: commands, and what the run tests."""
        found = super().shell_complete(ctx, incomplete)
        found += [CompletionItem(verb) for verb in VERBS if verb.startswith(incomplete)]
        return found + ([] if incomplete.startswith("-") else self._inputs(ctx, self.params[0], incomplete))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands besides the run."""
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of these commands, by its name."""
        return command_of(cmd_name, self._completer) if cmd_name in COMMANDS else None


def _completer_of(flag: Flag, environment: Environment) -> Completer | None:
    if choices := getattr(flag.read, "choices", ()):
        return lambda _, __, text: [CompletionItem(one) for one in choices if one.startswith(text)]
    values = _VALUES.get(flag.name) if flag in FLAGS else None
    if values is None:
        return _paths if flag.metavar in ("FILE", "DIR") else None

    def answer(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            options = RunOptions(
                inputs=tuple(context.params.get("inputs") or ()),
                app=context.params.get("app"),
                name=context.params.get("name"),
            )
            application = resolve_application(options, environment.directory)
            found = {value for value in values(application, options, environment) if value.startswith(incomplete)}
        except (RunnerError, OSError):
            found = set()
        items = [CompletionItem(value) for value in sorted(found)]
        return items if items or flag.name != "input" else _paths(context, parameter, incomplete)

    return answer


def _paths(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


def _inputs(application: Application, options: RunOptions, environment: Environment) -> Iterator[str]:
    """Agents and modules of scripts by their ids, and case files by their paths from the working directory."""
    for agent in application.agents():
        modules = list(application.modules_of(agent))
        yield from ([f"scripts.{agent.id}"] if modules else [])
        yield from (module.id for module in modules)
        cases = agent.folder / "tests"
        files = sorted(cases.glob("*")) if cases.is_dir() else []
        for file in files:
            if is_collected(str(file)):
                yield os.path.relpath(file, environment.directory)


def _tests(application: Application, options: RunOptions, environment: Environment) -> Iterator[str]:
    """Names of tests and ids of cases, of the inputs that are named, or of all that there are here."""
    options = with_inputs(options, application, environment.directory)
    for item in resolve_inputs(options, application, environment.directory):
        if isinstance(item, TestModule):
            yield from (name for name, _ in functions_in(read_text(item.test, "replace")))
        elif isinstance(item, CaseInput) and item.path is not None:
            with open_text(item.path, "replace") as file:
                yield from _CASE.findall(file.read(READ))


_VALUES: dict[str, Callable[[Application, RunOptions, Environment], Iterable[str]]] = {
    "input": _inputs,
    "name": lambda application, options, environment: (agent.id for agent in application.agents()),
    "run": _tests,
}
"""Flag → what its values may be."""
