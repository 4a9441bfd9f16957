"""Whether a run is worse than an older one, beyond the noise of its runs: the verdict of `yao-test diff`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NoReturn

from runner.errors import ConfigurationError
from runner.results.judged_cases import PASSED, SCORE, JudgedCase, JudgedRun, Key, judged_cases, measured, says_the_same
from runner.results.judging import JudgesNoise, NoiseSum, noise_of
from runner.results.report import Report
from runner.statistics import change as statistics
from runner.statistics.change import Change, LikeThese, Ratio, Reach
from runner.statistics.intervals import Estimate, mean_of, suite_rate, variance
from scripttest.values import Value

NO_VERDICT_SHARE = 0.2
"""Share of A's cases without a verdict in B from which on a gate does not pass."""
CONFIRMING_RUNS = 5
"""Runs a side that show whether a suspect broke."""
LOOK_AT = 0.1
"""Share of false ones among the criteria and tags that stand out."""
CRITERIA = 200
"""Criteria that are compared: those of the most runs."""
STEPS_OF_PARTS = 100_000
"""Of the exact distribution of what only informs, so that many tags cost little."""
REPLAYED = "--replay"


class Verdict(StrEnum):
    """What a comparison says."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    CANNOT_TELL = "cannot tell"


class Noise(StrEnum):
    """Whether runs of one case may differ."""

    RUNS = "runs"
    NONE = "none"


class ComparedCase(Value):
    """A case that was judged in both reports."""

    key: Key
    a: tuple[float, ...]
    """What each run gives for the measure."""
    b: tuple[float, ...]
    p: float | None = None
    """Of its fall, where it is tested."""
    broke: bool = False
    is_suspect: bool = False

    @property
    def fall(self) -> float:
        """How much less B has."""
        return math.fsum(self.a) / len(self.a) - math.fsum(self.b) / len(self.b)


class LeftOut(Value):
    """What is in no figure."""

    added: tuple[Key, ...]
    removed: tuple[Key, ...]
    changed: tuple[Key, ...]
    unjudged: tuple[Key, ...]
    """Cases of both without a judged run, or without the measure, on one side."""
    broken: tuple[int, int]
    """Runs that broke, in A and in B."""
    inconclusive: tuple[int, int]
    """Runs whose judges did not decide."""
    skipped: tuple[int, int]
    doubled: tuple[int, int]
    """Results of a name that was there already."""
    no_score: tuple[int, int]
    """Judged runs without the measure."""


class Beside(Value):
    """A figure beside the measure: `duration_ms`, `tokens` or `cost` for each case, as a ratio."""

    name: str
    a: float
    b: float
    """Means of the cases."""
    ratio: Ratio | None


class Part(Value):
    """A figure of some cases, which only informs: the score, a criterion, or the measure of the cases of a tag."""

    kind: str
    """`score`, `criterion` or `tag`."""
    name: str
    cases: int
    rates: tuple[Estimate, Estimate]
    change: Change
    stands_out: bool = False
    """Whether it is worth a look: a false discovery is one of ten of these."""


class ChangeReport(Value):
    """One report against an older one."""

    verdict: Verdict
    measure: str
    cases: tuple[ComparedCase, ...]
    runs: tuple[int, int]
    rates: tuple[Estimate, Estimate]
    """The measure in A and in B, with intervals; 0 to 1."""
    change: Change
    reach: Reach | None
    cost_of_reach: float | None
    """US dollars of the further runs that would decide; None: unknown."""
    like_these: LikeThese
    left_out: LeftOut
    too_many_broke: bool
    noise: Noise
    margin: float
    beside: tuple[Beside, ...]
    parts: tuple[Part, ...]
    cases_of_a: int
    """Cases of A that have the measure."""
    is_same_report: bool
    judges_noise: JudgesNoise | None
    """How far the difference would be off if the judges voted again; None: there are too few votes to say."""
    is_judges_noise: bool
    """Whether both are grades of the same answers, so that only the judges can differ."""
    mean_cost: float | None
    """Of a run of a case, in US dollars."""
    has_scores: bool
    """Whether the cases have scores, which see smaller differences than verdicts."""
    looks: tuple[int, int]
    """Which look at the runs it is, and how many were planned."""
    variants: tuple[str, ...]
    """Those of the run of B, as its command line has them."""
    cases_limit: bool
    """Whether more cases would say more than more runs of these."""

    @property
    def broke(self) -> list[ComparedCase]:
        """The cases that broke."""
        return [case for case in self.cases if case.broke]

    @property
    def suspects(self) -> list[ComparedCase]:
        """The cases that fell by half or more."""
        return [case for case in self.cases if case.is_suspect]

    @property
    def fell(self) -> list[ComparedCase]:
        """The cases that are lower in B."""
        return [case for case in self.cases if case.fall > 1e-12]

    @property
    def without_verdict(self) -> float:
        """Share of A's cases that have no verdict in B."""
        return 1 - len(self.cases) / self.cases_of_a if self.cases_of_a else 0.0

    @property
    def lacks_verdicts(self) -> bool:
        """Whether that are too many for a gate."""
        return self.without_verdict > NO_VERDICT_SHARE + 1e-12

    def fails(self, *, on_unsure: bool) -> bool:
        """Whether a gate stops B."""
        if self.verdict is Verdict.REGRESSED:
            return True
        if self.verdict is Verdict.CANNOT_TELL and (on_unsure or self.too_many_broke):
            return True
        return self.lacks_verdicts


