"""A quick reader of command lines without surprises.

Importing click costs more than running a small test module, so `read` handles what it is sure of and answers None for
everything else (help, mistakes, abbreviations), which `runner.cli.main` then gives to click.
"""

from __future__ import annotations

from collections import deque

from runner.cli.options import FLAGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read(arguments: list[str]) -> dict[str, Any] | None:
    """The texts of the flags by field, as click would give them; None when this reader cannot read the command line."""
    by_spelling = {spelling: flag for flag in FLAGS for spelling in flag.spellings}
    values: dict[str, Any] = {flag.field: flag.not_given for flag in FLAGS}
    rest = deque(arguments)
    while rest:
        argument = rest.popleft()
        spelling, equals, value = argument.partition("=")
        found = by_spelling.get(spelling)
        if found is None or (equals and not spelling.startswith("--")):
            return None
        key = found.field
        if found.kind in ("switch", "count"):
            if equals:
                return None
            values[key] = True if found.kind == "switch" else values[key] + 1
            continue
        if not equals and (not rest or rest[0].startswith("-")):
            if found.kind not in ("optional", "maybe"):
                return None
            value = "*"
        elif not equals:
            value = rest.popleft()
        if found.kind in ("text", "maybe") and values[key] is not None:
            return None
        values[key] = (*values[key], value) if found.kind in ("repeated", "optional") else value
    return values
