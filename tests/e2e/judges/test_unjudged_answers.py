"""What no judge could judge keeps its status and decides nothing: it is marked, counted in every format, and fails with
`--require-judge`. Cases that check nothing are counted too."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest
from agent_files import agent, case_file, lines, run_cases
from command import Application, MakeApplication, Record

REPLIES = '- reply: "hello {{ input }}"\n'
VALIDATOR = "agents:workers.test.validator"
UNJUDGED = "There is an answer; what it says was not judged"
REFUSED = f"Not judged, but --require-judge is set: {UNJUDGED}"


def judged_by(criteria: str | None, **more: Any) -> Record:
    """An `agent` assertion with the validator that ships; one without criteria cannot be judged either."""
    return {"type": "agent", "use": VALIDATOR, **({} if criteria is None else {"value": criteria}), **more}


POLITE = judged_by("Is polite")
HELLO = {"type": "contains", "value": "hello"}
BYE = {"type": "contains", "value": "bye"}
FALSE = judged_by('Says "bye"')


def case(id: str, *assertions: Record, **more: Any) -> Record:
    return {"id": id, "input": "you", "assert": list(assertions), **more}


def together(kind: str, *parts: Record, **more: Any) -> Record:
    return {"type": kind, "value": list(parts), **more}


def conversation(id: str, *turns: list[Any], **more: Any) -> Record:
    return {"id": id, "mode": "conversation", "turns": [{"input": "you", "assertions": turn} for turn in turns], **more}


def dynamic(id: str, *checkpoints: Record) -> Record:
    simulator = {"use": "agents:workers.test.user-simulator", "goal": "tea"}
    return {"id": id, "input": "you", "simulator": simulator, "checkpoints": list(checkpoints), "max_turns": 8}


def application(app: MakeApplication, *cases: Record, **more: Any) -> Application:
    return app(agent(replies=REPLIES, cases=list(cases), **more))


def test_an_assertion_that_was_not_judged_keeps_its_status_and_has_no_score(app: MakeApplication) -> None:
    demo = application(
        app,
        case("plain", POLITE),
        case("negated", judged_by("Is rude", negate=True)),
        case("without criteria", judged_by(None)),
        case("quoted", judged_by('Says "hello"')),
        case("by metadata", judged_by("Is polite", options={"metadata": {"scripted": "pass"}})),
    )
    found = run_cases(demo, code=0)
    for id in ("plain", "negated", "without criteria"):
        (assertion,) = found[id]["assertions"]
        assert (assertion["passed"], assertion["judged"], assertion["message"]) == (True, False, UNJUDGED), id
        assert "score" not in assertion
        assert (found[id]["status"], found[id]["not_judged"]) == ("passed", 1)
    for id in ("quoted", "by metadata"):
        (assertion,) = found[id]["assertions"]
        assert (assertion["passed"], assertion["score"]) == (True, 1)
        assert "judged" not in assertion and "not_judged" not in found[id]


def test_what_was_not_judged_decides_nothing_in_compositions(app: MakeApplication) -> None:
    demo = application(
        app,
        case("any: nothing holds", together("any_of", POLITE, BYE)),
        case("any: two judges", together("any_of", POLITE, FALSE)),
        case("any: another holds", together("any_of", POLITE, HELLO)),
        case("any: nothing else", together("any_of", POLITE, POLITE)),
        case("any: negated", together("any_of", POLITE, HELLO, negate=True)),
        case("all: the others hold", together("all_of", POLITE, HELLO)),
        case("all: one does not", together("all_of", POLITE, BYE)),
        case("all: nothing else", together("all_of", POLITE, negate=True)),
        case("nested", together("any_of", together("all_of", POLITE), BYE)),
    )
    found = run_cases(demo, code=1)
    status = {id: record["status"] for id, record in found.items()}
    assert status == {
        "any: nothing holds": "failed",
        "any: two judges": "failed",
        "any: another holds": "passed",
        "any: nothing else": "passed",
        "any: negated": "failed",
        "all: the others hold": "passed",
        "all: one does not": "failed",
        "all: nothing else": "passed",
        "nested": "failed",
    }
    assert "1. agent: not judged; 2. contains: Expected" in found["any: nothing holds"]["error"]
    unjudged = {id for id, record in found.items() if record["assertions"][0].get("judged") is False}
    assert unjudged == {"any: nothing else", "all: nothing else"}
    assert {id: record["not_judged"] for id, record in found.items() if record["not_judged"] != 1} == {
        "any: nothing else": 2
    }


def test_rubrics_that_were_not_judged_are_left_out_of_scores(app: MakeApplication) -> None:
    heavy = {"type": "rubrics", "criteria": [{"outcome": "Is kind", "weight": 9, "required": True}]}
    demo = application(
        app,
        conversation("mixed", ["Is polite", 'Says "hello"', 'Says "bye"', heavy], ["Is short"]),
        conversation("least", ["Is polite"], ['Says "hello"'], aggregation="min"),
        conversation("nothing", ["Is polite"], ["Is short"], assertions=["Is of one mind"]),
        {**conversation("reference"), "turns": [{"input": "you", "expected_output": "Good day"}]},
        {**conversation("whole"), "turns": [{"input": "you"}], "criteria": "Is polite"},
        conversation("trials", ["Is polite"], trials=2),
    )
    found = run_cases(demo, code=1)
    assert {id: (record["status"], record["score"], record["not_judged"]) for id, record in found.items()} == {
        "mixed": ("failed", 0.5, 3),
        "least": ("passed", 1.0, 1),
        "nothing": ("passed", None, 3),
        "reference": ("passed", None, 1),
        "whole": ("passed", 1.0, 1),
        "trials": ("passed", None, 1),
    }
    first, second = found["mixed"]["scores"]
    assert (first["score"], second["score"], second["verdict"]) == (0.5, None, "pass")
    criteria = {item["text"]: item for item in first["assertions"]}
    assert criteria["Is polite"] == {
        "judge": "workers.test.validator",
        "judge_connector": "scripted",
        "text": "Is polite",
        "passed": True,
        "weight": 1,
        "reason": UNJUDGED,
        "judged": False,
    }
    assert "judged" not in criteria['Says "hello"'] and criteria['Says "hello"']["score"] == 1


def test_turns_final_assertions_and_checkpoints_are_marked_too(app: MakeApplication) -> None:
    final = {"id": "turns", "turns": [{"input": "you", "assertions": [POLITE]}], "final_assertions": [POLITE]}
    reached = {"id": "greeted", "assert": HELLO}
    demo = application(
        app,
        final,
        dynamic("dynamic", {"id": "polite", "assert": POLITE}, reached),
        dynamic("decided", {"id": "both", "assert": [POLITE, HELLO]}),
    )
    found = run_cases(demo, code=0)
    assert found["turns"]["turns"][0]["assertions"][0]["judged"] is False
    assert found["turns"]["final_assertions"][0]["judged"] is False
    assert {id: record["not_judged"] for id, record in found.items()} == {"turns": 2, "dynamic": 1, "decided": 1}
    marks = {item["id"]: item.get("judged", True) for item in found["dynamic"]["checkpoints"]}
    assert marks == {"polite": False, "greeted": True}
    assert "judged" not in found["decided"]["checkpoints"][0]


def test_checkpoints_that_are_not_reached_are_counted_once(app: MakeApplication) -> None:
    optional = {"id": "polite", "required": False, "assert": POLITE}
    open_ = {"id": "open", "required": False, "assert": [POLITE, BYE]}
    late = {"id": "late", "assert": {"type": "contains", "value": "go on"}}
    cases = [dynamic("optional", optional, open_, late)]
    demo = application(app, *cases)
    for arguments in ([], ["--require-judge"]):
        record = run_cases(demo, *arguments, code=0)["optional"]
        assert record["total_turns"] > 1 and record["not_judged"] == 2
        reached = {item["id"]: item["passed"] for item in record["checkpoints"]}
        assert reached == {"polite": not arguments, "open": False, "late": True}


def test_with_require_judge_it_fails(app: MakeApplication) -> None:
    demo = application(
        app,
        case("plain", POLITE),
        case("negated", judged_by("Is rude", negate=True)),
        case("decided without it", together("any_of", POLITE, HELLO)),
        case("not decided without it", together("all_of", POLITE, HELLO)),
        case("negated whole", together("any_of", POLITE, BYE, negate=True)),
        case("judged", judged_by('Says "hello"')),
        conversation("rubrics", ["Is polite", 'Says "hello"']),
        dynamic("checkpoint", {"id": "polite", "assert": POLITE}),
        {"id": "final", "turns": [{"input": "you"}], "final_assertions": [POLITE]},
    )
    found = run_cases(demo, "--require-judge", code=1)
    passed = {id for id, record in found.items() if record["status"] == "passed"}
    assert passed == {"decided without it", "judged"}
    assert {record["cause"] for id, record in found.items() if id not in passed} == {"assertion"}
    assert found["plain"]["error"] == f"assertion failed: {REFUSED}"
    assert found["negated"]["error"] == f"assertion failed: {REFUSED}"
    assert found["rubrics"]["error"] == f'turn-1: "Is polite": {REFUSED}'
    assert found["checkpoint"]["error"] == f"checkpoint polite failed: {REFUSED}"
    assert found["final"]["error"] == f"assertion failed: {REFUSED} (in final assertions)"
    run = demo.run("-i", case_file(), "--run", "^plain$", "--require-judge")
    assert run.code == 1 and "--run '^plain$' --require-judge" in run.stdout


SCRIPTS = {
    "judging_test.ts": """\
