"""`yao-test mutate` on case files: which changes of answers do their assertions notice?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import Application, MakeApplication
from model_server import ModelServer, says

from runner.execution import stopping

ANSWER = "Order 52 costs 18 euros and comes on 2031-06-03. It is not gift-wrapped."
CASES = [
    {"id": "anything", "input": "Where?"},
    {"id": "number", "input": "Where?", "assert": {"type": "contains", "value": "Order 52"}},
    {"id": "exact", "input": "Where?", "assert": {"type": "equals", "value": ANSWER}},
]
DESK = {
    "/assistants/desk/package.yao": '{"name": "Desk", "connector": "scripted"}',
    "/assistants/desk/prompts.yml": "- role: system\n  content: The code is PLUM-7.\n",
    "/assistants/desk/replies.yml": f"- reply: {ANSWER}\n",
    "/assistants/desk/tests/desk.jsonl": "\n".join(map(json.dumps, CASES)),
}
FILE = "assistants/desk/tests/desk.jsonl"


@pytest.fixture
def desk(app: MakeApplication) -> Application:
    return app(DESK)


def cases_of(app: Application, *arguments: str, code: int = 0) -> dict[str, Any]:
    run = app.run("mutate", "-i", FILE, "--json", *arguments)
    assert run.code == code, run.stderr
    (file,) = json.loads(run.stdout)["files"]
    return {case["id"]: case for case in file["cases"]} | {"left out": file["left_out"]}


def test_cases_are_named_by_what_they_miss(desk: Application) -> None:
    before = desk.listing()
    found = cases_of(desk)

    assert found["anything"]["checks_nothing"] is True
    assert found["anything"]["notices"] == []
    assert found["number"]["misses"] == ["dates", "negation", "half", "secret"]
    assert found["number"]["notices"] == ["numbers", "language", "empty", "apology"]
    assert found["exact"]["misses"] == []
    assert found["number"]["assertions"] == [
        {"assertion": 'contains "Order 52"', "notices": ["numbers", "language", "empty", "apology"]}
    ]
    assert desk.listing() == before


def test_the_weakest_come_first_and_the_threshold_decides(desk: Application) -> None:
    run = desk.run("mutate", "-i", FILE, "--threshold", "60%")

    assert run.code == 1
    assert run.stdout == (
        "assistants/desk/tests/desk.jsonl  50.0 %  12 of 24 noticed\n\n"
        "  Case      Noticed\n"
        "  anything  0 of 8   checks nothing relevant: it passes with every changed answer\n"
        "  number    4 of 8   still passes with: dates, negation, half, secret\n"
        "  exact     8 of 8\n\n"
        "Missed changes (number of cases): dates (2), negation (2), half (2), secret (2), numbers (1), language (1),"
        " empty (1), apology (1)\n"
        "New answers of scripted or recorded models. Score 50.0 %. 1 case would pass with any answer\n"
        f"The score 50.0 % of {FILE} is below the threshold 60.0 %\n"
    )
    assert desk.run("mutate", "-i", FILE, "--threshold", "0.5").code == 0
    assert ' contains "Order 52" notices numbers, language, empty' in desk.run("mutate", FILE, "-v").stdout


SUM = {
    "sum.ts": "export const sum = (a: number, b: number) => a + b;",
    "sum_test.ts": 'import { sum } from "./sum";\nfunction TestSum(t: testing.T) { t.assert.Equal(sum(1, 2), 3); }',
}


@pytest.mark.parametrize("chosen", [("--tag", "T"), ("--run", "^number$")], ids=" ".join)
def test_script_tests_without_the_chosen_ones_have_no_mutants(app: MakeApplication, chosen: tuple[str, str]) -> None:
    cases = "\n".join(json.dumps({**case, "tags": ["T"] * (case["id"] == "number")}) for case in CASES)
    run = app({**DESK, **SUM, f"/{FILE}": cases}).run("mutate", "-i", "assistants", *chosen)

    assert run.code == 0, run.stderr
    assert "  number  4 of 8 " in run.stdout
    assert run.stdout.endswith("\n0 mutants: none. Score -\n")


def test_an_unknown_mutator_is_refused_before_answers_are_changed(app: MakeApplication) -> None:
    run = app({**DESK, **SUM}).run("mutate", "-i", "assistants", "--mutators", "Letters")

    assert (run.code, run.stdout) == (2, "")
    assert "Cannot use --mutators Letters: unknown mutator" in run.stderr


def test_no_secret_is_written_into_a_file(app: MakeApplication) -> None:
    says_it = {"/assistants/desk/replies.yml": "- reply: The code is plum-4711-tree today. Order 52 is on its way.\n"}
    sum_test = {"sum_test.ts": 'import { sum } from "./sum";\nfunction TestSum() { sum("plum-4711", "-tree"); }'}
    here = app({**DESK, **SUM, **sum_test, **says_it})
    environment = {**here.environment, "DB_PASSWORD": "plum-4711-tree"}
    for tests, name in ((FILE, "weak.json"), ("scripts.demo", "mutants.md"), ("scripts.demo", "mutants.json")):
        assert here.run("mutate", "-i", tests, "-o", name, env=environment).code == 0
        assert "plum-4711-tree" not in (here.root / name).read_text()
    for name in ("weak.json", "mutants.md"):
        assert "***DB_PASSWORD***" in (here.root / name).read_text()


def test_a_run_that_ends_early_has_not_reached_the_threshold(
    desk: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopping, "BUDGET_GRACE", 0.0)
    desk.write({"/assistants/desk/replies.yml": "- reply: { text: Late, delay: 30s }\n"})
    ended = ["--max-duration", "10ms"]
    run = desk.run("mutate", "-i", FILE, "--threshold", "0.1", *ended)

    assert (run.code, "Stopped: --max-duration 10ms has passed\n" in run.stdout) == (1, True)
    assert desk.run("mutate", "-i", FILE, *ended).code == 0


def test_what_cases_notice_is_written_as_json_only(desk: Application) -> None:
    assert desk.run("mutate", "-i", FILE, "-o", "weak.json").code == 0
    assert json.loads((desk.root / "weak.json").read_text())["score"] == 0.5
    refused = desk.run("mutate", "-i", FILE, "-o", "weak.html")

    assert refused.code == 2
    assert "the report on cases is a .json file" in refused.stderr


def test_a_case_that_fails_with_its_own_answer_is_left_out(desk: Application) -> None:
    desk.write({f"/{FILE}": json.dumps({**CASES[1], "assert": {"type": "contains", "value": "Order 53"}})})

    assert cases_of(desk) == {
        "left out": {
            "number": f'it fails with its unchanged answer: Expected the output to contain "Order 53", found "{ANSWER}"'
        }
    }
    aimed = desk.run("mutate", "-i", FILE, "--threshold", "60%")
    assert (aimed.code, aimed.stdout.splitlines()[-1]) == (
        1,
        "There is no score for the threshold: all cases are left out",
    )


@pytest.mark.parametrize(
    ("flags", "use", "hint"),
    [
        (["--since", "main"], "mutants of handlers", "Pass script tests, or leave it out"),
        (["--cluster", "local"], "mutants of handlers", "Pass script tests, or leave it out"),
        (["--sample", "2"], "mutants and rules of prompts", "Pass script tests, or --prompts, or leave it out"),
        (["--resume", "r.jsonl"], "rules of prompts", "Add --prompts, or leave it out"),
        (["--from", "r.jsonl", "--prompts"], "changed answers of cases", "Leave out --from or --prompts"),
    ],
)
def test_a_flag_of_something_else_is_refused(desk: Application, flags: list[str], use: str, hint: str) -> None:
    run = desk.run("mutate", "-i", FILE, *flags)
    said = f"Error: {flags[0]} is for {use}, which are not tested here\nHint: {hint}\n"
    assert (run.code, run.stdout, run.stderr) == (2, "", said)


def of_model(desk: Application, model: ModelServer) -> None:
    desk.write(
        {
            "/connectors/local.conn.yao": json.dumps({"type": "openai", "options": {"host": model.url, "model": "m"}}),
            "/assistants/desk/package.yao": '{"name": "Desk", "connector": "local"}',
        }
    )


@pytest.mark.parametrize("kept", [("--store", ".yao-test"), ("-o", "run.jsonl")])
def test_answers_of_real_models_are_those_of_a_run_that_is_kept(desk: Application, kept: tuple[str, str]) -> None:
    with ModelServer(says(ANSWER)) as model:
        of_model(desk, model)
        nothing = desk.run("mutate", "-i", FILE)
        assert nothing.code == 2
        assert f"there is no stored run of {FILE}" in nothing.stderr
        assert len(model.requests) == 0
        assert desk.run("-i", FILE, *kept).code == 0
        asked = len(model.requests)
    found = cases_of(desk, *(("--from", "run.jsonl") if kept[0] == "-o" else ()))

    assert asked == len(CASES)
    assert found["number"]["misses"] == ["dates", "negation", "half", "secret"]


def test_cases_that_nobody_named_are_left_out_where_no_run_of_them_is_kept(desk: Application) -> None:
    desk.write(
        {
            "/assistants/other/package.yao": '{"name": "Other", "connector": "local"}',
            "/assistants/other/tests/other.jsonl": json.dumps(CASES[0]),
            "/assistants/other/src/half.ts": "export function Half(n) { return n / 2; }",
            "/assistants/other/src/half_test.ts": 'import { Half } from "./half";\n'
            "export function TestHalf(t) { t.assert.Equal(Half(4), 2); }",
            "/connectors/local.conn.yao": json.dumps({"type": "openai", "options": {"host": "http://localhost:9"}}),
        }
    )
    run = desk.run("mutate")

    assert run.code == 0, run
    other = "assistants/other/tests/other.jsonl"
    why = f"there is no stored run of {other}; run it once with --store or -o"
    assert f"  anything  left out: {why}\n" in run.stdout
    assert f"{FILE}  50.0 %" in run.stdout
    assert "assistants/other/src/half.ts" in run.stdout
    assert desk.run("mutate", "-i", "assistants/other").code == 0  # there are script tests, too
    cases = json.loads(desk.run("mutate", FILE, other, "--json").stdout)["files"]
    assert [(file["score"], file["left_out"]) for file in cases] == [(0.5, {}), (None, {"anything": why})]
    alone = desk.run("mutate", other)
    assert (alone.code, alone.stdout) == (2, "")


def test_recorded_answers_are_changed_without_a_run(desk: Application) -> None:
    with ModelServer(says(ANSWER)) as model:
        of_model(desk, model)
        assert desk.run("-i", FILE, "--record", "recordings").code == 0
    found = cases_of(desk, "--replay", "recordings")
    assert found["number"]["misses"] == ["dates", "negation", "half", "secret"]


def test_real_judges_are_asked_only_if_that_is_said(desk: Application) -> None:
    judged = [{"id": "polite", "input": "Where?", "assert": "Is polite"}]
    desk.write({f"/{FILE}": "\n".join(map(json.dumps, judged))})
    judge = "/assistants/workers/test/validator"
    with ModelServer(says('{"passed": true, "reason": "It is"}')) as model:
        of_model(desk, model)
        desk.write(
            {
                "/assistants/desk/package.yao": '{"name": "Desk", "connector": "scripted"}',
                f"{judge}/package.yao": '{"name": "Judge", "connector": "local"}',
                f"{judge}/prompts.yml": "- role: system\n  content: Judge.\n",
            }
        )
        closed = cases_of(desk)
        assert len(model.requests) == 0
        said = desk.run("mutate", FILE, "--ask-judges").stderr
        opened = cases_of(desk, "--ask-judges")

    assert "real models are called only with --ask-judges" in closed["left out"]["polite"]
    assert opened["polite"]["checks_nothing"] is True
    number = len(opened["polite"]["changes"])
    assert said == f"Judges call real models up to {number} times, for an unknown amount\n"
