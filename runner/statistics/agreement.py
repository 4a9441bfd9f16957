"""How far judges can be trusted: agreement of votes, whose noise it is, and labels of people; and ranks, with the rank
sum test of Mann, Whitney and Wilcoxon, which asks nothing of how values are distributed. Small samples are counted out,
also with ties (the figures of `benchstat`)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Sequence
from statistics import fmean

from runner.statistics.intervals import Interval, Z, normal, t_interval, variance, wilson
from scripttest.values import Value

MOST_SAMPLES = 9
"""Votes on one answer that are ever recommended."""
FEWEST_LABELS = 20
FEWEST_OF_A_KIND = 5
"""Fewest labels, and fewest labels of each kind, for a conclusion about a judge."""
AGREES, AGREES_IN_PART = 0.6, 0.4
"""Lower ends of kappa from which on a judge agrees with people, or in part."""
COUNTED = 50
"""Values of both samples together up to which every way to part them is counted."""


class Agreement(Value):
    """How far several votes on the same answers agree."""

    agreement: float | None
    """Share of equal pairs of votes on one answer."""
    fleiss_kappa: float | None
    """None: all votes are equal, or answers have different numbers of votes."""
    krippendorff_alpha: float | None
    """None: all votes are equal, or no answer has two."""


class Components(Value):
    """Whose variance the scores have; each is 0 or more."""

    judge: float
    agent: float
    case: float
    agent_before_cut: float
    """Below 0: the judge's noise explains more than there is."""


class Calibration(Value):
    """A judge against labels of people."""

    both_pass: int
    judge_too_strict: int
    judge_too_lenient: int
    both_fail: int
    agreement: float
    agreement_interval: Interval
    kappa: float | None
    """Cohen's kappa; None if both gave one and the same verdict to every answer."""
    kappa_error: float | None
    kappa_interval: Interval | None
    passes_found: float | None
    """Share of what people pass that the judge passes; None: people pass nothing."""
    failures_found: float | None

    @property
    def words(self) -> str:
        """The conclusion about the judge."""
        passes = self.both_pass + self.judge_too_strict
        failures = self.both_fail + self.judge_too_lenient
        if passes + failures < FEWEST_LABELS or min(passes, failures) < FEWEST_OF_A_KIND:
            return "too few labels to say"
        low = self.kappa_interval.low if self.kappa_interval else 0.0
        if low >= AGREES:
            return "agrees with people"
        return "partly agrees with people" if low >= AGREES_IN_PART else "agreement not shown"


class ScoreCalibration(Value):
    """Scores of a judge against scores of people."""

    spearman: float | None
    """Correlation of ranks; None: one of both gives equal scores only."""
    bias: float
    """Mean of judge - people."""
    bias_interval: Interval | None
    mean_absolute_error: float


class CorrectedRate(Value):
    """A pass rate with the judge's errors taken out."""

    rate: float | None
    """None: one of the judge's verdicts has no labels."""
    interval: Interval | None = None
    rogan_gladen: float | None = None
    """The rate for labels that come from another report; None: the judge does not tell passes from failures."""


def agreement_of(table: Sequence[Sequence[int]]) -> Agreement:
    """Agreement of votes: a row for each answer, with how many votes each verdict got."""
    pairs = sum(math.comb(sum(row), 2) for row in table)
    equal = sum(math.comb(votes, 2) for row in table for votes in row) / pairs if pairs else None
    return Agreement(agreement=equal, fleiss_kappa=_fleiss(table), krippendorff_alpha=_krippendorff(table))


def components_of(data: Sequence[Sequence[Sequence[float]]]) -> Components | None:
    """Variance of judge, agent and case from scores: case > run > vote. Cases have two runs or more, runs two votes or
    more; what has fewer is left out, and None is the answer when nothing is left."""
    cases = [[run for run in case if len(run) >= 2] for case in data]
    cases = [case for case in cases if len(case) >= 2]
    if not cases:
        return None
    runs = [run for case in cases for run in case]
    votes_each = len(runs) / math.fsum(1 / len(run) for run in runs)
    runs_each = len(cases) / math.fsum(1 / len(case) for case in cases)
    judge = fmean([variance(run) for run in runs])
    means = [[fmean(run) for run in case] for case in cases]
    of_runs = votes_each * fmean([variance(case) for case in means])
    of_cases = runs_each * votes_each * variance([fmean(case) for case in means]) if len(cases) > 1 else of_runs
    agent = (of_runs - judge) / votes_each
    return Components(
        judge=judge,
        agent=max(0.0, agent),
        case=max(0.0, (of_cases - of_runs) / (runs_each * votes_each)),
        agent_before_cut=agent,
    )


