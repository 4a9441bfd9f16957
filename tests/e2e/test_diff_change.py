"""Whether a run is worse than an older one, as `yao-test diff` says it: the verdict, what it rests on, and the exit codes
of its gates."""

from __future__ import annotations

import json
import re
from itertools import count
from typing import Any

import pytest
from agent_files import lines
from command import Application, MakeApplication, Record, Run

from runner.results.report import load

SUITE = {"id": "c.jsonl", "kind": "agent_test", "label": "c.jsonl", "file": "", "agent": "demo", "connector": "gpt"}
SCRIPTS = {**SUITE, "id": "scripts.a.b", "kind": "script_test", "connector": ""}
MARKS = {"p": "passed", "f": "failed", "s": "skipped", "e": "failed"}
Results = dict[str, list[Record]]


def runs(marks: str, **more: object) -> list[Record]:
    """The lines of a case: one for each mark, `p`assed, `f`ailed, `s`kipped or `e`rror."""
    found = []
    for number, mark in enumerate(marks, 1):
        line: Record = {"status": MARKS[mark], "duration_ms": 100, "input": "x", "connector": "gpt", **more}
        line |= {"error": "no"} if mark in "fe" else {}
        line |= {"cause": "infrastructure"} if mark == "e" else {}
        found.append(line | ({"run": number} if len(marks) > 1 else {}))
    return found


def scored(*scores: object, **more: object) -> list[Record]:
    """The lines of a case with scores."""
    made = runs("p" * len(scores), mode="conversation", **more)
    return [{**line, "score": score} for line, score in zip(made, scores, strict=True)]


def cases(number: int, marks: str, prefix: str = "c", **more: object) -> Results:
    return {f"{prefix}{at}": runs(marks, **more) for at in range(number)}


def written(results: Results, suite: Record = SUITE, **start: object) -> str:
    first = {"type": "start", "timestamp": "2026-11-20T10:00:00Z", "version": "1.0.0", "suites": [suite], **start}
    placed = [
        {"type": "result", "suite": suite["id"], "id": id, "position": at, **line}
        for at, (id, made) in enumerate(results.items())
        for line in made
    ]
    return lines(first, *placed, {"type": "summary", "duration_ms": 1000, "status": "passed"})


class Pair:
    """Two reports, and what is said of them."""

    def __init__(self, here: Application, folder: str) -> None:
        self._here, self._folder = here, folder
        self.root = here.root / folder

    def run(self, *arguments: str) -> Run:
        return self._here.run(*arguments, directory=self._folder)

    def diff(self, *flags: str) -> Run:
        return self.run("diff", "a.jsonl", "b.jsonl", *flags)

    def verdict(self, *flags: str) -> Record:
        """The verdict of the JSON document."""
        run = self.diff("-o", "d.json", *flags)
        assert run.code == 0, run.stderr
        found: Record = json.loads((self.root / "d.json").read_text())["verdict"]
        return found

    def last(self, *flags: str) -> list[str]:
        """The sentences: the verdict, and what stands below it."""
        out = self.diff(*flags).stdout.splitlines()
        at = max(i for i, line in enumerate(out) if line.startswith(("Regressed", "Improved", "Unchanged", "Cannot")))
        return out[at:]


@pytest.fixture
def two(app: MakeApplication) -> Any:
    number = count()

    def make(a: Results | str, b: Results | str) -> Pair:
        texts = [side if isinstance(side, str) else written(side) for side in (a, b)]
        folder = f"pair{next(number)}"
        return Pair(app({f"/{folder}/a.jsonl": texts[0], f"/{folder}/b.jsonl": texts[1]}), folder)

    return make


STEADY = cases(30, "ppppp")
FLAKY = {**cases(26, "p"), **cases(4, "f", "f")}
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
    two: Any, a: Results, b: Results, word: str, broke: list[str], codes: tuple[int, int]
) -> None:
    pair = two(a, b)
    found = pair.verdict()

    assert (found["verdict"], found["broke"]) == (word, broke)
    assert pair.last()[0].startswith(word.replace("_", " ").capitalize())
    assert (pair.diff("--fail-on", "regressed").code, pair.diff("--fail-on", "unsure").code) == codes


def test_the_document_has_these_figures(two: Any) -> None:
    found = two(cases(1, "p"), cases(1, "f")).verdict()

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


