"""What a saved run may set for another one: the values of its flags, but none that opens a wall."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from shlex import join

from runner.options.flags import Carried, Flag
from runner.options.options import FLAGS
from runner.security.files import read_text
from runner.security.secrets import definitions
from scripttest import holds_secrets, parts_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from scripttest.typing_names import Record


TYPED = frozenset(flag.field for flag in FLAGS if flag.carried is Carried.TYPED)
"""Flags that only the command line may set."""


def saved_values(options: Record) -> dict[str, Any]:
    """The values of flags of a report that mean something for another run, by fields. Raises ConfigurationError."""
    used = (flag for flag in FLAGS if flag.carried is not Carried.NO and flag.field in options)
    return {flag.field: flag.saved_value(options[flag.field]) for flag in used}


def taken_over(options: Mapping[str, Any]) -> str:
    """The flags that a report sets, as they are written on a command line."""
    return join(word for flag in FLAGS if flag.field in options for word in flag.words(options[flag.field]))


def spelled(flag: Flag, value: Any) -> str:
    """A flag with its value, as it is written on a command line, or that there is none."""
    return join(flag.words(value)) or f"no --{flag.name}"


def walls_in(values: Mapping[str, Any], root: Path, directory: Path) -> dict[str, Any]:
    """The values, by fields, that open a wall: typed flags, places outside of the application, variables."""
    given = ((flag, values.get(flag.field, flag.default)) for flag in FLAGS)
    return {
        flag.field: value for flag, value in given if value != flag.default and _opens(flag, value, root, directory)
    }


def _opens(flag: Flag, value: Any, root: Path, directory: Path) -> bool:
    if flag.carried is Carried.TYPED or not flag.may_open_walls:
        return flag.carried is Carried.TYPED
    if flag.field == "variants":
        names = [name for one in value for name, _ in one.env]
        prompts = [one.prompts for one in value if one.prompts]
        return any(_is_outside(path, root, directory) for path in prompts) or _decides_hosts(names, root)
    if flag.field == "inputs":
        return any(os.path.lexists(directory / one) and _is_outside(one, root, directory) for one in value)
    return flag.field != "app" and _is_outside(value, root, directory)


def _decides_hosts(variables: Collection[str], root: Path) -> bool:
    """Whether connectors or MCP servers of an application use some of these variables, which may say where keys go."""
    if not variables:
        return False
    named = re.compile(rf"\$ENV\.(?:{'|'.join(map(re.escape, variables))})\b")
    return any(named.search(read_text(path, "replace")) for path in definitions(root))


def _is_outside(path: str, root: Path, directory: Path) -> bool:
    """Whether a path leads out of an application, or to what commonly holds keys."""
    parts = parts_below(os.path.realpath(directory / Path(path).expanduser()), os.path.realpath(root))
    return parts is None or holds_secrets(parts)
