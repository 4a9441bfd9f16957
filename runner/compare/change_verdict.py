"""Decides whether a run is worse than an older one, beyond the noise of its runs: the verdict of `yao-test diff`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NoReturn

from runner.amounts import mean
from runner.compare.change_report import (
    A_AND_B,
    BeforeAfter,
    Breakdown,
    ChangeReport,
    ComparedCase,
    LeftOut,
    Noise,
    ResourceChange,
)
from runner.compare.judged_cases import (
    PASSED,
    SCORE,
    JudgedCase,
    JudgedChange,
    change_in,
    figures_of,
    judged,
    judged_cases,
    measured,
    rates_of,
    says_the_same,
    verdict_on,
)
from runner.errors import ConfigurationError
from runner.record.events import ONCE, InterimLooks
from runner.record.keys import ResultKey
from runner.record.report import Report
from runner.record.stability import Attempt
from runner.record.votes import JudgesNoise, NoiseSum, noise_of
from runner.statistics.change import MARGIN, benjamini_hochberg, broken_runs, holm, like_these
from runner.statistics.intervals import ratio_of

REPLAYED = "--replay"
NEITHER = BeforeAfter(a=False, b=False)
Cases = Mapping[ResultKey, JudgedCase]


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

    Args:
        a: the older report.
        b: the newer one.
        names: their names in messages.
        measure: `passed`, `score`, or the id of a criterion.
        margin: largest difference that does not matter, 0 to 1.
        noise: whether runs of one case may differ; None: found out from the reports.
        looks: the number of this look at the runs, and how many are planned. If there are several, each needs more
            evidence."""
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
    cases = [case for key in alike if (case := _compared(of_a[key], of_b[key], measure)) is not None]
    pairs = [BeforeAfter(a=of_a[case.key], b=of_b[case.key]) for case in cases]
    left_out = _left_out(of_a, of_b, alike, {case.key for case in cases}, measure)
    made_a, made_b = (sum(case.broken + len(case.runs) for case in of.values()) for of in (of_a, of_b))
    too_many = broken_runs(left_out.broken.a, made_a, left_out.broken.b, made_b).too_many
    used = noise or _noise_of(replayed, of_a.values(), of_b.values())
    found = judged(cases, margin, used, too_many, looks)
    mean_cost = _mean_cost(pairs)
    return ChangeReport(
        verdict=found.verdict,
        measure=measure,
        cases=found.cases,
        runs=BeforeAfter(a=sum(len(case.figures.a) for case in cases), b=sum(len(case.figures.b) for case in cases)),
        rates=rates_of([case.figures for case in cases], used),
        change=found.change,
        reach=found.reach,
        cost_of_reach=_cost_of_reach(found, mean_cost),
        like_these=like_these([-case.fall for case in cases]),
        left_out=left_out,
        too_many_broke=too_many,
        noise=used,
        margin=margin,
        beside=beside_of(pairs),
        parts=parts_of(pairs, measure, used),
        cases_of_a=sum(any(measured(run, measure) is not None for run in case.runs) for case in of_a.values()),
        judges_noise=_judges_noise(pairs, measure),
        mean_cost=mean_cost,
        has_scores=measure == PASSED
        and any(run.score is not None for pair in pairs for case in pair.both for run in case.runs),
        cases_limit=found.cases_limit,
        looks=looks,
    )


def adjusted(verdicts: Sequence[ChangeReport]) -> list[ChangeReport]:
    """Corrects the verdicts on several reports that are compared with one baseline, by Holm's method: the more there
    are, the more evidence each needs."""
    tested = [found.change for found in verdicts if found.change.worse is not None]
    worse = iter(holm([change.worse or 0.0 for change in tested]))
    better = iter(holm([change.better or 0.0 for change in tested]))
    made = []
    for found in verdicts:
        if found.change.worse is None:
            made.append(found)
            continue
        change = found.change.replace(worse=next(worse), better=next(better))
        verdict = verdict_on(change, found.cases, found.margin, found.too_many_broke, found.looks)
        made.append(found.replace(change=change, verdict=verdict))
    return made


def _compared(one: JudgedCase, other: JudgedCase, measure: str) -> ComparedCase | None:
    """A case of both reports; None when it has no run with the measure in one of them."""
    a, b = figures_of(one.runs, measure), figures_of(other.runs, measure)
    return ComparedCase(key=one.key, figures=BeforeAfter(a=a, b=b)) if a and b else None


def _left_out(
    of_a: Cases, of_b: Cases, alike: Sequence[ResultKey], compared: Collection[ResultKey], measure: str
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
        inconclusive=both(lambda case: case.inconclusive),
        skipped=both(lambda case: case.skipped),
        doubled=both(lambda case: case.doubled),
        no_score=both(lambda case: sum(measured(run, measure) is None for run in case.runs), alike),
    )


def _mean_cost(pairs: Pairs) -> float | None:
    """The mean cost of a run, in US dollars."""
    costs = [run.cost for pair in pairs for case in pair.both for run in case.runs if run.cost is not None]
    return mean(costs) if costs else None