def test_the_example_of_the_design(two: Any) -> None:
    a = {**cases(28, "p"), **cases(2, "f", "f")}
    b = {**a, **{f"c{at}": runs("f") for at in range(4)}, **{f"f{at}": runs("p") for at in range(2)}}
    a = {id: [{**line, "usage": {"input_tokens": 1, "output_tokens": 1, "cost": 0.002}} for line in made] for id, made in a.items()}  # fmt: skip
    found = two(a, b).verdict()

    assert (found["difference"], found["interval"]) == (-0.066667, [pytest.approx(-0.2395, abs=1e-4), pytest.approx(0.1062, abs=1e-4)])  # fmt: skip
    assert (found["worse"], found["better"]) == (pytest.approx(0.2266, abs=1e-4), pytest.approx(0.7734, abs=1e-4))
    assert found["detectable"] == pytest.approx(0.2471, abs=1e-4)
    assert found["runs_needed"] == {"target": 0.05, "each": 21, "of_b": None, "cost": pytest.approx(2.4)}
    assert two(a, b).last() == [
        "Cannot tell: 93.3% → 86.7% of 30 cases, 1 run each: -6.7 points (-24.0 to +10.6).",
        "  A drop of 24.7 points would have shown, four times in five. 4 cases fell: c0, c1, c2, c3.",
        "  To see 5 points: 20 more runs of both (1200 runs, about $2.40).",
        "  To see whether one of these 4 broke: 5 runs of each in both (40 runs, about $0.08): yao-test -i c.jsonl "
        "--run '^(c0|c1|c2|c3)$' --runs 5 -o again.jsonl",
        "  For other cases like these: -23.5 to +10.1 points.",
    ]


def test_the_console_ends_with_the_verdict_and_what_it_rests_on(two: Any) -> None:
    run = two(STEADY, {**STEADY, "c3": runs("fffff")}).diff("--fail-on", "regressed")

    assert (run.code, run.stderr) == (1, "")
    assert run.stdout == (
        "New failures (1)\n  c.jsonl › c3: passed → failed (5 of 5 → 0 of 5 runs passed)\n    no\n\n"
        "1 result looks worse\n\n"
        "  Measure   A                 B                   Difference (95 %)           Verdict\n"
        "  passed    100% (88.6-100%)  96.7% (83.3-99.4%)  -3.3 points (-5.9 to -0.8)  regressed\n"
        "  duration  100ms             100ms               x1.00                       unchanged\n"
        "  Case  A    B    p      Verdict\n"
        "  c3    5/5  0/5  0.004  broke\n"
        "Regressed: 30 cases, 5 runs each. 1 case broke: c3.\n"
    )


def test_markdown_begins_with_the_verdict(two: Any) -> None:
    pair = two(STEADY, {**STEADY, "c3": runs("fffff")})
    assert pair.diff("-o", "d.md").code == 0

    text = (pair.root / "d.md").read_text()
    assert text.startswith("# Changes\n\n**Regressed: 30 cases, 5 runs each. 1 case broke: c3.**\n\n| Measure  | A ")
    assert "| c3   | 5/5 | 0/5 | 0.004 | broke   |\n" in text
    assert "\n1 result looks worse\n" in text


@pytest.mark.parametrize("gate", ["--fail-on=regressed", "--fail-on=unsure"])
def test_a_gate_that_nothing_could_fail_is_none(two: Any, gate: str) -> None:
    everything = two(cases(5, "p"), cases(5, "e"))
    run = everything.diff(gate)

    assert run.code == 1
    assert run.stdout.splitlines()[-3:] == [
        "Cannot tell: 5 of 5 runs of B broke (A: 0).",
        "  5 of 5 cases of A have no verdict in B: too many for --fail-on, which fails.",
        "  5 cases without a judged run on one side: c0, c1, c2, c3, c4.",
    ]
    assert everything.diff().code == 0


