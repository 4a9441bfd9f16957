"""Whether a run is worse than an older one, as `yao-test diff` says it: the verdict, what it rests on, and the exit codes
of its gates."""

from __future__ import annotations

import json

import pytest
from two_reports import (
    STEADY,
    Pairs,
    Results,
    cases,
    runs,
)

BEGINS = {
    "regressed": "Regressed: ",
    "improved": "Improved: ",
    "unchanged": "Unchanged: ",
    "cannot_tell": ("1 of", "4 of", "The only case got worse. Too", "All 71 cases passed equally often. Too"),
}
"""Verdict → how its sentence begins."""
VERDICTS: dict[str, tuple[Results, Results, str, list[str], tuple[int, int]]] = {
    # A, B, verdict, cases that broke, exit codes of --fail-on regressed and unsure
    "two of thirty broke": (
        STEADY,
        {**STEADY, "c3": runs("fffff"), "c9": runs("fffff")},
        "regressed",
        ["c3", "c9"],
        (1, 1),
    ),
    "one of thirty broke": (STEADY, {**STEADY, "c3": runs("fffff")}, "regressed", ["c3"], (1, 1)),
    "a little of everything": (
        cases(40, "ppppp"),
        {**cases(20, "ppppp"), **{f"c{at}": runs("pppff") for at in range(20, 40)}},
        "regressed",
        [],
        (1, 1),
    ),
    "five of five fell": (cases(5, "p"), cases(5, "f"), "regressed", [], (1, 1)),
    "four of five fell": (cases(5, "p"), {**cases(4, "f"), "c4": runs("p")}, "cannot_tell", [], (0, 1)),
    "one of one fell": (cases(1, "p"), cases(1, "f"), "cannot_tell", [], (0, 1)),
    "four of thirty fell": (cases(30, "p"), {**cases(30, "p"), **cases(4, "f")}, "cannot_tell", [], (0, 1)),
    "many fixed": (cases(20, "ff"), cases(20, "pp"), "improved", [], (0, 0)),
    "better, and one broke": (
        {**cases(20, "f" * 10), "x": runs("p" * 10)},
        {**cases(20, "p" * 10), "x": runs("f" * 10)},
        "regressed",
        ["x"],
        (1, 1),
    ),
    "nothing differs, few runs": (cases(71, "p"), cases(71, "p"), "cannot_tell", [], (0, 1)),
    "nothing differs, enough runs": (cases(72, "p"), cases(72, "p"), "unchanged", [], (0, 0)),
    "a suspect is not unchanged": (
        cases(400, "p"),
        {**cases(400, "p"), "c0": runs("f")},
        "cannot_tell",
        [],
        (0, 1),
    ),
    "unequal numbers of runs": (cases(30, "p" * 20), {**cases(30, "ppp"), "c1": runs("fff")}, "regressed", ["c1"], (1, 1)),
}  # fmt: skip


@pytest.mark.parametrize(("a", "b", "word", "broke", "codes"), VERDICTS.values(), ids=VERDICTS)
def test_the_verdict_and_its_gates(
    pair_of: Pairs, a: Results, b: Results, word: str, broke: list[str], codes: tuple[int, int]
) -> None:
    pair = pair_of(a, b)
    regressed, unsure = pair.diff("--fail-on", "regressed", "-o", "d.json"), pair.diff("--fail-on", "unsure")
    found = json.loads((pair.root / "d.json").read_text())["verdict"]

    assert (found["verdict"], found["broke"]) == (word, broke)
    assert regressed.stdout.startswith(BEGINS[word])
    assert (regressed.code, unsure.code) == codes


def test_the_document_has_these_figures(pair_of: Pairs) -> None:
    found = pair_of(cases(1, "p"), cases(1, "f")).verdict()

    assert {key: found[key] for key in ("measure", "cases", "runs", "rates", "difference", "worse", "suspects")} == {
        "measure": "passed",
        "cases": 1,
        "runs": {"a": 1, "b": 1},
        "rates": {"a": 1.0, "b": 0.0},
        "difference": -1.0,
        "worse": 0.25,
        "suspects": ["c0"],
    }
    assert {key: found[key] for key in ("margin", "level", "noise", "looks", "broke")} == {
        "margin": 0.05,
        "level": 0.95,
        "noise": "runs",
        "looks": 1,
        "broke": [],
    }
    assert found["interval"][0] == -1.0
    assert found["runs_needed"]["target"] == 0.05 and found["runs_needed"]["cost"] is None
    assert found["left_out"]["broken"] == found["left_out"]["inconclusive"] == {"a": 0, "b": 0}
    assert found.keys() >= {"better", "detectable", "like_these", "interval"}


def test_the_example_of_the_design(pair_of: Pairs) -> None:
    a = {**cases(28, "p"), **cases(2, "f", "f")}
    b = {**a, **{f"c{at}": runs("f") for at in range(4)}, **{f"f{at}": runs("p") for at in range(2)}}
    a = {id: [{**line, "usage": {"input_tokens": 1, "output_tokens": 1, "cost": 0.002}} for line in made] for id, made in a.items()}  # fmt: skip
    found = pair_of(a, b).verdict()

    assert (found["difference"], found["interval"]) == (-0.066667, [pytest.approx(-0.2395, abs=1e-4), pytest.approx(0.1062, abs=1e-4)])  # fmt: skip
    assert (found["worse"], found["better"]) == (pytest.approx(0.2266, abs=1e-4), pytest.approx(0.7734, abs=1e-4))
    assert found["detectable"] == pytest.approx(0.2471, abs=1e-4)
    assert found["runs_needed"] == {"target": 0.05, "each": 21, "of_b": None, "cost": pytest.approx(2.4)}
    assert pair_of(a, b).said() == [
        "4 of 30 cases got worse, 2 got better. Too few runs to be sure.",
        "  To find out whether these 4 cases really got worse, run each 5 times on both sides (40 runs, about $0.08): "
        "yao-test -i c.jsonl --run '^(c0|c1|c2|c3)$' --runs 5 -o again.jsonl",
        "  These runs would detect a drop of 24.7 points four times out of five.",
        "  Detecting a 5-point difference would take 20 more runs on each side (1,200 in total, about $2.40).",
        "  For similar cases, expect a difference of -23.5 to +10.1 points.",
    ]


