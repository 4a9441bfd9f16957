"""What the compiler process may read: the wall of the system beneath `boundary`, which judges each file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

SHIPPED = Path(__file__).parents[2] / "runner" / "shipped"
"""Scripts that come with this package."""


def readable(root: Path) -> list[str]:
    """The folders, by their real paths: the application, `node_modules` above it, the packages to which links in any
    of these `node_modules` lead, as `npm link` and workspaces make them, and the scripts of this package."""
    found = [os.path.realpath(root), str(SHIPPED)]
    for parent in (root, *root.parents):
        packages = f"{parent}/node_modules"
        if os.path.isdir(packages):
            found += [os.path.realpath(packages), *_linked(packages)]
    return [folder for folder in dict.fromkeys(found) if os.path.isdir(folder)]


def _linked(folder: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return  # a folder that cannot be listed has no packages for the compiler either
    for entry in entries:
        if entry.is_symlink():
            if os.path.isfile(os.path.join(entry.path, "package.json")):
                yield os.path.realpath(entry.path)
        elif entry.name.startswith("@"):
            yield from _linked(entry.path)
