"""The coverage of handlers in a run, in Istanbul's format and meaning: figures, thresholds, and several runs together.

A summary stores it as `{totals, files, folder?}`: `totals` is `{statements, branches, functions, lines}`, each
`{covered, total, percent}`. `files` has the JSON text of the Istanbul record of each file, by its path in the
application. `folder` is the path of the application in the repository, if it is not the whole repository."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from scripttest.typing_names import Record
from scripttest.values import Value

METRICS = ("statements", "branches", "functions", "lines")
"""The metrics of coverage, in the order in which reports show them."""


class Figure(Value):
    """How much of a metric is covered."""

    covered: int
    total: int

    @property
    def percent(self) -> float:
        """From 0 to 100, cut off after two decimals, so that only complete coverage is 100; 100 when there is nothing
        to cover."""
        return self.covered * 10000 // self.total / 100 if self.total else 100.0

    def plus(self, other: Figure) -> Figure:
        """The sum of both figures."""
        return Figure(covered=self.covered + other.covered, total=self.total + other.total)


NOTHING = Figure(covered=0, total=0)


class CoverageReport(Value):
    """The coverage of a run."""

    files: Mapping[str, Record]
    """Path from the application's root → `{path, statementMap, fnMap, branchMap, s, f, b, unread?}`; `unread` is why a
    file, of which nothing is covered, cannot be read."""
    misses: tuple[str, ...] = ()
    """The thresholds that are missed, one sentence each."""
    folder: str = ""
    """The application's root, from the folder from which reports name files; empty: they are the same."""

    def miss(self, metric: str, percent: float, folder: str = "") -> str | None:
        """A sentence about a missed threshold, or about a `folder` in which nothing is counted; None when the threshold
        is reached. A file that cannot be read misses every threshold."""
        inside = [file for path, file in self.files.items() if not folder or f"{path}/".startswith(f"{folder}/")]
        of = f" below {folder}" if folder else ""
        if not inside:
            return f"No file{of} is counted"
        figure = totals(inside)[metric]
        unread = ", ".join(file["path"] for file in inside if "unread" in file)
        if figure.covered * 100 >= percent * figure.total and not unread:
            return None
        said = f"Coverage of {metric}{of} is {figure.percent:.2f} % ({figure.covered} of {figure.total})"
        return f"{said}, and {unread} cannot be read" if unread else said


def figures(file: Record) -> dict[str, Figure]:
    """The figures of a file, by metric."""
    counts: dict[str, Iterable[int]] = {
        "statements": file["s"].values(),
        "branches": [count for arms in file["b"].values() for count in arms],
        "functions": file["f"].values(),
        "lines": lines(file).values(),
    }
    return {
        metric: Figure(covered=sum(1 for count in found if count), total=len(list(found)))
        for metric, found in counts.items()
    }


def totals(files: Iterable[Record]) -> dict[str, Figure]:
    """The figures of several files together, by metric."""
    whole = dict.fromkeys(METRICS, NOTHING)
    for file in files:
        for metric, figure in figures(file).items():
            whole[metric] = whole[metric].plus(figure)
    return whole


def lines(file: Record) -> dict[int, int]:
    """Line → how often it ran: of the statements that begin there, the one that ran most."""
    found: dict[int, int] = {}
    for key, count in file["s"].items():
        line = file["statementMap"][key]["start"]["line"]
        found[line] = max(found.get(line, 0), count)
    return dict(sorted(found.items()))


def uncovered(file: Record) -> str:
    """The lines of a file that never ran, `3-5,9`; lines without a statement between them count with them. `unread` for
    a file that cannot be read."""
    if "unread" in file:
        return "unread"
    found = lines(file)
    numbers = list(found)
    ranges: list[str] = []
    at = 0
    while at < len(numbers):
        end = at
        if found[numbers[at]] == 0:
            while end + 1 < len(numbers) and found[numbers[end + 1]] == 0:
                end += 1
            first, last = numbers[at], numbers[end]
            ranges.append(str(first) if first == last else f"{first}-{last}")
        at = end + 1
    return ",".join(ranges)


def together(reports: Iterable[CoverageReport]) -> tuple[CoverageReport | None, list[str]]:
    """The coverage of several runs as one, and the files that are not the same in all of them, of which the later one
    counts; None when there is none."""
    files: dict[str, Record] = {}
    differ: list[str] = []
    found = list(reports)
    for report in found:
        for path, record in report.files.items():
            known = files.get(path)
            if known is not None and any(known[key] != record[key] for key in ("statementMap", "fnMap", "branchMap")):
                differ.append(path)
                known = None
            files[path] = record if known is None else _sum(known, record)
    if not found:
        return None, []
    whole = CoverageReport(files={path: files[path] for path in sorted(files)}, folder=found[0].folder)
    return whole, list(dict.fromkeys(differ))


def _sum(one: Record, other: Record) -> Record:
    return {
        **one,
        "s": {key: count + other["s"][key] for key, count in one["s"].items()},
        "f": {key: count + other["f"][key] for key, count in one["f"].items()},
        "b": {
            key: [count + more for count, more in zip(arms, other["b"][key], strict=True)]
            for key, arms in one["b"].items()
        },
    }


def coverage_record(report: CoverageReport) -> Record:
    """As summaries keep it; see above. What is below a threshold is a warning of the run."""
    return {
        "totals": {
            metric: {"covered": figure.covered, "total": figure.total, "percent": figure.percent}
            for metric, figure in totals(report.files.values()).items()
        },
        "files": {
            path: json.dumps(file, ensure_ascii=False, separators=(",", ":")) for path, file in report.files.items()
        },
        **({"folder": report.folder} if report.folder else {}),
    }


def coverage_in(summary: Record) -> CoverageReport | None:
    """What `coverage_record` was made from; None when a summary has none. Raises ValueError."""
    given = summary.get("coverage")
    if not isinstance(given, dict) or not isinstance(given.get("files"), dict):
        return None
    files = {str(path): json.loads(text) for path, text in given["files"].items()}
    return CoverageReport(files=files, folder=str(given.get("folder") or ""))