@pytest.mark.parametrize(
    ("a", "b", "code", "line"),
    [
        ("p" * 100, "e" * 31 + "p" * 69, 1, "Cannot tell: 31 of 100 runs of B broke (A: 0)."),
        ("p" * 100, "e" * 15 + "p" * 85, 1, "Cannot tell: 15 of 100 runs of B broke (A: 0)."),
        ("e" * 12 + "p" * 88, "e" * 15 + "p" * 85, 0, "Unchanged: within 5 points (-4.2 to +4.2)."),
        ("p" * 100, "e" * 9 + "p" * 91, 0, "Unchanged: within 5 points (-4.0 to +4.0)."),
    ],
)
def test_too_many_broken_runs_are_no_verdict(two: Any, a: str, b: str, code: int, line: str) -> None:
    """Over 20 %, or over 10 % and more than chance explains."""
    pair = two(
        *({f"c{at}": runs(mark) for at, mark in enumerate(marks)} for marks in (a, b)),
    )

    assert pair.last()[0] == line
    assert pair.diff("--fail-on", "regressed").code == code


@pytest.mark.parametrize(("removed", "code"), [(2, 0), (3, 1)])
def test_a_removed_case_is_said_and_over_a_fifth_stop_the_gate(two: Any, removed: int, code: int) -> None:
    pair = two(cases(10, "p" * 8), cases(10 - removed, "p" * 8))
    run = pair.diff("--fail-on", "regressed")

    assert run.code == code
    named = ", ".join(f"c{at}" for at in range(10 - removed, 10))
    assert pair.last()[0].endswith(f" {removed} cases of A are not in B: {named}.")
    assert (f"  {removed} of 10 cases of A have no verdict in B: too many" in run.stdout) is bool(code)
    assert [key["id"] for key in pair.verdict()["left_out"]["removed"]] == named.split(", ")


def test_skipped_cases_of_a_need_no_verdict_in_b(two: Any) -> None:
    assert two({**cases(10, "p"), **cases(10, "s", "s")}, cases(10, "p")).diff("--fail-on", "regressed").code == 0


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
    two: Any, a: Record, b: Record, is_changed: bool
) -> None:
    pair = two({**cases(9, "p"), "x": runs("p", **a)}, {**cases(9, "p"), "x": runs("f", **b)})
    found = pair.verdict()

    assert (found["cases"], found["left_out"]["changed"]) == (
        (9, [{"suite": "c.jsonl", "id": "x"}]) if is_changed else (10, [])
    )
    assert ("  1 case changed, not compared: x." in pair.last()) is is_changed


def test_json_reports_are_compared_like_their_jsonl(two: Any) -> None:
    pair = two({**STEADY, "y": runs("p", input="old")}, {**STEADY, "c3": runs("fffff"), "y": runs("p", input="new")})
    for name in "ab":
        assert pair.run("show", f"{name}.jsonl", "-o", f"{name}.json").code == 0
    assert pair.run("diff", "a.json", "b.json", "-o", "j.json").code == 0

    of_json = json.loads((pair.root / "j.json").read_text())["verdict"]
    assert of_json == pair.verdict()
    assert (of_json["broke"], of_json["left_out"]["changed"]) == (["c3"], [{"suite": "c.jsonl", "id": "y"}])


def test_of_doubled_lines_the_last_one_counts(two: Any) -> None:
    twice = written(cases(9, "p")).splitlines(keepends=True)
    twice.insert(2, twice[1].replace('"passed"', '"failed"'))
    again = written({"x": [*runs("fff"), *runs("ppp")], **cases(9, "p")})
    pair = two("".join(twice), again)
    found = pair.verdict()

    assert found["rates"] == {"a": pytest.approx(8 / 9, abs=1e-6), "b": 1.0}
    assert found["left_out"]["doubled"] == {"a": 1, "b": 3}
    assert "  Of results of one name the last one counts: 1 of A and 3 of B do not." in pair.last()


SCORES: dict[str, tuple[list[object], list[object], str]] = {
    "lower": ([0.9, 0.85], [0.6, 0.65], "regressed"),
    "higher": ([0.6, 0.65], [0.9, 0.85], "improved"),
    "within a point": ([0.8, 0.79], [0.79, 0.8], "unchanged"),
    "scattered": ([0.2, 0.9], [0.9, 0.1], "cannot_tell"),
}


@pytest.mark.parametrize(("a", "b", "word"), SCORES.values(), ids=SCORES)
def test_scores_decide_when_asked_to(two: Any, a: list[object], b: list[object], word: str) -> None:
    pair = two(*({f"c{at}": scored(*side) for at in range(10)} for side in (a, b)))
    found = pair.verdict("--measure", "score")

    assert (found["verdict"], found["measure"]) == (word, "score")
    assert pair.verdict()["verdict"] == "cannot_tell", "all of them passed"
    assert any(part["kind"] == "score" for part in pair.verdict()["parts"])


