"""`--shard I/N`: the part of the tests that one of N machines runs.

A case belongs to the shard that a hash of its file and id names, so that it stays where it is when others are added or
removed; cases that depend on each other stay together. Test modules are not divided: the hash is of their id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import ConfigurationError
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.cases.model import Case
    from runner.execution.scheduler import CaseSource


class Shard(Value):
    """One of several parts."""

    number: int
    """From 1."""
    of: int

    def has(self, name: str) -> bool:
        """Whether what has that name belongs to it."""
        digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.of == self.number - 1


def read_shard(text: str) -> Shard:
    """The shard that `--shard` names. Raises ConfigurationError."""
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        message = f'Cannot read --shard "{text}": it must be I/N, with I from 1 to N'
        raise ConfigurationError(message, "Such as 1/4, 2/4, 3/4 and 4/4")
    return Shard(number=int(match[1]), of=int(match[2]))


def part_of(source: CaseSource, shard: Shard, root: Path) -> CaseSource | None:
    """The cases of a source that belong to a shard; None when there are none. Reads the cases. `root` is that of the
    application, from which files are named."""
    file = Path(source.suite.file) if source.suite.file else None
    name = str(file.relative_to(root)) if file and file.is_relative_to(root) else source.suite.label
    groups = _groups(source) if source.waited else {}

    def belongs(case: Case) -> bool:
        return shard.has(f"{name}\0{groups.get(case.id, case.id)}")

    def cases() -> Iterator[tuple[int, Case]]:
        return (item for item in source.cases() if belongs(item[1]))

    selected = sum(1 for _ in cases())
    return source.replace(selected=selected, cases=cases) if selected else None


def _groups(source: CaseSource) -> dict[str, str]:
    """Case → the one that stands for all which depend on each other, for those that do."""
    leaders: dict[str, str] = {}

    def leader(id: str) -> str:
        while (above := leaders.setdefault(id, id)) != id:
            id = above
        return id

    for _, case in source.cases():
        for needed in case.depends_on:
            first, second = sorted((leader(case.id), leader(needed)))
            leaders[second] = first
    return {id: leader(id) for id in leaders}
