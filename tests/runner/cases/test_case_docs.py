"""The pages of case files: their examples are read, and the error message is compared."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from table_tests import each

from runner.cases.json_schema import case_schema
from runner.cases.messages import message_of, messages_of
from runner.cases.model import Case
from runner.cases.reader import CaseFile
from runner.errors import ConfigurationError

DOCS = Path(__file__).parents[3] / "docs"
PAGE = "\n".join((DOCS / name).read_text("utf-8") for name in ("cases.md", "data.md", "conversations.md"))
FILES = dict(re.findall(r"```(?:jsonl|yaml)\n(?://|#) (tests/\S+)\n(.*?)```", PAGE, re.DOTALL))
BROKEN = "tests/broken.jsonl"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("tests/receipts/dinner.png", "tests/receipts/taxi.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"content")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_the_pages_have_examples() -> None:
    assert len(FILES) == 7


@pytest.mark.parametrize("name", sorted(FILES.keys() - {BROKEN}))
def test_the_examples_are_read_and_can_be_said(folder: Path, name: str) -> None:
    file = CaseFile.check(folder / name, name=name)
    entries = len(re.findall(r'^(?:\{"id"|  "id"| *- id: )', FILES[name], re.M))
    assert file.total == (6 if name == "tests/tables.yaml" else entries)
    assert [len(said(located.case, file.folder)) > 0 for located in file] == [True] * file.total


def said(case: Case, folder: Path) -> list[Any]:
    turns = [message_of(turn.input, turn.attachments, folder) for turn in getattr(case, "turns", [])]
    return messages_of(case, folder) + turns + getattr(case, "checkpoints", [])


def test_the_error_message_is_what_is_printed(folder: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        CaseFile.check(folder / BROKEN, name=BROKEN)
    printed = f"Error: {caught.value.message}\nHint: {caught.value.hint}\n".replace(str(folder), "/srv/travel")
    (shown,) = re.findall(r"```text\n(Error: Cannot read .*?)```", PAGE, re.DOTALL)
    assert shown == printed


SECTIONS = {
    "Fields": ("Case", None),
    "Multi-turn cases": ("MultiTurnCase", "Case"),
    "Simulators": ("Simulator", None),
    "Dynamic cases": ("DynamicCase", "Case"),
    "Graded conversations": ("ConversationCase", "Case"),
    "Graded answers": ("GradedCase", "Case"),
}


@each("section", SECTIONS)
def test_the_tables_have_every_field(section: str) -> None:
    text = re.split(rf"^##+ {section}\n", PAGE, flags=re.M)[1]
    (table,) = re.findall(
        r"\| field \| shape \| meaning \|\n(.*?)\n\n", re.split(r"^##", text, flags=re.M)[0], re.DOTALL
    )
    named = [name for row in table.splitlines()[1:] for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    definitions = case_schema()["$defs"]
    model, base = SECTIONS[section]
    inherited = definitions[base]["properties"] if base else {}
    own = {name for name, rules in definitions[model]["properties"].items() if rules != inherited.get(name)}
    assert sorted(named) == sorted(own)
