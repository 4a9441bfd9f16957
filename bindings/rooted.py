"""A folder that all paths of a call must stay in.

Paths are opened one folder at a time, and each link on the way is read and checked here. The result is then used by its
name in the open folder, without following links. So if somebody replaces a folder by a link meanwhile, the call fails,
and never reaches a file outside."""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bindings.errors import ProcessError
from scripttest import parts_below
from scripttest.values import Value

MAX_LINKS = 40
"""Links on the way to one file; more are a circle."""
MAX_DEPTH = 100
"""Folders inside each other; each is a descriptor while a path is walked, and the process has few for all its calls."""
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WALK = _FOLDER | getattr(os, "O_PATH", os.O_RDONLY)


class Folder:
    """An open folder; it is closed when nothing refers to it any more."""

    __slots__ = ("descriptor",)

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __del__(self) -> None:
        os.close(self.descriptor)


class Place(Value):
    """A name in an open folder; whether there is such a file is another question."""

    folder: Folder
    name: str
    """Never a path; `.` for the folder itself."""
    parts: tuple[str, ...]
    """From the root; none for the root."""

    @property
    def shown(self) -> str:
        """The path as scripts write it, from `/`; it never shows where the root lies on this machine."""
        return "/" + "/".join(self.parts)

    def stat(self) -> os.stat_result:
        """Of a link: the link itself. Raises OSError."""
        with named(self.parts):
            return os.stat(self.name, dir_fd=self.folder.descriptor, follow_symlinks=False)

    def exists(self) -> bool:
        """Whether there is something, if only a link."""
        return self._mode() != 0

    def is_folder(self) -> bool:
        """Whether there is a folder, and not a link to one."""
        return stat.S_ISDIR(self._mode())

    def is_link(self) -> bool:
        """Whether there is a link."""
        return stat.S_ISLNK(self._mode())

    def _mode(self) -> int:
        """Type and permissions; 0 when there is nothing."""
        try:
            return self.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return 0

    def open(self, flags: int, mode: int = 0o666) -> int:
        """Opens the file and returns the descriptor. Only regular files open, so that a pipe cannot block. Raises
        OSError: as `os.open`; ELOOP for a link."""
        with named(self.parts):
            flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(self.name, flags, mode, dir_fd=self.folder.descriptor)
            kind = os.fstat(descriptor).st_mode
            if stat.S_ISREG(kind):
                return descriptor
            os.close(descriptor)
            if stat.S_ISDIR(kind):
                raise IsADirectoryError(errno.EISDIR, "is a directory", self.name)
            raise OSError(errno.EINVAL, "not a regular file", self.name)

    def open_folder(self) -> int:
        """Opens the folder and returns the descriptor. Raises OSError."""
        with named(self.parts):
            return os.open(self.name, os.O_RDONLY | _FOLDER, dir_fd=self.folder.descriptor)

    def content(self) -> list[Place]:
        """The places in the folder, sorted by name. Raises OSError."""
        with named(self.parts):
            folder = Folder(self.open_folder())
            return [
                Place(folder=folder, name=name, parts=(*self.parts, name))
                for name in sorted(os.listdir(folder.descriptor))
            ]

    def make_folder(self, mode: int = 0o777, exist_ok: bool = False) -> None:
        """Makes a folder. Raises OSError."""
        with named(self.parts):
            try:
                os.mkdir(self.name, mode, dir_fd=self.folder.descriptor)
            except FileExistsError:
                if not exist_ok or not self.is_folder():
                    raise

    def change_mode(self, mode: int) -> None:
        """Changes the permissions of a file or folder, also of one that may not be read. Raises OSError."""
        with named(self.parts):
            flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(self.name, flags | getattr(os, "O_PATH", os.O_RDONLY), dir_fd=self.folder.descriptor)
            try:
                if stat.S_ISLNK(os.fstat(descriptor).st_mode):
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), self.name)
                os.chmod(f"/proc/self/fd/{descriptor}" if hasattr(os, "O_PATH") else descriptor, mode)
            finally:
                os.close(descriptor)

    def remove(self) -> None:
        """Removes a file, a link, or an empty folder; what is not there is fine. Raises OSError."""
        with named(self.parts):
            if self.is_folder():
                os.rmdir(self.name, dir_fd=self.folder.descriptor)
            elif self.exists():
                os.unlink(self.name, dir_fd=self.folder.descriptor)

    def remove_all(self) -> None:
        """Removes a file, a link, or a folder with its content. A missing file is not an error. Raises OSError."""
        import shutil

        if not self.is_folder():
            self.remove()
            return
        with named(self.parts):
            shutil.rmtree(self.name, dir_fd=self.folder.descriptor)

    def rename(self, target: Place) -> None:
        """Puts a file, link or folder at another place, where it replaces a file. Raises OSError."""
        with named(self.parts):
            os.replace(self.name, target.name, src_dir_fd=self.folder.descriptor, dst_dir_fd=target.folder.descriptor)


