"""Opening files that somebody names who is not trusted: the real path is judged, and only files are opened, in bounds.

What is judged is the file that was opened, not its name: a link that changes in between gains nothing. A device, a pipe
or a socket is never opened, so nothing waits and nothing is without end.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable

SOURCE_LIMIT = 16 << 20
"""Bytes of a source file."""
DATA_LIMIT = 64 << 20
"""Bytes of any other file that is read at once."""

Judge = Callable[[str], "str | None"]
"""Returns why the file at a real path must not be read, as a text; None if it may be read."""

_CLOSED = (
    r"(?:\.env.*|.*\.(?:conn|mcp)\.\w+|\.git|\.ssh|\.aws|\.npmrc|\.netrc|\.pypirc|id_(?:rsa|ed25519)"
    r"|.*\.(?:pem|key|p12|pfx))$"
)
"""Names of files and folders that commonly contain keys."""
_KINDS = {
    stat.S_IFBLK: "it is a device",
    stat.S_IFCHR: "it is a device",
    stat.S_IFDIR: "it is a folder",
    stat.S_IFIFO: "it is a pipe",
    stat.S_IFSOCK: "it is a socket",
}


class RefusedFileError(PermissionError):
    """A file that must not be read. `strerror` says why, and what to do if that is not obvious."""

    def __init__(self, reason: str, path: str) -> None:
        super().__init__(1, reason, path)


def holds_secrets(parts: tuple[str, ...]) -> bool:
    """Whether a path, as its parts from the root of an application, commonly holds keys. Names are taken in every case
    and spelling that a file system may take for the same."""
    for depth, name in enumerate(parts):
        plain = _plain(name)
        if re.match(_CLOSED, plain) or (not depth and plain == "connectors"):
            return True
    return False


def parts_below(path: str, folder: str) -> tuple[str, ...] | None:
    """The parts of a path from a folder that it is in, none for the folder itself; None when it is not in it. Both are
    absolute, without `..`."""
    if path == folder:
        return ()
    start = folder.rstrip("/") + "/"
    return tuple(path[len(start) :].split("/")) if path.startswith(start) else None


def open_file(path: str, judge: Judge, limit: int | None) -> int:
    """Opens a file for reading and returns the descriptor. Does not block.

    Args:
        judge: called with the real path; returns why the file may not be read, or None.
        limit: largest size in bytes; None for files that are read in parts.

    Raises:
        RefusedFileError: it is not a file, too large, or refused.
        OSError: as `os.open`.
    """
    check_kind(os.stat(path), path, limit)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        check_kind(os.fstat(descriptor), path, limit)
        if reason := judge(_real_path(descriptor, path)):
            raise RefusedFileError(reason, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_file(path: str, judge: Judge, limit: int | None = DATA_LIMIT) -> bytes:
    """The content of a file. Raises as `open_file`."""
    with open(open_file(path, judge, limit), "rb") as file:
        if limit is None:
            return file.read()
        size = os.fstat(file.fileno()).st_size
        content = file.read(min(size, limit) + 1)  # more would be allocated, however short the file is
        if len(content) > size:
            content += file.read(limit + 1 - len(content))
    if len(content) > limit:  # it has grown
        raise RefusedFileError(_too_large(limit), path)
    return content


def check_kind(found: os.stat_result, path: str, limit: int | None) -> None:
    """Raises RefusedFileError for what is not a file, or larger than `limit`, in bytes."""
    if not stat.S_ISREG(found.st_mode):
        raise RefusedFileError(_KINDS.get(stat.S_IFMT(found.st_mode), "it is not a file"), path)
    if limit is not None and found.st_size > limit:
        raise RefusedFileError(_too_large(limit), path)


def anywhere(_: str) -> None:
    """A judge for files whose path was checked before."""


def _too_large(limit: int) -> str:
    return f"it is larger than {limit >> 20} MB"


def _real_path(descriptor: int, path: str) -> str:
    """Where an open file is. The kernel of Linux knows; elsewhere its name is looked up, and has to be that file."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        real = os.path.realpath(path)
        if os.path.samestat(os.stat(real, follow_symlinks=False), os.fstat(descriptor)):
            return real
        raise RefusedFileError("it changed while it was opened", path) from None


def _plain(name: str) -> str:
    if name.isascii() and name.isprintable():
        return name.lower().rstrip(". ")
    from unicodedata import normalize

    return "".join(letter for letter in normalize("NFKC", name).casefold() if letter.isprintable()).rstrip(". ")
