"""`fs.<volume>.<Method>`: the methods of `new FS(volume)` on the folders that the policy shows.

Paths count from the root of their volume, with or without a leading `/`, and come back with it. Calls that write text
or bytes answer the number of bytes; calls that ask answer what they are asked; the rest answer null. `Exists`, `IsDir`,
`IsFile` and `IsLink` answer false for what is not there; everything else fails, with the path as the script wrote it.

Apart from Yao: `Abs` gives the path from the volume's root (the machine's own paths are not shown), `ReadCloser` gives
the bytes, `Download` gives `{type, content}` with the content in base64, `IsLink` looks at the link itself, inserting
beyond the end appends, and what `MkdirTemp` makes without being told where ends with the run. `Upload` is left out: it
needs a file received by a web server.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from errno import EXDEV

from bindings.policy import Volume
from bindings.processes.arguments import Arguments, Implementation, host_functions
from bindings.rooted import MAX_DEPTH, Place, Rooted, normal_parts
from bindings.services import HostCall, Json, ProcessError

MAX_READ = 64 * 1024 * 1024
"""Largest file that is read at once, in bytes."""
MAX_UNZIPPED = 256 * 1024 * 1024
"""Most bytes that one archive may hold unpacked."""
MAX_ENTRIES = 10_000
"""Most files in one archive, and most paths in one listing."""

_CREATE = os.O_WRONLY | os.O_CREAT
_ANY_MODE = 0o777
"""Yao's default permissions, before the process's umask."""


class _Files:
    """One call on one volume: its arguments as places, and what the calls below share."""

    def __init__(self, volume: Volume, given: Arguments, call: HostCall) -> None:
        self.volume = volume
        self.given = given
        self.scratch = call.scratch
        self._rooted = Rooted(volume.root, call.app_root)

    def place(self, position: int = 1, *, write: bool = False, follow: bool = True, make: bool = False) -> Place:
        """The place that an argument names; `make` makes missing folders on the way."""
        if write or make:
            self.must_be_writable()
        return self.find(self.given.string(position), follow=follow, make=make)

    def find(self, path: str, *, follow: bool = True, make: bool = False) -> Place:
        try:
            place = self._rooted.find(path, follow=follow, make=make)
        except ProcessError as error:
            raise self.given.error(error.message, error.code) from error
        if not self.volume.is_open(place.parts):
            raise self.given.error(f'"{path}" is not open to scripts: it may hold secrets', 403)
        return place

    def lexical(self, position: int) -> str:
        """An argument that is a path in the volume, as it was given."""
        path = self.given.string(position)
        try:
            normal_parts(path)
        except ProcessError as error:
            raise self.given.error(error.message, error.code) from error
        return path

    def must_be_writable(self) -> None:
        if not self.volume.writable:
            raise self.given.error(f'the volume "{self.volume.name}" is read only', 403)

    def must_not_be_root(self, place: Place) -> None:
        if not place.parts:
            raise self.given.error("the root of a volume stays where it is", 403)

    def mode(self, position: int) -> int:
        return self.given.integer(position, _ANY_MODE) & 0o777

    def read(self, place: Place) -> bytes:
        with open(place.open(os.O_RDONLY), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_READ:
                raise self.given.error(f'"{place.shown}" is larger than {MAX_READ} bytes', 500)
            return file.read(MAX_READ)

    def write(self, place: Place, data: bytes, mode: int, flags: int = os.O_TRUNC) -> int:
        with open(place.open(_CREATE | flags, mode), "wb") as file:
            file.write(data)
        return len(data)

    def below(self, folder: Place) -> Iterator[Place]:
        """Everything open in a folder, sorted by name, each folder before its content; links are not followed."""
        for item in folder.content():
            yield item
            if item.is_folder() and self.volume.is_open(item.parts):
                if len(item.parts) > MAX_DEPTH:
                    raise self.given.error(f"more than {MAX_DEPTH} folders inside each other", 500)
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


Method = Callable[[_Files], Json]


def _kind(test: Callable[[Place], bool], follow: bool = True) -> Method:
    """A question to which a missing file is no error."""

    def run(files: _Files) -> Json:
        try:
            return test(files.place(follow=follow))
        except (FileNotFoundError, NotADirectoryError):
            return False

    return run


def _read_file(files: _Files) -> Json:
    return files.read(files.place()).decode(errors="replace")


def _read_buffer(files: _Files) -> Json:
    return files.read(files.place())


def _read_base64(files: _Files) -> Json:
    from bindings.processes.encoding import encode_base64

    return encode_base64(files.read(files.place()))


def _text(given: Arguments, position: int) -> bytes:
    return given.string(position).encode(errors="surrogatepass")


def _base64(given: Arguments, position: int) -> bytes:
    from bindings.processes.encoding import decode_base64

    text = given.string(position)
    try:
        return decode_base64(text)
    except ValueError as error:
        raise given.error(f"argument {position} is {error}") from error


Content = Callable[[Arguments, int], bytes]
"""Reads an argument as what is to be written: `_text`, `_base64`, `Arguments.data`."""


def _write(content: Content) -> Method:
    def run(files: _Files) -> Json:
        data = content(files.given, 2)
        return files.write(files.place(make=True), data, files.mode(3))

    return run


def _append(content: Content) -> Method:
    def run(files: _Files) -> Json:
        data = content(files.given, 2)
        return files.write(files.place(make=True), data, files.mode(3), os.O_APPEND)

    return run


def _insert(content: Content) -> Method:
    def run(files: _Files) -> Json:
        offset, data = _offset(files.given, 2), content(files.given, 3)
        _insert_at(files, files.place(make=True), offset, data, files.mode(4))
        return len(data)

    return run


def _insert_at(files: _Files, place: Place, offset: int, data: bytes, mode: int) -> None:
    old = files.read(place) if place.exists() else b""
    files.write(place, old[:offset] + data + old[offset:], mode)


def _offset(given: Arguments, position: int) -> int:
    offset = given.integer(position)
    if offset < 0:
        raise given.error(f"argument {position} must not be negative, got {offset}")
    return offset


def _remover(remove: Callable[[Place], None]) -> Method:
    def run(files: _Files) -> Json:
        try:
            place = files.place(write=True, follow=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        files.must_not_be_root(place)
        remove(place)
        return None

    return run


def _read_dir(files: _Files) -> Json:
    recursive = files.given.boolean(2, False)
    folder = files.place()
    return files.few(files.below(folder) if recursive else folder.content())


def _glob(files: _Files) -> Json:
    pattern = files.given.string(1)
    if ".." in pattern.split("/"):
        raise files.given.error(f'"{pattern}" leaves the volume', 403)
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    return sorted(set(files.few(_matching(files, files.find("/"), parts, set()))))


def _matching(files: _Files, folder: Place, pattern: list[str], seen: set[tuple[str, int]]) -> Iterator[Place]:
    """What is in a folder and matches, part by part; `**` stands for any folders, links are followed beside it. `seen`:
    folders with how much of the pattern they were matched against, which is not done twice."""
    from fnmatch import fnmatchcase

    before = len(seen)
    seen.add((folder.shown, len(pattern)))
    if not pattern or len(seen) == before:
        return
    first, *rest = pattern
    if first == "**":
        yield from _matching(files, folder, rest, seen)
    for item in folder.content() if files.volume.is_open(folder.parts) else ():
        if first != "**" and not fnmatchcase(item.name, first):
            continue
        reached = files.reaches(item.shown)
        if reached is None:
            continue
        if first == "**":
            if not rest:
                yield item
            if item.is_folder():
                yield from _matching(files, item, pattern, seen)
        elif not rest:
            yield item
        elif reached.is_folder():
            yield from _matching(files, reached, rest, seen)


def _mkdir(files: _Files) -> Json:
    files.place(write=True).make_folder(files.mode(2))
    return None


def _mkdir_all(files: _Files) -> Json:
    files.place(make=True).make_folder(files.mode(2), exist_ok=True)
    return None


def _mkdir_temp(files: _Files) -> Json:
    from secrets import token_hex

    files.must_be_writable()
    folder, pattern = files.given.string(1, ""), files.given.string(2, "")
    if "/" in pattern or "\0" in pattern:
        raise files.given.error("argument 2 must be a name, without a slash")
    start, star, end = pattern.rpartition("*")
    name = f"{start if star else end}{token_hex(6)}{end if star else ''}"
    try:
        above = folder or files.scratch()
    except ProcessError as error:
        raise files.given.error(error.message, error.code) from error
    made = files.find(f"{above}/{name}", follow=False, make=True)
    made.make_folder(0o700)
    return made.shown


def _chmod(files: _Files) -> Json:
    place, mode = files.place(write=True), files.given.integer(2)
    place.change_mode(mode & 0o777)
    return None


def _mode(files: _Files) -> Json:
    return files.place().stat().st_mode & 0o777


def _size(files: _Files) -> Json:
    return files.place().stat().st_size


def _mod_time(files: _Files) -> Json:
    return int(files.place().stat().st_mtime)


def _mime_type(files: _Files) -> Json:
    place = files.place()
    with open(place.open(os.O_RDONLY), "rb") as file:
        return mime_type(place.name, file.read(3072))


def _download(files: _Files) -> Json:
    return {"type": _mime_type(files), "content": _read_base64(files)}


def _move(files: _Files) -> Json:
    source = files.place(1, write=True, follow=False)
    files.must_not_be_root(source)
    source.stat()
    target = files.place(2, make=True)
    files.must_not_be_root(target)
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != EXDEV:  # only between two file systems
            raise
        _copy_to(files, source, target)
        source.remove_all()
    return None


def _copy(files: _Files) -> Json:
    files.must_be_writable()
    source = files.place(1)
    source.stat()
    target = files.place(2, make=True)
    if target.parts[: len(source.parts)] == source.parts:
        raise files.given.error("a file or folder cannot be copied into itself")
    _copy_to(files, source, target)
    return None


def _copy_to(files: _Files, source: Place, target: Place) -> None:
    if not source.is_folder():
        files.write(target, files.read(source), _ANY_MODE)
        return
    target.make_folder(exist_ok=True)
    for item in source.content():
        real = files.find(item.shown)
        if item.is_link() and real.is_folder():  # it may lead back to where we came from
            raise files.given.error(f'"{item.shown}" is a link to a folder, which is not copied', 500)
        _copy_to(files, real, files.find(f"{target.shown}/{item.name}"))


def _move_append(files: _Files) -> Json:
    source = files.place(1, write=True)
    data = files.read(source)
    files.write(files.place(2, make=True), data, _ANY_MODE, os.O_APPEND)
    source.remove()
    return None


def _move_insert(files: _Files) -> Json:
    source, offset = files.place(1, write=True), _offset(files.given, 3)
    data = files.read(source)
    _insert_at(files, files.place(2, make=True), offset, data, _ANY_MODE)
    source.remove()
    return None


def _abs(files: _Files) -> Json:
    return "/" + "/".join(normal_parts(files.lexical(1)))


def _zip(files: _Files) -> Json:
    """A folder's content, or one file, with names that count from there. Links out of the volume are left out."""
    import zipfile

    files.must_be_writable()
    source = files.place(1)
    source.stat()
    target = files.place(2, make=True)
    found = files.few(files.below(source)) if source.is_folder() else [source.shown]
    top = len(source.shown.rstrip("/")) + 1 if source.is_folder() else len(source.shown) - len(source.name)
    with open(target.open(_CREATE | os.O_TRUNC, _ANY_MODE), "wb") as file, zipfile.ZipFile(file, "w") as archive:
        for path in found:
            real = files.reaches(path)
            if real is not None and path != target.shown and _is_file(real):
                archive.writestr(path[top:], files.read(real), zipfile.ZIP_DEFLATED)
    return None


