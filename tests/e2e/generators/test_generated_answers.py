"""What generators answer: which cases are made of it, and what is refused."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest
from agent_files import agent, case_file, lines, run_cases
from command import MakeApplication, eventually
from generated_runs import SAID, generated

ASKED = 'function Create() { new FS("data").WriteFile("/asked", "yes"); }'


def maker(answer: Any, **more: Any) -> dict[str, str]:
    """The files of `demo`, which repeats, and of a generator `maker` with one answer."""
    reply = answer if isinstance(answer, str) else json.dumps(answer)
    key = "text" if isinstance(answer, str) else "json"
    return agent(replies=SAID, **more) | agent(
        "maker", replies=json.dumps([{"reply": {key: answer}}]) if key == "json" else f"- reply: {json.dumps(reply)}"
    )


ANSWERS: dict[str, Any] = {
    "cases": {"cases": [{"id": "A", "input": "x"}]},
    "test_cases": {"test_cases": [{"id": "A", "input": "x"}]},
    "a list": [{"id": "A", "input": "x"}],
    "one case": {"id": "A", "input": "x"},
    "a fenced block": 'Here you are:\n```json\n[{"id": "A", "input": "x"}]\n```',
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_cases_are_read_from(app: MakeApplication, answer: Any) -> None:
    records = generated(app(maker(answer)), "agents:maker")

    assert {id: record["output"] for id, record in records.items()} == {"A": "x"}


def test_what_a_next_hook_returns_counts(app: MakeApplication) -> None:
    hooks = 'function Next() { return { data: { cases: [{ id: "N", input: "from the hook" }] } }; }'
    records = generated(
        app(agent(replies=SAID) | agent("maker", prompts=None, replies=None, hooks=hooks)), "agents:maker"
    )

    assert records["N"]["output"] == "from the hook"


NO_CASES: dict[str, tuple[Any, str]] = {
    "prose": ("I cannot do that.", "it returned no cases: I cannot do that."),
    "an empty list": ({"cases": []}, 'it returned no cases: {"cases":[]}'),
    "something else": ({"answer": 42}, 'it returned no cases: {"answer":42}'),
    "a long text": ("no " * 200, f"it returned no cases: {('no ' * 200)[:300]}... (600 characters)"),
}


@pytest.mark.parametrize(("answer", "why"), NO_CASES.values(), ids=NO_CASES)
def test_a_generator_that_gives_no_cases_is_an_error(app: MakeApplication, answer: Any, why: str) -> None:
    run = app(maker(answer)).run("-i", "agents:maker", "-n", "demo")

    assert (run.code, run.stdout, run.stderr) == (
        2,
        "",
        f"Error: Cannot generate cases with agents:maker: {why}\n"
        'Hint: It must return {"cases": [{"id": "G001", "input": "..."}]}, or the list alone\n',
    )


MIXED = [
    {"id": "A", "input": "good"},
    {"id": "B", "input": "Hi", "asserts": []},
    "C",
    {"id": "D", "input": "Hi", "assertions": [{"type": "containz", "value": "x"}]},
    {"id": "E"},
]


def test_cases_that_are_wrong_are_named_and_nothing_runs(app: MakeApplication) -> None:
    run = app(maker(MIXED)).run("-i", "agents:maker?count=5", "-n", "demo")

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.splitlines() == [
        "Error: Cannot use 4 of 5 cases from agents:maker:",
        '  entry 2: case "B": unknown field "asserts". Write: "assert": [{"type": "icontains", "value": "..."}]',
        "  entry 3: it is not a case: an object was expected",
        '  entry 4: case "D": unknown assertion type "containz". Did you mean "contains"?',
        '  entry 5: case "E": "input" is missing. Put the message to the agent in "input" or "messages"',
        "Hint: --lenient runs the remaining cases",
    ]


def test_half_of_a_pair_in_a_text_is_named(app: MakeApplication) -> None:
    script = 'export function Cases() { return [{ id: "A", input: "x" }, { id: "\\ud800", input: "x" }]; }'
    run = app({**agent(cases=None), "make.ts": script}).run("-i", "scripts:demo.make.Cases", "-n", "demo")
    assert run.code == 2
    assert run.stderr.splitlines()[1] == '  entry 2: "id" has a lone surrogate, which is not a character'


def test_the_good_ones_run_when_lenient(app: MakeApplication) -> None:
    application = app(maker(MIXED))
    run = application.run("-i", "agents:maker", "-n", "demo", "--lenient")

    assert run.code == 0
    assert [line for line in run.stdout.splitlines() if line.startswith("Warning")] == [
        'Warning: agents:maker: entry 2: case "B": unknown field "asserts". Write: "assert": [{"type": "icontains", "value": "..."}]',
        "Warning: agents:maker: left out, entry 3: it is not a case: an object was expected",
        'Warning: agents:maker: left out, entry 4: case "D": unknown assertion type "containz". Did you mean "contains"?',
        'Warning: agents:maker: left out, entry 5: case "E": "input" is missing. '
        'Put the message to the agent in "input" or "messages"',
    ]
    assert list(generated(application, "agents:maker", "--lenient")) == ["A", "B"]


THROWS = 'export function Generate() {\n  throw new Error("no idea");\n}\n'


REFUSED: dict[str, tuple[dict[str, str], tuple[str, ...], str]] = {
    "no target": (
        {},
        ("-i", "agents:maker"),
        "Error: Cannot generate cases with agents:maker: no agent to test is set\nHint: Set it with -n\n",
    ),
    "no generator": (
        {},
        ("-i", "agents:", "-n", "demo"),
        "Error: Cannot use -i agents:: no generator is named\nHint: For example: agents:workers.test.generator\n",
    ),
    "an unknown script": (
        {},
        ("-i", "scripts:tests.none", "-n", "demo"),
        'Error: Cannot use -i scripts:tests.none: Cannot find the script of "scripts:tests.none": '
        "looked in scripts, the agents' src/ folders, assistants/demo/src, assistants/demo/tests\n",
    ),
    "a script without the function": (
        {"/scripts/tests.ts": "function Other() {}"},
        ("-i", "scripts:tests", "-n", "demo"),
        'Error: Cannot use -i scripts:tests: Cannot find the function of "scripts:tests": '
        "<app>/scripts/tests.ts has no Generate, and no default export\nHint: It has Other\n",
    ),
    "a script that throws": (
        {"/scripts/tests.ts": THROWS},
        ("-i", "scripts:tests", "-n", "demo"),
        "Error: Cannot generate cases with scripts:tests: no idea (at <app>/scripts/tests.ts:2:13)\n",
    ),
    "an agent that fails": (
        agent("maker", replies="- reply: { error: { status: 400, message: not today } }"),
        ("-i", "agents:maker", "-n", "demo"),
        "Error: Cannot generate cases with agents:maker: The model scripted failed: 400 Bad Request: not today\n"
        "Hint: Rule 1 of assistants/maker/replies.yml sets this error\n",
    ),
    "an agent that takes too long": (
        agent("maker", replies="- reply: { text: late, delay: 20s }"),
        ("-i", "agents:maker", "-n", "demo", "--timeout", "300ms"),
        "Error: Cannot generate cases with agents:maker: timeout after 300ms\n",
    ),
    "cases that are to go to a report": (
        agent("maker"),
        ("-i", "agents:maker", "-n", "demo", "--dry-run", "-o", "cases.json"),
        "Error: Cannot write cases to cases.json: the file must be a .jsonl file\n",
    ),
}


@pytest.mark.parametrize(("files", "arguments", "error"), REFUSED.values(), ids=REFUSED)
def test_it_is_an_error_that(
    app: MakeApplication, files: dict[str, str], arguments: tuple[str, ...], error: str
) -> None:
    run = app({**agent(replies=SAID), **files}).run(*arguments)

    assert (run.code, run.stdout, run.stderr) == (2, "", error)


def test_an_unknown_generator_is_an_error_before_anything_runs(app: MakeApplication) -> None:
    run = app(agent(replies=SAID)).run("-i", "agents:makr", "-n", "demo")

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.startswith('Error: Cannot use -i agents:makr: Cannot find agent "makr"')


def test_a_text_with_a_blank_after_the_colon_is_a_message(app: MakeApplication) -> None:
    run = app(agent(replies=SAID)).run("-i", "agents: who are they?", "-n", "demo")

    assert run.code == 0
    assert 'ℹ Input: "agents: who are they?"\n' in run.stdout


FAILING = [{"id": "F 1", "input": "one", "assertions": [{"type": "contains", "value": "two"}]}]


def test_a_dry_run_lists_them_and_writes_a_file_that_runs(app: MakeApplication) -> None:
    cases = [
        {"id": "A", "input": "one", "assertions": [{"type": "contains", "value": "one"}]},
        {"id": "A", "name": "Twice", "input": "two", "assert": {"type": "type", "value": "string"}, "x-note": 1},
        {"id": "M", "turns": [{"input": "a"}, {"input": "b", "assertions": {"type": "contains", "value": "b"}}]},
    ]
    application = app(maker(cases))

    dry = application.run("-i", "agents:maker?count=3", "-n", "demo", "--dry-run", "-o", "made/cases.jsonl")

    assert (dry.code, dry.stdout, dry.stderr) == (
        0,
        "agents:maker?count=3\n  A\n  A-2\n  M\n3 tests in 1 input\nWrote made/cases.jsonl\n",
        "",
    )
    assert (application.root / "made/cases.jsonl").read_text("utf-8") == lines(
        {"id": "A", "input": "one", "assertions": [{"type": "contains", "value": "one"}]},
        {"id": "A-2", "name": "Twice", "input": "two", "assertions": [{"type": "type", "value": "string"}]},
        {
            "id": "M",
            "turns": [{"input": "a"}, {"input": "b", "assertions": [{"type": "contains", "value": "b"}]}],
        },
    )
    records = run_cases(application, "-i", "made/cases.jsonl", "-n", "demo", code=0)
    assert {id: record["status"] for id, record in records.items()} == {"A": "passed", "A-2": "passed", "M": "passed"}


def test_several_generators_of_a_dry_run_share_a_file(app: MakeApplication) -> None:
    application = app(maker([{"id": "A", "input": "one"}]))

    application.run("-i", "agents:maker?a=1", "-i", "agents:maker?a=2", "-n", "demo", "--dry-run", "-o", "c.jsonl")

    assert (application.root / "c.jsonl").read_text() == lines(
        {"id": "A", "input": "one"}, {"id": "A-2", "input": "one"}
    )


def test_a_run_names_the_generator_and_writes_no_report_beside_it(app: MakeApplication) -> None:
    application = app(maker([{"id": "A", "input": "one"}, {"id": "B", "name": "Second", "input": "two"}]))
    before = application.listing()

    run = application.run("-i", "agents:maker?count=2", "-n", "demo", "--run", "Second")

    assert run.code == 0
    assert run.stdout.splitlines()[1:5] == [
        "  Agent Test",
        "═" * 79,
        "ℹ Agent: demo",
        "ℹ Input: agents:maker?count=2 (1 test case of 2)",
    ]
    assert "✓ [B] Second" in run.stdout
    assert application.listing() == before


def test_generated_conversations_are_announced(app: MakeApplication) -> None:
    run = app(maker([{"id": "A", "turns": [{"input": "one"}, {"input": "two"}]}])).run(
        "-i", "agents:maker", "-n", "demo"
    )

    assert run.code == 0
    assert run.stdout.splitlines()[1] == "  Agent Test (Multi-Turn)"
    assert "► [A] (2 turns)" in run.stdout


def test_a_generated_case_that_fails_says_how_to_run_it_again(app: MakeApplication) -> None:
    run = app(maker(FAILING)).run("-i", "agents:maker?count=1&focus=x", "-n", "demo")

    assert run.code == 1
    assert "  Rerun: yao-test -i 'agents:maker?count=1&focus=x' --run '^F.1$' --name demo\n" in run.stdout


def test_files_and_generators_run_together_in_the_order_of_the_inputs(app: MakeApplication) -> None:
    files = maker([{"id": "G", "input": "one"}], cases=[{"id": "C", "input": "two"}])
    report = app(files).report("-i", "agents:maker", "-i", case_file(), "-n", "demo", code=0)

    assert [(part["input"], [record["id"] for record in part["results"]]) for part in report["reports"]] == [
        ("agents:maker", ["G"]),
        (case_file(), ["C"]),
    ]


def test_a_bad_file_is_said_before_anything_is_generated(app: MakeApplication) -> None:
    files = maker("never asked", cases=[{"id": "C"}])
    run = app(files).run("-i", "agents:maker", "-i", case_file(), "-n", "demo")

    assert run.code == 2
    assert run.stderr.startswith(f"Error: Cannot read cases from {case_file()}:1:1")


def test_an_interrupt_ends_a_generator(app: MakeApplication) -> None:
    files = agent(replies=SAID) | agent("maker", replies="- reply: { text: late, delay: 20s }")
    application = app({**files, "/assistants/maker/src/index.ts": ASKED})

    with application.start("-i", "agents:maker", "-n", "demo") as process:
        eventually((application.root / "data/asked").exists, "the generator is asked")
        os.killpg(process.pid, signal.SIGINT)
        run = application.finish(process)

    assert (run.code, run.stdout, run.stderr) == (130, "", "")
