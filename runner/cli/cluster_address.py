"""The address of `--cluster`: a scheduler, or `local`."""

from __future__ import annotations

import re

from runner.errors import ConfigurationError
from scripttest.values import Value

_HINT = "Write tcp://HOST:PORT or tls://HOST:PORT of a Dask scheduler, or local, or local:N for N workers here"
MOST_WORKERS = 256
"""Of a cluster that a run starts."""
_SCHEDULER = r"(?:(tcp|tls|ws|wss)://)?(\[[0-9A-Fa-f:.]+\]|[\w.-]+):(\d{1,5})/?"


class ClusterAddress(Value):
    """The address of the Dask scheduler of a run with `--cluster`."""

    url: str
    """Such as `tls://10.0.0.1:8786`. Empty: the run starts a scheduler of its own."""
    host: str = ""
    port: int = 0
    workers: int = 0
    """How many workers the run starts; 0: as many as there are CPUs."""

    @property
    def is_local(self) -> bool:
        """Whether scheduler and workers are started for this run."""
        return not self.url

    def __str__(self) -> str:
        return self.url or (f"local:{self.workers}" if self.workers else "local")


def read_cluster_address(text: str, where: str) -> ClusterAddress:
    """Reads the value of `--cluster`. Raises ConfigurationError."""
    local = re.fullmatch(r"local(?::(\d+))?", text)
    if local and int(local[1] or 1) > 0:
        if int(local[1] or 1) > MOST_WORKERS:
            said = f'{where} "{text}" asks for more than {MOST_WORKERS} workers on this machine'
            raise ConfigurationError(said, "With local alone, there is one worker for each CPU")
        return ClusterAddress(url="", workers=int(local[1] or 0))
    found = re.fullmatch(_SCHEDULER, text)
    if found is None or not 0 < int(found[3]) < 65536:
        raise ConfigurationError(f'Cannot read {where} "{text}": it is not an address of a scheduler', _HINT)
    return ClusterAddress(
        url=f"{found[1] or 'tcp'}://{found[2]}:{found[3]}", host=found[2].strip("[]"), port=int(found[3])
    )
