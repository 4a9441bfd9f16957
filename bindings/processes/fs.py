"""`fs.<volume>.<Method>`: the methods of `new FS(volume)` on the folders that the policy shows.

Paths count from the root of their volume, with or without a leading `/`, and come back with it. Calls that write text
or bytes answer the number of bytes; calls that ask answer what they are asked; the rest answer null. `Exists`, `IsDir`,
`IsFile` and `IsLink` answer false for what is not there; everything else fails, with the path as the script wrote it.

Apart from Yao: `Abs` gives the path from the volume's root (the machine's own paths are not shown), `ReadCloser` gives
the bytes, `Download` gives `{type, content}` with the content in base64, `IsLink` looks at the link itself, and
inserting beyond the end appends. `Upload` is left out: it needs a file received by a web server.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterator
from errno import EXDEV
from pathlib import Path
from typing import Any

from bindings.policy import Volume, open_file
from bindings.processes.arguments import Arguments, Implementation, host_functions
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
    """One call on one volume: its arguments as paths, and what the calls below share."""

    def __init__(self, volume: Volume, given: Arguments) -> None:
        self.volume = volume
        self.given = given

    def path(self, position: int = 1, *, write: bool = False, follow: bool = True) -> Path:
        """The real path of an argument."""
        if write:
            self.must_be_writable()
        return self.located(self.given.string(position), follow=follow)

    def located(self, path: str, *, follow: bool = True) -> Path:
        try:
            return self.volume.locate(path, follow=follow)
        except ProcessError as error:
            raise self.given.error(error.message, error.code) from error

    def must_be_writable(self) -> None:
        if not self.volume.writable:
            raise self.given.error(f'the volume "{self.volume.name}" is read only', 403)

    def must_not_be_root(self, path: Path) -> None:
        if not self.volume.parts(path):
            raise self.given.error("the root of a volume stays where it is", 403)

    def mode(self, position: int) -> int:
        return self.given.integer(position, _ANY_MODE) & 0o777

    def read(self, path: Path) -> bytes:
        with open(open_file(path, os.O_RDONLY), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_READ:
                raise self.given.error(f'"{self.volume.shown(path)}" is larger than {MAX_READ} bytes', 500)
            return file.read(MAX_READ)

    def write(self, path: Path, data: bytes, mode: int, flags: int = os.O_TRUNC) -> int:
        """Writes a file, making missing parents."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(open_file(path, _CREATE | flags, mode), "wb") as file:
            file.write(data)
        return len(data)

    def below(self, path: Path) -> Iterator[Path]:
        """Everything in a folder, sorted by name, each folder before its content; links are not followed."""
        for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
            yield Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                yield from self.below(Path(entry.path))

    def few(self, paths: Iterator[Path]) -> list[Path]:
        kept = []
        for path in paths:
            kept.append(path)
            if len(kept) > MAX_ENTRIES:
                raise self.given.error(f"more than {MAX_ENTRIES} files", 500)
        return kept


Method = Callable[[_Files], Json]


def _exists(files: _Files) -> Json:
    return files.path().exists()


def _is_dir(files: _Files) -> Json:
    return files.path().is_dir()


def _is_file(files: _Files) -> Json:
    path = files.path()
    return path.exists() and not path.is_dir()


def _is_link(files: _Files) -> Json:
    return files.path(follow=False).is_symlink()


def _read_file(files: _Files) -> Json:
    return files.read(files.path()).decode(errors="replace")


def _read_buffer(files: _Files) -> Json:
    return files.read(files.path())


def _read_base64(files: _Files) -> Json:
    from bindings.processes.encoding import encode_base64

    return encode_base64(files.read(files.path()))


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
        path, data = files.path(write=True), content(files.given, 2)
        return files.write(path, data, files.mode(3))

    return run


def _append(content: Content) -> Method:
    def run(files: _Files) -> Json:
        path, data = files.path(write=True), content(files.given, 2)
        return files.write(path, data, files.mode(3), os.O_APPEND)

    return run


