"""The verdict on a case if a model answers nothing, or odd usage figures."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, case_file, run_cases
from command import Application, MakeApplication, Record
from faults import with_model
from model_server import Behaviour, ModelServer, body, completes, says, sends

SAID = {"message": {"content": "Hi"}, "finish_reason": "stop"}
NOT = {"type": "not_contains", "value": "secret"}
MUTE = "returned an empty message: no content, no refusal and no tool call"


def asking(app: MakeApplication, server: ModelServer, *cases: Record, **options: Any) -> Application:
    """An agent that asks the server."""
    return app({**agent(package={"connector": "local"}, cases=list(cases)), **with_model(server, **options)})


def case(**fields: Any) -> Record:
    return {"id": "a", "input": "x", **fields}


SILENT: dict[str, Behaviour] = {
    "an empty choice": completes({}),
    "content null": completes({"message": {"content": None}, "finish_reason": "stop"}),
    "an empty message in a stream": sends({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
    "tool calls that never came": completes({"message": {"content": ""}, "finish_reason": "tool_calls"}),
}
JUDGED: dict[str, Record] = {
    "it must not say a word": {"assert": NOT},
    "nothing is checked": {},
    "it may not contain, negated": {"assert": {"type": "contains", "value": "x", "negate": True}},
    "several turns": {"input": None, "turns": [{"input": "x", "assertions": NOT}]},
    "a graded conversation": {"input": None, "mode": "conversation", "turns": [{"input": "x", "assertions": [NOT]}]},
}


@pytest.mark.parametrize("behaviour", SILENT.values(), ids=SILENT)
@pytest.mark.parametrize("fields", JUDGED.values(), ids=JUDGED)
def test_an_answer_without_a_message_is_no_empty_text(
    app: MakeApplication, behaviour: Behaviour, fields: Record
) -> None:
    with ModelServer(behaviour) as server:
        report = asking(app, server, case(**fields)).report("-i", case_file(), code=1)

    (record,) = report["results"]
    assert (record["status"], record["cause"]) == ("failed", "infrastructure")
    assert MUTE in record["error"]
    assert (report["summary"]["passed"], report["summary"]["failed"], report["summary"]["errors"]) == (0, 0, 1)


@pytest.mark.parametrize(
    ("type", "reason"), [("openai", "length"), ("openai", "content_filter"), ("anthropic", "refusal")]
)
def test_a_result_without_a_message_says_how_its_answer_ended(app: MakeApplication, type: str, reason: str) -> None:
    said = {"type": "message", "content": [], "stop_reason": reason}
    silent = body(200, said) if type == "anthropic" else completes({"message": {}, "finish_reason": reason})
    turns = {"id": "b", "turns": [{"input": "x"}]}
    with ModelServer(silent) as server:
        records = run_cases(asking(app, server, case(), turns, type=type), code=1)
    assert [(record["status"], record["finish_reason"]) for record in records.values()] == [("failed", reason)] * 2
    assert records["b"]["turns"][0]["finish_reason"] == reason


def test_a_judge_without_a_message_judges_nothing(app: MakeApplication) -> None:
    judged = {"type": "agent", "use": "agents:judge", "value": "is polite", "negate": True}
    with ModelServer(completes({})) as server:
        files = agent(replies="- reply: hello", cases=[case(**{"assert": judged})])
        here = app({**files, **agent("judge", package={"connector": "local"}), **with_model(server)})
        (record,) = run_cases(here, code=1).values()

    assert record["cause"] == "infrastructure"
    assert MUTE in record["error"]


def test_an_empty_text_is_an_answer(app: MakeApplication) -> None:
    with ModelServer(completes({"message": {"content": ""}, "finish_reason": "stop"})) as server:
        here = asking(app, server, case(**{"assert": NOT}), {"id": "b", "input": "x", "assert": {"value": "Hi"}})
        records = run_cases(here, code=1)

    assert {id: (record["status"], record.get("cause")) for id, record in records.items()} == {
        "a": ("passed", None),
        "b": ("failed", "assertion"),
    }


REFUSALS: dict[str, Behaviour] = {
    "whole": completes({"message": {"content": None, "refusal": "I must not tell the secret."}}),
    "streamed": sends({"choices": [{"delta": {"refusal": "I must not tell the secret."}, "finish_reason": "stop"}]}),
}


@pytest.mark.parametrize("behaviour", REFUSALS.values(), ids=REFUSALS)
def test_the_text_of_a_refusal_is_what_is_judged(app: MakeApplication, behaviour: Behaviour) -> None:
    with ModelServer(behaviour) as server:
        (record,) = run_cases(asking(app, server, case(**{"assert": NOT})), code=1).values()

    assert (record["output"], record["cause"]) == ("I must not tell the secret.", "assertion")


SCRIPTED: dict[str, str] = {
    "a finish reason alone": "{ finish_reason: length }",
    "no tool calls": "{ tool_calls: [] }",
    "usage alone": "{ usage: { input_tokens: 1 } }",
    "reasoning alone": "{ reasoning: hm }",
    "an empty refusal": '{ refusal: "" }',
}


@pytest.mark.parametrize("reply", SCRIPTED.values(), ids=SCRIPTED)
def test_a_rule_can_rehearse_an_answer_without_a_message(app: MakeApplication, reply: str) -> None:
    files = agent(replies=f"- reply: {reply}", cases=[case(**{"assert": NOT})])
    (record,) = run_cases(app(files), code=1).values()

    assert record["cause"] == "infrastructure"
    assert record["error"] == (
        f"agent error: The model scripted {MUTE}. Rule 1 of assistants/demo/replies.yml returns it; for an empty "
        'answer, use text: ""'
    )


# Recordings

RECORDED: dict[str, tuple[Record, str]] = {
    "nothing": ({}, "the completion has no content, no refusal and no tool call"),
    "a finish reason alone": (
        {"finish_reason": "stop"},
        "the completion has no content, no refusal and no tool call",
    ),
    "content null": ({"content": None}, "content is not a string"),
    "content that is a number": ({"content": 5}, "content is not a string"),
}


def replayed(app: MakeApplication, change: Record | None, **fields: Any) -> tuple[Application, Any]:
    """An application with a recorded call whose completion was changed, or, with None, left as it is."""
    with ModelServer(says("Hi")) as server:
        here = asking(app, server, case(**fields))
        assert here.run("-i", case_file(), "--record", "calls").code == 0
    (path,) = (here.root / "calls").rglob("*.json")
    recording = json.loads(path.read_text())
    completion = recording["calls"][0]["completion"]
    recording["calls"][0]["completion"] = change if change is not None else completion
    return here, (path, recording)


@pytest.mark.parametrize(("completion", "why"), RECORDED.values(), ids=RECORDED)
def test_a_recorded_answer_without_a_message_is_no_empty_text(
    app: MakeApplication, completion: Record, why: str
) -> None:
    here, (path, recording) = replayed(app, completion, **{"assert": NOT})
    path.write_text(json.dumps(recording))

    (record,) = run_cases(here, "--replay", "calls", code=1).values()

    assert record["cause"] == "infrastructure"
    assert f"call 1 is not a valid recording: {why}" in record["error"]


def test_a_recording_may_begin_with_a_byte_order_mark(app: MakeApplication) -> None:
    here, (path, recording) = replayed(app, None)
    path.write_text("\ufeff" + json.dumps(recording))

    (record,) = run_cases(here, "--replay", "calls", code=0).values()

    assert record["output"] == "Hi"


def test_odd_figures_of_a_recording_are_said(app: MakeApplication) -> None:
    usage = {"input_tokens": -1, "output_tokens": "7"}
    here, (path, recording) = replayed(app, {"content": "Hi", "finish_reason": 5, "usage": usage})
    path.write_text(json.dumps(recording))

    (record,) = run_cases(here, "--replay", "calls", code=0).values()

    assert [warning["message"] for warning in record["warnings"]] == [
        "The recording reports an impossible usage: input_tokens is -1; the usage of the call is unknown",
        "The recording has a finish_reason that is not a string: 5",
    ]


# Warnings

ODD = {"prompt_tokens": -5, "completion_tokens": 2}
IMPOSSIBLE = "local reports an impossible usage: prompt_tokens is -5; the usage of the call is unknown"
WARNED: dict[str, tuple[Behaviour, list[str]]] = {
    "negative": (completes(SAID, ODD), [IMPOSSIBLE]),
    "a finish reason": (
        completes({**SAID, "finish_reason": 5}, {"prompt_tokens": 1, "completion_tokens": 1}),
        ["local gave a finish_reason that is not a string: 5"],
    ),
    "both": (
        completes({**SAID, "finish_reason": []}, ODD),
        [IMPOSSIBLE, "local gave a finish_reason that is not a string: []"],
    ),
    "texts": (completes(SAID, {"prompt_tokens": "5", "completion_tokens": "2"}), []),
    "no usage": (completes(SAID), []),
}


@pytest.mark.parametrize(("behaviour", "said"), WARNED.values(), ids=WARNED)
def test_what_is_odd_about_an_answer_is_a_warning_on_the_case(
    app: MakeApplication, behaviour: Behaviour, said: list[str]
) -> None:
    with ModelServer(behaviour) as server:
        here = asking(app, server, case(), {"id": "b", "input": None, "turns": [{"input": "x"}, {"input": "y"}]})
        report = here.report("-i", case_file(), code=0)
        strict = here.report("-i", case_file(), "--strict", code=1 if said else 0)

    warnings = [{"kind": "usage", "message": message} for message in said]
    assert [record.get("warnings", []) for record in report["results"]] == [warnings, warnings], "each once in a case"
    assert report["summary"].get("warnings", 0) == 2 * len(said)
    assert {record["status"] for record in strict["results"]} == {"failed" if said else "passed"}


def test_replayed_answers_carry_their_warnings(app: MakeApplication) -> None:
    with ModelServer(completes(SAID, ODD)) as server:
        here = asking(app, server, case())
        first = run_cases(here, "--record", "calls", code=0)
    again = run_cases(here, "--replay", "calls", code=0)

    assert first["a"]["warnings"] == again["a"]["warnings"] == [{"kind": "usage", "message": IMPOSSIBLE}]
    assert "usage" not in first["a"]
    assert "usage" not in again["a"]


def test_what_is_known_is_reported_and_nothing_in_the_place_of_what_is_not(app: MakeApplication) -> None:
    told = {"prompt_tokens": 3, "completion_tokens": 4}
    with ModelServer() as server:
        server.plan(completes(SAID, told), completes(SAID), completes(SAID, told), completes(SAID, ODD))
        cases = [{"id": id, "input": "x"} for id in ("told", "not told")]
        here = asking(app, server, *cases, {"id": "half", "turns": [{"input": "x"}, {"input": "y"}]})
        records = run_cases(here, code=0)

    assert {id: (record["model_calls"], record.get("usage")) for id, record in records.items()} == {
        "told": (1, {"input_tokens": 3, "output_tokens": 4}),
        "not told": (1, None),
        "half": (2, {"input_tokens": 3, "output_tokens": 4}),
    }


def test_the_warnings_of_judges_and_of_all_trials_are_the_cases_own(app: MakeApplication) -> None:
    judged = {"type": "agent", "use": "agents:judge", "value": "is polite"}
    verdict = {"message": {"content": '{"passed": true}'}, "finish_reason": 7}
    talk = {"id": "b", "mode": "conversation", "turns": [{"input": "x", "assertions": [judged]}], "trials": 2}
    with ModelServer(completes(verdict, {"prompt_tokens": 1, "completion_tokens": 1})) as server:
        files = agent(replies="- reply: hello", cases=[case(**{"assert": judged}), talk])
        here = app({**files, **agent("judge", package={"connector": "local"}), **with_model(server)})
        records = run_cases(here, code=0)

    warning = {"kind": "usage", "message": "local gave a finish_reason that is not a string: 7"}
    assert [record["warnings"] for record in records.values()] == [[warning], [warning]]


# What assertions and scripts see of a usage that is not known

NO_TOKENS = "the provider does not report how many tokens a call used, or reports an impossible number"
UNKNOWN_TOKENS = f"the number of tokens is unknown: {NO_TOKENS}"
BOUNDS: dict[str, tuple[Record, str]] = {
    "tokens": ({"type": "tokens", "value": 1000}, UNKNOWN_TOKENS),
    "no tokens, negated": ({"type": "tokens", "value": 1000, "negate": True}, UNKNOWN_TOKENS),
    "cost": ({"type": "cost", "value": 1}, f"the cost is unknown: {NO_TOKENS}"),
}
PLACES: dict[str, str] = {"standard": "assert", "a turn": "turn", "the end": "final"}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize(("bound", "why"), BOUNDS.values(), ids=BOUNDS)
@pytest.mark.parametrize("usage", [None, ODD], ids=["nothing said", "impossible"])
def test_a_bound_on_what_is_not_known_does_not_hold(
    app: MakeApplication, place: str, bound: Record, why: str, usage: Any
) -> None:
    shapes: dict[str, Record] = {
        "assert": case(**{"assert": bound}),
        "turn": {"id": "a", "turns": [{"input": "x", "assertions": bound}]},
        "final": {"id": "a", "turns": [{"input": "x"}], "final_assertions": bound},
    }
    with ModelServer(completes(SAID, usage)) as server:
        here = asking(app, server, shapes[place], price={"input": 1, "output": 1})
        (record,) = run_cases(here, code=1).values()

    assert (record["status"], record["cause"]) == ("failed", "error")
    assert why in record["error"]


def test_one_call_without_a_price_leaves_the_cost_of_a_conversation_unknown(app: MakeApplication) -> None:
    told = {"prompt_tokens": 1, "completion_tokens": 1}
    turns = {"id": "a", "turns": [{"input": "x"}, {"input": "y"}], "final_assertions": {"type": "cost", "value": 1}}
    with ModelServer() as server:
        server.plan(completes(SAID, {**told, "cost": 0.1}), completes(SAID, told))
        (record,) = run_cases(asking(app, server, turns), code=1).values()

    assert "the cost is unknown: neither the provider nor the connector file gives a price" in record["error"]


def test_a_hook_is_given_no_usage_that_is_not_known(app: MakeApplication) -> None:
    hooks = "function Next(ctx, { completion }) { return { data: { usage: completion.usage ?? 'unknown' } }; }"
    with ModelServer() as server:
        server.plan(completes(SAID, ODD), completes(SAID, {"prompt_tokens": "1", "completion_tokens": 2}))
        cases = [case(), {"id": "b", "input": "x"}]
        files = agent(package={"connector": "local"}, hooks=hooks, cases=cases)
        records = run_cases(app({**files, **with_model(server)}), code=0)

    assert [record["output"]["usage"] for record in records.values()] == [
        "unknown",
        {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    ]


# Empty answers

EMPTY: dict[str, Any] = {"a text": "", "a list": [], "an object": {}, "zero": 0, "false": False}
KINDS = {"a text": "string", "a list": "array", "an object": "object", "zero": "number", "false": "boolean"}


@pytest.mark.parametrize("kind", EMPTY)
def test_empty_data_of_next_is_an_answer(app: MakeApplication, kind: str) -> None:
    value, hooks = EMPTY[kind], f"export function Next() {{ return {{ data: {json.dumps(EMPTY[kind])} }}; }}"
    checks = [
        {"type": "equals", "value": value},
        {"type": "type", "value": KINDS[kind]},
        {"type": "equals", "value": None, "negate": True},
        {"type": "equals", "value": "said", "negate": True},
    ]
    turns = [{"input": "x", "assertions": checks}]
    cases = [
        case(**{"assert": checks}),
        {"id": "turns", "turns": turns},
        {"id": "expected", "input": "x", "expected": value},
    ]
    here = app(agent(replies="- reply: said", hooks=hooks, cases=cases))
    records = run_cases(here, "-o", "r.jsonl", code=0)
    assert records["a"]["output"] == records["turns"]["turns"][0]["output"] == value
    assert here.run("regrade", "r.jsonl").code == 0


@pytest.mark.parametrize("reply", ['""', "{ text: '' }"])
def test_an_empty_text_of_a_model_is_a_text(app: MakeApplication, reply: str) -> None:
    checks = [{"type": "equals", "value": ""}, {"type": "type", "value": "string"}]
    cases = [case(**{"assert": checks}), {"id": "turns", "turns": [{"input": "x", "assertions": checks}]}]
    here = app(
        agent(replies=f"- reply: {reply}", cases=[*cases, case(id="b", **{"assert": {**checks[0], "negate": True}})])
    )
    records = run_cases(here, "-o", "r.jsonl", code=1)
    assert {id: record["status"] for id, record in records.items()} == {"a": "passed", "turns": "passed", "b": "failed"}
    assert here.run("regrade", "r.jsonl", "--run", "^(a|turns)$").code == 0


@pytest.mark.parametrize("value", [[], {}, 0, False], ids=json.dumps)
def test_empty_json_of_a_model_is_what_it_is(app: MakeApplication, value: Any) -> None:
    here = app(agent(replies=f"- reply: {{ json: {json.dumps(value)} }}", cases=[case(expected=value)]))
    assert run_cases(here, code=0)["a"]["output"] == json.dumps(value)
