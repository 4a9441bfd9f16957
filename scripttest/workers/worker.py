"""Worker processes from outside: starts them, gives them work, watches their time, kills and replaces them.

If a worker hangs, crashes or is killed, only the test that it was running fails. Another worker runs the tests that it
had not started. Time is the wall clock of this process. When time is up, the worker gets a message, so that it stops
the script and cleans up. When the time for the cleanup is up, it gets another message. If it does not answer that, it
is killed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from scripttest.compile.configuration import readable
from scripttest.compile.esbuild import Service
from scripttest.process import Child, Ending
from scripttest.protocol import Frame, FrameReader, encode
from scripttest.results import HostError
from scripttest.values import Value
from scripttest.workers.launch import launch, worker_command

CHUNK = 1 << 16
"""Bytes of one read, which is the size of a pipe. A larger read would be slower, because memory has to be
mapped for it."""
STARTING = 2.0
"""Seconds that a process may take to start on a busy machine."""

GRACE = 1.0
"""Seconds that a test whose time is up has to clean up."""
LAST_WORDS = 0.5
"""Seconds in which a worker answers after that."""

SENDING = 10.0
"""Seconds that a worker may leave unread what it is sent."""
FRAME_LIMIT = 256 * 1024 * 1024
"""Bytes of one message of a worker: as many as a realm may allocate."""


class Processes(Value):
    """The processes that every run needs, started early so that they load while the command prepares the run. They end
    by themselves when this process ends."""

    compiler: Service
    workers: tuple[Worker, ...]
    command: list[str]
    """The command line of further workers."""

    def prepare(self) -> None:
        """Lets idle workers prepare realms for the next tests."""
        for worker in self.workers:
            worker.send_frame("spare")

    def close(self) -> None:
        """Ends the processes, for a run that ends before a host has taken them over."""
        self.compiler.child.end()
        for worker in self.workers:
            worker.child.end()


def start_processes(parts: str, root: Path, counters: str | None = None, tells: bool = False) -> Processes:
    """Starts one worker, which loads the script half of the bindings from `parts`, and the compiler of the application
    at `root`. `counters` and `tells` as in `worker_command`. Raises HostError."""
    command = worker_command(parts, counters, tells)
    return Processes(workers=(Worker(command),), compiler=Service(readable(root)), command=command)


class Worker:
    """One worker process. Reading is left to the caller, who waits for `child.stdout` to have data."""

    def __init__(self, command: list[str]) -> None:
        """Starts the process. Raises HostError."""
        try:
            self.child: Child = launch(command)
        except OSError as error:
            raise HostError(f"Cannot start a worker process: {error.strerror}") from error
        os.set_blocking(self.child.stdin, False)
        self._reader = FrameReader(FRAME_LIMIT)
        self.deadline: float | None = None
        """Monotonic time at which the time limit of its current work ends."""
        self._was_deaf = False
        """Whether it was killed because it did not read what was sent."""
        self._alarms_of_work = 0
        """How many messages it got that the time of its current work is up."""
        self._alarms = 0
        """How many such messages it got for any work."""
        self.is_starting = True
        """Whether it has not sent anything yet."""

    def send(self, *frames: bytes) -> None:
        """Writes frames; blocks while the worker reads them. One that reads nothing for `SENDING` seconds is killed. A
        worker that has ended is noticed when its output ends."""
        data = memoryview(b"".join(frames))
        while data:
            try:
                data = data[os.write(self.child.stdin, data) :]
            except BrokenPipeError:
                return
            except BlockingIOError:
                if not _takes_more(self.child.stdin):
                    self._was_deaf = True
                    self.child.kill()
                    return

    def send_frame(self, kind: str, *parts: str) -> None:
        """Writes one frame."""
        self.send(encode(kind, *parts))

    def read(self) -> Iterator[Frame] | None:
        """The frames that have arrived; None if the worker has ended. Raises MessageError if it does not send
        frames."""
        data = os.read(self.child.stdout, CHUNK)
        if not data:
            return None
        self.is_starting = False
        return self._reader.feed(data)

    @property
    def is_late(self) -> bool:
        """Whether it got a message that the time of its current work is up."""
        return self._alarms_of_work > 0

    def start_clock(self, seconds: float) -> None:
        """Gives its work this many seconds from now, and more while its process is still starting."""
        self._alarms_of_work = 0
        self.deadline = time.monotonic() + seconds + (STARTING if self.is_starting else 0)

    def expire(self, work: str) -> bool:
        """Sends it a message that the time of its work is up, see `Alarm`. Returns False after two of them: then it
        must be killed."""
        if self._alarms_of_work == 2:
            return False
        self._alarms_of_work += 1
        self._alarms += 1
        self.deadline = time.monotonic() + (GRACE if self._alarms_of_work == 1 else LAST_WORDS)
        expired = f"{work}/{self._alarms}"
        try:
            os.write(self.child.lifeline, f"{expired}\n".encode())
        except BrokenPipeError:
            return True
        self.send_frame("expired", expired)
        return True

    def end(self) -> Ending:
        """Kills the process if it still runs, and says how it ended. Must be called once."""
        ending = self.child.end()
        if self._was_deaf:
            return Ending(text=f"did not read for {SENDING:g}s what it was sent", was_killed=False)
        return ending


def _takes_more(descriptor: int) -> bool:
    """Waits until a pipe accepts more data, for at most `SENDING` seconds."""
    from select import POLLOUT, poll

    pipe = poll()
    pipe.register(descriptor, POLLOUT)
    return bool(pipe.poll(SENDING * 1000))
