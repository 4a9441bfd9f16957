"""Durations as text: the one place that converts between texts and seconds."""

from __future__ import annotations

import re

from runner.errors import ConfigurationError

FORMS = "500ms, 30s, 1m30s or 2h"
"""How a duration may be written, for messages."""
_DURATION = r"(?:\d+(?:\.\d+)?(?:ms|h|m|s))+"
_PART = r"([\d.]+)(ms|h|m|s)"
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class Duration(str):
    """A duration as it is written, with its `seconds`."""

    __slots__ = ("seconds",)
    seconds: float

    def __new__(cls, text: str, where: str = "duration") -> Duration:
        """Raises ConfigurationError as `seconds_of` does."""
        duration = super().__new__(cls, text)
        duration.seconds = seconds_of(text, where)
        return duration


def seconds_of(text: str, where: str) -> float:
    """Seconds of `30s`, `1m30s`, `500ms`, `2h`; `where` names the flag or field in the ConfigurationError that is
    raised for any other text."""
    if not re.fullmatch(_DURATION, text):
        raise ConfigurationError(f'Cannot read {where} "{text}": not a duration', f"Write it as {FORMS}")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in re.findall(_PART, text))
    if seconds <= 0:
        raise ConfigurationError(f'Cannot use {where} "{text}": it must be longer than nothing')
    return seconds


def in_words(seconds: float) -> str:
    """A duration as one writes it: 30s, 1m30s, 500ms, 2h."""
    if seconds < 1:
        return f"{seconds * 1000:g}ms"
    words = ""
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds >= size:
            words += f"{seconds // size:g}{unit}"
            seconds %= size
    return f"{words}{seconds:g}s" if seconds or not words else words
