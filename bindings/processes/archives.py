"""`Zip` and `Unzip` of files."""

from __future__ import annotations

import os
import posixpath
from contextlib import suppress

from bindings.errors import ProcessError
from bindings.processes.file_access import ANY_MODE, CREATE, MAX_ENTRIES, FileAccess, is_file
from bindings.rooted import Place
from scripttest.typing_names import Json

MAX_UNZIPPED = 256 * 1024 * 1024
"""Most bytes of one unpacked archive."""


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
    with open(target.open(CREATE | os.O_TRUNC, ANY_MODE), "wb") as file, zipfile.ZipFile(file, "w") as archive:
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
