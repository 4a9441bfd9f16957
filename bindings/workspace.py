"""Folders for a while: the scratch folder of a run, and in it the workspaces of tests, in which sandbox agents write.

`data/tmp/yao-test-...` is made when a script first asks for a temporary folder, and removed with its content when the
run ends, however it ends. A run that was killed cannot do that: its lock on the folder ends with it, and the next run
removes it. A workspace is made when it is first used, and removed with its test.

Reading accepts only clean relative paths; writing accepts any path and puts it below the folder, as Yao does. Links,
which only programs can make, are not followed out of it."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bindings.errors import ProcessError
from bindings.rooted import Place, Rooted
from scripttest import hold, written_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bindings.world import World


_OPENED = "workspace"
MOST_BYTES = 64 * 1024 * 1024
"""The largest size of one file that is read or written."""
_COPIED = "Copy takes paths of the workspace: host files are not available offline"
PREFIX = "yao-test-"
"""How the names of these folders begin."""
PLACE = "/tmp"
"""Where they are, in the volume `data`."""


class Workspace:
    """The workspace of one test. To be closed."""

    def __init__(self, scratch: Path) -> None:
        """Makes a folder in the scratch folder of the run. Raises OSError."""
        import tempfile

        self.root = Path(tempfile.mkdtemp(prefix="workspace-", dir=os.path.realpath(scratch)))
        """Absolute path of the folder."""
        self._rooted = Rooted(self.root)

    def close(self) -> None:
        """Removes the folder with its content."""
        _remove(Rooted(self.root.parent), self.root.name)

    def read(self, path: str) -> str:
        """The text of a file; bytes that are not UTF-8 are replaced. Raises ProcessError."""
        with _told("ReadFile", "read", path):
            return self._bytes(self._existing(path)).decode("utf-8", errors="replace")

    def write(self, path: str, content: str) -> None:
        """Writes a file, and makes the folders above it. Raises ProcessError."""
        self.write_bytes(path, content.encode("utf-8", "surrogatepass"))

    def write_bytes(self, path: str, data: bytes) -> None:
        """The same for what need not be text. Raises ProcessError."""
        if len(data) > MOST_BYTES:
            raise ProcessError(f"WriteFile failed: write {path}: it has {len(data)} bytes, the limit is {MOST_BYTES}")
        with _told("WriteFile", "write", path):
            _put(self._below(path, make=True), data)

    def exists(self, path: str) -> bool:
        """Whether there is something; of a path that is not clean it is true, as in Yao."""
        if not _is_clean(path):
            return True
        try:
            return self._rooted.find(path).exists()
        except (OSError, ProcessError):
            return False

    def read_folder(self, path: str) -> list[dict[str, Any]]:
        """The content of a folder: `[{name, is_dir, size}]`, by name. Raises ProcessError."""
        with _told("ReadDir", "readdir", path):
            return [
                {
                    "name": place.name,
                    "is_dir": place.is_folder(),
                    "size": 0 if place.is_folder() else place.stat().st_size,
                }
                for place in self._existing(path).content()
            ]

    def stat(self, path: str) -> dict[str, Any]:
        """`{name, size, is_dir, mode, mtime}`; the time is in milliseconds. Raises ProcessError."""
        with _told("Stat", "stat", path):
            place = self._existing(path)
            found = place.stat()
            return {
                "name": place.parts[-1] if place.parts else ".",
                "size": found.st_size,
                "is_dir": stat.S_ISDIR(found.st_mode),
                "mode": stat.S_IMODE(found.st_mode),
                "mtime": int(found.st_mtime * 1000),
            }

    def make_folders(self, path: str) -> None:
        """Makes a folder and those above it. Raises ProcessError."""
        with _told("MkdirAll", "mkdir", path):
            place = self._below(path, make=True)
            if place.parts:
                place.make_folder(exist_ok=True)

    def remove(self, path: str) -> None:
        """Removes a file or an empty folder. Raises ProcessError."""
        with _told("Remove", "remove", path):
            place = self._below(path, follow=False)
            place.stat()
            place.remove()

    def remove_all(self, path: str) -> None:
        """Removes a file, or a folder with its content. A missing one is not an error. Raises ProcessError."""
        with _told("RemoveAll", "remove", path):
            try:
                place = self._below(path, follow=False)
            except FileNotFoundError:
                return
            for one in [place] if place.parts else self._rooted.find("").content():
                one.remove_all()

    def rename(self, old: str, new: str) -> None:
        """Puts a file or folder at another path. Raises ProcessError."""
        with _told("Rename", "rename", old):
            source = self._below(old, follow=False)
            source.stat()
            source.rename(self._below(new, follow=False, make=True))

    def copy(self, source: str, target: str) -> None:
        """Copies a file, or a folder with its content. Raises ProcessError."""
        if "://" in source or "://" in target:
            raise ProcessError(f"Copy failed: copy {source}: {_COPIED}")
        with _told("Copy", "copy", source):
            self._copied(self._below(source), "/".join(self._below(target, make=True).parts))

    def files(self) -> dict[str, bytes]:
        """All files by their paths, sorted; links are left out."""
        found = {}
        for folder, folders, names in os.walk(self.root):
            folders.sort()
            for name in names:
                path = Path(folder, name)
                if path.is_file() and not path.is_symlink() and path.stat().st_size <= MOST_BYTES:
                    found[path.relative_to(self.root).as_posix()] = path.read_bytes()
        return dict(sorted(found.items()))

    def _copied(self, source: Place, target: str) -> None:
        if not source.is_folder():
            _put(self._rooted.find(target, make=True), self._bytes(source))
            return
        if target:
            self._rooted.find(target, make=True).make_folder(exist_ok=True)
        for inner in source.content():
            if not inner.is_link():
                self._copied(inner, f"{target}/{inner.name}")

    def _bytes(self, place: Place) -> bytes:
        with os.fdopen(place.open(os.O_RDONLY), "rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise OSError(27, f"it has more than {MOST_BYTES} bytes")
        return data

    def _existing(self, path: str) -> Place:
        if not _is_clean(path):
            raise OSError(22, "invalid argument")
        place = self._rooted.find(path)
        place.stat()
        return place

    def _below(self, path: str, *, follow: bool = True, make: bool = False) -> Place:
        try:
            return self._rooted.find(path, follow=follow, make=make)
        except ProcessError:
            raise PermissionError(13, "permission denied") from None


def _put(place: Place, data: bytes) -> None:
    with os.fdopen(place.open(os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), "wb") as file:
        file.write(data)


def workspace_of(world: World, scratch: Callable[[], Path]) -> Workspace:
    """The workspace of a test, made in the scratch folder of the run when first asked for. Raises ProcessError."""

    def open(_: World) -> Workspace:
        try:
            return Workspace(scratch())
        except OSError as error:
            cause = error.strerror or type(error).__name__
            raise ProcessError(f"Cannot make a workspace below data/tmp of the application: {cause}", 500) from error

    workspace: Workspace = world.opened(_OPENED, open)
    return workspace


def opened_workspace(world: World) -> Workspace | None:
    """The same; None if it has not been used."""
    workspace: Workspace | None = world.held(_OPENED)
    return workspace


def _is_clean(path: str) -> bool:
    return path == "." or all(part not in ("", ".", "..") for part in path.split("/"))


@contextmanager
def _told(method: str, operation: str, path: str) -> Iterator[None]:
    """Errors of the system as scripts see them."""
    try:
        yield
    except ProcessError as error:
        raise ProcessError(f"{method} failed: {operation} {path}: permission denied") from error
    except OSError as error:
        cause = (error.strerror or type(error).__name__).lower()
        raise ProcessError(f"{method} failed: {operation} {path}: {cause}") from error
    except (ValueError, UnicodeError) as error:
        raise ProcessError(f"{method} failed: {operation} {path}: invalid argument") from error


class Scratch:
    """The scratch folder of one run. Threads may share it."""

    def __init__(self, data: Path) -> None:
        """`data` is the folder of the volume; nothing is made yet."""
        self._data = data
        self._lock = threading.Lock()
        self._path: str | None = None
        self._held: int | None = None
        self._made: list[Path] = []
        self._closed = False

    def folder(self) -> str:
        """The path of the folder in the volume. Raises OSError; ProcessError when the run has ended."""
        with self._lock:
            if self._closed:
                raise ProcessError("the run has ended")
            if self._path is None:
                self._path = self._make()
            return self._path

    def close(self) -> None:
        """Removes the folder, those of runs that were killed, and the folders above it that it needed."""
        with self._lock:
            self._closed = True
            self._sweep()
            if self._path is not None:
                _remove(self._volume(), self._path)
            if self._held is not None:
                os.close(self._held)
                self._held = None
            for path in self._made:
                with suppress(OSError):  # it has other things in it by now
                    path.rmdir()

    def _volume(self) -> Rooted:
        return Rooted(self._data, self._data.parent)

    def _make(self) -> str:
        from secrets import token_hex

        self._made = [path for path in (self._data / PLACE[1:], self._data) if not os.path.lexists(path)]
        while True:
            place = self._volume().find(f"{PLACE}/{PREFIX}{token_hex(6)}", follow=False, make=True)
            place.make_folder(0o700)
            self._held = place.open_folder()
            written_files.hold(os.path.realpath(self._data) + place.shown)
            if hold(self._held) is not False and place.exists():
                return place.shown
            os.close(self._held)  # another run took it for one that was left behind

    def _sweep(self) -> None:
        """Removes the folders of runs that have ended."""
        try:
            all = self._volume().find(PLACE).content()
        except (OSError, ProcessError):
            return
        for place in all:
            if place.name.startswith(PREFIX) and place.shown != self._path:
                with suppress(OSError):
                    descriptor = place.open_folder()
                    if hold(descriptor):
                        _remove(self._volume(), place.shown)
                    os.close(descriptor)


def _remove(volume: Rooted, path: str) -> None:
    """Removes a folder with its content, also what nobody may enter; what cannot be removed stays."""
    try:
        volume.find(path, follow=False).remove_all()
    except (OSError, ProcessError, RecursionError):
        with suppress(OSError, ProcessError, RecursionError):
            place = volume.find(path, follow=False)
            _let_in(place)
            place.remove_all()


def _let_in(place: Place) -> None:
    """Lets the owner into folders whose permissions keep everybody out."""
    if place.is_folder():
        place.change_mode(0o700)
        for inner in place.content():
            _let_in(inner)
