"""A second process for the second half of a large file: where the platform can copy the process cheaply, both halves
are checked at the same time."""

from __future__ import annotations

import io
import marshal
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

LARGE = 2 << 20
"""Bytes from which on a second process is worth its start."""


def middle_of(path: Path) -> int | None:
    """Where the line begins that is nearest to the middle of a file with an object a line; None for a file, or on a
    machine, that is better read by one process."""
    if not sys.platform.startswith("linux") or len(os.sched_getaffinity(0)) < 2 or threading.active_count() > 1:
        return None
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < LARGE or file.read(1) != b"{":
            return None
        file.seek(size // 2)
        file.readline()
        middle = file.tell()
    return middle if middle < size else None


def part_of(path: Path, start: int, end: int | None) -> io.TextIOWrapper:
    """A part of a file, in bytes from its beginning, as text."""
    file = path.open("rb", 0)
    file.seek(start)
    raw = file if end is None else _Bounded(file, end - start)
    return io.TextIOWrapper(io.BufferedReader(raw, 1 << 16), encoding="utf-8")


class Second:
    """A copy of this process that works out one value. A context manager: at its end the copy is gone."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._reader, writer = os.pipe()
        self._id = os.fork()
        if not self._id:
            _answer(work, writer)
        os.close(writer)

    def value(self) -> Any:
        """What `work` answered, made of Python's own simple types; None when it failed. Blocks until it is there."""
        with open(self._reader, "rb", closefd=False) as reader:
            data = reader.read()
        try:
            return marshal.loads(data)
        except (EOFError, ValueError, TypeError):  # it was killed before it had written all
            return None

    def __enter__(self) -> Second:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._reader)
        os.kill(self._id, signal.SIGKILL)
        os.waitpid(self._id, 0)


def _answer(work: Callable[[], Any], writer: int) -> None:
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        with open(writer, "wb") as file:
            file.write(marshal.dumps(work()))
    finally:
        os._exit(0)


class _Bounded(io.RawIOBase):
    """The next bytes of a file, at most so many."""

    def __init__(self, file: BinaryIO, left: int) -> None:
        self._file = file
        self._left = left

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(memoryview(buffer)[: self._left])  # type: ignore[attr-defined]
        self._left -= count
        return int(count)

    def close(self) -> None:
        self._file.close()
        super().close()
