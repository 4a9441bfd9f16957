"""Which model a result is of: two connectors in turn, or side by side, before a real server that streams in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from agent_files import agent, case_file, lines
from command import Application, MakeApplication, Record
from model_server import Exchange, ModelServer, says

CASE = {"id": "hi", "input": "Hello", "assert": {"type": "contains", "value": "Sorry"}}
GREETING = "- { role: system, content: You help. }"


async def by_model(exchange: Exchange) -> None:
    polite = exchange.request.body["model"].startswith("good")
    await says("Sorry about that!" if polite else "No.")(exchange)


@pytest.fixture(scope="module")
def host() -> Iterator[ModelServer]:
    with ModelServer(by_model) as server:
        yield server


def connector(host: ModelServer, id: str, model: str = "", **options: object) -> dict[str, str]:
    own = {"host": host.url, "model": model or id, "key": "sk-x", **options}
    return {f"/connectors/{id}.conn.yao": json.dumps({"type": "openai", "options": own})}


def desk(host: ModelServer, make: MakeApplication, **files: str) -> Application:
    package = {"connector": "good"}
    own = agent(package=package, prompts=GREETING, replies=None, cases=[CASE])
    return make({**own, **connector(host, "good"), **connector(host, "bad"), "/.yao-test/.keep": "", **files})


def ask(here: Application, name: str, *arguments: str) -> str:
    """Runs the case, and returns the name of the report."""
    here.run("-i", case_file(), "-q", "-o", f"{name}.jsonl", *arguments)
    return f"{name}.jsonl"


def changes(here: Application, before: str, after: str) -> tuple[list[str], Record]:
    """The parts that the result of the case differs in, by the comparison as JSON, and those of all results."""
    assert here.run("diff", before, after, "-o", "d.json").code == 0
    found = json.loads((here.root / "d.json").read_text())
    lists = [found[kind] for kind in ("new_failures", "fixed", "still_failing", "changed") if found[kind]]
    return lists[0][0]["changed_parts"], found["changed_parts"]


@pytest.fixture(scope="module")
def in_turn(host: ModelServer, shared_app: MakeApplication) -> Application:
    """Four runs, with two connectors in turn."""
    here = desk(host, shared_app)
    for name in ("good", "bad", "good", "bad"):
        ask(here, name, "-c", name)
    return here


def test_a_switch_of_the_connector_is_a_change_and_no_flakiness(in_turn: Application) -> None:
    table = in_turn.run("history", "-v").stdout
    one = in_turn.run("history", "hi").stdout
    record = json.loads(in_turn.run("history", "hi", "--json").stdout)

    assert [line.split()[:5] for line in table.splitlines()[1:2]] == [["hi", "bad", "0.0%", "(0.0-65.8%)", "fails"]]
    assert "flaky" not in (table + one).lower()
    rows = one.split("Changed\n")[1].splitlines()
    assert [row.split("connector ")[1:] for row in rows] == [["(good → bad)"], ["(bad → good)"], ["(good → bad)"], []]
    assert [row.split()[3] for row in rows] == ["bad", "good", "bad", "good"]
    (test,) = record["tests"]
    assert [result["asked"] for result in test["results"]] == ["good", "bad", "good", "bad"]
    assert test["failing_since"]["changed"] == ["connector: good → bad"]
    assert [run["connectors"] for run in record["runs"]] == [["bad"], ["good"], ["bad"], ["good"]]
    assert "bad" in in_turn.run("store", "list").stdout


def test_a_switch_is_said_once_wherever_two_runs_are_compared(in_turn: Application) -> None:
    run = in_turn.run("diff", "good.jsonl", "bad.jsonl", "-o", "d.md")

    assert "    changed: connector (good → bad)\n" in run.stdout
    assert "Changed since the baseline: connector (good → bad) (1 result)\n" in run.stdout
    assert changes(in_turn, "good.jsonl", "bad.jsonl") == (["connector: good → bad"], {"connector: good → bad": 1})
    written = (in_turn.root / "d.md").read_text()
    assert "Changed since the baseline: connector (good → bad) (1 result)\n" in written
    assert "passed → failed; changed: connector (good → bad)\n" in written


@pytest.mark.parametrize(
    ("edit", "arguments", "said"),
    [
        ({"/assistants/demo/package.yao": json.dumps({"connector": "bad"})}, (), ["connector: good → bad"]),
        (
            {"/assistants/demo/package.yao": json.dumps({"connector": "bad", "description": "d"})},
            (),
            ["connector: good → bad", "agent demo"],
        ),
        ({}, ("--connector", "good"), []),
        ({}, ("-c", "bad", "--strict"), ["connector: good → bad", "--strict"]),
        ({"/assistants/demo/prompts.yml": GREETING.replace("You", "We")}, (), ["prompts demo"]),
        ({"/assistants/demo/prompts.yml": GREETING.replace("You", "We")}, ("-c", "bad"), ["connector: good → bad", "prompts demo"]),
    ],
    ids=["package.yao", "and more of it", "the same by a flag", "and a flag", "no connector", "and the prompts"],
)  # fmt: skip
def test_what_changed_beside_a_connector_is_said_beside_it(
    host: ModelServer, app: MakeApplication, edit: dict[str, str], arguments: tuple[str, ...], said: list[str]
) -> None:
    here = desk(host, app)
    ask(here, "a")
    here.write(edit)
    ask(here, "b", *arguments)

    whole = here.run("diff", "a.jsonl", "b.jsonl", "-o", "d.json")
    document = json.loads((here.root / "d.json").read_text())
    parts = [part for part in document["changed_parts"] if said or part != "--connector"]
    assert (whole.code, parts) == (0, said)


def test_runs_with_different_connectors_are_named_when_they_are_joined(in_turn: Application) -> None:
    run = in_turn.run("merge", "good.jsonl", "bad.jsonl", "--as-runs", "-o", "both.jsonl")

    assert (run.code, run.stderr) == (0, "Warning: the runs of hi used different connectors: bad, good\n")


def test_another_model_of_one_connector_is_named_and_is_no_flakiness(host: ModelServer, app: MakeApplication) -> None:
    here = desk(host, app)
    for model in ("good-1", "bad-1", "good-1", "bad-1"):
        here.write(connector(host, "good", model))
        ask(here, model)

    said = here.run("history", "hi", "-v").stdout
    assert "  Run pass rate: 0.0% (0.0-65.8%) of 2 runs with good (openai bad-1)\n" in said
    assert "flaky" not in said.lower() and said.count("good (openai good-1)") == 2
    assert changes(here, "good-1.jsonl", "bad-1.jsonl")[0] == ["model good"]


def test_one_model_that_wavers_is_flaky_beside_a_switch(host: ModelServer, app: MakeApplication) -> None:
    here = desk(host, app)
    ask(here, "a", "-c", "bad")
    for wanted in ("No.", "Sorry!", "No."):
        host.plan(says(wanted))
        ask(here, "b", "-c", "good")

    assert "Flaky 2 of 3 runs failed" in here.run("history", "hi").stdout


def test_variants_are_in_the_name_of_each_result(host: ModelServer, app: MakeApplication) -> None:
    here = desk(host, app)
    nothing = {"id": "free", "input": "Hello"}
    here.write({f"/{case_file()}": lines(CASE, nothing)})
    variants = ("--variant", "one=connector:good", "--variant", "two=connector:bad")
    shown = here.run("-i", case_file(), *variants, "-v").stdout
    run = here.run(
        "-i", case_file(), *variants, "-q", "-o", "v.md", "-o", "v.jsonl", "-o", "v.xml", "-o", "v.ctrf.json"
    )

    assert f"Input: {case_file()} [one] (2 test cases)" in shown and f"Input: {case_file()} [two] (" in shown
    assert "2 cases check nothing: free [one], free [two]" in run.stdout
    heads = [line.split(" - ")[0] for line in (here.root / "v.md").read_text().splitlines() if line.startswith("### ")]
    assert heads == ["### ❌ hi \\[two]", "### ✅ hi \\[one]", "### ✅ free \\[one]", "### ✅ free \\[two]"]
    results = [json.loads(line) for line in (here.root / "v.jsonl").read_text().splitlines()]
    named = [(one["id"], one["variant"]) for one in results if one["type"] == "result"]
    assert sorted(named) == [("free", "one"), ("free", "two"), ("hi", "one"), ("hi", "two")]
    assert '<testcase name="hi" classname="demo.cases-two"' in (here.root / "v.xml").read_text()

    (here.root / "old.jsonl").write_text((here.root / "v.jsonl").read_text())
    host.plan(*[says("No.")] * 8)
    here.run("-i", case_file(), *variants, "-q", "-o", "new.jsonl")
    said = here.run("diff", "old.jsonl", "new.jsonl").stdout
    assert "hi [one]" in said
    assert f"-i '{case_file()} [" not in said and f"-i {case_file()} --run '^hi$'" in said
