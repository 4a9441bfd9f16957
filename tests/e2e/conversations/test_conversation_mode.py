"""Conversation mode by the real command: files, reports, flags, trials and interrupts."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file, run_cases
from command import PATIENCE, Application, MakeApplication, Record, eventually
from model_server import Exchange, ModelServer, says, silence

GARDEN = """\
tests:
  - id: garden
    mode: conversation
    criteria: Keeps the garden in mind
    aggregation: mean
    input:
      - role: system
        content: You help gardeners.
    turns:
      - input: What grows on a shady balcony?
        # a reference, never said
        expected_output: |-
          Ferns and mint do well
          without sun.
        assertions:
          - Names plants such as "mint"
          - Takes the "shade" into account
      - input: I have little time.
        assertions:
          - Recommends "ferns"
          - Does not suggest "roses"
          - Refers to the "balcony"
      - input: And the costs?
        assertions:
          - Stays below "40"
          - type: contains
            value: euros
          - type: rubrics
            criteria:
              - id: no-tools
                outcome: Needs no "shovel"
                weight: 2
                required: true
    assertions:
      - Remembers the "balcony"
      - Builds on "ferns"
"""
GARDENER = """\
- when: { turn: 1 }
  reply: Mint and ferns, since they live in shade.
- when: { turn: 2 }
  reply: Then ferns; you water them once a week.
- when: { turn: 3 }
  reply: Three ferns for the balcony take 40 euros, and no shovel.
