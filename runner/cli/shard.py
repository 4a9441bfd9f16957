"""`--shard I/N`: the tests are divided into N parts, and the run has the I-th."""

from __future__ import annotations

import re
from hashlib import blake2b

from runner.errors import ConfigurationError
from scripttest.values import Value


class Shard(Value):
    """One of several parts of the tests."""

    number: int
    """From 1."""
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, name: str) -> bool:
        """Whether the test or file with this name belongs to this part."""
        digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.of == self.number - 1


def read_shard(text: str) -> Shard:
    """Reads the value of `--shard`. Raises ConfigurationError."""
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        message = f'Cannot read --shard "{text}": it must be I/N, with I from 1 to N'
        raise ConfigurationError(message, "Such as 1/4, 2/4, 3/4 and 4/4")
    return Shard(number=int(match[1]), of=int(match[2]))
