"""Which cases `yao-test diff` compares, and with which reports: what changed, what is there twice, several reports, and what
cannot be compared."""

from __future__ import annotations

import json
import re

import pytest
from command import MakeApplication, Record
from two_reports import (
    STEADY,
    Pairs,
    Results,
    cases,
    polite,
    runs,
    scored,
    written,
)

CHANGED: dict[str, tuple[Record, Record, bool]] = {
    "digest": ({"digest": "1"}, {"digest": "2"}, True),
    "same digest, other words": ({"digest": "1", "input": "x"}, {"digest": "1", "input": "y"}, False),
    "fingerprint": ({"fingerprint": {"case": "1"}}, {"fingerprint": {"case": "2"}}, True),
    "input": ({"input": "x"}, {"input": "y"}, True),
    "expected": ({"expected": 1}, {"expected": 2}, True),
    "what is asserted": (
        {"assertions": [{"type": "contains", "value": "x", "passed": True}]},
        {"assertions": [{"type": "contains", "value": "y", "passed": True}]},
        True,
    ),
    "how an assertion ended": (
        {"assertions": [{"type": "contains", "value": "x", "passed": True}]},
        {"assertions": [{"type": "contains", "value": "x", "passed": False, "message": "no"}]},
        False,
    ),
    "one has no digest": ({"digest": "1"}, {}, False),
}


@pytest.mark.parametrize(("a", "b", "is_changed"), CHANGED.values(), ids=CHANGED)
def test_a_case_that_says_something_else_is_named_and_not_compared(
    pair_of: Pairs, a: Record, b: Record, is_changed: bool
) -> None:
    pair = pair_of({**cases(9, "p"), "x": runs("p", **a)}, {**cases(9, "p"), "x": runs("f", **b)})
    found = pair.verdict()

    assert (found["cases"], found["left_out"]["changed"]) == (
        (9, [{"suite": "c.jsonl", "id": "x"}]) if is_changed else (10, [])
    )
    assert ("  1 case changed and not compared: x." in pair.said()) is is_changed


def test_json_reports_are_compared_like_their_jsonl(pair_of: Pairs) -> None:
    pair = pair_of(
        {**STEADY, "y": runs("p", input="old")}, {**STEADY, "c3": runs("fffff"), "y": runs("p", input="new")}
    )
    for name in "ab":
        assert pair.run("show", f"{name}.jsonl", "-o", f"{name}.json").code == 0
    assert pair.run("diff", "a.json", "b.json", "-o", "j.json").code == 0

    of_json = json.loads((pair.root / "j.json").read_text())["verdict"]
    assert of_json == pair.verdict()
    assert (of_json["broke"], of_json["left_out"]["changed"]) == (["c3"], [{"suite": "c.jsonl", "id": "y"}])


def test_of_doubled_lines_the_last_one_counts(pair_of: Pairs) -> None:
    twice = written(cases(9, "p")).splitlines(keepends=True)
    twice.insert(2, twice[1].replace('"passed"', '"failed"'))
    again = written({"x": [*runs("fff"), *runs("ppp")], **cases(9, "p")})
    pair = pair_of("".join(twice), again)
    found = pair.verdict()

    assert found["rates"] == {"a": pytest.approx(8 / 9, abs=1e-6), "b": 1.0}
    assert found["left_out"]["doubled"] == {"a": 1, "b": 3}
    assert "  Not counted (with a duplicate name): 1 run in A, 3 in B." in pair.said()


def test_each_of_several_is_compared_with_the_first(app: MakeApplication) -> None:
    here = app(
        {
            "/a.jsonl": written(STEADY),
            "/b.jsonl": written(STEADY),
            "/c.jsonl": written({**STEADY, "c3": runs("fffff")}),
        }
    )
    run = here.run(
        "diff", "a.jsonl", "b.jsonl", "c.jsonl", "--fail-on", "regressed", "-v", "-o", "d.json", "-o", "d.md"
    )

    assert run.code == 1
    found = json.loads((here.root / "d.json").read_text())
    assert [(one["a"], one["b"], one["verdict"], one["broke"]) for one in found["verdicts"]] == [
        ("a.jsonl", "b.jsonl", "unchanged", []),
        ("a.jsonl", "c.jsonl", "regressed", ["c3"]),
    ]
    assert "verdict" not in found
    assert run.stdout.splitlines()[-6:-2] == [
        "  Report   Case pass rate      Duration  Difference                  Verdict",
        "  a.jsonl  100% (88.6-100%)    100ms",
        "  b.jsonl  100% (88.6-100%)    100ms     0.0 points (-2.4 to +2.4)   unchanged",
        "  c.jsonl  96.7% (83.3-99.4%)  100ms     -3.3 points (-5.9 to -0.8)  regressed",
    ]
    assert "| c.jsonl | 96.7% (83.3-99.4%) | 100ms " in (here.root / "d.md").read_text()
    assert run.stdout.startswith("b.jsonl: Unchanged: ")
    assert "\nc.jsonl: Regressed: 1 of 30 cases got worse.\n  A: a.jsonl, B: c.jsonl\n" in run.stdout
    assert "## c.jsonl\n\n**Regressed: 1 of 30 cases got worse.**\n" in (here.root / "d.md").read_text()


