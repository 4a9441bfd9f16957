"""Combines several reports of the same cases into one, in which each case has the runs of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from runner.compare.judged_cases import judged_cases, says_the_same
from runner.errors import ConfigurationError
from runner.record.combining import usage_of
from runner.record.events import RunEnd
from runner.record.fold import counted, status_of
from runner.record.keys import ResultKey
from runner.record.lines import as_read
from runner.record.model import Suite, TestResult, key_of
from runner.record.report import Report, in_order
from runner.record.stability import Attempt, answer_of_run, normalised, shown_of, stability_of
from scripttest.values import Value


class PooledRuns(Value):
    """Several reports as one."""

    report: Report
    said: tuple[str, ...] = ()
    """Where they disagree, a sentence each."""


def as_runs(reports: Sequence[Report], names: Sequence[str]) -> PooledRuns:
    """One report, the runs of each case numbered in the order of the reports; all else is as the last one with the case
    has it. Runs of a case that said something else are left out, and that is said. Raises ConfigurationError for a
    report with a run that an earlier one has."""
    runs = _distinct(reports, names)
    cases = [judged_cases(report) for report in reports]
    last = {key: (at, case) for at, known in enumerate(cases) for key, case in known.items()}
    suites: dict[str, Suite] = {}
    found: dict[ResultKey, list[TestResult]] = {}
    said = []
    for name, report, known in zip(names, reports, cases, strict=True):
        suites |= {suite.id: suite for suite in report.suites}
        other = [key for key, case in known.items() if not says_the_same(case, last[key][1])]
        if other:
            which = ", ".join(key.name for key in other[:3]) + (f" and {len(other) - 3} more" if len(other) > 3 else "")
            said.append(f"{name}: cases that were changed in a later report are left out: {which}")
        of_report = {key_of(result): result for result in report.results}
        for key in [key for key in of_report if key not in other]:
            found.setdefault(key, []).append(of_report[key])
    said += _of_several_connectors(found)
    newest = reports[-1]
    least = newest.start.min_pass_rate
    pooled = [as_read(_pooled(made, least), suites[key.suite], key.suite) for key, made in found.items()]
    results = in_order(tuple(suites.values()), pooled)
    errors = list(dict.fromkeys(error for report in reports for error in report.errors))
    start = newest.start.replace(
        suites=tuple(suites.values()),
        runs=max((len(result.attempts) for result in results), default=1),
        shard=None,
        run_id=None,
        run_ids=tuple(runs),
        resume=None,
    )
    if any(report.start.flags != start.flags for report in reports):
        start = start.replace(flags=())
    if any(report.start.result_flags != start.result_flags for report in reports):
        start = start.replace(result_flags=())
    whole = newest.replace(
        start=start,
        results=results,
        errors=errors,
        warnings=list(dict.fromkeys(warning for report in reports for warning in report.warnings)),
        end=RunEnd(
            status=status_of(counted(results), bool(errors)),
            seconds=sum(report.end.seconds for report in reports),
            completed_at=newest.end.completed_at,
        ),
        partial=(),
        text="",
    )
    return PooledRuns(report=whole, said=tuple(said))


def _distinct(reports: Sequence[Report], names: Sequence[str]) -> dict[str, str]:
    """The ids of all runs, with the reports that have them."""
    found: dict[str, str] = {}
    for name, report in zip(names, reports, strict=True):
        for id in report.run_ids:
            if id in found:
                raise ConfigurationError(
                    f"Cannot merge {name}: {found[id]} also has the run {id}",
                    "Each run counts once: remove the copy",
                )
        found |= dict.fromkeys(report.run_ids, name)
    return found


def _of_several_connectors(found: Mapping[ResultKey, Sequence[TestResult]]) -> Iterator[str]:
    """What is said of cases whose runs are not alike because they asked different connectors."""
    for key, results in found.items():
        connectors = sorted({case.connector for result in results if (case := result.case) and case.connector})
        if len(connectors) > 1:
            yield f"the runs of {key.name} used different connectors: {', '.join(connectors)}"


def _pooled(results: Sequence[TestResult], least: float) -> TestResult:
    """The result of a case from those of several reports, each of one run or of several."""
    owned = [(result, run) for result in results for run in _runs(result)]
    attempts = tuple(run.replace(run=number) for number, (_, run) in enumerate(owned, 1))
    stability = stability_of(attempts)
    at = shown_of(attempts, least)
    verdict = attempts[at].verdict
    shown = next((result for result in reversed(results) if result.verdict is verdict), owned[at][0])
    outcome = shown.outcome.replace(status=verdict.status)
    if stability is not None:
        outcome = outcome.replace(milliseconds=stability.avg_duration_ms)
    return shown.replace(
        outcome=outcome,
        case=shown.case and shown.case.replace(**usage_of(results) | {"model_calls": shown.case.model_calls}),
        run=0,
        policy=None,
        repeat=None,
        attempts=attempts,
        stability=stability,
    )


def _runs(result: TestResult) -> list[Attempt]:
    if not result.attempts:
        return [result.as_run.replace(answer=answer_of_run(result.outcome, result.case))]
    is_script = result.case is None
    return [
        run.replace(answer=normalised([run.status, run.error] if is_script else run.output)) for run in result.attempts
    ]
