"""Decides whether a run is worse than an older one, beyond the noise of its runs: the verdict of `yao-test diff`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NoReturn

from runner.amounts import mean, mean_known
from runner.compare.change_report import (
    A_AND_B,
    BeforeAfter,
    Breakdown,
    ChangeReport,
    ComparedCase,
    Figures,
    JudgedCase,
    LeftOut,
    Noise,
    ResourceChange,
    figures_of,
    judged_cases,
    measured,
    says_the_same,
)
from runner.errors import ConfigurationError
from runner.record.events import ONCE, InterimLooks
from runner.record.model import ResultKey
from runner.record.report import Report
from runner.record.stability import Attempt
from runner.record.votes import PASSED, SCORE, JudgesNoise, NoiseSum, noise_of
from runner.statistics import PassCount, change
from runner.statistics.change import MARGIN, DetectableDifference, MeanDifference
from runner.statistics.exact_tests import FALL, STEPS, CaseRuns, ScoredCase, broken_cases, single_case, suspects_of
from runner.statistics.intervals import Estimate, mean_of, ratio_of, suite_rate

REPLAYED = "--replay"
NEITHER = BeforeAfter(a=False, b=False)
LOOK_AT = 0.1
"""Expected share of false alarms among the criteria and tags that are marked."""
CRITERIA = 200
"""At most this many criteria are compared: those with the most runs."""
STEPS_OF_PARTS = 100_000
"""Limit of the exact distribution for these figures, so that many tags cost little time."""
_ALL_OR_NOTHING = {0.0, 1.0}
Cases = Mapping[ResultKey, JudgedCase]
Pairs = Sequence[BeforeAfter[JudgedCase]]


def change_between(
    a: Report,
    b: Report,
    *,
    names: BeforeAfter[str] = A_AND_B,
    measure: str = PASSED,
    margin: float = MARGIN,
    noise: Noise | None = None,
    looks: InterimLooks = ONCE,
) -> ChangeReport:
    """The verdict on B, the newer report. Raises ConfigurationError if the reports have no case in common, or one of
    them has no result with the measure.

    `names` are what messages call them. `measure` is `passed`, `score`, or the id of a criterion, of which a difference
    up to `margin`, 0 to 1, does not matter. Without `noise` it is found out whether runs of one case may differ. Where
    several `looks` at the runs are planned, each needs more evidence."""
    replayed = BeforeAfter(a=a, b=b).each(lambda report: REPLAYED in report.result_flags)
    found = change_of(judged_cases(a), judged_cases(b), names, measure, margin, noise, looks, replayed)
    return found.replace(
        is_judges_noise=a.start.regraded_from is not None and a.start.regraded_from == b.start.regraded_from,
        is_same_report=a.start.replace(resume=None) == b.start.replace(resume=None) and a.lines == b.lines,
        variants=tuple(text for flag, text in pairwise(b.start.flags) if flag == "--variant"),
    )


def change_of(
    of_a: Cases,
    of_b: Cases,
    names: BeforeAfter[str],
    measure: str = PASSED,
    margin: float = MARGIN,
    noise: Noise | None = None,
    looks: InterimLooks = ONCE,
    replayed: BeforeAfter[bool] = NEITHER,
) -> ChangeReport:
    """The same of the cases of two reports; `replayed` are those whose models were a recording."""
    if not of_a.keys() & of_b.keys():
        _refuse(names, of_a, of_b)
    _check_measure(measure, names.a, of_a.values())
    _check_measure(measure, names.b, of_b.values())
    alike = [key for key, case in of_a.items() if key in of_b and says_the_same(case, of_b[key])]
    values = {key: [figures_of(side[key].runs, measure) for side in (of_a, of_b)] for key in alike}
    cases = [ComparedCase(key=key, figures=BeforeAfter(a=a, b=b)) for key, (a, b) in values.items() if a and b]
    pairs = [BeforeAfter(a=of_a[case.key], b=of_b[case.key]) for case in cases]
    left_out = _left_out(of_a, of_b, alike, {case.key for case in cases}, measure)
    made_a, made_b = (sum(case.broken + len(case.runs) for case in of.values()) for of in (of_a, of_b))
    too_many = change.broken_runs(left_out.broken.a, made_a, left_out.broken.b, made_b).too_many
    steady = _is_steady(replayed.a, of_a.values()) and _is_steady(replayed.b, of_b.values())
    used = noise or (Noise.NONE if steady else Noise.RUNS)
    tested, difference, reach = _tested(cases, margin, used, looks)
    figures = [case.figures for case in cases]
    runs = [run for pair in pairs for case in pair.both for run in case.runs]
    costs = [run.cost for run in runs if run.cost is not None]
    return ChangeReport(
        measure=measure,
        cases=tested,
        runs=BeforeAfter(a=sum(len(one.a) for one in figures), b=sum(len(one.b) for one in figures)),
        rates=_rates(figures, used),
        change=difference,
        reach=reach,
        left_out=left_out,
        too_many_broke=too_many,
        noise=used,
        margin=margin,
        beside=_beside(pairs),
        parts=_parts(pairs, runs, measure, used),
        cases_of_a=sum(any(measured(run, measure) is not None for run in case.runs) for case in of_a.values()),
        judges_noise=_judges_noise(pairs, measure),
        mean_cost=mean(costs) if costs else None,
        has_scores=measure == PASSED and any(run.score is not None for run in runs),
        looks=looks,
    )


def adjusted(verdicts: Sequence[ChangeReport]) -> list[ChangeReport]:
    """Corrects verdicts on several reports with one baseline, by Holm's method: each needs more evidence."""
    tested = [found.change for found in verdicts if found.change.worse is not None]
    worse = iter(change.holm([one.worse or 0.0 for one in tested]))
    better = iter(change.holm([one.better or 0.0 for one in tested]))
    made = []
    for found in verdicts:
        if found.change.worse is not None:
            found = found.replace(change=found.change.replace(worse=next(worse), better=next(better)))
        made.append(found)
    return made


