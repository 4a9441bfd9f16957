"""Errors before and around a run, and hints.

RunnerError                 base class: a message that starts with what was being done, and a hint
└── ConfigurationError      the user's input cannot be used: exit code 2
    ├── MissingError        something that is named does not exist
    └── BrokenError         a file of an agent or a connector cannot be used: cases that need it are broken"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

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


def listed(names: Sequence[str], most: int = 10) -> str:
    """The first names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def meant_or_listed(name: str, candidates: Iterable[str]) -> str | None:
    """A hint with the closest of the candidates, or with all of them, if there are any."""
    known = sorted(candidates)
    all_of_them = f"There {'are' if len(known) > 1 else 'is'} {listed(known, LISTED)}" if known else None
    return did_you_mean(name, known) or all_of_them


def sentences(*parts: str | None) -> str:
    """Parts of a message, one after another; one that ends without a mark gets a full stop when another one follows."""
    said = [part for part in parts if part]
    return " ".join([*(part if part[-1] in ".?!" else f"{part}." for part in said[:-1]), *said[-1:]])


def shown_path(path: Path, folder: Path) -> str:
    """A path as it is named: from a folder, when it is below that, else whole."""
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def beside_missing(path: Path, fits: Callable[[str], bool]) -> str | None:
    """A hint for a file that does not exist, with the files of its folder whose names fit."""
    if not path.parent.is_dir():
        return f"There is no folder {path.parent}"
    try:
        names = [entry.name for entry in path.parent.iterdir() if fits(entry.name)]
    except OSError:
        return None
    return meant_or_listed(path.name, names)
