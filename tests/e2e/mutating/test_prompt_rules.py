"""`yao-test mutate --prompts`: which rules of a prompt does any case hold?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import Application, MakeApplication
from model_server import Exchange, ModelServer, says

PROMPTS = """- role: system
  content: |
    - Always greet the reader by name.
    - Never lend more than five books.
    - Answer in one sentence.
"""
CASES = [
    {"id": "greets", "input": "I am Mira", "assert": {"type": "contains", "value": "Mira"}},
    {"id": "limit", "input": "Please lend me nine", "assert": {"type": "not_contains", "value": "Here are"}},
]
REPLIES = """- when: { input: Mira, system: { contains: greet the reader by name } }
  reply: Hello Mira!
- when: { input: nine, system: { contains: more than five } }
  reply: Five at most, sorry.
- when: { input: nine }
  reply: Here are nine books.
- reply: Hello!
"""
FILE = "assistants/library/tests/library.jsonl"
HELD = {
    "Always greet the reader by name.": ("held", ["greets"]),
    "Never lend more than five books.": ("held", ["limit"]),
    "Answer in one sentence.": ("not held", []),
}


@pytest.fixture
def library(app: MakeApplication) -> Application:
    return app(
        {
            "/assistants/library/package.yao": '{"name": "Library", "connector": "scripted"}',
            "/assistants/library/prompts.yml": PROMPTS,
            "/assistants/library/replies.yml": REPLIES,
            f"/{FILE}": "\n".join(map(json.dumps, CASES)),
        }
    )


def rules(app: Application, *arguments: str, code: int = 0) -> dict[str, Any]:
    run = app.run("mutate", "--prompts", "-i", FILE, "--json", *arguments)
    assert run.code == code, run.stderr
    return {one["rule"]: (one["verdict"], one["held_by"]) for one in json.loads(run.stdout)["rules"]}


def test_a_rule_is_held_by_the_cases_that_fail_without_it(library: Application) -> None:
    before = library.listing()

    assert rules(library, "--yes") == HELD
    assert library.listing() == before


def test_it_is_printed_with_the_rules_first_that_nothing_holds(library: Application) -> None:
    run = library.run("mutate", "--prompts", "-i", FILE, "--yes", "--threshold", "0.9")

    assert run.code == 1
    assert run.stdout == (
        "  library: Answer in one sentence.\n    no case depends on it\n"
        "  library: Always greet the reader by name.\n    held by greets\n"
        "  library: Never lend more than five books.\n    held by limit\n\n"
        "3 rules, 1 without a case that depends on it. Score 66.7 %\nThe score 66.7 % is below the threshold 90.0 %\n"
    )


async def lends(exchange: Exchange) -> None:
    """A model that keeps to its rules."""
    system, user = (message["content"] for message in exchange.request.body["messages"][:2])
    if "nine" in user:
        await says("Five at most." if "five books" in system else "Here are nine.")(exchange)
    else:
        await says("Hello Mira!" if "by name" in system else "Hello!")(exchange)


def test_the_verdicts_on_rules_are_written_as_json_only(library: Application) -> None:
    command = ("mutate", "--prompts", "-i", FILE, "--yes")
    printed = json.loads(library.run(*command, "--json", "-o", "rules.json").stdout)
    assert json.loads((library.root / "rules.json").read_text()) == printed
    refused = library.run(*command, "-o", "rules.md")
    assert (refused.code, "the report on cases is a .json file" in refused.stderr) == (2, True)


def test_real_models_are_asked_only_with_yes_or_a_budget(library: Application) -> None:
    with ModelServer(lends) as model:
        library.write(
            {
                "/connectors/local.conn.yao": json.dumps(
                    {"type": "openai", "options": {"host": model.url, "model": "m", "price": {"input": 1, "output": 1}}}
                ),
                "/assistants/library/package.yao": '{"name": "Library", "connector": "local"}',
            }
        )
        refused = library.run("mutate", "--prompts", "-i", FILE)
        assert refused.code == 2
        assert "3 rules to test with at least 8 agent answers" in refused.stderr
        assert "--yes" in refused.stderr
        assert len(model.requests) == 0
        found = rules(library, "--runs", "8", "--max-cost", "5", "--resume", "rules.jsonl")

    assert found == HELD


async def lends_with_the_desk(exchange: Exchange) -> None:
    """A model that knows what its tool is for only from the description."""
    (tool,) = exchange.request.body["tools"]
    await says("Mira, ask the desk: Here are" if "lend" in tool["function"].get("description", "") else "Mira!")(
        exchange
    )


def test_descriptions_of_tools_are_rules(library: Application) -> None:
    asked = [{"id": "desk", "input": "I am Mira", "assert": {"type": "contains", "value": "desk"}}]
    with ModelServer(lends_with_the_desk) as model:
        library.write(
            {
                "/connectors/local.conn.yao": json.dumps(
                    {"type": "openai", "options": {"host": model.url, "model": "m"}}
                ),
                "/assistants/library/package.yao": '{"name": "Library", "connector": "local", "mcp": {"servers": ["desk"]}}',
                "/assistants/library/prompts.yml": "- role: system\n  content: Be kind.\n",
                "/mcps/desk.mcp.yao": '{"transport": "process", "tools": {"ask": "scripts.desk.Ask"}}',
                "/mcps/mapping/desk/schemes/ask.in.yao": '{"description": "Asks whether we lend a book.", "type": "object"}',
                f"/{FILE}": "\n".join(map(json.dumps, asked)),
            }
        )
        found = rules(library, "--yes", "--runs", "8")

    assert found == {
        "Be kind.": ("not held", []),
        "desk__ask: Asks whether we lend a book.": ("held", ["desk"]),
    }


def test_a_case_that_fails_anyway_holds_nothing(library: Application) -> None:
    library.write(
        {f"/{FILE}": "\n".join(json.dumps({**case, "assert": {"type": "contains", "value": "?"}}) for case in CASES)}
    )

    assert {verdict for verdict, _ in rules(library, "--yes").values()} == {"cannot tell"}


def test_scripts_have_no_rules(app: MakeApplication) -> None:
    run = app({"a_test.ts": "export function TestA() {}"}).run("mutate", "--prompts", "-i", "scripts.demo.a", "--yes")

    assert run.code == 2
    assert "the inputs have no cases" in run.stderr
