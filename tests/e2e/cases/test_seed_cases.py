"""The standard mode of seeds 004 and 001: every case they print runs as it is written, by the real command.

Each form is tried twice: with the blocks of a document of our own, `tests/apps/seed_cases/*.md`, answered by the agent
beside it, and with those of the design document where it is at hand, answered by replies made for it.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from agent_files import run_cases, server
from command import Application, Record

ROOT = Path(__file__).parents[3]
APP = ROOT / "tests/apps/seed_cases"
SEEDS = ROOT.parent / "shared/seeds"


class Document(NamedTuple):
    """A document with cases, and the application that they are for."""

    path: Path
    section: tuple[str, str]
    """The headings between which the cases are; empty: the whole document."""
    agent: str
    files: dict[str, str | bytes]
    """What has to be added to the application."""

    def blocks(self, language: str) -> list[str]:
        """The fenced blocks of a language."""
        start, end = self.section
        text = self.path.read_text("utf-8")
        text = text.partition(start)[2].partition(end)[0] if start else text
        return [body for tag, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S) if tag == language]

    def block(self, *parts: str, language: str = "jsonl") -> str:
        """The one block that contains all these parts."""
        found = [block for block in self.blocks(language) if all(part in block for part in parts)]
        assert len(found) == 1, (parts, found)
        return found[0]

    def application(self, folder: Path) -> Application:
        """A copy of the application."""
        (folder / "home").mkdir()
        shutil.copytree(APP, folder / "app")
        application = Application(folder / "app", folder / "home")
        application.write(self.files)
        return application


KEYWORD_REPLIES = """\
- when: { input: "Text input" }
  reply: { json: { keywords: [keyword1, keyword2] } }
- when: { input: weather }
  reply: { json: { need_search: true } }
- when: { input: "2+2" }
  reply: { json: { need_search: false, confidence: 0.99 } }
- reply: '{"need_search": "{{ input }}"}'
"""
EXPENSE_REPLIES = """\
- when: { tool.name: create_expense }
  reply: It is submitted.
- when: { messages.-1.content.1.image_url.url: { contains: "data:image/jpeg;base64," } }
  reply: "The amount is 12."
- when: { input: ["yes", "$3500"] }
  reply: { tool_calls: [{ name: create_expense, arguments: { amount: 3500 } }] }
- when: { input: Travel }
  reply: Please confirm that.
- when: { input: submit }
  reply: Which type of expense?
