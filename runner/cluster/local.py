"""`--cluster local`: a scheduler and workers on this machine, which only this command can reach: they ask for a
certificate that is made for the run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping

from runner.errors import RunnerError


class LocalStations:
    """The worker processes on this machine. They end with the command, even when it is killed."""

    def __init__(self, workers: int, tls: Mapping[str, str], variables: Mapping[str, str]) -> None:
        """Starts scheduler and workers, and waits until they are ready, which takes seconds. Raises RunnerError.

        Args:
            workers: number of workers, which run one piece at a time each.
            tls: arguments of `distributed.Security`.
            variables: the environment of the tests, with keys.
        """
        self._folder = tempfile.mkdtemp(prefix="yao-test-cluster-")
        self._processes: list[subprocess.Popen[str]] = []
        try:
            processes = [self._start() for _ in range(workers + 1)]
            scheduler, *others = processes
            common = {"folder": self._folder, "tls": dict(tls), "variables": {}}
            self.address = self._address(scheduler, {**common, "role": "scheduler"})
            for other in others:
                _say(other, {**common, "role": "worker", "address": self.address, "variables": dict(variables)})
            for other in others:
                _hear(other)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends them."""
        for process in self._processes:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.close()
        for process in self._processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            assert process.stdout is not None
            process.stdout.close()
        self._processes = []
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "runner.cluster.station"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            env={name: value for name, value in os.environ.items() if not name.startswith("DASK_")},
        )
        self._processes.append(process)
        return process

    def _address(self, process: subprocess.Popen[str], said: Mapping[str, object]) -> str:
        _say(process, said)
        return _hear(process)


def _say(process: subprocess.Popen[str], said: Mapping[str, object]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(said) + "\n")
    process.stdin.flush()


def _hear(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if not line:
        raise RunnerError("Cannot start a cluster here: a process of Dask ended at once", "Look with pip check")
    return line
