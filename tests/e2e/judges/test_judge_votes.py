"""Judges that vote several times, disagree, and share a connector with the agent."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from agent_files import agent, case_file, run_cases
from command import Application, MakeApplication, Record
from model_server import Exchange, ModelServer, says

JUDGES = ("yes", "no", "yes.too", "broken", "unsure")
REPLIES = {
    "yes": '- reply: { json: { passed: true, reason: "fine", score: 0.8 } }',
    "yes.too": '- reply: { json: { passed: true, reason: "good", score: 1 } }',
    "no": '- reply: { json: { passed: false, reason: "rude", score: 0.2 } }',
    "broken": '- reply: "{{ metadata.nothing }}"',
    "unsure": '- reply: { json: { judged: false, reason: "no idea" } }',
}


def asked(*judges: str, **more: Any) -> Record:
    """An assertion that these judges vote on."""
    panel = {"judges": [f"agents:{judge}" for judge in judges], **more}
    return {"type": "agent", "use": f"agents:{judges[0]}", "value": "kind", "judge": panel}


def demo(app: MakeApplication, *cases: Record, **files: str) -> Application:
    judges: dict[str, str] = {}
    for judge in JUDGES:
        judges |= agent(judge, replies=REPLIES[judge])
    return app({**agent(replies="- reply: Hello.", cases=list(cases)), **judges, **files})


PANELS: dict[str, tuple[Record, str, list[bool | None], float | None]] = {
    # status and cause, votes, agreement
    "two of three": (asked("yes", "no", "yes.too"), "passed", [True, False, True], 0.3333),
    "the third is not needed": (asked("yes", "yes.too", "no"), "passed", [True, True], 1),
    "one to one": (asked("yes", "no"), "inconclusive", [True, False], 0),
    "what broke has no say": (asked("yes", "broken"), "passed", [True, None], None),
    "nor has who cannot judge": (asked("no", "unsure"), "assertion", [False, None], None),
    "all broke": (asked("broken", samples=2), "infrastructure", [], None),
    "samples": (asked("no", samples=3), "assertion", [False, False], 1),
    "a quorum of all": (asked("yes", "no", "yes.too", quorum=1), "inconclusive", [True, False, True], 0.3333),
    "negated, and undecided": ({**asked("yes", "no"), "negate": True}, "inconclusive", [True, False], 0),
}


@pytest.mark.parametrize("nested", [False, True], ids=["alone", "in all_of"])
def test_a_quorum_of_the_votes_decides(app: MakeApplication, nested: bool) -> None:
    def check(assertion: Record) -> Record:
        return {"type": "all_of", "value": [assertion]} if nested else assertion

    cases = [{"id": name, "input": "x", "assert": check(panel)} for name, (panel, *_) in PANELS.items()]

    found = run_cases(demo(app, *cases), code=1)

    for name, (_, ended, votes, agreement) in PANELS.items():
        record = found[name]
        (result,) = record["assertions"]
        if nested:
            (result,) = result["details"]
        assert (record.get("cause") or record["status"], name) == (ended, name)
        assert [vote["passed"] for vote in result.get("votes", [])] == votes, name
        assert result.get("agreement") == agreement, name
    assert found["two of three"]["assertions"][0].get("score", 0.6667) == pytest.approx(0.6667, abs=1e-3)


def test_an_inconclusive_case_is_an_error_unless_a_flag_settles_it(app: MakeApplication) -> None:
    both = {"id": "both", "input": "x", "assert": [asked("yes", "no"), {"type": "contains", "value": "Bye"}]}
    application = demo(app, {"id": "odd", "input": "x", "assert": asked("yes", "no")}, both)

    report = application.report("-i", case_file(), code=1)
    assert (report["summary"]["errors"], report["summary"]["failed"]) == (1, 1)
    odd, failed = report["results"]
    assert odd["error"].startswith("inconclusive: 1 of 2 votes passed, 2 decide (yes: yes, fine; no: no, rude)")
    assert failed["cause"] == "assertion"
    for how, counted in (("pass", "passed"), ("skip", "skipped"), ("fail", "failed")):
        summary = application.report("-i", case_file(), "--on-inconclusive", how, code=1)["summary"]
        assert summary[counted] == (2 if how == "fail" else 1)


def test_criteria_of_rubrics_are_voted_on(app: MakeApplication) -> None:
    rubrics = {"type": "rubrics", "criteria": ["kind", "short"], "judge": asked("yes", "no")["judge"]}
    talk = {"id": "talk", "mode": "conversation", "turns": [{"input": "x", "assertions": [rubrics]}]}

    record = run_cases(demo(app, talk), code=1)["talk"]

    assert (record["status"], record["cause"]) == ("failed", "inconclusive")
    kind, _ = record["scores"][0]["assertions"]
    assert (kind["inconclusive"], kind["agreement"], len(kind["votes"])) == (True, 0, 2)


SCORED: dict[str, tuple[tuple[str, ...], Record, str]] = {
    # judges, fields of the case, status or cause; yes gives 0.8, yes.too 1, no 0.2
    "above, and near": (("yes", "no", "yes.too"), {"threshold": 0.6}, "inconclusive"),
    "below, and near": (("yes", "no", "yes.too"), {"threshold": 0.75}, "inconclusive"),
    "far above": (("yes", "no", "yes.too"), {"threshold": 0.1}, "passed"),
    "the votes do not scatter": (("yes", "yes", "yes"), {"threshold": 0.79}, "passed"),
    "two votes say nothing of it": (("yes", "yes.too", "no"), {"threshold": 0.85}, "passed"),
    "far from it by its weight": (("yes", "no", "yes.too"), {"threshold": 0.8, "steady": 9}, "passed"),
    "negated, the scores are not the criterion's": (("yes", "no", "yes.too"), {"threshold": 0.3, "negate": True}, "assertion"),
}  # fmt: skip


@pytest.mark.parametrize("talk", [False, True], ids=["answer", "talk"])
def test_a_score_near_the_threshold_is_inconclusive_where_votes_scatter(app: MakeApplication, talk: bool) -> None:
    cases = []
    for name, (judges, fields, _) in SCORED.items():
        checks = [{**asked(*judges), "weight": 1, "negate": fields.get("negate", False)}]
        if "steady" in fields:
            checks.append({"type": "contains", "value": "Hello", "weight": fields["steady"]})
        case = {"id": name, "threshold": fields["threshold"]}
        turns = {"mode": "conversation", "turns": [{"input": "x", "assertions": checks}]}
        cases.append({**case, **(turns if talk else {"input": "x", "assert": checks})})

    found = run_cases(demo(app, *cases), code=1)

    for name, (*_, ended) in SCORED.items():
        record = found[name]
        assert (record.get("cause") or record["status"], name) == (ended, name), record
    said = "inconclusive: by the votes, the score is 0.67 ± 0.48, and the threshold 0.6 lies within that"
    assert found["above, and near"]["error"] == said


UNDECIDED = asked("yes", "no")
REACHED_BY_ALL = asked("yes", "yes.too")
NEVER: Record = {"type": "contains", "value": "Bye"}
CHECKPOINTS: dict[str, tuple[list[Record], str, list[bool]]] = {
    # checkpoints, status or cause, which are inconclusive
    "undecided": ([{"id": "a", "assertion": UNDECIDED}], "inconclusive", [True]),
    "another is missing": (
        [{"id": "a", "assertion": UNDECIDED}, {"id": "b", "assertion": NEVER}],
        "assertion",
        [True, False],
    ),
    "another comes after it": (
        [{"id": "a", "assertion": UNDECIDED}, {"id": "b", "assertion": NEVER, "after": ["a"]}],
        "inconclusive",
        [True, True],
    ),
    "a part of it fails": ([{"id": "a", "assert": [UNDECIDED, NEVER]}], "assertion", [False]),
    "optional": (
        [{"id": "a", "assertion": UNDECIDED, "required": False}, {"id": "b", "assertion": REACHED_BY_ALL}],
        "passed",
        [True, False],
    ),
    "undecided once, and missed later": (
        [{"id": "a", "assert": [UNDECIDED, {"type": "contains", "value": "Hello."}]}],
        "inconclusive",
        [True],
    ),
}


@pytest.mark.parametrize("mode", [{}, {"mode": "conversation"}], ids=["dynamic", "graded"])
@pytest.mark.parametrize("ends", [True, False], ids=["content", "max turns"])
def test_votes_on_a_checkpoint_that_do_not_decide_are_no_failure(
    app: MakeApplication, mode: Record, ends: bool
) -> None:
    cases = [
        {
            "id": name,
            **mode,
            "input": "Hi",
            "simulator": {"use": "scripts:play"},
            "max_turns": 3 if ends else 2,
            "checkpoints": checkpoints,
        }
        for name, (checkpoints, *_) in CHECKPOINTS.items()
    ]
    play = "export function Simulate(asked) { return { input: 'go', goal_achieved: asked.turn_number > 2 }; }\n"
    replies = "- when: { input: go }\n  reply: Oh.\n- reply: Hello.\n"
    files = {"/scripts/play.ts": play, "/assistants/demo/replies.yml": replies}

    found = run_cases(demo(app, *cases, **files), code=1)

    for name, (_, ended, undecided) in CHECKPOINTS.items():
        record = found[name]
        assert (record.get("cause") or record["status"], name) == (ended, name), record
        assert [one.get("inconclusive", False) for one in record["checkpoints"]] == undecided, name
    said = found["undecided"]["checkpoints"][0]["message"]
    assert said.startswith("inconclusive: 1 of 2 votes passed")
    assert "1 of 2 votes passed" in found["undecided"]["error"]


def test_the_flag_asks_every_judge_so_often_and_with_one_connector(app: MakeApplication) -> None:
    verdicts: Counter[str] = Counter()

    async def answer(exchange: Exchange) -> None:
        model = exchange.request.body["model"]
        verdicts[model] += 1
        passed = str(verdicts[model] != 2).lower()
        await says("Hello." if model == "agent" else f'{{"passed": {passed}, "reason": "r"}}')(exchange)

    with ModelServer(answer) as server:
        files = agent(package={"connector": "agent"}, cases=[{"id": "a", "input": "x", "assert": asked("strict")}])
        files |= agent("strict", package={"connector": "agent"})
        for name in ("agent", "other"):
            options = {"host": server.url, "model": name, "key": "k"}
            files[f"/connectors/{name}.conn.yao"] = json.dumps({"type": "openai", "options": options})
        application = app(files)
        run = application.run("-i", case_file(), "--judge-samples", "3", "--judge-connector", "other", "-o", "r.jsonl")
        assert run.code == 0, run
        assert verdicts == {"agent": 1, "other": 3}
        assert "Warning" not in run.stdout

        shared = application.run("-i", case_file(), "-o", "s.jsonl")
        said = "strict judges with agent, which the agent uses too: models are lenient with their own answers"
        assert shared.stdout.count(said) == 1

        again = application.run(
            "regrade", "r.jsonl", "--judge-connector", "other", "--judge-samples", "2", "-o", "g.jsonl"
        )
        assert again.code == 0 and verdicts["other"] == 5, again


PREFERENCES = {
    # what the judge says of the order output-other, and of the order other-output
    "better": ("true", "false", "passed", 1),
    "worse": ("false", "true", "failed", 0),
    "always the first": ("true", "true", "passed", 0.5),
    "always the second": ("false", "false", "passed", 0.5),
}


def test_a_preference_is_asked_in_both_orders(app: MakeApplication) -> None:
    replies = "".join(
        f"- when: {{ metadata.case: {name}, metadata.output.first: Hello. }}\n  reply: {{ json: {{ passed: {ahead}, reason: r }} }}\n"
        f"- when: {{ metadata.case: {name} }}\n  reply: {{ json: {{ passed: {behind}, reason: r }} }}\n"
        for name, (ahead, behind, _, _) in PREFERENCES.items()
    )
    judge = {"type": "preference", "use": "agents:judge", "value": "Go away.", "criteria": "kinder"}
    cases = [
        {"id": name, "input": "x", "assert": {**judge, "options": {"metadata": {"case": name}}}} for name in PREFERENCES
    ]
    application = demo(app, *cases, **agent("judge", replies=replies))

    found = run_cases(application, code=1)

    for name, (_, _, status, score) in PREFERENCES.items():
        assert (found[name]["status"], found[name]["assertions"][0]["score"]) == (status, score), name
    assert "Expected the output to be no worse than" in found["worse"]["error"]


def test_a_panel_that_cannot_be_is_an_error_of_the_file(app: MakeApplication) -> None:
    wrong = [
        {**asked("yes"), "judge": {"samples": 0}},
        {**asked("yes"), "judge": {"quorum": 2}},
        {**asked("yes"), "judge": {"judges": ["yes"]}},
        asked("nobody"),
        {"type": "contains", "value": "a", "judge": {"samples": 2}},
        {"type": "preference", "use": "agents:yes"},
    ]
    run = demo(app, *({"id": f"c{at}", "input": "x", "assert": one} for at, one in enumerate(wrong))).run(
        "-i", case_file()
    )

    assert (run.code, run.stdout) == (2, "")
    for line in (1, 2, 3, 5, 6):
        assert f"cases.jsonl:{line}:" in run.stderr, run.stderr
    only = demo(app, {"id": "a", "input": "x", "assert": asked("nobody")}).run("-i", case_file())
    assert only.code == 2 and "nobody" in only.stderr
