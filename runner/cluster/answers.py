"""Passes answers of models from a runner process to the command, which stores them in case a test runs again.

| runner process | command |
| --- | --- |
| sends an answer with its number | writes it into its journal, and says up to which number it has answers |
| begins no call while as many answers are not stored as tests run at a time | |

So if one of the two is killed, at most that many calls are lost, even if the connection is slow."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from runner.answers.journal import Journal
from runner.cluster.messages import RunnerMessage
from runner.connectors.limits import Limits
from runner.connectors.timing import Timing
from runner.errors import RunnerError
from runner.record.outcomes import Verdict

if TYPE_CHECKING:
    from runner.execution.services import RunServices
    from runner.record.model import TestResult


class SentAnswers:
    """In a runner process: the lines of its journal, as its `JournalFile` and its `CallGate`."""

    def __init__(self, send: Callable[[RunnerMessage], None], at_once: int) -> None:
        """`at_once`: most calls that are running, or whose answers are not stored yet."""
        self._send = send
        self._limits = Limits(at_once, None, Timing())
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sent = self._kept = 0
        """Up to which number."""
        self._open: list[int] = []
        """For each call that has an answer which is not kept: up to which number the command has to have them."""
        self._changed = threading.Condition()

    async def begin(self) -> None:
        """See `CallGate`."""
        self._loop = asyncio.get_running_loop()
        await self._limits.__aenter__()

    def give_up(self) -> None:
        """See `CallGate`."""
        self._limits.leave()

    def end(self) -> None:
        """See `CallGate`."""
        with self._changed:
            if self._kept < self._sent:
                self._open.append(self._sent)
                return
        self._limits.leave()

    def write(self, line: str) -> None:
        """Sends a line."""
        with self._changed:
            self._sent += 1
            self._send(RunnerMessage(answer=(self._sent, line)))

    def keep(self, number: int) -> None:
        """Takes note that the command has all lines up to a number; from any thread."""
        with self._changed:
            self._kept = max(number, self._kept)
            kept = [one for one in self._open if one <= self._kept]
            del self._open[: len(kept)]
            self._changed.notify_all()
        for _ in kept:
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._limits.leave)

    def wait(self) -> None:
        """Waits until all are kept; blocks."""
        with self._changed:
            self._changed.wait_for(lambda: self._kept == self._sent)

    def replace(self, lines: Iterable[str]) -> None:
        """The command has these."""

    def close(self) -> None:
        """Has nothing to close."""


class StoredAnswers:
    """In the command: the journal of the run, else one that is in the memory alone."""

    def __init__(self, services: RunServices, root: Path) -> None:
        """`root` is that of the application."""
        self._services = services
        self._root = root
        self._own: Journal | None = None

    def add(self, line: str) -> None:
        """Takes an answer that a runner process has got, as a line of its journal."""
        if self._journal is None:
            self._open()
        assert self._journal is not None
        self._journal.add(line)

    def lines(self, tests: Mapping[str, Collection[str] | None]) -> tuple[str, ...]:
        """See `Journal.lines`."""
        return tuple(self._journal.lines(tests)) if self._journal is not None else ()

    def end(self, result: TestResult) -> None:
        """Takes note of the end of a run of a test; see `Journal.end`."""
        if self._journal is not None and not result.cut_short:
            self._journal.end(result.key, result.verdict is Verdict.BROKEN)

    @property
    def _journal(self) -> Journal | None:
        return self._services.journal or self._own

    def _open(self) -> None:
        if self._services.keeps_answers:
            self._services.agents()  # which opens the journal of the run
        else:
            self._own = Journal(None, None, self._root)


def write_recording(folder: Path, name: str, content: bytes | None) -> None:
    """Writes what a worker has recorded, or removes it. Raises OSError, and RunnerError for a place outside."""
    parts = name.split("/")
    if name.startswith("/") or ".." in parts:
        raise RunnerError(f"A worker names a recording outside {folder}: {name}")
    path = folder.joinpath(*parts)
    if content is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    beside.write_bytes(content)
    beside.replace(path)
