"""Which files may be compiled: those that belong to the application, and those of its packages that do not commonly
contain keys. They are read here, in bounds: the compiler opens no source and no source map itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from scripttest.belongings import CONFIGURATION, KEYS, belongings_of
from scripttest.files import CODE, DATA_LIMIT, SOURCE_LIMIT, anywhere, holds_secrets, parts_below, read_file
from scripttest.values import Value

PACKAGES = "node_modules"
_MAP_COMMENT = rb"([#@]\s*)sourceMappingURL=([^\s*]*)"
_NAMES_NOTHING = rb"[\w.$(){}\[\]'\"`+;,-]*"
"""What may stand behind `sourceMappingURL=` in code that is about source maps, and names no file in another folder."""


class Package(Value):
    """A folder outside of an application with packages, or with one."""

    folder: str
    """Its real path."""
    link: str
    """The link that leads to it, from the root of the application."""
    is_open: bool
    """Whether it is in the repository, or named by the application's configuration."""


class Boundary:
    """The files that the scripts of one application may include."""

    def __init__(self, root: Path) -> None:
        """`root` is the application's absolute path."""
        self.root = root
        self._roots = tuple(dict.fromkeys((str(root), os.path.realpath(root))))
        self._own: set[str] = set()
        self._packages: tuple[Package, ...] | None = None
        """Packages outside of the application; found when they are first asked for."""

    def admit(self, script: Path) -> None:
        """Allows the files beside a script that is part of this package, and not of the application."""
        folder = str(script.parent)
        if not self.holds(folder):
            self._own |= {folder, os.path.realpath(folder)}

    def holds(self, path: str) -> bool:
        """Whether an absolute path is one of the application."""
        return any(parts_below(path, root) is not None for root in self._roots)

    def refused(self, name: str, by_name: bool = False) -> str | None:
        """Why a file may not be part of a script, for people; None when it may. `name`: its real path, absolute or
        from the application's root. `by_name`: only what commonly holds keys is refused in the application, as for
        folders, and what the compiler reads for itself, such as what a `tsconfig.json` extends."""
        if name.startswith(("yao-runtime:", "<")):
            return None
        path = os.path.normpath(os.path.join(self._roots[0], name.removeprefix("(disabled):")))
        for folder in self._roots:
            if (parts := parts_below(path, folder)) is not None:
                if by_name or PACKAGES in parts:
                    return _closed(parts)
                near = () if path.endswith(CODE) or not _has_scripts(os.path.dirname(path)) else parts[:-1]
                reason = belongings_of(self._roots[-1]).refused(parts, near=near)
                return f"it is not open to scripts, since it {reason}" if reason else None
        for folder in self._own:
            if (parts := parts_below(path, folder)) is not None:
                return _closed(parts)
        if self._packages is None:
            self._packages = tuple(packages_outside(self._roots))
        for package in self._packages:
            if (parts := parts_below(path, package.folder)) is not None:
                if not package.is_open:
                    opened = f'readable = ["{package.link}"] in {CONFIGURATION}'
                    return f"it is not a file of the application: {package.link} leads out of its repository; {opened}"
                return _closed((PACKAGES, package.folder.rpartition("/")[2], *parts))
        return "it is not a file of the application"

    def read(self, path: str, limit: int = DATA_LIMIT) -> bytes:
        """The content of an allowed file. Raises RefusedFileError and OSError."""
        return read_file(path, self.refused, limit)

    def source(self, path: str, type: str | None = None) -> bytes:
        """The content of an imported file.

        If a script names its source map in a comment, the map is put into the comment. A map that may not be read is
        left out. `path`: absolute path. `type`: the type in the import (`with { type: "text" }`), if there is one.
        Raises RefusedFileError: scripts may not read it, it is not a file, or it is too large: `SOURCE_LIMIT` for code,
        `DATA_LIMIT` for everything else; OSError: it cannot be read."""
        if type is not None or not path.endswith((*CODE, ".css")):
            return self.read(path)
        content = self.read(path, SOURCE_LIMIT)
        if b"sourceMappingURL=" not in content:
            return content
        return re.sub(_MAP_COMMENT, lambda found: _with_map(found, os.path.dirname(path), self), content)


def _has_scripts(folder: str) -> bool:
    try:
        return any(name.endswith(CODE) for name in os.listdir(folder))
    except OSError:
        return False


def _closed(parts: tuple[str, ...]) -> str | None:
    return f"it is not open to scripts, since it {KEYS}" if holds_secrets(parts) else None


def packages_outside(roots: tuple[str, ...]) -> Iterator[Package]:
    """The `node_modules` above an application in its workspace or repository, and the packages to which links in them
    and in its own lead, as `npm link` and package managers make them."""
    for root in roots:
        above = _workspace_above(root)
        top = os.path.realpath(above[-1] if above else root)
        for parent in (root, *above):
            folder = os.path.join(parent, PACKAGES)
            if parent != root and not os.path.islink(folder):
                yield Package(folder=os.path.realpath(folder), link=os.path.relpath(folder, root), is_open=True)
            for path in _linked_packages(folder):
                target, link = os.path.realpath(path), os.path.relpath(path, root)
                is_below = bool(parts_below(target, top)) and parts_below(os.path.realpath(root), target) is None
                is_open = is_below or belongings_of(os.path.realpath(root)).is_readable(tuple(link.split("/")))
                yield Package(folder=target, link=link, is_open=is_open)


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
    """The links in a `node_modules` folder that lead to packages. Where the folder is a link itself, all that it holds
    are such."""
    try:
        for entry in os.scandir(folder):
            if entry.is_symlink() or os.path.islink(folder):
                if os.path.isfile(os.path.join(entry.path, "package.json")):
                    yield entry.path
            elif entry.name.startswith("@"):
                yield from _linked_packages(entry.path)
    except OSError:
        return


def _with_map(found: re.Match[bytes], folder: str, boundary: Boundary) -> bytes:
    from base64 import b64encode
    from urllib.parse import unquote_to_bytes

    start, name = found.groups()
    if name.startswith(b"data:"):
        return found[0]
    try:
        file = os.path.join(folder, os.fsdecode(unquote_to_bytes(name.removeprefix(b"file://"))))
        source_map = boundary.read(file, DATA_LIMIT)
    except (OSError, ValueError) as error:
        is_missing = isinstance(error, (FileNotFoundError, IsADirectoryError)) or not name
        return found[0] if is_missing and re.fullmatch(_NAMES_NOTHING, name) else start + b"sourceMappingURL " + name
    return start + b"sourceMappingURL=data:application/json;base64," + b64encode(source_map)
