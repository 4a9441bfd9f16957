"""Scripts compiled once more, outside of a run, to see whether they are what results were made of."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from runner.application.application import SUFFIXES
from runner.fingerprints.parts import PartDigests
from scripttest import Compiled, CompileError, Compiler, Source


def take_scripts(parts: Iterable[str], root: Path, digests: PartDigests) -> None:
    """Compiles the scripts among the names of parts, and has their digests known; blocks. One that is not there, or
    cannot be compiled, has the digest of nothing. Raises HostError when there is no compiler."""
    wanted = [(kind, root / path) for kind, _, path in (part.partition(" ") for part in parts)]
    sources = [
        Source(key=f"{kind} {path}", test=path, script=tested_by(path) if kind == "module" else None)
        for kind, path in wanted
        if kind in ("script", "module") and path.is_file()
    ]
    if not sources:
        return

    def told(source: Source, result: Compiled | CompileError) -> None:
        open_keys.discard(source.key)
        if isinstance(result, Compiled):
            digests.take(result)

    open_keys = {source.key for source in sources}
    watcher = _Watcher()
    compiler = Compiler(root, watcher)
    try:
        compiler.add(sources, told)
        while open_keys:
            deadline = compiler.deadline
            watcher.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
            compiler.expire()
    finally:
        compiler.close()


def tested_by(test: Path) -> Path | None:
    """The script beside a test file that it tests."""
    base = test.with_name(test.stem.removesuffix("_test"))
    return next((path for suffix in SUFFIXES if (path := base.with_name(base.name + suffix)).is_file()), None)


class _Watcher:
    """Tells the compiler of its process; implements `scripttest.compile.compiler.Watcher`."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._ready: dict[int, Callable[[], None]] = {}

    def watch(self, descriptor: int, ready: Callable[[], None]) -> None:
        """Has `ready` called in `wait`."""
        self._ready[descriptor] = ready
        self._poll.register(descriptor, select.POLLIN)

    def unwatch(self, descriptor: int) -> None:
        """Forgets a descriptor."""
        self._poll.unregister(descriptor)
        del self._ready[descriptor]

    def wait(self, seconds: float | None) -> None:
        """Waits for something to read."""
        for descriptor, _ in self._poll.poll(None if seconds is None else seconds * 1000 + 1):
            if descriptor in self._ready:
                self._ready[descriptor]()
