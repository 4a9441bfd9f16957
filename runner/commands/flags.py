"""The flags of `RunOptions` for click, and a click command that refuses a flag which is given twice, where click would
use the last value without a warning."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from runner.options.flags import Flag


WITHOUT = "*"
"""The value of a flag that may stand without one, when it does."""
Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
"""A function that returns the values which begin with a text."""


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
                raise click.UsageError(f"{flag.opts[0]} is given {times}, and takes one value", ctx)
        return super().parse_args(ctx, args)


def _needs_value(flag: click.Parameter | None) -> bool:
    return isinstance(flag, click.Option) and not (flag.is_flag or flag.count or flag.flag_value == WITHOUT)


def _takes_one(flag: click.Option) -> bool:
    return not (flag.multiple or flag.is_flag or flag.count)