@pytest.mark.parametrize("odd", [None, 7, -0.1, 1.5, float("nan"), float("inf")])
def test_what_is_no_score_is_counted_and_not_compared(two: Any, odd: object) -> None:
    a = {f"c{at}": scored(0.8) for at in range(9)}
    pair = two({**a, "x": scored(0.8)}, {**a, "x": scored(odd)})
    found = pair.verdict("--measure", "score")

    assert (found["cases"], found["left_out"]["no_score"]) == (9, {"a": 0, "b": 1})
    assert "  Runs that have no score are in no figure: 0 of A, 1 of B." in pair.last("--measure", "score")
    assert "NaN" not in (pair.root / "d.json").read_text()


def polite(marks: str) -> list[Record]:
    return [
        {**line, "checkpoints": [{"id": "polite", "passed": mark == "p", "required": False, "reached_at_turn": 1}]}
        for line, mark in zip(runs("p" * len(marks)), marks, strict=True)
    ]


@pytest.mark.parametrize("format", ["jsonl", "json"])
def test_a_criterion_decides_when_asked_to(two: Any, format: str) -> None:
    pair = two({f"c{at}": polite("pp") for at in range(20)}, {f"c{at}": polite("ff") for at in range(20)})
    for name in "ab":
        assert pair.run("show", f"{name}.jsonl", "-o", f"{name}.json").code == 0
    run = pair.run("diff", f"a.{format}", f"b.{format}", "--measure", "polite", "--fail-on", "regressed")

    assert run.code == 1
    assert "  polite    100% (" in run.stdout
    plain = pair.run("diff", f"a.{format}", f"b.{format}").stdout
    assert "  criterion polite  100% (" in plain and "-100.0 points" in plain and "look at" in plain


def test_tags_are_looked_at_and_decide_nothing(two: Any) -> None:
    tagged = {**cases(40, "p", tags=["trip"]), **cases(4, "pp", "r", tags=["refund"])}
    found = two(tagged, {**tagged, **cases(4, "fp", "r", tags=["refund"])}).verdict()

    assert found["verdict"] == "cannot_tell"
    assert [(part["kind"], part["name"], part["cases"]) for part in found["parts"]] == [
        ("tag", "refund", 4),
        ("tag", "trip", 40),
    ]
    assert found["parts"][0]["rates"] == {"a": 1.0, "b": 0.5}


def test_the_margin_is_what_does_not_matter(two: Any) -> None:
    pair = two(cases(72, "p"), cases(72, "p"))

    assert [pair.verdict("--margin", margin)["verdict"] for margin in ("4", "5", "20")] == [
        "cannot_tell",
        "unchanged",
        "unchanged",
    ]
    assert pair.last("--margin", "20")[0] == "Unchanged: within 20 points (-5.0 to +5.0)."


STEADY_RUNS: dict[str, Any] = {
    "scripted": lambda marks: written({f"c{at}": runs(m, connector="scripted") for at, m in enumerate(marks)}),
    "replayed": lambda marks: written({f"c{at}": runs(m) for at, m in enumerate(marks)}, flags=["--replay", "r"]),
    "scripts": lambda marks: written(
        {f"c{at}": [{**line, "input": None} for line in runs(m)] for at, m in enumerate(marks)}, SCRIPTS
    ),
}


@pytest.mark.parametrize("make", STEADY_RUNS.values(), ids=STEADY_RUNS)
def test_runs_without_noise_need_no_test(two: Any, make: Any) -> None:
    worse, same, better = (two(make(a), make(b)) for a, b in (("ppp", "pfp"), ("ppp", "ppp"), ("pfp", "ppp")))

    assert [pair.verdict()["verdict"] for pair in (worse, same, better)] == ["regressed", "unchanged", "improved"]
    assert worse.last()[1] == "  These runs are the same each time: every difference is real."
    assert worse.diff("--fail-on", "regressed").code == 1
    assert same.diff("--fail-on", "unsure").code == 0
    assert worse.verdict("--noise", "runs")["verdict"] == "cannot_tell"
    assert worse.verdict()["interval"] is None
    assert "passed    100%  " in worse.diff().stdout, "a rate without noise has no interval"


