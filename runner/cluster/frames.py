"""Messages between the command, a Dask worker and a runner process: a kind, a length, and a pickled value.

Both ends are of the same version, and trust each other as everything in a Dask cluster does: whoever reaches its
scheduler runs any code.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from scripttest.values import Value, fields_of

_HEAD = struct.Struct(">cI")
EVENT, DONE, FAILED, SETUP, PIECE, TELL = b"E", b"D", b"F", b"S", b"P", b"T"
_PROTOCOL = 5


def frame(kind: bytes, payload: bytes) -> bytes:
    """A message."""
    return _HEAD.pack(kind, len(payload)) + payload


def packed(value: Any) -> bytes:
    """A value as bytes."""
    return pickle.dumps(value, _PROTOCOL)


def unpacked(data: bytes) -> Any:
    """The value of `packed`."""
    return pickle.loads(data)


def read_frame(stream: IO[bytes]) -> tuple[bytes, bytes] | None:
    """The next message of a stream; blocks. None at its end, also within a message."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    kind, length = _HEAD.unpack(head)
    payload = stream.read(length)
    return (kind, payload) if len(payload) == length else None


class FrameBuffer:
    """Puts messages together that come in pieces."""

    def __init__(self) -> None:
        self._data = bytearray()

    @property
    def is_empty(self) -> bool:
        """Whether no message has begun to come."""
        return not self._data

    def take(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The messages that are whole now."""
        self._data += data
        start = 0
        while len(self._data) - start >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._data, start)
            end = start + _HEAD.size + length
            if len(self._data) < end:
                break
            yield kind, bytes(self._data[start + _HEAD.size : end])
            start = end
        del self._data[:start]


class Moved:
    """Puts the place of the application on one machine into the place of that on another, in all texts of a value."""

    def __init__(self, here: Path | str, there: Path | str) -> None:
        self._here, self._there = str(here), str(there)
        self._stays = self._here == self._there
        self._bytes = self._here.encode("utf-8", "surrogatepass")

    def packed(self, value: Any) -> bytes:
        """The value as bytes, moved; most values name no place, which their bytes show."""
        data = packed(value)
        return packed(self.value(value)) if self._bytes in data and not self._stays else data

    def value(self, value: Any) -> Any:
        """The value, moved; cases stay as they are, since they name files from their folder."""
        if self._stays:
            return value
        if isinstance(value, str):
            return value.replace(self._here, self._there) if type(value) is str else value
        if isinstance(value, Path):
            return Path(str(value).replace(self._here, self._there, 1))
        if isinstance(value, Value):
            return type(value)(**{name: self.value(item) for name, item in fields_of(value).items()})
        if isinstance(value, dict):
            return {self.value(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return type(value)([self.value(item) for item in value])
        return value
