"""A run as a page has it: an index, which it reads at once, and the results in blocks of one size. They are those of
the HTML report (`runner.reporters.html.data`); here they grow while the run goes on. A result keeps its place when
others come, so that nothing moves on a page that is open."""

from __future__ import annotations

from typing import Any

from runner.reporters.html.data import Rows, entry_of, index_of
from runner.results.json_text import json_line
from runner.results.report import Report

Record = dict[str, Any]
Key = tuple[str, str, int]

SIZE = 100
"""Results of a block."""


class Shown:
    """One run. Not for several threads at a time."""

    def __init__(self, report: Report) -> None:
        self.revision = 0
        """Grows with each change."""
        self.report = report
        """What it was last; its results are in the order of their places."""
        self._places: dict[Key, int] = {}
        self._sources: list[str] = []
        self._rows: list[Record] = []
        self._texts: list[str] = []
        self._changed: list[int] = []
        """The revision in which each was last another one."""
        self._index: Record = {}
        self.take(report)

    def take(self, report: Report) -> None:
        """Takes what the run is now."""
        self.revision += 1
        rows = Rows(report)
        results: dict[int, Record] = {}
        seen: dict[tuple[str, str], int] = {}
        for result in report.results:
            name = (result["suite"], result["id"])
            nth = seen[name] = seen.get(name, 0) + 1
            place = self._places.setdefault((*name, nth), len(self._places))
            results[place] = result
            self._put(place, result, rows, "/".join(name) + (f"~{nth}" if nth > 1 else ""))
        self.report = report.replace(results=[results[place] for place in sorted(results)])
        self._index = index_of(report, rows.frames, (), range(0, len(self._rows), SIZE))

    def index(self) -> Record:
        """The index with all rows, and the `revision` that it is of."""
        return {**self._index, "blocks": list(self._index["blocks"]), "rows": self._rows, "revision": self.revision}

    def since(self, revision: int) -> Record:
        """What has changed since then: the index, with `[place, row]` of the results that are new or others."""
        rows = [[place, row] for place, row in enumerate(self._rows) if self._changed[place] > revision]
        return {**self.index(), "rows": rows}

    def block(self, number: int) -> str:
        """The results of a block as JSON; an empty list where there is none."""
        return f"[{','.join(self._texts[number * SIZE : (number + 1) * SIZE])}]"

    def place_of(self, key: str) -> int | None:
        """The place of a row by its key."""
        return next((place for place, row in enumerate(self._rows) if row["key"] == key), None)

    def _put(self, place: int, result: Record, rows: Rows, key: str) -> None:
        source = json_line(result)
        if place < len(self._sources) and self._sources[place] == source:
            return
        row, text = rows.made(entry_of(result, source), key)
        row["position"] = result["position"]
        self._sources[place : place + 1] = [source]
        self._rows[place : place + 1] = [row]
        self._texts[place : place + 1] = [text]
        self._changed[place : place + 1] = [self.revision]