- reply: Hi there.
"""
JPEG = (APP / "assistants/desk/tests/fixtures/plate.jpg").read_bytes()


def design_agent(id: str, replies: str, **package: Any) -> dict[str, str | bytes]:
    """An agent with replies for a design document."""
    return {
        f"/assistants/{id}/package.yao": json.dumps({"connector": "scripted", **package}),
        f"/assistants/{id}/prompts.yml": "- content: You help.",
        f"/assistants/{id}/replies.yml": replies,
    }


STANDARD = [
    Document(path=APP / "standard.md", section=("", ""), agent="desk", files={}),
    Document(
        path=SEEDS / "004_4cbeb602588a8fab.txt",
        section=("\n## Input Format (JSONL)\n", "\n## Output Format\n"),
        agent="keyword",
        files={
            **design_agent("keyword", KEYWORD_REPLIES),
            "/scripts/test.ts": "function ValidateOutput(output, input) { return { pass: output.includes(input), message: '' }; }",
        },
    ),
]
HISTORY = [
    Document(path=APP / "history.md", section=("", ""), agent="desk", files={}),
    Document(
        path=SEEDS / "001_93113f194e8893ce.txt",
        section=("\n## Test Case Format\n", "\n## Standard Agent Interface\n"),
        agent="expense",
        files={
            **design_agent("expense", EXPENSE_REPLIES, mcp={"servers": ["expenses"]}),
            **server("expenses", {"create_expense": "scripts.tickets.Open"}),
            "/assistants/expense/tests/fixtures/receipt.jpg": JPEG,
            "/scripts/tests/validate-expense.ts": "function Validate(output) { return output.includes('submitted'); }",
        },
    ),
]


def at_hand(documents: list[Document]) -> list[Any]:
    """The documents that exist, with their names as ids."""
    return [pytest.param(document, id=document.path.stem[:8]) for document in documents if document.path.is_file()]


def with_block(document: Document, folder: Path, block: str) -> Application:
    """The application with the cases of a block."""
    application = document.application(folder)
    application.write({f"/assistants/{document.agent}/tests/block.jsonl": block})
    return application


def run_block(document: Document, folder: Path, block: str, *arguments: str, code: int = 0) -> dict[str, Record]:
    """The results of the cases of a block, by id."""
    application = with_block(document, folder, block)
    return run_cases(application, "-i", f"assistants/{document.agent}/tests", *arguments, code=code)


@pytest.mark.parametrize("document", at_hand(STANDARD))
def test_all_forms_of_input_of_the_seed_run(document: Document, tmp_path: Path) -> None:
    records = list(run_block(document, tmp_path, document.block('"expected"', '"team"')).values())

    assert [record["status"] for record in records] == ["passed"] * 6
    assert [record["messages_count"] for record in records] == [1, 1, 1, 3, 1, 1]
    assert [type(record["input"]).__name__ for record in records] == ["str", "dict", "dict", "list", "str", "str"]
    (assertion,) = records[4]["assertions"]
    assert (assertion["type"], assertion["passed"]) == ("equals", True)
    assert assertion["value"] == records[4]["expected"] == json.loads(records[4]["output"])


ASSERTED = {
    "contains": ('"type": "contains"', '"assert"'),
    "json path": ('"value": true\n', '"assert"'),
    "several": ('"not_contains"',),
    "script": ('"type": "script"',),
    "negated": ('"negate"',),
}


@pytest.mark.parametrize("document", at_hand(STANDARD))
@pytest.mark.parametrize("id", ASSERTED)
def test_every_assertion_of_the_seed_holds_and_is_reported(document: Document, tmp_path: Path, id: str) -> None:
    blocks = [block for block in document.blocks("jsonl") if all(part in block for part in ASSERTED[id])]
    block = next(block for block in blocks if ("negate" in block) == (id == "negated"))

    (record,) = run_block(document, tmp_path, block).values()

    given = json.loads(block)["assert"]
    wanted = given if isinstance(given, list) else [given]
    assert [(made["type"], made["passed"]) for made in record["assertions"]] == [(one["type"], True) for one in wanted]
    assert record["status"] == "passed"


@pytest.mark.parametrize("document", at_hand(STANDARD))
def test_user_and_team_have_the_priority_of_the_seed(document: Document, tmp_path: Path) -> None:
    hooks = "function Next(ctx) { return { data: [ctx.authorized.user_id, ctx.authorized.team_id] }; }"
    block = document.block("# ", '"user"')
    application = with_block(document, tmp_path, block)
    tests = f"assistants/{document.agent}/tests"
    application.write({f"/assistants/{document.agent}/src/index.ts": hooks})

    first, second, third = run_cases(application, "-i", tests, code=0).values()
    flagged = run_cases(application, "-i", tests, "-u", "admin", "-t", "prod-team", code=0)

    said = [json.loads(line) for line in block.splitlines() if line.startswith("{")]
    assert first["output"] == ["test-user", "test-team"]
    assert second["output"] == [said[1]["user"], said[1]["team"]]
    assert third["output"] == [said[2]["user"], "test-team"]
    assert [record["output"] for record in flagged.values()] == [["admin", "prod-team"]] * 3


SEEN = {
    "a text": ('"input"', '"contains"'),
    "a conversation": ('"name"', '"messages"', '"tool_called"'),
    "a picture": ('"source"',),
}


@pytest.mark.parametrize("document", at_hand(HISTORY))
@pytest.mark.parametrize("id", SEEN)
def test_cases_with_a_history_run(document: Document, tmp_path: Path, id: str) -> None:
    blocks = [
        block
        for block in document.blocks("jsonl")
        if all(part in block for part in SEEN[id]) and "simulator" not in block
    ]
    block = next(block for block in blocks if not block.startswith("//"))

    (record,) = run_block(document, tmp_path, block).values()

    given = json.loads(block)
    assert (record["id"], record.get("name"), record["status"]) == (given["id"], given.get("name"), "passed")
    assert record["messages_count"] == len(given.get("messages", [1]))
    assert [made["passed"] for made in record["assertions"]] == [True] * len(given["assertions"])


@pytest.mark.parametrize("document", at_hand(HISTORY))
def test_several_points_of_a_conversation_are_cases_of_one_file(document: Document, tmp_path: Path) -> None:
    block = next(block for block in document.blocks("jsonl") if block.startswith("//") and block.count('"id"') == 3)

    records = list(run_block(document, tmp_path, block, "--parallel", "3").values())

    assert [record["messages_count"] for record in records] == [1, 3, 5]
    assert [record["status"] for record in records] == ["passed"] * 3
    assert [bool(record.get("tools")) for record in records][1] is True


@pytest.mark.parametrize("document", at_hand(HISTORY))
@pytest.mark.parametrize("kind", ["agent", "script"])
def test_agents_and_scripts_judge_as_the_seed_writes_it(document: Document, tmp_path: Path, kind: str) -> None:
    assertion = json.loads(document.block(f'"type": "{kind}"', '"use"'))
    inputs = ["Please do", "Good morning"] if document.agent == "desk" else ["Yes, confirm", "Hello"]
    block = "\n".join(json.dumps({"id": input, "input": input, "assertions": [assertion]}) for input in inputs)
    # The stand-in of the shipped validator judges quoted texts; the criteria of the design document have none.
    judges = kind == "script" or '"' in assertion["options"]["metadata"]["criteria"]

    good, bad = run_block(document, tmp_path, block, code=1 if judges else 0).values()

    assert good["status"] == "passed"
    assert (bad["status"], bad.get("cause")) == (("failed", "assertion") if judges else ("passed", None))


@pytest.mark.parametrize("document", at_hand(HISTORY))
def test_a_script_test_calls_an_agent_and_has_it_judged(document: Document, tmp_path: Path) -> None:
    application = document.application(tmp_path)
    test = document.block("t.assert.Agent(", language="typescript")
    application.write({f"/assistants/{document.agent}/src/answers_test.ts": test})

    report = application.report("-i", f"scripts.{document.agent}.answers", code=0)

    (record,) = report["results"]
    assert (record["status"], record["name"]) == ("passed", re.findall(r"function (Test\w+)", test)[0])