def best_samples(*, agent: float, judge: float, cost_agent: float, cost_judge: float) -> int | None:
    """Votes on one answer that buy most certainty for the money; None: the agent has no noise, or votes are free."""
    if not agent or not cost_judge:
        return None
    return min(MOST_SAMPLES, max(1, round(math.sqrt(judge / agent * cost_agent / cost_judge))))


def calibrated(human: Sequence[bool], judge: Sequence[bool], weights: Sequence[float] | None = None) -> Calibration:
    """A judge's verdicts against those of people on the same answers, at least one. `weights` say for how many of the
    judge's verdicts each label stands, and weigh kappa only."""
    pairs = list(zip(map(bool, human), map(bool, judge), strict=True))
    count = len(pairs)
    both_pass, strict = pairs.count((True, True)), pairs.count((True, False))
    lenient, both_fail = pairs.count((False, True)), pairs.count((False, False))
    table = dict.fromkeys(((True, True), (True, False), (False, True), (False, False)), 0.0)
    scale = count / math.fsum(weights) if weights else 1.0
    for pair, weight in zip(pairs, weights or [1.0] * count, strict=True):
        table[pair] += weight * scale
    kappa, error = _cohen(table, count)
    interval = None
    if kappa is not None and error is not None:
        interval = Interval(low=kappa - Z * error, high=kappa + Z * error)
    return Calibration(
        both_pass=both_pass,
        judge_too_strict=strict,
        judge_too_lenient=lenient,
        both_fail=both_fail,
        agreement=(both_pass + both_fail) / count,
        agreement_interval=wilson(both_pass + both_fail, count),
        kappa=kappa,
        kappa_error=error,
        kappa_interval=interval,
        passes_found=both_pass / (both_pass + strict) if both_pass + strict else None,
        failures_found=both_fail / (both_fail + lenient) if both_fail + lenient else None,
    )


def weighted_kappa(human: Sequence[Hashable], judge: Sequence[Hashable], labels: Sequence[Hashable]) -> float | None:
    """Cohen's kappa of grades in the order of `labels`, where a grade twice as far off counts four times."""
    place = {label: at for at, label in enumerate(labels)}
    of_human, of_judge = [place[label] for label in human], [place[label] for label in judge]
    seen = math.fsum((a - b) ** 2 for a, b in zip(of_human, of_judge, strict=True)) / len(of_human)
    by_chance = math.fsum((a - b) ** 2 for a in of_human for b in of_judge) / len(of_human) ** 2
    return 1 - seen / by_chance if by_chance else None


def calibrated_scores(human: Sequence[float], judge: Sequence[float]) -> ScoreCalibration:
    """A judge's scores against those of people on the same answers, at least one."""
    differences = [of_judge - of_human for of_human, of_judge in zip(human, judge, strict=True)]
    estimate = t_interval(differences)
    assert estimate.value is not None
    return ScoreCalibration(
        spearman=correlation(ranks(human), ranks(judge)),
        bias=estimate.value,
        bias_interval=estimate.interval,
        mean_absolute_error=fmean([abs(difference) for difference in differences]),
    )


def corrected_rate(calibration: Calibration, judge_passed: int, judged: int) -> CorrectedRate:
    """The pass rate of `judged` answers of which the judge passed `judge_passed`. Right when the labels were drawn at
    random within each of the judge's verdicts."""
    passes = calibration.both_pass + calibration.judge_too_lenient
    failures = calibration.judge_too_strict + calibration.both_fail
    if not passes or not failures or not judged:
        return CorrectedRate(rate=None)
    share = judge_passed / judged
    of_passes, of_failures = calibration.both_pass / passes, calibration.judge_too_strict / failures
    rate = share * of_passes + (1 - share) * of_failures
    a, b = (calibration.both_pass + 1) / (passes + 2), (calibration.judge_too_strict + 1) / (failures + 2)
    spread = (
        share * share * a * (1 - a) / passes
        + (1 - share) * (1 - share) * b * (1 - b) / failures
        + (of_passes - of_failures) * (of_passes - of_failures) * share * (1 - share) / judged
    )
    width = Z * math.sqrt(spread)
    return CorrectedRate(
        rate=rate,
        interval=Interval(low=max(0.0, rate - width), high=min(1.0, rate + width)),
        rogan_gladen=_rogan_gladen(calibration, share),
    )


def ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value from 1; equal ones share the mean of theirs."""
    by_size = sorted(values)
    first = {value: at for at, value in reversed(list(enumerate(by_size, 1)))}
    last = {value: at for at, value in enumerate(by_size, 1)}
    return [(first[value] + last[value]) / 2 for value in values]


def correlation(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Pearson's; None when one of both does not vary."""
    return statistics.correlation(a, b) if min(a) < max(a) and min(b) < max(b) else None


def rank_sum_probability(a: Sequence[float], b: Sequence[float]) -> float:
    """How likely samples differ by chance as much as these do, in either direction: 0 to 1."""
    if not a or not b:
        return 1.0
    places = ranks([*a, *b])
    total = sum(places[: len(a)])
    if len(places) <= COUNTED:
        return _counted([round(2 * place) for place in places], len(a), round(2 * total))
    return _normal(places, len(a), total)


def _fleiss(table: Sequence[Sequence[int]]) -> float | None:
    sizes = {sum(row) for row in table}
    if len(sizes) != 1 or (votes := sizes.pop()) < 2:
        return None
    shares = [sum(column) / (len(table) * votes) for column in zip(*table, strict=True)]
    by_chance = math.fsum(share * share for share in shares)
    seen = fmean([sum(count * (count - 1) for count in row) / (votes * (votes - 1)) for row in table])
    return None if max(shares) == 1 else (seen - by_chance) / (1 - by_chance)


def _krippendorff(table: Sequence[Sequence[int]]) -> float | None:
    pairable = [row for row in table if sum(row) >= 2]
    totals: list[int] = [sum(column) for column in zip(*pairable, strict=True)]
    count = sum(totals)
    by_chance = count * count - sum(total * total for total in totals)
    if not by_chance:
        return None
    seen = math.fsum((sum(row) * sum(row) - sum(votes * votes for votes in row)) / (sum(row) - 1) for row in pairable)
    return 1.0 - (count - 1) * seen / by_chance


def _cohen(table: dict[tuple[bool, bool], float], count: int) -> tuple[float | None, float | None]:
    """Kappa with the error of Fleiss, Cohen and Everitt."""
    shares = {pair: weight / count for pair, weight in table.items()}
    of_human = {value: shares[value, True] + shares[value, False] for value in (True, False)}
    of_judge = {value: shares[True, value] + shares[False, value] for value in (True, False)}
    seen = shares[True, True] + shares[False, False]
    by_chance = math.fsum(of_human[value] * of_judge[value] for value in (True, False))
    if any(math.isclose(of_human[value], 1) and math.isclose(of_judge[value], 1) for value in (True, False)):
        return None, None
    kappa = (seen - by_chance) / (1 - by_chance)
    agreeing = math.fsum(
        shares[value, value] * (1 - (of_human[value] + of_judge[value]) * (1 - kappa)) ** 2 for value in (True, False)
    )
    differing = (1 - kappa) ** 2 * math.fsum(
        shares[a, not a] * (of_judge[a] + of_human[not a]) ** 2 for a in (True, False)
    )
    spread = agreeing + differing - (kappa - by_chance * (1 - kappa)) ** 2
    return kappa, math.sqrt(max(0.0, spread) / count) / (1 - by_chance)


def _rogan_gladen(calibration: Calibration, share: float) -> float | None:
    if calibration.passes_found is None or calibration.failures_found is None:
        return None
    told_apart = calibration.passes_found + calibration.failures_found - 1
    if told_apart <= 0:
        return None
    return min(1.0, max(0.0, (share + calibration.failures_found - 1) / told_apart))


def _counted(places: list[int], size: int, total: int) -> float:
    """Of all ways to choose `size` places, twice the share of those whose sum is as far off, on the nearer side."""
    ways: list[dict[int, int]] = [{0: 1}, *({} for _ in range(size))]
    for place in places:
        for chosen in range(size, 0, -1):
            for known, count in ways[chosen - 1].items():
                ways[chosen][known + place] = ways[chosen].get(known + place, 0) + count
    low = sum(count for known, count in ways[size].items() if known <= total)
    high = sum(count for known, count in ways[size].items() if known >= total)
    return min(1.0, 2 * min(low, high) / math.comb(len(places), size))


def _normal(places: list[float], size: int, total: float) -> float:
    count = len(places)
    middle = size * (count + 1) / 2
    mean = sum(places) / count
    spread = math.sqrt(size * (count - size) * sum((place - mean) ** 2 for place in places) / (count * (count - 1)))
    if spread == 0:
        return 1.0
    off = max(0.0, abs(total - middle) - 0.5) / spread
    return min(1.0, 2 * (1 - normal().cdf(off)))
