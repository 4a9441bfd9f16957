"""What untrusted text asks for ends: in schemas, patterns, paths, YAML."""

from __future__ import annotations

import signal
import time
from typing import Any

import pytest
from agent_files import agent
from command import MakeApplication, eventually

CASES = "assistants/demo/tests/cases.jsonl"
PARTS: dict[str, Any] = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)}
NESTED = {"$ref": "#/$defs/d0", "$defs": {**PARTS, "d60": {"not": {"const": "another"}}}}
SLOW: list[dict[str, Any]] = [{"id": "slow", "input": "x", "assert": {"type": "json_schema", "value": NESTED}}]


def test_a_nested_schema_ends_with_the_time_of_its_case_and_others_go_on(app: MakeApplication) -> None:
    made = app(agent(cases=[*SLOW, {"id": "next", "input": "x"}]))
    results = {record["id"]: record for record in made.report("-i", CASES, "--timeout", "300ms")["results"]}
    assert "timeout after 300ms" in results["slow"]["error"]
    assert results["next"]["status"] == "passed"


def test_a_nested_schema_is_said_to_be_too_much(app: MakeApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bindings.processes.schemas.MAX_STEPS", 30_000)  # a tenth of what is allowed
    made = app(agent(cases=SLOW))
    (record,) = made.report("-i", CASES)["results"]
    assert "too complex" in record["error"]


def test_a_huge_schema_is_refused_where_it_stands(app: MakeApplication) -> None:
    huge = {"allOf": [{"format": "x"}] * 160_000}
    cases = [
        {"id": "fine", "input": "x"},
        {"id": "huge", "input": "x", "assert": {"type": "json_schema", "value": huge}},
    ]
    run = app(agent(cases=cases)).run("-i", CASES)
    assert run.code == 2, run
    assert f'{CASES}:2:1: case "huge": assertion 1: "json_schema": it has more than 300000 values' in run.stderr


def test_ctrl_c_ends_a_run_that_validates(app: MakeApplication) -> None:
    assertions = [{"type": "json_schema", "value": NESTED}] * 50
    made = app(agent(cases=[{"id": "quick", "input": "x"}, {"id": "slow", "input": "x", "assert": assertions}]))
    said = made.root / "said.jsonl"
    with made.start("-i", CASES, "-o", said.name) as process:
        eventually(lambda: said.exists() and '"id":"quick"' in said.read_text().replace(" ", ""), "the first case ends")
        time.sleep(0.2)  # it is at work on the second then, and would be for minutes
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        run = made.finish(process)
    assert run.code == 130, run


def bomb(indent: str = "    ") -> str:
    lines = [f"{indent}a0: &a0 [{','.join('x' * 9)}]"]
    lines += [f"{indent}a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    return "\n".join(lines) + "\n"


BOMBS = {
    "cases": {"/assistants/demo/tests/b.yaml": f"- id: a\n  input: x\n  metadata:\n{bomb()}"},
    "replies": {"/assistants/demo/replies.yml": f"- reply:\n    json:\n{bomb('      ')}"},
    "prompts": {"/assistants/demo/prompts.yml": f"- role: system\n  content: x\n  more:\n{bomb()}"},
    "itself": {"/assistants/demo/tests/b.yaml": "- id: a\n  input: x\n  metadata: &m\n    n: *m\n"},
}


@pytest.mark.parametrize("place", BOMBS)
def test_a_yaml_bomb_is_named(app: MakeApplication, place: str) -> None:
    made = app({**agent(cases=[{"id": "a", "input": "x"}]), **BOMBS[place]})
    file = next(iter(BOMBS[place]))[1:]
    run = made.run("-i", file if "/tests/" in file else CASES, "-c", "scripted")
    assert run.code in (1, 2), run
    said = run.stdout + run.stderr
    assert "its aliases expand to too many values" in said or "an alias refers to a value that contains it" in said, (
        said
    )
    assert file in said


def test_aliases_that_share_what_many_cases_have_are_read(app: MakeApplication) -> None:
    shared = ", ".join(f"k{n}: v" for n in range(20))
    head = f"- id: first\n  input: x\n  metadata: &m {{{shared}}}\n"
    text = head + "".join(f"- {{id: c{n}, input: x, metadata: *m}}\n" for n in range(200))
    made = app({**agent(), "/assistants/demo/tests/many.yaml": text})
    run = made.run("-i", "assistants/demo/tests/many.yaml", "--dry-run")
    assert run.code == 0, run
    assert "c199" in run.stdout
