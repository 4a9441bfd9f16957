"""Dask's scheduler and workers, forked from a process that has loaded Dask, so that they start at once; and so do the
processes that these workers start, forked from one that has loaded yao-test.

`DaskForks` belongs to the tests; as a program, this file is the process with Dask.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from forks import Forked as ForkedCommand
from forks import ForkServer, address_of, fork_server

ROLES = ("scheduler", "worker")
NAME = "runner {}"
"""What a process is called that a worker has started, with the ID of the worker: fifteen characters at the most."""


class Forked:
    """A process that somebody else waits for."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def kill(self) -> None:
        """Ends it by SIGKILL, if it has not ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> None:
        """Waits until it has ended."""
        from command import eventually
        from faults import are_gone

        eventually(lambda: are_gone({self.pid}), f"process {self.pid} ends")


class DaskForks:
    """Starts processes. Ends with the process that made it; forked processes continue."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        """Loads Dask with these of its settings, as variables."""
        environment = {"PATH": os.defpath, "LANG": "C.UTF-8", **settings}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        fork_server()
        command = [sys.executable, __file__, address_of().removeprefix("\0")]
        self._process = subprocess.Popen(command, env=environment, text=True, **pipes)
        atexit.register(self._process.communicate)

    def start(self, role: str, arguments: list[str], folder: Path, environment: Mapping[str, str]) -> Forked:
        """A process in a session of its own, which says nothing."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([role, arguments, str(folder), dict(environment)]) + "\n")
        self._process.stdin.flush()
        return Forked(int(self._process.stdout.readline()))


@cache
def dask_forks() -> DaskForks:
    """The one of this process."""
    return DaskForks(quiet())


def quiet() -> dict[str, str]:
    """The settings with which Dask takes little, as variables."""
    from runner.cluster.local_cluster import QUIET

    names = {key: "DASK_" + key.upper().replace(".", "__").replace("-", "_") for key in QUIET}
    return {names[key]: str(value) for key, value in QUIET.items()}


class ForkedPopen(subprocess.Popen[bytes]):
    """Stands for `subprocess.Popen` in a worker: Python code is run by a process that is forked."""

    address = ""
    """Where it is asked for."""
    _forked: ForkedCommand | None = None

    def _execute_child(self, args: Any, *more: Any) -> None:
        if args[1:-1] != ["-P", "-c"]:
            super()._execute_child(args, *more)  # type: ignore[misc]
            return
        pipes = dict(zip(("stdin", "stdout", "stderr"), (more[9], more[12], more[14]), strict=True))
        words = [NAME.format(os.getpid()), args[-1]]
        self._forked = ForkServer(self.address).start(words, Path.cwd(), os.environ, program="code", **pipes)
        self.pid, self._child_created = self._forked.pid, True
        self._close_pipe_fds(*more[9:15])  # type: ignore[attr-defined]

    def _internal_poll(self, *more: Any, **named: Any) -> int | None:
        if self._forked is None:
            return super()._internal_poll(*more, **named)  # type: ignore[misc,no-any-return]
        lock = self._waitpid_lock  # type: ignore[attr-defined]
        if self.returncode is None and lock.acquire(blocking=False):  # else another thread waits for the end
            try:
                self.returncode = self._forked.poll()
            finally:
                lock.release()
        return self.returncode

    def _try_wait(self, flags: int) -> tuple[int, int]:
        if self._forked is None:
            return super()._try_wait(flags)  # type: ignore[misc,no-any-return]
        code = self._forked.poll() if flags & os.WNOHANG else self._forked.wait()
        return (0, 0) if code is None else (self.pid, -code if code < 0 else code << 8)


def serve() -> None:
    """Forks a process for each line of standard input."""
    for role in ROLES:
        import_module(f"distributed.cli.dask_{role}")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while line := sys.stdin.readline():
        pid = os.fork()
        if not pid:
            become(*json.loads(line))
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


def become(role: str, arguments: list[str], folder: str, environment: dict[str, str]) -> NoReturn:
    """Is what `dask` starts from here on."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    os.setsid()
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    if role == "worker":
        ForkedPopen.address = f"\0{sys.argv[1]}"
        vars(subprocess)["Popen"] = ForkedPopen
    try:
        import_module(f"distributed.cli.dask_{role}").main(arguments)
    finally:
        os._exit(0)


if __name__ == "__main__":
    serve()