def test_the_console_begins_with_the_verdict_and_shows_what_it_rests_on(pair_of: Pairs) -> None:
    run = pair_of(STEADY, {**STEADY, "c3": runs("fffff")}).diff("--fail-on", "regressed", "-v")

    assert (run.code, run.stderr) == (1, "")
    assert run.stdout == (
        "Regressed: 1 of 30 cases got worse.\n"
        "  A: a.jsonl, B: b.jsonl\n\n"
        "  Case  A    B    p      Verdict\n"
        "  c3    5/5  0/5  0.004  worse\n\n"
        "  Measure         A                 B                   Difference                  Verdict\n"
        "  Case pass rate  100% (88.6-100%)  96.7% (83.3-99.4%)  -3.3 points (-5.9 to -0.8)  regressed\n"
        "  Duration        100ms             100ms               x1.00                       unchanged\n\n"
        "New failures (1)\n  c.jsonl › c3: passed → failed (5 of 5 → 0 of 5 runs passed)\n    no\n\n"
        "1 result looks worse\n"
    )


def test_statistics_are_shown_with_v_and_in_reports_only(pair_of: Pairs) -> None:
    pair = pair_of(STEADY, {**STEADY, "c3": runs("ppfff")})
    plain, detailed = pair.diff("-o", "d.md"), pair.diff("-v")

    assert plain.stdout.startswith(
        "1 of 30 cases got worse. Too few runs to be sure.\n  To find out whether this case "
    )
    for text in (detailed.stdout, (pair.root / "d.md").read_text()):
        assert all(said in text for said in ("These runs would detect", "For similar cases, expect", " to ", "0.0"))
    assert not any(
        said in plain.stdout
        for said in ("These runs would detect", "expect a difference", "Detecting", "  p  ", "(88.6")
    )


def test_markdown_begins_with_the_verdict(pair_of: Pairs) -> None:
    pair = pair_of(STEADY, {**STEADY, "c3": runs("fffff")})
    assert pair.diff("-o", "d.md").code == 0

    text = (pair.root / "d.md").read_text()
    assert text.startswith("# Changes\n\n**Regressed: 1 of 30 cases got worse.**\n\n| Measure        | A ")
    assert "| c3   | 5/5 | 0/5 | 0.004 | worse   |\n" in text
    assert "\n1 result looks worse\n" in text


@pytest.mark.parametrize("gate", ["--fail-on=regressed", "--fail-on=unsure"])
def test_a_gate_that_nothing_could_fail_is_none(pair_of: Pairs, gate: str) -> None:
    everything = pair_of(cases(5, "p"), cases(5, "e"))
    run = everything.diff(gate)

    assert run.code == 1
    assert run.stdout.splitlines()[:3] == [
        "No verdict: 5 of 5 runs of B ended with an error (A: 0).",
        "  5 of 5 cases of A lack a result in B: --fail-on fails.",
        "  5 cases without a result on one side: c0, c1, c2, c3, c4.",
    ]
    assert everything.diff().code == 0


@pytest.mark.parametrize(
    ("a", "b", "code", "line"),
    [
        ("p" * 100, "e" * 31 + "p" * 69, 1, "No verdict: 31 of 100 runs of B ended with an error (A: 0)."),
        ("p" * 100, "e" * 15 + "p" * 85, 1, "No verdict: 15 of 100 runs of B ended with an error (A: 0)."),
        ("e" * 12 + "p" * 88, "e" * 15 + "p" * 85, 0, "Unchanged: any difference is within 5 points."),
        ("p" * 100, "e" * 9 + "p" * 91, 0, "Unchanged: any difference is within 5 points."),
    ],
)
def test_too_many_broken_runs_are_no_verdict(pair_of: Pairs, a: str, b: str, code: int, line: str) -> None:
    """Over 20 %, or over 10 % and more than chance explains."""
    pair = pair_of(
        *({f"c{at}": runs(mark) for at, mark in enumerate(marks)} for marks in (a, b)),
    )

    assert pair.said()[0] == line
    assert pair.diff("--fail-on", "regressed").code == code


@pytest.mark.parametrize(("removed", "code"), [(2, 0), (3, 1)])
def test_a_removed_case_is_said_and_over_a_fifth_stop_the_gate(pair_of: Pairs, removed: int, code: int) -> None:
    pair = pair_of(cases(10, "p" * 8), cases(10 - removed, "p" * 8))
    run = pair.diff("--fail-on", "regressed")

    assert run.code == code
    named = ", ".join(f"c{at}" for at in range(10 - removed, 10))
    assert f"  {removed} cases only in A: {named}." in pair.said()
    assert (f"  {removed} of 10 cases of A lack a result in B: --fail-on fails." in run.stdout) is bool(code)
    assert [key["id"] for key in pair.verdict()["left_out"]["removed"]] == named.split(", ")


def test_skipped_cases_of_a_need_no_verdict_in_b(pair_of: Pairs) -> None:
    assert pair_of({**cases(10, "p"), **cases(10, "s", "s")}, cases(10, "p")).diff("--fail-on", "regressed").code == 0