def _cost_of_reach(found: JudgedChange, mean_cost: float | None) -> float | None:
    if found.reach is None or mean_cost is None:
        return None
    fewest = min(case.fewest_runs for case in found.cases)
    return mean_cost * len(found.cases) * 2 * max(0, found.reach.runs_each - fewest)


def _judges_noise(pairs: Pairs, measure: str) -> JudgesNoise | None:
    """The noise of the difference that comes from the judges, by the votes in both reports."""
    sums = NoiseSum(), NoiseSum()
    for pair in pairs:
        for added, case in zip(sums, pair.both, strict=True):
            added.add([run.judging for run in case.runs if measured(run, measure) is not None])
    return noise_of(*sums)


def _refuse(names: BeforeAfter[str], of_a: Cases, of_b: Cases) -> NoReturn:
    empty = next((name for name, cases in zip(names.both, (of_a, of_b), strict=True) if not cases), None)
    if empty is not None:
        raise ConfigurationError(
            f"Cannot compare {names.a} with {names.b}: {empty} has no results",
            "That run may have been stopped before its first test ended",
        )
    raise ConfigurationError(
        f"Cannot compare {names.a} with {names.b}: they have no case in common",
        "Cases are matched by suite and id: start both runs in the same folder",
    )


def _check_measure(measure: str, name: str, cases: Iterable[JudgedCase]) -> None:
    """Raises ConfigurationError when a report has judged runs, but none with the measure."""
    runs = [run for case in cases for run in case.runs]
    if not runs or any(measured(run, measure) is not None for run in runs):
        return
    known = [PASSED, *([SCORE] if any(run.score is not None for run in runs) else [])]
    known += sorted({id for run in runs for id in run.criteria or ()} - {PASSED, SCORE})
    raise ConfigurationError(
        f'Cannot compare by "{measure}": no result of {name} has it', f"Its measures are: {', '.join(known)}"
    )


def _noise_of(replayed: BeforeAfter[bool], of_a: Collection[JudgedCase], of_b: Collection[JudgedCase]) -> Noise:
    """`Noise.NONE` if every run must end the same: script tests, scripted models and recordings, unless runs of one
    case differed; otherwise `Noise.RUNS`."""
    steady = _is_steady(replayed.a, of_a) and _is_steady(replayed.b, of_b)
    return Noise.NONE if steady else Noise.RUNS


def _is_steady(replayed: bool, cases: Collection[JudgedCase]) -> bool:
    return all(
        (replayed or case.is_script or case.connectors == {"scripted"}) and len({run.passed for run in case.runs}) < 2
        for case in cases
        if case.runs
    )


LOOK_AT = 0.1
"""Expected share of false alarms among the criteria and tags that are marked."""
CRITERIA = 200
"""At most this many criteria are compared: those with the most runs."""
STEPS_OF_PARTS = 100_000
"""Limit of the exact distribution for these figures, so that many tags cost little time."""

Pairs = Sequence[BeforeAfter[JudgedCase]]


def parts_of(pairs: Pairs, measure: str, noise: Noise) -> tuple[Breakdown, ...]:
    """The changes in the score, the criteria and the tags of the cases. Those that are unlikely to be chance
    are marked."""
    judged = [run for pair in pairs for case in pair.both for run in case.runs]
    wanted = [("score", SCORE)] if any(run.score is not None for run in judged) else []
    common = Counter(id for run in judged for id in run.criteria or ()).most_common(CRITERIA)
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
    low = benjamini_hochberg(p)
    return tuple(part.replace(stands_out=at <= LOOK_AT + 1e-12) for part, at in zip(parts, low, strict=True))


def _part(kind: str, name: str, measure: str, pairs: Pairs, noise: Noise) -> Breakdown | None:
    figures = [pair.each(lambda case: figures_of(case.runs, measure)) for pair in pairs]
    known = [pair for pair in figures if all(pair.both)]
    if not known:
        return None
    change = change_in(known, noise, STEPS_OF_PARTS)
    return Breakdown(kind=kind, name=name, cases=len(known), rates=rates_of(known, noise), change=change)


def beside_of(pairs: Pairs) -> tuple[ResourceChange, ...]:
    """The changes in time, tokens and money."""
    figures: dict[str, Callable[[Attempt], float | None]] = {
        "duration_ms": lambda run: run.duration_ms,
        "tokens": lambda run: run.tokens or None,
        "cost": lambda run: run.cost,
    }
    found = []
    for name, of in figures.items():
        means = [(_mean(pair.a, of), _mean(pair.b, of)) for pair in pairs]
        known = BeforeAfter(a=[a for a, b in means if a and b], b=[b for a, b in means if a and b])
        if known.a:
            found.append(ResourceChange(name=name, means=known.each(mean), ratio=ratio_of(known.a, known.b)))
    return tuple(found)


def _mean(case: JudgedCase, of: Callable[[Attempt], float | None]) -> float | None:
    values = [value for run in case.runs if (value := of(run)) is not None]
    return mean(values) if values else None
