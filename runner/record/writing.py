r"""How reports are written. Texts: JSON that every reader accepts, and files named from the repository, so that the
reports of two machines agree. And a report that grows line by line, which one run at a time writes: each line is passed
to the system at once, so that a kill of the command loses no more than the one that was being written.

| value | in reports |
| --- | --- |
| half of a surrogate pair, which UTF-8 cannot represent | the six characters `\ud800`, as on the console |
| a number that JSON cannot represent, such as `1e400` | a text: `"Infinity"` |

The lock is that of `flock`. It belongs to the open file, so it ends with the process, however that ends, and children
do not inherit it. If the file system has no locks, several runs can write the file."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from io import BufferedWriter, FileIO
from pathlib import Path

from runner.errors import ConfigurationError, RunnerError
from scripttest import hold
from scripttest.typing_names import Record, TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


Item = TypeVar("Item")
_LONE = "[\ud800-\udfff]"
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False)


def json_line(value: Any) -> str:
    """A JSON value in one line that every reader accepts."""
    try:
        text = _encoder.encode(value)
    except ValueError:
        return json_line(plain(value))
    return without_halves(text)


def json_pieces(value: Any) -> Iterator[str]:
    """The same in pieces, of which the longest are the texts in the value; made as they are used. Halves of surrogate
    pairs are left in. Raises ValueError for what JSON cannot represent."""
    return _encoder.iterencode(value)


def without_halves(text: str) -> str:
    """JSON text without halves of surrogate pairs, which UTF-8 cannot encode."""
    return text if text.isascii() else re.sub(_LONE, lambda half: f"\\\\u{ord(half[0]):04x}", text)


def is_utf8(text: str) -> bool:
    """Whether UTF-8 can encode a text."""
    return text.isascii() or not re.search(_LONE, text)


def plain(value: Any) -> Any:
    """A JSON value that every reader accepts."""
    return json.loads(without_halves(json.dumps(value, ensure_ascii=False)), parse_constant=str)


def utf8(text: str) -> bytes:
    """A text in the form in which it is written to a file."""
    return text.encode("utf-8", "backslashreplace")


TEXT, TEXTS, INNER = 1, 2, 3
KEYS = {
    **dict.fromkeys("error message location stack_trace skip_reason reason note file details".split(), TEXT),
    **dict.fromkeys("errors assertion_errors".split(), TEXTS),
    **dict.fromkeys(
        """
        assertion assertions final_assertions turns steps checkpoints scores trials runs attempts tools tool_calls
        warnings failures frames outside judgements story
        """.split(),
        INNER,
    ),
}
"""Keys of texts that name files, of lists of them, and of records, or lists of records, that have such texts. The
`details` of a failure are a text, those of an assertion are records."""


def relative(record: Record, root: str) -> Record:
    """Names the files of a result from `root`, in the record itself; what was sent and answered stays as it is."""
    for key, value in record.items() if root else ():
        kind = KEYS.get(key)
        if kind is None or not value:
            continue
        if kind == TEXT and isinstance(value, str):
            record[key] = without_root(value, root)
        elif kind == TEXTS and isinstance(value, list):
            record[key] = [without_root(text, root) if isinstance(text, str) else text for text in value]
        else:
            for inner in value if isinstance(value, list) else (value,):
                if isinstance(inner, dict):
                    relative(inner, root)
    return record


def without_root(text: str, root: str) -> str:
    """A text in which files below a folder are named from there."""
    return _prefix(root).sub("", text) if root and "/" in text else text


def near(text: str, folder: str) -> str:
    """A text in which only places with a line, such as `/app/a.ts:3:5`, are named from a folder."""
    return _place(folder).sub("", text)


def path_below(root: str, file: str) -> str:
    """The path of a file from a folder; as it is where it is not below it."""
    for known, path in ((root, file), (os.path.realpath(root), os.path.realpath(file))):
        if root and path.startswith(folder := _with_slash(known)):
            return path.removeprefix(folder)
    return file


@cache
def _prefix(root: str) -> re.Pattern[str]:
    """The folder, where a path begins with it."""
    names = map(re.escape, sorted({_with_slash(root), _with_slash(os.path.realpath(root))} - {"/"}))
    patterns = (rf"{name}(?<![\w./-]{name})(?=[^\s/])" for name in names)  # literal first: it is searched fast
    return re.compile("|".join(patterns) or r"(?!)")


@cache
def _place(folder: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w./-]){re.escape(_with_slash(folder))}(?=[^\s()\"']{{1,300}}?:\d)")


def _with_slash(folder: str) -> str:
    return folder if folder.endswith("/") else f"{folder}/"


PIECE = 1 << 20


class LineFile:
    """A report that is open for writing."""

    def __init__(self, path: Path, keep: bool = False) -> None:
        """Opens the file; a pipe only if somebody reads it. Raises ConfigurationError if nobody does, or if another
        process has the file open, and OSError. `keep`: keep its content, and continue at its end."""
        self.path = path
        self.is_broken = False
        """Whether a line could not be written."""
        self._begun = 0
        """Bytes of a line whose end is not written."""
        self._file = open_current(path)
        self._is_regular = _is_regular(self._file)
        if self._is_regular and not keep:
            self._file.truncate(0)

    @property
    def is_empty(self) -> bool:
        """Whether the file is empty."""
        return self._is_regular and not os.fstat(self._file.fileno()).st_size

    def replace(self, lines: Iterable[str]) -> None:
        """Replaces all of its lines at once, before `write` is called. Raises OSError."""
        part = self.path.with_name(f".yao-test.{self.path.name}")  # nobody else has it, for the report is locked
        file = open_part(part)
        try:
            file.truncate(0)
            stream = BufferedWriter(file)
            stream.writelines(utf8(f"{line}\n") for line in lines)
            stream.flush()
            stream.detach()
            os.fsync(file.fileno())
            os.replace(part, self.path)
        except BaseException:
            part.unlink(missing_ok=True)
            file.close()
            raise
        self._file.close()
        self._file = file
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def write(self, line: str | Iterable[str]) -> None:
        """Writes a line, without its end; a long one may be in pieces. Raises OSError."""
        try:
            waiting = ""
            for piece in (line,) if isinstance(line, str) else line:
                for start in range(0, len(piece), PIECE):
                    waiting += piece[start : start + PIECE]
                    if len(waiting) >= PIECE:
                        self._put(waiting)
                        waiting = ""
            self._put(f"{waiting}\n")
            self._begun = 0
        except OSError as error:
            self.is_broken = True
            if self._begun and self._is_regular:
                with suppress(OSError):  # it ends in the middle of a line then, which readers leave out
                    self._file.truncate(os.fstat(self._file.fileno()).st_size - self._begun)
                self._begun = 0
            error.filename = str(self.path)
            raise

    def _put(self, text: str) -> None:
        data = utf8(text)
        while data:
            count = self._file.write(data)
            self._begun += count
            data = data[count:]

    def close(self) -> None:
        """Waits until the disk has it. Raises OSError, and RunnerError if the file was removed."""
        try:
            if self._is_regular and not self.is_broken:
                os.fsync(self._file.fileno())
                if not _is_at(self._file.fileno(), self.path):
                    raise RunnerError(
                        f"The report {self.path} was removed, moved or replaced during the run",
                        "Its content is lost, unless it was moved: --resume can continue from there",
                    )
        except OSError as error:
            error.filename = str(self.path)
            raise
        finally:
            self._file.close()


def open_current(path: Path, wait: bool = False) -> FileIO:
    """Opens a file for appending and locks it: that which has the path, also when another process puts a new one
    there. Waits while another process has it, or else raises ConfigurationError. A pipe is opened by `open_pipe`."""
    if is_pipe(path):
        return open_pipe(path)
    while True:
        file = path.open("ab", buffering=0)
        try:
            if not _is_regular(file):
                return file
            if hold(file.fileno(), wait) is False:
                hint = "Wait until it ends, or name another file with -o"
                raise ConfigurationError(f"Cannot write {path}: another yao-test is writing it", hint)
            if _is_at(file.fileno(), path):
                return file
        except BaseException:
            file.close()
            raise
        file.close()


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except (FileNotFoundError, NotADirectoryError):
        return False


def open_part(path: Path, wait: bool = False) -> FileIO:
    """The same for a file that the user has not named: a link in its place is removed, not written through."""
    if path.is_symlink():
        path.unlink()
    return open_current(path, wait)


def _is_regular(file: FileIO) -> bool:
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def is_pipe(path: Path) -> bool:
    """Whether a path leads to a pipe."""
    try:
        return stat.S_ISFIFO(path.stat().st_mode)
    except OSError:
        return False


def open_pipe(path: Path) -> FileIO:
    """Opens a pipe for writing. Raises ConfigurationError when nobody reads it, and OSError."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        hint = "Start the reader first, or write to a file"
        raise ConfigurationError(f"Cannot write {path}: it is a pipe that nobody reads", hint) from error
    os.set_blocking(descriptor, True)
    return FileIO(descriptor, "w")
