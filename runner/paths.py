"""Paths as people read them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def shown_path(path: Path, folder: Path) -> str:
    """A path as it is named: from a folder, when it is below that, else whole."""
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)