def _is_file(place: Place) -> bool:
    return place.exists() and not place.is_folder()


def _unzip(files: _Files) -> Json:
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
                raise files.given.error(f"the archive holds more than {MAX_ENTRIES} files")
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
                    raise files.given.error(f"the archive holds more than {MAX_UNZIPPED} bytes")
                files.write(_entry_place(files, target, entry.filename, make=True), data, _ANY_MODE)
                written.append(posixpath.normpath(posixpath.join(shown, entry.filename)))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise files.given.error(f'"{files.given.string(1)}" cannot be unpacked: {error}', 500) from error
    return written


def _entry_place(files: _Files, target: Place, name: str, make: bool = False) -> Place:
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


def base_name(path: str) -> str:
    """The last part of a path; `.` for an empty one, `/` for the root."""
    return posixpath.basename(path.rstrip("/")) or ("/" if path else ".")


def dir_name(path: str) -> str:
    """A path without its last part, cleaned; `.` when nothing is left."""
    return posixpath.normpath(posixpath.dirname(path) or ".").replace("//", "/")


def ext_name(path: str) -> str:
    """The extension with its dot, or an empty string."""
    _, dot, extension = path.rpartition("/")[2].rpartition(".")
    return dot + extension if dot else ""


_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"ID3", "audio/mpeg"),
)
_OFFICE = {
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""Extensions that `mimetypes` does not know everywhere."""
_TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript", "image/svg+xml")


def mime_type(name: str, head: bytes) -> str:
    """The MIME type of a file by its first bytes, and by its name where those leave a choice."""
    from mimetypes import MimeTypes

    guessed = _OFFICE.get(ext_name(name).lower()) or MimeTypes().guess_type(name)[0] or ""
    if head[:4] == b"RIFF" and head[8:12] in (b"WEBP", b"WAVE"):
        return "image/webp" if head[8:12] == b"WEBP" else "audio/wav"
    for magic, found in _MAGIC:
        if head.startswith(magic):
            zipped = found == "application/zip" and guessed.startswith("application/")
            return guessed if zipped else found
    if b"\0" in head:
        return "application/octet-stream" if not guessed or guessed.startswith(_TEXT_TYPES) else guessed
    if not guessed.startswith(_TEXT_TYPES):
        guessed = "text/plain"
    return f"{guessed}; charset=utf-8" if guessed.startswith("text/") else guessed


def _on_name(function: Callable[[str], str]) -> Method:
    return lambda files: function(files.given.string(1))


METHODS: dict[str, Method] = {
    "Exists": _kind(Place.exists),
    "IsDir": _kind(Place.is_folder),
    "IsFile": _kind(_is_file),
    "IsLink": _kind(Place.is_link, follow=False),
    "ReadFile": _read_file,
    "ReadFileBuffer": _read_buffer,
    "ReadFileBase64": _read_base64,
    "ReadCloser": _read_buffer,
    "WriteFile": _write(_text),
    "WriteFileBuffer": _write(Arguments.data),
    "WriteFileBase64": _write(_base64),
    "AppendFile": _append(_text),
    "AppendBuffer": _append(Arguments.data),
    "AppendFileBuffer": _append(Arguments.data),
    "AppendBase64": _append(_base64),
    "InsertFile": _insert(_text),
    "InsertBuffer": _insert(Arguments.data),
    "InsertFileBuffer": _insert(Arguments.data),
    "InsertBase64": _insert(_base64),
    "Remove": _remover(Place.remove),
    "RemoveAll": _remover(Place.remove_all),
    "Download": _download,
    "ReadDir": _read_dir,
    "Mkdir": _mkdir,
    "MkdirAll": _mkdir_all,
    "MkdirTemp": _mkdir_temp,
    "Chmod": _chmod,
    "BaseName": _on_name(base_name),
    "DirName": _on_name(dir_name),
    "ExtName": _on_name(ext_name),
    "MimeType": _mime_type,
    "Mode": _mode,
    "Size": _size,
    "ModTime": _mod_time,
    "Move": _move,
    "Copy": _copy,
    "MoveAppend": _move_append,
    "MoveInsert": _move_insert,
    "Abs": _abs,
    "Zip": _zip,
    "Unzip": _unzip,
    "Glob": _glob,
}

VOLUMES = ("data", "system", "app", "dsl", "script", "seed")


def _on_volume(name: str, method: Method) -> Implementation:
    def run(given: Arguments, call: HostCall) -> Json:
        volume = call.policy.volumes(call.app_root)[name]
        try:
            return method(_Files(volume, given, call))
        except OSError as error:
            at = error.filename if isinstance(error.filename, str) else given.optional(1)
            raise given.error(f'"{at}": {_reason(error)}', 500) from error

    return run


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


FUNCTIONS = host_functions(
    "fs", {f"{volume}.{name}": _on_volume(volume, method) for volume in VOLUMES for name, method in METHODS.items()}
)
