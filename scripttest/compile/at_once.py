"""Scripts compiled outside of a run, by one who waits for all of them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from scripttest.compile.builds import Source
from scripttest.compile.compiler import Compiled, Compiler
from scripttest.errors import CompileError
from scripttest.process import PollLoop
from scripttest.values import Value


class Attempted(Value):
    """A script that was to be compiled, and what came of it."""

    source: Source
    result: Compiled | CompileError


def compile_all(root: Path, sources: Iterable[Source]) -> list[Attempted]:
    """What each of the sources is compiled to, or why it cannot be; blocks. Raises HostError when there is no
    compiler."""
    wanted = list(sources)
    results: list[Attempted] = []
    if not wanted:
        return results
    loop = PollLoop()
    compiler = Compiler(root, loop)
    try:
        compiler.add(wanted, lambda source, result: results.append(Attempted(source=source, result=result)))
        while len(results) < len(wanted):
            deadline = compiler.deadline
            loop.wait(None if deadline is None else deadline - time.monotonic())
            compiler.expire()
    finally:
        compiler.close()
    return results
