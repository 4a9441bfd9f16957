"""The conversations of seeds 000, 002 and 001 run as the documents print them, by the real command, when they are at
hand: written turns, a simulated user after them, attachments, checkpoints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import run_cases, server
from test_seed_cases import JPEG, SEEDS, Document, design_agent

REPLIES = """\
- when: { tool.name: create_expense }
  reply: Please confirm it.
- when: { input: [yes, confirm] }
  reply: The expense is submitted.
- when: { input: "is $150" }
  reply: Noted.
- when: { input: ["Beijing", "$3500", "$500"] }
  reply: { tool_calls: [{ name: create_expense, arguments: { amount: 3500 } }] }
- when: { messages.-1.content.1.image_url.url: { contains: "data:image/jpeg;base64," } }
  reply: I see a receipt. What is the amount?
- reply: What type of expense is it?
"""
FILES: dict[str, str | bytes] = {
    **design_agent("expense", REPLIES, mcp={"servers": ["expenses"]}),
    **server("expenses", {"create_expense": "scripts.desk.Create"}),
    "/connectors/openai-gpt4.conn.yao": '{"type": "scripted"}',
    "/scripts/desk.ts": """\
function Create(expense, ctx) {
  ctx.memory.chat.Set("expense", { ...expense, status: "submitted" });
  return { message: "Created" };
}
""",
    "/assistants/workers/test/user-sim/package.yao": '{"connector": "scripted"}',
    "/assistants/workers/test/user-sim/prompts.yml": "- content: You are the user.",
    "/assistants/workers/test/user-sim/replies.yml": """\
- when: { metadata.last_response: { contains: submitted } }
  reply: { json: { input: "", goal_achieved: true, reasoning: It is submitted } }
- reply: { json: { input: "Yes, confirm", goal_achieved: false } }
""",
    "/assistants/expense/tests/tests/fixtures/receipt.jpg": JPEG,
}
SECTION = ("\n## Test Case Format\n", "\n## Open Questions\n")
MULTI_TURN = [
    Document(path=SEEDS / name, section=SECTION, agent="expense", files=FILES)
    for name in ("000_3e155c025ec93ea2.txt", "002_4fdfdd5b9a51b2ad.txt")
]
DYNAMIC = Document(path=SEEDS / "001_93113f194e8893ce.txt", section=SECTION, agent="expense", files=FILES)


def at_hand(documents: list[Document]) -> list[Any]:
    return [pytest.param(document, id=document.path.stem[:3]) for document in documents if document.path.is_file()]


def run(document: Document, folder: Path, block: str) -> dict[str, Any]:
    """The result of the case of a block, which passes."""
    application = document.application(folder)
    application.write({"/assistants/expense/tests/block.jsonl": block})
    (record,) = run_cases(application, "-i", "assistants/expense/tests/block.jsonl", code=0).values()
    return record


@pytest.mark.parametrize("document", at_hand(MULTI_TURN))
def test_the_multi_turn_case_of_the_seed_passes(document: Document, tmp_path: Path) -> None:
    block = document.block('"type": "multi_turn"', '"final_assertions"')

    record = run(document, tmp_path, block)

    case = json.loads(block)
    said = [turn["input"] for turn in case["turns"]]
    turns = record["turns"]
    assert [(turn["input"], turn["input_source"]) for turn in turns[: len(said)]] == [(text, "static") for text in said]
    assert {turn["input_source"] for turn in turns[len(said) :]} <= {"simulated"}
    assert [turn["assertions"][0]["passed"] for turn in turns[: len(said)]] == [True] * len(said)
    (final,) = record["final_assertions"]
    assert (final["type"], final["path"], final["value"], final["passed"]) == (
        "json_path",
        "$.expense.status",
        "submitted",
        True,
    )
    assert (record["id"], record["name"], record["status"]) == (case["id"], case["name"], "passed")


@pytest.mark.parametrize("document", at_hand(MULTI_TURN))
def test_the_simulator_goes_on_after_the_written_turns_of_the_hybrid_case(document: Document, tmp_path: Path) -> None:
    blocks = [json.loads(block) for block in document.blocks("jsonl") if '"Start expense report"' in block]
    assert len(blocks) == 1

    record = run(document, tmp_path, json.dumps({"id": "hybrid", **blocks[0]}))

    sources = [turn["input_source"] for turn in record["turns"]]
    assert sources[:2] == ["static", "static"]
    assert set(sources[2:]) == {"simulated"}
    assert record["turns"][-1]["output"] == "The expense is submitted."


@pytest.mark.parametrize("document", at_hand(MULTI_TURN[:1]))
def test_attachments_of_a_turn_reach_the_model(document: Document, tmp_path: Path) -> None:
    record = run(document, tmp_path, document.block('"attachments"'))

    assert record["turns"][0]["output"] == "I see a receipt. What is the amount?"
    assert len(record["turns"]) == 2


@pytest.mark.parametrize("document", at_hand([DYNAMIC]))
def test_the_dynamic_case_of_the_seed_reaches_its_checkpoints(document: Document, tmp_path: Path) -> None:
    block = document.block('"checkpoints"', '"max_turns"')
    files = {
        **document.files,
        "/assistants/workers/test/user-simulator/package.yao": '{"connector": "scripted"}',
        "/assistants/workers/test/user-simulator/prompts.yml": "- content: You are the user.",
        "/assistants/workers/test/user-simulator/replies.yml": """\
- when: { metadata.last_response: { contains: confirm } }
  reply: { json: { message: "Yes, confirm", goal_achieved: false } }
- when: { metadata.last_response: { contains: type of expense } }
  reply: { json: { message: "Travel, $3500", goal_achieved: false } }
- reply: { json: { message: I want to file something, goal_achieved: false } }
""",
    }

    record = run(document._replace(files=files), tmp_path, block)

    assert [(point["id"], point["reached_at_turn"], point["passed"]) for point in record["checkpoints"]] == [
        ("ask_type", 1, True),
        ("call_create", 2, True),
        ("confirm", 3, True),
    ]
    assert record["total_turns"] == 3
    assert {"turn", "input", "output"} <= set(record["turns"][0])
