"""The command line as click reads it: help, mistakes, abbreviations, and the commands other than the run."""

from __future__ import annotations

import math
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from difflib import get_close_matches
from importlib import import_module
from io import StringIO
from itertools import pairwise
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any

import click

from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.options.options import FLAGS
from runner.options.readers import one_of
from runner.version import VERSION

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

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
PAGES = {
    "": "cli",
    "calibrate": "calibrating",
    "completion": "cli",
    "config": "configuration",
    "convert": "data",
    "diff": "comparing",
    "doctor": "mocking",
    "extract": "reports",
    "history": "history",
    "init": "quickstart",
    "label": "calibrating",
    "mcp": "coding-agents",
    "merge": "long-runs",
    "mutate": "mutating",
    "regrade": "long-runs",
    "repl": "debugging",
    "schema": "editor",
    "show": "reports",
    "status": "long-runs",
    "store": "history",
    "trust": "security",
    "types": "editor",
    "view": "view",
}
"""Command → the page of the documentation that its help names; empty: the run."""
_HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
"""Spellings of `--help`, for all commands."""
WITHOUT = "*"
"""The value of a flag that may stand without one, when it does."""
STORE_HELP = "Folder of the store. Default: the one in yao-test.toml, else .yao-test of the application."
store_option = click.option("--store", metavar="DIR", help=STORE_HELP)
app_option = click.option(
    "-a", "--app", metavar="DIR", help="Application root. Default: the nearest one at or above the working directory."
)
verbose_option = click.option("-v", "--verbose", is_flag=True, help="Show the statistics behind the verdict.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
no_color_option = click.option("--no-color", is_flag=True, help="Turn colours off.")
Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
"""A function that returns the values which begin with a text."""


def read_or_run(arguments: list[str], environment: Environment, commands: Mapping[str, str]) -> dict[str, Any] | int:
    """The values of the flags, or an exit code when click has printed something, such as the help, or one of `commands`
    has run: name → module and function."""
    if arguments and arguments[0] in commands:
        module, _, name = commands[arguments[0]].partition(":")
        command = getattr(import_module(module), name)
        program = f"yao-test {arguments[0]}"
        command.epilog = f"More: docs/{PAGES[arguments[0]]}.md"
        arguments = arguments[1:]
    else:
        command, program = click_command(commands if "all" not in arguments else ()), "yao-test"
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


def _refused(error: click.ClickException, program: str, command: click.Command) -> ConfigurationError:
    """What click refuses, in the words of all other messages."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    program = context.command_path if context is not None else program
    said, hint = error.format_message().rstrip("."), f"{program} --help lists the flags"
    if isinstance(error, click.NoSuchOption | click.exceptions.NoSuchCommand):
        is_flag = isinstance(error, click.NoSuchOption)
        name = error.option_name if isinstance(error, click.NoSuchOption) else error.command_name
        close = get_close_matches(name, error.possibilities or (), n=1, cutoff=0.7)
        said = f"There is no {'flag' if is_flag else 'command'} {name}"
        hint = f"Did you mean {close[0]}?" if close else hint
    elif isinstance(error, click.MissingParameter) and error.param is not None:
        said = f"{program} needs {_name_of(error.param)}"
    elif isinstance(error, click.BadOptionUsage):
        lacks = said.endswith("requires an argument")
        said = f"{error.option_name} {'needs a value' if lacks else 'takes no value'}"
        named = [flag for flag in command.params if error.option_name in flag.opts]
        hint = f"Type: {error.option_name}" + (
            f" {named[0].make_metavar(click.Context(command))}" if lacks and named else ", or leave it out"
        )
    elif isinstance(error, click.BadParameter) and error.param is not None:
        kind, name = error.param.type, _name_of(error.param)
        text = error.message.partition(" is not ")[0].strip("'")
        if isinstance(kind, click.Choice):
            try:
                one_of(*map(str, kind.choices))(text, name)
            except ConfigurationError as ours:
                return ours
        if isinstance(kind, click.IntRange | click.FloatRange):
            said = f'Cannot read {name} "{text}": it must be {_range_of(kind)}'
        else:
            said = f"Cannot use {name}: {error.message.rstrip('.')}"
    elif said.startswith("Got unexpected extra argument"):
        said = f"Cannot use {said.partition('(')[2].rstrip(')')}: {program} takes no further words"
    return ConfigurationError(said, hint)


def _name_of(parameter: click.Parameter) -> str:
    """A flag as it is typed, or the name of a word."""
    return (
        parameter.opts[0]
        if isinstance(parameter, click.Option)
        else (parameter.metavar or parameter.human_readable_name)
    )


def _range_of(kind: click.IntRange | click.FloatRange) -> str:
    """Which numbers a flag takes."""
    number = "a whole number" if isinstance(kind, click.IntRange) else "a number"
    low = "above" if kind.min_open else "from" if kind.max is not None else "of at least"
    return number + f" {low} {kind.min}" * (kind.min is not None) + f" to {kind.max}" * (kind.max is not None)


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
        f"More: docs/{PAGES['']}.md",
    )
    with_version: click.Command = click.version_option(VERSION, prog_name="yao-test")(command)
    return with_version


def options_of(
    flags: Iterable[Flag], completer: Callable[[Flag], Completer | None] = lambda _: None
) -> list[click.Parameter]:
    """Flags of the table as click options; `completer` gives the function that completes the values of a flag."""
    return [
        click.Option(
            [*flag.spellings, flag.field], help=flag.help, shell_complete=completer(flag), **_settings_of(flag)
        )
        for flag in flags
    ]


def _settings_of(flag: Flag) -> dict[str, Any]:
    kinds: dict[str, dict[str, Any]] = {
        "text": {"metavar": flag.metavar},
        "maybe": {"metavar": flag.metavar, "is_flag": False, "flag_value": WITHOUT},
        "repeated": {"metavar": flag.metavar, "multiple": True},
        "optional": {"metavar": flag.metavar, "multiple": True, "is_flag": False, "flag_value": WITHOUT},
        "switch": {"is_flag": True, "default": False},
        "count": {"count": True},
    }
    return kinds[flag.kind]


class NumberRange(click.FloatRange):
    """A click type for numbers within a range, which refuses `nan`: click takes that to be within every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Reads the number. Raises BadParameter."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


class Command(click.Command):
    """A click command that refuses a flag which is given twice, unless it may be repeated, and a flag in place of the
    value of another one."""

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
    """The run, with a help for every day."""

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
    """A flag as it is typed, without its other spellings."""
    short = f"-{flag.short}, " if flag.short else ""
    return f"{short}--{flag.name}" + f" {flag.metavar}" * (flag.kind in ("text", "repeated"))


def _needs_value(flag: click.Parameter | None) -> bool:
    return isinstance(flag, click.Option) and not (flag.is_flag or flag.count or flag.flag_value == WITHOUT)


def _takes_one(flag: click.Option) -> bool:
    return not (flag.multiple or flag.is_flag or flag.count)
