"""The coverage of handlers in a run, in Istanbul's format and meaning: figures, thresholds, several runs together.

A summary has `{totals, files, folder?}`: `totals` is `{statements, branches, functions, lines}`, each `{covered, total,
percent}`; `files` has, by path in the application, the JSON text of the Istanbul record; `folder` is the path of the
application in the repository, if it is not the whole repository."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import groupby

from scripttest.typing_names import Record
from scripttest.values import Value, fields_of

METRICS = ("statements", "branches", "functions", "lines")
"""The metrics of coverage, in the order in which reports show them."""


class Figure(Value):
    """How much of a metric is covered."""

    covered: int
    total: int

    @property
    def percent(self) -> float:
        """From 0 to 100, cut off after two decimals, so that only complete coverage is 100."""
        return self.covered * 10000 // self.total / 100 if self.total else 100.0


class CoverageReport(Value):
    """The coverage of a run."""

    files: Mapping[str, Record]
    """Path in the application → `{path, statementMap, fnMap, branchMap, s, f, b, unread?}`; `unread`: why."""
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
    each = [figures(file) for file in files]
    return {
        metric: Figure(covered=sum(one[metric].covered for one in each), total=sum(one[metric].total for one in each))
        for metric in METRICS
    }


def lines(file: Record) -> dict[int, int]:
    """Line → how often it ran: of the statements that begin there, the one that ran most."""
    found: dict[int, int] = {}
    for key, count in file["s"].items():
        line = file["statementMap"][key]["start"]["line"]
        found[line] = max(found.get(line, 0), count)
    return dict(sorted(found.items()))


def uncovered(file: Record) -> str:
    """The lines that never ran, `3-5,9`, with lines without a statement between them; `unread` for an unread file."""
    if "unread" in file:
        return "unread"
    ranges = []
    for has_run, group in groupby(lines(file).items(), key=lambda item: item[1] > 0):
        numbers = [line for line, _ in group]
        if not has_run:
            ranges.append(f"{numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else str(numbers[0]))
    return ",".join(ranges)


def together(reports: Iterable[CoverageReport]) -> tuple[CoverageReport | None, list[str]]:
    """The coverage of several runs, if any, and the files that differ in them, of which the later one counts."""
    files: dict[str, Record] = {}
    differ: dict[str, None] = {}
    found = list(reports)
    for path, record in (item for report in found for item in report.files.items()):
        known = files.get(path)
        if known is not None and any(known[key] != record[key] for key in ("statementMap", "fnMap", "branchMap")):
            differ[path] = known = None
        files[path] = record if known is None else _sum(known, record)
    if not found:
        return None, []
    return CoverageReport(files=dict(sorted(files.items())), folder=found[0].folder), list(differ)


def _sum(one: Record, other: Record) -> Record:
    branches = {
        key: [count + more for count, more in zip(arms, other["b"][key], strict=True)] for key, arms in one["b"].items()
    }
    counts = {name: {key: count + other[name][key] for key, count in one[name].items()} for name in ("s", "f")}
    return {**one, **counts, "b": branches}


def coverage_record(report: CoverageReport) -> Record:
    """As summaries keep it; see above. What is below a threshold is a warning of the run."""
    whole = totals(report.files.values())
    texts = {path: json.dumps(one, ensure_ascii=False, separators=(",", ":")) for path, one in report.files.items()}
    return {
        "totals": {metric: {**fields_of(figure), "percent": figure.percent} for metric, figure in whole.items()},
        "files": texts,
        **({"folder": report.folder} if report.folder else {}),
    }


def coverage_in(summary: Record) -> CoverageReport | None:
    """What `coverage_record` was made from; None when a summary has none. Raises ValueError."""
    given = summary.get("coverage")
    if not isinstance(given, dict) or not isinstance(given.get("files"), dict):
        return None
    files = {str(path): json.loads(text) for path, text in given["files"].items()}
    return CoverageReport(files=files, folder=str(given.get("folder") or ""))