const options = { criteria: "Is polite", connector: "scripted" };
export function TestPolite(t: testing.T) {
  t.assert.True(t.assert.Agent("Hi", "workers.test.validator", options));
  t.run("inner", (t) => { t.require.Agent("Hi", "workers.test.validator", options); });
}
export function TestQuoted(t: testing.T) {
  t.assert.Agent("Hi", "workers.test.validator", { ...options, criteria: 'Says "hi"' });
}
export function TestMocked(t: testing.T) {
  t.mock.agent("judge", { passed: true, judged: false, reason: "No idea" });
  t.assert.Agent("Hi", "judge", { criteria: "Is polite" });
}
export function TestMockedWithoutVerdict(t: testing.T) {
  t.mock.agent("judge", { judged: false });
  t.assert.True(t.assert.Agent("Hi", "judge", { criteria: "Is polite" }));
}
export function TestMockedVerdict(t: testing.T) {
  t.mock.agent("judge", { passed: false, judged: false, reason: "Rude" });
  t.assert.False(t.assert.Agent("Hi", "judge", { criteria: "Is polite" }));
}
"""
}


def test_script_tests_mark_what_was_not_judged(app: MakeApplication) -> None:
    demo = app(agent(replies=REPLIES) | SCRIPTS)
    found = demo.results("-i", "scripts.demo.judging", code=1)
    assert {name: (record["status"], record.get("not_judged")) for name, record in found.items()} == {
        "TestPolite": ("passed", 2),
        "TestQuoted": ("passed", None),
        "TestMocked": ("passed", 1),
        "TestMockedWithoutVerdict": ("passed", 1),
        "TestMockedVerdict": ("failed", None),
    }
    assert found["TestPolite"]["steps"][0]["not_judged"] == 1
    run = demo.run("-i", "scripts.demo.judging", "--run", "TestPolite|TestMocked$")
    assert run.code == 0 and "3 criteria were not judged\n" in run.stdout
    found = demo.results("-i", "scripts.demo.judging", "--require-judge", code=1)
    assert found["TestMocked"]["error"] == ("assertion failed: Not judged, but --require-judge is set: No idea")
    assert found["TestMockedWithoutVerdict"]["error"] == ("assertion failed: Not judged, but --require-judge is set")
    assert found["TestPolite"]["errors"][0] == f"assertion failed: {REFUSED}"
    assert found["TestPolite"]["location"].endswith("judging_test.ts:3:26")
    assert found["TestQuoted"]["status"] == "passed"


def test_a_script_may_hand_on_what_a_validator_could_not_judge(app: MakeApplication) -> None:
    script = """\
