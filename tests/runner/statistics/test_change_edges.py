"""What the reference values do not reach: large suites, drawn sums, and cases of which nothing is known."""

import random
from fractions import Fraction
from math import comb

import pytest
from change_verdicts import verdict_of

from runner.statistics import change, exact_tests
from runner.statistics.agreement import agreement_of, calibrated, corrected_rate
from runner.statistics.change import like_these
from runner.statistics.exact_tests import CaseRuns, ScoredCase, broken_cases
from runner.statistics.intervals import ratio_of
from runner.statistics.policies import KOfN, Sequential


def case(passed_a: int, runs_a: int, passed_b: int, runs_b: int) -> CaseRuns:
    return CaseRuns(passed_a=passed_a, runs_a=runs_a, passed_b=passed_b, runs_b=runs_b)


def some_cases(count: int, runs_a: int, runs_b: int, rate: float = 0.8) -> list[CaseRuns]:
    draw = random.Random(count)

    def passes(runs: int) -> int:
        return sum(draw.random() < rate for _ in range(runs))

    return [case(passes(runs_a), runs_a, passes(runs_b), runs_b) for _ in range(count)]


def sums_of(cases: list[CaseRuns]) -> dict[Fraction, Fraction]:
    """How probable each sum of differences is, by counting all ways."""
    sums = {Fraction(): Fraction(1)}
    for one in cases:
        added: dict[Fraction, Fraction] = {}
        for of_b in range(max(0, one.passed - one.runs_a), min(one.passed, one.runs_b) + 1):
            ways = comb(one.passed, of_b) * comb(one.runs - one.passed, one.runs_b - of_b)
            moved = Fraction(of_b, one.runs_b) - Fraction(one.passed - of_b, one.runs_a)
            for total, chance in sums.items():
                added[total + moved] = added.get(total + moved, Fraction()) + chance * ways / comb(one.runs, one.runs_b)
        sums = added
    return sums


@pytest.mark.parametrize("runs", [(1,), (3,), (1, 2, 5), (20, 19), (17, 19, 23)], ids=str)
def test_the_test_is_the_share_of_all_ways_to_deal_the_passes(runs: tuple[int, ...]) -> None:
    draw = random.Random(len(runs))
    made = [(draw.choice(runs), draw.choice(runs)) for _ in range(4 if len(runs) > 1 else 9)]
    cases = [case(draw.randint(0, a), a, draw.randint(0, b), b) for a, b in made]
    sums = sums_of(cases)
    seen = sum((Fraction(one.passed_b, one.runs_b) - Fraction(one.passed_a, one.runs_a) for one in cases), Fraction())
    below = float(sum(chance for total, chance in sums.items() if total < seen))
    tie = float(sums[seen])
    found = exact_tests._exact_tails([(one, 1) for one in cases if 0 < one.passed < one.runs], 10**9)
    assert found is not None
    assert found["worse"] == pytest.approx(below + tie / 2)
    assert found["worse_exact"] == pytest.approx(below + tie)
    assert found["better_exact"] == pytest.approx(1 - below)


def test_very_small_probabilities_are_exact() -> None:
    found = change.change_of([case(20, 20, 0, 20)] * 2)
    assert found.worse_exact == pytest.approx(comb(40, 20) ** -2)


@pytest.mark.parametrize(("keys", "steps"), [(0, 10**7), (50_000, 0)], ids=["many_sums", "much_work"])
@pytest.mark.parametrize(("runs_a", "runs_b"), [(5, 5), (20, 3), (4, 7)])
def test_the_normal_distribution_says_nearly_the_same_where_the_exact_one_is_too_much(
    monkeypatch: pytest.MonkeyPatch, runs_a: int, runs_b: int, keys: int, steps: int
) -> None:
    cases = some_cases(300, runs_a, runs_b)
    exact = change.change_of(cases)
    monkeypatch.setattr(exact_tests, "_KEYS", keys)
    normal = change.change_of(cases, steps)
    assert normal.worse != exact.worse
    assert normal.worse == pytest.approx(exact.worse, abs=0.005)
    assert normal.better == pytest.approx(exact.better, abs=0.005)
    assert normal.interval == exact.interval


def test_the_same_scores_give_the_same_verdict_and_drawn_sums_come_near_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = random.Random(3)
    cases = [ScoredCase(a=[draw.random(), draw.random()], b=[draw.random() - 0.1, draw.random()]) for _ in range(6)]
    listed = change.score_change_of(cases)
    monkeypatch.setattr(exact_tests, "_SUMS", 0)
    drawn = change.score_change_of(cases)
    assert drawn == change.score_change_of(cases)
    assert drawn.worse != listed.worse
    assert drawn.worse == pytest.approx(listed.worse, abs=0.02)


