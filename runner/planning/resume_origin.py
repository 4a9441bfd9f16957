"""Prints the flags that a resumed report sets, and refuses reports of another application."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from runner.application.application import find_root
from runner.errors import ConfigurationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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


_SPELLINGS = {"variants": "--variant", "tags": "--tag"}
"""Option → its flag, where that has another name."""


def taken_over(options: Mapping[str, Any]) -> str:
    """The flags that a report sets, as they are written on a command line."""
    words: list[str] = []
    for key, value in options.items():
        spelling = "-i" if key == "inputs" else _SPELLINGS.get(key, f"--{key.replace('_', '-')}")
        if value is True:
            words.append(spelling)
        elif value not in (None, False, (), []):
            values = value if isinstance(value, list | tuple) else [value]
            words += [f"{spelling} {quote(str(item))}" for item in values]
    return " ".join(words)
