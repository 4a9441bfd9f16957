"""One call on files: its arguments as places of a volume, bounds, and what reading, copying and packing share; `Zip`
and `Unzip`."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from bindings.errors import ProcessError
from bindings.policy import HostCall, Volume
from bindings.processes.arguments import Arguments
from bindings.rooted import MAX_DEPTH, Place, Rooted, normal_parts
from scripttest import KEYS, belongings_of, holds_secrets, written_files
from scripttest.typing_names import Json

MAX_READ = 64 * 1024 * 1024
"""Largest file that is read at once, in bytes."""
MAX_ENTRIES = 10_000
"""Most files in one archive, and most paths in one listing."""

CREATE = os.O_WRONLY | os.O_CREAT
ANY_MODE = 0o777
"""Yao's default permissions, before the process's umask."""
MAX_UNZIPPED = 256 * 1024 * 1024
"""Most bytes of one unpacked archive."""


class FileAccess:
    """One call on one volume: its arguments as places, and what the calls below share."""

    def __init__(self, volume: Volume, given: Arguments, call: HostCall) -> None:
        self.volume = volume
        self.given = given
        self.scratch = call.scratch
        self._written = call.policy.written
        self._rooted = Rooted(volume.root, call.app_root)

    def place(self, position: int = 1, *, write: bool = False, follow: bool = True, make: bool = False) -> Place:
        """The place that an argument names; `make` makes missing folders on the way."""
        if write or make:
            self.must_be_writable()
        return self.find(self.given.string(position), follow=follow, make=make)

    def find(self, path: str, *, follow: bool = True, make: bool = False) -> Place:
        """The place of a path. Raises ProcessError, also for files that may contain secrets."""
        with self.given.naming():
            place = self._rooted.find(path, follow=follow, make=make)
        if reason := self.volume.refusal(place.parts, place.is_folder()):
            raise self._closed(path, reason)
        return place

    def _closed(self, path: str, reason: str) -> ProcessError:
        return self.given.error(f'"{path}" is not open to scripts: it {reason}', 403)

    def check_content(self, place: Place) -> None:
        """Raises ProcessError for a file in a writable volume that commonly holds keys, unless a script of the run has
        written it. Raises OSError when there is no such file."""
        if self.volume.writable and holds_secrets(place.parts):
            found, own = place.stat(), belongings_of(os.path.realpath(self.volume.root.parent))
            if (found.st_dev, found.st_ino) not in self._written and not own.is_named(("data", *place.parts)):
                raise self._closed(place.shown, KEYS)

    def lexical(self, position: int) -> str:
        """An argument that is a path in the volume, as it was given."""
        path = self.given.string(position)
        with self.given.naming():
            normal_parts(path)
        return path

    def must_be_writable(self) -> None:
        """Raises ProcessError for a volume that is only read."""
        if not self.volume.writable:
            raise self.given.error(f'the volume "{self.volume.name}" is read only', 403)

    def must_not_be_root(self, place: Place) -> None:
        """Raises ProcessError for the root of a volume."""
        if not place.parts:
            raise self.given.error("the root of a volume stays where it is", 403)

    def mode(self, position: int) -> int:
        """An argument that is permissions."""
        return self.given.integer(position, ANY_MODE) & 0o777

    def read(self, place: Place) -> bytes:
        """The whole content of a file. Raises ProcessError when it is larger than `MAX_READ`, and as `check_content`;
        OSError."""
        self.check_content(place)
        with open(place.open(os.O_RDONLY), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_READ:
                raise self.given.error(f'"{place.shown}" is larger than {MAX_READ} bytes', 500)
            return file.read(MAX_READ)

    def write(self, place: Place, data: bytes, mode: int, flags: int = os.O_TRUNC) -> int:
        """Writes to a file and returns the number of bytes. Replaces the content, unless `flags` say otherwise."""
        self.note(place)
        with self.changing(place), open(place.open(CREATE | flags, mode), "wb") as file:
            found = os.fstat(file.fileno())
            if not found.st_size:
                self._written.add((found.st_dev, found.st_ino))
            file.write(data)
        return len(data)

    def note(self, place: Place) -> None:
        """Takes note that a script has written at a place."""
        written_files.note(self._real(place))

    @contextmanager
    def changing(self, *places: Place) -> Iterator[None]:
        """In which a script writes at places, or moves or removes what is there."""
        paths = [self._real(place) for place in places]
        written_files.begin(*paths)
        try:
            yield
        finally:
            written_files.end(*paths)

    def _real(self, place: Place) -> str:
        return os.path.realpath(self.volume.root) + place.shown

    def below(self, folder: Place) -> Iterator[Place]:
        """Everything open in a folder, sorted by name, each folder before its content; links are not followed."""
        for item in folder.content():
            yield item
            if item.is_folder() and self.volume.is_open(item.parts, is_folder=True):
                if len(item.parts) > MAX_DEPTH:
                    raise self.given.error(f"more than {MAX_DEPTH} nested folders", 500)
                yield from self.below(item)

    def reaches(self, path: str) -> Place | None:
        """Where a path leads when it is a link; None when that is not open to scripts."""
        try:
            return self.find(path)
        except (ProcessError, OSError):
            return None

    def few(self, places: Iterable[Place]) -> list[str]:
        """The paths of places, if they are not too many."""
        kept = []
        for place in places:
            kept.append(place.shown)
            if len(kept) > MAX_ENTRIES:
                raise self.given.error(f"more than {MAX_ENTRIES} files", 500)
        return kept


def is_file(place: Place) -> bool:
    """Whether there is a file, and no folder."""
    return place.exists() and not place.is_folder()


def zip_files(files: FileAccess) -> Json:
    """A folder's content, or one file, with names relative to it. Links out of the volume are left out."""
    import zipfile

    files.must_be_writable()
    source = files.place(1)
    source.stat()
    target = files.place(2, make=True)
    found = files.few(files.below(source)) if source.is_folder() else [source.shown]
    top = len(source.shown.rstrip("/")) + 1 if source.is_folder() else len(source.shown) - len(source.name)
    files.note(target)
    with (
        files.changing(target),
        open(target.open(CREATE | os.O_TRUNC, ANY_MODE), "wb") as file,
        zipfile.ZipFile(file, "w") as archive,
    ):
        for path in found:
            real = files.reaches(path)
            if real is not None and path != target.shown and is_file(real):
                archive.writestr(path[top:], files.read(real), zipfile.ZIP_DEFLATED)
    return None


