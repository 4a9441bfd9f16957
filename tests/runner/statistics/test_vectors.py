"""The figures against reference values that were made with scipy, statsmodels, scikit-learn and krippendorff. Each
vector names the call that made it."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist
from typing import Any

from change_verdicts import verdict_of
from table_tests import each

from runner.statistics import PassCount, agreement, change, intervals, policies
from runner.statistics.change import benjamini_hochberg, holm, reach_of
from runner.statistics.exact_tests import DRAWS, CaseRuns, ScoredCase, broken_cases, single_case
from runner.statistics.intervals import LOOK_LEVELS, ratio_of

NOT_ASKED = {"clopper_pearson", "judges_agree", "votes"}
"""Figures with vectors that nothing asks for."""
VECTORS = [
    vector
    for vector in json.loads((Path(__file__).parent / "verdict-vectors.json").read_text())["vectors"]
    if vector["statistic"] not in NOT_ASKED
]
Input = dict[str, Any]


def runs(cases: list[list[int]]) -> list[CaseRuns]:
    return [CaseRuns(passed_a=a, runs_a=m, passed_b=b, runs_b=n) for a, m, b, n in cases]


def ends(interval: intervals.Interval | None) -> Input:
    return {"low": interval.low if interval else None, "high": interval.high if interval else None}


def changed(found: change.MeanDifference) -> Input:
    return {
        **{name: getattr(found, name) for name in CHANGE},
        **ends(found.interval),
    }


CHANGE = ("difference", "worse", "better", "worse_exact", "better_exact", "standard_error")


def scored(cases: list[list[list[float]]]) -> list[ScoredCase]:
    return [ScoredCase(a=a, b=b) for a, b in cases]


def mean_interval(values: list[float], level: float) -> Input:
    found = intervals.mean_of(values, level)
    return {"mean": found.value, **ends(found.interval)}


def suite_rate(cases: list[tuple[int, int]]) -> Input:
    found = intervals.suite_rate([PassCount(passed=passed, judged=judged) for passed, judged in cases])
    return {"rate": found.value, "effective_runs": found.effective_runs, **ends(found.interval)}


def like_these(differences: list[float]) -> Input:
    found = change.like_these(differences)
    return {"mean": found.mean, "worse": found.worse, **ends(found.interval)}


def single(case: list[int]) -> Input:
    found = single_case(runs([case])[0])
    return {"p": found.p, "least": found.least}


def broken(cases: list[list[int]], alpha: float) -> Input:
    tests = [single(case) for case in cases]
    return {
        "p": [test["p"] for test in tests],
        "least": [test["least"] for test in tests],
        "found": broken_cases(runs(cases), alpha),
        "plain_holm_finds": [
            place for place, p in enumerate(holm([test["p"] for test in tests])) if p <= alpha + 1e-12
        ],
    }


def adjusted(p: list[float]) -> Input:
    return {"holm": holm(p), "benjamini_hochberg": benjamini_hochberg(p)}


def detectable(cases: list[list[int]], target: float) -> Input:
    found = reach_of(runs(cases), target)
    return {name: getattr(found, name) for name in ("detectable", "runs_each", "runs_of_b")}


def verdict(cases: list[list[int]], margin: float) -> Input:
    found = verdict_of(runs(cases), margin)
    return {"verdict": found.verdict, "broken": found.broke, "suspects": found.suspects}


def policy(need: int, of: int, outcomes: str) -> Input:
    found = policies.KOfN(need=need, most=of).after(outcomes)
    return {
        "verdict": found.verdict,
        "stopped_after": found.decided_after,
        "judged": found.judged,
        "passed": found.passed,
        "next_wave": found.next_wave,
    }


def sequential(**how: Any) -> Input:
    test = policies.Sequential(**how)
    return {
        "step_pass": test.step_pass,
        "step_fail": test.step_fail if math.isfinite(test.step_fail) else "-inf",
        "pass_at": test.pass_at,
        "fail_at": test.fail_at,
        "at": [
            {name: getattr(rates, name) for name in ("rate", "passed", "failed", "undecided", "mean_runs")}
            for rates in test.exact_errors()
        ],
    }


def samples_agree(table: list[list[int]]) -> Input:
    found = agreement.agreement_of(table)
    return {name: getattr(found, name) for name in ("agreement", "fleiss_kappa", "krippendorff_alpha")}


def calibration(human: list[int], judge: list[int]) -> Input:
    found = agreement.calibrated([bool(label) for label in human], [bool(label) for label in judge])
    return {
        **{name: getattr(found, name) for name in COUNTS},
        "agreement_low": found.agreement_interval.low,
        "agreement_high": found.agreement_interval.high,
        "kappa_se": found.kappa_error,
        "kappa_low": found.kappa_interval.low if found.kappa_interval else None,
        "kappa_high": found.kappa_interval.high if found.kappa_interval else None,
    }


COUNTS = "both_pass judge_too_strict judge_too_lenient both_fail agreement kappa passes_found failures_found".split()


def score_calibration(human: list[float], judge: list[float]) -> Input:
    found = agreement.calibrated_scores(human, judge)
    return {
        "spearman": found.spearman,
        "bias": found.bias,
        "bias_low": ends(found.bias_interval)["low"],
        "bias_high": ends(found.bias_interval)["high"],
        "mean_absolute_error": found.mean_absolute_error,
    }


def corrected_rate(table: list[int], judge_passed: int, judged: int) -> Input:
    both, strict, lenient, neither = table
    human = [True] * (both + strict) + [False] * (lenient + neither)
    judge = [True] * both + [False] * strict + [True] * lenient + [False] * neither
    found = agreement.corrected_rate(agreement.calibrated(human, judge), judge_passed, judged)
    return {"rate": found.rate, "rogan_gladen": found.rogan_gladen, **ends(found.interval)}


def components(data: list[list[list[float]]]) -> Input:
    found = agreement.components_of(data)
    assert found is not None
    return {name: getattr(found, name) for name in ("judge", "agent", "case", "agent_before_cut")}


def ratio(a: list[float], b: list[float]) -> Input:
    found = ratio_of(a, b)
    assert found is not None
    return {"ratio": found.ratio, "p": found.p, **ends(found.interval)}


def too_many(a: list[int], b: list[int]) -> Input:
    found = change.broken_runs(a[0], a[1], b[0], b[1])
    return {name: getattr(found, name) for name in ("p", "share_b", "too_many")}


FIGURES: dict[str, Callable[..., Input]] = {
    "wilson": lambda **how: ends(intervals.wilson(**how)),
    "t_quantile": lambda probability, df: {"t": intervals.t_quantile(probability, df)},
    "mean_interval": mean_interval,
    "suite_rate": suite_rate,
    "change": lambda cases: changed(change.change_of(runs(cases))),
    "score_change": lambda cases: changed(change.score_change_of(scored(cases))),
    "like_these": like_these,
    "case_worse": single,
    "broken_cases": broken,
    "adjusted": adjusted,
    "detectable": detectable,
    "verdict": verdict,
    "policy": policy,
    "sequential": sequential,
    "looks": lambda looks, alpha: {"level_of_each_look": LOOK_LEVELS[looks - 1]},
    "samples_agree": samples_agree,
    "calibration": calibration,
    "weighted_kappa": lambda **how: {"quadratic": agreement.weighted_kappa(**how)},
    "score_calibration": score_calibration,
    "corrected_rate": corrected_rate,
    "components": components,
    "best_samples": lambda **how: {"samples": agreement.best_samples(**how)},
    "ratio": ratio,
    "broken_runs": too_many,
}
NOT_GIVEN = {
    "weighted_kappa": {"linear"},
    "best_samples": {"unrounded"},
    "sequential": {"clean_runs_to_pass", "straight_failures_to_fail"},
}
"""Keys of vectors for figures that nothing asks for."""
DRAWN = {"worse", "better", "worse_exact", "better_exact"}


@each("vector", VECTORS, ids=lambda vector: vector["id"])
def test_a_figure_is_that_of_the_reference(vector: Input) -> None:
    kind, tolerance = vector["statistic"], vector["tolerance"]
    found = FIGURES[kind](**vector["input"])
    drawn = kind == "score_change" and ways(vector["input"]["cases"]) > 100_000
    for name, wanted in vector["output"].items():
        if name not in NOT_GIVEN.get(kind, ()):
            slack = 4 * math.sqrt(wanted * (1 - wanted) / DRAWS) + 1e-3 if drawn and name in DRAWN else tolerance
            assert close(found[name], wanted, slack), (name, found[name], wanted)


def ways(cases: list[list[list[float]]]) -> int:
    return math.prod(math.comb(len(a) + len(b), len(a)) for a, b in cases)


def close(found: Any, wanted: Any, tolerance: float) -> bool:
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(
            close(one, other, tolerance) for one, other in zip(found, wanted, strict=True)
        )
    if isinstance(wanted, dict):
        return all(close(found[name], value, tolerance) for name, value in wanted.items())
    if isinstance(wanted, bool | str) or wanted is None or found is None:
        return bool(found == wanted)
    return bool(abs(found - wanted) <= tolerance * max(1, abs(wanted)))


def test_every_figure_has_vectors() -> None:
    assert {vector["statistic"] for vector in VECTORS} == set(FIGURES)


def test_standard_errors_are_those_of_the_normal_distribution() -> None:
    assert NormalDist().inv_cdf(0.975) == intervals.Z
    assert intervals.Z + NormalDist().inv_cdf(0.8) == intervals.SEEN
