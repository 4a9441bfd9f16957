"""The noise of judges beside figures: in reports, in comparisons, in means of trials, on the page; and votes in scripts."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from agent_files import agent, case_file, lines
from command import Application, MakeApplication, Record
from faults import lines_of

SAID = "- reply: Hello."
YES = '- reply: { json: { passed: true, reason: "fine", score: 1 } }'
NO = '- reply: { json: { passed: false, reason: "rude", score: 0.5 } }'


def panel(*judges: str, **more: Any) -> Record:
    """A criterion on which these judges vote, the first two of them always."""
    names = [f"agents:{judge}" for judge in judges]
    return {"type": "agent", "use": names[0], "value": "kind", "judge": {"judges": names, **more}}


def demo(app: MakeApplication, *cases: Record, **files: str) -> Application:
    judges = {**agent("yes", replies=YES), **agent("yes.too", replies=YES), **agent("no", replies=NO)}
    return app({**agent(replies=SAID, cases=list(cases)), **judges, **files})


def test_a_report_and_a_comparison_say_the_noise_of_votes(app: MakeApplication) -> None:
    split = [
        {"id": f"s{at}", "input": "x", "assert": panel("yes", "no", "yes.too"), "threshold": 0.5} for at in range(8)
    ]
    same = [{"id": f"t{at}", "input": "x", "assert": panel("yes", "yes.too"), "threshold": 0.5} for at in range(8)]
    here = demo(app, *split, *same)

    run = here.run(
        "-i", case_file(), "-o", "a.jsonl", "-o", "a.json", "-o", "a.md", "-o", "a.txt", "-o", "a.xml", "-o", "a.html"
    )

    assert run.code == 0, run
    noise = lines_of(here.root / "a.jsonl")[-1]["judges_noise"]
    # half of the first two votes differ, by 1 as verdicts and by 0.5 as scores; 40 votes on 16 answers
    passed = 1.959964 * math.sqrt(0.25 * 16 / 16**2)
    score = 1.959964 * math.sqrt(8 * 0.125 / 40 * 16 / 16**2)
    assert noise == {"answers": 16, "pass_rate": round(passed, 4), "mean_score": round(score, 4)}
    assert json.loads((here.root / "a.json").read_text())["summary"]["judges_noise"] == noise
    rate, mean = (f"±{100 * noise[name]:.1f}" for name in ("pass_rate", "mean_score"))
    text = f"{rate} points of the pass rate, {mean} of the mean score (95% interval, votes on 16 answers)"
    assert f"Judge noise: {text}" in here.run("show", "a.jsonl", "-v").stdout
    assert "noise" not in run.stdout.lower()
    assert text in (here.root / "a.md").read_text()
    assert text in (here.root / "a.txt").read_text()
    assert 'name="judges_noise pass_rate"' in (here.root / "a.xml").read_text()
    assert here.run("show", "a.jsonl").stdout == run.stdout.partition("Wrote")[0]

    here.run("-i", case_file(), "-o", "b.jsonl")
    compared = here.run("diff", "a.jsonl", "b.jsonl", "--noise", "runs", "-v", "-o", "v.json")
    verdict = json.loads((here.root / "v.json").read_text())["verdict"]
    assert verdict["judges_noise"] == {"answers": 32, "interval": pytest.approx(passed * math.sqrt(2), abs=1e-5)}
    assert (
        f"Judge noise alone is ±{100 * passed * math.sqrt(2):.1f} points (95% interval, votes on 32 answers)"
        in compared.stdout
    )
    here.run("diff", "a.jsonl", "b.jsonl", "--measure", "score", "-o", "v.json")
    of_score = json.loads((here.root / "v.json").read_text())["verdict"]["judges_noise"]
    assert of_score["interval"] == pytest.approx(score * math.sqrt(2), abs=1e-5)


def test_several_runs_say_the_same_in_all_formats(app: MakeApplication) -> None:
    cases = [{"id": f"s{at}", "input": "x", "assert": panel("yes", "no", "yes.too")} for at in range(3)]
    here = demo(app, *cases)
    here.run("-i", case_file(), "--runs", "4", "-o", "a.jsonl", "-o", "a.json")

    noise = lines_of(here.root / "a.jsonl")[-1]["judges_noise"]
    saved = json.loads((here.root / "a.json").read_text())
    assert noise["answers"] == 12
    assert saved["summary"]["judges_noise"] == noise
    both = [here.run("diff", "a.jsonl", name, "--noise", "runs", "-v").stdout for name in ("a.jsonl", "a.json")]
    said = [line for text in both for line in text.splitlines() if "Judge noise" in line]
    assert len(said) == 2
    assert said[0] == said[1]


@pytest.mark.parametrize(
    "assertion",
    [panel("yes"), {"type": "contains", "value": "Hello"}, {**panel("yes"), "type": "preference", "value": "Bye"}],
)
def test_nothing_is_said_where_nobody_voted_twice_on_one_question(app: MakeApplication, assertion: Record) -> None:
    if assertion["type"] == "preference":
        del assertion["judge"]
    here = demo(app, *[{"id": f"s{at}", "input": "x", "assert": assertion} for at in range(12)])
    run = here.run("-i", case_file(), "-o", "a.jsonl")

    assert "noise" not in run.stdout + here.run("show", "a.jsonl", "-v").stdout
    assert "judges_noise" not in lines_of(here.root / "a.jsonl")[-1]


def talk(threshold: float) -> Record:
    rubric = {
        "type": "rubrics",
        "criteria": ["It is kind"],
        "judge": {"judges": ["agents:yes", "agents:yes.too", "agents:no"]},
    }
    return {
        "id": "talk",
        "mode": "conversation",
        "turns": [{"input": "a", "assertions": [rubric]}],
        "trials": 4,
        "threshold": threshold,
    }


def test_the_mean_of_trials_tells_the_noise_of_judge_and_agent_apart(app: MakeApplication) -> None:
    voted = {
        "type": "rubrics",
        "criteria": ["It is kind"],
        "judge": {"judges": [f"agents:{name}" for name in ("no", "yes", "yes.too")]},
    }
    case = {**talk(0.2), "turns": [{"input": "a", "assertions": [voted]}]}
    here = demo(app, case)
    run = here.run("-i", case_file(), "-o", "a.jsonl", "-o", "a.html", "-o", "a.md")

    found = lines_of(here.root / "a.jsonl")[1]
    error = math.sqrt(((1 - 5 / 6) ** 2 * 2 + (0.5 - 5 / 6) ** 2) / 2 / 3)  # of the mean of 0.5, 1 and 1
    assert found["trials_noise"] == {"error": round(error / 2, 6), "judge": round(error**2, 6), "agent": 0.0}
    said = f"accurate to ± {error:.2f}; the judge causes 100 % of the noise of one trial, the agent 0 %"
    assert said in run.stdout
    assert said in (here.root / "a.md").read_text()
    here.write({f"/{case_file()}": lines({**case, "threshold": 0.8})})
    undecided = here.run("-i", case_file(), "-o", "a.jsonl")
    assert undecided.code == 1
    assert lines_of(here.root / "a.jsonl")[1]["cause"] == "inconclusive"
    assert (
        "inconclusive: by the votes, the score is 0.83 ± 0.17, and the threshold 0.8 lies within that"
        in undecided.stdout
    )


def test_votes_on_checkpoints_are_in_the_report(app: MakeApplication) -> None:
    def checkpoint(id: str, *judges: str) -> Record:
        return {"id": id, "required": False, "assertion": panel(*judges)}

    case = {
        "id": "reached",
        "input": "x",
        "simulator": {"use": "scripts:user"},
        "checkpoints": [
            checkpoint("open", "yes", "no"),
            checkpoint("not", "no"),
            checkpoint("done", "yes", "yes.too"),
            {"id": "plain", "required": False, "assertion": {"type": "contains", "value": "Hello"}},
        ],
    }
    here = demo(app, case, **{"/scripts/user.ts": "export function Simulate() { return { goal_achieved: true }; }\n"})
    here.run("-i", case_file(), "-o", "a.jsonl")

    found = {one["id"]: one for one in lines_of(here.root / "a.jsonl")[1]["checkpoints"]}
    assert [vote["passed"] for vote in found["open"]["assertions"][0]["votes"]] == [True, False]
    assert found["open"]["inconclusive"] is True
    assert found["open"]["assertions"][0]["inconclusive"] is True
    assert found["not"]["assertions"][0]["judge"] == "no"
    assert [vote["passed"] for vote in found["done"]["assertions"][0]["votes"]] == [True, True]
    assert "assertions" not in found["plain"]


SCRIPTS = """\
function panel(...names) { return { criteria: "kind", judge: { judges: names.map((name) => "agents:" + name) } }; }
function TestTwoOfThree(t) { t.assert.Agent("hi", "yes", panel("yes", "no", "yes.too")); }
function TestOneToOne(t) { t.assert.Agent("hi", "yes", panel("yes", "no")); }
function TestNo(t) { t.assert.Agent("hi", "no", { judge: { samples: 3 } }); }
function TestAlone(t) { t.assert.Agent("hi", "no"); }
function TestQuorum(t) { t.assert.Agent("hi", "no", { ...panel("yes", "no", "yes.too"), judge: { ...panel("yes", "no", "yes.too").judge, quorum: 1 } }); }
function TestMocked(t) {
  const mock = t.mock.agent("yes", { passed: true });
  t.assert.Agent("hi", "yes", { judge: { samples: 3 } });
  t.assert.Equal(mock.calls.length, 2);
}
function TestUnjudged(t) {
  t.mock.agent("no", { judged: false, reason: "no idea" });
  t.assert.Agent("hi", "no", { judge: { samples: 2 } });
}
function TestBroken(t) {
  t.mock.agent("no", () => { throw new Error("away"); });
  t.assert.Agent("hi", "no", { judge: { samples: 2 } });
}
function TestOneBroke(t) {
  t.mock.agent("no", () => { throw new Error("away"); });
  t.assert.Agent("hi", "no", panel("no", "yes"));
}
function TestTooMany(t) { t.assert.Agent("hi", "no", { judge: { samples: 10 } }); }
function TestUnknown(t) { t.assert.Agent("hi", "no", { judge: { sample: 2 } }); }
"""
FOUND = {
    "TestTwoOfThree": ("passed", None, ""),
    "TestOneToOne": ("failed", "inconclusive", "inconclusive: 1 of 2 votes passed, 2 decide (yes: yes, fine; no: no, rude)"),
    "TestNo": ("failed", "assertion", "rude (0 of 2 votes passed)"),
    "TestAlone": ("failed", "assertion", "rude"),
    "TestQuorum": ("failed", "inconclusive", "inconclusive: 2 of 3 votes passed, 3 decide"),
    "TestMocked": ("passed", None, ""),
    "TestUnjudged": ("passed", None, ""),
    "TestBroken": ("failed", "assertion", 'The validator "no" could not be asked: '),
    "TestOneBroke": ("passed", None, ""),
    "TestTooMany": ("failed", "assertion", '"judge.samples" must be at most 9, not 10. Allowed fields: '),
    "TestUnknown": ("failed", "assertion", 'unknown field "sample" in "judge". Allowed fields: '),
}  # fmt: skip


def test_scripts_have_votes_as_cases_have_them(app: MakeApplication) -> None:
    here = demo(app, **{"votes_test.ts": SCRIPTS, "votes.ts": ""})

    report = here.report("-i", "scripts.demo.votes", code=1)

    found = {one["name"]: one for one in report["results"]}
    assert {name: (one["status"], one.get("cause")) for name, one in found.items()} == {
        name: said[:2] for name, said in FOUND.items()
    }
    for name, (_, _, text) in FOUND.items():
        assert text in (found[name].get("error") or ""), found[name]
    assert report["summary"]["not_judged"] == 1
    flagged = here.report("-i", "scripts.demo.votes", "--run", "TestAlone", "--judge-samples", "3", code=1)
    assert "rude (0 of 2 votes passed)" in flagged["results"][0]["error"]
    passing = here.run("-i", "scripts.demo.votes", "--run", "OneToOne", "--on-inconclusive", "pass")
    assert passing.code == 0
