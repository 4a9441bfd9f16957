"""The scheduler and the workers that `--cluster local` starts: one process that loads Dask, and forks for each worker.
All of them end with their standard input, and so with the command.

The first line of standard input is `{folder, workers, variables, run}` in JSON: where workers write, how many there
are, the environment of the tests, and the id of the run. When the scheduler listens, it writes `{address, tls}`, where
`tls` is what `distributed.Security` takes, and another line when it has its workers. `{missing}` names a library that
there is not.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NoReturn

import dask
from distributed import Scheduler, Security, Worker

from runner.cluster import station_work
from scripttest import hide_environment

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
"""What Dask looks at many times a second, and pieces of tests have no use for: pieces hold no data, and stay where they
are put."""
_CONFIG = {
    **QUIET,
    "distributed.scheduler.worker-ttl": "30s",
    "distributed.scheduler.allowed-failures": 2,
    "distributed.comm.timeouts.connect": "10s",
}
_TLS = (
    "tls_ca_file tls_client_key tls_client_cert tls_scheduler_key tls_scheduler_cert tls_worker_key tls_worker_cert"
).split()


def main() -> None:
    """Runs until standard input ends."""
    hide_environment()
    said = json.loads(sys.stdin.readline())
    dask.config.set(_CONFIG)
    try:
        security = Security.temporary()
    except ImportError as error:
        _say({"missing": str(error)})
        return
    gc.freeze()
    gc.enable()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # workers that end leave nothing behind
    joining, joined = os.pipe()
    pipes = [_forked(said, security, joined) for _ in range(said["workers"])]
    os.close(joined)
    threading.Thread(target=_end_with_input, args=(said["folder"],), daemon=True).start()
    asyncio.run(_schedule(security, pipes, joining))


def _forked(said: Mapping[str, Any], security: Security, joined: int) -> int:
    """Starts a worker, which closes `joined` when the scheduler has it. Returns where it waits for the address of the
    scheduler."""
    reading, writing = os.pipe()
    if os.fork():
        os.close(reading)
        return writing
    os.close(writing)
    _work(said, security, reading, joined)


def _work(said: Mapping[str, Any], security: Security, addresses: int, joined: int) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    threading.Thread(target=_end_with_input, daemon=True).start()
    os.environ.update(said["variables"])
    station_work.prepare(said["run"])
    try:
        with open(addresses) as stream:
            address = stream.readline().strip()
        if address:
            asyncio.run(_serve(address, said["folder"], security, joined))
    finally:
        os._exit(0)


async def _serve(address: str, folder: str, security: Security, joined: int) -> None:
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


async def _schedule(security: Security, pipes: list[int], joining: int) -> None:
    scheduler = Scheduler(host="127.0.0.1", port=0, protocol="tls", security=security, dashboard=False)
    async with scheduler:
        for pipe in pipes:
            with open(pipe, "w") as stream:
                stream.write(f"{scheduler.address}\n")
        tls = {name: getattr(security, name) for name in _TLS}
        _say({"address": scheduler.address, "tls": tls})
        await asyncio.to_thread(os.read, joining, 1)  # until it is closed everywhere
        _say({})
        await scheduler.finished()


def _end_with_input(folder: str | None = None) -> None:
    """Ends this process with its input; that of the scheduler after its workers, and with their folder."""
    sys.stdin.read()
    if folder is not None:
        with suppress(ChildProcessError):
            os.wait()  # returns when all have ended, since nobody asks how
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _say(value: Mapping[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(value)}\n")
    sys.stdout.flush()
