"""Each verdict of a judge counts once, wherever it is in a result: for `label`, and for `calibrate`."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from agent_files import agent, case_file, lines
from command import Application, MakeApplication, Record
from table_tests import each

SAYS_YES = '- reply: { json: { passed: true, reason: "fine", score: 0.9 } }'
ASKED = {"type": "agent", "use": "agents:judge", "value": "kind"}
OTHER = {**ASKED, "value": "short"}
RUBRICS = {"type": "rubrics", "criteria": [{"id": "r1", "outcome": "kind"}, "short"]}
SIMULATED = {"simulator": {"use": "agents:user"}, "max_turns": 2}
POLITE = {"id": "polite", "assertion": ASKED}
CASES: dict[str, tuple[Record, list[tuple[int, str]]]] = {
    # a case, and the turn and the criterion of each verdict
    "plain": ({"assert": ASKED}, [(0, "kind")]),
    "composed": ({"assert": {"type": "all_of", "value": [ASKED, OTHER]}}, [(0, "kind"), (0, "short")]),
    "two judges": ({"assert": [ASKED, {**ASKED, "use": "agents:judge.too"}]}, [(0, "kind"), (0, "kind (2)")]),
    "graded": (
        {"threshold": 0.5, "assert": [ASKED, {"type": "contains", "value": "Hello"}, {**OTHER, "weight": 2}]},
        [(0, "kind"), (0, "short")],
    ),
    "graded composition": (
        {"threshold": 0.5, "assert": {"type": "all_of", "value": [ASKED, OTHER]}},
        [(0, "kind"), (0, "short")],
    ),
    "rubrics": ({"rubrics": [{"id": "r1", "outcome": "kind"}, "short"]}, [(0, "r1"), (0, "short")]),
    "turns": (
        {"turns": [{"input": "a", "assert": ASKED}, {"input": "b", "assert": OTHER}], "final_assertions": [ASKED]},
        [(0, "kind"), (1, "kind"), (2, "short")],
    ),
    "talk": (
        {
            "mode": "conversation",
            "turns": [{"input": "a", "assertions": ["polite", OTHER, RUBRICS]}, {"input": "b", "expected_output": "c"}],
            "assertions": ["complete"],
        },
        [(0, "complete"), (1, "polite"), (1, "r1"), (1, "short"), (1, "short (2)"), (2, "Means the same as expected_output")],
    ),
    "simulated": ({**SIMULATED, "checkpoints": [POLITE, {"id": "short", "assertion": OTHER}]}, [(1, "kind"), (1, "short")]),
    "graded talk with checkpoints": (
        {"mode": "conversation", "turns": [{"input": "a", "assertions": ["polite"]}], "checkpoints": [POLITE]},
        [(1, "kind"), (1, "polite")],
    ),
}  # fmt: skip
SCRIPT = """
export function TestOne(t: any) { t.assert.Agent("Hello", "judge", { criteria: "kind" }); }
export function TestTwo(t: any) {
  t.assert.Agent("Hello", "judge", { criteria: "kind", judge: { samples: 3 } });
  t.run("more", (t: any) => { t.assert.Agent({ answer: "Bye" }, "judge", { criteria: "kind" }); });
}
export function TestRude(t: any) { t.assert.Agent("rude", "judge", { metadata: { tone: "kind" } }); }
export function TestUnjudged(t: any) { t.assert.Agent("unsure", "judge", { criteria: "kind" }); }
export function TestBroken(t: any) { t.assert.Agent("broken", "judge", { criteria: "kind" }); }
"""
FORMS = ("jsonl", "json", "html")
JUDGE = """
- { when: { metadata.output: rude }, reply: { json: { passed: false, reason: "no", score: 0.1 } } }
- { when: { metadata.output: unsure }, reply: { json: { judged: false } } }
- { when: { metadata.output: broken }, reply: "{{ metadata.nothing }}" }
"""


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    judges = {**agent("judge", replies=JUDGE + SAYS_YES), **agent("judge.too", replies=SAYS_YES)}
    own = {**agent("workers.test.validator", replies=SAYS_YES), **agent("user", replies="- reply: Go on.")}
    cases = [{"id": id, "input": "x", **case} for id, (case, _) in CASES.items()]
    cases = [{key: value for key, value in case.items() if key != "input" or "turns" not in case} for case in cases]
    demo = agent(replies="- reply: Hello.", cases=cases)
    app = shared_app({**demo, **judges, **own, "j_test.ts": SCRIPT, "j.ts": ""})
    assert app.run("-i", case_file(), "-o", "cases.jsonl").code == 0
    assert app.run("-i", "scripts.demo.j", "-o", "scripts.jsonl").code == 1
    return app


def labels_of(here: Application, report: str) -> list[Record]:
    assert here.run("label", report, "--count", "500", "-o", f"l.{report}").code == 0
    return [json.loads(line) for line in (here.root / f"l.{report}").read_text().splitlines()]


def results_of(here: Application, report: str) -> dict[str, Record]:
    found = [json.loads(line) for line in (here.root / report).read_text().splitlines()]
    return {record["id"]: record for record in found if record["type"] == "result"}


@each("id", CASES)
def test_each_verdict_of_a_case_is_there_once(here: Application, id: str) -> None:
    found = [one for one in labels_of(here, "cases.jsonl") if one["id"] == id]

    assert sorted((one["turn"], one["criterion"]) for one in found) == CASES[id][1]
    assert {one["output"] for one in found} == {"Hello."}
    asked = results_of(here, "cases.jsonl")[id]["trace"]["totals"]["judge"]["model_calls"]
    assert len(found) == asked


def test_each_verdict_that_a_script_asks_for_is_there_once(here: Application) -> None:
    found = labels_of(here, "scripts.jsonl")

    assert sorted((one["id"], one["turn"], one["criterion"], one["output"]) for one in found) == [
        ("TestOne", 0, "kind", "Hello"),
        ("TestRude", 0, '{"tone": "kind"}', "rude"),
        ("TestTwo", 1, "kind", "Hello"),
        ("TestTwo", 2, "kind", '{"answer": "Bye"}'),
    ]
    results = results_of(here, "scripts.jsonl")
    (voted, _) = results["TestTwo"]["judgements"]
    assert [(vote["passed"], vote["score"]) for vote in voted["votes"]] == [(True, 0.9)] * 2
    assert (voted["agreement"], voted["score"], voted["judge"]) == (1.0, 0.9, "judge")
    assert results["TestUnjudged"]["judgements"][0]["judged"] is False
    assert results["TestBroken"]["judgements"][0]["error"] is True
    assert Counter(call["call"] for call in results["TestTwo"]["outside"]) == {"agents.judge": 1}


def test_labels_of_cases_and_scripts_are_found_again(here: Application) -> None:
    for report, strict in (("cases.jsonl", 0), ("scripts.jsonl", 1)):
        labels = labels_of(here, report)
        here.write({"/filled.jsonl": lines(*({**one, "passed": True} for one in labels))})

        run = here.run("calibrate", report, "filled.jsonl", "-o", "t.json")

        assert run.code == 0, run
        found = json.loads((here.root / "t.json").read_text())
        assert (found["judged"], found["labels"], found["unknown"]) == (len(labels), len(labels), 0)
        assert f"The judge is too strict in {strict} of " in run.stdout


def test_a_saved_report_keeps_what_scripts_asked_of_judges(here: Application) -> None:
    assert here.run("merge", "scripts.jsonl", "-o", "merged.jsonl", "-o", "merged.json").code in (0, 1)

    judged = {id: record.get("judgements") for id, record in results_of(here, "scripts.jsonl").items()}
    assert {id: one.get("judgements") for id, one in results_of(here, "merged.jsonl").items()} == judged
    for form in ("merged.jsonl", "merged.json"):
        assert here.run("label", form, "-o", f"{form}.csv").code == 0


def test_who_counts_votes_for_scripts_says_what_it_takes(shared_app: MakeApplication) -> None:
    odd = '[[], [1], ["x", 1, 2], ["judge", null, [1]], ["judge", null, [{}], 1, 2], ["judge", { samples: 0 }, []]]'
    script = (
        "export function TestOdd(t: any) {\n"
        f"  for (const args of {odd} as any[]) try {{ Process('agent.Vote', ...args); t.fail('taken'); }}\n"
        "  catch (e: any) { t.assert.NotContains(e.message, 'Error:'); t.log(e.message); }\n}"
    )
    app = shared_app({"odd_test.ts": script})
    report = app.report("-i", "scripts.demo.odd")
    (found,) = report["results"]
    assert len(found["logs"]) == 6
    assert "outside" not in found


def test_no_secret_stands_in_what_judges_were_asked(shared_app: MakeApplication) -> None:
    key = "sk-canary-of-judgements"
    script = f"export function TestKey(t: any) {{ t.assert.Agent('{key}', 'judge', {{ criteria: 'has {key}' }}); }}"
    connector = {"type": "openai", "options": {"host": "http://127.0.0.1:1", "model": "m", "key": key}}
    files = {"/connectors/x.conn.yao": json.dumps(connector), "key_test.ts": script, "key.ts": ""}
    app = shared_app({**agent(), **agent("judge", replies=SAYS_YES), **files})

    run = app.run("-i", "scripts.demo.key", "-v", "-o", "k.jsonl", "-o", "k.json", "-o", "k.html")

    assert run.code == 0, run
    assert results_of(app, "k.jsonl")["TestKey"]["judgements"][0]["expected"].startswith("has ***")
    assert not any(key in text for text in (run.stdout, *((app.root / f"k.{form}").read_text() for form in FORMS)))
