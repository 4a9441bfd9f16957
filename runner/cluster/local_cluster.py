"""`--cluster local`: a scheduler and workers on this machine, which only this command can reach: they ask for a
certificate that is made for the run. One process loads Dask, and forks for each of them. All end with their standard
input, and so with the command.

The first line of standard input is `{workers, variables, run}` in JSON: how many workers there are, the environment of
the tests, and the id of the run. When the scheduler listens, it writes `{address, tls, folder}`, where `tls` is what
`distributed.Security` takes, and `folder` is removed at the end; and `{}` when it has its workers. `{missing}` names a
library that there is not, and `{error}` says why they cannot start."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from runner.errors import ConfigurationError, RunnerError
from scripttest import hide_environment, install_command

if TYPE_CHECKING:
    from distributed import Security

QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.memory.monitor-interval": "2s",
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.system-monitor.gil.enabled": False,
}
"""What Dask looks at many times a second, and units of tests have no use for: units hold no data, and stay where they
are put."""
_PROCESS = "import gc; gc.disable(); from runner.cluster.local_cluster import main; main()"
"""While libraries are loaded there is nothing to collect."""
PATIENCE = 5.0
"""Seconds that scheduler and workers get to end."""
JOINING = 30.0
"""Seconds that workers get to join before the run begins without them."""
_CONFIG = {
    **QUIET,
    "distributed.scheduler.worker-ttl": "30s",
    "distributed.scheduler.allowed-failures": 2,
    "distributed.comm.timeouts.connect": "10s",
}
_TLS = (
    "tls_ca_file tls_client_key tls_client_cert tls_scheduler_key tls_scheduler_cert tls_worker_key tls_worker_cert"
).split()


class LocalCluster:
    """The scheduler and the workers on this machine. They end with the command, even when it is killed."""

    def __init__(self, *, workers: int, variables: Mapping[str, str], run: str) -> None:
        """Begins to start them. `workers`: number of workers, which run one unit at a time each. `variables`: the
        environment of the tests, with keys. `run`: id of the run that they are for; each starts a process for its
        units at once."""
        self._folder: str | None = None
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROCESS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            env={name: value for name, value in os.environ.items() if not name.startswith("DASK_")},
        )
        assert self._process.stdin is not None
        said = {"workers": workers, "variables": dict(variables), "run": run}
        self._process.stdin.write(f"{json.dumps(said)}\n")
        self._process.stdin.flush()

    def started(self) -> tuple[str, dict[str, Any]]:
        """The address of the scheduler, and what `distributed.Security` takes; blocks until it listens. Raises
        RunnerError."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RunnerError("Cannot start a cluster here: a Dask process exited immediately", "Run pip check")
        said = json.loads(line)
        if "missing" in said:
            raise ConfigurationError(
                f"--cluster local requires the package cryptography: {said['missing']}",
                f"Install it with: {install_command('dask', 'cryptography')}",
            )
        if "error" in said:
            raise RunnerError(f"Cannot start a cluster here: {said['error']}")
        self._folder = said["folder"]
        return said["address"], said["tls"]

    def wait_for_workers(self) -> None:
        """Blocks until the scheduler has its workers, or those of them that could start in time."""
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def close(self) -> None:
        """Ends them."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
        self._process.stdout.close()


def main() -> None:
    """Runs until standard input ends."""
    hide_environment()
    line = sys.stdin.readline()
    if not line.endswith("\n"):  # the command has ended already
        return
    folder = None
    try:
        folder = tempfile.mkdtemp(prefix="yao-test-cluster-")
        _run(json.loads(line), folder)
    except OSError as error:
        _say({"error": ": ".join(map(str, filter(None, (error.strerror, error.filename))))})
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _run(said: Mapping[str, Any], folder: str) -> None:
    """Returns when standard input has ended, and all other processes with it."""
    import dask
    from distributed import Security

    from runner.cluster import worker_side  # noqa: F401 - for all that are forked

    dask.config.set({**_CONFIG, "temporary-directory": folder})
    try:
        tls = _certificate(folder, Security.temporary())
    except ImportError as error:
        _say({"missing": str(error)})
        return
    security = Security(require_encryption=True, **tls)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # processes that end leave nothing behind
    gc.freeze()
    gc.enable()
    joining, joined = os.pipe()
    addresses: list[int] = []
    for _ in range(said["workers"]):
        reading, writing = os.pipe()
        _fork(partial(_work, said, folder, security, reading, joined))
        os.close(reading)
        addresses.append(writing)
    os.close(joined)
    _fork(lambda: asyncio.run(_listen(folder, security, tls, addresses, joining)))
    for descriptor in (joining, *addresses):
        os.close(descriptor)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that it ends with the scheduler
    sys.stdin.read()
    with suppress(ChildProcessError):
        os.wait()  # returns when all have ended, since nobody asks how


def _certificate(folder: str, made: Any) -> dict[str, str]:
    """What `Security` takes, with a certificate for this run, in files: from a text, Dask would make files elsewhere
    for each connection."""
    key, certificate = f"{folder}/key.pem", f"{folder}/certificate.pem"
    for path, text in ((key, made.tls_client_key), (certificate, made.tls_client_cert)):
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
    return {name: key if name.endswith("_key") else certificate for name in _TLS}


def _fork(work: Callable[[], None]) -> None:
    """Does some work in a process of its own, which ends with it, or with standard input."""
    if os.fork():
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        work()
    finally:
        os._exit(0)


def _work(said: Mapping[str, Any], folder: str, security: Security, addresses: int, joined: int) -> None:
    """Is a worker. Reads the address of the scheduler, and closes `joined` when that has it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    os.environ.update(said["variables"])
    from runner.cluster import worker_side

    worker_side.prepare(said["run"])
    with open(addresses) as stream:
        address = stream.readline().strip()
    if address:
        asyncio.run(_serve(address, folder, security, joined))


async def _serve(address: str, folder: str, security: Security, joined: int) -> None:
    from distributed import Worker

    worker = Worker(
        address,
        host="127.0.0.1",
        nthreads=1,
        security=security,
        dashboard=False,
        local_directory=folder,
        memory_limit=0,
    )
    async with worker:
        os.close(joined)
        await worker.finished()


async def _listen(folder: str, security: Security, tls: Mapping[str, str], addresses: list[int], joining: int) -> None:
    """Is the scheduler. Writes its address to each of `addresses`; `joining` ends when all workers have joined."""
    from distributed import Scheduler

    scheduler = Scheduler(host="127.0.0.1", port=0, protocol="tls", security=security, dashboard=False)
    async with scheduler:
        for descriptor in addresses:
            with suppress(BrokenPipeError), open(descriptor, "w") as stream:  # of a worker that has ended
                stream.write(f"{scheduler.address}\n")
        _say({"address": scheduler.address, "tls": tls, "folder": folder})
        with suppress(TimeoutError):
            async with asyncio.timeout(JOINING):
                await asyncio.to_thread(os.read, joining, 1)  # until it is closed everywhere
        _say({})
        await scheduler.finished()


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)


def _say(value: Mapping[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(value)}\n")
    sys.stdout.flush()