export function Handed(output: string) {
  return Process("agent.Validate", { agent: "workers.test.validator", output, criteria: "Is polite", connector: "scripted" });
}
export function Own() { return { judged: false, message: "No idea" }; }
export function No() { return { pass: false, judged: false, message: "No" }; }
"""
    uses = {name: {"type": "script", "use": f"scripts:judge.{name}"} for name in ("Handed", "Own", "No")}
    demo = application(app, *(case(name, use) for name, use in uses.items()))
    demo.write({"judge.ts": script})
    found = run_cases(demo, code=1)
    assert {id: (record["status"], record.get("not_judged")) for id, record in found.items()} == {
        "Handed": ("passed", 1),
        "Own": ("passed", 1),
        "No": ("failed", None),
    }


def test_a_validator_of_the_application_may_say_so_as_well(app: MakeApplication) -> None:
    answers = {
        "unsure": {"judged": False, "reason": "No idea", "score": 0.9},
        "no": {"passed": False, "judged": False, "reason": "Rude", "score": 0.1},
        "yes": {"passed": True, "judged": True, "score": 0.9},
    }
    cases = [case(id, {"type": "agent", "use": f"agents:{id}", "value": "Is polite"}) for id in answers]
    demo = application(app, *cases)
    for id, answer in answers.items():
        demo.write(agent(id, replies=f"- reply: {{ json: {json.dumps(answer)} }}\n"))
    found = {id: record["assertions"][0] for id, record in run_cases(demo, code=1).items()}
    assert [(item["passed"], item.get("judged"), item.get("score")) for item in found.values()] == [
        (True, False, None),
        (False, None, 0.1),
        (True, None, 0.9),
    ]


def test_runs_that_were_not_judged_are_in_no_rate_unless_there_are_no_others(app: MakeApplication) -> None:
    replies = "- when: { metadata.run: 1 }\n  reply: bye\n- reply: hello\n"
    script = "export function Judge(said: string) { return said === 'bye' ? { pass: false } : { judged: false }; }"
    mixed, never = case("mixed", {"type": "script", "use": "scripts:judge.Judge"}), case("never", POLITE)
    demo = app(agent(replies=replies, cases=[mixed, never]))
    demo.write({"judge.ts": script})
    report = demo.report("-i", case_file(), "--runs", "4", "--min-pass-rate", "60", code=1)
    mixed, never = report["results"]
    assert (mixed["status"], mixed["pass_rate"], mixed["runs"]) == ("failed", 0, 1)
    assert (never["status"], never["pass_rate"], never["runs"], never["not_judged"]) == ("passed", 100, 4, 1)
    assert [(run["not_judged"], run["judged"]) for run in never["run_details"]] == [(1, False)] * 4
    run = demo.run("-i", case_file(), "--runs", "4", "--run", "never")
    assert "Runs: ✓✓✓✓ 4 of 4 passed (100%), 4 not judged, stable\n" in run.stdout


@pytest.fixture
def reported(app: MakeApplication) -> Application:
    """Reports of every kind on two criteria that were not judged and three cases that check nothing."""
    empty = [{"id": id, "input": "you"} for id in ("a", "b", "c")]
    demo = application(app, case("one", POLITE), conversation("two", ["Is short"]), *empty)
    kinds = ("jsonl", "json", "md", "html", "xml", "ctrf.json", "txt")
    outputs = [word for kind in kinds for word in ("-o", f"<app>/out.{kind}".replace("<app>", str(demo.root)))]
    demo.run("-i", case_file(), *outputs)
    return demo


CRITERIA, CASES = "2 criteria were not judged", "3 cases check nothing: a, b, c"


def test_the_console_counts_them(reported: Application) -> None:
    run = reported.run("-i", case_file())
    assert run.code == 0
    assert f"  {CRITERIA}\n  {CASES}\n" in run.stdout
    assert "Assertions: 0/1 passed, 1 not judged" in run.stdout
    assert "Score: not judged → PASS" in run.stdout and "○ Is short (not judged)" in run.stdout
    for report in ("out.jsonl", "out.json"):
        shown = reported.run("show", report).stdout
        assert f"  {CRITERIA}\n  {CASES}\n" in shown, report
        assert "○ Is short (not judged)" in shown
    assert f"{CRITERIA}\n{CASES}\n" in reported.run("-i", case_file(), "-r", "report.summary").stdout
    assert f"  {CRITERIA}\n  {CASES}\n" in reported.run("-i", case_file(), "-q").stdout


def test_every_format_counts_them(reported: Application) -> None:
    text = {path.name[4:]: path.read_text() for path in reported.root.glob("out.*")}
    counts = {"not_judged": 2, "checks_nothing": 3, "checks_nothing_first": ["a", "b", "c"]}
    summary = json.loads(text["jsonl"].splitlines()[-1])
    assert {key: summary[key] for key in counts} == counts
    results = [json.loads(line) for line in text["jsonl"].splitlines()]
    marks = {line["id"]: (line.get("not_judged"), line.get("checks_nothing")) for line in results if "id" in line}
    assert marks == {"one": (1, None), "two": (1, None), "a": (None, True), "b": (None, True), "c": (None, True)}
    document = json.loads(text["json"])
    assert {key: document["summary"][key] for key in counts} == counts
    assert f"{CRITERIA}\n\n{CASES}\n" in text["md"] and "| Not judged" in text["md"]
    assert f"{CRITERIA}; {CASES}" in text["html"]
    assert f"{CRITERIA}\n{CASES}\n" in text["txt"]
    ctrf = json.loads(text["ctrf.json"])["results"]
    assert {key: ctrf["summary"]["extra"][key] for key in counts} == counts
    assert [test.get("message") for test in ctrf["tests"]] == ["1 criterion was not judged"] * 2 + [
        "It checks nothing"
    ] * 3
    suite = ElementTree.fromstring(text["xml"]).find("testsuite")
    assert suite is not None
    properties = {item.get("name"): item.get("value") for item in suite.iter("property")}
    assert (properties["not_judged"], properties["checks_nothing_first"]) == ("2", "a, b, c")
    said = [out.text for out in suite.iter("system-out")]
    assert said[0] is not None and said[0].startswith("1 criterion was not judged\n")


def test_github_and_merge_say_it(reported: Application) -> None:
    step = reported.home / "summary.md"
    environment = {**reported.environment, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(step)}
    run = reported.run("-i", case_file(), env=environment)
    assert f"::warning title=yao-test::{CRITERIA}\n::warning title=yao-test::{CASES}\n" in run.stdout
    assert f"{CRITERIA}\n\n{CASES}\n" in step.read_text()
    run = reported.run("merge", "out.jsonl", "-o", "whole.json", "-o", "whole.md")
    assert run.stdout.endswith(f"{CRITERIA}\n{CASES}\n")
    whole = json.loads((reported.root / "whole.json").read_text())
    assert (whole["summary"]["not_judged"], whole["summary"]["checks_nothing"]) == (2, 3)
    assert CASES in (reported.root / "whole.md").read_text()


def test_resumed_results_are_counted_again(reported: Application) -> None:
    *kept, _, _ = (reported.root / "out.jsonl").read_text().splitlines()
    (reported.root / "out.jsonl").write_text("\n".join(kept) + "\n")
    run = reported.run("--resume", "out.jsonl", "-o", "again.json")
    assert f"  {CRITERIA}\n  {CASES}\n" in run.stdout
    assert json.loads((reported.root / "again.json").read_text())["summary"]["not_judged"] == 2


def test_the_first_ten_cases_that_check_nothing_are_named(app: MakeApplication) -> None:
    skipped = {"id": "left", "input": "you", "skip": True}
    demo = application(app, *({"id": f"c{number}", "input": "you"} for number in range(12)), skipped)
    run = demo.run("-i", case_file(), "-o", "out.jsonl")
    names = ", ".join(f"c{number}" for number in range(10))
    assert f"  12 cases check nothing: {names} and 2 more\n" in run.stdout
    assert f"12 cases check nothing: {names} and 2 more\n" in demo.run("show", "out.jsonl").stdout


def test_what_checks_something_is_not_counted(app: MakeApplication) -> None:
    demo = application(
        app,
        {"id": "expected", "input": "you", "expected": "hello you"},
        {"id": "assertion", "input": "you", "assert": HELLO},
        {"id": "turn", "turns": [{"input": "you", "assertions": [HELLO]}]},
        {"id": "simulated", "simulator": {"use": VALIDATOR.replace("validator", "user-simulator"), "goal": "tea"}},
        dynamic("checkpoints", {"id": "x", "assert": HELLO}),
        conversation("graded", ['Says "hello"']),
    )
    run = demo.run("-i", case_file())
    assert run.code == 0 and "nothing" not in run.stdout
    demo.write({f"/{case_file()}": lines({"id": "turns", "turns": [{"input": "you"}]}, conversation("talk", []))})
    assert "  2 cases check nothing: turns, talk\n" in demo.run("-i", case_file()).stdout
    assert "nothing" not in demo.run("-i", "Hello", "-n", "demo").stdout
