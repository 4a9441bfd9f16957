"""The page of assertions: its examples do what it shows.

After the `assert` of a case, a text block has paragraphs: an answer (`answer:` a text, `data:` JSON; `tools:`, the agents that were
`asked:`, `took:`, `files:` and what the `judge:` says, as JSON), and then `passed`, or what the first failed assertion
says.
"""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from judging import Judges
from table_tests import each

from runner.assertions import TYPES
from runner.assertions.base import AgentUse, Evidence, ToolUse
from runner.assertions.checking import check_all, problem_with_assertion, type_named
from runner.cases.model import Case

PAGE = Path(__file__).parents[3] / "docs/case-assertions.md"
TEXT = PAGE.read_text("utf-8")
PAIRS = re.findall(r"^```jsonl\n(.*?)\n```\n\n```text\n(.*?)\n```$", TEXT, re.M | re.S)
EXAMPLES = [(line, shown) for line, block in PAIRS for shown in block.split("\n\n")]


def case_of(line: str) -> Case:
    return Case.model_validate({"id": "example", "input": "Hello", "assert": json.loads(line)})


def evidence_of(case: Case, given: dict[str, str]) -> Evidence:
    tools = [{"server": "", "arguments": None, **tool} for tool in json.loads(given.get("tools", "[]"))]
    output: Any = json.loads(given["data"]) if "data" in given else given.get("answer", "")
    return Evidence(
        output=output,
        input=case.input,
        expected=case.expected,
        tools=tuple(ToolUse(**tool) for tool in tools),
        case=case.id,
        agents=tuple(AgentUse(**use) for use in json.loads(given.get("asked", "[]"))),
        files=lambda: {path: text.encode() for path, text in json.loads(given.get("files", "{}")).items()},
        **json.loads(given.get("took", "{}")),
    )


@each(("line", "shown"), EXAMPLES)
def test_an_example_does_what_the_page_shows(line: str, shown: str) -> None:
    *lines, verdict = shown.split("\n")
    given = dict(part.split(": ", 1) for part in lines)
    case = case_of(line)
    assertions = case.assertions or []
    assert [problem_with_assertion(assertion) for assertion in assertions] == [None] * len(assertions)

    judges = Judges(json.loads(given["judge"]) if "judge" in given else None)
    results = asyncio.run(check_all(assertions, evidence_of(case, given), judges))

    assert next((result.message for result in results if not result.passed), "passed") == verdict


def test_every_type_has_its_row_its_fields_and_an_example() -> None:
    table = TEXT[TEXT.index("| type |") : TEXT.index("\n\n", TEXT.index("| type |"))]
    rows = re.findall(r"^\| (.*?) \| (.*?) \| .* \|$", table, re.M)[1:]
    fields = {
        name: re.findall(r"`(\w+)`", takes) for names, takes in rows for name in re.findall(r"`([\w:-]+)`", names)
    }
    used = {part.type for line, _ in PAIRS for part in case_of(line).assertions or []}

    assert sorted(fields) == sorted(TYPES)
    assert {name: sorted(takes) for name, takes in fields.items()} == {
        name: sorted(type_named(name).fields) for name in TYPES
    }
    assert sorted(used) == sorted(TYPES)
    assert TEXT.count("```jsonl\n") == len(PAIRS)
