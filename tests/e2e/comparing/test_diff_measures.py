"""What `yao-test diff` measures: scores, criteria and tags, the margin, and runs without noise."""

from __future__ import annotations

import re
from typing import Any

import pytest
from two_reports import (
    FLAKY,
    SCRIPTS,
    Pairs,
    cases,
    polite,
    runs,
    scored,
    written,
)

SCORES: dict[str, tuple[list[object], list[object], str]] = {
    "lower": ([0.9, 0.85], [0.6, 0.65], "regressed"),
    "higher": ([0.6, 0.65], [0.9, 0.85], "improved"),
    "within a point": ([0.8, 0.79], [0.79, 0.8], "unchanged"),
    "scattered": ([0.2, 0.9], [0.9, 0.1], "cannot_tell"),
}


@pytest.mark.parametrize(("a", "b", "word"), SCORES.values(), ids=SCORES)
def test_scores_decide_when_asked_to(pair_of: Pairs, a: list[object], b: list[object], word: str) -> None:
    pair = pair_of(*({f"c{at}": scored(*side) for at in range(10)} for side in (a, b)))
    found = pair.verdict("--measure", "score")

    assert (found["verdict"], found["measure"]) == (word, "score")
    assert pair.verdict()["verdict"] == "cannot_tell", "all of them passed"
    assert any(part["kind"] == "score" for part in pair.verdict()["parts"])


@pytest.mark.parametrize("odd", [None, 7, -0.1, 1.5, float("nan"), float("inf")])
def test_what_is_no_score_is_counted_and_not_compared(pair_of: Pairs, odd: object) -> None:
    a = {f"c{at}": scored(0.8) for at in range(9)}
    pair = pair_of({**a, "x": scored(0.8)}, {**a, "x": scored(odd)})
    found = pair.verdict("--measure", "score")

    assert (found["cases"], found["left_out"]["no_score"]) == (9, {"a": 0, "b": 1})
    assert "  Not counted (without score): 0 runs in A, 1 in B." in pair.said("--measure", "score")
    assert "NaN" not in (pair.root / "d.json").read_text()


@pytest.mark.parametrize("format", ["jsonl", "json"])
def test_a_criterion_decides_when_asked_to(pair_of: Pairs, format: str) -> None:
    pair = pair_of({f"c{at}": polite("pp") for at in range(20)}, {f"c{at}": polite("ff") for at in range(20)})
    for name in "ab":
        assert pair.run("show", f"{name}.jsonl", "-o", f"{name}.json").code == 0
    run = pair.run("diff", f"a.{format}", f"b.{format}", "--measure", "polite", "--fail-on", "regressed", "-v")

    assert run.code == 1
    assert "  criterion polite  100% (" in run.stdout
    plain = pair.run("diff", f"a.{format}", f"b.{format}").stdout
    assert re.search(r"^  criterion polite +100% +0% +-100.0 points +worth a look$", plain, re.M)


def test_tags_are_looked_at_and_decide_nothing(pair_of: Pairs) -> None:
    tagged = {**cases(40, "p", tags=["trip"]), **cases(4, "pp", "r", tags=["refund"])}
    found = pair_of(tagged, {**tagged, **cases(4, "fp", "r", tags=["refund"])}).verdict()

    assert found["verdict"] == "cannot_tell"
    assert [(part["kind"], part["name"], part["cases"]) for part in found["parts"]] == [
        ("tag", "refund", 4),
        ("tag", "trip", 40),
    ]
    assert found["parts"][0]["rates"] == {"a": 1.0, "b": 0.5}


def test_the_margin_is_what_does_not_matter(pair_of: Pairs) -> None:
    pair = pair_of(cases(72, "p"), cases(72, "p"))

    assert [pair.verdict("--margin", margin)["verdict"] for margin in ("4", "5", "20")] == [
        "cannot_tell",
        "unchanged",
        "unchanged",
    ]
    assert pair.said("--margin", "20")[0] == "Unchanged: any difference is within 20 points."


STEADY_RUNS: dict[str, Any] = {
    "scripted": lambda marks: written({f"c{at}": runs(m, connector="scripted") for at, m in enumerate(marks)}),
    "replayed": lambda marks: written({f"c{at}": runs(m) for at, m in enumerate(marks)}, flags=["--replay", "r"]),
    "scripts": lambda marks: written(
        {f"c{at}": [{**line, "input": None} for line in runs(m)] for at, m in enumerate(marks)}, SCRIPTS
    ),
}


@pytest.mark.parametrize("make", STEADY_RUNS.values(), ids=STEADY_RUNS)
def test_runs_without_noise_need_no_test(pair_of: Pairs, make: Any) -> None:
    worse, same, better = (pair_of(make(a), make(b)) for a, b in (("ppp", "pfp"), ("ppp", "ppp"), ("pfp", "ppp")))

    assert [pair.verdict()["verdict"] for pair in (worse, same, better)] == ["regressed", "unchanged", "improved"]
    assert worse.said()[1] == "  These answers are deterministic, so every difference is real."
    assert worse.diff("--fail-on", "regressed").code == 1
    assert same.diff("--fail-on", "unsure").code == 0
    assert worse.verdict("--noise", "runs")["verdict"] == "cannot_tell"
    assert worse.verdict()["interval"] is None
    assert "Case pass rate  100%  " in worse.diff("-v").stdout, "a rate without noise has no interval"


def test_skipped_cases_are_no_noise(pair_of: Pairs) -> None:
    skipped = {"later": runs("s", connector=None)}
    a, b = ({f"c{at}": runs(m, connector="scripted") for at, m in enumerate(marks)} for marks in ("ppp", "pfp"))
    pair = pair_of({**a, **skipped}, {**b, **skipped})

    assert (pair.verdict()["verdict"], pair.verdict()["noise"]) == ("regressed", "none")
    assert pair.diff("--fail-on", "regressed").code == 1


def test_runs_that_differ_are_not_without_noise(pair_of: Pairs) -> None:
    flaky = {f"c{at}": runs("pf", connector="scripted") for at in range(3)}

    assert pair_of(flaky, flaky).verdict()["noise"] == "runs"
    assert pair_of(flaky, flaky).verdict("--noise", "none")["noise"] == "none"


def test_one_new_failure_is_enough_for_the_old_gate(pair_of: Pairs) -> None:
    pair = pair_of(FLAKY, {**FLAKY, "c0": runs("f")})

    assert (pair.diff("--fail-on", "regressed").code, pair.diff("--fail-on-regression").code) == (0, 1)
    assert pair.diff("--fail-on", "regressed").stdout.splitlines()[-1] == (
        '--fail-on regressed accepts the verdict "cannot tell"; --fail-on unsure does not.'
    )
