"""The formatters of a worker: a context of its own with FormatJS in it, which realms ask through the host bridge.

It is made when a realm first asks, and lives as long as the worker. Its code and the data of locales are pieces of one
file, which is opened before the worker may open nothing any more, and read piece by piece.
"""

from __future__ import annotations

import os

from scripttest.realm.engine import EngineError, evaluate_apart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PACK = "intl.pack"
"""The file in the folder of the parts, made by `bindings/src/intl/pack.mjs`."""
_INDEX_SIZE = 1 << 17
"""More bytes than the first line of the file has, which says what is in it."""
_ZONES = "/zoneinfo/"
_ALL_ZONES = "/usr/share/zoneinfo"


class Formatting:
    """Answers the calls of `Intl` that realms make."""

    def __init__(self, folder: str) -> None:
        """Opens the file without reading it."""
        self._pack = _Pack(f"{folder}/{PACK}")
        self._answer: Callable[[str], str] | None = None

    def answer(self, request: str) -> str:
        """The answer to a call as JSON; see `bindings/src/intl/core.ts`."""
        try:
            if self._answer is None:
                self._answer = evaluate_apart(self._pack.read("core"), read=self._pack.read)
            return str(self._answer(request))
        except EngineError as error:
            self._answer = None
            reason = "".join(letter if letter >= " " and letter not in '"\\' else " " for letter in str(error))
            return f'{{"error":"Error","message":"Intl cannot format this: {reason}"}}'


class _Pack:
    """Reads the file. It is separate from the formatters, because it must not refer to them."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._zone = _time_zone()
        self._pieces: dict[str, tuple[int, int]] = {}

    def read(self, name: str) -> str:
        """Reads a piece of the file, or the time zone of this machine as `zone`; empty when there is no such piece."""
        if name == "zone":
            return self._zone
        if not self._pieces:
            self._pieces = self._index()
        offset, size = self._pieces.get(name, (0, 0))
        return os.pread(self._file, size, offset).decode()

    def _index(self) -> dict[str, tuple[int, int]]:
        line = os.pread(self._file, _INDEX_SIZE, 0).partition(b"\n")[0]
        words = line.decode().split(" ")
        offset, pieces = len(line) + 1, {}
        for name, size in zip(words[0::2], map(int, words[1::2]), strict=True):
            pieces[name] = offset, size
            offset += size
        return pieces


def _time_zone() -> str:
    """The name of the time zone that the variable `TZ` names, else of this machine's; `UTC` when that is no name."""
    named = os.environ.get("TZ", "").removeprefix(":")
    place = os.path.realpath(os.path.join(_ALL_ZONES, named) if named else "/etc/localtime")
    _, mark, name = place.rpartition(_ZONES)
    return name if mark and os.path.exists(place) else "UTC"