"""


def garden(app: MakeApplication, cases: str = GARDEN) -> Application:
    """An application with these cases in YAML."""
    return app({**agent(replies=GARDENER), "/assistants/demo/tests/talks.yaml": cases})


FILE = "assistants/demo/tests/talks.yaml"


def scored(record: Record) -> Any:
    """The entries of a record, criteria as text and outcome."""
    return [
        (
            entry["name"],
            entry["type"],
            round(entry["score"], 2),
            entry["verdict"],
            [(item["text"], item["passed"]) for item in entry["assertions"]],
        )
        for entry in record["scores"]
    ]


def test_a_conversation_in_yaml_is_graded_turn_by_turn_and_as_a_whole(app: MakeApplication) -> None:
    (record,) = run_cases(garden(app), "-i", FILE, code=0).values()

    assert scored(record) == [
        (
            "turn-1",
            "rubrics",
            1,
            "pass",
            [
                ('Names plants such as "mint"', True),
                ('Takes the "shade" into account', True),
                ("Means the same as expected_output", True),
            ],
        ),
        (
            "turn-2",
            "rubrics",
            0.5,
            "fail",
            [('Recommends "ferns"', True), ('Does not suggest "roses"', True), ('Refers to the "balcony"', False)],
        ),
        (
            "turn-3",
            "rubrics",
            1,
            "pass",
            [('Stays below "40"', True), ('contains "euros"', True), ('Needs no "shovel"', True)],
        ),
        ("assertions", "rubrics", 1, "pass", [('Remembers the "balcony"', True), ('Builds on "ferns"', True)]),
    ]
    assert (record["test_id"], record["execution_status"], record["status"]) == ("garden", "ok", "passed")
    assert record["score"] == pytest.approx((1 + 1 / 2 + 1 + 1) / 4)
    assert [item.get("judged", True) for item in record["scores"][1]["assertions"]] == [True, False, True]
    assert [message["role"] for message in record["output"] if message["role"] != "system"] == ["user", "assistant"] * 3
    assert record["response"] == "Three ferns for the balcony take 40 euros, and no shovel."
    assert record["scores"][2]["assertions"][2]["id"] == "no-tools"


def test_a_conversation_in_jsonl_is_the_same(app: MakeApplication) -> None:
    case = {
        "id": "garden",
        "mode": "conversation",
        "turns": [{"input": "What grows?", "assertions": ['Names "mint"', {"type": "contains", "value": "ferns"}]}],
    }
    (record,) = run_cases(app(agent(replies=GARDENER, cases=[case])), code=0).values()

    assert scored(record) == [("turn-1", "rubrics", 1, "pass", [('Names "mint"', True), ('contains "ferns"', True)])]


def test_a_threshold_of_the_command_line_decides(app: MakeApplication) -> None:
    application = garden(app)

    (record,) = run_cases(application, "-i", FILE, "--threshold", "0.9", code=1).values()

    assert record["error"].startswith("score 0.88 is below the threshold 0.9 (turn-2: ")
    assert record["execution_status"] == "ok"


@pytest.mark.parametrize("value", ["1.1", "-1", "high", "80%", "nan", ""])
def test_a_threshold_is_a_number_from_0_to_1(app: MakeApplication, value: str) -> None:
    run = garden(app).run("-i", FILE, f"--threshold={value}")

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr == f'Error: Cannot read --threshold "{value}": it must be a number from 0 to 1, such as 0.8\n'


@pytest.mark.parametrize("value", ["0", "1", "0.75", ".5", "1.0"])
def test_a_threshold_may_be_written_in_several_ways(app: MakeApplication, value: str) -> None:
    assert garden(app).run("-i", FILE, f"--threshold={value}").code == int(float(value) > 0.84)


def test_a_turn_in_which_the_agent_failed_says_so(app: MakeApplication) -> None:
    replies = "- when: { input: Shade }\n  reply: { error: { status: 400, message: out of order } }\n" + GARDENER
    turns = [{"input": "Shade?", "assertions": ['Names "mint"']}, {"input": "Time?"}]
    application = app(agent(replies=replies, cases=[{"id": "garden", "mode": "conversation", "turns": turns}]))

    assert (
        """\
          Score: 0.00 → FAIL
  │          Error: agent error: The model scripted failed: 400 Bad Request: out of order
  │
  ├─ Turn 2: "Time?" → PASSED"""
        in application.run("-i", case_file()).stdout
    )


CHECKS = """\
export function Validate(output, input, expected, metadata) {
  return { pass: input.length === 3 && output === "Then ferns; you water them once a week." && expected === "ferns",
    message: JSON.stringify([output, input, expected]) };
}
"""


def test_a_script_grades_a_turn_with_the_conversation_as_its_input(app: MakeApplication) -> None:
    script = {"type": "script", "use": "scripts:tests", "value": "ferns"}
    turns = [{"input": "Shade?"}, {"input": "Time?", "assertions": [script]}]
    cases = [{"id": "garden", "mode": "conversation", "turns": turns}]
    application = app({**agent(replies=GARDENER, cases=cases), "tests.ts": CHECKS})

    (record,) = run_cases(application, code=0).values()

    assert scored(record)[1] == ("turn-2", "script", 1, "pass", [('script "ferns"', True)])


def test_a_snapshot_of_each_turn_is_its_own(app: MakeApplication) -> None:
    turns = [{"input": text, "assertions": [{"type": "snapshot"}]} for text in ("One", "Two")]
    application = app(agent(replies=GARDENER, cases=[{"id": "garden", "mode": "conversation", "turns": turns}]))

    for _ in range(2):
        (record,) = run_cases(application, code=0).values()
        assert record["score"] == 1


MEMORY = """\
function Create(ctx, messages) {
  const times = (ctx.memory.chat.Get("times") || 0) + 1;
  ctx.memory.chat.Set("times", times);
  ctx.memory.user.Set("times", (ctx.memory.user.Get("times") || 0) + 1);
  return { messages: [{ role: "user", content: `${ctx.chat_id} ${times}` }] };
}
"""


def test_trials_hold_the_whole_conversation_again_in_a_new_chat(app: MakeApplication) -> None:
    turns = [{"input": "Shade?"}, {"input": "Time?", "assertions": ['Is the "2"nd']}]
    cases = [{"id": "garden", "mode": "conversation", "turns": turns, "trials": 3}]
    application = app(agent(replies='- reply: "{{ input }}"', hooks=MEMORY, cases=cases))

    (record,) = run_cases(application, code=0).values()

    assert [(trial["trial"], trial["score"], trial["status"]) for trial in record["trials"]] == [
        (1, 1, "passed"),
        (2, 1, "passed"),
        (3, 1, "passed"),
    ]
    assert [message["content"] for message in record["output"]] == [
        "Shade?",
        "agent-test-garden-1 1",
        "Time?",
        "agent-test-garden-1 2",
    ]
    assert record["model_calls"] == 3 * 3


def trials(app: MakeApplication, verdicts: list[Any], **more: Any) -> Record:
    """A case with as many trials as verdicts: the text of the answer, or None for an agent that fails."""
    said = [
        f"- when: {{ metadata.trial: '{number}' }}\n  reply: "
        + ("{ error: { status: 400, message: out of order } }" if said is None else json.dumps(said))
        for number, said in enumerate(verdicts, 1)
    ]
    hooks = "function Create(ctx) { return { metadata: { trial: ctx.chat_id.split('-').pop() } }; }"
    turn = {"input": "Shade?", "assertions": ['Says "yes"', 'Says "so"']}
    cases = [{"id": "garden", "mode": "conversation", "turns": [turn], "trials": len(verdicts), **more}]
    application = app(agent(replies="\n".join(said), hooks=hooks, cases=cases))
    (record,) = run_cases(application).values()
    return record


def test_the_score_of_trials_is_their_mean_and_has_to_reach_the_threshold(app: MakeApplication) -> None:
    record = trials(app, ["yes so", "yes", "yes so", "yes so"])

    assert (record["status"], record["score"]) == ("passed", pytest.approx(0.875))
    assert [(trial["score"], trial["status"], trial.get("error")) for trial in record["trials"]] == [
        (1, "passed", None),
        (0.5, "failed", "score 0.50 is below the threshold 0.8"),
        (1, "passed", None),
        (1, "passed", None),
    ]
    assert record["response"] == "yes"


def test_trials_fail_together_when_their_mean_is_too_low(app: MakeApplication) -> None:
    record = trials(app, ["yes", "yes so"])

    assert (record["status"], record["score"]) == ("failed", pytest.approx(0.75))
    assert record["error"] == "score 0.75 is below the threshold 0.8 (trials: 0.50, 1.00)"


def test_an_error_in_any_trial_fails_the_case(app: MakeApplication) -> None:
    record = trials(app, ["yes so", None, "yes so"], threshold=0.5)

    assert (record["status"], record["execution_status"]) == ("failed", "error")
    assert record["error"].startswith("trial 2: agent error: The model scripted failed: 400 Bad Request: out of order")
    assert [(trial["score"], trial["status"]) for trial in record["trials"]] == [
        (1, "passed"),
        (0, "failed"),
        (1, "passed"),
    ]


def test_a_case_that_is_skipped_is_not_held_at_all(app: MakeApplication) -> None:
    record = trials(app, ["yes", "yes"], skip="not now")

    assert (record["status"], record["skip_reason"], record["turns"]) == ("skipped", "not now", [])


def test_hooks_around_a_case_get_criteria_as_they_are_written(app: MakeApplication) -> None:
    hooks = {
        "env_test.ts": "export function Before(ctx, test) { ctx.memory.chat.Set('all', JSON.stringify(test.assert)); }",
        "index.ts": "function Create(ctx) { return { messages: [{ role: 'user', content: ctx.memory.chat.Get('all') }] }; }",
    }
    case = {
        "id": "garden",
        "mode": "conversation",
        "turns": [{"input": "Shade?"}],
        "assertions": ["Is kind", {"type": "contains", "value": "kind"}],
        "before": "env_test.Before",
    }
    (record,) = run_cases(app({**agent(replies='- reply: "{{ input }}"', cases=[case]), **hooks}), code=0).values()

    assert json.loads(record["response"]) == ["Is kind", {"type": "contains", "value": "kind"}]


INTERRUPTED: dict[str, tuple[int, int, list[Any]]] = {
    "in the only trial": (1, 1, []),
    "in the first trial": (2, 1, []),
    "in the second trial": (2, 4, [(1, 1, "passed"), (2, None, "skipped")]),
}
"""Trials, turns that are answered before, and what is said of the trials."""


@pytest.mark.parametrize(("trials", "answered", "held"), INTERRUPTED.values(), ids=INTERRUPTED)
def test_an_interrupt_reports_the_turns_so_far(
    app: MakeApplication, tmp_path: Path, trials: int, answered: int, held: list[Any]
) -> None:
    async def answer(exchange: Exchange) -> None:
        slow = exchange.request.last_text == "slow" or len(server.requests) > answered + 1
        await (silence() if slow else says("done"))(exchange)

    done = {"type": "contains", "value": "done"}
    turns = [{"input": "One", "assertions": [done]}, {"input": "Two"}, {"input": "Three"}]
    talk = {"id": "talk", "mode": "conversation", "turns": turns, "trials": trials}
    report = tmp_path / "r.json"
    with ModelServer(answer) as server:
        options = {"host": server.url, "model": "m", "key": "k"}
        files = agent(package={"connector": "local"}, cases=[{"id": "single", "input": "slow"}, talk])
        files["/connectors/local.conn.yao"] = json.dumps({"type": "openai", "options": options})
        process = app(files).start("-i", case_file(), "--parallel", "2", "-o", str(report))
        eventually(lambda: len(server.requests) == answered + 2, "the turn begins")
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)

    assert process.returncode == 130, stdout + stderr
    (record,) = json.loads(report.read_text())["results"]
    assert (record["id"], record["status"], record["skip_reason"]) == ("talk", "skipped", "interrupted")
    assert [(turn["input"], turn["status"]) for turn in record["turns"]] == [("One", "passed"), ("Two", "skipped")]
    found = [(trial["trial"], trial["score"], trial["status"]) for trial in record.get("trials", [])]
    assert found == held


def test_a_conversation_that_fail_fast_gives_up_is_reported_as_far_as_it_came(
    app: MakeApplication, tmp_path: Path
) -> None:
    reached = asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        said = exchange.request.last_text
        if said == "slow":
            reached.set()
            return await silence()(exchange)
        if said == "bad":
            await asyncio.wait_for(reached.wait(), PATIENCE)
        await says("done")(exchange)

    talk = {"id": "talk", "mode": "conversation", "turns": [{"input": "One"}, {"input": "slow"}]}
    with ModelServer(answer) as server:
        options = {"host": server.url, "model": "m", "key": "k"}
        files = agent(package={"connector": "local"}, cases=[talk, {"id": "bad", "input": "bad", "expected": "good"}])
        files["/connectors/local.conn.yao"] = json.dumps({"type": "openai", "options": options})
        records = run_cases(app(files), "--parallel", "2", "--fail-fast", code=1)

    assert {id: (record["status"], record.get("skip_reason")) for id, record in records.items()} == {
        "bad": ("failed", None),
        "talk": ("skipped", "cancelled by --fail-fast"),
    }
    assert [turn["status"] for turn in records["talk"]["turns"]] == ["passed", "skipped"]
