"""Which files may be compiled: those of the application and of its packages, without those that commonly contain
keys."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from scripttest.files import DATA_LIMIT, anywhere, holds_secrets, parts_below, read_file


class Boundary:
    """The files that the scripts of one application may include."""

    def __init__(self, root: Path) -> None:
        """`root` is the application's absolute path."""
        self.root = root
        self._roots = tuple(dict.fromkeys((str(root), os.path.realpath(root))))
        self._own: set[str] = set()
        self._packages: tuple[str, ...] | None = None
        """Folders of packages that lie outside of the application; found when they are first asked for."""

    def admit(self, script: Path) -> None:
        """Allows the files beside a script that is part of this package, and not of the application."""
        folder = str(script.parent)
        if not self.holds(folder):
            self._own |= {folder, os.path.realpath(folder)}

    def holds(self, path: str) -> bool:
        """Whether an absolute path is one of the application."""
        return any(parts_below(path, root) is not None for root in self._roots)

    def refused(self, name: str) -> str | None:
        """Why a file may not be part of a script, for people; None when it may. `name` is its real path, absolute or
        from the application's root."""
        if name.startswith(("yao-runtime:", "<")):
            return None
        path = os.path.normpath(os.path.join(self._roots[0], name.removeprefix("(disabled):")))
        for folder in (*self._roots, *self._own):
            if (parts := parts_below(path, folder)) is not None:
                return _closed(parts)
        if self._packages is None:
            self._packages = tuple(packages_outside(self._roots))
        for folder in self._packages:
            if (parts := parts_below(path, folder)) is not None:
                return _closed(("node_modules", folder.rpartition("/")[2], *parts))
        return "it is not a file of the application"

    def read(self, path: str, limit: int = DATA_LIMIT) -> bytes:
        """The content of an allowed file. Raises RefusedFileError and OSError."""
        return read_file(path, self.refused, limit)


def _closed(parts: tuple[str, ...]) -> str | None:
    return "it is not open to scripts, since it may hold secrets" if holds_secrets(parts) else None


def packages_outside(roots: tuple[str, ...]) -> Iterator[str]:
    """The `node_modules` above an application in its workspace or repository, and the packages to which links in them
    and in its own lead, as `npm link` and package managers make them. Real paths."""
    for root in roots:
        for parent in (root, *_workspace_above(root)):
            folder = os.path.join(parent, "node_modules")
            if parent != root and not os.path.islink(folder):
                yield os.path.realpath(folder)
            yield from _linked_packages(folder)


def _workspace_above(root: str) -> list[str]:
    """The folders above an application, up to the root of its workspace or of its repository, if there is one."""
    above: list[str] = []
    folder = root
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
        above.append(folder)
        is_repository = os.path.exists(f"{folder}/.git") and not os.path.exists(f"{root}/.git")
        if is_repository or os.path.isfile(f"{folder}/pnpm-workspace.yaml"):
            return above
        try:
            if b'"workspaces"' in read_file(f"{folder}/package.json", anywhere):
                return above
        except OSError:
            continue
    return []


def _linked_packages(folder: str) -> Iterator[str]:
    """What the links in a `node_modules` folder lead to, as far as these are packages. Where the folder is a link
    itself, all that it holds are such."""
    try:
        for entry in os.scandir(folder):
            if entry.is_symlink() or os.path.islink(folder):
                if os.path.isfile(os.path.join(entry.path, "package.json")):
                    yield os.path.realpath(entry.path)
            elif entry.name.startswith("@"):
                yield from _linked_packages(entry.path)
    except OSError:
        return
