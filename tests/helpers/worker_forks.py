"""Workers that are forked from a process which has loaded their modules, in the state in which they read their first
frame: to start Python and to load them takes more than half of the time of a worker that runs a small test.
"""

from __future__ import annotations

import atexit
import os
import re
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from bindings import SCRIPT_PARTS
from scripttest.process import Child
from scripttest.workers import launch

SERVER = Path(__file__).with_name("worker_server.py")
SMALLER = {"1e3": "100", "3e3": "300", "2e3": "200", "1e4": "1e3", "1e6": "2e4"}
"""The bounds of `bindings/src/mocks/waiting.ts`, and those of impatient workers."""

folders: dict[str, str] = {}
"""Folder of the parts of the bindings → that from which workers load them instead."""


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


@contextmanager
def impatient_workers(folder: Path) -> Iterator[None]:
    """Within it, workers take a loop for one that waits for a stopped clock after a tenth of the rounds and of the time
    that it takes otherwise, or a fiftieth of the looks at the clock. Their parts of the bindings go to an empty folder.
    """
    for path in Path(SCRIPT_PARTS).iterdir():
        (folder / path.name).symlink_to(path)
    text = (folder / "waiting.js").read_text()
    bounds = re.compile(rf"\b({'|'.join(SMALLER)})\b")
    assert sorted(bounds.findall(text)) == sorted(SMALLER)
    (folder / "waiting.js").unlink()
    (folder / "waiting.js").write_text(bounds.sub(lambda found: SMALLER[found[0]], text))
    folders[str(SCRIPT_PARTS)] = str(folder)
    try:
        yield
    finally:
        folders.clear()


def fork_worker(command: list[str], environment: Mapping[str, str]) -> ForkedWorker:
    """Stands for `scripttest.process.spawn`."""
    python, *_, code = command[:5]
    arguments, modules = [folders.get(command[5], command[5]), *command[6:]], command[-2:]
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
