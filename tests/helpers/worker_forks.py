"""Workers that are forked from a process which has loaded their modules, in the state in which they read their first
frame: to start Python and to load them takes more than half of the time of a worker that runs a small test.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from scripttest.process import Child
from scripttest.workers import launch

SERVER = Path(__file__).with_name("worker_server.py")


class ForkedWorker(Child):
    """A worker whose parent is another process."""

    ended: int
    """A pipe that gives its exit code."""

    def _exit_code(self) -> int:
        with os.fdopen(self.ended, "rb", 0) as ended:
            return int(ended.read(16))


@contextmanager
def forked_workers() -> Iterator[None]:
    """Within it, workers that this process launches are forked."""
    before = launch.spawn
    launch.spawn = fork_worker
    try:
        yield
    finally:
        launch.spawn = before


def fork_worker(command: list[str], environment: Mapping[str, str]) -> ForkedWorker:
    """Stands for `scripttest.process.spawn`."""
    python, *_, code = command[:5]
    arguments, modules = command[5:], command[-2:]
    stdin, stdout, stderr, lifeline, ended = (os.pipe() for _ in range(5))
    theirs = [stdin[0], stdout[1], stderr[1], lifeline[0], ended[1]]
    request = ascii([arguments, code]).encode()
    socket.send_fds(_server(python, *modules, *sorted(environment.items())), [request], theirs)
    for descriptor in theirs:
        os.close(descriptor)
    pid = int(os.read(ended[0], 16))
    return ForkedWorker(
        pid=pid, stdin=stdin[1], stdout=stdout[0], stderr=stderr[0], lifeline=lifeline[1], ended=ended[0]
    )


@cache
def _server(python: str, root: str, engine: str, *environment: tuple[str, str]) -> socket.socket:
    """Where the process is asked that has loaded its modules from these folders, in that environment."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [python, "-I", "-S", str(SERVER), root, engine]
        process = subprocess.Popen(command, stdin=theirs, env=dict(environment))

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours
