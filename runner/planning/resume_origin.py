"""Refuses reports of another application, and flags of a report that only the command line may set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import join, quote

from runner.application.application import find_root
from runner.errors import ConfigurationError
from runner.options.carried import taken_over, walls_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.options.options import RunOptions

OTHER_APPLICATION = "If it is yours, say so with --app {}; or begin a new report with -o"


def check_application(named: str | None, directory: Path, subject: str, hint: str) -> None:
    """Raises ConfigurationError if a report was made in another application than the current one.

    Args:
        named: `--app` when the report was made, if the command line does not have it now.
        directory: the working directory.
        subject: the beginning of the message: what cannot be done with the report.
        hint: what to do; `{}` is the other application.
    """
    if not named:
        return
    theirs = (directory / named).resolve()
    try:
        ours = find_root(directory).resolve()
    except ConfigurationError:
        ours = directory.resolve()
        if theirs.is_relative_to(ours):
            return
    if theirs != ours:
        raise ConfigurationError(
            f"{subject}: it was made in the application {theirs}, and this is {ours}",
            hint.format(quote(named)),
        )


def check_walls(values: Mapping[str, Any], typed: RunOptions, directory: Path, subject: str, again: str) -> None:
    """Raises ConfigurationError if a report would set a flag that opens a wall.

    Args:
        values: what the report would set, by fields of `RunOptions`.
        typed: the options of the command line.
        subject: the beginning of the message: what cannot be done with the report.
        again: the command that names the report.
    """
    app = typed.app or values.get("app")
    try:
        root = directory / app if app else find_root(directory)
    except ConfigurationError:
        root = directory
    if walls := walls_in(values, root, directory):
        given = typed.replace(**walls).words(lambda flag: flag.name != "resume")
        raise ConfigurationError(
            f"{subject}: it was made with {taken_over(walls)}, which a report may not set",
            f"If that is what you want, type: {again} {join(given)}",
        )
