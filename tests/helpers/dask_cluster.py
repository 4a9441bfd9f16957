"""A real Dask cluster on this machine: a scheduler and workers, each a process that runs what `dask` runs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from command import eventually
from dask_forks import NAME, Forked, dask_forks, quiet
from faults import below, helper_processes

RUNNER = "runner.cluster.runner_process"


class DaskCluster:
    """Runs until `with` ends."""

    def __init__(self, folder: Path, workers: int = 2, env: Mapping[str, str] | None = None, **tls: str) -> None:
        self.folder = folder
        self._env = {"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": str(folder), **quiet(), **(env or {})}
        # where a test bounds the size of files, half a file of bytecode would stay
        self._env["PYTHONDONTWRITEBYTECODE"] = "1"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._tls = [word for name, value in tls.items() for word in (f"--{name.replace('_', '-')}", value)]
        self.address = f"{'tls' if tls else 'tcp'}://127.0.0.1:{self.port}"
        self._count = workers

    def __enter__(self) -> DaskCluster:
        self.folder.mkdir(parents=True, exist_ok=True)
        more = ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-jupyter"]
        self.scheduler = self._start("scheduler", more)
        self.workers = [self.add_worker() for _ in range(self._count)]
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        for process in [*self.workers, self.scheduler]:
            self.kill(process)

    def add_worker(self, env: Mapping[str, str] | None = None) -> Forked | subprocess.Popen[bytes]:
        """One more worker, for one piece at a time; with variables of its own if it needs some."""
        arguments = [self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory"]
        return self._start("worker", [*arguments, str(self.folder)], env)

    def kill(self, process: Forked | subprocess.Popen[bytes]) -> None:
        """Ends a process by SIGKILL."""
        process.kill()
        process.wait()

    def _start(
        self, role: str, arguments: list[str], env: Mapping[str, str] | None = None
    ) -> Forked | subprocess.Popen[bytes]:
        arguments = [*self._tls, *arguments]
        if env is None:
            return dask_forks().start(role, arguments, self.folder, self._env)
        nothing: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        command = [sys.executable, "-m", f"distributed.cli.dask_{role}", *arguments]
        return subprocess.Popen(command, cwd=self.folder, env={**self._env, **env}, start_new_session=True, **nothing)

    def _wait(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from distributed import Client

            if self._tls or not self._count:
                eventually(self._listens, "the scheduler listens")
                return
            with Client(self.address, timeout=30, set_as_default=False) as client:
                client.wait_for_workers(self._count, timeout=30)

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True


def runners(cluster: DaskCluster) -> set[int]:
    """The processes that run tests for the workers of a cluster."""
    workers = [worker.pid for worker in cluster.workers]
    names = {NAME.format(pid) for pid in workers}
    started = below(*workers) & {pid for pid, _ in helper_processes(RUNNER)}
    return started | {pid for pid, _ in helper_processes("") if _name_of(pid) in names}


def _name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
