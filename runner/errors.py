"""Errors before and around a run.

RunnerError                 base class: a message that starts with what was being done, and a hint
└── ConfigurationError      the user's input cannot be used: exit code 2
    ├── MissingError        something that is named does not exist
    └── BrokenError         a file of an agent or a connector cannot be used: cases that need it are broken
"""

from __future__ import annotations

from collections.abc import Iterable

LISTED = 20
"""At most this many names are in a hint."""


class RunnerError(Exception):
    """Base of the tree; `hint` says what to do about it."""

    infrastructure = False
    """Whether a case that meets it is broken, and has no verdict."""
    missing = False
    """Whether what is asked for is not here at all, so that only a mock could answer."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigurationError(RunnerError):
    """A flag, a file or a name that cannot be used."""


class MissingError(ConfigurationError):
    """An agent, a server, a connector or an optional part that is not here."""

    missing = True


class BrokenError(ConfigurationError):
    """A file of the application that is there, and cannot be used. Where a flag asks for it, the run cannot begin."""

    infrastructure = True


def did_you_mean(name: str, candidates: Iterable[str], prefix: str = "") -> str | None:
    """A hint with the closest of the candidates, if one is close; `prefix` is written before it."""
    from difflib import get_close_matches

    close = get_close_matches(name, list(candidates), n=1, cutoff=0.6)
    return f'Did you mean "{prefix}{close[0]}"?' if close else None


def meant_or_listed(name: str, candidates: Iterable[str]) -> str | None:
    """A hint with the closest of the candidates, or with all of them, if there are any."""
    known = sorted(candidates)
    more = f" and {len(known) - LISTED} more" if len(known) > LISTED else ""
    listed = f"There {'are' if len(known) > 1 else 'is'} {', '.join(known[:LISTED])}{more}" if known else None
    return did_you_mean(name, known) or listed


def sentences(*parts: str | None) -> str:
    """Parts of a message, one after another; one that ends without a mark gets a full stop when another one follows."""
    said = [part for part in parts if part]
    return " ".join([*(part if part[-1] in ".?!" else f"{part}." for part in said[:-1]), *said[-1:]])
