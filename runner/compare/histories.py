"""Combines several reports of the same cases into one, in which each case has the runs of all."""

from __future__ import annotations

from collections.abc import Sequence

from runner.compare.judged_cases import judged_cases, says_the_same
from runner.errors import ConfigurationError
from runner.record.combining import usage_of
from runner.record.events import RunEnd
from runner.record.fold import counted, status_of
from runner.record.lines import as_read
from runner.record.model import ResultKey, TestResult
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
    last = {key: case for known in cases for key, case in known.items()}
    suites = {suite.id: suite for report in reports for suite in report.suites}
    found: dict[ResultKey, list[TestResult]] = {}
    said = []
    for name, known in zip(names, cases, strict=True):
        other = [key.name for key, case in known.items() if not says_the_same(case, last[key])]
        if other:
            which = ", ".join(other[:3]) + (f" and {len(other) - 3} more" if len(other) > 3 else "")
            said.append(f"{name}: cases that were changed in a later report are left out: {which}")
        for key, case in known.items():
            if says_the_same(case, last[key]):
                found.setdefault(key, []).append(case.result)
    for key, results in found.items():
        asked = sorted({one.case.connector for one in results if one.case is not None} - {""})
        if len(asked) > 1:
            said.append(f"the runs of {key.name} used different connectors: {', '.join(asked)}")
    newest = reports[-1]
    least = newest.start.min_pass_rate
    pooled = [as_read(_pooled(made, least), suites[key.suite], key.suite) for key, made in found.items()]
    results = in_order(tuple(suites.values()), pooled)
    errors = list(dict.fromkeys(error for report in reports for error in report.errors))
    flags = {
        name: flags if all(getattr(report.start, name) == flags for report in reports) else ()
        for name, flags in (("flags", newest.start.flags), ("result_flags", newest.start.result_flags))
    }
    start = newest.start.replace(
        suites=tuple(suites.values()),
        runs=max((len(result.attempts) for result in results), default=1),
        shard=None,
        run_id=None,
        run_ids=tuple(runs),
        resume=None,
        **flags,
    )
    end = RunEnd(
        status=status_of(counted(results), bool(errors)),
        seconds=sum(report.end.seconds for report in reports),
        completed_at=newest.end.completed_at,
    )
    warnings = list(dict.fromkeys(warning for report in reports for warning in report.warnings))
    whole = newest.replace(start=start, results=results, errors=errors, warnings=warnings, end=end, partial=(), text="")
    return PooledRuns(report=whole, said=tuple(said))


def _distinct(reports: Sequence[Report], names: Sequence[str]) -> dict[str, str]:
    """The ids of all runs, with the reports that have them."""
    found: dict[str, str] = {}
    for name, report in zip(names, reports, strict=True):
        for id in report.start.all_run_ids:
            if id in found:
                hint = "Each run counts once: remove the copy"
                raise ConfigurationError(f"Cannot merge {name}: {found[id]} also has the run {id}", hint)
        found |= dict.fromkeys(report.start.all_run_ids, name)
    return found


def _pooled(results: Sequence[TestResult], least: float) -> TestResult:
    """The result of a case from those of several reports, each of one run or of several."""
    owned = [(result, run) for result in results for run in _runs(result)]
    attempts = tuple(run.replace(run=number) for number, (_, run) in enumerate(owned, 1))
    stability = stability_of(attempts)
    at = shown_of(attempts, least)
    verdict = attempts[at].verdict
    shown = next((result for result in reversed(results) if result.verdict is verdict), owned[at][0])
    milliseconds = stability.avg_duration_ms if stability is not None else shown.outcome.milliseconds
    return shown.replace(
        outcome=shown.outcome.replace(status=verdict.status, milliseconds=milliseconds),
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
    said = [run.output if result.case is not None else [run.status, run.error] for run in result.attempts]
    return [run.replace(answer=normalised(each)) for run, each in zip(result.attempts, said, strict=True)]
