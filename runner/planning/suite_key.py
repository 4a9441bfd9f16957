"""How suites are named where several machines remember them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def suite_key(id: str, root: Path) -> str:
    """A name of a suite that is the same on all machines: its id, or its path from the application's root."""
    return id.removeprefix(f"{root}/")
