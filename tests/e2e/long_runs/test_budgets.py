"""Budgets of a run, and model hosts that go down: results so far are kept, and errors are not failures."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication, Record
from faults import lines_of, results_in, with_model
from model_server import Exchange, ModelServer, completes, echo, says, silence, status

PRICE = {"input": 1000, "output": 1000}
"""Dollars for a million tokens: an answer of the server, 18 tokens, costs 0.018."""


def application(app: MakeApplication, server: ModelServer, count: int = 10, **options: Any) -> Application:
    cases: list[Record] = [{"id": f"c{number}", "input": "x"} for number in range(count)]
    return app({**agent(package={"connector": "local"}, cases=cases), **with_model(server, **options)})


@pytest.mark.parametrize(
    ("arguments", "ended", "reason"),
    [
        (("--max-tokens", "50"), 3, "--max-tokens 50 is used up (54)"),
        (("--max-cost", "0.07"), 4, "--max-cost 0.07 is used up ($0.0720)"),
    ],
    ids=["tokens", "cost"],
)
def test_a_budget_that_is_used_up_ends_the_run(
    app: MakeApplication, arguments: tuple[str, ...], ended: int, reason: str
) -> None:
    with ModelServer() as server:
        here = application(app, server, price=PRICE)
        path = here.home / "r.jsonl"

        run = here.run("-i", case_file(), *arguments, "-o", str(path))

        assert (run.code, run.stderr) == (1, "")
        assert results_in(path) == [(f"c{number}", "passed") for number in range(ended)]
        summary = lines_of(path)[-1]
        assert (summary["status"], summary["stopped"], summary["not_run"]) == ("interrupted", reason, 10 - ended)
        assert (summary["failed"], len(server.requests)) == (0, ended)
        assert f"Stopped: {reason}; {10 - ended} not run\n" in run.stdout
        assert here.run("--resume", str(path)).code == 0
        assert (len(results_in(path)), len(server.requests)) == (10, 10)


def test_a_budget_counts_also_when_what_is_named_was_looked_up_before(app: MakeApplication) -> None:
    with ModelServer() as server:
        here = application(app, server, price=PRICE)
        run = here.run("-i", case_file(), "-c", "local", "--max-tokens", "50")
        assert (run.code, len(server.requests)) == (1, 3)
        assert "Stopped: --max-tokens 50 is used up (54); 7 not run" in run.stdout


def test_answers_that_are_cut_before_a_word_are_paid_for(app: MakeApplication) -> None:
    with ModelServer(completes({"message": {"content": None}, "finish_reason": "length"}, TOLD)) as server:
        here = application(app, server, price=PRICE)
        run = here.run("-i", case_file(), "--max-cost", "0.05")
        assert (run.code, len(server.requests)) == (1, 3)
        assert "Stopped: --max-cost 0.05 is used up ($0.0540); 7 not run" in run.stdout


def test_a_run_may_take_only_so_long(app: MakeApplication) -> None:
    with ModelServer(echo(0.3)) as server:
        here = application(app, server, 40)
        path = here.home / "r.jsonl"
        run = here.run("-i", case_file(), "--max-duration", "1500ms", "-o", str(path))
    assert run.code == 1
    summary = lines_of(path)[-1]
    assert summary["stopped"] == "--max-duration 1.5s has passed"
    assert summary["total"] == summary["passed"] == len(server.requests) == 40 - summary["not_run"]
    assert summary["not_run"] > 0


def test_a_budget_that_the_last_case_uses_up_changes_nothing(app: MakeApplication) -> None:
    with ModelServer() as server:
        here = application(app, server, 3)
        run = here.run("-i", case_file(), "--max-tokens", "50")
    assert run.code == 0
    assert "Stopped" not in run.stdout


TOLD = {"prompt_tokens": 11, "completion_tokens": 7}
NO_PRICE = "the cost of calling local is unknown, because it has no price: set options.price in the connector"
NO_COST = "the cost of calling local is unknown, because its response has no usable token counts"
NO_TOKENS = "the token usage of local is unknown, because its response has no usable token counts"
UNCOUNTED: dict[str, tuple[tuple[str, str], Any, Record, str]] = {
    "no price": (("--max-cost", "1"), TOLD, {}, NO_PRICE),
    "a price and no usage": (("--max-cost", "1"), None, {"price": PRICE}, NO_COST),
    "a price and an impossible usage": (("--max-cost", "1"), {"prompt_tokens": -1}, {"price": PRICE}, NO_COST),
    "an impossible cost": (("--max-cost", "1"), {**TOLD, "cost": "-0.5"}, {"price": PRICE}, NO_COST),
    "no usage": (("--max-tokens", "1000"), None, {}, NO_TOKENS),
    "an empty usage": (("--max-tokens", "1000"), {}, {}, NO_TOKENS),
    "a cost alone": (("--max-tokens", "1000"), {"cost": 0.1}, {}, NO_TOKENS),
    "not a number": (("--max-tokens", "1000"), {**TOLD, "completion_tokens": "many"}, {}, NO_TOKENS),
}


@pytest.mark.parametrize(("flag", "usage", "options", "why"), UNCOUNTED.values(), ids=UNCOUNTED)
def test_a_budget_that_cannot_be_kept_ends_the_run(
    app: MakeApplication, flag: tuple[str, str], usage: Any, options: Record, why: str
) -> None:
    with ModelServer(completes({"message": {"content": "Hi"}, "finish_reason": "stop"}, usage)) as server:
        here = application(app, server, 5, **options)
        path = here.home / "r.jsonl"
        run = here.run("-i", case_file(), *flag, "-o", str(path))
    reason = f"{' '.join(flag)} cannot be enforced: {why}"
    assert (run.code, len(server.requests)) == (1, 1)
    assert results_in(path) == [("c0", "passed")]
    assert f"Stopped: {reason}; 4 not run\n" in run.stdout
    assert (lines_of(path)[-1]["status"], lines_of(path)[-1]["stopped"]) == ("interrupted", reason)


def test_a_budget_that_was_not_kept_in_the_last_case_is_no_pass(app: MakeApplication) -> None:
    with ModelServer() as server:
        run = application(app, server, 1).run("-i", case_file(), "--max-cost", "1")
    assert run.code == 1
    assert f"Stopped: --max-cost 1 cannot be enforced: {NO_PRICE}\n" in run.stdout


KEPT: dict[str, tuple[tuple[str, str], Any, Record]] = {
    "the provider says the cost": (("--max-cost", "1"), {"cost": 0.001}, {}),
    "the cost is a text": (("--max-cost", "1"), {**TOLD, "cost": "0.001"}, {}),
    "it costs nothing": (("--max-cost", "1"), TOLD, {"price": {"input": 0, "output": 0}}),
    "the tokens are texts": (("--max-tokens", "1000"), {"prompt_tokens": "11", "completion_tokens": "7"}, {}),
    "nothing is limited": (("--max-duration", "1h"), None, {}),
}


@pytest.mark.parametrize(("flag", "usage", "options"), KEPT.values(), ids=KEPT)
def test_a_budget_that_can_be_kept_lets_the_run_go_on(
    app: MakeApplication, flag: tuple[str, str], usage: Any, options: Record
) -> None:
    with ModelServer(completes({"message": {"content": "Hi"}, "finish_reason": "stop"}, usage)) as server:
        assert application(app, server, 3, **options).run("-i", case_file(), *flag).code == 0
        assert len(server.requests) == 3


def test_scripted_and_replayed_answers_cost_nothing(app: MakeApplication) -> None:
    judged = {"type": "agent", "use": "agents:judge", "value": "is polite"}
    judge = agent("judge", replies="- reply: { json: { passed: true } }")
    with ModelServer(completes({"message": {"content": "Hi"}, "finish_reason": "stop"}, None)) as server:
        files = agent(package={"connector": "local"}, cases=[{"id": "a", "input": "x", "assert": judged}])
        here = app({**files, **judge, **with_model(server, price=PRICE)})
        assert here.run("-i", case_file(), "--record", "calls").code == 0
    budgets = ("--max-cost", "1", "--max-tokens", "1000")
    assert here.run("-i", case_file(), "--replay", "calls", *budgets).code == 0
    assert here.run("-i", case_file(), "-c", "scripted", *budgets).code == 0


@pytest.mark.parametrize(
    ("flag", "value", "why"),
    [
        ("--max-cost", "free", "it must be a number above 0, such as 2.50"),
        ("--max-cost", "0", "it must be a number above 0, such as 2.50"),
        ("--max-tokens", "0", "it must be a whole number of at least 1"),
        ("--max-duration", "long", "not a duration"),
    ],
)
def test_a_bad_budget_is_an_error(app: MakeApplication, flag: str, value: str, why: str) -> None:
    run = app(agent(cases=[{"id": "a", "input": "x"}])).run("-i", case_file(), flag, value)
    assert (run.code, run.stderr.splitlines()[0]) == (2, f'Error: Cannot read {flag} "{value}": {why}')


# Errors are no failures


def test_a_host_that_is_silent_costs_a_few_timeouts_and_not_one_for_each_case(app: MakeApplication) -> None:
    with ModelServer(silence()) as server:
        here = application(app, server, 30)
        path = here.home / "r.jsonl"
        run = here.run("-i", case_file(), "--timeout", "500ms", "-o", str(path))
        asked = len(server.requests)
    assert run.code == 1
    errors = [record["error"] for record in lines_of(path) if record["type"] == "result"]
    assert errors[:5] == ["timeout after 500ms"] * 5
    assert asked == 5
    assert [error.partition(", so this call")[0] for error in errors[5:]] == [
        "agent error: local: the host is down"
    ] * 25
    assert "sent nothing until the case timed out" in errors[-1]


def test_a_host_that_is_slow_is_not_down(app: MakeApplication) -> None:
    behaviours = [silence() if number % 5 < 4 else echo() for number in range(10)]
    with ModelServer() as server:
        server.plan(*behaviours)
        here = application(app, server, 10)
        path = here.home / "r.jsonl"
        here.run("-i", case_file(), "--timeout", "500ms", "-o", str(path))
        assert len(server.requests) == 10
    assert [status for _, status in results_in(path)].count("passed") == 2


def test_a_host_that_answers_others_meanwhile_is_not_down(app: MakeApplication) -> None:
    with ModelServer() as server:
        server.plan(*[silence()] * 8, echo(0.5), *[echo(0.3)] * 9)
        here = application(app, server, 18)
        path = here.home / "r.jsonl"
        run = here.run("-i", case_file(), "--parallel", "9", "--timeout", "2s", "-o", str(path))
        assert len(server.requests) == 18
    assert "is down" not in run.stdout
    assert [status for _, status in results_in(path)].count("passed") == 10


def test_a_host_that_goes_down_is_said_once_and_clearly(app: MakeApplication) -> None:
    server = ModelServer()
    answered = 0

    async def then_down(exchange: Exchange) -> None:
        nonlocal answered
        answered += 1
        await echo()(exchange)
        if answered == 3:
            server._server.close()
            exchange.close()

    server.default = then_down
    with server:
        here = application(app, server, 30, max_concurrency=4, retries=2)
        path = here.home / "r.jsonl"
        run = here.run("-i", case_file(), "-o", str(path), "-o", str(here.home / "r.json"))
    results = [record for record in lines_of(path) if record["type"] == "result"]
    assert run.code == 1
    assert [record["status"] for record in results] == ["passed"] * 3 + ["failed"] * 27
    assert {record["cause"] for record in results[3:]} == {"infrastructure"}
    assert sum("local: the host is down, so this call was not made" in str(record["error"]) for record in results) >= 25
    summary = lines_of(path)[-1]
    assert (summary["total"], summary["passed"], summary["failed"], summary["errors"]) == (30, 3, 0, 27)
    assert json.loads((here.home / "r.json").read_text())["summary"]["overall_pass_rate"] == 100
    assert "  Errors:  27\n" in run.stdout


CASES: dict[str, tuple[Any, str, str]] = {
    "the host has an error": (status(500, "broken"), "infrastructure", "agent error: local"),
    "the key is wrong": (status(401, "no"), "infrastructure", "agent error: local"),
    "the request is refused": (status(400, "too long"), "error", "agent error: local"),
    "nothing is answered": (silence(), "timeout", "timeout after 1s"),
}


@pytest.mark.parametrize("what", CASES)
def test_the_cause_says_what_broke(app: MakeApplication, what: str) -> None:
    behaviour, cause, error = CASES[what]
    with ModelServer(behaviour) as server:
        here = application(app, server, 1, retries=0)
        path = here.home / "r.jsonl"
        run = here.run("-i", case_file(), "--timeout", "1s", "-o", str(path), "-o", str(here.home / "r.xml"))
    (record,) = (record for record in lines_of(path) if record["type"] == "result")
    assert (run.code, record["cause"]) == (1, cause)
    assert record["error"].startswith(error)
    waited = [
        text.count("It waited for the model of local") for text in (run.stdout, (here.home / "r.xml").read_text())
    ]
    assert waited == [cause == "timeout"] * 2
    counts = lines_of(path)[-1]
    assert (counts["failed"], counts.get("errors", 0)) == ((0, 1) if cause == "infrastructure" else (1, 0))


@pytest.mark.parametrize("negate", [False, True], ids=["plain", "negated"])
def test_a_judge_that_breaks_is_an_error_and_beside_a_failure_it_is_a_failure(
    app: MakeApplication, negate: bool
) -> None:
    judged = {"type": "agent", "use": "agents:judge", "value": "is polite", "negate": negate}
    wrong = {"type": "contains", "value": "tea"}
    cases: list[Record] = [
        {"id": "broken", "input": "x", "assert": [judged]},
        {"id": "both", "input": "x", "assert": [judged, wrong]},
    ]
    with ModelServer(status(503, "busy")) as server:
        files = {**agent(replies="- reply: hello", cases=cases), **agent("judge", package={"connector": "local"})}
        here = app({**files, **with_model(server, retries=0)})
        results = here.report("-i", case_file(), code=1)
    assert {record["id"]: record["cause"] for record in results["results"]} == {
        "broken": "infrastructure",
        "both": "assertion",
    }
    counts = results["summary"]
    assert (counts["total"], counts["failed"], counts["errors"], counts["overall_pass_rate"]) == (2, 1, 1, 0)


def test_a_resumed_run_tries_errors_again(app: MakeApplication) -> None:
    with ModelServer(status(500, "broken")) as server:
        here = application(app, server, 3, retries=0)
        path = here.home / "r.jsonl"
        assert here.run("-i", case_file(), "-o", str(path)).code == 1
        server.default = echo()
        assert here.run("--resume", str(path)).code == 0
    assert results_in(path) == [(f"c{number}", "passed") for number in range(3)]


# Within a case


LOOKS = {"/mcps/t.mcp.yao": '{"transport": "process", "tools": {"look": "scripts.t.Look"}}'}
LOOKED = {"/scripts/t.ts": "export function Look() { return { seen: true }; }"}
TURNS: list[Record] = [{"input": "one"}, {"input": "two"}, {"input": "three"}]
JUDGE = {"type": "agent", "use": "agents:judge", "value": "is good"}
HOOK = 'export function Next(ctx: any) { return { data: ctx.agent.Call("judge", [{ role: "user", content: "x" }]).content }; }'

ONGOING: dict[str, tuple[Record, dict[str, str]]] = {
    "turns": ({"turns": TURNS}, {}),
    "a judge": ({"input": "x", "assert": JUDGE}, {}),
    "a simulator": ({"input": "x", "simulator": {"use": "judge", "options": {"metadata": {"goal": "g"}}}}, {}),
    "a checkpoint": ({"input": "x", "mode": "conversation", "turns": [{"input": "x", "assertions": ["is good"]}]}, {}),
    "an agent that a hook calls": ({"input": "x"}, {"hooks": HOOK}),
    "tools": ({"input": "call"}, {}),
}


@pytest.mark.parametrize("flag", [("--max-tokens", "18"), ("--max-cost", "0.018")], ids=["tokens", "cost"])
@pytest.mark.parametrize(("fields", "more"), ONGOING.values(), ids=ONGOING)
def test_no_model_call_begins_when_a_budget_is_used_up_within_a_case(
    app: MakeApplication, fields: Record, more: dict[str, Any], flag: tuple[str, str]
) -> None:
    first = says(tool_calls=[("1", "t__look", "{}")]) if fields.get("input") == "call" else says("Which day?")
    package = (
        {"connector": "local", "mcp": {"servers": ["t"]}} if fields.get("input") == "call" else {"connector": "local"}
    )
    with ModelServer(says("yes")) as server:
        server.plan(first)
        files = {
            **agent(package=package, cases=[{"id": "c", **fields}, {"id": "d", "input": "x"}], **more),
            **agent("judge", package={"connector": "local"}),
            **agent("workers.test.validator", package={"connector": "local"}),
        }
        here = app({**files, **LOOKS, **LOOKED, **with_model(server, price=PRICE)})
        path = here.home / "r.jsonl"
        run = here.run("-i", case_file(), *flag, "-o", str(path))

        assert (run.code, len(server.requests)) == (1, 1), run
        summary = lines_of(path)[-1]
        assert (summary["failed"], summary.get("errors", 0)) == (0, 0)
        assert summary["stopped"].startswith(f"{' '.join(flag)} is used up")
        ended = [line for line in lines_of(path) if line.get("type") == "result"]
        assert all(line["status"] == "skipped" and line["cut_short"] for line in ended)
        assert here.run("--resume", str(path)).code in (0, 1)
        assert len(server.requests) > 2, "what was given up runs again"


def test_calls_that_are_under_way_end_and_count(app: MakeApplication) -> None:
    with ModelServer(echo(0.2)) as server:
        here = application(app, server, 4, price=PRICE)
        path = here.home / "r.jsonl"
        here.run("-i", case_file(), "--parallel", "3", "--max-tokens", "1", "-o", str(path))
    assert [status for _, status in results_in(path)] == ["passed"] * len(server.requests)
    assert lines_of(path)[-1]["not_run"] == 4 - len(server.requests)


def test_a_script_test_cannot_ask_beyond_the_budget(app: MakeApplication) -> None:
    ask = 'Process("agents.demo.Call", "x")'
    with ModelServer() as server:
        files = {
            **agent(package={"connector": "local"}),
            "/assistants/demo/src/a_test.ts": f"export function TestAsks(t: any) {{ {ask}; {ask}; }}",
        }
        here = app({**files, **with_model(server)})
        report = here.report("-i", "scripts.demo.a", "--max-tokens", "18", code=1)
    (record,) = report["results"]
    assert (record["status"], record["cause"], len(server.requests)) == ("failed", "infrastructure", 1)
    assert "local was not called: --max-tokens 18 is used up (18)" in record["error"]