def change_between(
    a: Report,
    b: Report,
    *,
    names: tuple[str, str] = ("A", "B"),
    measure: str = PASSED,
    margin: float = statistics.MARGIN,
    noise: Noise | None = None,
    looks: tuple[int, int] = (1, 1),
) -> ChangeReport:
    """The verdict on B, the newer report. Raises ConfigurationError when they have no case in common, or one of them
    has no result with the measure.

    Args:
        a: the older report.
        b: the newer one.
        names: what messages call them.
        measure: `passed`, `score`, or the id of a criterion.
        margin: a difference that does not matter, 0 to 1.
        noise: whether runs of one case may differ; None: that is found out.
        looks: which look at the runs this is, and how many were planned: each of several has to show more.
    """
    of_a, of_b = judged_cases(a), judged_cases(b)
    common = [key for key in of_a if key in of_b]
    if not common:
        _refuse(names, of_a, of_b)
    for name, cases_of in zip(names, (of_a, of_b), strict=True):
        _check_measure(measure, name, cases_of.values())
    same = [key for key in common if says_the_same(of_a[key], of_b[key])]
    no_score = [0, 0]
    cases = []
    for key in same:
        values = [_values(case.runs, measure, side, no_score) for side, case in enumerate((of_a[key], of_b[key]))]
        if values[0] and values[1]:
            cases.append(ComparedCase(key=key, a=values[0], b=values[1]))
    used = noise or _noise_of(a, b, of_a.values(), of_b.values())
    broken = sum(case.broken for case in of_a.values()), sum(case.broken for case in of_b.values())
    made = (
        broken[0] + sum(len(case.runs) for case in of_a.values()),
        broken[1] + sum(len(case.runs) for case in of_b.values()),
    )
    too_many = statistics.broken_runs(broken[0], made[0], broken[1], made[1]).too_many
    found = _judge(cases, measure, margin, used, too_many, looks)
    compared, alike = {case.key for case in cases}, set(same)
    left_out = LeftOut(
        added=tuple(key for key in of_b if key not in of_a),
        removed=tuple(key for key in of_a if key not in of_b),
        changed=tuple(key for key in common if key not in alike),
        unjudged=tuple(key for key in same if key not in compared),
        broken=broken,
        inconclusive=(
            sum(case.inconclusive for case in of_a.values()),
            sum(case.inconclusive for case in of_b.values()),
        ),
        skipped=(sum(case.skipped for case in of_a.values()), sum(case.skipped for case in of_b.values())),
        doubled=(sum(case.doubled for case in of_a.values()), sum(case.doubled for case in of_b.values())),
        no_score=(no_score[0], no_score[1]),
    )
    pairs = [(of_a[case.key], of_b[case.key]) for case in cases]
    sides = [[one.runs for one, _ in pairs], [other.runs for _, other in pairs]]
    costs = [run.cost for side in sides for runs in side for run in runs if run.cost is not None]
    mean_cost = math.fsum(costs) / len(costs) if costs else None
    reach = found.reach
    cost = None
    if reach is not None and mean_cost is not None:
        fewest = min(min(len(case.a), len(case.b)) for case in found.cases)
        cost = mean_cost * len(found.cases) * 2 * max(0, reach.runs_each - fewest)
    return ChangeReport(
        verdict=found.verdict,
        measure=measure,
        cases=found.cases,
        runs=(sum(len(case.a) for case in cases), sum(len(case.b) for case in cases)),
        rates=_rates(found.cases, used),
        change=found.change,
        reach=reach,
        cost_of_reach=cost,
        like_these=statistics.like_these([-case.fall for case in cases]),
        left_out=left_out,
        too_many_broke=too_many,
        noise=used,
        margin=margin,
        beside=tuple(_beside(pairs)),
        parts=tuple(_parts(pairs, measure, used)),
        cases_of_a=sum(any(measured(run, measure) is not None for run in case.runs) for case in of_a.values()),
        judges_noise=_judges_noise(pairs, measure),
        is_judges_noise=a.start.get("regraded_from") is not None
        and a.start.get("regraded_from") == b.start.get("regraded_from"),
        is_same_report=a.start == b.start and a.results == b.results,
        mean_cost=mean_cost,
        has_scores=measure == PASSED and any(run.score is not None for side in sides for runs in side for run in runs),
        cases_limit=_cases_limit(found),
        looks=looks,
        variants=tuple(text for flag, text in pairwise(b.start.get("flags") or ()) if flag == "--variant"),
    )


