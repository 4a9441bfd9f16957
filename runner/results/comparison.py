"""What has changed from one run to another: the one comparison that the console, Markdown, JSON and the HTML page show.

Results are matched by suite and id. Everything is decided here, by the thresholds of `Thresholds`; what shows a
comparison decides nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from difflib import unified_diff
from typing import Any

from runner.amounts import mean
from runner.assertions.values import equal
from runner.results.changes import STANDARD, Change, Comparison, Measure, Side, Thresholds
from runner.results.criteria import score_in
from runner.results.fingerprint_changes import changed_in
from runner.results.model import TestResult
from runner.results.report import Report
from runner.results.result_keys import ResultKey, key_of
from runner.results.result_texts import errors_of
from runner.results.value_texts import as_value
from runner.results.verdict import DECIDED, Verdict
from scripttest import Status
from scripttest.values import Value

DIFF_LINES = 40
"""At most this many lines of the difference of two outputs are kept."""
LINE_LIMIT = 300
"""At most this many characters of such a line are kept."""


DECIDING = (Verdict.FAILED, Verdict.BROKEN, Verdict.INCONCLUSIVE, Verdict.PASSED, Verdict.SKIPPED)
"""The order in which verdicts of several results with the same name decide: the first one that occurs counts."""


class _Result(Value):
    """All records of one result in a report."""

    side: Side
    result: TestResult
    """The first result that failed, else the first."""


def compare(before: Report, after: Report, thresholds: Thresholds = STANDARD) -> Comparison:
    """Compares two reports, the older one first."""
    old, new = _results(before), _results(after)
    changes = tuple(_change(key, old.get(key), new.get(key), thresholds) for key in dict.fromkeys([*old, *new]))
    sides = [(change.before, change.after) for change in changes]
    both = [(was, now) for was, now in sides if was is not None and now is not None and was.judged and now.judged]
    return Comparison(changes=changes, measures=tuple(_measures(both)), compared=len(both))


def _change(key: ResultKey, before: _Result | None, after: _Result | None, thresholds: Thresholds) -> Change:
    was = before.side if before is not None else None
    now = after.side if after is not None else None
    kinds = list(_kinds(was, now, thresholds))
    diff: tuple[str, ...] = ()
    error = None
    if after is not None and after.side.status not in (Status.PASSED, Status.SKIPPED):
        error = next(iter(errors_of(after.result.line)), None)
    if before is not None and after is not None and before.side.verdict == after.side.verdict == Verdict.PASSED:
        diff = _difference(before.result, after.result)
        kinds += ["changed"] if diff else []
    return Change(
        suite=key.suite,
        id=key.id,
        before=was,
        after=now,
        kinds=tuple(kinds),
        regression=_is_regression(was, now, thresholds),
        error=error,
        diff=diff,
        parts=_parts(before, after),
    )


def _parts(before: _Result | None, after: _Result | None) -> tuple[str, ...]:
    if before is None or after is None:
        return ()
    return changed_in(before.result, after.result)


def _is_regression(was: Side | None, now: Side | None, thresholds: Thresholds) -> bool:
    if now is None:
        return False
    newly_failed = now.verdict == Verdict.FAILED and (was is None or was.verdict != Verdict.FAILED)
    return newly_failed or (was is not None and _fall(was.rate, now.rate) >= thresholds.regression)


def _kinds(was: Side | None, now: Side | None, thresholds: Thresholds) -> Iterator[str]:
    """All kinds of a change, except `changed`."""
    if now is None:
        yield "removed"
        return
    if was is None:
        yield "added"
    earlier = was.verdict if was is not None else None
    if now.verdict in (Verdict.BROKEN, Verdict.INCONCLUSIVE):
        yield "errors"
    elif now.status == Verdict.FAILED:
        yield "still_failing" if earlier == Verdict.FAILED else "new_failures"
    if was is not None and "flaky" in (was.status, now.status) and _fall(was.rate, now.rate) > 0:
        yield "dropped"
    if now.status == "flaky" or (was is not None and was.status == "flaky"):
        yield "flaky"
    if was is None:
        return
    if now.verdict == Verdict.PASSED and earlier == Verdict.FAILED:
        yield "fixed"
    elif now.verdict in (Verdict.PASSED, Verdict.SKIPPED) and now.verdict != earlier:
        yield "other"
    if _fall(was.score, now.score) >= thresholds.score:
        yield "lower_scores"
    if now.verdict == earlier == Verdict.PASSED:
        if _is_slower(was.milliseconds, now.milliseconds, thresholds):
            yield "slower"
        if _is_slower(now.milliseconds, was.milliseconds, thresholds):
            yield "faster"
    for kind, some, more in (("more_tokens", was.tokens, now.tokens), ("higher_costs", was.cost, now.cost)):
        if some is not None and more is not None and more > some and more >= some * thresholds.usage_factor:
            yield kind


def _fall(was: float | None, now: float | None) -> float:
    """How far a figure has fallen; 0 when one of them is not known."""
    return round(was - now, 9) if was is not None and now is not None else 0


def _is_slower(before: float, after: float, thresholds: Thresholds) -> bool:
    return after >= before * thresholds.slower_factor and after - before >= thresholds.slower_by


def _measures(both: list[tuple[Side, Side]]) -> Iterator[Measure]:
    figures: dict[str, Callable[[Side], float | None]] = {
        "pass_rate": lambda side: side.rate,
        "score": lambda side: side.score,
        "duration_ms": lambda side: side.milliseconds,
        "tokens": lambda side: side.tokens,
        "cost": lambda side: side.cost,
    }
    for key, of in figures.items():
        pairs = [(was, now) for was, now in ((of(was), of(now)) for was, now in both) if None not in (was, now)]
        if pairs:
            before, after = (
                mean([figure for figure in side if figure is not None]) for side in zip(*pairs, strict=True)
            )
            yield Measure(key=key, before=before, after=after)


def _results(report: Report) -> dict[ResultKey, _Result]:
    found: dict[ResultKey, list[TestResult]] = {}
    for result in report.results:
        found.setdefault(key_of(result), []).append(result)
    return {key: _result(results) for key, results in found.items()}


def _result(results: list[TestResult]) -> _Result:
    """All results of one name, of which there are several when it occurs twice."""
    runs = [run for result in results for run in result.runs]
    ended = [run for run in runs if run.verdict in DECIDED]
    judged = [run for run in ended if run.judged] or ended
    passed = sum(run.verdict is Verdict.PASSED for run in judged)
    verdict = min((result.verdict for result in results), key=DECIDING.index)
    shown = judged or runs
    side = Side(
        verdict=verdict,
        status="flaky" if 0 < passed < len(judged) else verdict.value,
        judged=len(judged),
        passed=passed,
        milliseconds=sum(run.duration_ms for run in shown) / len(shown),
        score=_mean(score_in(run.score) for run in shown),
        tokens=_mean(run.tokens or None for run in shown),
        cost=_mean(run.cost for run in shown),
    )
    failed = (result for result in results if result.status == Status.FAILED)
    return _Result(side=side, result=next(failed, results[0]))


def _mean(figures: Iterable[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) / len(known) if known else None


def _difference(before: TestResult, after: TestResult) -> tuple[str, ...]:
    """The difference of two outputs; empty when they are equal."""
    if before.case is None or after.case is None:
        return ()
    old, new = as_value(before.as_run.output), as_value(after.as_run.output)
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
