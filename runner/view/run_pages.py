"""A run as a page has it: an index, which it reads at once, and the results in blocks of one size. They are those of
the HTML report (`runner.reporters.html.data`); here they grow while the run goes on. A result keeps its place when
others come, so that nothing moves on a page that is open."""

from __future__ import annotations

from collections.abc import Iterator

from runner.reporters.html.data import Rows, entry_of, index_of
from runner.results.certainty import certainty_of
from runner.results.counts import Counts
from runner.results.json_text import json_line
from runner.results.report import Report
from runner.results.summary import summary_record, usage_record
from scripttest.typing_names import Record

SIZE = 100
"""Results of a block."""


class RunPages:
    """The data of one run for its pages. Not for several threads at a time."""

    report: Report
    """What it was last; its results are in the order of their places."""

    def __init__(self, revisions: Iterator[int]) -> None:
        self._revisions = revisions
        self.revision = 0
        """Grows with each change. Rising numbers, also for who has seen what the run was before it was shown anew."""
        self._index: Record = {}
        self._forget()

    def _forget(self) -> None:
        self._places: dict[tuple[str, int], int] = {}
        """Suite and position in it → place."""
        self._named: dict[str, int] = {}
        self._keys: list[str] = []
        self._results: list[Record] = []
        self._sources: list[str] = []
        self._rows: list[Record] = []
        self._texts: list[str] = []
        self._changed: list[int] = []
        """The revision in which each was last another one."""
        self._counts = Counts()

    def take(self, report: Report) -> None:
        """Takes what the whole run is now."""
        if self._places.keys() - {_where(result) for result in report.results}:
            self._forget()  # a run that was resumed is without a test that it had
        rows = self._put_all(report)
        self._show(report, rows)

    def add(self, part: Report) -> None:
        """Reads the tests of a running run that have ended since the last call."""
        known = len(self._rows)
        rows = self._put_all(part)
        if len(self._rows) - known < len(part.results):  # tests of an earlier session ran again
            self._counts, known = Counts(), 0
        for place in range(known, len(self._rows)):
            self._counts.add_record(self._results[place], place)
        counts = self._counts
        figures = {**summary_record(counts, counts.milliseconds), **usage_record(counts), **certainty_of(counts)}
        self._show(part.replace(summary={**figures, "status": part.summary["status"]}), rows)

    def index(self) -> Record:
        """The index with all rows, and the `revision` that it is of."""
        return {**self._index, "blocks": list(self._index["blocks"]), "rows": self._rows, "revision": self.revision}

    def since(self, revision: int) -> Record:
        """What has changed since then: the index, with `[place, row]` of results that are new or others, and how many
        there are."""
        rows = [[place, row] for place, row in enumerate(self._rows) if self._changed[place] > revision]
        return {**self.index(), "rows": rows, "count": len(self._rows)}

    def block(self, number: int) -> str:
        """The results of a block as JSON; an empty list where there is none."""
        return f"[{','.join(self._texts[number * SIZE : (number + 1) * SIZE])}]"

    def place_of(self, key: str) -> int | None:
        """The place of a row by its key."""
        return self._keys.index(key) if key in self._keys else None

    def _show(self, report: Report, rows: Rows) -> None:
        self.report = report.replace(results=list(self._results))
        self._index = index_of(report, rows.frames, (), range(0, len(self._rows), SIZE))

    def _put_all(self, report: Report) -> Rows:
        self.revision = next(self._revisions)
        rows = Rows(report)
        for result in report.results:
            self._put(self._place(result), result, rows)
        return rows

    def _place(self, result: Record) -> int:
        where = _where(result)
        if where not in self._places:
            name = f"{result['suite']}/{result['id']}"
            nth = self._named[name] = self._named.get(name, 0) + 1
            self._places[where] = len(self._places)
            self._keys.append(name if nth == 1 else f"{name}~{nth}")
        return self._places[where]

    def _put(self, place: int, result: Record, rows: Rows) -> None:
        source = json_line(result)
        if place < len(self._sources) and self._sources[place] == source:
            return
        row, text = rows.made(entry_of(result, source), self._keys[place])
        row["position"] = result["position"]
        self._results[place : place + 1] = [result]
        self._sources[place : place + 1] = [source]
        self._rows[place : place + 1] = [row]
        self._texts[place : place + 1] = [text]
        self._changed[place : place + 1] = [self.revision]


def _where(result: Record) -> tuple[str, int]:
    return result["suite"], result["position"]