def _judges_noise(pairs: Sequence[tuple[JudgedCase, JudgedCase]], measure: str) -> JudgesNoise | None:
    """What the votes on both sides say of the noise of their difference."""
    sides = NoiseSum(), NoiseSum()
    for pair in pairs:
        for side, case in zip(sides, pair, strict=True):
            side.add([run.judging for run in case.runs if measured(run, measure) is not None])
    return noise_of(*sides)


def _cases_limit(found: _Judged) -> bool:
    """Whether the cases differ more from each other than their runs do."""
    error, count = found.change.standard_error, len(found.cases)
    if error is None or count < 2:
        return False
    return error * error < variance([-case.fall for case in found.cases]) / count / 2


class _Judged(Value):
    verdict: Verdict
    cases: tuple[ComparedCase, ...]
    change: Change
    reach: Reach | None


def level_of(looks: tuple[int, int]) -> float:
    """The level of one side of the test at each of so many looks."""
    return statistics.LOOK_LEVELS[looks[1] - 1] / 2 if looks[1] > 1 else statistics.ALPHA


def _judge(
    cases: Sequence[ComparedCase],
    measure: str,
    margin: float,
    noise: Noise,
    too_many_broke: bool,
    looks: tuple[int, int],
) -> _Judged:
    binary = all(value in (0.0, 1.0) for case in cases for value in (*case.a, *case.b))
    if noise is Noise.NONE:
        return _judge_without_noise(cases, too_many_broke)
    if measure == PASSED or binary:
        runs = [_case_runs(case) for case in cases]
        change = statistics.change_of(runs)
        is_last = looks[0] == looks[1]
        broke = set(statistics.broken_cases(runs)) if is_last else set()
        suspects = set(statistics.suspects_of(runs))
        reach = statistics.reach_of(runs, margin) if runs else None
        marked = tuple(
            case.replace(p=statistics.single_case(one).p, broke=at in broke, is_suspect=at in suspects)
            for at, (case, one) in enumerate(zip(cases, runs, strict=True))
        )
    else:
        scored = [statistics.ScoredCase(a=case.a, b=case.b) for case in cases]
        change, broke, reach = statistics.score_change_of(scored), set(), statistics.score_reach_of(scored, margin)
        marked = tuple(case.replace(is_suspect=case.fall >= statistics.FALL) for case in cases)
        suspects = {at for at, case in enumerate(marked) if case.is_suspect}
    word = statistics.verdict_from(
        change, broke=bool(broke), suspect=bool(suspects), margin=margin, alpha=level_of(looks)
    )
    return _Judged(verdict=_worded(word, too_many_broke), cases=marked, change=change, reach=reach)


