"""The folder of a run for what its scripts need for a while: `data/tmp/yao-test-...`, one for each run.

It is made when a script first asks for a temporary folder, and removed with its content when the run ends, however it
ends. A run that was killed cannot do that: its lock on the folder ends with it, and the next run removes it.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from bindings.errors import ProcessError
from bindings.rooted import Place, Rooted
from scripttest import hold

PREFIX = "yao-test-"
"""How the names of these folders begin."""
PLACE = "/tmp"
"""Where they are, in the volume `data`."""


class Scratch:
    """The scratch folder of one run. Threads may share it."""

    def __init__(self, data: Path) -> None:
        """`data` is the folder of the volume; nothing is made yet."""
        self._data = data
        self._lock = threading.Lock()
        self._path: str | None = None
        self._held: int | None = None
        self._made: list[Path] = []
        self._closed = False

    def folder(self) -> str:
        """The path of the folder in the volume. Raises OSError; ProcessError when the run has ended."""
        with self._lock:
            if self._closed:
                raise ProcessError("the run has ended")
            if self._path is None:
                self._path = self._make()
            return self._path

    def close(self) -> None:
        """Removes the folder, those of runs that were killed, and the folders above it that it needed."""
        with self._lock:
            self._closed = True
            self._sweep()
            if self._path is not None:
                self._remove(self._path)
            if self._held is not None:
                os.close(self._held)
                self._held = None
            for path in self._made:
                with suppress(OSError):  # it has other things in it by now
                    path.rmdir()

    def _volume(self) -> Rooted:
        return Rooted(self._data, self._data.parent)

    def _make(self) -> str:
        from secrets import token_hex

        self._made = [path for path in (self._data / PLACE[1:], self._data) if not os.path.lexists(path)]
        while True:
            place = self._volume().find(f"{PLACE}/{PREFIX}{token_hex(6)}", follow=False, make=True)
            place.make_folder(0o700)
            self._held = place.open_folder()
            if hold(self._held) is not False and place.exists():
                return place.shown
            os.close(self._held)  # another run took it for one that was left behind

    def _sweep(self) -> None:
        """Removes the folders of runs that have ended."""
        try:
            all = self._volume().find(PLACE).content()
        except (OSError, ProcessError):
            return
        for place in all:
            if place.name.startswith(PREFIX) and place.shown != self._path:
                with suppress(OSError):
                    descriptor = place.open_folder()
                    if hold(descriptor):
                        self._remove(place.shown)
                    os.close(descriptor)

    def _remove(self, path: str) -> None:
        try:
            self._volume().find(path, follow=False).remove_all()
        except (OSError, ProcessError, RecursionError):
            with suppress(OSError, ProcessError, RecursionError):
                place = self._volume().find(path, follow=False)
                _open_up(place)
                place.remove_all()


def _open_up(place: Place) -> None:
    """Lets the owner into folders whose permissions keep everybody out."""
    if place.is_folder():
        place.change_mode(0o700)
        for inner in place.content():
            _open_up(inner)
