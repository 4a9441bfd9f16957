"""Files of an application that the command itself reads and writes.

Links in an application are not trusted, because they come with it. A link that leads out of it, or to a file that
commonly holds keys, is followed neither for reading nor for writing. The path itself decides which application it
belongs to; paths that the user names outside of applications are not checked."""

from __future__ import annotations

import os
from collections.abc import Callable
from os.path import isdir, isfile, join, realpath
from pathlib import Path

from scripttest import DATA_LIMIT, RefusedFileError, belongings_of, holds_secrets, open_file, parts_below, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, TextIO

Judge = Callable[[str], "str | None"]


def application_of(path: Path) -> Path | None:
    """The application in which a file or folder is: the nearest folder above it with `app.yao` or `assistants/`, but
    none to which a link leads out of another one; None when there is none."""
    found: Path | None = None
    for folder in path.parents:
        name = str(folder)
        is_application = isfile(join(name, "app.yao")) or isdir(join(name, "assistants"))
        if is_application and (found is None or parts_below(realpath(found), realpath(folder)) is None):
            found = folder
    return found


def read_bytes(path: Path, limit: int | None = DATA_LIMIT) -> bytes:
    """The content of a file. Raises RefusedFileError for a link out of the application, for what is not a file, and for
    more than `limit`, in bytes; and OSError. A path that is in no application is the user's own, and taken as it is: it
    may be a pipe, which blocks."""
    judge = _judge_of(path)
    return path.read_bytes() if judge is None else read_file(str(path), judge, limit)


def reader_below(root: Path, limit: int) -> Callable[[str], bytes]:
    """Reads many files of one application, by their paths below its root. Raises as `read_bytes`."""
    real = os.path.realpath(root)
    return lambda name: read_file(f"{real}/{name}", _judge_below(real, tuple(name.split("/"))), limit)


def read_text(path: Path, errors: str = "strict") -> str:
    """The UTF-8 text of a file, its line ends as `\\n`. Raises as `read_bytes`, and UnicodeDecodeError."""
    return read_bytes(path).decode("utf-8-sig", errors).replace("\r\n", "\n").replace("\r", "\n")


def open_binary(path: Path) -> BinaryIO:
    """Opens a file that is read piece by piece, however large. Raises as `read_bytes`."""
    judge = _judge_of(path)
    return open(path if judge is None else open_file(str(path), judge, None), "rb")


def open_text(path: Path, errors: str = "strict") -> TextIO:
    """Opens a UTF-8 text that is read piece by piece, however large. Raises as `read_bytes`."""
    judge = _judge_of(path)
    return open(path if judge is None else open_file(str(path), judge, None), encoding="utf-8-sig", errors=errors)


def read_named(path: Path, folder: Path) -> bytes:
    """The content of a file that a text in an application names, such as a case. Raises as `check_named`."""
    return read_file(str(path), _judge_of_named(folder), DATA_LIMIT)


def check_named(path: Path, folder: Path) -> None:
    """Checks whether a file that a text names may be read: it must belong to the application that contains the text,
    and not commonly hold keys. Reads nothing. `path`: the file. `folder`: the folder of the text; outside of all
    applications, it is treated as one. Raises RefusedFileError: it is outside, refused, not a file, or larger than
    `DATA_LIMIT`; OSError: it does not exist, or cannot be opened."""
    os.close(open_file(str(path), _judge_of_named(folder), DATA_LIMIT))


def check_target(path: Path) -> None:
    """Looks whether a file may be written, or a folder be made, at an absolute path. Raises RefusedFileError."""
    judge = _judge_of(path)
    if judge is not None and (reason := judge(os.path.realpath(path))):
        raise RefusedFileError(reason.partition("; ")[0] + "; use the actual path", str(path))


def _judge_of(path: Path) -> Judge | None:
    """Judges where a path leads; None when it is in no application."""
    name = os.path.abspath(path)
    root = application_of(Path(name))
    return None if root is None else _judge_below(os.path.realpath(root), parts_below(name, str(root)) or ())


def _judge_below(root: str, named: tuple[str, ...]) -> Judge:
    """Judges where a path leads in an application; `root` is its real path, `named` are the parts of the path."""

    def judge(real: str) -> str | None:
        parts = parts_below(real, root)
        if parts is None:
            return f"a link leads outside the application, to {real}; replace the link with a file"
        if parts != named and holds_secrets(parts) and not holds_secrets(named):
            return f"a link leads to {'/'.join(parts)}, which may contain secrets; replace the link with a file"
        return None

    return judge


def _judge_of_named(folder: Path) -> Judge:
    start = Path(os.path.abspath(folder))
    application = application_of(start / "case")
    root = os.path.realpath(application or start)
    near = parts_below(os.path.realpath(start), root) or ()

    def judge(real: str) -> str | None:
        parts = parts_below(real, root)
        if parts is None:
            return f"it is not in {'the application' if application else start}; copy the file there"
        if application is None:
            return f"{'/'.join(parts)} may contain secrets" if holds_secrets(parts) else None
        reason = belongings_of(root).refused(parts, near=near)
        return f"{'/'.join(parts)} {reason}" if reason else None

    return judge
