"""Readers of the values of flags. Each takes the text and the flag as it is named in messages, such as `--shard`, and
raises ConfigurationError. Values that are more than a word, a number or a path are in `runner.options.values`."""

from __future__ import annotations

import re

from runner.amounts import seconds_of
from runner.errors import ConfigurationError, did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LINES = "lines"
"""The value of `--json` for a line of JSON for each result."""
duration = seconds_of
"""A duration such as `30s`, `1m30s`, `500ms` or `2h`, in seconds."""


def value_read_by(name: str) -> Callable[[str, str], Any]:
    """The reader of this name in `runner.options.values`, which is loaded for such a flag only."""

    def read(text: str, where: str) -> Any:
        from runner.options import values

        return getattr(values, name)(text, where)

    return read


def number(
    kind: Callable[[str], float], pattern: str, fits: Callable[[float], bool], what: str
) -> Callable[[str, str], Any]:
    """Makes a reader of numbers; `what` a text has to be if it is refused."""

    def read(text: str, where: str) -> float:
        if not re.fullmatch(pattern, text) or not fits(value := kind(text.removesuffix("%"))):
            raise ConfigurationError(f'Cannot read {where} "{text}": it must be {what}')
        return value

    return read


count = number(int, r"\d+", lambda number: number >= 1, "a whole number of at least 1")
samples = number(int, r"\d+", lambda number: 1 <= number <= 9, "a whole number from 1 to 9")
amount = number(float, r"\d*\.?\d+", lambda number: number > 0, "a number above 0, such as 2.50")
percent = number(float, r"\d+(\.\d+)?%?", lambda number: 1 <= number <= 100, "a percentage from 1 to 100, such as 80")
share = number(float, r"\d*\.?\d+", lambda number: number <= 1, "a number from 0 to 1, such as 0.8")


def share_or_percent(text: str, where: str) -> float:
    """A share such as `0.8`, `80` or `80%`, from 0 to 1."""
    number = text.removesuffix("%")
    if not re.fullmatch(r"\d*\.?\d+", number) or not float(number) <= 100:
        raise ConfigurationError(f'Cannot read {where} "{text}": it must be a share such as 0.8, or 80 for 80 %')
    return float(number) / 100 if float(number) > 1 or text.endswith("%") else float(number)


def shuffle_seed(text: str, where: str) -> int:
    """A whole number from 1 up; for `*` a random one."""
    if text != "*":
        number: int = count(text, where)
        return number
    from os import urandom

    return int.from_bytes(urandom(3), "big") + 1


def story_form(text: str, where: str) -> str:
    """`all`, `off`, or `few` for `*`. Raises ConfigurationError."""
    return one_of("few", "all", "off")("few" if text == "*" else text, where)


def json_form(text: str, where: str) -> str:
    """`lines`, or `document` for `*`. Raises ConfigurationError."""
    if text not in ("*", LINES):
        raise ConfigurationError(f"Cannot use {where} {text}", f"Write {where} for one document, or {where}={LINES}")
    return LINES if text == LINES else "document"


def collector(text: str, where: str) -> str:
    """The address of a collector; empty for `*`: environment variables name it."""
    if text == "*":
        return ""
    from urllib.parse import urlsplit

    try:
        address = urlsplit(text)
        known = address.scheme in ("http", "https") and bool(address.hostname) and (address.port or 1) > 0
        known = known and text.isprintable() and " " not in text and not address.fragment
    except ValueError:
        known = False
    if not known:
        raise ConfigurationError(
            f'Cannot use {where} "{text}": it must be the URL of a collector', "For example: http://localhost:4318"
        )
    if address.username is not None or address.password is not None or address.query:
        raise ConfigurationError(
            f"Cannot use {where}: the URL appears in logs, so it must not contain a key",
            "Put it in OTEL_EXPORTER_OTLP_HEADERS, such as authorization=Bearer%20...",
        )
    return text


def growth(text: str, where: str) -> float:
    """A percentage from 0 up, with or without its sign."""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ConfigurationError(
            f'Cannot use {where} "{text}": it must be a percentage of at least 0', "Write it as 10%"
        )
    return value


def filled(hint: str) -> Callable[[str, str], str]:
    """Makes a reader of texts that are not empty; `{}` in the hint is the flag."""

    def read(text: str, where: str) -> str:
        if not text:
            raise ConfigurationError(f"Cannot use {where}: it is empty", hint.format(where))
        return text

    return read


def search(text: str, where: str) -> str:
    """A pattern of names; an empty one finds all."""
    return text


def policy(text: str, where: str) -> str:
    """How often cases run, such as `4 of 5`."""
    from runner.statistics.policies import PolicyError, read_policy

    try:
        read_policy(text)
    except PolicyError as error:
        hint = f"Type: --runs {text}" if text.isdecimal() else error.hint
        raise ConfigurationError(f'Cannot read {where} "{text}": {error}', hint) from error
    return text


def hosts(text: str, where: str) -> tuple[str, ...]:
    """Hosts with commas between them, at least one."""
    from bindings import host_problem

    hint = "Write a host or host:port, such as api.example.com:443"
    named = _listed(text, where, hint)
    for host in named:
        problem = host_problem(host)
        if problem is not None:
            raise ConfigurationError(f'Cannot use {where} "{host}": {problem}', hint)
    return named


def programs(text: str, where: str) -> tuple[str, ...]:
    """Names of programs with commas between them, at least one. Raises ConfigurationError for a path."""
    hint = "Programs are searched for in /usr/local/bin, /usr/bin and /bin"
    names = _listed(text, where, hint)
    for name in names:
        if "/" in name or "*" in name:
            raise ConfigurationError(f'Cannot use {where} "{name}": it must be the name of a program', hint)
    return names


def _listed(text: str, where: str, hint: str) -> tuple[str, ...]:
    listed = tuple(name.strip() for name in text.split(",") if name.strip())
    if not listed:
        raise ConfigurationError(f"Cannot use {where}: it is empty", hint)
    return listed


def one_of(*choices: str) -> Callable[[str, str], str]:
    """Makes a reader that accepts only some words."""

    def read(text: str, where: str) -> str:
        if text not in choices:
            *others, last = choices
            listed = f"{', '.join(others)} or {last}" if others else last
            hint = did_you_mean(text, choices) or f"Choose {listed}"
            raise ConfigurationError(f'Invalid {where} "{text}"', hint)
        return text

    read.choices = choices  # type: ignore[attr-defined]  # for help and completion
    return read
