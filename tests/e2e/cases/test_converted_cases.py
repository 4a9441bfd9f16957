"""`yao-test convert`: what other tools have runs here, and what has no counterpart is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent
from command import Application, MakeApplication, Run

PROMPTFOO = """\
# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json
description: Translations
prompts:
  - "Translate into {{ language }}: {{ input }}"
  - file://prompts/chat.json
providers: [openai:gpt-4o-mini]
defaultTest:
  vars: {tone: formal}
  assert:
    - {type: not-contains, value: sorry}
assertionTemplates:
  polite: {type: llm-rubric, value: Is polite}
tests:
  - description: One word
    vars: {language: [French, German], input: Hello}
    assert:
      - {type: contains-any, value: [Bonjour, Hallo]}
      - {type: javascript, value: output.length < 100}
      - $ref: '#/assertionTemplates/polite'
  - vars: {language: Spanish, input: "{{ tone }} house"}
    metadata: {topic: home}
    assert: [{type: latency, threshold: 5000}]
  - file://tests.csv
"""
CHAT = '[{"role": "system", "content": "Into {{ language }}."}, {"role": "user", "content": "{{ input }}"}]'
TABLE = "language,input,__expected1,__expected2\nItalian,cat,contains: gatto,is-json\nDutch,dog,hond,\n"
INSPECT = [
    {"id": 7, "input": "What is the capital of Norway?", "target": "Oslo", "metadata": {"topic": "geo"}},
    {
        "id": "chat",
        "input": [
            {"role": "system", "content": "Be brief"},
            {
                "role": "user",
                "content": [{"type": "text", "text": "Hi"}, {"type": "image", "image": "https://x.org/a.png"}],
            },
        ],
        "target": ["hello", "hi"],
        "sandbox": "docker",
    },
    {"input": "Which are primes?", "choices": ["4", "5", "7"], "target": ["B", "C"]},
]
GOLDENS = [
    {
        "input": "When do you open?",
        "expected_output": "At nine",
        "actual_output": None,
        "context": ["We open at 9"],
        "retrieval_context": ["x"],
        "expected_tools": [{"name": "hours", "input_parameters": {"day": "mon"}}],
    },
    {"scenario": "Wants a refund", "expectedOutcome": "The refund is made", "userDescription": "Angry"},
    {"scenario": "Books", "expected_outcome": "Booked", "turns": [{"role": "user", "content": "A room"}]},
]
JUDGE = {"type": "agent", "use": "agents:workers.test.validator"}


def lines(records: list[Any]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


@pytest.fixture
def here(app: MakeApplication) -> Application:
    return app(
        {
            **agent(),
            "/promptfooconfig.yaml": PROMPTFOO,
            "/prompts/chat.json": CHAT,
            "/tests.csv": TABLE,
            "/inspect.jsonl": lines(INSPECT),
            "/deepeval.json": json.dumps(GOLDENS),
        }
    )


def cases(run: Run) -> list[dict[str, Any]]:
    assert run.code == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_a_configuration_of_promptfoo_becomes_cases_for_each_prompt_and_test(here: Application) -> None:
    run = here.run("convert", "promptfooconfig.yaml")
    found = cases(run)
    said = [case.get("input") or [message["content"] for message in case["messages"]] for case in found]
    assert said == [
        *("Translate into French: Hello", ["Into French.", "Hello"], "Translate into German: Hello"),
        *(["Into German.", "Hello"], "Translate into Spanish: formal house", ["Into Spanish.", "formal house"]),
        *("Translate into Italian: cat", ["Into Italian.", "cat"], "Translate into Dutch: dog", ["Into Dutch.", "dog"]),
    ]
    default = {"type": "not_contains", "value": "sorry"}
    assert found[0] == {
        "id": "test-1-1-prompt-1",
        "input": "Translate into French: Hello",
        "name": "One word",
        "assert": [
            default,
            {"type": "any_of", "value": [{"type": "contains", "value": word} for word in ("Bonjour", "Hallo")]},
            {**JUDGE, "criteria": "Is polite"},
        ],
        "x-not-converted": [{"type": "javascript", "value": "output.length < 100"}],
    }
    assert [case["assert"] for case in found[4::2]] == [
        [default, {"type": "latency_ms", "value": 5000}],
        [default, {"type": "contains", "value": "gatto"}, {"type": "json_schema", "value": {}}],
        [default, {"type": "equals", "value": "hond"}],
    ]
    assert found[4]["metadata"] == {"topic": "home"}
    assert run.stderr.splitlines() == [
        "No counterpart:",
        "  `providers`: agents have their own connector; -c CONNECTOR overrides it",
        "  assertion `javascript`: write it as a TypeScript function, for a `script` assertion"
        " (test-1-1-prompt-1, test-1-1-prompt-2, test-1-2-prompt-1, test-1-2-prompt-2)",
    ]


def test_samples_of_inspect_become_cases(here: Application) -> None:
    run = here.run("convert", "inspect.jsonl")
    capital, chat, primes = cases(run)
    assert capital == {
        "id": "7",
        "input": "What is the capital of Norway?",
        "assert": {"type": "icontains", "value": "Oslo"},
        "metadata": {"topic": "geo"},
    }
    assert chat["messages"][1]["content"][1] == {"type": "image", "source": "https://x.org/a.png"}
    assert chat["assert"]["value"] == [{"type": "icontains", "value": word} for word in ("hello", "hi")]
    assert (primes["id"], "B) 5\nC) 7" in primes["input"]) == ("sample-3", True)
    assert "`sandbox` (chat)" in run.stderr
    assert "pass --scorer with one of" in run.stderr
    graded, *_ = cases(here.run("convert", "inspect.jsonl", "--scorer", "model_graded_qa"))
    assert graded["assert"] == {**JUDGE, "criteria": "Means the same as: Oslo"}


def test_goldens_of_deepeval_become_cases(here: Application) -> None:
    run = here.run("convert", "deepeval.json")
    asked, simulated, told = cases(run)
    assert asked["assert"] == [
        {**JUDGE, "criteria": "Means the same as: At nine"},
        {"type": "tool_called", "value": {"name": "hours", "arguments": {"day": "mon"}}},
    ]
    assert asked["metadata"] == {"context": ["We open at 9"]}
    assert simulated["simulator"] == {
        "use": "workers.test.user-simulator",
        "goal": "Wants a refund",
        "persona": "Angry",
    }
    assert simulated["checkpoints"][0]["assert"] == {**JUDGE, "criteria": "The refund is made"}
    assert (told["turns"], told["assert"]["criteria"]) == ([{"input": "A room"}], "Booked")
    assert "`retrieval_context` (golden-1)" in run.stderr


@pytest.mark.parametrize("source", ["promptfooconfig.yaml", "inspect.jsonl", "deepeval.json"])
@pytest.mark.parametrize("form", [".jsonl", ".json", ".yaml"])
def test_what_is_written_runs(here: Application, source: str, form: str) -> None:
    target = f"assistants/demo/tests/converted{form}"
    printed = cases(here.run("convert", source))
    run = here.run("convert", source, "-o", target)
    assert run.stdout.startswith(f"Wrote {len(printed)} cases from ")
    assert run.stdout.endswith(f" to {target}\n")
    listed = json.loads(here.run("-i", target, "--dry-run", "--json").stdout)
    assert [test["test"] for test in listed["tests"]] == [case["id"] for case in printed]


def test_answers_are_graded_as_they_were(app: MakeApplication) -> None:
    answers = "- when: {input: Norway}\n  reply: It is Oslo.\n- when: {input: primes}\n  reply: 'ANSWER: B, C'\n- reply: Hello\n"
    here = app({**agent(replies=answers), "/inspect.jsonl": lines(INSPECT)})
    here.run("convert", "inspect.jsonl", "-o", "assistants/demo/tests/i.jsonl")
    assert here.run("-i", "assistants/demo/tests/i.jsonl").code == 0
    here.write({"/assistants/demo/replies.yml": "- when: {input: primes}\n  reply: 'ANSWER: B'\n- reply: Rome\n"})
    report = here.report("-i", "assistants/demo/tests/i.jsonl", code=1)
    assert [result["status"] for result in report["results"]] == ["failed"] * 3


WRONG = {
    "gone.json": (None, "Cannot read gone.json: there is no such file"),
    "config.js": ("module.exports = {}", "Cannot read config.js: it is code"),
    "broken.jsonl": ('{"input": "a"}\n{"input"\n', "Cannot read broken.jsonl:2: broken JSON"),
    "other.json": ('[{"a": 1}]', "Cannot convert other.json: its fields match none of promptfoo, inspect"),
    "numbers.json": ('[{"target": 1}, 2]', "Cannot convert numbers.json: entry 2 is not an object"),
    "none.yaml": ("prompts: [file://gone.txt]\n", "Cannot convert gone.txt: "),
    "one.yaml": (
        "prompts: [hi]\ntests: [{assert: {type: contains}}]\n",
        "Cannot convert one.yaml, test-1: a value has",
    ),
    "inputs.json": ('[{"inputs": "a", "expected_output": "b"}]', "Cannot use 1 of 1 cases from inputs.json:"),
    "talk.json": ('[{"turns": ["a"]}]', "Cannot convert talk.json, golden-1: a value has another type than deepeval"),
    "parts.json": (
        '[{"input": ["x"], "target": "y"}]',
        "Cannot convert parts.json, sample-1: a value has another type",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_converted_is_said(app: MakeApplication, name: str) -> None:
    text, said = WRONG[name]
    run = app({} if text is None else {f"/{name}": text}).run("convert", name)
    assert (run.code, run.stderr.startswith(f"Error: {said}")) == (2, True), run.stderr
    assert "Traceback" not in run.stderr


def test_the_file_itself_and_other_forms_are_not_written(here: Application) -> None:
    for target in ("inspect.jsonl", "cases.txt"):
        run = here.run("convert", "inspect.jsonl", "-o", target)
        assert (run.code, f"Cannot write {target}: " in run.stderr) == (2, True)
    assert (here.root / "inspect.jsonl").read_text() == lines(INSPECT)


def test_a_prompt_with_the_logic_of_templates_is_named_and_its_tests_are_written(app: MakeApplication) -> None:
    prompt = '[{% for one in earlier %}"{{ one }}",{% endfor %}"{{ input }}"]'
    configuration = "prompts: [file://chat.json]\nproviders: [echo]\ntests: [{vars: {input: sun}}]\n"
    here = app({"/chat.json": prompt, "/promptfooconfig.yaml": configuration})
    run = here.run("convert", "promptfooconfig.yaml", "-o", "cases.jsonl")
    assert run.code == 0, run.stderr
    assert len((here.root / "cases.jsonl").read_text().splitlines()) == 1
    assert "No counterpart:" in run.stdout + run.stderr


def test_parameters_of_the_only_provider_are_options(app: MakeApplication) -> None:
    configuration = """\
prompts:
  - "{{ a }} {{ c }} {{ c.n }} {{ none }}"
  - "{% if a %}{{ a }}{% endif %}"
providers: [{id: openai:gpt-4o, config: {temperature: 0.2, max_tokens: 9, apiKey: k, seed: many, tools: [{type: function}]}}]
tests: [{vars: {a: hi, c: {n: 1}}}]
"""
    here = app({"/promptfooconfig.yaml": configuration})
    run = here.run("convert", "promptfooconfig.yaml")
    first, second = map(json.loads, run.stdout.splitlines())
    assert first["input"] == 'hi {"n": 1} 1 '
    assert second["input"] == "{% if a %}{{ a }}{% endif %}"
    assert first["options"] == second["options"] == {"temperature": 0.2, "max_tokens": 9}
    assert "`tools` of the provider: an agent has its own tools" in run.stderr
    assert "a template with more than {{ name }}: write out its result (test-1-prompt-2)" in run.stderr