def test_the_more_are_compared_the_more_each_has_to_show(app: MakeApplication) -> None:
    six = {**cases(24, "p"), **cases(6, "f", "x")}
    fell = {**cases(24, "p"), **{f"c{at}": runs("f") for at in range(6)}, **cases(6, "f", "x")}
    here = app({"/a.jsonl": written(six), "/b.jsonl": written(fell), "/c.jsonl": written(fell, version="2")})

    alone = here.run("diff", "a.jsonl", "b.jsonl", "-o", "one.json")
    both = here.run("diff", "a.jsonl", "b.jsonl", "c.jsonl", "-o", "two.json")
    assert (alone.code, both.code) == (0, 0)
    one = json.loads((here.root / "one.json").read_text())["verdict"]["worse"]
    two = [verdict["worse"] for verdict in json.loads((here.root / "two.json").read_text())["verdicts"]]
    assert two == [pytest.approx(2 * one, abs=2e-6)] * 2


def test_the_same_report_twice_is_said(pair_of: Pairs) -> None:
    pair = pair_of(STEADY, STEADY)

    assert pair.verdict()["difference"] == 0.0
    assert "  Warning: A and B are the same report." in pair.said()


def test_two_grades_of_the_same_answers_differ_by_the_judge_alone(pair_of: Pairs) -> None:
    graded = [written({**STEADY, "c0": runs(marks)}, regraded_from="run.jsonl") for marks in ("ppppp", "pppff")]

    said = "  Both reports grade the same answers, so every difference comes from the judges."
    assert said in pair_of(*graded).said()
    assert said not in pair_of(graded[0], written(STEADY)).said()


def test_with_a_long_history_only_the_newer_side_runs_again(pair_of: Pairs) -> None:
    said = "\n".join(pair_of(cases(30, "p" * 9 + "f"), {**cases(30, "p"), "c1": runs("f")}).said("--margin", "10"))

    assert "this case really got worse, run it 5 times in B (5 runs): yao-test -i c.jsonl --run '^c1$'" in said
    more = r"\d+ more runs? on each side \([\d,]+ in total\), or \d+ more in B alone \([\d,]+ in total\)"
    assert re.search(rf"Detecting a 10-point difference would take {more}\.", said)


REFUSED: dict[str, tuple[Results, Results, tuple[str, ...], str, str]] = {
    "nothing in common": (
        cases(2, "p"),
        cases(2, "p", "d"),
        (),
        "Cannot compare a.jsonl with b.jsonl: they have no case in common",
        "Cases are matched by suite and id: start both runs in the same folder",
    ),
    "an empty one": (
        cases(2, "p"),
        {},
        (),
        "Cannot compare a.jsonl with b.jsonl: b.jsonl has no results",
        "That run may have been stopped before its first test ended",
    ),
    "no such measure": (
        {f"c{at}": polite("p") for at in range(2)},
        {f"c{at}": polite("p") for at in range(2)},
        ("--measure", "polit"),
        'Cannot compare by "polit": no result of a.jsonl has it',
        "Its measures are: passed, polite",
    ),
    "no scores in one": (
        {"c0": scored(0.5)},
        {"c0": runs("p")},
        ("--measure", "score"),
        'Cannot compare by "score": no result of b.jsonl has it',
        "Its measures are: passed",
    ),
}


@pytest.mark.parametrize(("a", "b", "flags", "error", "hint"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_compared_is_said(
    pair_of: Pairs, a: Results, b: Results, flags: tuple[str, ...], error: str, hint: str
) -> None:
    run = pair_of(a, b).diff(*flags)

    assert run == (2, "", f"Error: {error}\nHint: {hint}\n")


def test_a_measure_of_a_run_in_which_everything_broke_is_no_mistake(pair_of: Pairs) -> None:
    run = pair_of({"c0": scored(0.5)}, {"c0": runs("e")}).diff("--measure", "score", "--fail-on", "regressed")

    assert (run.code, run.stderr) == (1, "")


@pytest.mark.parametrize(
    "flags",
    [
        ("--margin", "0"),
        ("--margin", "101"),
        ("--margin", "nan"),
        ("--slower-factor", "nan"),
        ("--fail-on", "worse"),
        ("--noise", "some"),
    ],
)
def test_a_flag_that_makes_no_sense_is_a_mistake(pair_of: Pairs, flags: tuple[str, str]) -> None:
    run = pair_of(STEADY, STEADY).diff(*flags)

    assert (run.code, run.stdout) == (2, "")
    assert flags[0] in run.stderr


# merge --as-runs
