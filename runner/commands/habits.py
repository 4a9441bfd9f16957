"""Recognises flags of other test tools, by the table of `scripttest.habit`, and says how to write them here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from shlex import join

from runner.errors import ConfigurationError
from runner.options.options import FLAGS
from scripttest import filled, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.options.flags import Flag

_BY_SPELLING = {spelling: flag for flag in FLAGS for spelling in flag.spellings}
_VALUE = "<value>"
_DROPPED = "<->"
"""Stands in a line of the table for a value that is not written."""
_UPDATE = "--update-snapshots"
_OF_GO = "-test."
"""Before flags of a test binary of Go."""


def refuse_habits(arguments: Sequence[str], is_agent: Callable[[str], bool]) -> None:
    """Raises ConfigurationError with the command line to use instead, when a flag of another tool is among the
    arguments, or one of this tool with a value of another one. `is_agent` tells of ids."""
    words: list[str] = []
    foreign: list[str] = []
    reasons: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            words += [word, *rest]
            break
        spelling, equals, value = word.partition("=")
        flag = _BY_SPELLING.get(spelling)
        takes = flag is not None and flag.kind in ("text", "repeated")
        value = rest[0] if takes and not equals and rest else value
        row = _row(spelling, bool(equals)) if flag is None else _row_of_value(flag, value, is_agent)
        if row is None:
            words += [word, *(rest[:1] if takes and not equals else [])]
            del rest[: takes and not equals]
            continue
        line, _, numbered = row[0].partition(" | ")
        if not equals and (_has_value(line) or (numbered and rest and rest[0].isdecimal())):
            value = rest.pop(0) if rest else ""
        foreign.append(spelling if flag is None or _UPDATE in line else f"{spelling} {value}")
        reasons += [row[1]] if row[1] else []
        written = _written(numbered if numbered and value.isdecimal() and value != "1" else line, value, arguments)
        words += written[written[:1] != ["--output"] and written[:1] in [[one] for one in words] :]
    if foreign:
        why = f": {reasons[0]}" if reasons else ""
        raise ConfigurationError(f"There is no flag {foreign[0]} here{why}", f"Type: {join(['yao-test', *words])}")


def _has_value(line: str) -> bool:
    return _VALUE in line or _DROPPED in line


def _row_of_value(flag: Flag, value: str, is_agent: Callable[[str], bool]) -> tuple[str, str] | None:
    """What to write for a flag of this tool with a value that it has in another one: `-u`, `-n 4`, `--reporter dot`."""
    if flag.name == "user" and (not value or value.startswith("-")):
        return _UPDATE, ""
    if flag.name == "name" and (value.isdecimal() or value in ("auto", "logical")) and not is_agent(value):
        return f"--parallel {_VALUE}", ""
    if flag.name == "reporter" and not is_agent(value) and (row := row_of("reporter", value)):
        return f"{row[0]} {_DROPPED}", row[1]
    return None


def _row(spelling: str, equals: bool) -> tuple[str, str] | None:
    """What to write for a flag of another tool, and why; None for an unknown one, and for what is no flag."""
    if not spelling.startswith("-"):
        return None
    short = spelling.removeprefix(_OF_GO)
    if short != spelling:
        spelling = f"-{short}"
    kebab = (
        re.sub(r"(?<=[a-z])([A-Z])", r"-\1", spelling).replace("_", "-").lower() if spelling[:2] == "--" else spelling
    )
    row = row_of("flag", spelling) or row_of("flag", kebab)
    named = _BY_SPELLING.get(f"-{kebab}" if len(kebab) > 2 and kebab[:2] != "--" else kebab)
    if row is None and named is not None:
        takes = named.kind not in ("switch", "count") and (named.kind in ("text", "repeated") or equals)
        return f"--{named.name}" + f" {_VALUE}" * bool(takes), ""
    return row


def _written(line: str, value: str, arguments: Sequence[str]) -> list[str]:
    """The words of a line of the table. A value that its flag cannot have, or has anyway, is left out."""
    words = [filled(word, value=value) for word in line.split() if word != _DROPPED]
    measured = any(word.lstrip("-").startswith("bench") for word in arguments)
    if words[:1] == ["--runs"] and measured:
        words[0] = "--count"
    flag = _BY_SPELLING.get(words[0]) if len(words) == 2 else None
    if flag is None or flag.read is None or _VALUE not in line:
        return words
    try:
        return (
            words
            if flag.value({flag.field: (words[1],) if flag.kind == "repeated" else words[1]}) != flag.default
            else []
        )
    except ConfigurationError:
        return []
