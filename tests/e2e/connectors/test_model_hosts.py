"""Cases against a model host on this machine: what reaches it, and what a run says when it misbehaves."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from agent_files import agent, case_file, errors, outputs, run_cases
from command import Application, MakeApplication
from faults import lines_of
from model_server import Exchange, ModelServer, body, echo, large, raw, says, sends, silence, status

KEY = "sk-test-4711-secret"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def application(
    app: MakeApplication, server: ModelServer, cases: list[dict[str, object]], **options: object
) -> Application:
    """An application whose agent `demo` asks the server; the key is in its `.env`."""
    connector = {"type": "openai", "options": {"host": server.url, "model": "m1", "key": "$ENV.DEMO_KEY", **options}}
    return app(
        {
            **agent(package={"connector": "host", "options": {"temperature": 0.2}}, replies=None, cases=cases),
            "/connectors/host.conn.yao": json.dumps(connector),
            "/.env": f"DEMO_KEY={KEY}\nNO_PROXY=127.0.0.1\n",
        }
    )


def test_a_case_reaches_the_host_as_the_provider_wants_it(app: MakeApplication, server: ModelServer) -> None:
    server.plan(says("Hello, Ann."))
    here = application(app, server, [{"id": "A", "input": "I am Ann", "assert": {"type": "contains", "value": "Ann"}}])

    result = run_cases(here, code=0)["A"]

    request = server.requests[0]
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert {key: request.body[key] for key in ("model", "temperature", "messages")} == {
        "model": "m1",
        "temperature": 0.2,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "I am Ann"}],
    }
    assert (result["output"], result["connector"], result["model_calls"]) == ("Hello, Ann.", "host", 1)


def test_a_slow_host_fails_its_case_at_the_deadline_and_the_others_go_on(
    app: MakeApplication, server: ModelServer
) -> None:
    server.plan(silence())
    cases = [{"id": "slow", "input": "a", "timeout": "300ms"}, {"id": "next", "input": "b"}]

    found = errors(application(app, server, cases))

    assert found == {"slow": "timeout after 300ms", "next": None}
    assert server.saw_hang_up()


FAULTS = {
    "refused": ((status(401, "bad key"),), "answered 401", 1),
    "twice too busy": ((status(429, "busy", {"retry-after": "0"}), status(503), says("there")), None, 3),
    "no JSON": ((body(200, "<html>"),), "agent error: ", 1),
    "half a stream": ((sends({"choices": [{"delta": {"content": "Hel"}}]}, done=False), says("Hello")), None, 2),
    "no HTTP": ((raw(b"NONSENSE\r\n\r\n"),) * 4, "agent error: ", None),
    "reset": ((raw(b"HTTP/1.1 200 OK\r\n", reset=True), says("back")), None, 2),
}


@pytest.mark.parametrize(("plan", "error", "calls"), FAULTS.values(), ids=FAULTS)
def test_what_a_host_does_wrong_costs_its_case_or_nothing(
    app: MakeApplication, server: ModelServer, plan: tuple[object, ...], error: str | None, calls: int | None
) -> None:
    server.plan(*plan)  # type: ignore[arg-type]
    here = application(app, server, [{"id": "A", "input": "x"}])

    run = here.run("-i", case_file(), "-o", "r.json")

    record = json.loads((here.root / "r.json").read_text())["results"][0]
    assert run.code == (1 if error else 0)
    assert (error is None) == (record["error"] is None)
    assert (error or "") in (record["error"] or "")
    assert calls is None or len(server.requests) == calls
    assert KEY not in run.stdout + run.stderr + json.dumps(record)
    assert "Traceback" not in run.stdout + run.stderr


def test_a_reply_of_twenty_megabytes_is_an_answer_like_any_other(app: MakeApplication, server: ModelServer) -> None:
    server.plan(large(20_000_000))
    here = application(app, server, [{"id": "big", "input": "x"}, {"id": "next", "input": "small"}])

    results = run_cases(here)

    assert results["next"]["output"] == "echo: small"
    assert results["big"]["status"] == "passed" or "agent error" in results["big"]["error"]


def test_one_connection_serves_many_cases_and_the_order_is_that_of_the_file(
    app: MakeApplication, server: ModelServer
) -> None:
    here = application(app, server, [{"id": f"C{number}", "input": f"say {number}"} for number in range(30)])

    assert outputs(here, "--parallel", "3") == {f"C{number}": f"echo: say {number}" for number in range(30)}
    assert len({request.connection for request in server.requests}) <= 3


def test_a_missing_key_is_named_and_its_neighbours_are_not_shown(app: MakeApplication, server: ModelServer) -> None:
    here = application(app, server, [{"id": "A", "input": "x"}])
    here.write({"/.env": "OTHER_SECRET=do-not-show\n"})

    run = here.run("-i", case_file())

    assert run.code == 2
    assert "DEMO_KEY" in run.stderr
    assert "do-not-show" not in run.stdout + run.stderr


def test_a_mistake_far_into_a_big_file_is_said_before_anything_runs(app: MakeApplication, server: ModelServer) -> None:
    here = application(app, server, [])
    lines = [f'{{"id": "C{number}", "input": "x"}}' for number in range(80_000)]
    lines[69_999] = '{"id": "C69999", "inptu": "x"}'
    here.write({f"/{case_file()}": "\n".join(lines)})

    run = here.run("-i", case_file())

    assert run.code == 2
    assert f'{case_file()}:70000:18: case "C69999": unknown field "inptu"' in run.stderr
    assert 'Did you mean "input"?' in run.stderr
    assert server.requests == []


# The time of a case is its own: what it waits for in this tool's queue does not count


def crowd(app: MakeApplication, server: ModelServer, count: int, **options: object) -> Application:
    """So many cases that would pass at once, each with a second; one after the other they take longer."""
    cases = [{"id": f"C{number}", "input": f"say {number}", "timeout": "1s"} for number in range(count)]
    return application(app, server, cases, **options)


@pytest.mark.parametrize(
    ("count", "options"),
    [(12, {"max_concurrency": 2}), (6, {"max_concurrency": 1}), (7, {"requests_per_minute": 240})],
    ids=["two at a time", "one at a time", "four a second"],
)
def test_a_case_does_not_pay_for_its_place_in_the_queue(
    app: MakeApplication, server: ModelServer, count: int, options: dict[str, object]
) -> None:
    server.default = echo(0.2)

    results = run_cases(crowd(app, server, count, **options), "--parallel", "20", code=0)

    assert {id: result["output"] for id, result in results.items()} == {
        f"C{number}": f"echo: say {number}" for number in range(count)
    }
    assert all(result["duration_ms"] < 1000 for result in results.values())


def test_a_judge_waits_for_its_turn_as_well(app: MakeApplication, server: ModelServer) -> None:
    async def answer(exchange: Exchange) -> None:
        judged = "criteria" in exchange.request.last_text
        await says('{"passed": true, "reason": "fine"}' if judged else "Hello", delay=0.12)(exchange)

    server.default = answer
    asked = {"type": "agent", "use": "agents:judge", "value": "is a greeting"}
    cases = [{"id": f"C{number}", "input": "x", "assert": [asked, asked], "timeout": "1200ms"} for number in range(5)]
    here = application(app, server, cases, max_concurrency=1)
    here.write(agent("judge", package={"connector": "host"}, replies=None))

    results = run_cases(here, "--parallel", "20", code=0)

    assert [result["status"] for result in results.values()] == ["passed"] * 5


def test_a_simulator_waits_for_its_turn_as_well(app: MakeApplication, server: ModelServer) -> None:
    async def answer(exchange: Exchange) -> None:
        simulated = "persona" in json.dumps(exchange.request.body)
        await says('{"message": "and then?"}' if simulated else "Which one?", delay=0.1)(exchange)

    server.default = answer
    simulator = {
        "use": "agents:user",
        "options": {"metadata": {"persona": "a clerk", "goal": "to know", "max_turns": 2}},
    }
    cases = [{"id": f"C{n}", "input": "x", "simulator": simulator, "timeout": "1700ms"} for n in range(5)]
    here = application(app, server, cases, max_concurrency=1)
    here.write(agent("user", package={"connector": "host"}, replies=None))

    results = run_cases(here, "--parallel", "20")

    assert [result["error"] for result in results.values() if "timeout" in (result["error"] or "")] == []


def test_a_silent_host_still_costs_a_case_its_time_and_no_other_case(app: MakeApplication, server: ModelServer) -> None:
    server.plan(silence())

    here = crowd(app, server, 4, max_concurrency=1)

    found = errors(here, "--parallel", "4")
    assert sorted(found.values(), key=str) == [None, None, None, "timeout after 1s"]


@pytest.mark.parametrize("options", ["text", ["a"]], ids=["text", "list"])
def test_options_that_are_no_object_are_said_also_beside_script_tests(app: MakeApplication, options: object) -> None:
    files = agent(package={"connector": "odd"}, cases=[{"id": "a", "input": "hi"}])
    connector = json.dumps({"type": "openai", "options": options})
    here = app({**files, "/connectors/odd.conn.yao": connector, "a_test.ts": "export function TestA(t: any) {}"})
    here.run("-i", case_file(), "-i", "scripts.demo.a", "-o", "r.jsonl")

    (error,) = [one["error"] for one in lines_of(here.root / "r.jsonl") if one.get("id") == "a"]
    assert error == 'agent error: Cannot use connector "odd" from connectors/odd.conn.yao: options must be an object'
