"""Paths as people read them."""

from __future__ import annotations

from collections.abc import Callable

from runner.errors import meant_or_listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


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
