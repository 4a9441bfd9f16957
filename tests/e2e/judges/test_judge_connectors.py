"""`--judge-connector` and what judges cost: for cases, for `t.assert.Agent`, and when answers are graded again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication, Record
from model_server import Exchange, ModelServer, says

PRICES = {"agent": 10.0, "own": 100.0, "other": 1000.0}
"""Connector → US dollars for a million tokens, in and out."""
CASES: list[Record] = [
    {"id": "one", "input": "x", "assert": {"type": "agent", "use": "agents:judge", "value": "kind"}},
    {"id": "none", "input": "x", "assert": {"type": "contains", "value": "Hello"}},
    {"id": "talk", "mode": "conversation", "turns": [{"input": "a", "assertions": ["kind"]}, {"input": "b"}]},
]
SCRIPT = """
const check = (t: any, options: any) => t.assert.Agent("Hello.", "judge", { criteria: "kind", ...options });
export function TestPlain(t: any) { check(t, {}); }
export function TestNamed(t: any) { check(t, { connector: "agent" }); }
export function TestPanel(t: any) { check(t, { judge: { judges: ["agents:judge", "agents:judge.too"] } }); }
"""


@pytest.fixture
def asked() -> Counter[str]:
    """Model → how often it was asked."""
    return Counter()


@pytest.fixture
def here(app: MakeApplication, asked: Counter[str]) -> Iterator[Application]:
    async def answer(exchange: Exchange) -> None:
        model = exchange.request.body["model"]
        asked[model] += 1
        judges = "criteria" in json.dumps(exchange.request.body["messages"])
        await says('{"passed": true, "reason": "r", "score": 0.9}' if judges else "Hello.")(exchange)

    with ModelServer(answer) as server:
        files = agent(package={"connector": "agent"}, cases=CASES)
        for judge in ("judge", "judge.too", "workers.test.validator"):
            files |= agent(judge, package={"connector": "own"})
        for name, price in PRICES.items():
            options = {"host": server.url, "model": name, "key": "k", "price": {"input": price, "output": price}}
            files[f"/connectors/{name}.conn.yao"] = json.dumps({"type": "openai", "options": options})
        yield app({**files, "j_test.ts": SCRIPT, "j.ts": ""})


@pytest.mark.parametrize(
    ("test", "flags", "models"),
    [
        ("TestPlain", (), {"own": 1}),
        ("TestNamed", (), {"agent": 1}),
        ("TestPanel", (), {"own": 2}),
        ("TestPlain", ("--judge-connector", "other"), {"other": 1}),
        ("TestNamed", ("--judge-connector", "other"), {"other": 1}),
        ("TestPanel", ("--judge-connector", "other"), {"other": 2}),
        ("TestPlain", ("--judge-connector", "other", "--judge-samples", "3"), {"other": 2}),
        ("TestPlain", ("-c", "agent", "--judge-connector", "other"), {"other": 1}),
    ],
    ids=str,
)
def test_scripts_ask_the_connector_that_is_named(
    here: Application, asked: Counter[str], test: str, flags: tuple[str, ...], models: dict[str, int]
) -> None:
    run = here.run("-i", "scripts.demo.j", "--run", f"^{test}$", *flags)

    assert run.code == 0, run
    assert asked == models


@pytest.mark.parametrize("inputs", ["scripts.demo.j", case_file()])
def test_a_connector_that_is_not_there_is_an_error_of_configuration(
    here: Application, asked: Counter[str], inputs: str
) -> None:
    run = here.run("-i", inputs, "--judge-connector", "nobody")

    assert run.code == 2, run
    assert "nobody" in run.stderr
    assert asked == {}


def results_of(here: Application, report: str) -> tuple[dict[str, Record], Record]:
    """By id, and the summary."""
    found = [json.loads(line) for line in (here.root / report).read_text().splitlines()]
    results = {record["id"]: record for record in found if record["type"] == "result"}
    return results, found[-1]


def spent(record: Record, role: str) -> tuple[int, float]:
    """Tokens, and dollars, of the calls of the models of a role, by the trace of a result."""
    of_role = record.get("trace", {}).get("totals", {}).get(role, {})
    return of_role.get("input_tokens", 0) + of_role.get("output_tokens", 0), of_role.get("cost", 0)


def test_grading_again_counts_what_the_new_judge_costs(here: Application, asked: Counter[str]) -> None:
    assert here.run("-i", case_file(), "-o", "r.jsonl").code == 0
    assert asked == {"agent": 4, "own": 2}
    asked.clear()

    run = here.run("regrade", "r.jsonl", "--judge-connector", "other", "-o", "g.jsonl")

    assert run.code == 0, run
    assert asked == {"other": 2}
    (before, _), (after, summary) = results_of(here, "r.jsonl"), results_of(here, "g.jsonl")
    for id, record in after.items():
        agent_tokens, agent_cost = spent(before[id], "agent")
        judge_tokens, judge_cost = spent(record, "judge")
        assert judge_cost == pytest.approx(judge_tokens * PRICES["other"] / 1e6)
        usage = record["usage"]
        assert usage["input_tokens"] + usage["output_tokens"] == agent_tokens + judge_tokens
        assert usage["cost"] == pytest.approx(agent_cost + judge_cost)
    assert summary["usage"]["cost"] == pytest.approx(sum(record["usage"]["cost"] for record in after.values()))


def test_a_budget_of_grading_again_is_spent_by_judges_alone(here: Application, asked: Counter[str]) -> None:
    here.run("-i", case_file(), "-o", "r.jsonl")
    saved, _ = results_of(here, "r.jsonl")
    cost = sum(spent(record, "judge")[1] for record in saved.values())
    asked.clear()

    run = here.run("regrade", "r.jsonl", "--max-cost", str(cost * 1.5), "-o", "g.jsonl")

    assert run.code == 0, run
    assert asked == {"own": 2}


def test_a_judge_that_is_gone_is_told_before_answers_are_graded_again(here: Application, asked: Counter[str]) -> None:
    assert here.run("-i", case_file(), "--judge-connector", "other", "-o", "r.jsonl").code == 0
    (here.root / "connectors/other.conn.yao").unlink()
    asked.clear()

    run = here.run("regrade", "r.jsonl", "-o", "g.jsonl")

    assert (run.code, asked) == (2, {}), run
    assert 'Cannot find connector "other"' in run.stderr
