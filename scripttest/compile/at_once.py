"""Scripts compiled outside of a run, by one who waits for all of them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from scripttest.compile.builds import Source
from scripttest.compile.compiler import Compiled, Compiler
from scripttest.errors import CompileError
from scripttest.poll_loop import PollLoop


def compile_all(root: Path, sources: Iterable[Source]) -> list[tuple[Source, Compiled | CompileError]]:
    """Compiles sources. Returns for each the result, or why it cannot be compiled. Blocks. Raises HostError if there is
    no compiler."""
    wanted = list(sources)
    results: list[tuple[Source, Compiled | CompileError]] = []
    if not wanted:
        return results
    loop = PollLoop()
    compiler = Compiler(root, loop)
    try:
        compiler.add(wanted, lambda source, result: results.append((source, result)))
        while len(results) < len(wanted):
            deadline = compiler.deadline
            loop.wait(None if deadline is None else deadline - time.monotonic())
            compiler.expire()
    finally:
        compiler.close()
    return results
