"""Calls of tools that are under way, and the commands that they run: each command is a process of its own. One command
runs at a time in an application, also of several servers; equal calls share one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from scripttest import hold
from scripttest.typing_names import Record
from scripttest.values import Value

PROGRAM = (sys.executable, "-P", "-m", "runner.mcp_server.command")
BEAT = 10
"""Seconds after which a client hears again that a call goes on."""
LOOK = 0.5
"""Seconds between two looks at what a call has reached, and at a lock that is not free."""
GRACE = 4
"""Seconds that a command has to end, once it was told to."""
HURRY = 0.4
"""The same when the server ends."""
PIECE = 1 << 16
LAST = 4_000
"""Bytes of standard error that are kept, the last ones."""


class Ended(Value):
    """What a command printed."""

    code: int
    lines: tuple[str, ...]
    said: str
    """The end of its standard error."""

    @property
    def output(self) -> str:
        """The whole standard output."""
        return "\n".join(self.lines)


class Call:
    """A call of a tool that is under way."""

    def __init__(self) -> None:
        self.said = "begins"
        """How far it is, for people."""
        self.waiting = 0
        """How many clients want the answer."""
        self.task: asyncio.Task[object] | None = None


class Calls:
    """All calls of a server. For one event loop."""

    def __init__(self, root: Path, store: Path, variables: Mapping[str, str]) -> None:
        """`root` is the application, in which commands run; `store` a folder that is there; `variables` the
        environment of commands."""
        self._root, self._store, self._variables = root, store, variables
        self._calls: dict[str, Call] = {}
        self._turn = asyncio.Lock()
        self._processes: set[asyncio.subprocess.Process] = set()
        self._hurries = False
        self.cost, self.tokens = 0.0, 0
        """What real models have cost so far, in US dollars, and how many tokens they took."""

    async def answer(
        self,
        key: str,
        make: Callable[[Call], Awaitable[object]],
        tell: Callable[[float, str], Awaitable[None]],
    ) -> object:
        """What `make` makes, or what it makes for an equal `key` that is under way. Ends it when nobody waits any more.
        Raises what `make` raises.

        Args:
            tell: called at once, and until the end whenever there is something new to say, or `BEAT` seconds have
                passed: with the seconds so far and how far it is.
        """
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = Call()
            task = call.task = asyncio.ensure_future(make(call))
            task.add_done_callback(lambda _: self._calls.pop(key, None))
        assert call.task is not None
        call.waiting += 1
        try:
            clock = asyncio.get_running_loop().time
            begun = last = clock()
            said = call.said
            await tell(0, said)
            while not (await asyncio.wait({call.task}, timeout=LOOK))[0]:
                if call.said != said or clock() - last >= BEAT:
                    last, said = clock(), call.said
                    await tell(last - begun, said)
            return call.task.result()
        finally:
            call.waiting -= 1
            if not call.waiting and not call.task.done():
                self._calls.pop(key, None)
                call.task.cancel()

    async def command(
        self,
        words: Sequence[str],
        call: Call,
        on_line: Callable[[str], None] = lambda _: None,
        *,
        given: str = "",
        is_alone: bool = True,
    ) -> Ended:
        """Runs a command line of ours to its end.

        Args:
            on_line: hears each line that it prints.
            given: its standard input.
            is_alone: whether it waits for all other commands that are, in this application.
        """
        if not is_alone:
            return await self._command(words, on_line, given)
        call.said = "waits for another run in this application"
        async with self._turn:
            folder = os.open(self._store, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                while hold(folder) is False:
                    await asyncio.sleep(LOOK)
                call.said = "runs"
                return await self._command(words, on_line, given)
            finally:
                os.close(folder)

    async def end(self, seconds: float) -> None:
        """Ends all calls, after they have had some seconds to end by themselves."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.sleep(0.05)  # what was read last has become a call
                while self._calls:
                    await asyncio.sleep(0.02)
        self._hurries = True
        tasks = [call.task for call in self._calls.values() if call.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*map(self._stop, tuple(self._processes)))

    async def _command(self, words: Sequence[str], on_line: Callable[[str], None], given: str) -> Ended:
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *PROGRAM,
                str(theirs.fileno()),
                *words,
                cwd=self._root,
                env=dict(self._variables),
                stdin=asyncio.subprocess.PIPE if given else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )
        spent = asyncio.ensure_future(self._count(ours))
        assert process.stdout is not None and process.stderr is not None
        self._processes.add(process)
        errors = asyncio.ensure_future(_tail(process.stderr))
        try:
            if process.stdin is not None:
                process.stdin.write(given.encode())
                process.stdin.close()
            lines: list[str] = []
            left = b""
            while piece := await process.stdout.read(PIECE):
                *whole, left = (left + piece).split(b"\n")
                for line in whole:
                    lines.append(line.decode("utf-8", "replace"))
                    on_line(lines[-1])
            code = await process.wait()
            lines += [left.decode("utf-8", "replace")] if left else []
            return Ended(code=code, lines=tuple(lines), said=await errors)
        finally:
            if process.returncode is None:
                await asyncio.shield(asyncio.ensure_future(self._stop(process)))
            errors.cancel()
            self._processes.discard(process)
            await asyncio.wait({spent}, timeout=1)  # it ends with the command
            spent.cancel()

    async def _count(self, ours: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=ours)
        with closing(writer):
            async for said in reader:
                tokens, cost = said.split()
                self.tokens += int(tokens)
                self.cost += float(cost)

    async def _stop(self, process: asyncio.subprocess.Process) -> None:
        """Ends a command: it is asked to, and killed with all that it started if it does not."""
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
            with suppress(TimeoutError):
                async with asyncio.timeout((HURRY if self._hurries else GRACE) / 2):
                    while process.returncode is None:
                        await asyncio.sleep(0.01)
                    return


async def _tail(stream: asyncio.StreamReader) -> str:
    kept = b""
    while piece := await stream.read(PIECE):
        kept = (kept + piece)[-LAST:]
    return kept.decode("utf-8", "replace").strip()


def objects_in(ended: Ended) -> list[Record]:
    """The JSON objects that a command printed, one on each line."""
    return [json.loads(line) for line in ended.lines if line.startswith("{")]
