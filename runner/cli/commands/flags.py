"""Flags of which a command takes one value are refused when they come twice: click takes the last without a word."""

from __future__ import annotations

from collections import Counter

import click


class Command(click.Command):
    """A command that refuses a flag which would replace its own value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does. Raises UsageError."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        single = [flag for flag in order if isinstance(flag, click.Option) and _takes_one(flag)]
        for flag, count in Counter(single).items():
            if count > 1:
                name = min(flag.opts, key=len)
                times = "twice" if count == 2 else f"{count} times"
                raise click.UsageError(f"{name} is given {times}, and takes one value", ctx)
        return super().parse_args(ctx, args)


def _takes_one(flag: click.Option) -> bool:
    return not (flag.multiple or flag.is_flag or flag.count)