class Rooted:
    """Finds places below one root."""

    def __init__(self, root: Path, within: Path | None = None) -> None:
        """`root` is absolute and need not exist; where it is a link, its target is the root, which has to be below
        `within` if that is given."""
        self._root = root
        self._within = within
        self._top: Folder | None = None

    def find(self, path: str, *, follow: bool = True, make: bool = False) -> Place:
        """Opens the folder that a path is in. `path`: with or without a leading `/`; `""` and `/` are the root; `..`
        may not leave the root. `follow`: False: if the last part is a link, it is not followed, so that the link
        itself can be read or removed. `make`: create missing folders on the way, also the root. Raises ProcessError:
        code 403 if the path leaves the root by `..` or by a link; 400 for a NUL character, or more than `MAX_DEPTH`
        folders; OSError: a folder on the way is missing, or is not a folder."""
        top = self._open_top(make)
        folders: list[tuple[Folder, str]] = []
        todo = deque(normal_parts(path))
        links = 0
        while todo:
            part = todo.popleft()
            if part in ("", "."):
                continue
            if part == "..":
                if not folders:
                    raise leaves(path)
                folders.pop()
                continue
            here = folders[-1][0] if folders else top
            parts = (*(name for _, name in folders), part)
            last = not any(left not in ("", ".") for left in todo)
            if last and not follow:
                return Place(folder=here, name=part, parts=parts)
            target = _link_target(here, part, parts)
            if target is not None:
                links += 1
                if links > MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), "/" + "/".join(parts))
                if target.startswith("/"):
                    target = self._below(target, path)
                    folders.clear()
                todo.extendleft(reversed(target.split("/")))
                continue
            if last:
                return Place(folder=here, name=part, parts=parts)
            if len(folders) == MAX_DEPTH:
                raise ProcessError(f"a path cannot have more than {MAX_DEPTH} nested folders", 400)
            folders.append((_enter(here, part, parts, make), part))
        return Place(folder=folders[-1][0] if folders else top, name=".", parts=tuple(name for _, name in folders))

    def _open_top(self, make: bool) -> Folder:
        if self._top is None:
            within = None if self._within is None else os.path.realpath(self._within)
            if within is not None and parts_below(os.path.realpath(self._root), within) is None:
                raise ProcessError("the folder of the volume is a link that leaves the application", 403)
            with named(()):
                if make:
                    os.makedirs(self._root, exist_ok=True)
                self._top = Folder(os.open(self._root, _WALK & ~os.O_NOFOLLOW))
        return self._top

    def _below(self, target: str, path: str) -> str:
        """The rest of an absolute link target below the root."""
        for root in (str(self._root), os.path.realpath(self._root)):
            if (parts := parts_below(target, root)) is not None:
                return "/".join(parts)
        raise leaves(path)


def normal_parts(path: str) -> list[str]:
    """The parts of a path from the root, without `.` and `..`. Raises ProcessError as `Rooted.find` does."""
    if "\0" in path:
        raise ProcessError("a path cannot contain a NUL character", 400)
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                raise leaves(path)
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return parts


def leaves(path: str) -> ProcessError:
    """The refusal of a path that leads out of its root."""
    return ProcessError(f'"{path}" leaves the volume', 403)


@contextmanager
def named(parts: tuple[str, ...]) -> Iterator[None]:
    """Errors of the system name the path from the root."""
    try:
        yield
    except OSError as error:
        error.filename = "/" + "/".join(parts)
        raise


def _enter(folder: Folder, name: str, parts: tuple[str, ...], make: bool) -> Folder:
    with named(parts):
        try:
            return Folder(os.open(name, _WALK, dir_fd=folder.descriptor))
        except FileNotFoundError:
            if not make:
                raise
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=folder.descriptor)
            return Folder(os.open(name, _WALK, dir_fd=folder.descriptor))


def _link_target(folder: Folder, name: str, parts: tuple[str, ...]) -> str | None:
    """The target of a link; None for everything else, also for what is missing."""
    try:
        with named(parts):
            return os.readlink(name, dir_fd=folder.descriptor)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise
