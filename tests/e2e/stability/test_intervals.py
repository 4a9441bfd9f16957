"""Rates and mean scores have intervals in every format: of the run, and by suite, tag, criterion and
checkpoint."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest
from agent_files import agent, lines
from command import Application, MakeApplication, Record

from runner.statistics import PassCount
from runner.statistics.intervals import Estimate, mean_of, suite_rate

REPLIES = """\
- when: { input: sometimes, metadata.run: 2 }
  reply: Nothing.
- reply: A room in Bergen.
"""
JUDGE = """\
export function Next(ctx: agent.Context, payload: any) {
  const { criteria, output } = JSON.parse(payload.messages[payload.messages.length - 1].content);
  const score = /score ([.0-9]+)/.exec(criteria);
  if (score) return { data: { passed: true, score: Number(score[1]), reason: "so" } };
  return { data: { passed: output.includes(criteria), reason: "so" } };
}
"""
SAYS_ROOM = {"type": "contains", "value": "room"}
GUEST = """\
export function Simulate(asked: any) { return { input: "Well?", goal_achieved: asked.turn_number > 2 }; }
"""


def conversation(id: str, score: str, **more: Any) -> Record:
    criteria = [{"id": "tone", "outcome": f"score {score}"}, {"id": "town", "outcome": "Bergen"}]
    turn = {"input": "Hello", "assertions": ["A room", {"type": "rubrics", "criteria": criteria}]}
    return {"id": id, "mode": "conversation", "grader": "judge", "turns": [turn], "tags": ["slow"], **more}


ROOMS = [
    {"id": "a", "tags": ["smoke"], "input": "Hello", "assert": SAYS_ROOM},
    {"id": "b", "tags": ["smoke", "slow"], "input": "sometimes", "assert": SAYS_ROOM},
    conversation("c", "0.9"),
    conversation("d", "0.3"),
    {"id": "skipped", "skip": True, "tags": ["never"], "input": "Hello"},
]
TOWNS = [
    {
        "id": "e",
        "input": "Hello",
        "simulator": {"use": "scripts:guest"},
        "checkpoints": [
            {"id": "offers", "assertion": SAYS_ROOM},
            {"id": "sells", "required": False, "assertion": {"type": "contains", "value": "house"}},
        ],
    }
]


def rate_of(*passed: int) -> Estimate:
    """The pass rate of cases with two runs each, of which so many passed."""
    return suite_rate([PassCount(passed=count, judged=2) for count in passed])


SUITES = {"rooms": "assistants/demo/tests/rooms.jsonl", "towns": "assistants/demo/tests/towns.jsonl"}
EXTENSIONS = ("json", "jsonl", "md", "txt", "xml", "ctrf.json")
WHOLE = {
    "pass_rate": rate_of(2, 1, 2, 0, 2),
    "mean_score": mean_of([2 / 3 + 0.3, 2 / 3 + 0.1]),
}
PARTS: dict[tuple[str, str], tuple[int, dict[str, Estimate]]] = {
    ("suite", SUITES["rooms"]): (
        4,
        {"pass_rate": rate_of(2, 1, 2, 0), "mean_score": WHOLE["mean_score"]},
    ),
    ("suite", SUITES["towns"]): (1, {"pass_rate": rate_of(2)}),
    ("tag", "smoke"): (2, {"pass_rate": rate_of(2, 1)}),
    ("tag", "slow"): (
        3,
        {"pass_rate": rate_of(1, 2, 0), "mean_score": WHOLE["mean_score"]},
    ),
    ("criterion", "A room"): (2, {"pass_rate": rate_of(2, 2)}),
    ("criterion", "tone"): (2, {"mean_score": mean_of([0.9, 0.3])}),
    ("criterion", "town"): (2, {"pass_rate": rate_of(2, 2)}),
    ("checkpoint", "offers"): (1, {"pass_rate": rate_of(2)}),
    ("checkpoint", "sells"): (1, {"pass_rate": rate_of(0)}),
}


@pytest.fixture(scope="module")
def ran(shared_app: MakeApplication) -> tuple[Application, str]:
    """An application with the reports of a run in every format, and what the console printed."""
    made = shared_app(agent(replies=REPLIES))
    made.write(agent("judge", prompts=None, hooks=JUDGE) | {"/scripts/guest.ts": GUEST})
    made.write({f"/{SUITES['rooms']}": lines(*ROOMS), f"/{SUITES['towns']}": lines(*TOWNS)})
    flags = [flag for extension in EXTENSIONS for flag in ("-o", f"r.{extension}")]
    run = made.run("-i", "assistants/demo/tests", "--runs", "2", "--threshold", "0.8", "-v", *flags)
    assert run.code == 1, run.stdout + run.stderr
    return made, run.stdout


def figures(of: dict[str, Estimate]) -> Record:
    """Estimates as a summary has them."""
    found: Record = {}
    for name, estimate in of.items():
        found[name] = pytest.approx(estimate.value, abs=1e-4)
        if estimate.interval is not None:
            found[f"{name}_interval"] = pytest.approx([estimate.interval.low, estimate.interval.high], abs=1e-4)
    return found


def bars(summary: Record) -> Record:
    kept = ("pass_rate", "pass_rate_interval", "mean_score", "mean_score_interval")
    return {key: summary[key] for key in kept if key in summary}


def said(estimate: Estimate | None) -> str:
    """`60.0% (23.1-88.2%)`."""
    if estimate is None:
        return ""
    ends = [] if estimate.interval is None else [estimate.interval.low, estimate.interval.high]
    value, *range = (
        f"{100 * share:.1f}".removesuffix(".0") if share in (0, 1) else f"{100 * share:.1f}"
        for share in (estimate.value, *ends)
    )
    return f"{value}% ({'-'.join(range)}%)" if range else f"{value}%"


def check_parts(parts: list[Record]) -> None:
    found = {(part["kind"], part["name"]): (part["cases"], bars(part)) for part in parts}
    assert found == {key: (cases, figures(of)) for key, (cases, of) in PARTS.items()}


@pytest.mark.parametrize("name", ["r.json", "r.jsonl", "r.ctrf.json"])
def test_summaries_have_intervals_of_the_whole_and_of_each_part(ran: tuple[Application, str], name: str) -> None:
    text = (ran[0].root / name).read_text()
    document = json.loads(text.splitlines()[-1] if name == "r.jsonl" else text)
    whole = document["results"]["summary"]["extra"] if name == "r.ctrf.json" else document.get("summary", document)

    assert bars(whole) == figures(WHOLE)
    check_parts(whole["parts"])


def test_each_suite_of_a_json_report_has_its_own(ran: tuple[Application, str]) -> None:
    parts = json.loads((ran[0].root / "r.json").read_text())["reports"]

    for part in parts:
        assert bars(part["summary"]) == figures(PARTS["suite", part["input"]][1])
    kinds = {part["input"]: {of["kind"] for of in part["summary"]["parts"]} for part in parts}
    assert kinds == {SUITES["rooms"]: {"tag", "criterion"}, SUITES["towns"]: {"checkpoint"}}


def test_junit_has_them_as_properties_of_each_suite(ran: tuple[Application, str]) -> None:
    suites = ElementTree.parse(ran[0].root / "r.xml").getroot()

    found = {
        suite.attrib["name"]: {item.attrib["name"]: item.attrib["value"] for item in suite.iter("property")}
        for suite in suites
    }
    rate = PARTS["tag", "smoke"][1]["pass_rate"]
    assert rate.interval is not None
    assert found[SUITES["rooms"]]["tag smoke pass_rate"] == str(rate.value)
    ends = f"{rate.interval.low:.4f}-{rate.interval.high:.4f}"
    assert found[SUITES["rooms"]]["tag smoke pass_rate_interval"] == ends
    assert found[SUITES["rooms"]]["criterion tone mean_score"] == "0.6"
    assert found[SUITES["towns"]]["checkpoint sells pass_rate"] == "0.0"
    assert "pass_rate_interval" in found[SUITES["towns"]]


def test_texts_say_a_rate_with_its_interval(ran: tuple[Application, str]) -> None:
    made, printed = ran
    markdown, summary = ((made.root / name).read_text() for name in ("r.md", "r.txt"))

    for text in (printed, markdown, summary):
        rows = [" ".join(line.replace("|", " ").split()) for line in text.splitlines()]
        for (kind, name), (cases, of) in PARTS.items():
            rate, score = said(of.get("pass_rate")), said(of.get("mean_score"))
            own = [row for row in rows if name in row and any(figure and figure in row for figure in (rate, score))]
            assert own, f"{kind} {name}: {rate} {score} in\n{text}"
            assert text is summary or kind == "suite" or any(f" {cases} " in row for row in own)
        assert any(said(WHOLE["pass_rate"]) in row for row in rows)
        assert any(said(WHOLE["mean_score"]) in row for row in rows)


def test_saved_reports_say_the_same(ran: tuple[Application, str]) -> None:
    made, _ = ran

    for saved in ("r.json", "r.jsonl"):
        assert made.run("show", saved, "-o", "again.ctrf.json", "-q").code == 0
        again = json.loads((made.root / "again.ctrf.json").read_text())
        check_parts(again["results"]["summary"]["extra"]["parts"])
    assert made.run("merge", "r.jsonl", "-o", "merged.json").code == 0
    check_parts(json.loads((made.root / "merged.json").read_text())["summary"]["parts"])
