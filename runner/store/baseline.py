"""What a run is compared with: the newest runs of a branch, of a commit, or one run, as one report.

Each test is as its newest run there has it. Runs before that count too where the test was made of the same in them: the
more there are, the smaller a difference shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runner.compare.change_report import changed_in
from runner.compare.variants import as_runs
from runner.errors import ConfigurationError, did_you_mean
from runner.record.lines import with_members
from runner.record.model import ResultKey, TestResult
from runner.record.model import key_of as result_key
from runner.record.report import Report
from runner.store.store import Store
from runner.store.stored import StoredRun, key_of
from scripttest.values import Value

MOST = 10
"""Most runs that are combined."""
ENDED = ("passed", "failed", "error")
"""States of runs that came to their end."""


class Baseline(Value):
    """A run, and the runs of a baseline as one report. The suites of both are named as in all runs."""

    report: Report
    compared: Report
    """The run that is compared with it."""
    runs: tuple[StoredRun, ...]
    """The runs that it consists of, the newest first."""


def baseline_of(store: Store, name: str, run: Report, leave_out: str | None = None) -> Baseline:
    """The baseline of a run: the newest results of its tests on a branch, of a commit, or of a run with this id. Raises
    ConfigurationError if there is none.

    Args:
        store: where it is searched.
        name: a branch, a commit, or the id of a run; commits and ids may be shortened.
        run: the run to compare.
        leave_out: the id of that run, if it is in the store too."""
    run = _in_all_runs(run)
    candidates = [one for one in _named(store, name) if one.state in ENDED and one.id != leave_out][:MOST]
    if not candidates:
        branches = sorted({one.branch for one in store.runs() if one.branch})
        hint = did_you_mean(name, branches) or "The store must contain a completed run of it; see docs/history.md"
        raise ConfigurationError(f"Cannot compare with {name}: the store {store.folder} has no earlier run on it", hint)
    wanted = {result_key(result) for result in run.results}
    whole = _whole_suites(run)
    newest: dict[ResultKey, TestResult] = {}
    parts: list[tuple[StoredRun, Report]] = []
    for one in candidates:
        report = _in_all_runs(store.report(one.id))
        results = [result for result in report.results if _counts(result, newest, wanted, whole)]
        for result in results:
            newest.setdefault(result_key(result), result)
        if results:
            suites = {result.suite for result in results}
            start = report.start.replace(suites=tuple(suite for suite in report.suites if suite.id in suites))
            parts.append((one, report.replace(start=start, results=results, text="")))
    if not parts:
        raise ConfigurationError(
            f"Cannot compare with {name}: its runs in the store {store.folder} have none of these tests",
            "Cases are matched by file and id",
        )
    whole_report = parts[0][1]
    if len(parts) > 1:
        newest_last = parts[::-1]
        whole_report = as_runs([report for _, report in newest_last], [one.id for one, _ in newest_last]).report
    return Baseline(report=whole_report, compared=run, runs=tuple(one for one, _ in parts))


def _in_all_runs(report: Report) -> Report:
    """A report whose suites are named as they are in all runs, wherever it was made."""
    keys = {suite.id: key_of(suite) for suite in report.suites}
    if len(set(keys.values())) < len(keys):
        return report
    return report.replace(
        start=report.start.replace(suites=tuple(suite.replace(id=keys[suite.id]) for suite in report.suites)),
        results=[with_members(result, suite=keys[result.suite]) for result in report.results],
        partial=tuple(one.replace(id=keys.get(one.id, one.id)) for one in report.partial),
        text="",
    )


def _named(store: Store, name: str) -> Sequence[StoredRun]:
    if runs := store.runs(branch=name) or (store.runs(commit=name) if len(name) > 3 else []):
        return runs
    try:
        return [store.run(name)]
    except ConfigurationError:
        return []


def _whole_suites(run: Report) -> frozenset[str]:
    """The suites of a run of which all tests ran, so that a missing test no longer exists."""
    if run.end.stopped:
        return frozenset()
    partial = {one.id for one in run.partial if not (one.ended and one.selected == one.total)}
    return frozenset(suite.id for suite in run.suites) - partial


def _counts(
    result: TestResult, newest: Mapping[ResultKey, TestResult], wanted: set[ResultKey], whole: frozenset[str]
) -> bool:
    key = result_key(result)
    if key not in wanted and result.suite not in whole:
        return False
    known = newest.get(key)
    if known is None:
        return True
    return None not in (known.fingerprint, result.fingerprint) and not changed_in(known, result)
