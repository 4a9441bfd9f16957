"""The summaries of saved reports and of their suites as JSON; all counts come from `runner.results.fold`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from runner.amounts import cost_record
from runner.results.counts import Counts, counted
from runner.results.stability import pass_rate
from runner.results.verdict import DECIDED, Verdict
from runner.security.terminal import in_line
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.results.model import TestResult

COST_DIGITS = 12
"""Digits of a sum of costs, in US dollars: what the order of adding changes comes behind them."""


def counts_of(results: Iterable[TestResult]) -> Record:
    """`{total, passed, failed, skipped, errors?, warnings?, missing_calls?, not_judged?, checks_nothing?,
    checks_nothing_first?}`; see `summary_record`."""
    return counts_record(counted(results))


def usage_of(results: Iterable[TestResult]) -> Record:
    """`{usage: {input_tokens, output_tokens, cost?}}`: what all results took together; empty where no model was
    asked."""
    return usage_record(counted(results))


def summary_record(counts: Counts, milliseconds: float) -> dict[str, Any]:
    """`{total, passed, failed, skipped, errors?, warnings?, missing_calls?, not_judged?, stopped_early?,
    checks_nothing?, checks_nothing_first?, duration_ms}`. `errors` counts results with the cause `infrastructure` or
    `inconclusive`, which are in none of the other counts. `warnings` counts warnings of results, `missing_calls` calls
    that nothing answered, `not_judged` criteria, and `checks_nothing` cases; `checks_nothing_first` has the ids of the
    first of these. `stopped_early` is `{not_needed, of, cost?}`: how many runs of cases with a policy were not needed,
    of how many, and about what they would have cost, in US dollars.
    """
    return {**counts_record(counts), "duration_ms": round(milliseconds)}


def counts_record(counts: Counts) -> dict[str, Any]:
    """The same without the time."""
    record: dict[str, Any] = {name: getattr(counts, name) for name in ("total", "passed", "failed", "skipped")}
    optional = ("errors", "warnings", "missing_calls", "not_judged")
    record |= {name: number for name in optional if (number := getattr(counts, name))}
    if counts.repeated:
        record["stopped_early"] = {"not_needed": counts.not_needed, "of": counts.repeated + counts.not_needed}
        if counts.saved_cost is not None:
            record["stopped_early"]["cost"] = round(counts.saved_cost, 6)
    if counts.checks_nothing:
        record |= {"checks_nothing": counts.checks_nothing, "checks_nothing_first": counts.checks_nothing_first}
    return record


def usage_record(counts: Counts) -> dict[str, Any]:
    """`{usage: {input_tokens, output_tokens, cost?, cost_estimated?}}` when models were asked; `cost` is in US
    dollars."""
    if not (counts.tokens or counts.cost):
        return {}
    usage: dict[str, Any] = {"input_tokens": counts.input_tokens, "output_tokens": counts.output_tokens}
    return {"usage": {**usage, **cost_record(None if counts.cost is None else round(counts.cost, COST_DIGITS))}}


def stability_summary(results: Sequence[TestResult]) -> Record:
    """`{total_cases, total_runs, overall_pass_rate, stable_cases, unstable_cases}` of the results of a run; a test that
    could only run once counts as one run, one that was skipped or broke as none."""
    made = [
        (found.passed, found.judged)
        if (found := result.stability) is not None
        else (int(result.verdict is Verdict.PASSED), 1)
        for result in results
        if result.stability is not None or result.verdict in DECIDED
    ]
    passed, counts = (sum(numbers) for numbers in (zip(*made, strict=True) if made else ((), ())))
    stable = sum(one == count for one, count in made)
    return {
        "total_cases": len(results),
        "total_runs": counts,
        "overall_pass_rate": pass_rate(passed, counts),
        "stable_cases": stable,
        "unstable_cases": len(made) - stable,
    }


def remarks(summary: dict[str, Any]) -> list[str]:
    """Remarks on a summary: calls that nothing answered, criteria that were not judged, and cases that check
    nothing."""
    said = []
    if number := summary.get("missing_calls"):
        said.append(missing_calls(number))
    if number := summary.get("not_judged"):
        said.append(unjudged(number))
    if number := summary.get("checks_nothing"):
        first = summary["checks_nothing_first"]
        names = in_line(", ".join(first))
        more = f" and {number - len(first)} more" if number > len(first) else ""
        said.append(f"{number} {'case checks' if number == 1 else 'cases check'} nothing: {names}{more}")
    return said


def missing_calls(number: int) -> str:
    """`2 missing calls`."""
    return f"{number} missing {'call' if number == 1 else 'calls'}"


def savings(summary: Mapping[str, Any]) -> str:
    """`Stopped early: 61 of 150 runs not needed (about $0.24)`; empty where no case has a policy."""
    early = summary.get("stopped_early")
    if not early:
        return ""
    cost = f" (about ${early['cost']:.2g})" if early.get("cost") else ""
    return f"Stopped early: {early['not_needed']} of {early['of']} runs not needed{cost}"


def unjudged(number: int) -> str:
    """`2 criteria were not judged`."""
    return f"{number} {'criterion was' if number == 1 else 'criteria were'} not judged"
