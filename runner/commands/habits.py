"""Recognises command lines in the style of other test tools and of Yao, and says how to write them here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from shlex import join

from runner.errors import ConfigurationError
from runner.options.options import FLAGS

_NAMES = ("-k", "-g", "--grep", "--testNamePattern", "--test-name-pattern", "--filter")
"""Flags with which pytest, Mocha, Playwright, Jest, Vitest, Node.js and Deno select tests by name."""
_FIRST = ("-x", "--exitfirst", "--bail", "--failfast", "-failfast")
"""Flags of other tools that stop a run at the first failure, or after as many failures as a number says."""
_COUNTS = {"--maxfail": "--max-failures", "-j": "--parallel", "--jobs": "--parallel", "--workers": "--parallel"}
"""Other flags with a number → their names here."""
_YAO_WORDS = ("test", "eval", "run")
"""Words of Yao's command line that mean the command itself."""
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


def from_yao(arguments: Sequence[str]) -> list[str]:
    """Rewrites a command line of Yao: `agent test`, `agent eval`, `eval AGENT [MESSAGE | @FILE]`, `test` and `run`
    before the flags, and `-s MODULE` for a test module of the agent. Raises ConfigurationError when no agent or module
    is named, and for a message without quotes."""
    rest = list(arguments)
    if rest[:1] == ["agent"] and rest[1:2] and rest[1] in (*_YAO_WORDS, "extract"):
        del rest[0]
    verb = rest.pop(0) if rest and rest[0] in _YAO_WORDS else ""
    takes_value = {spelling for flag in FLAGS if flag.kind in ("text", "repeated") for spelling in flag.spellings}
    words, positional, modules, agent = [], [], [], ""
    while rest:
        word = rest.pop(0)
        spelling, equals, value = word.partition("=")
        if spelling in ("-s", "--scripts"):
            modules.append(value if equals else rest.pop(0) if rest else "")
            if not modules[-1] or modules[-1].startswith("-"):
                raise ConfigurationError(f"{spelling} names no test module", f"Type: {spelling} MODULE")
        elif verb == "eval" and not word.startswith("-"):
            positional.append(word)
        else:
            words.append(word)
            if spelling in takes_value and not equals and rest:
                words.append(rest.pop(0))
            if spelling in ("-n", "--name"):
                agent = value or words[-1]
    if positional:
        agent, *said = positional
        if len(said) > 1:
            raise _unquoted(agent, said, words)
        words += [part for text in said for part in ("-i", text.removeprefix("@"))]
        words += ["-n", agent] if said or not modules else []
    if modules and not agent and not all(module.startswith("scripts.") for module in modules):
        raise ConfigurationError(
            f"Cannot tell whose test module {modules[0]} is", f"Type: yao-test -i scripts.<agent>.{modules[0]}"
        )
    prefix = f"scripts.{agent.removeprefix('assistants.')}."
    for module in modules:
        words += ["-i", module if module.startswith("scripts.") else prefix + module]
    return words


def with_inputs(arguments: Sequence[str]) -> str:
    """A hint for a command line that begins with inputs: the same with `-i` before each of these words."""
    words = list(takewhile(lambda word: not word.startswith("-"), arguments))
    inputs = [part for word in words for part in ("-i", word)]
    return f"Type: yao-test {join([*inputs, *arguments[len(words) :]])}"


def with_agent_and_message(arguments: Sequence[str]) -> list[str] | None:
    """Rewrites `expense "Taxi, 38 euros" -v` with flags; None unless the command line begins with two words that are
    not flags. Raises ConfigurationError when there are more of them, as of a message without quotes."""
    if len(arguments) < 2 or any(word.startswith("-") or not word.strip() for word in arguments[:2]):
        return None
    agent, message, *more = arguments
    if more and not more[0].startswith("-"):
        words = list(takewhile(lambda word: not word.startswith("-"), arguments))
        raise _unquoted(agent, words[1:], arguments[len(words) :])
    return ["-n", agent, "-i", message, *more]


def _unquoted(agent: str, said: Sequence[str], flags: Sequence[str]) -> ConfigurationError:
    """The error of a message to an agent whose words are not in quotes."""
    line = join([agent, " ".join(said), *flags])
    named = join([agent, *said])[:60]
    return ConfigurationError(f"Cannot run {named}: the words are not in quotes", f"Type: yao-test {line}")
