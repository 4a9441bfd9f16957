"""What has changed from one run to another."""

from __future__ import annotations

import json
from difflib import unified_diff
from statistics import fmean
from typing import Any

from runner.assertions.values import equal
from runner.reporters.console.values import as_value
from runner.reporters.files.document import Record, Report
from runner.results.facts import errors_of
from scripttest.values import Value, fields_of

DIFF_LINES = 40
"""Lines of the difference of two outputs that are kept."""
LINE_LIMIT = 300
"""Characters of such a line."""


class Change(Value):
    """One result that is not what it was."""

    suite: str
    id: str
    before: str | None
    """`passed`, `failed`, `skipped` or `flaky`; None when it was not there."""
    after: str | None
    before_ms: float | None = None
    """Mean of its runs."""
    after_ms: float | None = None
    error: str | None = None
    """Why it fails now."""
    diff: tuple[str, ...] = ()
    """How its output changed, as a unified diff."""

    def record(self) -> Record:
        """As JSON, without what is not known."""
        return {key: value for key, value in fields_of(self).items() if value is not None and value != ()}


class Comparison(Value):
    """The changes, by their kind. A result may be of several kinds."""

    new_failures: list[Change]
    """They fail now, and did not, or were not there."""
    flaky: list[Change]
    """Of several runs some pass now and some fail, or did so before."""
    still_failing: list[Change]
    fixed: list[Change]
    slower: list[Change]
    changed: list[Change]
    """They pass as before, with another output."""
    added: list[Change]
    removed: list[Change]

    @property
    def regressions(self) -> list[Change]:
        """New failures, and what passed in every run and now passes in some."""
        return self.new_failures + [change for change in self.flaky if (change.before, change.after) == _UNSTEADY]


_UNSTEADY = ("passed", "flaky")


class _Runs(Value):
    """All runs of one case or test."""

    status: str
    milliseconds: float
    record: Record
    """The first one that failed, else the first one."""


def compare(before: Report, after: Report, factor: float, least: float) -> Comparison:
    """Compares by suite and id.

    Args:
        factor: how many times as long a result has to take to be slower.
        least: and how many milliseconds longer.
    """
    old, new = _runs(before), _runs(after)
    found = Comparison(
        new_failures=[], flaky=[], still_failing=[], fixed=[], slower=[], changed=[], added=[], removed=[]
    )
    for suite, id in dict.fromkeys([*old, *new]):
        was, now = old.get((suite, id)), new.get((suite, id))
        change = Change(
            suite=suite,
            id=id,
            before=was.status if was else None,
            after=now.status if now else None,
            before_ms=round(was.milliseconds) if was else None,
            after_ms=round(now.milliseconds) if now else None,
            error=next(iter(errors_of(now.record)), None) if now and now.status in ("failed", "flaky") else None,
        )
        if now is None:
            found.removed.append(change)
            continue
        if was is None:
            found.added.append(change)
        _by_status(found, change)
        if was is not None and {was.status, now.status} == {"passed"}:
            if now.milliseconds >= was.milliseconds * factor and now.milliseconds - was.milliseconds >= least:
                found.slower.append(change)
            if diff := _difference(was.record, now.record):
                found.changed.append(change.replace(diff=diff))
    return found


def _by_status(found: Comparison, change: Change) -> None:
    if change.after == "failed":
        (found.still_failing if change.before == "failed" else found.new_failures).append(change)
    elif change.before is not None and change.after == "passed" and change.before in ("failed", "flaky"):
        found.fixed.append(change)
    if "flaky" in (change.before, change.after):
        found.flaky.append(change)


def _runs(report: Report) -> dict[tuple[str, str], _Runs]:
    found: dict[tuple[str, str], list[Record]] = {}
    for record in report.results:
        found.setdefault((record["suite"], record["id"]), []).append(record)
    return {key: _folded(records) for key, records in found.items()}


def _folded(records: list[Record]) -> _Runs:
    runs = [run for record in records for run in (record.get("runs") or {}).get("attempts") or [record]]
    statuses = {run["status"] for run in runs} - {"skipped"} or {"skipped"}
    status = "flaky" if len(statuses) > 1 else statuses.pop()
    first = next((record for record in records if record["status"] == "failed"), records[0])
    return _Runs(status=status, milliseconds=fmean(run.get("duration_ms") or 0 for run in runs), record=first)


def _difference(before: Record, after: Record) -> tuple[str, ...]:
    """How an output changed; nothing when it did not."""
    if "output" not in before or "output" not in after:
        return ()
    old, new = as_value(before["output"]), as_value(after["output"])
    if equal(old, new):
        return ()
    lines = unified_diff(_lines(old), _lines(new), "before", "after", lineterm="", n=2)
    shown = [line if len(line) <= LINE_LIMIT else f"{line[:LINE_LIMIT]}..." for line in list(lines)[2:]]
    if len(shown) > DIFF_LINES:
        shown = [*shown[:DIFF_LINES], f"... {len(shown) - DIFF_LINES} more lines"]
    return tuple(shown) or ("the values differ in their types",)


def _lines(output: Any) -> list[str]:
    if isinstance(output, str):
        return output.splitlines()
    return json.dumps(output, indent=2, ensure_ascii=False, sort_keys=True).splitlines()
