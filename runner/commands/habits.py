"""Recognises flags of other test tools, and says how to write them here."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import join

from runner.errors import ConfigurationError
from runner.options.options import FLAGS

_NAMES = ("-k", "-g", "--grep", "--testNamePattern", "--test-name-pattern", "--filter")
"""Flags with which pytest, Mocha, Playwright, Jest, Vitest, Node.js and Deno select tests by name."""
_FIRST = ("-x", "--exitfirst", "--bail", "--failfast", "-failfast")
"""Flags of other tools that stop a run at the first failure, or after as many failures as a number says."""
_COUNTS = {"--maxfail": "--max-failures", "-j": "--parallel", "--jobs": "--parallel", "--workers": "--parallel"}
"""Other flags with a number → their names here."""
FOREIGN = (*_NAMES, *_FIRST, *_COUNTS)
"""All spellings of these flags."""


def refuse_habits(arguments: Sequence[str]) -> None:
    """Raises ConfigurationError with the command line to use instead, when a flag of another tool is among the
    arguments."""
    takes_value = {spelling for flag in FLAGS if flag.kind in ("text", "repeated") for spelling in flag.spellings}
    words: list[str] = []
    foreign: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        spelling, equals, value = word.partition("=")
        if spelling in takes_value and not equals:
            words += [word, *rest[:1]]
            del rest[:1]
        elif spelling in (*_NAMES, *_COUNTS):
            foreign.append(spelling)
            value = value if equals else rest.pop(0) if rest else ""
            words += [_COUNTS.get(spelling, "--run"), value]
        elif spelling in _FIRST:
            foreign.append(spelling)
            if not equals and spelling == "--bail" and rest and rest[0].isdecimal():
                value = rest.pop(0)
            words += ["--max-failures", value] if value.isdecimal() and value != "1" else ["--fail-fast"]
        else:
            words.append(word)
    if foreign:
        raise ConfigurationError(f"There is no flag {foreign[0]} here", f"Type: yao-test {join(words)}")