def _insert(content: Content) -> Method:
    def run(files: _Files) -> Json:
        path, offset, data = files.path(write=True), _offset(files.given, 2), content(files.given, 3)
        _insert_at(files, path, offset, data, files.mode(4))
        return len(data)

    return run


def _insert_at(files: _Files, path: Path, offset: int, data: bytes, mode: int) -> None:
    old = files.read(path) if path.exists() else b""
    files.write(path, old[:offset] + data + old[offset:], mode)


def _offset(given: Arguments, position: int) -> int:
    offset = given.integer(position)
    if offset < 0:
        raise given.error(f"argument {position} must not be negative, got {offset}")
    return offset


def _remove(files: _Files) -> Json:
    path = files.path(write=True, follow=False)
    files.must_not_be_root(path)
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    return None


def _remove_all(files: _Files) -> Json:
    import shutil

    path = files.path(write=True, follow=False)
    files.must_not_be_root(path)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    return None


def _read_dir(files: _Files) -> Json:
    path, recursive = files.path(), files.given.boolean(2, False)
    found = files.few(files.below(path) if recursive else iter(sorted(path.iterdir())))
    return [files.volume.shown(item) for item in found]


def _glob(files: _Files) -> Json:
    import glob

    pattern = files.given.string(1).lstrip("/")
    if ".." in pattern.split("/"):
        raise files.given.error(f'"{pattern}" leaves the volume', 403)
    root = files.located("/")
    found = []
    for name in sorted(glob.iglob(pattern, root_dir=root, recursive=True, include_hidden=True)):
        if name and _inside(files.volume, name):
            found.append(root / name)
    return [files.volume.shown(item) for item in files.few(iter(found))]


def _inside(volume: Volume, name: str) -> bool:
    try:
        volume.locate(name)
    except ProcessError:
        return False
    return True


def _mkdir(files: _Files) -> Json:
    files.path(write=True).mkdir(files.mode(2))
    return None


def _mkdir_all(files: _Files) -> Json:
    files.path(write=True).mkdir(files.mode(2), parents=True, exist_ok=True)
    return None


def _mkdir_temp(files: _Files) -> Json:
    import tempfile

    files.must_be_writable()
    folder, pattern = files.given.string(1, "") or "/tmp", files.given.string(2, "")
    if "/" in pattern or "\0" in pattern:
        raise files.given.error("argument 2 must be a name, without a slash")
    start, star, end = pattern.rpartition("*")
    parent = files.located(folder)
    parent.mkdir(parents=True, exist_ok=True)
    made = tempfile.mkdtemp(end if star else "", start if star else end, parent)
    return files.volume.shown(Path(made))


def _chmod(files: _Files) -> Json:
    path, mode = files.path(write=True), files.given.integer(2)
    path.chmod(mode & 0o777)
    return None


def _mode(files: _Files) -> Json:
    return files.path().stat().st_mode & 0o777


def _size(files: _Files) -> Json:
    return files.path().stat().st_size


def _mod_time(files: _Files) -> Json:
    return int(files.path().stat().st_mtime)


def _mime_type(files: _Files) -> Json:
    path = files.path()
    with open(open_file(path, os.O_RDONLY), "rb") as file:
        return mime_type(path.name, file.read(3072))


def _download(files: _Files) -> Json:
    return {"type": _mime_type(files), "content": _read_base64(files)}


def _move(files: _Files) -> Json:
    import shutil

    source, target = files.path(1, write=True, follow=False), files.path(2, write=True)
    files.must_not_be_root(source)
    files.must_not_be_root(target)
    source.lstat()
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        source.replace(target)
    except OSError as error:
        if error.errno != EXDEV:  # only between two file systems
            raise
        shutil.move(source, target)
    return None


def _copy(files: _Files) -> Json:
    source, target = files.path(1), files.path(2, write=True)
    if source == target or source in target.parents:
        raise files.given.error("a file or folder cannot be copied into itself")
    _copy_to(files, source, target)
    return None


