"""The cases of a report in the form in which they are compared: what each asks and expects, and how its judged runs
ended."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence

from runner.compare.change_report import BeforeAfter, ChangeVerdict, ComparedCase, Figures, Noise
from runner.record.events import InterimLooks
from runner.record.keys import ResultKey
from runner.record.model import Suite, TestResult, key_of
from runner.record.report import Report
from runner.record.stability import Attempt
from runner.record.verdict import DECIDED, Verdict
from runner.record.votes import score_in
from runner.statistics import PassCount
from runner.statistics.change import (
    DetectableDifference,
    MeanDifference,
    change_of,
    reach_of,
    score_change_of,
    score_reach_of,
    verdict_from,
)
from runner.statistics.exact_tests import FALL, STEPS, CaseRuns, ScoredCase, broken_cases, single_case, suspects_of
from runner.statistics.intervals import ALPHA, LOOK_LEVELS, Estimate, mean_of, suite_rate, variance
from scripttest.values import Value

PASSED, SCORE = "passed", "score"
"""Measures that every report has; all others are ids of criteria."""


class JudgedCase(Value):
    """A case of one report."""

    key: ResultKey
    runs: tuple[Attempt, ...]
    """Those that passed or failed. If runs stopped when the verdict was decided, only those made in any case."""
    broken: int
    inconclusive: int
    skipped: int
    digest: str
    """Equal for cases with the same content, where both reports have a digest; else empty."""
    result: TestResult
    """The last of its results."""
    connectors: frozenset[str]
    doubled: int
    """How many more results have the same name."""
    is_script: bool
    tags: tuple[str, ...] = ()


def judged_cases(report: Report) -> dict[ResultKey, JudgedCase]:
    """The cases of a report, in their order. Of several results with the same name, the last one counts."""
    return cases_of(report.results, {suite.id: suite for suite in report.suites})


def cases_of(results: Iterable[TestResult], suites: Mapping[str, Suite]) -> dict[ResultKey, JudgedCase]:
    """The same of results; `suites` are theirs by the names that the results have for them."""
    found: dict[ResultKey, list[TestResult]] = {}
    for result in results:
        found.setdefault(key_of(result), []).append(result)
    return {key: judged_case(made, suites[key.suite]) for key, made in found.items()}


def judged_case(results: Sequence[TestResult], suite: Suite) -> JudgedCase:
    """The case that all these results of a suite are of."""
    result = results[-1]
    made = [run for one in results for run in one.runs]
    runs = list({run.run: run for run in made}.values())
    connector = (result.case.connector if result.case is not None else "") or suite.connector
    verdicts = [run.verdict for run in runs]
    first = result.repeat.wave if result.repeat is not None else None
    return JudgedCase(
        key=key_of(result),
        runs=tuple([run for run in runs if run.verdict in DECIDED][:first]),
        broken=verdicts.count(Verdict.BROKEN),
        inconclusive=verdicts.count(Verdict.INCONCLUSIVE),
        skipped=verdicts.count(Verdict.SKIPPED),
        digest=_digest(result),
        result=result,
        connectors=frozenset([connector] if connector else []),
        doubled=len(made) - len(runs),
        is_script=not suite.has_cases,
        tags=result.case.tags if result.case is not None else (),
    )


def says_the_same(one: JudgedCase, other: JudgedCase) -> bool:
    """Whether two cases are the same: by their digests, else by their content."""
    if one.digest and other.digest:
        return one.digest == other.digest
    return _says(one.result) == _says(other.result)


def measured(run: Attempt, measure: str) -> float | None:
    """The value of a measure in a run; None: it has none."""
    if measure == PASSED:
        return float(run.verdict is Verdict.PASSED)
    return score_in(run.score) if measure == SCORE else (run.criteria or {}).get(measure)


def _digest(result: TestResult) -> str:
    fingerprint = result.fingerprint
    return str(fingerprint["case"]) if fingerprint and fingerprint.get("case") else result.digest


def _says(result: TestResult) -> str:
    """The content of a case: what it asks and expects. Of a script test, only the name."""
    case = result.case
    if case is None:
        return ""
    checks = [[check.type, check.expected] for check in case.assertions]
    return json.dumps([case.input, case.expected, checks], sort_keys=True, default=str)


_ALL_OR_NOTHING = {0.0, 1.0}


class JudgedChange(Value):
    """The result of a comparison by one measure."""

    verdict: ChangeVerdict
    cases: tuple[ComparedCase, ...]
    """The compared cases, with the results of their tests."""
    change: MeanDifference
    reach: DetectableDifference | None

    @property
    def cases_limit(self) -> bool:
        """Whether cases differ more from each other than runs of one case do."""
        error, count = self.change.standard_error, len(self.cases)
        if error is None or count < 2:
            return False
        return error * error < variance([-case.fall for case in self.cases]) / count / 2


def figures_of(runs: Sequence[Attempt], measure: str) -> Figures:
    """The values of a measure in some runs, without runs that do not have it."""
    return tuple([value for run in runs if (value := measured(run, measure)) is not None])


def judged(
    cases: Sequence[ComparedCase], margin: float, noise: Noise, too_many_broke: bool, looks: InterimLooks
) -> JudgedChange:
    """The verdict on some cases; see `change_between`."""
    if noise is Noise.NONE:
        return _without_noise(cases, too_many_broke)
    pairs = [case.figures for case in cases]
    reach: DetectableDifference | None = None
    if _is_binary(pairs):
        runs = list(map(_runs_of, pairs))
        change = change_of(runs)
        broke = set(broken_cases(runs)) if not looks.ended_early else set()
        suspects = set(suspects_of(runs))
        reach = reach_of(runs, margin) if runs else None
        marked = tuple(
            case.replace(p=single_case(one).p, broke=at in broke, is_suspect=at in suspects)
            for at, (case, one) in enumerate(zip(cases, runs, strict=True))
        )
    else:
        scored = list(map(_scored, pairs))
        change, reach = score_change_of(scored), score_reach_of(scored, margin)
        marked = tuple(case.replace(is_suspect=case.fall >= FALL) for case in cases)
    verdict = verdict_on(change, marked, margin, too_many_broke, looks)
    return JudgedChange(verdict=verdict, cases=marked, change=change, reach=reach)


def verdict_on(
    change: MeanDifference, cases: Sequence[ComparedCase], margin: float, too_many_broke: bool, looks: InterimLooks
) -> ChangeVerdict:
    """The word for a change. Too many broken runs hide a fall, and never one that was seen."""
    word = verdict_from(
        change,
        broke=any(case.broke for case in cases),
        suspect=any(case.is_suspect for case in cases),
        margin=margin,
        alpha=LOOK_LEVELS[looks.planned - 1] / 2 if looks.planned > 1 else ALPHA,
    )
    verdict = ChangeVerdict(word)
    return ChangeVerdict.CANNOT_TELL if too_many_broke and verdict is not ChangeVerdict.REGRESSED else verdict


def _without_noise(cases: Sequence[ComparedCase], too_many_broke: bool) -> JudgedChange:
    """The comparison of runs that do not vary: each fall is real."""
    marked = tuple(case.replace(broke=case.fall > 1e-12, is_suspect=case.fall >= FALL) for case in cases)
    differences = [-case.fall for case in cases]
    change = MeanDifference(difference=math.fsum(differences) / len(differences) if differences else None)
    verdict = ChangeVerdict.UNCHANGED
    if any(case.broke for case in marked):
        verdict = ChangeVerdict.REGRESSED
    elif too_many_broke or not cases:
        verdict = ChangeVerdict.CANNOT_TELL
    elif any(difference > 1e-12 for difference in differences):
        verdict = ChangeVerdict.IMPROVED
    return JudgedChange(verdict=verdict, cases=marked, change=change, reach=None)


def change_in(pairs: Sequence[BeforeAfter[Figures]], noise: Noise, steps: int = STEPS) -> MeanDifference:
    """The difference over some cases."""
    if noise is Noise.NONE:
        rises = [_scored(pair).rise for pair in pairs]
        return MeanDifference(difference=math.fsum(rises) / len(rises))
    if _is_binary(pairs):
        return change_of(list(map(_runs_of, pairs)), steps)
    return score_change_of(list(map(_scored, pairs)))


def rates_of(pairs: Sequence[BeforeAfter[Figures]], noise: Noise) -> BeforeAfter[Estimate]:
    """The measure; without an interval where runs do not vary."""
    rates = BeforeAfter(a=_rate([pair.a for pair in pairs]), b=_rate([pair.b for pair in pairs]))
    return rates.each(lambda rate: rate.replace(interval=None)) if noise is Noise.NONE else rates


def _rate(cases: Sequence[Figures]) -> Estimate:
    if all(map(_ALL_OR_NOTHING.issuperset, cases)):
        return suite_rate([PassCount(passed=round(sum(runs)), judged=len(runs)) for runs in cases])
    return mean_of([math.fsum(runs) / len(runs) for runs in cases])


def _is_binary(pairs: Sequence[BeforeAfter[Figures]]) -> bool:
    return all(_ALL_OR_NOTHING.issuperset(side) for pair in pairs for side in pair.both)


def _runs_of(pair: BeforeAfter[Figures]) -> CaseRuns:
    return CaseRuns(passed_a=round(sum(pair.a)), runs_a=len(pair.a), passed_b=round(sum(pair.b)), runs_b=len(pair.b))


def _scored(pair: BeforeAfter[Figures]) -> ScoredCase:
    return ScoredCase(a=pair.a, b=pair.b)
