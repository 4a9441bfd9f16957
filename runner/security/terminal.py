"""Keeps texts of scripts, models and files from steering a terminal: only codes of the command itself reach it."""

from __future__ import annotations

import os
import re

_OWN_BEGIN, _OWN_END = f"\x1b_{os.urandom(8).hex()}", "\x1b\\"
"""Around codes of the command itself for a terminal. Nobody who writes a text knows the beginning."""
OWN = rf"{_OWN_BEGIN}.*?\x1b\\"
"""The pattern of what `own` returns."""
_STEERS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
"""Control characters but for tab and line feed, other ends of lines, and what turns the direction of writing."""
_STEERING = (
    rf"(?P<own>{OWN})|\r(?=\n)"
    r"|\u2068[^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]*\u2069"  # an isolate that ends
    rf"|(?P<other>{_STEERS})"
)


def own(code: str) -> str:
    """A code for a terminal, such as a colour, which a `RedactedStream` lets through."""
    return f"{_OWN_BEGIN}{code}{_OWN_END}"


def in_line(text: str) -> str:
    """A text, such as a name, that stays in its line: line breaks are spelled."""
    return text.replace("\r", "\\r").replace("\n", "\\n")


def unsteered(text: str) -> str:
    """A text with the letters spelled that could steer a terminal."""
    return text if text.replace("\n", "").isprintable() else re.sub(_STEERING, _unsteered, text)


def spelled(text: str) -> str:
    """A text with all letters spelled that steer whatever shows it."""
    return re.sub(_STEERS, lambda match: f"\\u{ord(match[0]):04x}", text)


def _unsteered(match: re.Match[str]) -> str:
    if code := match["own"]:
        return code[len(_OWN_BEGIN) : -len(_OWN_END)]
    return match[0] if match["other"] is None else spelled(match["other"])
