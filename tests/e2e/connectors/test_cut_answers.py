"""Answers that their host says are not whole: what is graded, what is said, and what is not run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, case_file, run_cases, server
from command import Application, MakeApplication, Record
from faults import with_model
from model_server import Behaviour, Exchange, ModelServer, completes, in_pieces, says, sends

CUT = "the answer was cut at its token limit"
FILTERED = "the answer was stopped by a content filter"
REFUSED = "the answer was refused by the model"
HALF = '{"status": "ok", "items": [1, 2], "total": 12'
WHOLE = HALF + "}"
SCHEMA = {"type": "object", "required": ["status"]}

HOSTS: dict[str, tuple[str, bool, str, str]] = {
    f"{type} {'streamed' if streaming else 'whole'} {reason}": (type, streaming, reason, words)
    for type, reason, words in (
        ("openai", "length", CUT),
        ("openai", "max_tokens", CUT),
        ("openai", "content_filter", FILTERED),
        ("openai", "SAFETY", FILTERED),
        ("anthropic", "max_tokens", CUT),
        ("anthropic", "model_context_window_exceeded", CUT),
        ("anthropic", "refusal", REFUSED),
    )
    for streaming in (True, False)
}
"""Type of the connector, whether it streams, the finish reason, and what is said of it."""


def asking(app: MakeApplication, server: ModelServer, *cases: Record, **options: Any) -> Application:
    return app({**agent(package={"connector": "local"}, cases=list(cases)), **with_model(server, **options)})


def case(id: str = "a", *assertions: Record, **fields: Any) -> Record:
    return {"id": id, "input": "x", "assert": list(assertions), **fields}


JSON_CHECKS: dict[str, Record] = {
    "json_path": {"type": "json_path", "path": "$.total", "value": 12},
    "json_schema": {"type": "json_schema", "value": SCHEMA},
    "json_schema of anything": {"type": "json_schema", "value": {"required": ["status"]}},
    "type": {"type": "type", "value": "object"},
    "type at a path": {"type": "type", "path": "$.total", "value": "number"},
    "equals": {"type": "equals", "value": json.loads(WHOLE)},
    "contains": {"type": "contains", "value": {"status": "ok", "items": [1, 2], "total": 12}},
    "trajectory": {"type": "trajectory", "path": "$.items", "value": ["x"]},
    "a part of any_of": {"type": "any_of", "value": [{"type": "json_path", "path": "$.total", "value": 12}]},
}
TEXT_CHECKS: dict[str, Record] = {
    "contains text": {"type": "contains", "value": '"ok"'},
    "regex": {"type": "regex", "value": "^{"},
    "type string": {"type": "type", "value": "string"},
    "json_schema of texts": {"type": "json_schema", "value": {"type": "string"}},
    "equals text": {"type": "equals", "value": HALF},
}


@pytest.mark.parametrize(("type", "streaming", "reason", "words"), HOSTS.values(), ids=HOSTS)
def test_json_is_not_read_out_of_an_answer_that_is_not_whole(
    app: MakeApplication, type: str, streaming: bool, reason: str, words: str
) -> None:
    checks = {**JSON_CHECKS, **TEXT_CHECKS} if reason in ("length", "refusal") else {"p": JSON_CHECKS["json_path"]}
    cases = [case(id, check) for id, check in checks.items()]
    expected = case("expected", expected=json.loads(WHOLE))
    del expected["assert"]
    with ModelServer(in_pieces(says(HALF, finish=reason))) as host:
        here = asking(app, host, *cases, expected, type=type, streaming=streaming)
        records = run_cases(here, "--trace", "off", code=1)

    failed = {id for id in checks if id not in TEXT_CHECKS} | {"expected"}
    assert {id for id, record in records.items() if record["status"] == "failed"} == failed
    assert all(words in records[id]["error"] for id in failed)
    assert {record["finish_reason"] for record in records.values()} == {reason}
    assert all({"kind": "cut", "message": words} in record["warnings"] for record in records.values())


def test_a_negated_check_of_json_that_is_not_there_cannot_be_evaluated(app: MakeApplication) -> None:
    checks = [{**check, "negate": True} for check in JSON_CHECKS.values() if check["type"] != "any_of"]
    with ModelServer(says(HALF, finish="length")) as host:
        (record,) = run_cases(asking(app, host, case("a", *checks)), code=1).values()
    assert [check["passed"] for check in record["assertions"]] == [False] * len(checks)
    assert all(check["message"].startswith("Cannot evaluate") for check in record["assertions"])


def test_a_text_that_is_one_json_value_counts_though_its_host_says_that_it_was_cut(app: MakeApplication) -> None:
    checks = [check for name, check in JSON_CHECKS.items() if name != "trajectory"]
    with ModelServer(says(WHOLE, finish="length")) as host:
        here = asking(app, host, case("a", *checks))
        (record,) = run_cases(here, code=0).values()
        (strict,) = run_cases(here, "--strict", code=1).values()
    assert (record["status"], record["warnings"]) == ("passed", [{"kind": "cut", "message": CUT}])
    assert (strict["status"], strict["cause"], strict["error"]) == ("failed", "cut", CUT)


@pytest.mark.parametrize("data", ['{"total": 12}', '"Done"', "[]", "0"])
def test_what_next_gives_is_graded_as_always(app: MakeApplication, data: str) -> None:
    hooks = f"export function Next(ctx: any, payload: any) {{ return {{ data: {data} }}; }}"
    checked = case("a", {"type": "equals", "value": json.loads(data)})
    with ModelServer(says(HALF, finish="length")) as host:
        files = agent(package={"connector": "local"}, hooks=hooks, cases=[checked])
        (record,) = run_cases(app({**files, **with_model(host)}), "--strict", code=0).values()
    assert (record["output"], record["finish_reason"]) == (json.loads(data), "length")


# Calls of tools

PAY = {**server("t", {"pay": "scripts.t.Pay"}), "/scripts/t.ts": "export function Pay(a: any) { return { paid: a }; }"}
NEXT = "export function Next(ctx: any, payload: any) { return { data: { done: true } }; }"


@pytest.mark.parametrize(("type", "streaming", "reason", "words"), HOSTS.values(), ids=HOSTS)
def test_a_tool_whose_call_is_not_whole_does_not_run(
    app: MakeApplication, type: str, streaming: bool, reason: str, words: str
) -> None:
    arguments = '{"to": "Ann", "amount": 12' + ("" if type == "openai" else "}")  # Anthropic sends what it has as whole
    cut = in_pieces(says(tool_calls=[("1", "t__pay", arguments)], finish=reason))
    with ModelServer(says("Done")) as host:
        host.plan(cut, cut)
        package = {"connector": "local", "mcp": {"servers": ["t"]}}
        files = {
            **agent(package=package, cases=[case()]),
            **agent("hooked", package=package, hooks=NEXT, cases=[case()]),
        }
        here = app({**files, **PAY, **with_model(host, type=type, streaming=streaming)})
        records = [run_cases(here, "-i", case_file(id), code=1)["a"] for id in ("demo", "hooked")]

    assert len(host.requests) == 2
    for record in records:
        assert (record["status"], record["cause"], record["finish_reason"]) == ("failed", "cut", reason)
        assert f"calls t__pay was {words.removeprefix('the answer was ')}: no tool was run" in record["error"]
        assert [(tool["name"], tool["result"]) for tool in record["tools"]] == [("pay", None)]
        assert "not run" in record["tools"][0]["error"]


DETAIL = {"type": "reasoning.text", "index": 0}
BACK: dict[str, tuple[list[Record], Record]] = {
    "DeepSeek": ([{"reasoning_content": "h"}, {"reasoning_content": "m"}], {"reasoning_content": "hm"}),
    "OpenRouter": (
        [
            {"reasoning": "h", "reasoning_details": [{**DETAIL, "text": "h"}]},
            {"reasoning": "m", "reasoning_details": [{**DETAIL, "text": "m", "signature": "s"}, {"data": "x"}]},
        ],
        {"reasoning_details": [{**DETAIL, "text": "hm", "signature": "s"}, {"data": "x"}]},
    ),
    "others": ([{"reasoning": "hm"}], {}),
}


@pytest.mark.parametrize(("thoughts", "back"), BACK.values(), ids=BACK)
def test_reasoning_goes_back_beside_calls_to_the_hosts_that_want_it(
    app: MakeApplication, thoughts: list[Record], back: Record
) -> None:
    call = {"id": "1", "function": {"name": "t__pay", "arguments": "{}"}}
    pieces = [{"choices": [{"delta": delta}]} for delta in (*thoughts, {"tool_calls": [call]})]
    thinking = sends(*pieces, {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    with ModelServer(says("Done")) as host:
        host.plan(thinking)
        package = {"connector": "local", "mcp": {"servers": ["t"]}}
        here = app({**agent(package=package, cases=[case()]), **PAY, **with_model(host)})
        run_cases(here, "--record", "calls", code=0)
        run_cases(here, "--replay", "calls", code=0)

    said = host.requests[1].body["messages"][-2]
    assert {name: value for name, value in said.items() if name.startswith("reasoning")} == back


# Helpers

VERDICT = '{"passed": true}'
JUDGED = {"type": "agent", "use": "agents:other", "value": "is good"}
SIMULATED = {"input": "Hi", "simulator": {"use": "other", "options": {"metadata": {"goal": "g"}}}}


@pytest.mark.parametrize("reason", ["length", "content_filter", "refusal"])
def test_helpers_whose_answer_is_not_whole_are_not_believed(app: MakeApplication, reason: str) -> None:
    files = {
        **agent(replies="- reply: Which day?", cases=[case("judged", JUDGED), {"id": "talk", **SIMULATED}]),
        **agent("other", replies=f"- reply: {{ text: '{VERDICT}', finish_reason: {reason} }}"),
        "/assistants/demo/src/a_test.ts": f"""\
