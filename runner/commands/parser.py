"""The command line as click reads it: help, mistakes, abbreviations, and the commands other than the run."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from difflib import get_close_matches
from importlib import import_module
from io import StringIO
from itertools import pairwise
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any

import click

from runner.commands import COMMANDS
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.options.options import FLAGS
from runner.version import VERSION

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from runner.commands.tables import CommandTable
    from runner.options.flags import Flag


_ABOUT = "Tests Yao-style AI agents: script tests of their handlers, and cases for the agents themselves."
_USAGE = """\
Usage: yao-test [TESTS] [FLAGS]             run tests
       yao-test AGENT "MESSAGE" [FLAGS]     ask an agent
       yao-test COMMAND --help
"""
_TESTS = "TESTS are files, folders, agents or scripts.<agent>.<module>; without them, all tests here run."
_HEADINGS = ("Choose tests", "Run them", "See results")
"""The headings of the flags of every day, in their order."""
_COMMANDS = (
    ("init", "create an application or an agent, with tests"),
    ("watch", "run tests again when files are saved"),
    ("show, diff, merge", "show, compare and merge reports"),
    ("history, view", "browse earlier runs"),
    ("doctor", "check what is installed and what agents need"),
)
"""What the help says of commands; it names the others."""
_HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
"""Spellings of `--help`, for all commands."""
WITHOUT = "*"
"""The value of a flag that may stand without one, when it does."""
Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
"""A function that returns the values which begin with a text."""


def read_or_run(arguments: list[str], environment: Environment) -> dict[str, Any] | int:
    """The texts of the flags of a run, or the exit code of click, or of another command."""
    if arguments and arguments[0] in COMMANDS:
        command, program = command_of(arguments[0]), f"yao-test {arguments[0]}"
        arguments = arguments[1:]
    else:
        command, program = click_command(COMMANDS if "all" not in arguments else ()), "yao-test"
    columns = shutil.get_terminal_size((80, 24)).columns
    printed = environment.stdout
    plain = [word for word in arguments if word.partition("=")[0] != "--json"]
    if len(plain) < len(arguments) and not {"-h", "--help", "--version"}.isdisjoint(plain):
        arguments, printed = plain, StringIO()
    TextWrapper.wordsep_re = TextWrapper.wordsep_simple_re  # click breaks lines at blanks, not within --last-failed
    try:
        with redirect_stdout(printed):  # where click prints help and version
            result = command.main(
                arguments, program, standalone_mode=False, obj=environment, max_content_width=columns, **_HELP
            )
    except click.ClickException as error:
        raise _refused(error, program, command) from error
    except click.Abort as error:
        raise KeyboardInterrupt from error
    if isinstance(printed, StringIO) and (said := printed.getvalue()):
        from runner.execution.outcome import help_text

        environment.stdout.write(help_text(said))
    return result if isinstance(result, dict) else int(result or 0)


def command_of(name: str, completer: Callable[[Flag], Completer | None] = lambda _: None) -> click.Command:
    """A command other than the run as click reads it; `completer` as for `options_of`."""
    from runner.commands import tables

    return _made(name, getattr(tables, name.capitalize()), completer)


def _made(name: str, table: type[CommandTable], completer: Callable[[Flag], Completer | None]) -> click.Command:
    text = (table.__doc__ or "").replace("\n    ", " ")
    more = f"More: docs/{table.__page__}.md" if table.__page__ else None
    if table.__group__:
        inner = {key: _made(key, one, completer) for key, one in table.__group__.items()}
        return click.Group(name, commands=inner, help=text, epilog=more, no_args_is_help=False)
    module, _, function = table.__act__.partition(":")

    @click.pass_context
    def act(context: click.Context, /, **values: Any) -> Any:
        try:
            given: list[Any] = [table.read(values)]
        except ConfigurationError as error:
            hint = error.hint or f"See {context.command_path} --help"
            raise ConfigurationError(error.message, hint) from error
        if table.__of_run__:
            of_run = {flag.field: values[flag.field] for flag in table.__of_run__}
            given.append({flag.field: flag.not_given for flag in FLAGS} | of_run)
        return getattr(import_module(f"runner.commands.{module}"), function)(context.obj, *given)

    params = options_of((*table.__declared__, *table.__of_run__), completer)
    return Command(name, params=params, callback=act, help=text, epilog=more)


def _refused(error: click.ClickException, program: str, command: click.Command) -> ConfigurationError:
    """What click refuses, in the words of all other messages."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    program = context.command_path if context is not None else program
    said, hint = error.format_message().rstrip("."), f"See {program} --help"
    if isinstance(error, click.NoSuchOption | click.exceptions.NoSuchCommand):
        kind, name = "command", error.command_name if isinstance(error, click.exceptions.NoSuchCommand) else ""
        if isinstance(error, click.NoSuchOption):
            kind, name = "flag", error.option_name
        close = get_close_matches(name, error.possibilities or (), n=1, cutoff=0.7)
        said = f"Unknown {kind} {name}"
        hint = f"Did you mean {close[0]}?" if close else hint
    elif isinstance(error, click.MissingParameter) and error.param is not None:
        is_flag = isinstance(error.param, click.Option)
        name = error.param.opts[0] if is_flag else error.param.metavar or error.param.human_readable_name
        said = f"{program} needs {name}"
    elif isinstance(error, click.BadOptionUsage):
        lacks = said.endswith("requires an argument")
        said = f"{error.option_name} {'needs a value' if lacks else 'takes no value'}"
        named = [flag for flag in command.params if error.option_name in flag.opts]
        hint = f"Type: {error.option_name}" + (
            f" {named[0].make_metavar(click.Context(command))}" if lacks and named else ", or leave it out"
        )
    elif said.startswith("Got unexpected extra argument"):
        said = f"Cannot use {said.partition('(')[2].rstrip(')')}: {program} takes no more arguments"
    return ConfigurationError(said, hint)


