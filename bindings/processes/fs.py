"""`fs.<volume>.<Method>`: the methods of `new FS(volume)`, on the folders that the policy allows.

Paths start at the root of their volume, with or without a leading `/`; results always have it. Calls that write text or
bytes return the number of bytes. Calls that ask something return the answer. All others return null. `Exists`, `IsDir`,
`IsFile` and `IsLink` return false if there is nothing at the path; all others fail, and name the path as the script
wrote it.

Differences from Yao: `Abs` returns the path from the root of the volume, so that the machine's own paths stay hidden;
`ReadCloser` returns the bytes; `Download` returns `{type, content}` with the content in base64; `IsLink` checks the
link itself; inserting beyond the end appends; a folder that `MkdirTemp` makes without a given place ends with the run.
`Upload` is missing, because it needs a file that a web server received."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from errno import EXDEV

from bindings.policy import VOLUMES, HostCall, Volume
from bindings.processes.arguments import (
    Arguments,
    Row,
    base_name,
    dir_name,
    ext_name,
    host_functions,
    mime_type,
    reason_of,
)
from bindings.processes.file_access import ANY_MODE, FileAccess, is_file, unzip_files, zip_files
from bindings.rooted import Place, normal_parts
from scripttest.typing_names import Json

Method = Callable[[FileAccess], Json]
Content = Callable[[Arguments, int], bytes]
"""Reads an argument as what is to be written: `_text`, `_base64`, `Arguments.data`."""


def _kind(test: Callable[[Place], bool], follow: bool = True) -> Method:
    """A question for which a missing file is not an error."""

    def run(files: FileAccess) -> Json:
        try:
            return test(files.place(follow=follow))
        except (FileNotFoundError, NotADirectoryError):
            return False

    return run


def _read_base64(files: FileAccess) -> Json:
    from bindings.processes.encoding import encode_base64

    return encode_base64(files.read(files.place()))


def _text(given: Arguments, position: int) -> bytes:
    return given.string(position).encode()


def _base64(given: Arguments, position: int) -> bytes:
    from bindings.processes.encoding import decode_base64

    text = given.string(position)
    with given.naming(f"argument {position} is "):
        return decode_base64(text)


def _write(content: Content, flags: int = os.O_TRUNC) -> Method:
    def run(files: FileAccess) -> Json:
        data = content(files.given, 2)
        return files.write(files.place(make=True), data, files.mode(3), flags)

    return run


def _insert(content: Content) -> Method:
    def run(files: FileAccess) -> Json:
        offset, data = _offset(files.given, 2), content(files.given, 3)
        _insert_at(files, files.place(make=True), offset, data, files.mode(4))
        return len(data)

    return run


def _insert_at(files: FileAccess, place: Place, offset: int, data: bytes, mode: int) -> None:
    old = files.read(place) if place.exists() else b""
    files.write(place, old[:offset] + data + old[offset:], mode)


def _offset(given: Arguments, position: int) -> int:
    offset = given.integer(position)
    if offset < 0:
        raise given.error(f"argument {position} must not be negative, got {offset}")
    return offset


def _remover(remove: Callable[[Place], None]) -> Method:
    def run(files: FileAccess) -> Json:
        try:
            place = files.place(write=True, follow=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        files.must_not_be_root(place)
        with files.changing(place):
            remove(place)
        return None

    return run


def _read_dir(files: FileAccess) -> Json:
    recursive = files.given.boolean(2, False)
    folder = files.place()
    return files.few(files.below(folder) if recursive else folder.content())


def _glob(files: FileAccess) -> Json:
    pattern = files.given.string(1)
    if ".." in pattern.split("/"):
        raise files.given.error(f'"{pattern}" leaves the volume', 403)
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    return sorted(set(files.few(_matching(files, files.find("/"), parts, set()))))


def _matching(files: FileAccess, folder: Place, pattern: list[str], seen: set[tuple[str, int]]) -> Iterator[Place]:
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
    for item in folder.content() if files.volume.is_open(folder.parts, is_folder=True) else ():
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


def _mkdir_temp(files: FileAccess) -> Json:
    from secrets import token_hex

    files.must_be_writable()
    folder, pattern = files.given.string(1, ""), files.given.string(2, "")
    if "/" in pattern or "\0" in pattern:
        raise files.given.error("argument 2 must be a name, without a slash")
    start, star, end = pattern.rpartition("*")
    name = f"{start if star else end}{token_hex(6)}{end if star else ''}"
    with files.given.naming():
        above = folder or files.scratch()
    made = files.find(f"{above}/{name}", follow=False, make=True)
    made.make_folder(0o700)
    return made.shown


def _mime_type(files: FileAccess) -> Json:
    place = files.place()
    with open(place.open(os.O_RDONLY), "rb") as file:
        return mime_type(place.name, file.read(3072))


def _move(files: FileAccess) -> Json:
    source = files.place(1, write=True, follow=False)
    files.must_not_be_root(source)
    files.check_content(source)
    source.stat()
    target = files.place(2, make=True)
    files.must_not_be_root(target)
    files.note(target)
    with files.changing(source, target):
        try:
            source.rename(target)
        except OSError as error:
            if error.errno != EXDEV:  # only between two file systems
                raise
            _copy_to(files, source, target)
            source.remove_all()
    return None


def _copy(files: FileAccess) -> Json:
    files.must_be_writable()
    source = files.place(1)
    source.stat()
    target = files.place(2, make=True)
    if target.parts[: len(source.parts)] == source.parts:
        raise files.given.error("a file or folder cannot be copied into itself")
    _copy_to(files, source, target)
    return None


def _copy_to(files: FileAccess, source: Place, target: Place) -> None:
    if not source.is_folder():
        files.write(target, files.read(source), ANY_MODE)
        return
    target.make_folder(exist_ok=True)
    for item in source.content():
        real = files.find(item.shown)
        if item.is_link() and real.is_folder():  # it may lead back to where we came from
            raise files.given.error(f'"{item.shown}" is a link to a folder, which is not copied', 500)
        _copy_to(files, real, files.find(f"{target.shown}/{item.name}"))


def _move_into(files: FileAccess, put: Callable[[Place, bytes], object]) -> None:
    """Removes a file after its content was put into that of the second argument."""
    source = files.place(1, write=True)
    data = files.read(source)
    put(files.place(2, make=True), data)
    with files.changing(source):
        source.remove()


def _move_append(files: FileAccess) -> None:
    _move_into(files, lambda target, data: files.write(target, data, ANY_MODE, os.O_APPEND))


def _move_insert(files: FileAccess) -> None:
    offset = _offset(files.given, 3)
    _move_into(files, lambda target, data: _insert_at(files, target, offset, data, ANY_MODE))


def _on_name(function: Callable[[str], str]) -> Method:
    return lambda files: function(files.given.string(1))


METHODS: dict[str, Method] = {
    "Exists": _kind(Place.exists),
    "IsDir": _kind(Place.is_folder),
    "IsFile": _kind(is_file),
    "IsLink": _kind(Place.is_link, follow=False),
    "ReadFile": lambda files: files.read(files.place()).decode(errors="replace"),
    "ReadFileBuffer": lambda files: files.read(files.place()),
    "ReadFileBase64": _read_base64,
    "ReadCloser": lambda files: files.read(files.place()),
    "WriteFile": _write(_text),
    "WriteFileBuffer": _write(Arguments.data),
    "WriteFileBase64": _write(_base64),
    "AppendFile": _write(_text, os.O_APPEND),
    "AppendBuffer": _write(Arguments.data, os.O_APPEND),
    "AppendFileBuffer": _write(Arguments.data, os.O_APPEND),
    "AppendBase64": _write(_base64, os.O_APPEND),
    "InsertFile": _insert(_text),
    "InsertBuffer": _insert(Arguments.data),
    "InsertFileBuffer": _insert(Arguments.data),
    "InsertBase64": _insert(_base64),
    "Remove": _remover(Place.remove),
    "RemoveAll": _remover(Place.remove_all),
    "Download": lambda files: {"type": _mime_type(files), "content": _read_base64(files)},
    "ReadDir": _read_dir,
    "Mkdir": lambda files: files.place(write=True).make_folder(files.mode(2)),
    "MkdirAll": lambda files: files.place(make=True).make_folder(files.mode(2), exist_ok=True),
    "MkdirTemp": _mkdir_temp,
    "Chmod": lambda files: files.place(write=True).change_mode(files.given.integer(2) & 0o777),
    "BaseName": _on_name(base_name),
    "DirName": _on_name(dir_name),
    "ExtName": _on_name(ext_name),
    "MimeType": _mime_type,
    "Mode": lambda files: files.place().stat().st_mode & 0o777,
    "Size": lambda files: files.place().stat().st_size,
    "ModTime": lambda files: int(files.place().stat().st_mtime),
    "Move": _move,
    "Copy": _copy,
    "MoveAppend": _move_append,
    "MoveInsert": _move_insert,
    "Abs": lambda files: "/" + "/".join(normal_parts(files.lexical(1))),
    "Zip": zip_files,
    "Unzip": unzip_files,
    "Glob": _glob,
}


def _on_volume(name: str, method: Method) -> Row:
    def run(given: Arguments, call: HostCall) -> Json:
        try:
            return method(FileAccess(Volume(name=name, application=call.app_root), given, call))
        except OSError as error:
            at = error.filename if isinstance(error.filename, str) else given.optional(1)
            raise given.error(f'"{at}": {reason_of(error)}', 500) from error

    return "given call", run


FUNCTIONS = host_functions(
    "fs", {f"{volume}.{name}": _on_volume(volume, method) for volume in VOLUMES for name, method in METHODS.items()}
)