export function TestJudged(t: any) {{ t.assert.Agent("Hi", "other", {{ criteria: "good" }}); }}
const completion = {{ content: '{VERDICT}', finish_reason: "{reason}" }};
export function TestMocked(t: any) {{ t.mock.agent("other", {{ completion }}); t.assert.Agent("Hi", "other"); }}
export function TestData(t: any) {{ t.mock.agent("other", {{ completion, data: {VERDICT} }}); t.assert.Agent("Hi", "other"); }}
""",
    }
    here = app(files)
    records = run_cases(here, code=1)
    assert (records["judged"]["cause"], records["judged"]["status"]) == ("infrastructure", "failed")
    assert "the answer of the validator other was" in records["judged"]["error"]
    assert "the answer of the simulator other was" in json.dumps(records["talk"])
    assert records["talk"]["status"] != "passed"
    scripts = here.results("-i", "scripts.demo.a", code=1)
    for name in ("TestJudged", "TestMocked"):
        assert scripts[name]["cause"] == "infrastructure"
        assert "the answer of the validator other was" in scripts[name]["error"]
    assert scripts["TestData"]["status"] == "passed"
    generated = here.run("-i", "agents:other", "-n", "demo")
    assert generated.code not in (0, 1)
    assert "the answer of the generator other was" in generated.stderr


# Whoever answers

REASON = "- reply: { text: half, finish_reason: max_tokens }"


def test_turns_and_results_have_the_finish_reason_of_scripted_recorded_and_delegated_answers(
    app: MakeApplication,
) -> None:
    delegates = 'export function Create() { return { delegate: { agent_id: "other", messages: [{ role: "user", content: "x" }] } }; }'
    turns = {"turns": [{"input": "one"}, {"input": "two"}]}
    files = {
        **agent(replies=REASON, cases=[case("one"), {"id": "several", **turns}]),
        **agent("other", replies=REASON),
        **agent("giver", replies=REASON, hooks=delegates, cases=[case("given")]),
    }
    here = app(files)
    for record_or_replay in ("--record", "--replay"):
        records = run_cases(here, record_or_replay, "calls", code=0)
        assert records["one"]["finish_reason"] == records["several"]["finish_reason"] == "max_tokens"
        assert [turn["finish_reason"] for turn in records["several"]["turns"]] == ["max_tokens"] * 2
        assert [warning["message"] for warning in records["several"]["warnings"]] == [
            f"turn 1: {CUT}",
            f"turn 2: {CUT}",
        ]
    (given,) = run_cases(here, "-i", case_file("giver"), code=0).values()
    assert (given["finish_reason"], given["warnings"]) == ("max_tokens", [{"kind": "cut", "message": CUT}])


def test_a_saved_answer_that_was_cut_is_graded_again_as_one(app: MakeApplication) -> None:
    here = app(agent(replies=REASON, cases=[case("a", {"type": "contains", "value": "half"})]))
    assert here.run("-i", case_file(), "-o", "r.jsonl").code == 0
    assert here.run("regrade", "r.jsonl", "--strict", "-o", "again.json").code == 1
    (record,) = json.loads((here.root / "again.json").read_text())["results"]
    assert (record["finish_reason"], record["error"]) == ("max_tokens", CUT)


def test_agents_that_scripts_call_are_warned_of(app: MakeApplication) -> None:
    hooks = 'export function Next(ctx: any) { return { data: ctx.agent.Call("other", [{ role: "user", content: "x" }]).content }; }'
    test = 'export function TestAsks(t: any) { t.assert.Equal(Process("agents.other.Call", "x").content, "half"); }'
    files = {
        **agent(replies="- reply: fine", hooks=hooks, cases=[case()]),
        **agent("other", replies=REASON),
        "/assistants/demo/src/a_test.ts": test,
    }
    here = app(files)
    (record,) = run_cases(here, code=0).values()
    (script,) = here.report("-i", "scripts.demo.a", code=0)["results"]
    said = {"kind": "cut", "message": "the answer of other was cut at its token limit"}
    assert (record["warnings"], script["warnings"]) == ([said], [said])
    assert here.run("-i", "scripts.demo.a", "--strict").code == 1


# Answers that broke off

ERRORS: dict[str, Record] = {
    "an error in the choice": {"error": {"code": 502, "message": "gone"}},
    "an error without a code": {"error": {"message": "gone"}},
    "an error that is a text": {"error": "gone"},
    "a finish reason": {"finish_reason": "error"},
    "a finish reason of DeepSeek": {"finish_reason": "insufficient_system_resource"},
    "a finish reason of vLLM": {"finish_reason": "abort"},
    "both": {"finish_reason": "error", "error": {"code": 503, "message": "gone"}},
    "an error in the piece": {"delta": {"content": "", "error": "gone"}, "message": {"content": "", "error": "gone"}},
}


@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "whole"])
def test_an_answer_that_broke_off_is_asked_for_again(app: MakeApplication, streaming: bool) -> None:
    first = {"choices": [{"index": 0, "delta": {"content": "Half a pl"}}]}

    async def behave(exchange: Exchange) -> None:
        about = exchange.request.last_text
        broken = ERRORS[about]
        half: Behaviour = in_pieces(sends(first, {"choices": [{"index": 0, "delta": {}, **broken}]}))
        if not streaming:
            half = completes({"index": 0, "message": {"content": "Half a pl"}, **broken})
        asked.append(about)
        await (half if asked.count(about) == 1 else says("Whole"))(exchange)

    asked: list[str] = []
    with ModelServer(behave) as host:
        cases = [{"id": about, "input": about} for about in ERRORS]
        found = run_cases(asking(app, host, *cases, streaming=streaming), "--parallel", str(len(cases)), code=0)

    assert {about: record["output"] for about, record in found.items()} == dict.fromkeys(ERRORS, "Whole")
    assert sorted(asked) == sorted([*ERRORS] * 2)


def test_an_event_that_is_an_error_breaks_an_answer_off(app: MakeApplication) -> None:
    first = {"choices": [{"index": 0, "delta": {"content": "Half a pl"}}]}
    error = {"object": "error", "message": "gone", "type": "InternalServerError", "code": 500}
    with ModelServer(says("Whole")) as host:
        host.plan(in_pieces(sends(first, error)))
        (record,) = run_cases(asking(app, host, case(), streaming=True), code=0).values()
    assert (record["output"], len(host.requests)) == ("Whole", 2)


def test_an_answer_that_always_breaks_off_is_an_error_of_the_host(app: MakeApplication) -> None:
    with ModelServer(completes({"message": {"content": "Half a pl"}, "finish_reason": "error"})) as host:
        (record,) = run_cases(asking(app, host, case(), streaming=False, retries=1), code=1).values()

    assert (record["status"], record["cause"], record["output"]) == ("failed", "infrastructure", None)
    assert (len(host.requests), "tried 2 times" in record["error"]) == (2, True)


def test_a_recording_or_a_rule_that_says_error_is_no_answer(app: MakeApplication) -> None:
    here = app(agent(replies="- reply: hello", cases=[case()]))
    here.run("-i", case_file(), "--record", "calls")
    (path,) = (here.root / "calls").rglob("*.json")
    path.write_text(path.read_text().replace('"finish_reason": "stop"', '"finish_reason": "error"'))
    (record,) = run_cases(here, "--replay", "calls", code=1).values()
    assert (record["cause"], "finish_reason error" in record["error"]) == ("infrastructure", True)
    broken = app(agent(replies="- reply: { text: half, finish_reason: error }", cases=[case()]))
    (record,) = run_cases(broken, code=1).values()
    assert (record["cause"], "finish_reason error" in record["error"]) == ("infrastructure", True)