def test_splits_of_many_runs_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(4)
    cases = [
        ScoredCase(a=[draw.random() for _ in range(7)], b=[draw.random() - 0.2 for _ in range(7)]) for _ in range(2)
    ]
    drawn = change.score_change_of(cases)
    monkeypatch.setattr(exact_tests, "_SPLITS", 5000)
    listed = change.score_change_of(cases)
    assert drawn.worse != listed.worse
    assert drawn.worse == pytest.approx(listed.worse, abs=0.02)


def test_the_normal_distribution_of_scores_says_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(5)
    cases = [ScoredCase(a=[draw.random()], b=[draw.random() - 0.05]) for _ in range(120)]
    drawn = change.score_change_of(cases)
    monkeypatch.setattr(exact_tests, "MOST_DRAWN", 10)
    normal = change.score_change_of(cases)
    assert normal.worse != drawn.worse
    assert normal.worse == pytest.approx(drawn.worse, abs=0.02)


def test_signs_of_many_differences_are_drawn_and_of_very_many_taken_as_normal(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(7)
    differences = [draw.choice((-0.4, -0.2, 0.0, 0.2)) for _ in range(14)]
    listed = like_these(differences)
    monkeypatch.setattr(exact_tests, "_SUMS", 2)
    drawn = like_these(differences)
    monkeypatch.setattr(change, "MOST_DRAWN", 2)
    normal = like_these(differences)
    assert len({listed.worse, drawn.worse, normal.worse}) == 3
    assert drawn.worse == pytest.approx(listed.worse, abs=0.02)
    assert normal.worse == pytest.approx(listed.worse, abs=0.05)


def test_ten_thousand_cases_that_all_broke_are_all_named() -> None:
    cases = [case(20, 20, 0, 20)] * 10_000
    assert broken_cases(cases) == list(range(10_000))
    assert verdict_of(cases).verdict == "regressed"


def test_better_over_all_with_one_broken_case_is_regressed() -> None:
    cases = [case(0, 5, 5, 5)] * 30 + [case(5, 5, 0, 5)]
    found = verdict_of(cases)
    assert found.change.better is not None
    assert found.change.better < 0.025
    assert found.verdict == ("regressed" if found.broke else "improved")


@pytest.mark.parametrize("pairs", [[], [(0.0, 3.0)], [(1.0, 0.0), (0.0, 0.0)]])
def test_a_ratio_without_figures_is_none(pairs: list[tuple[float, float]]) -> None:
    assert ratio_of([a for a, _ in pairs], [b for _, b in pairs]) is None


def test_a_ratio_of_two_cases_has_no_interval() -> None:
    found = ratio_of([1.0, 2.0], [2.0, 4.5])
    assert found is not None
    assert found.interval is None
    assert found.ratio == pytest.approx((2 * 2.25) ** 0.5)


def test_no_runs_at_all_have_not_too_many_broken_ones() -> None:
    assert not change.broken_runs(0, 0, 0, 0).too_many


def test_a_sequential_test_that_is_cut_is_undecided() -> None:
    test = Sequential(good=0.9, bad=0.7, most=4)
    assert test.after("pppp").verdict == "undecided"
    assert test.after("ppbp").verdict is None
    assert test.after("ppbp").next_wave == 1


def test_outcomes_after_the_verdict_change_nothing() -> None:
    assert KOfN(need=1, most=3).after("pff") == KOfN(need=1, most=3).after("p")
    test = Sequential(good=0.9, bad=0.5)
    assert test.after("ffpppp") == test.after("ff")


def test_different_numbers_of_votes_have_an_agreement_but_no_fleiss_kappa() -> None:
    found = agreement_of([[0, 2], [1, 2], [2, 0]])
    assert found.fleiss_kappa is None
    assert found.agreement == pytest.approx((1 + 1 + 1) / 5)
    assert found.krippendorff_alpha is not None


def test_a_judge_that_passes_everything_is_not_trusted() -> None:
    labels = [True] * 95 + [False] * 5
    found = calibrated(labels, [True] * 100)
    assert found.agreement == 0.95
    assert (found.passes_found, found.failures_found) == (1.0, 0.0)
    assert found.words == "agreement not shown"
    assert corrected_rate(found, 100, 100).rate is None


def test_weights_of_labels_move_kappa_only() -> None:
    human = [True] * 12 + [False] * 12
    judge = [True] * 9 + [False] * 3 + [False] * 9 + [True] * 3
    plain = calibrated(human, judge)
    weighted = calibrated(human, judge, [9.0 if passed else 1.0 for passed in judge])
    assert plain.agreement == weighted.agreement
    assert plain.kappa != weighted.kappa
    assert calibrated(human, judge, [2.0] * 24).kappa == pytest.approx(plain.kappa)
