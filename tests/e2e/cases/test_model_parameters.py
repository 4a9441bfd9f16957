"""Parameters of the model in `options` of cases, by what reaches the host of the model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, case_file
from command import MakeApplication
from model_server import ModelServer
from sample_agents import connector

HOOKS = """\
function Create(ctx, messages, options) {
  if (options.temperature !== undefined) throw new Error("context.Options of Yao has no temperature");
  return ctx.metadata.create;
}
"""
FILES = {
    **agent(package={"connector": "host", "options": {"temperature": 0.5, "max_tokens": 5, "seed": 3}}, hooks=HOOKS),
    "/assistants/user/package.yao": json.dumps({"connector": "host"}),
    "/assistants/user/prompts.yml": "- content: You are a guest",
    "/.env": "KEY=secret-of-the-test\n",
}
CASES = f"/{case_file()}"
SENT = ("temperature", "max_completion_tokens", "seed", "stop", "top_p", "response_format")
OF_PACKAGE = {"temperature": 0.5, "max_completion_tokens": 5, "seed": 3}


def sent(models: ModelServer) -> list[dict[str, Any]]:
    """The parameters of the requests since the last call."""
    found = [{name: one.body[name] for name in SENT if name in one.body} for one in models.requests]
    models.requests.clear()
    return found


def lines(*cases: dict[str, Any]) -> str:
    return "".join(json.dumps({"input": "Hi", **case}) + "\n" for case in cases)


def test_parameters_of_package_defaults_case_turn_and_create_go_over_each_other(app: MakeApplication) -> None:
    form = {"type": "json_object"}
    jsonl = lines(
        {"id": "a", "options": {"temperature": 0, "max_completion_tokens": 7, "stop": ["x"], "response_format": form}},
        {"id": "b", "options": {"temperature": None, "top_p": 1}, "metadata": {"create": {"temperature": 2}}},
        {"id": "c", "options": {"max_tokens": 8}, "metadata": {"create": {"max_completion_tokens": 9}}},
    )
    yaml = """\
defaults: {options: {temperature: 0.25, seed: 4}}
tests:
  - {id: a, input: Hi}
  - id: b
    options: {seed: 5, max_completion_tokens: 6}
    turns: [{input: Hi, options: {max_tokens: 7}}, {input: Ho}]
    on_missing_input: end
"""
    table = (
        "input,options.temperature,options.max_tokens,options.seed,options.stop\n"
        "Hi,0.7,50,,END\n"
        'Hi,"0,25",,12,\n'  # as spreadsheets of half of Europe write it
        "Hi,,,,\n"
    )
    talk = lines({"id": "d", "simulator": {"use": "user", "goal": "A room", "max_turns": 2, "options": {"seed": 1}}})
    with ModelServer() as models:
        files = {"a.jsonl": jsonl, "b.yaml": yaml, "c.csv": table, "d.jsonl": talk}
        here = app(
            {**FILES, "/connectors/host.conn.yao": connector(models, "gpt-4o")}
            | {f"/assistants/demo/tests/{name}": text for name, text in files.items()}
        )
        found = {}
        for name in files:
            here.run("-i", f"assistants/demo/tests/{name}", "--parallel", "1", "-o", f"{name}.json")
            found[name] = sent(models)

    assert found == {
        "a.jsonl": [
            {"temperature": 0, "max_completion_tokens": 7, "seed": 3, "stop": ["x"], "response_format": form},
            {**OF_PACKAGE, "temperature": 2, "top_p": 1},
            {**OF_PACKAGE, "max_completion_tokens": 9},
        ],
        "b.yaml": [
            {**OF_PACKAGE, "temperature": 0.25, "seed": 4},
            {"temperature": 0.25, "seed": 5, "max_completion_tokens": 7},
            {"temperature": 0.25, "seed": 5, "max_completion_tokens": 6},
        ],
        "c.csv": [
            {"temperature": 0.7, "max_completion_tokens": 50, "seed": 3, "stop": "END"},
            {**OF_PACKAGE, "temperature": 0.25, "seed": 12},
            OF_PACKAGE,
        ],
        "d.jsonl": [OF_PACKAGE, {"seed": 1}] * 2,
    }


REFUSED = {
    "a text": ({"temperature": "hot"}, '"options.temperature" must be a number'),
    "a fraction": ({"max_tokens": 1.5}, '"options.max_tokens" must be a whole number'),
    "a slip": ({"temprature": 1}, 'Did you mean "temperature"?'),
}


@pytest.mark.parametrize(("options", "said"), REFUSED.values(), ids=REFUSED)
def test_a_parameter_of_a_wrong_type_is_refused(app: MakeApplication, options: dict[str, Any], said: str) -> None:
    here = app({**FILES, CASES: lines({"id": "a", "options": options})})

    run = here.run("-i", case_file())

    assert (run.code, said in run.stderr) == (2, True), run


def test_a_recording_and_a_result_belong_to_the_parameters_of_the_case(app: MakeApplication) -> None:
    with ModelServer() as models:
        here = app({**FILES, "/connectors/host.conn.yao": connector(models, "gpt-4o")})
        here.write({CASES: lines({"id": "a", "options": {"temperature": 0.2}}, {"id": "b"})})
        assert here.run("-i", case_file(), "--record", "kept").code == 0
        assert here.run("-i", case_file(), "-o", "r.jsonl").code == 0
        sent(models)
        here.write({"/assistants/demo/package.yao": json.dumps({"connector": "host", "options": {"temperature": 1}})})
        assert here.run("-i", case_file(), "--replay", "kept", "-q").code == 0
        here.write(FILES)
        here.write({CASES: lines({"id": "a", "options": {"temperature": 0.9}}, {"id": "b"})})

        replayed = here.run("-i", case_file(), "--replay", "kept", "-q")
        resumed = here.run("--resume", "r.jsonl", "-q")

    assert (replayed.code, "-options.temperature: 0.2" in replayed.stdout) == (1, True), replayed
    assert "+options.temperature: 0.9" in replayed.stdout
    assert (resumed.code, [one["temperature"] for one in sent(models)]) == (0, [0.9]), resumed
