"""What the reference values do not reach: large suites, drawn sums, and cases of which nothing is known."""

import random

import pytest

from runner.statistics import change
from runner.statistics.agreement import agreement_of, calibrated, corrected_rate, votes_of
from runner.statistics.repeats import KOfN, Sequential


def case(passed_a: int, runs_a: int, passed_b: int, runs_b: int) -> change.CaseRuns:
    return change.CaseRuns(passed_a=passed_a, runs_a=runs_a, passed_b=passed_b, runs_b=runs_b)


def some_cases(count: int, runs_a: int, runs_b: int, rate: float = 0.8) -> list[change.CaseRuns]:
    draw = random.Random(count)

    def passes(runs: int) -> int:
        return sum(draw.random() < rate for _ in range(runs))

    return [case(passes(runs_a), runs_a, passes(runs_b), runs_b) for _ in range(count)]


@pytest.mark.parametrize(("keys", "steps"), [(0, 10**7), (50_000, 0)], ids=["many_sums", "much_work"])
@pytest.mark.parametrize(("runs_a", "runs_b"), [(5, 5), (20, 3), (4, 7)])
def test_the_normal_distribution_says_nearly_the_same_where_the_exact_one_is_too_much(
    monkeypatch: pytest.MonkeyPatch, runs_a: int, runs_b: int, keys: int, steps: int
) -> None:
    cases = some_cases(300, runs_a, runs_b)
    exact = change.change_of(cases)
    monkeypatch.setattr(change, "_KEYS", keys)
    monkeypatch.setattr(change, "_STEPS", steps)
    normal = change.change_of(cases)
    assert normal.worse != exact.worse
    assert normal.worse == pytest.approx(exact.worse, abs=0.005)
    assert normal.better == pytest.approx(exact.better, abs=0.005)
    assert normal.interval == exact.interval


def test_the_same_scores_give_the_same_verdict_and_drawn_sums_come_near_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = random.Random(3)
    cases = [
        change.ScoredCase(a=[draw.random(), draw.random()], b=[draw.random() - 0.1, draw.random()]) for _ in range(6)
    ]
    listed = change.score_change_of(cases)
    monkeypatch.setattr(change, "_SUMS", 0)
    drawn = change.score_change_of(cases)
    assert drawn == change.score_change_of(cases)
    assert drawn.worse != listed.worse
    assert drawn.worse == pytest.approx(listed.worse, abs=0.02)


def test_splits_of_many_runs_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(4)
    cases = [
        change.ScoredCase(a=[draw.random() for _ in range(7)], b=[draw.random() - 0.2 for _ in range(7)])
        for _ in range(2)
    ]
    drawn = change.score_change_of(cases)
    monkeypatch.setattr(change, "_SPLITS", 5000)
    listed = change.score_change_of(cases)
    assert drawn.worse != listed.worse
    assert drawn.worse == pytest.approx(listed.worse, abs=0.02)


def test_the_normal_distribution_of_scores_says_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(5)
    cases = [change.ScoredCase(a=[draw.random()], b=[draw.random() - 0.05]) for _ in range(120)]
    drawn = change.score_change_of(cases)
    monkeypatch.setattr(change, "_DRAWN_CASES", 10)
    normal = change.score_change_of(cases)
    assert normal.worse != drawn.worse
    assert normal.worse == pytest.approx(drawn.worse, abs=0.02)


def test_signs_of_many_differences_are_drawn_and_of_very_many_taken_as_normal(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(7)
    differences = [draw.choice((-0.4, -0.2, 0.0, 0.2)) for _ in range(14)]
    listed = change.like_these(differences)
    monkeypatch.setattr(change, "_SIGNED", 2)
    drawn = change.like_these(differences)
    monkeypatch.setattr(change, "_DRAWN_CASES", 2)
    normal = change.like_these(differences)
    assert len({listed.worse, drawn.worse, normal.worse}) == 3
    assert drawn.worse == pytest.approx(listed.worse, abs=0.02)
    assert normal.worse == pytest.approx(listed.worse, abs=0.05)


def test_ten_thousand_cases_that_all_broke_are_all_named() -> None:
    cases = [case(20, 20, 0, 20)] * 10_000
    assert change.broken_cases(cases) == list(range(10_000))
    assert change.verdict_of(cases).verdict == "regressed"


def test_better_over_all_with_one_broken_case_is_regressed() -> None:
    cases = [case(0, 5, 5, 5)] * 30 + [case(5, 5, 0, 5)]
    found = change.verdict_of(cases)
    assert found.change.better is not None
    assert found.change.better < 0.025
    assert found.verdict == ("regressed" if found.broke else "improved")


@pytest.mark.parametrize("pairs", [[], [(0.0, 3.0)], [(1.0, 0.0), (0.0, 0.0)]])
def test_a_ratio_without_figures_is_none(pairs: list[tuple[float, float]]) -> None:
    assert change.ratio_of([a for a, _ in pairs], [b for _, b in pairs]) is None


def test_a_ratio_of_two_cases_has_no_interval() -> None:
    found = change.ratio_of([1.0, 2.0], [2.0, 4.5])
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
    assert KOfN(need=1, of=3).after("pff") == KOfN(need=1, of=3).after("p")
    test = Sequential(good=0.9, bad=0.5)
    assert test.after("ffpppp") == test.after("ff")


def test_a_quorum_is_more_than_half() -> None:
    assert votes_of([True, True, False, False], quorum=0.5).verdict == "inconclusive"
    assert votes_of([True, True, True, False], quorum=0.5).verdict == "passed"


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
    assert found.words == "not shown to agree"
    assert corrected_rate(found, 100, 100).rate is None


def test_weights_of_labels_move_kappa_only() -> None:
    human = [True] * 12 + [False] * 12
    judge = [True] * 9 + [False] * 3 + [False] * 9 + [True] * 3
    plain = calibrated(human, judge)
    weighted = calibrated(human, judge, [9.0 if passed else 1.0 for passed in judge])
    assert plain.agreement == weighted.agreement
    assert plain.kappa != weighted.kappa
    assert calibrated(human, judge, [2.0] * 24).kappa == pytest.approx(plain.kappa)