def _left_out(
    of_a: Cases, of_b: Cases, alike: Collection[ResultKey], compared: Collection[ResultKey], measure: str
) -> LeftOut:
    """`alike` are the cases that say the same in both, `compared` those of them that have the measure."""
    same = frozenset(alike)

    def both(of: Callable[[JudgedCase], int], keys: Collection[ResultKey] | None = None) -> BeforeAfter[int]:
        return BeforeAfter(a=of_a, b=of_b).each(
            lambda side: sum(of(side[key]) for key in (side if keys is None else keys))
        )

    return LeftOut(
        added=tuple(key for key in of_b if key not in of_a),
        removed=tuple(key for key in of_a if key not in of_b),
        changed=tuple(key for key in of_a if key in of_b and key not in same),
        unjudged=tuple(key for key in alike if key not in compared),
        broken=both(lambda case: case.broken),
        skipped=both(lambda case: case.skipped),
        inconclusive=both(lambda case: case.inconclusive),
        doubled=both(lambda case: case.doubled),
        no_score=both(lambda case: sum(measured(run, measure) is None for run in case.runs), alike),
    )


def _judges_noise(pairs: Pairs, measure: str) -> JudgesNoise | None:
    sums = NoiseSum(), NoiseSum()
    for pair in pairs:
        for added, case in zip(sums, pair.both, strict=True):
            added.add([run.judging for run in case.runs if measured(run, measure) is not None])
    return noise_of(*sums)


def _refuse(names: BeforeAfter[str], of_a: Cases, of_b: Cases) -> NoReturn:
    subject = f"Cannot compare {names.a} with {names.b}"
    empty = next((name for name, cases in zip(names.both, (of_a, of_b), strict=True) if not cases), None)
    if empty is not None:
        hint = "That run may have been stopped before its first test ended"
        raise ConfigurationError(f"{subject}: {empty} has no results", hint)
    hint = "Cases are matched by suite and id: start both runs in the same folder"
    raise ConfigurationError(f"{subject}: they have no case in common", hint)


def _check_measure(measure: str, name: str, cases: Iterable[JudgedCase]) -> None:
    runs = [run for case in cases for run in case.runs]
    if not runs or any(measured(run, measure) is not None for run in runs):
        return
    known = [PASSED, *([SCORE] if any(run.score is not None for run in runs) else [])]
    known += sorted({id for run in runs for id in run.criteria or ()} - {PASSED, SCORE})
    raise ConfigurationError(
        f'Cannot compare by "{measure}": no result of {name} has it', f"Its measures are: {', '.join(known)}"
    )


def _is_steady(replayed: bool, cases: Collection[JudgedCase]) -> bool:
    judged = [case for case in cases if case.runs]
    return all((replayed or case.is_steady) and len({run.passed for run in case.runs}) < 2 for case in judged)


