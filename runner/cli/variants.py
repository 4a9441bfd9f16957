"""`--variant NAME=connector:...,prompts:...,env:...`: one of several ways to run the same cases."""

from __future__ import annotations

import re

from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value

KEYS = ("connector", "prompts", "env")
HINT = "Such as --variant new=connector:gpt,prompts:prompts-new.yml,env:STYLE=short"
MOST = 8
MOST_ROUNDS = 5
_NAME = re.compile(r"[\w.+-]{1,40}")
_PARTS = re.compile(rf",(?=(?:{'|'.join(KEYS)}|\w+):)")


class Variant(Value):
    """One variant: what differs from the agent as it is in the application."""

    text: str
    """As the user wrote it."""
    name: str
    connector: str = ""
    """Id of the connector that the tested agent uses; empty: the one that it uses without variants."""
    prompts: str = ""
    """File that replaces the prompts.yml of the tested agent."""
    env: tuple[tuple[str, str], ...] = ()
    """Environment variables that are set: names and values."""

    def __str__(self) -> str:
        return self.text


def read_variant(text: str) -> Variant:
    """Reads `NAME=connector:...,prompts:...,env:NAME=VALUE`; a name alone is the agent as it is. Raises
    ConfigurationError."""
    name, _, rest = text.partition("=")
    if not _NAME.fullmatch(name):
        raise ConfigurationError(f'Cannot read --variant "{text}": it begins with no name', HINT)
    said: dict[str, str] = {}
    env: dict[str, str] = {}
    for part in _PARTS.split(rest) if rest else ():
        key, is_given, value = part.partition(":")
        if not is_given or key not in KEYS:
            hint = did_you_mean(key, KEYS) or f"It is one of {', '.join(KEYS)}"
            raise ConfigurationError(f'Cannot read --variant "{text}": there is no "{key}"', hint)
        if not value or (key == "env" and not value.partition("=")[0]):
            raise ConfigurationError(f'Cannot read --variant "{text}": "{key}:" is empty', HINT)
        if key == "env":
            variable, is_set, content = value.partition("=")
            if not is_set:
                raise ConfigurationError(f'Cannot read --variant "{text}": {variable} has no value', HINT)
            env[variable] = content
        elif key in said:
            raise ConfigurationError(f'Cannot read --variant "{text}": "{key}" is there twice')
        else:
            said[key] = value
    return Variant(text=text, name=name, env=tuple(env.items()), **said)


def rounds_of(runs: int) -> int:
    """How many rounds `--until-decided` plans. Raises ConfigurationError when there are too many."""
    if runs > MOST_ROUNDS:
        raise ConfigurationError(
            f"--until-decided makes at most {MOST_ROUNDS} rounds, and --runs is {runs}",
            f"Leave --runs out, or give {MOST_ROUNDS} at most; more rounds would give false alarms",
        )
    return runs if runs > 1 else MOST_ROUNDS


def check_variants(variants: tuple[Variant, ...]) -> None:
    """Raises ConfigurationError when variants cannot be compared."""
    names = [variant.name for variant in variants]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigurationError(f'Two variants have the name "{twice}"')
    if len(names) == 1:
        hint = f'Such as --variant old --variant "{variants[0]}": the first one is what the others are compared with'
        raise ConfigurationError("There is only one --variant, and nothing to compare it with", hint)
    if len(names) > MOST:
        raise ConfigurationError(f"There are {len(names)} variants, and {MOST} is the most")
