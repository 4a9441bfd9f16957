"""Describes in words and as a record what a run did with snapshots."""

from __future__ import annotations

from runner.results.events import SnapshotCounts
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

NAMED = 50
"""At most this many obsolete snapshots are named."""


def snapshot_record(counts: SnapshotCounts) -> Record:
    """`{written?, updated?, removed?, obsolete?}`: numbers, and the names of the obsolete ones."""
    record: Record = {"written": counts.written, "updated": counts.updated, "removed": counts.removed}
    return {key: value for key, value in (record | {"obsolete": list(counts.obsolete)}).items() if value}


def snapshots_in(record: Record) -> SnapshotCounts | None:
    """What `snapshot_record` was made from; None when a summary has none."""
    if not isinstance(record.get("snapshots"), dict):
        return None
    given = record["snapshots"]
    written, updated, removed = (int(given.get(key) or 0) for key in ("written", "updated", "removed"))
    return SnapshotCounts(
        written=written, updated=updated, removed=removed, obsolete=tuple(map(str, given.get("obsolete") or ()))
    )


def together(records: list[Record]) -> Record:
    """Adds up what several runs did with snapshots, as one record."""
    found = list(filter(None, map(snapshots_in, records)))
    whole = SnapshotCounts(
        written=sum(counts.written for counts in found),
        updated=sum(counts.updated for counts in found),
        removed=sum(counts.removed for counts in found),
        obsolete=tuple(dict.fromkeys(name for counts in found for name in counts.obsolete)),
    )
    return snapshot_record(whole)


def in_words(counts: SnapshotCounts) -> str:
    """The counts in words, such as `2 snapshots written, 1 obsolete snapshot`."""
    parts = [
        _count(counts.written, "snapshot", "written"),
        _count(counts.updated, "snapshot", "updated"),
        _count(counts.removed, "obsolete snapshot", "removed"),
        _count(len(counts.obsolete), "obsolete snapshot"),
    ]
    return ", ".join(filter(None, parts))


def in_lines(counts: SnapshotCounts) -> list[str]:
    """The counts in lines, with the names of obsolete snapshots and how to remove them."""
    lines = [in_words(counts)]
    named = [name.replace("\n", "\\n") for name in counts.obsolete[:NAMED]]
    lines += [f"  obsolete: {name}" for name in named]
    if len(counts.obsolete) > NAMED:
        lines.append(f"  ... and {len(counts.obsolete) - NAMED} more")
    if counts.obsolete:
        lines.append("  --update-snapshots removes what is obsolete")
    return lines


def _count(number: int, word: str, done: str = "") -> str:
    return f"{number} {word}{'' if number == 1 else 's'}{f' {done}' if done else ''}" if number else ""
