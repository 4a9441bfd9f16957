"""Dask's scheduler and workers, forked from a process that has loaded Dask, so that they start at once.

`DaskForks` belongs to the tests; as a program, this file is that process.
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
from typing import NoReturn

ROLES = ("scheduler", "worker")


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
        self._process = subprocess.Popen([sys.executable, __file__], env=environment, text=True, **pipes)
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
    try:
        import_module(f"distributed.cli.dask_{role}").main(arguments)
    finally:
        os._exit(0)


if __name__ == "__main__":
    serve()
