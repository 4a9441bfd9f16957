"""`--store-keep`: for how long, or up to which size, a store keeps runs."""

from __future__ import annotations

import re

from runner.errors import ConfigurationError
from scripttest.values import Value

_SECONDS = {"h": 3600, "d": 86_400, "w": 7 * 86_400}
_BYTES = {"KB": 1000, "MB": 1000**2, "GB": 1000**3}


class StoreKeep(Value):
    """The limit of a store: an age of runs, or a size. Runs beyond it are removed, the oldest first."""

    text: str
    """As the user wrote it."""
    seconds: int | None = None
    """The highest age of a run."""
    bytes: int | None = None
    """The largest size of the store."""

    def __str__(self) -> str:
        return self.text


STANDARD = StoreKeep(text="1GB", bytes=_BYTES["GB"])
"""The limit when no flag sets one."""


def read_store_keep(text: str, where: str) -> StoreKeep:
    """The limit that a text such as `90d`, `12w`, `36h`, `500MB` or `2GB` gives. Raises ConfigurationError."""
    found = re.fullmatch(r"(\d+)(h|d|w|KB|MB|GB)", text)
    if found is None or not int(found[1]):
        raise ConfigurationError(
            f'Cannot read {where} "{text}": it is neither an age nor a size',
            "Write an age as 90d, 12w or 36h, a size as 500MB or 2GB",
        )
    number, unit = int(found[1]), found[2]
    if unit in _SECONDS:
        return StoreKeep(text=text, seconds=number * _SECONDS[unit])
    return StoreKeep(text=text, bytes=number * _BYTES[unit])
