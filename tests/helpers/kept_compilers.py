"""Compilers that go on from one run to the next of this process: to start esbuild and to do its first build takes more
than a third of the processor time of a small run.

A compiler goes on with another application only if nothing but that one is in its folder, and it may read no more than
the applications of this process. All others are started for their run and end with it, as all do in a command.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import scripttest.compile.compiler
import scripttest.workers.worker
from scripttest.compile.configuration import SHIPPED
from scripttest.compile.esbuild import Service
from scripttest.process import Child, Ending

BESIDE = {"app", "home"}
"""What `make_application` makes in a folder."""
MOST_RUNS = 200
"""Runs of one compiler, which collects garbage late."""
KEPT = Ending(text="goes on", was_killed=False)

idle: dict[Path, list[CompilerOfRuns]] = {}
"""Folder of applications → compilers that wait for a run."""


class KeptChild(Child):
    """The process of a compiler that goes on, if it can."""

    owes: Callable[[], bool]
    give_back: Callable[[], bool]

    def kill(self) -> None:
        """Ends the process at once, if it is at work."""
        if self.owes():
            super().kill()

    def end(self) -> Ending:
        """Gives the compiler back, or ends its process."""
        if self.give_back():
            return KEPT
        super().kill()
        return super().end()


class CompilerOfRuns(Service):
    """A compiler that waits among the idle ones when its run has ended and it owes no answer."""

    def __init__(self, folder: Path, readable: Sequence[str]) -> None:
        super().__init__(readable)
        self.child = KeptChild(**vars(self.child), owes=lambda: self._owed > 0, give_back=self._give_back)
        self._folder = folder
        self._owed = self._runs = 0

    def request(self, value: dict[str, Any]) -> int:
        self._owed += 1
        return super().request(value)

    def read(self) -> Iterator[tuple[int, bool, Any]]:
        for id, is_request, value in super().read():
            self._owed -= not is_request
            yield id, is_request, value

    def end(self) -> None:
        """Ends the process."""
        self._runs = MOST_RUNS
        self.child.end()

    def _give_back(self) -> bool:
        self._runs += 1
        if self._owed or self.child.has_ended or self._runs > MOST_RUNS:
            return False
        idle.setdefault(self._folder, []).append(self)
        return True


def compiler_of(readable: Sequence[str]) -> Service:
    """Stands for `Service`."""
    root = Path(readable[0])
    outside = {path for path in readable[1:] if not path.startswith(f"{root}/")} - {str(SHIPPED)}
    if outside or root.name != "app" or not BESIDE.issuperset(os.listdir(root.parent)):
        return Service(readable)
    folder = root.parents[1]
    while waiting := idle.get(folder):
        compiler = waiting.pop()
        if not compiler.child.has_ended:
            return compiler
        compiler.end()
    return CompilerOfRuns(folder, [str(folder), str(SHIPPED)])


@contextmanager
def kept_compilers() -> Iterator[None]:
    """Within it, runs of this process go on with compilers of earlier ones."""
    places = [vars(scripttest.compile.compiler), vars(scripttest.workers.worker)]
    for place in places:
        place["Service"] = compiler_of
    try:
        yield
    finally:
        for place in places:
            place["Service"] = Service


@atexit.register
def end_all() -> None:
    for compiler in (one for waiting in idle.values() for one in waiting):
        compiler.end()