def _tested(
    cases: Sequence[ComparedCase], margin: float, noise: Noise, looks: InterimLooks
) -> tuple[tuple[ComparedCase, ...], MeanDifference, DetectableDifference | None]:
    """The cases with their tests, the difference over all, and what they could have shown."""
    pairs = [case.figures for case in cases]
    if noise is Noise.NONE:
        marked = tuple(case.replace(broke=case.fall > 1e-12, is_suspect=case.fall >= FALL) for case in cases)
        return marked, _change_in(pairs, noise), None
    if not _is_binary(pairs):
        marked = tuple(case.replace(is_suspect=case.fall >= FALL) for case in cases)
        return marked, _change_in(pairs, noise), change.score_reach_of(list(map(_scored, pairs)), margin)
    runs = list(map(_runs_of, pairs))
    broke = set(broken_cases(runs)) if not looks.ended_early else set()
    suspects = set(suspects_of(runs))
    marked = tuple(
        case.replace(p=single_case(one).p, broke=at in broke, is_suspect=at in suspects)
        for at, (case, one) in enumerate(zip(cases, runs, strict=True))
    )
    return marked, _change_in(pairs, noise), change.reach_of(runs, margin) if runs else None


def _change_in(pairs: Sequence[BeforeAfter[Figures]], noise: Noise, steps: int = STEPS) -> MeanDifference:
    if noise is Noise.NONE:
        rises = [_scored(pair).rise for pair in pairs]
        return MeanDifference(difference=math.fsum(rises) / len(rises) if rises else None)
    if _is_binary(pairs):
        return change.change_of(list(map(_runs_of, pairs)), steps)
    return change.score_change_of(list(map(_scored, pairs)))


def _rates(pairs: Sequence[BeforeAfter[Figures]], noise: Noise) -> BeforeAfter[Estimate]:
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


def _parts(pairs: Pairs, runs: Sequence[Attempt], measure: str, noise: Noise) -> tuple[Breakdown, ...]:
    """The changes in score, criteria and tags; those that are unlikely to be chance are marked."""
    wanted = [("score", SCORE)] if any(run.score is not None for run in runs) else []
    common = Counter(id for run in runs for id in run.criteria or ()).most_common(CRITERIA)
    wanted += [("criterion", id) for id in sorted(id for id, _ in common)]
    found = [_part(kind, name, name, pairs, noise) for kind, name in wanted if name != measure]
    for tag in sorted({tag for pair in pairs for case in pair.both for tag in case.tags}):
        tagged = [pair for pair in pairs if any(tag in case.tags for case in pair.both)]
        if len(tagged) < len(pairs):
            found.append(_part("tag", tag, measure, tagged, noise))
    parts = tuple(part for part in found if part is not None)
    if noise is Noise.NONE:
        return parts
    p = [min(1.0, 2 * min(part.change.worse or 0.0, part.change.better or 0.0)) for part in parts]
    low = change.benjamini_hochberg(p)
    return tuple(part.replace(stands_out=at <= LOOK_AT + 1e-12) for part, at in zip(parts, low, strict=True))


def _part(kind: str, name: str, measure: str, pairs: Pairs, noise: Noise) -> Breakdown | None:
    figures = [pair.each(lambda case: figures_of(case.runs, measure)) for pair in pairs]
    known = [pair for pair in figures if all(pair.both)]
    if not known:
        return None
    difference = _change_in(known, noise, STEPS_OF_PARTS)
    return Breakdown(kind=kind, name=name, cases=len(known), rates=_rates(known, noise), change=difference)


_RESOURCES: dict[str, Callable[[Attempt], float | None]] = {
    "duration_ms": lambda run: run.duration_ms,
    "tokens": lambda run: run.tokens or None,
    "cost": lambda run: run.cost,
}


def _beside(pairs: Pairs) -> tuple[ResourceChange, ...]:
    found = []
    for name, of in _RESOURCES.items():
        means = [tuple(mean_known(map(of, case.runs)) for case in pair.both) for pair in pairs]
        known = BeforeAfter(a=[a for a, b in means if a and b], b=[b for a, b in means if a and b])
        if known.a:
            found.append(ResourceChange(name=name, means=known.each(mean), ratio=ratio_of(known.a, known.b)))
    return tuple(found)
