"""What the scripts of this process have written: it is data, whatever leads to it later, and no change by somebody
else."""

from __future__ import annotations

import os

State = tuple[int, int, int]
"""The time of a file, its size and its number."""


class WrittenFiles:
    """The files that scripts have written, by their real paths. Threads may share it."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self.refused: list[str] = []
        """The real paths of those that were to be more than data, since a run began."""
        self._left: dict[str, State | None] = {}
        """Path → what was there when scripts had written it; None: nothing any more."""
        self._busy: list[str] = []
        """What scripts are writing at this moment, and folders in which nobody else writes."""
        self._changed: set[str] = set()
        """What somebody else has written between two times that scripts did."""

    def note(self, path: str) -> None:
        """Takes note of what a script writes, or moves to its place."""
        self._paths.add(path)

    def hold(self, folder: str) -> None:
        """Takes note of a folder in which only this process and what it starts write."""
        self._busy.append(folder)

    def begin(self, *paths: str) -> None:
        """A script writes, moves or removes what is at some paths, until `end`."""
        self._changed.update(path for path in paths if path in self._left and self._left[path] != _state(path))
        self._busy += paths

    def end(self, *paths: str) -> None:
        """It has done so."""
        for path in paths:
            below = [f"{folder}/{name}" for folder, _, names in os.walk(path) for name in names]
            if (state := _state(path)) is None:
                below = [file for file in self._left if file.startswith(f"{path}/")]
            self._left |= {path: state, **{file: _state(file) for file in below}}
            self._busy.remove(path)

    def is_own(self, path: str) -> bool:
        """Whether a file that has changed is as scripts have left it. What somebody else has written between two times
        that scripts did is not, once."""
        if not self._left and not self._busy:
            return False
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        above = _above(path)
        if any(one in above for one in self._busy):
            return True
        if path in self._changed:
            self._changed.discard(path)
            return False
        state = _state(path)
        if path in self._left:
            return self._left[path] == state
        return state is None and any(one in self._left and self._left[one] is None for one in above)

    def refuse(self, path: str | os.PathLike[str]) -> bool:
        """Whether a file is among them, which is to be a definition or a program, and so is refused."""
        if not self._paths:
            return False
        real = os.path.realpath(path)
        if self._paths.isdisjoint(_above(real)):
            return False
        self.refused += [] if real in self.refused else [real]
        return True

    def __bool__(self) -> bool:
        return bool(self._paths)


written_files = WrittenFiles()


def _above(path: str) -> set[str]:
    """A path, and the folders that it is in."""
    return {path[:end] for end in (*(at for at, sign in enumerate(path) if sign == "/"), len(path))}


def _state(path: str) -> State | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
