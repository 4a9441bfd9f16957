"""`yao-test mutate --json=lines`: a line for each mutant as its verdict is known, of handlers, cases and rules."""

from __future__ import annotations

import json
import signal
from typing import Any

import jsonschema
import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication

FILES = agent(
    replies="- when: { system: { contains: Say hello } }\n  reply: Hello Mira\n- reply: Hm",
    prompts="- role: system\n  content: |\n    - Say hello.\n    - Be brief.\n",
    cases=[{"id": "greets", "input": "Hi", "assert": {"type": "contains", "value": "Hello"}}],
) | {
    "toll.ts": """\
export function toll(axles: number): number {
  if (axles < 2) throw new Error("no vehicle");
  return axles * 3;
}
export function unused(): number {
  return 7; // yao-test-ignore mutate: nobody asks
}
export function free(): boolean {
  return true;
}
""",
    "toll_test.ts": """\
import { toll } from "./toll";
export function TestToll(t: testing.T) { t.assert.Equal([toll(2), toll(3)], [6, 9]); t.assert.Panic(() => toll(1)); }
""",
    "slow.ts": "export function slow(a: number): number { time.Sleep(2000); return a * 3; }\n",
    "slow_test.ts": """\
import { slow } from "./slow";
export function TestSlow(t: testing.T) { slow(1); }
""",
    "wrong_test.ts": "export function TestWrong(t: testing.T) { t.assert.Equal(1, 2); }\n",
}
TOLL = "scripts.demo.toll"
KINDS: dict[str, tuple[list[str], set[str], int]] = {
    "handlers": (["-i", TOLL], {"killed", "survived", "no coverage", "ignored"}, 0),
    "handlers again": (["-i", TOLL, "--threshold", "1"], {"killed", "survived", "no coverage", "ignored"}, 1),
    "cases": (["-i", case_file()], {"killed", "survived"}, 0),
    "rules": (["-i", case_file(), "--prompts", "--yes"], {"killed", "survived"}, 0),
}


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    return shared_app(FILES)


@pytest.fixture(scope="module")
def schema(here: Application) -> Any:
    return jsonschema.Draft202012Validator(json.loads(here.run("schema", "result").stdout))


@pytest.mark.parametrize("kind", KINDS)
def test_lines_say_what_the_document_says_and_fit_the_schema(here: Application, schema: Any, kind: str) -> None:
    words, statuses, code = KINDS[kind]
    document = json.loads(here.run("mutate", *words, "--json").stdout)
    run = here.run("mutate", *words, "--json=lines", *(["--fresh"] if kind == "handlers" else []))
    start, *results, summary = map(json.loads, run.stdout.splitlines())

    assert (run.code, run.stderr) == (code, "")
    for line in (start, *results, summary):
        schema.validate(line)
    assert (start["type"], start["format"], start["mutants"]) == ("start", 1, len(results))
    assert {line["type"] for line in results} == {"result"}
    assert {line["status"] for line in results} == statuses
    assert len({line["id"] for line in results}) == len(results)
    assert all((line["killed_by"] is not None) == (line["status"] == "killed") for line in results)
    assert {**document, "exit_code": code, "warnings": []}.items() <= {**summary, "warnings": []}.items()
    assert (summary["type"], summary["exit_code"]) == ("summary", code)
    assert summary["status"] == ("failed" if code else "passed")
    if kind.startswith("handlers"):
        (thrown,) = [line for line in results if line["original"] == '"no vehicle"']
        assert {key: thrown[key] for key in ("file", "line", "column", "mutator", "replacement", "killed_by")} == {
            "file": "assistants/demo/src/toll.ts",
            "line": 2,
            "column": 34,
            "mutator": "StringLiteral",
            "replacement": '""',
            "killed_by": None,
        }
        assert thrown["reached_by"] == [f"{TOLL} TestToll"]
        by_id = {line["id"]: line["status"] for line in results}
        assert {one["id"]: one["status"] for one in document["mutants"]}.items() <= by_id.items()


def test_lines_come_as_verdicts_are_known_and_an_interrupted_run_ends_them(here: Application, schema: Any) -> None:
    process = here.start("mutate", "-i", "scripts.demo.slow", "--json=lines", "--parallel", "1", "--timeout", "1h")
    first = [json.loads(process.stdout.readline()) for _ in range(2)]
    process.send_signal(signal.SIGINT)
    *others, summary = map(json.loads, process.stdout.read().splitlines())  # this reader has what came with the first
    run = here.finish(process)

    for line in (*first, *others, summary):
        schema.validate(line)
    assert [line["type"] for line in first] == ["start", "result"]
    assert first[0]["mutants"] == 1 + len(others)
    assert "undecided" in {line["status"] for line in others}
    assert (run.code, summary["status"], summary["stopped"]) == (130, "interrupted", "interrupted")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["-i", "scripts.demo.wrong"], 1, "without any mutant"),
        (["-i", TOLL, "-i", case_file()], 2, "one document"),
        (["-i", TOLL, "--mutators", "Nope"], 2, "Nope"),
    ],
)
def test_errors_are_a_line(here: Application, schema: Any, words: list[str], code: int, message: str) -> None:
    run = here.run("mutate", *words, "--json=lines")

    (line,) = map(json.loads, run.stdout.splitlines())
    schema.validate(line)
    assert (run.code, run.stderr, line["type"], line["exit_code"]) == (code, "", "error", code)
    assert message in line["message"]
