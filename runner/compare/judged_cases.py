"""The cases of a report as they are compared: what each asks and expects, and how its judged runs ended. Several
reports of the same cases become one, in which each case has the runs of all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from runner.compare.change_report import Figures
from runner.errors import ConfigurationError
from runner.parts import changed
from runner.record.combining import usage_of
from runner.record.events import RunEnd
from runner.record.fold import counted, status_of
from runner.record.lines import as_read, result_of
from runner.record.model import ResultKey, Suite, TestResult, by_key, key_of
from runner.record.outcomes import DECIDED, Verdict
from runner.record.report import Report, in_order
from runner.record.stability import Attempt, answer_of_run, normalised, shown_of, stability_of
from runner.record.votes import PASSED, SCORE, score_in
from scripttest.values import Value


class JudgedCase(Value):
    """A case of one report."""

    result: TestResult
    """The last of its results."""
    runs: tuple[Attempt, ...]
    """Those that passed or failed. If runs stopped when the verdict was decided, only those made in any case."""
    broken: int
    inconclusive: int
    skipped: int
    doubled: int
    """How many more results have the same name."""
    is_steady: bool
    """Whether its runs must all end the same: a script test, or a case of scripted models."""

    @property
    def key(self) -> ResultKey:
        """Its key in the report."""
        return key_of(self.result)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the case."""
        return self.result.case.tags if self.result.case is not None else ()


def judged_cases(report: Report) -> dict[ResultKey, JudgedCase]:
    """The cases of a report, in their order. Of several results with the same name, the last one counts."""
    return cases_of(report.results, {suite.id: suite for suite in report.suites})


def cases_of(results: Iterable[TestResult], suites: Mapping[str, Suite]) -> dict[ResultKey, JudgedCase]:
    """The same of results; `suites` are theirs by the names that the results have for them."""
    return {key: judged_case(made, suites[key.suite]) for key, made in by_key(results).items()}


def judged_case(results: Sequence[TestResult], suite: Suite) -> JudgedCase:
    """The case that all these results of a suite are of."""
    result = results[-1]
    made = [run for one in results for run in one.runs]
    runs = list({run.run: run for run in made}.values())
    connector = (result.case.connector if result.case is not None else "") or suite.connector
    verdicts = [run.verdict for run in runs]
    first = result.repeat.wave if result.repeat is not None else None
    return JudgedCase(
        result=result,
        runs=tuple([run for run in runs if run.verdict in DECIDED][:first]),
        broken=verdicts.count(Verdict.BROKEN),
        inconclusive=verdicts.count(Verdict.INCONCLUSIVE),
        skipped=verdicts.count(Verdict.SKIPPED),
        doubled=len(made) - len(runs),
        is_steady=not suite.has_cases or connector == "scripted",
    )


def says_the_same(one: JudgedCase, other: JudgedCase) -> bool:
    """Whether two cases are the same: by their digests, if both have one, else by their content."""
    results = (one.result, other.result)
    digests = [str((result.fingerprint or {}).get("case") or result.digest) for result in results]
    return digests[0] == digests[1] if all(digests) else _says(one.result) == _says(other.result)


def _says(result: TestResult) -> str:
    """The content of a case: what it asks and expects. Of a script test, only the name."""
    case = result.case
    if case is None:
        return ""
    checks = [[check.type, check.expected] for check in case.assertions]
    return json.dumps([case.input, case.expected, checks], sort_keys=True, default=str)


def changed_in(before: TestResult, after: TestResult) -> tuple[str, ...]:
    """The keys of the parts that differ between two results, see `changed`."""
    connectors = (result.case.connector if result.case is not None else None for result in (before, after))
    return changed(before.fingerprint, after.fingerprint, *connectors)


def measured(run: Attempt, measure: str) -> float | None:
    """The value of a measure in a run; None: it has none."""
    if measure == PASSED:
        return float(run.passed)
    return score_in(run.score) if measure == SCORE else (run.criteria or {}).get(measure)


def figures_of(runs: Sequence[Attempt], measure: str) -> Figures:
    """The values of a measure in some runs, without runs that do not have it."""
    return tuple([value for run in runs if (value := measured(run, measure)) is not None])


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
    found: dict[str, str] = {}
    for name, report in zip(names, reports, strict=True):
        for id in report.start.all_run_ids:
            if id in found:
                hint = "Each run counts once: remove the copy"
                raise ConfigurationError(f"Cannot merge {name}: {found[id]} also has the run {id}", hint)
        found |= dict.fromkeys(report.start.all_run_ids, name)
    return found


def _pooled(results: Sequence[TestResult], least: float) -> TestResult:
    owned = [(result, run) for result in results for run in _runs(result)]
    attempts = tuple(run.replace(run=number) for number, (_, run) in enumerate(owned, 1))
    stability = stability_of(attempts)
    at = shown_of(attempts, least)
    run = attempts[at]
    verdict = run.verdict
    shown = next((result for result in reversed(results) if result.verdict is verdict), owned[at][0])
    outcome = shown.outcome
    if shown.verdict is not verdict:  # what its own runs came to is not what all come to
        said = {"name": outcome.name, "status": run.status, "error": run.error, "cause": run.cause}
        outcome = outcome.replace(status=run.status, failures=result_of(said).outcome.failures, skip_reason=None)
    milliseconds = stability.avg_duration_ms if stability is not None else outcome.milliseconds
    return shown.replace(
        outcome=outcome.replace(milliseconds=milliseconds),
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
