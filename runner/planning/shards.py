"""`--shard I/N`: selects the part of the tests that one of N machines runs.

A case belongs to the shard that a hash of its file and id names, so that it stays where it is when others are added or
removed; cases that depend on each other, or share a chat, stay together. Test modules are not divided: the hash is of
their id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.cases.model import Case
    from runner.cases.reader import LocatedCase
    from runner.options.values import Shard
    from runner.planning.case_source import CaseSource


def parts_of(
    sources: Iterable[CaseSource], shard: Shard, root: Path, chat: str, empty: bool = False
) -> list[CaseSource]:
    """What belongs to a shard of all cases; see `part_of`. Sources of which nothing does are left out, unless `empty`
    says that they are wanted too, since an earlier run may have results of them."""
    parts = [part_of(source, shard, root, chat) for source in sources]
    return [part for part in parts if part.selected or empty]


def part_of(source: CaseSource, shard: Shard, root: Path, chat: str) -> CaseSource:
    """The cases of a source that belong to a shard. Reads the cases. `root` is that of the application, from which
    files are named; `chat` is the id of the chat that all cases of a file share, if they do."""
    file = Path(source.suite.file) if source.suite.file else None
    name = str(file.relative_to(root)) if file and file.is_relative_to(root) else source.suite.label
    groups = groups_of(source) if source.waited else {}

    def belongs(case: Case) -> bool:
        return shard.has(f"{name}\0{'' if chat else groups.get(case.id, case.id)}")

    def cases() -> Iterator[LocatedCase]:
        return (located for located in source.cases() if belongs(located.case))

    selected = sum(1 for _ in cases())
    return source.replace(selected=selected, cases=cases)


def groups_of(source: CaseSource) -> dict[str, str]:
    """Case → the case that represents its group, for cases that are connected by dependencies."""
    leaders: dict[str, str] = {}

    def leader(id: str) -> str:
        while (above := leaders.setdefault(id, id)) != id:
            id = above
        return id

    for located in source.cases():
        for needed in located.case.depends_on:
            first, second = sorted((leader(located.case.id), leader(needed)))
            leaders[second] = first
    return {id: leader(id) for id in leaders}