def test_runs_that_differ_are_not_without_noise(two: Any) -> None:
    flaky = {f"c{at}": runs("pf", connector="scripted") for at in range(3)}

    assert two(flaky, flaky).verdict()["noise"] == "runs"
    assert two(flaky, flaky).verdict("--noise", "none")["noise"] == "none"


def test_one_new_failure_is_enough_for_the_old_gate(two: Any) -> None:
    pair = two(FLAKY, {**FLAKY, "c0": runs("f")})

    assert (pair.diff("--fail-on", "regressed").code, pair.diff("--fail-on-regression").code) == (0, 1)
    assert pair.diff("--fail-on", "regressed").stdout.splitlines()[-1] == (
        "--fail-on regressed lets pass what it cannot tell; --fail-on unsure does not."
    )


def test_each_of_several_is_compared_with_the_first(app: MakeApplication) -> None:
    here = app(
        {
            "/a.jsonl": written(STEADY),
            "/b.jsonl": written(STEADY),
            "/c.jsonl": written({**STEADY, "c3": runs("fffff")}),
        }
    )
    run = here.run("diff", "a.jsonl", "b.jsonl", "c.jsonl", "--fail-on", "regressed", "-o", "d.json", "-o", "d.md")

    assert run.code == 1
    found = json.loads((here.root / "d.json").read_text())
    assert [(one["a"], one["b"], one["verdict"], one["broke"]) for one in found["verdicts"]] == [
        ("a.jsonl", "b.jsonl", "unchanged", []),
        ("a.jsonl", "c.jsonl", "regressed", ["c3"]),
    ]
    assert "verdict" not in found
    assert run.stdout.splitlines()[:4] == [
        "  Report   Passed              Duration  Difference (95 %)           Verdict",
        "  a.jsonl  100% (88.6-100%)    100ms",
        "  b.jsonl  100% (88.6-100%)    100ms     0.0 points (-2.4 to +2.4)   unchanged",
        "  c.jsonl  96.7% (83.3-99.4%)  100ms     -3.3 points (-5.9 to -0.8)  regressed",
    ]
    assert "| c.jsonl | 96.7% (83.3-99.4%) | 100ms " in (here.root / "d.md").read_text()
    assert "\nc.jsonl\n  Measure " in run.stdout
    assert "## c.jsonl\n\n**Regressed: 30 cases, 5 runs each. 1 case broke: c3.**\n" in (here.root / "d.md").read_text()


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


def test_the_same_report_twice_is_said(two: Any) -> None:
    pair = two(STEADY, STEADY)

    assert pair.verdict()["difference"] == 0.0
    assert "  Warning: A and B are the same report." in pair.last()


def test_two_grades_of_the_same_answers_differ_by_the_judge_alone(two: Any) -> None:
    graded = [written({**STEADY, "c0": runs(marks)}, regraded_from="run.jsonl") for marks in ("ppppp", "pppff")]

    said = "  Both are grades of the same answers: what differs is the judge's own noise."
    assert said in two(*graded).last()
    assert said not in two(graded[0], written(STEADY)).last()


def test_with_a_long_history_only_the_newer_side_runs_again(two: Any) -> None:
    said = "\n".join(two(cases(30, "p" * 9 + "f"), {**cases(30, "p"), "c1": runs("f")}).last("--margin", "10"))

    assert "one broke: 5 runs of each in B (5 runs): yao-test -i c.jsonl --run '^c1$'" in said.replace("this ", "")
    assert re.search(r"To see 10 points: \d+ more runs of both \(\d+ runs\), or \d+ of B alone \(\d+ runs\)\.", said)


