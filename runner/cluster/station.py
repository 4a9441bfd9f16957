"""A scheduler or a worker that `--cluster local` starts: it ends with its standard input, and so with the command.

python -m runner.cluster.station        a line of JSON on standard input: {role, folder, tls, variables, address?}
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import threading
from typing import Any

import dask
from distributed import Scheduler, Security, Worker

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


def main() -> None:
    """Runs until standard input ends."""
    hide_environment()
    said = json.loads(sys.stdin.readline())
    os.environ.update(said["variables"])
    threading.Thread(target=_end_with_input, args=(said,), daemon=True).start()
    dask.config.set(_CONFIG)
    asyncio.run(_run(said))


async def _run(said: dict[str, Any]) -> None:
    tls = Security(require_encryption=True, **said["tls"])
    server: Scheduler | Worker
    if said["role"] == "scheduler":
        server = Scheduler(host="127.0.0.1", port=0, protocol="tls", security=tls, dashboard=False)
    else:
        server = Worker(
            said["address"],
            host="127.0.0.1",
            nthreads=1,
            security=tls,
            dashboard=False,
            local_directory=said["folder"],
            memory_limit=0,
        )
    async with server:
        sys.stdout.write(f"{server.address}\n")
        sys.stdout.flush()
        await server.finished()  # type: ignore[no-untyped-call]


def _end_with_input(said: dict[str, Any]) -> None:
    sys.stdin.read()
    if said["role"] == "scheduler":
        shutil.rmtree(said["folder"], ignore_errors=True)
    os._exit(0)


if __name__ == "__main__":
    main()
