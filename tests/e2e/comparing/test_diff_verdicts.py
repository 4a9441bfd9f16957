"""What `yao-test diff` takes for a change: verdicts, pass counts, scores, tokens, cost, latency, the same in each format."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from agent_files import lines
from command import Application, MakeApplication, Record

SUITE = {"id": "c.jsonl", "kind": "agent_test", "label": "c.jsonl", "file": "", "agent": "demo", "connector": ""}
KINDS = (
    "new_failures",
    "dropped",
    "flaky",
    "errors",
    "still_failing",
    "fixed",
    "lower_scores",
    "slower",
    "faster",
    "more_tokens",
    "higher_costs",
    "changed",
    "other",
    "added",
    "removed",
)


def case(status: str = "passed", **more: object) -> Record:
    if status == "error":
        more = {"error": "HTTP 503", "cause": "infrastructure", **more}
    status = "failed" if status == "error" else status
    return {"type": "result", "suite": "c.jsonl", "status": status, "duration_ms": 100, "input": "x", **more}


def repeated(passed: int, failed: int, broke: int = 0, least: float = 100, **more: object) -> Record:
    """A case that ran several times, with the status that `--min-pass-rate` gives it."""
    statuses = ["passed"] * passed + ["failed"] * failed + ["error"] * broke
    attempts = [
        {
            "run": run,
            "status": "failed" if status == "error" else status,
            "duration_ms": 100,
            **({"cause": "infrastructure"} if status == "error" else {}),
        }
        for run, status in enumerate(statuses, 1)
    ]
    fails = 100 * passed < least * (passed + failed)
    gated = "failed" if fails else "error" if broke else "passed"
    return case(gated, runs={"count": passed + failed, "passed": passed, "attempts": attempts}, **more)


def taking(tokens: int, cost: float | None = None) -> Record:
    half = tokens // 2
    usage: Record = {"input_tokens": half, "output_tokens": tokens - half}
    return case(usage=usage if cost is None else {**usage, "cost": cost})


def written(**results: Record) -> str:
    start = {"type": "start", "timestamp": "2026-11-20T10:00:00Z", "version": "1.0.0", "suites": [SUITE]}
    placed = [{**record, "id": id, "position": at} for at, (id, record) in enumerate(results.items())]
    return lines(start, *placed, {"type": "summary", "duration_ms": 1000, "status": "passed"})


def compared(here: Application, *flags: str) -> tuple[int, str, Record]:
    """Exit code, what the console says, and the JSON document."""
    run = here.run("diff", "a.jsonl", "b.jsonl", "--fail-on-regression", "-o", "d.json", *flags)
    assert run.stderr == ""
    found: Record = json.loads((here.root / "d.json").read_text())
    return run.code, run.stdout.replace("Wrote <app>/d.json\n", ""), found


def summed(text: str) -> str:
    """The summary of the lists: the last line."""
    return text.splitlines()[-1]


def lists_in(text: str) -> str:
    """What is below the verdict and its tables."""
    return text.rpartition("Verdict\n")[2].partition("\n\n")[2]


def kinds_of(found: Record) -> dict[str, list[str]]:
    """Result → the kinds that it is of; each list is there, also when it is empty."""
    kinds: dict[str, list[str]] = {}
    for kind in KINDS:
        for change in found[kind]:
            kinds.setdefault(change["id"], []).append(kind)
    return kinds


@pytest.fixture
def two(app: MakeApplication) -> Any:
    def make(before: Record, after: Record) -> Application:
        return app({"/a.jsonl": written(x=before, y=case()), "/b.jsonl": written(x=after, y=case())})

    return make


VERDICTS: dict[str, tuple[Record, Record, list[str], int]] = {
    "what broke is no failure": (case(), case("error"), ["errors"], 0),
    "nor is it one still": (case("failed", error="no"), case("error"), ["errors"], 0),
    "what broke and still does": (case("error"), case("error"), ["errors"], 0),
    "what broke and passes is not fixed": (case("error"), case(), ["other"], 0),
    "what broke and fails is a new failure": (case("error"), case("failed", error="no"), ["new_failures"], 1),
    "fails still": (case("failed", error="no"), case("failed", error="no"), ["still_failing"], 0),
    "skipped now": (case(), case("skipped"), ["other"], 0),
    "run again": (case("skipped"), case(), ["other"], 0),
    "skipped, and failed": (case("skipped"), case("failed", error="no"), ["new_failures"], 1),
}


@pytest.mark.parametrize(("before", "after", "kinds", "regressions"), VERDICTS.values(), ids=VERDICTS)
def test_verdicts(two: Any, before: Record, after: Record, kinds: list[str], regressions: int) -> None:
    code, text, found = compared(two(before, after))

    assert (kinds_of(found), found["regressions"], code) == ({"x": kinds}, regressions, regressions)
    assert summed(text) == ("1 result looks worse" if regressions else "Nothing looks worse") + (
        ", 1 error" if kinds == ["errors"] else ""
    )


def test_an_error_says_why(two: Any) -> None:
    code, text, found = compared(two(case(), case("error")))

    assert lists_in(text) == (
        "Errors (1)\n  c.jsonl › x: passed → error\n    HTTP 503\n\nNothing looks worse, 1 error\n"
    )
    assert (code, found["errors"][0]["error"], found["worse"]) == (0, "HTTP 503", False)


COUNTS: dict[str, tuple[Record, Record, list[str], int]] = {
    "far": (repeated(9, 1), repeated(1, 9), ["dropped", "flaky"], 1),
    "by half": (repeated(9, 1), repeated(4, 6), ["dropped", "flaky"], 1),
    "by a little": (repeated(9, 1), repeated(8, 2), ["dropped", "flaky"], 0),
    "not at all, of fewer runs": (repeated(8, 2), repeated(4, 1), ["flaky"], 0),
    "it rose": (repeated(1, 9), repeated(9, 1), ["flaky"], 0),
    "to nothing, from nearly nothing": (repeated(1, 9), repeated(0, 10), ["dropped", "flaky", "still_failing"], 0),
    "to nothing": (repeated(10, 0), repeated(0, 10), ["new_failures"], 1),
    "below the gate": (repeated(9, 1, least=80), repeated(7, 3, least=80), ["dropped", "flaky"], 1),
    "the gate holds": (repeated(10, 0, least=80), repeated(9, 1, least=80), ["dropped", "flaky"], 0),
    "the gate holds, far": (repeated(10, 0, least=10), repeated(3, 7, least=10), ["dropped", "flaky"], 1),
    "above the gate": (repeated(7, 3, least=80), repeated(9, 1, least=80), ["flaky", "fixed"], 0),
    "all pass now": (repeated(9, 1), repeated(10, 0), ["flaky", "fixed"], 0),
    "broken runs do not count": (repeated(9, 1), repeated(9, 1, broke=6), ["flaky"], 0),
    "some broke, the others passed": (repeated(3, 0), repeated(2, 0, broke=1), ["errors"], 0),
    "one run before": (case(), repeated(1, 9), ["dropped", "flaky"], 1),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after", "kinds", "regressions"), COUNTS.values(), ids=COUNTS)
def test_pass_counts(two: Any, before: Record, after: Record, kinds: list[str], regressions: int) -> None:
    code, text, found = compared(two(before, after))

    assert (kinds_of(found).get("x"), found["regressions"], code) == (kinds, regressions, regressions)
    assert summed(text).startswith("1 result looks worse" if regressions else "Nothing looks worse")


def test_counts_are_shown(two: Any) -> None:
    far = two(repeated(9, 1), repeated(1, 9, error="it\nwent"))
    assert lists_in(compared(far)[1]) == (
        """\