REFUSED: dict[str, tuple[Results, Results, tuple[str, ...], str, str]] = {
    "nothing in common": (
        cases(2, "p"),
        cases(2, "p", "d"),
        (),
        "Cannot compare a.jsonl with b.jsonl: they have no case in common",
        "Cases are matched by the suite and the id; were both runs started in the same folder?",
    ),
    "an empty one": (
        cases(2, "p"),
        {},
        (),
        "Cannot compare a.jsonl with b.jsonl: b.jsonl has no results",
        "Was that run stopped before its first test had ended?",
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
    two: Any, a: Results, b: Results, flags: tuple[str, ...], error: str, hint: str
) -> None:
    run = two(a, b).diff(*flags)

    assert run == (2, "", f"Error: {error}\nHint: {hint}\n")


def test_a_measure_of_a_run_in_which_everything_broke_is_no_mistake(two: Any) -> None:
    run = two({"c0": scored(0.5)}, {"c0": runs("e")}).diff("--measure", "score", "--fail-on", "regressed")

    assert (run.code, run.stderr) == (1, "")


@pytest.mark.parametrize("flags", [("--margin", "0"), ("--margin", "101"), ("--fail-on", "worse"), ("--noise", "some")])
def test_a_flag_that_makes_no_sense_is_a_mistake(two: Any, flags: tuple[str, str]) -> None:
    run = two(STEADY, STEADY).diff(*flags)

    assert (run.code, run.stdout) == (2, "")
    assert flags[0] in run.stderr


# merge --as-runs


def test_reports_of_the_same_cases_become_one_with_runs(app: MakeApplication) -> None:
    nights = [{**cases(29, "p"), "x": runs(mark)} for mark in "pppfe"]
    files = {f"/nightly-{at}.jsonl": written(night) for at, night in enumerate(nights)}
    here = app({**files, "/now.jsonl": written({**cases(29, "ppppp"), "x": runs("fffff")})})
    names = [f"nightly-{at}.jsonl" for at in range(5)]
    run = here.run("merge", *names, "--as-runs", "-o", "history.jsonl", "-o", "history.json")

    assert (run.code, run.stderr) == (0, "")
    assert run.stdout.endswith("29 passed, 1 failed, 0 skipped in 5 reports\n")
    for name in ("history.jsonl", "history.json"):
        x = next(record for record in load(here.root / name).results if record["id"] == "x")
        assert (x["status"], x["runs"]["count"], x["runs"]["passed"], x["runs"]["errors"]) == ("failed", 4, 3, 1)
        assert [run["run"] for run in x["runs"]["attempts"]] == [1, 2, 3, 4, 5]
    found = here.run("diff", "history.jsonl", "now.jsonl", "-o", "d.json")
    assert found.code == 0
    verdict = json.loads((here.root / "d.json").read_text())["verdict"]
    assert (verdict["runs"], verdict["left_out"]["broken"]) == ({"a": 149, "b": 150}, {"a": 1, "b": 0})


def test_runs_of_reports_with_runs_are_counted_on(app: MakeApplication) -> None:
    here = app({"/1.jsonl": written(cases(2, "ppf")), "/2.jsonl": written({**cases(2, "pf"), "new": runs("p")})})
    again = here.run("merge", "1.jsonl", "2.jsonl", "--as-runs", "-o", "h.jsonl")

    assert again.code == 0
    found = {record["id"]: record["runs"] for record in load(here.root / "h.jsonl").results}
    assert {id: (one["passed"], one["count"]) for id, one in found.items()} == {
        "c0": (3, 5),
        "c1": (3, 5),
        "new": (1, 1),
    }
    assert here.run("merge", "h.jsonl", "2.jsonl", "--as-runs", "-o", "h2.jsonl").code == 0
    assert load(here.root / "h2.jsonl").results[0]["runs"]["count"] == 7


def test_runs_of_a_case_that_said_something_else_are_left_out(app: MakeApplication) -> None:
    old = {**cases(2, "p"), "x": runs("f", input="old")}
    here = app({"/1.jsonl": written(old), "/2.jsonl": written({**cases(2, "p"), "x": runs("p", input="new")})})
    run = here.run("merge", "1.jsonl", "2.jsonl", "--as-runs", "-o", "h.jsonl")

    assert run.stderr == "Warning: 1.jsonl: cases that say something else in a later report are left out: x\n"
    found = {record["id"]: record["runs"]["count"] for record in load(here.root / "h.jsonl").results}
    assert found == {"c0": 2, "c1": 2, "x": 1}


def test_criteria_are_kept_in_runs(app: MakeApplication) -> None:
    here = app({f"/{at}.jsonl": written({"c": polite(mark)}) for at, mark in enumerate("pf")})
    assert here.run("merge", "0.jsonl", "1.jsonl", "--as-runs", "-o", "h.jsonl").code == 0

    run = here.run("diff", "h.jsonl", "h.jsonl", "--measure", "polite")
    assert "  polite    50.0% (" in run.stdout


def test_whole_reports_are_not_partial(app: MakeApplication) -> None:
    here = app({"/1.jsonl": written(cases(1, "p"))})

    assert here.run("merge", "1.jsonl", "--as-runs", "--partial", "-o", "h.jsonl").code == 2