def click_command(commands: Iterable[str] = ()) -> click.Command:
    """The click command of a run, used when the quick reader cannot read the command line. With the names of the other
    commands, its help has these and the flags of every day, else all flags."""
    kind = type("EveryDay", (_EveryDay,), {"commands": frozenset(commands)}) if commands else Command
    command: click.Command = kind(
        "yao-test",
        params=options_of(FLAGS),
        callback=lambda **values: values,
        help=_ABOUT,
        epilog="Exit codes: 0 passed, 1 failed, 2 configuration error, 3 the tool itself failed, 130 interrupted.\n\n"
        "More: docs/cli.md",
    )
    with_version: click.Command = click.version_option(VERSION, prog_name="yao-test")(command)
    return with_version


def options_of(
    flags: Iterable[Flag], completer: Callable[[Flag], Completer | None] = lambda _: None
) -> list[click.Parameter]:
    """Flags and words of a table as click has them; `completer` gives the function that completes the values of one."""
    return [_parameter(flag, completer(flag)) for flag in flags]


def _parameter(flag: Flag, complete: Completer | None) -> click.Parameter:
    if flag.kind in ("word", "words"):
        number = -1 if flag.kind == "words" else 1
        return click.Argument(
            [flag.field], metavar=flag.metavar, required=flag.required, shell_complete=complete, nargs=number
        )
    choices = getattr(flag.read, "choices", ()) if flag.metavar == "TEXT" else ()
    of_value = {"metavar": f"[{'|'.join(choices)}]" if choices else flag.metavar, "required": flag.required}
    alone = {"is_flag": False, "flag_value": WITHOUT}
    kinds: dict[str, dict[str, Any]] = {
        "text": of_value,
        "maybe": {**of_value, **alone},
        "repeated": {**of_value, "multiple": True},
        "optional": {**of_value, **alone, "multiple": True},
        "switch": {"is_flag": True, "default": False},
        "count": {"count": True},
    }
    spelt = [*flag.spellings, flag.field]
    return click.Option(spelt, help=flag.help, shell_complete=complete, **kinds[flag.kind])


class Command(click.Command):
    """A click command that refuses a single flag given twice, and a flag in place of a value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses arguments as click does. Raises UsageError."""
        flags = {spelling: flag for flag in self.get_params(ctx) for spelling in (*flag.opts, *flag.secondary_opts)}
        for argument, following in pairwise(args):
            if argument == "--":
                break
            if _needs_value(flags.get(argument)) and following in flags:
                raise click.UsageError(f"{argument} needs a value, and {following} is a flag", ctx)
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        single = [flag for flag in order if isinstance(flag, click.Option) and _takes_one(flag)]
        for flag, count in Counter(single).items():
            if count > 1:
                times = "twice" if count == 2 else f"{count} times"
                raise click.UsageError(f"{flag.opts[0]} is set {times}, but takes only one value", ctx)
        return super().parse_args(ctx, args)


class _EveryDay(Command):
    commands: frozenset[str] = frozenset()
    """The names of the commands other than the run."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the flags of every day in groups, and the commands."""
        formatter.write(_USAGE)
        for text in (_ABOUT, _TESTS):
            formatter.write_paragraph()
            formatter.write_text(text)
        shown = [one for one in FLAGS if one.every_day]
        rows = {one.field: (_spelt(one), one.help) for one in shown}
        width = max(len(spelt) for spelt, _ in rows.values())
        for heading in _HEADINGS:
            with formatter.section(heading):
                group = [rows[one.field] for one in shown if one.every_day == heading]
                formatter.write_dl([(spelt.ljust(width), text) for spelt, text in group], col_max=width)
        with formatter.section("Commands"):
            formatter.write_dl([(names.ljust(width), text) for names, text in _COMMANDS], col_max=width)
        known = ", ".join(names for names, _ in _COMMANDS).split(", ")
        formatter.write_paragraph()
        formatter.write_text(f"Other commands: {', '.join(sorted(self.commands - {*known}))}.")
        formatter.write_text("All flags and exit codes: yao-test --help all")


def _spelt(flag: Flag) -> str:
    short = f"-{flag.short}, " if flag.short else ""
    return f"{short}--{flag.name}" + f" {flag.metavar}" * (flag.kind in ("text", "repeated"))


def _needs_value(flag: click.Parameter | None) -> bool:
    return isinstance(flag, click.Option) and not (flag.is_flag or flag.count or flag.flag_value == WITHOUT)


def _takes_one(flag: click.Option) -> bool:
    return not (flag.multiple or flag.is_flag or flag.count)