def _worded(word: str, too_many_broke: bool) -> Verdict:
    """Too many broken runs hide a fall, and never one that was seen."""
    verdict = Verdict(word)
    return Verdict.CANNOT_TELL if too_many_broke and verdict is not Verdict.REGRESSED else verdict


def _judge_without_noise(cases: Sequence[ComparedCase], too_many_broke: bool) -> _Judged:
    """Each fall is real."""
    marked = tuple(case.replace(broke=case.fall > 1e-12, is_suspect=case.fall >= statistics.FALL) for case in cases)
    differences = [-case.fall for case in cases]
    change = Change(difference=math.fsum(differences) / len(differences) if differences else None)
    verdict = Verdict.UNCHANGED
    if any(case.broke for case in marked):
        verdict = Verdict.REGRESSED
    elif too_many_broke or not cases:
        verdict = Verdict.CANNOT_TELL
    elif any(difference > 1e-12 for difference in differences):
        verdict = Verdict.IMPROVED
    return _Judged(verdict=verdict, cases=marked, change=change, reach=None)


def _case_runs(case: ComparedCase) -> statistics.CaseRuns:
    return statistics.CaseRuns(
        passed_a=round(sum(case.a)), runs_a=len(case.a), passed_b=round(sum(case.b)), runs_b=len(case.b)
    )


def _values(runs: Sequence[JudgedRun], measure: str, side: int, no_score: list[int]) -> tuple[float, ...]:
    values = [measured(run, measure) for run in runs]
    no_score[side] += values.count(None)
    return tuple(value for value in values if value is not None)


def _refuse(names: tuple[str, str], of_a: Mapping[Key, JudgedCase], of_b: Mapping[Key, JudgedCase]) -> NoReturn:
    empty = next((name for name, cases in zip(names, (of_a, of_b), strict=True) if not cases), None)
    if empty is not None:
        raise ConfigurationError(
            f"Cannot compare {names[0]} with {names[1]}: {empty} has no results",
            "Was that run stopped before its first test had ended?",
        )
    raise ConfigurationError(
        f"Cannot compare {names[0]} with {names[1]}: they have no case in common",
        "Cases are matched by the suite and the id; were both runs started in the same folder?",
    )


def _check_measure(measure: str, name: str, cases: Iterable[JudgedCase]) -> None:
    """A report that was judged, and never by the measure, cannot be compared by it."""
    runs = [run for case in cases for run in case.runs]
    if not runs or any(measured(run, measure) is not None for run in runs):
        return
    known = [PASSED, *([SCORE] if any(run.score is not None for run in runs) else [])]
    known += sorted({id for run in runs for id in run.criteria} - {PASSED, SCORE})
    raise ConfigurationError(
        f'Cannot compare by "{measure}": no result of {name} has it', f"Its measures are: {', '.join(known)}"
    )


def _noise_of(a: Report, b: Report, of_a: Collection[JudgedCase], of_b: Collection[JudgedCase]) -> Noise:
    """None where every run ends in the same way: script tests, scripted models and recordings, unless runs of one case
    differed."""
    steady = all(_is_steady(report, cases) for report, cases in ((a, of_a), (b, of_b)))
    return Noise.NONE if steady else Noise.RUNS


def _is_steady(report: Report, cases: Collection[JudgedCase]) -> bool:
    replayed = REPLAYED in (report.start.get("flags") or ())
    return all(
        (replayed or case.is_script or case.connectors == {"scripted"}) and len({run.passed for run in case.runs}) < 2
        for case in cases
    )


def _rates(cases: Sequence[ComparedCase], noise: Noise) -> tuple[Estimate, Estimate]:
    """The measure in A and in B; each without an interval where nothing is left to chance."""
    of_a, of_b = (_rate([getattr(case, side) for case in cases]) for side in ("a", "b"))
    if noise is Noise.NONE:
        return of_a.replace(interval=None), of_b.replace(interval=None)
    return of_a, of_b


def _rate(cases: Sequence[tuple[float, ...]]) -> Estimate:
    if all(value in (0.0, 1.0) for runs in cases for value in runs):
        return suite_rate([(round(sum(runs)), len(runs)) for runs in cases])
    return mean_of([math.fsum(runs) / len(runs) for runs in cases])