Lower pass rates (1)
  c.jsonl › x: 9 of 10 → 1 of 10 runs passed, looks worse
    it went

Flaky (1)
  c.jsonl › x: flaky → flaky (9 of 10 → 1 of 10 runs passed)
    it went

1 result looks worse
"""
    )
    assert compared(far)[2]["dropped"] == [
        {
            "suite": "c.jsonl",
            "id": "x",
            "before": "flaky",
            "after": "flaky",
            "before_ms": 100,
            "after_ms": 100,
            "regression": True,
            "before_runs": {"passed": 9, "count": 10},
            "after_runs": {"passed": 1, "count": 10},
            "error": "it\nwent",
        }
    ]


def test_a_little_less_is_shown_and_no_regression(two: Any) -> None:
    _, text, _ = compared(two(repeated(9, 1), repeated(8, 2)))

    assert lists_in(text).startswith("Lower pass rates (1)\n  c.jsonl › x: 9 of 10 → 8 of 10 runs passed\n")
    assert summed(text) == "Nothing looks worse"


def scored(*scores: float | None) -> Record:
    if len(scores) == 1:
        return case(mode="conversation", score=scores[0])
    attempts = [
        {"run": run, "status": "passed", "duration_ms": 100, "score": score} for run, score in enumerate(scores, 1)
    ]
    return case(mode="conversation", score=scores[0], runs={"attempts": attempts})


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (scored(0.95), scored(0.82), "score 0.95 → 0.82"),
        (scored(0.9), scored(0.899), "score 0.9 → 0.899"),
        (scored(1.0), scored(0.0), "score 1 → 0"),
        (scored(0.9, 1.0), scored(0.8, 0.9), "score 0.95 → 0.85"),
        (scored(0.8), scored(0.8000000001), None),
        (scored(0.8), scored(0.9), None),
        (scored(None), scored(0.9), None),
        (scored(0.9), scored(None), None),
        (scored(0.1 + 0.2), scored(0.3), None),
    ],
)
def test_a_lower_score_is_shown(two: Any, before: Record, after: Record, said: str | None) -> None:
    code, text, found = compared(two(before, after))

    assert ([change["id"] for change in found["lower_scores"]], code) == (["x"] if said else [], 0)
    assert (f"Lower scores (1)\n  c.jsonl › x: {said}\n" in text) is (said is not None)


@pytest.mark.parametrize(
    ("before", "after", "kinds", "said"),
    [
        (taking(100), taking(150), ["more_tokens"], "100 → 150 tokens"),
        (taking(100), taking(149), [], None),
        (taking(100), taking(40), [], None),
        (taking(100, 0.001), taking(110, 0.003), ["higher_costs"], "$0.001000 → $0.003000"),
        (taking(100, 0.00001), taking(100, 0.00002), ["higher_costs"], "$0.000010 → $0.000020"),
        (taking(100), taking(100, 0.1), [], None),
        (case(duration_ms=100), case(duration_ms=300), ["slower"], "100ms → 300ms, 3.0 times as long"),
        (case(duration_ms=100), case(duration_ms=299), [], None),
        (case(duration_ms=900), case(duration_ms=100), ["faster"], "900ms → 100ms"),
        (case(duration_ms=100), case("error", duration_ms=60000), ["errors"], "passed → error"),
    ],
)
def test_what_runs_take(two: Any, before: Record, after: Record, kinds: list[str], said: str | None) -> None:
    code, text, found = compared(two(before, after))

    assert (kinds_of(found).get("x", []), code) == (kinds, 0)
    assert said is None or f"  c.jsonl › x: {said}\n" in text


def test_the_measures_are_of_what_was_judged_in_both(app: MakeApplication) -> None:
    old = written(a=taking(100, 0.01), b=case("failed", error="no", duration_ms=300), gone=case(), broken=case())
    new = written(a=taking(300, 0.02), b=case(duration_ms=100), new=case("failed", error="no"), broken=case("error"))
    _, text, found = compared(app({"/a.jsonl": old, "/b.jsonl": new}))

    assert found["compared"] == 2
    assert found["measures"] == {
        "pass_rate": {"before": 0.5, "after": 1.0},
        "duration_ms": {"before": 200.0, "after": 100.0},
        "tokens": {"before": 100.0, "after": 300.0},
        "cost": {"before": 0.01, "after": 0.02},
    }
    assert summed(text) == "1 result looks worse, 1 error"


@pytest.mark.parametrize("others", [{}, {"c": case("skipped")}], ids=["all", "the others were skipped"])
def test_a_run_in_which_everything_broke_passes_no_gate(app: MakeApplication, others: Record) -> None:
    old, new = written(a=case(), b=case(), **others), written(a=case("error"), b=case("error"), **others)
    code, text, found = compared(app({"/a.jsonl": old, "/b.jsonl": new}))

    assert (code, summed(text)) == (1, "No verdict: 2 results ended with an error")
    assert text.startswith("No verdict: 2 of 2 runs of B ended with an error (A: 0).\n")
    assert (found["regressions"], found["worse"]) == (0, True)


def test_markdown_says_the_same(two: Any) -> None:
    here = two(repeated(9, 1), repeated(1, 9, error="it went"))
    assert here.run("diff", "a.jsonl", "b.jsonl", "-o", "d.md").code == 0

    text = (here.root / "d.md").read_text()
    assert text.startswith("# Changes\n\n**Regressed: 1 of 2 cases got worse.**\n\n| Measure ")
    assert "\n1 result looks worse\n\n| Kind             | Results |\n" in text
    assert "- c.jsonl › **x**: 9 of 10 → 1 of 10 runs passed, looks worse\n" in text
    assert re.search(r"^\| x +\| 9/10 \| 1/10 \| &lt; 0.001 +\| worse +\|$", text, re.M)


@pytest.mark.parametrize("factor", ["1.2", "9"])
def test_every_format_takes_the_thresholds_of_the_flags(two: Any, factor: str) -> None:
    here = two(case(duration_ms=1000), case(duration_ms=5000))
    flags = ("--slower-factor", factor, "-o", "d.md")
    _, text, found = compared(here, *flags)

    is_slower = factor == "1.2"
    assert ("Slower (1)" in text, len(found["slower"]) == 1) == (is_slower, is_slower)
    assert ("## Slower\n" in (here.root / "d.md").read_text()) is is_slower
