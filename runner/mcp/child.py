"""The process of an MCP server over stdio: lines in, lines out, and no process left behind.

It runs in a session of its own, so that a signal reaches whatever it has started, and Ctrl-C in the terminal does not
reach it before it is told to end. What it writes to stderr goes to a file, whose end explains a failure. asyncio's own
subprocesses are not used: one whose start is cancelled is waited for without end.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

GRACE = 2.0
"""Seconds to end by itself after its input was closed, and again after SIGTERM."""
MAX_LINE = 64_000_000
"""Longest line that is read, in bytes."""
_SHOWN_LINES = 10
_SHOWN_BYTES = 4000


class Child(asyncio.Protocol):
    """A running process. Starting it raises OSError; then it must be connected, and ended."""

    def __init__(self, command: Sequence[str], variables: Mapping[str, str], directory: Path) -> None:
        self.exit_code: int | None = None
        """As in `subprocess`: negative for a signal."""
        self.signalled = False
        """Whether it was told to end by a signal."""
        self.too_long = False
        """Whether it wrote a line longer than `MAX_LINE`."""
        self._reading: asyncio.BaseTransport | None = None
        self._writing: asyncio.WriteTransport | None = None
        self._exited = asyncio.Event()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._begun: list[bytes] = []
        self._length = 0
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=dict(variables),
                cwd=directory,
                start_new_session=True,
            )
        except BaseException:
            self._errors.close()
            raise
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._wait, args=(loop,), name="mcp-child", daemon=True).start()

    async def connect(self) -> None:
        """Connects its input and output."""
        loop = asyncio.get_running_loop()
        self._reading, _ = await loop.connect_read_pipe(lambda: self, self._process.stdout)
        self._writing, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, self._process.stdin)

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines that it writes, without their ends, until it closes its output."""
        while (line := await self._lines.get()) is not None:
            yield line

    def write(self, line: bytes) -> None:
        """Sends a line; one to a process that has ended is dropped."""
        if self._writing is not None and not self._writing.is_closing():
            self._writing.write(line + b"\n")

    def last_errors(self) -> str:
        """The last lines that it wrote to stderr."""
        if self._errors.closed:
            return ""
        file = self._errors.fileno()
        size = os.fstat(file).st_size
        text = os.pread(file, _SHOWN_BYTES, max(0, size - _SHOWN_BYTES)).decode(errors="replace")
        return "\n".join(text.rstrip().splitlines()[-_SHOWN_LINES:])

    async def end(self) -> str:
        """Closes its input, and stops it when that does not end it; waits until it and all that it started are gone.

        Returns the last lines of its stderr.
        """
        try:
            self._close_input()
            if not await self._exits():
                self._signal(signal.SIGTERM)
                await self._exits()
        finally:
            self._signal(signal.SIGKILL)
            await self._exited.wait()
            if self._reading is not None:
                self._reading.close()
            elif self._process.stdout is not None:
                self._process.stdout.close()
            errors = self.last_errors()
            self._errors.close()
        return errors

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        first, *others = data.split(b"\n")
        self._begun.append(first)
        self._length += len(first)
        for piece in others:
            self._lines.put_nowait(b"".join(self._begun))
            self._begun = [piece]
            self._length = len(piece)
        if self._length > MAX_LINE:
            self._begun, self._length, self.too_long = [], 0, True
            self._signal(signal.SIGKILL)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the event loop."""
        self._lines.put_nowait(None)

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        """On a thread: waits for its end."""
        code = self._process.wait()
        with suppress(ProcessLookupError, PermissionError):
            # What it has started would hold its output open, and hide that it has gone.
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._ended, code, loop)

    def _ended(self, code: int, loop: asyncio.AbstractEventLoop) -> None:
        self.exit_code = code
        self._exited.set()
        loop.call_later(GRACE, self._lines.put_nowait, None)

    def _close_input(self) -> None:
        if self._writing is not None:
            self._writing.close()
        elif self._process.stdin is not None:
            self._process.stdin.close()

    async def _exits(self) -> bool:
        try:
            async with asyncio.timeout(GRACE):
                await self._exited.wait()
        except TimeoutError:
            return False
        return True

    def _signal(self, number: signal.Signals) -> None:
        if not self._exited.is_set():
            self.signalled = True
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