def _copy_to(files: _Files, source: Path, target: Path) -> None:
    if not source.is_dir():
        files.write(target, files.read(source), _ANY_MODE)
        return
    target.mkdir(parents=True, exist_ok=True)
    for item in sorted(source.iterdir()):
        real = files.located(files.volume.shown(item))
        if item.is_symlink() and real.is_dir():  # it may lead back to where we came from
            raise files.given.error(f'"{files.volume.shown(item)}" is a link to a folder, which is not copied', 500)
        _copy_to(files, real, target / item.name)


def _move_append(files: _Files) -> Json:
    source, target = files.path(1, write=True), files.path(2, write=True)
    files.write(target, files.read(source), _ANY_MODE, os.O_APPEND)
    source.unlink()
    return None


def _move_insert(files: _Files) -> Json:
    source, target, offset = files.path(1, write=True), files.path(2, write=True), _offset(files.given, 3)
    _insert_at(files, target, offset, files.read(source), _ANY_MODE)
    source.unlink()
    return None


def _abs(files: _Files) -> Json:
    return files.volume.shown(files.path(follow=False))


def _zip(files: _Files) -> Json:
    """A folder's content, or one file, with names that count from there. Links out of the volume are left out."""
    import zipfile

    source, target = files.path(1), files.path(2, write=True)
    folder = source if source.is_dir() else source.parent
    found = files.few(files.below(source)) if source.is_dir() else [source]
    source.stat()
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(open_file(target, _CREATE | os.O_TRUNC, _ANY_MODE), "wb") as file, zipfile.ZipFile(file, "w") as archive:
        for item in found:
            if item.is_file() and item != target and _inside(files.volume, files.volume.shown(item)):
                data = files.read(files.located(files.volume.shown(item)))
                archive.writestr(item.relative_to(folder).as_posix(), data, zipfile.ZIP_DEFLATED)
    return None


def _unzip(files: _Files) -> Json:
    """Answers the files written, as paths below the second argument."""
    import zipfile

    source, target = files.path(1), files.path(2, write=True)
    shown = files.given.string(2)
    written = []
    left = MAX_UNZIPPED
    try:
        with open(open_file(source, os.O_RDONLY), "rb") as file, zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > MAX_ENTRIES:
                raise files.given.error(f"the archive holds more than {MAX_ENTRIES} files")
            paths = [_entry_path(files, target, entry.filename) for entry in entries]
            target.mkdir(parents=True, exist_ok=True)
            for entry, path in zip(entries, paths, strict=True):
                with archive.open(entry) as packed:
                    data = packed.read(left + 1)
                left -= len(data)
                if left < 0:
                    raise files.given.error(f"the archive holds more than {MAX_UNZIPPED} bytes")
                files.write(path, data, _ANY_MODE)
                written.append(posixpath.normpath(posixpath.join(shown, entry.filename)))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise files.given.error(f'"{files.given.string(1)}" cannot be unpacked: {error}', 500) from error
    return written


def _entry_path(files: _Files, target: Path, name: str) -> Path:
    """Where an entry of an archive goes. An entry that would leave the target folder is refused."""
    from bindings.policy import resolve

    if name.startswith("/") or ".." in name.replace("\\", "/").split("/"):
        raise files.given.error(f'the archive entry "{name}" leaves the target folder', 403)
    try:
        return resolve(target, name)
    except ProcessError as error:
        raise files.given.error(f'the archive entry "{name}" leaves the target folder', error.code) from error


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
    "Exists": _exists,
    "IsDir": _is_dir,
    "IsFile": _is_file,
    "IsLink": _is_link,
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
    "Remove": _remove,
    "RemoveAll": _remove_all,
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
            return method(_Files(volume, given))
        except OSError as error:
            raise given.error(f'"{_named(volume, given, error)}": {_reason(error)}', 500) from error

    return run


def _named(volume: Volume, given: Arguments, error: OSError) -> Any:
    """The path at fault as the script knows it."""
    if isinstance(error.filename, str):
        try:
            return volume.shown(Path(error.filename))
        except ValueError:  # it lies elsewhere
            pass
    return given.optional(1)


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


FUNCTIONS = host_functions(
    "fs", {f"{volume}.{name}": _on_volume(volume, method) for volume in VOLUMES for name, method in METHODS.items()}
)