def _parts(pairs: Sequence[tuple[JudgedCase, JudgedCase]], measure: str, noise: Noise) -> list[Part]:
    """The score, the criteria and the tags of the cases; those that stand out among all of them are marked."""
    judged = [run for pair in pairs for case in pair for run in case.runs]
    wanted = [("score", SCORE)] if any(run.score is not None for run in judged) else []
    common = Counter(id for run in judged for id in run.criteria).most_common(CRITERIA)
    wanted += [("criterion", id) for id in sorted(id for id, _ in common)]
    found = [_part(kind, name, name, pairs, noise) for kind, name in wanted if name != measure]
    for tag in sorted({tag for pair in pairs for case in pair for tag in case.tags}):
        tagged = [pair for pair in pairs if any(tag in case.tags for case in pair)]
        if len(tagged) < len(pairs):
            found.append(_part("tag", tag, measure, tagged, noise))
    parts = [part for part in found if part is not None]
    if noise is Noise.NONE:
        return parts
    p = [min(1.0, 2 * min(part.change.worse or 0.0, part.change.better or 0.0)) for part in parts]
    low = statistics.benjamini_hochberg(p)
    return [part.replace(stands_out=at <= LOOK_AT + 1e-12) for part, at in zip(parts, low, strict=True)]


def _part(
    kind: str, name: str, measure: str, pairs: Sequence[tuple[JudgedCase, JudgedCase]], noise: Noise
) -> Part | None:
    cases = []
    for one, other in pairs:
        a, b = (_values(case.runs, measure, 0, [0]) for case in (one, other))
        if a and b:
            cases.append(ComparedCase(key=one.key, a=a, b=b))
    if not cases:
        return None
    return Part(kind=kind, name=name, cases=len(cases), rates=_rates(cases, noise), change=_change(cases, noise))


def _change(cases: Sequence[ComparedCase], noise: Noise) -> Change:
    if noise is Noise.NONE:
        return Change(difference=math.fsum(-case.fall for case in cases) / len(cases))
    if all(value in (0.0, 1.0) for case in cases for value in (*case.a, *case.b)):
        return statistics.change_of([_case_runs(case) for case in cases], STEPS_OF_PARTS)
    return statistics.score_change_of([statistics.ScoredCase(a=case.a, b=case.b) for case in cases])


def _beside(pairs: Sequence[tuple[JudgedCase, JudgedCase]]) -> list[Beside]:
    figures: dict[str, Callable[[JudgedRun], float | None]] = {
        "duration_ms": lambda run: run.milliseconds,
        "tokens": lambda run: run.tokens,
        "cost": lambda run: run.cost,
    }
    found = []
    for name, of in figures.items():
        means = [(_mean(one, of), _mean(other, of)) for one, other in pairs]
        known = [(one, other) for one, other in means if one and other]
        if known:
            a, b = [one for one, _ in known], [other for _, other in known]
            ratio = statistics.ratio_of(a, b)
            found.append(Beside(name=name, a=math.fsum(a) / len(a), b=math.fsum(b) / len(b), ratio=ratio))
    return found


def _mean(case: JudgedCase, of: Callable[[JudgedRun], float | None]) -> float | None:
    values = [value for run in case.runs if (value := of(run)) is not None]
    return math.fsum(values) / len(values) if values else None


def adjusted(verdicts: Sequence[ChangeReport]) -> list[ChangeReport]:
    """Several reports against one baseline, by Holm: the more are compared, the more each has to show."""
    tested = [found.change for found in verdicts if found.change.worse is not None]
    worse = iter(statistics.holm([change.worse or 0.0 for change in tested]))
    better = iter(statistics.holm([change.better or 0.0 for change in tested]))
    made = []
    for found in verdicts:
        if found.change.worse is None:
            made.append(found)
            continue
        change = found.change.replace(worse=next(worse), better=next(better))
        word = statistics.verdict_from(
            change,
            broke=bool(found.broke),
            suspect=bool(found.suspects),
            margin=found.margin,
            alpha=level_of(found.looks),
        )
        made.append(found.replace(change=change, verdict=_worded(word, found.too_many_broke)))
    return made