def unzip_files(files: FileAccess) -> Json:
    """Answers the files written, as paths below the second argument."""
    import zipfile

    files.must_be_writable()
    source, shown = files.place(1), files.lexical(2)
    written = []
    left = MAX_UNZIPPED
    try:
        with open(source.open(os.O_RDONLY), "rb") as file, zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > MAX_ENTRIES:
                raise files.given.error(f"the archive has more than {MAX_ENTRIES} files")
            target = files.place(2, make=True)
            for entry in entries:
                with suppress(FileNotFoundError):
                    _entry_place(files, target, entry.filename)
            target.make_folder(exist_ok=True)
            for entry in entries:
                with archive.open(entry) as packed:
                    data = packed.read(left + 1)
                left -= len(data)
                if left < 0:
                    raise files.given.error(f"the archive has more than {MAX_UNZIPPED} bytes")
                files.write(_entry_place(files, target, entry.filename, make=True), data, ANY_MODE)
                written.append(posixpath.normpath(posixpath.join(shown, entry.filename)))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise files.given.error(f'"{files.given.string(1)}" cannot be unpacked: {error}', 500) from error
    return written


def _entry_place(files: FileAccess, target: Place, name: str, make: bool = False) -> Place:
    """Where an entry of an archive goes. An entry that would leave the target folder is refused."""
    leaves = files.given.error(f'the archive entry "{name}" leaves the target folder', 403)
    if name.startswith("/") or ".." in name.replace("\\", "/").split("/"):
        raise leaves
    try:
        place = files.find(f"{target.shown}/{name}", make=make)
    except ProcessError as error:
        raise leaves from error
    if place.parts[: len(target.parts)] != target.parts:
        raise leaves
    return place
