"""`--cluster local`: a scheduler and workers on this machine, which only this command can reach: they ask for a
certificate that is made for the run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from runner.errors import ConfigurationError, RunnerError
from scripttest import install_command

_PROCESS = "import gc; gc.disable(); from runner.cluster.local_cluster import main; main()"
"""While libraries are loaded there is nothing to collect."""
PATIENCE = 5.0
"""Seconds that they get to end."""


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
