"""Commands that are forked from a process which has loaded their modules, so that they start at once.

`ForkServer` belongs to the tests; as a program, this file is that process.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import NoReturn

NOT_LOADED = (
    "bindings.build",
    "bindings.node_modules",
    "runner.__main__",
    "runner.agents.mcp.guard",
    "runner.cluster",
    "scripttest.realm",
)
"""Modules that are programs of their own, or run in workers."""
REQUEST_SIZE = 1 << 17
"""Bytes of the longest command line with its environment."""


class ForkServer:
    """Runs commands, also for several threads at a time. Ends with the process that made it."""

    def __init__(self) -> None:
        self._requests, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._requests.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * REQUEST_SIZE)
        environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
        with other_end:
            self._process = subprocess.Popen([sys.executable, __file__], stdin=other_end, env=environment)
        atexit.register(self._end)

    def _end(self) -> None:
        self._requests.close()
        self._process.wait()

    def run(
        self, arguments: Sequence[str], directory: Path, environment: Mapping[str, str], patience: float
    ) -> tuple[int, bytes, bytes]:
        """The exit code, standard output and standard error of a command that has ended.

        Raises:
            TimeoutError: it took longer than `patience` seconds, and was killed.
        """
        request = json.dumps([list(arguments), str(directory), dict(environment)]).encode()
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            answers, status = os.pipe()
            with open(answers, "rb", buffering=0) as ended:
                try:
                    socket.send_fds(self._requests, [request], [stdout.fileno(), stderr.fileno(), status])
                finally:
                    os.close(status)
                pid = int(ended.read(32))
                if not select.select([ended], [], [], patience)[0]:
                    os.killpg(pid, signal.SIGKILL)
                    raise TimeoutError(f"{arguments} did not end within {patience} s")
                code = int(ended.read(32))
            stdout.seek(0)
            stderr.seek(0)
            return code, stdout.read(), stderr.read()


@cache
def fork_server() -> ForkServer:
    """The one of this process."""
    return ForkServer()


def serve() -> NoReturn:
    """Forks a command for each request on standard input."""
    load_all()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    requests = socket.socket(fileno=0)
    while True:
        request, descriptors, *_ = socket.recv_fds(requests, REQUEST_SIZE, 3)
        if not request:
            os._exit(0)
        if not os.fork():
            watch(request, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def load_all() -> None:
    """Loads what some command would load, all of it."""
    import httpx  # noqa: F401

    import bindings
    import runner
    import scripttest

    for package in (bindings, runner, scripttest):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(NOT_LOADED):
                import_module(module.name)


def watch(request: bytes, stdout: int, stderr: int, status: int) -> NoReturn:
    """Forks the command. Sends its process ID, and later its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if not pid:
        become(request, stdout, stderr)
    os.write(status, b"%-32d" % pid)
    os.write(status, b"%-32d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os._exit(0)


def become(request: bytes, stdout: int, stderr: int) -> NoReturn:
    """Runs the command in this process, as a shell would have started it."""
    arguments, directory, environment = json.loads(request)
    os.setsid()
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.closerange(3, 64)
    sys.argv[:] = ["yao-test", *arguments]
    from runner.__main__ import main

    main()
    os._exit(0)


if __name__ == "__main__":
    serve()
