"""The script section of seed 004: the blocks of a document work as they stand.

The document is `examples.md` beside the application in `tests/apps/seed_004`, and the design document itself where it is
at hand.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from command import Application
from seed_004 import APP, ASSERTIONS, ROOT, copied, shown, without_times

from runner.options.options import FLAGS

DESIGN = ROOT.parent / "shared/seeds/004_4cbeb602588a8fab.txt"
DOCUMENTS = [path for path in (APP / "examples.md", DESIGN) if path.is_file()]


class Block(NamedTuple):
    """A fenced block of a document."""

    language: str
    text: str


class Document:
    """Blocks and tables of the script section of a document."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text("utf-8").partition("\n## Script Testing\n")[2] or path.read_text("utf-8")
        self.blocks = list(blocks(self.text))

    def block(self, *parts: str) -> str:
        """The text of the one block that contains all these parts."""
        found = [block.text for block in self.blocks if all(part in block.text for part in parts)]
        assert len(found) == 1, (parts, found)
        return found[0]

    @property
    def commands(self) -> list[str]:
        """All command lines that name test modules."""
        lines = [line for block in self.blocks if block.language == "bash" for line in block.text.splitlines()]
        return [line for line in lines if line.startswith("yao agent test -i scripts.")]

    def table(self, *head: str) -> list[list[str]]:
        """The rows of the table with these column heads."""
        lines = self.text.splitlines()
        start = next(number for number, line in enumerate(lines) if cells(line)[: len(head)] == list(head))
        rows = []
        for line in lines[start + 2 :]:
            if not line.startswith("|"):
                break
            rows.append([cell.strip("`") for cell in cells(line)])
        return rows


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a text, without the indent of lists."""
    for match in re.finditer(r"^( *)```(\w*)\n(.*?)^\1```$", text, re.M | re.S):
        indent, language, body = match.groups()
        yield Block(language=language, text=re.sub(f"^{indent}", "", body, flags=re.M))


def cells(line: str) -> list[str]:
    """The cells of a row of a table."""
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.fixture
def own(tmp_path: Path) -> Application:
    return copied(tmp_path)


@pytest.fixture(params=DOCUMENTS, ids=lambda path: path.stem[:8])
def document(request: pytest.FixtureRequest) -> Document:
    return Document(request.param)


@pytest.fixture
def example(own: Application, document: Document) -> Application:
    """The application with the test file and the context file of a document, in which `Setup` works."""
    test = document.block("function TestSystemReady(", "createMockData")
    context = document.block('"authorized"', '"constraints"')
    own.write({"/assistants/expense/src/setup_test.ts": test, "/tests/context.json": context})
    return own


@pytest.fixture
def broken(example: Application) -> Application:
    """The same, in which `Setup` gives every result the id 2."""
    script = example.root / "assistants/expense/src/setup.ts"
    working = script.read_text("utf-8")
    script.write_text(working.replace("...data,", "...data, id: 2,"), "utf-8")
    assert script.read_text("utf-8") != working
    return example


def test_the_example_file_runs_as_it_stands(example: Application) -> None:
    report = example.report("-i", "scripts.expense.setup", code=0)

    assert [(record["name"], record["status"]) for record in report["results"]] == [
        ("TestSystemReady", "passed"),
        ("TestSystemReadyWithInvalidContext", "passed"),
        ("TestSetupWithMockData", "passed"),
    ]


def test_the_console_shows_the_printed_layout(broken: Application, document: Document) -> None:
    run = broken.run("-i", "scripts.expense.setup")

    printed = re.sub(r"(?m)^       at .*\n(?:^       .*\n)*^  Rerun: .*\n", "", run.stdout)
    assert without_times(printed) == without_times(document.block("Script Test: scripts.expense.setup"))
    assert "       at " in run.stdout and "  Rerun: " in run.stdout
    assert (run.code, run.stderr) == (1, "")


def test_the_report_is_the_printed_document(broken: Application, document: Document) -> None:
    printed = json.loads(document.block('"type": "script_test"'))
    report = broken.report("-i", "scripts.expense.setup", code=1)

    # what we add to a failed test, beside the keys that are printed
    failed = report["results"][2]
    source = (broken.root / "assistants/expense/src/setup_test.ts").read_text("utf-8").splitlines()
    line = next(number for number, text in enumerate(source, 1) if "result.id" in text)
    column = source[line - 1].index("Equal") + 1
    place = f"assistants/expense/src/setup_test.ts:{line}:{column}"
    assert [failure["message"] for failure in failed.pop("failures")] == [failed["assertion"]["message"]]
    assert {key: failed.pop(key) for key in ("cause", "location", "stack_trace")} == {
        "cause": "assertion",
        "location": place,
        "stack_trace": f"at TestSetupWithMockData ({place})",
    }
    # what differs from run to run
    for value in (report["summary"], printed["summary"], *report["results"], *printed["results"]):
        assert isinstance(value["duration_ms"], int)
        value["duration_ms"] = 0
    for key in ("started_at", "completed_at"):
        assert datetime.fromisoformat(report["metadata"][key]).tzinfo is not None
    assert report["metadata"].keys() - {"run_id"} == printed["metadata"].keys()
    assert {**report, "metadata": 0} == {**printed, "metadata": 0}
    assert list(report) == list(printed)


def test_every_field_of_the_context_file_arrives(example: Application, document: Document) -> None:
    given = json.loads(document.block('"authorized"', '"constraints"'))

    seen = shown(example, "--ctx", "tests/context.json", "-u", "somebody", "-t", "some-team")

    assert {
        "authorized": seen["authorized"],
        "metadata": seen["Metadata"],
        "client": seen["client"],
        "locale": seen["Locale"],
        "referer": seen["referer"],
    } == given
    assert (seen["User"]["ID"], seen["Team"]["ID"]) == (given["authorized"]["user_id"], given["authorized"]["team_id"])
    assert seen["Client"] == {"Type": given["client"]["type"], "IP": given["client"]["ip"]}


def test_every_command_line_works(example: Application, document: Document) -> None:
    assert len(document.commands) >= 7
    for line in document.commands:
        command, *arguments = shlex.split(line.removeprefix("yao agent "))
        run = example.run(*arguments)
        if "Error" in line:  # the document's module has no such test
            assert (command, run.code) == ("test", 2), (line, run)
            continue
        assert (command, run.code) == ("test", 0), (line, run)
        picked = 2 if "TestSystem" in line else 3
        assert f"  Summary: {picked} passed, 0 failed, 0 skipped (" in run.stdout, line


def test_every_row_of_the_resolution_table_is_found(example: Application, document: Document) -> None:
    rows = document.table("Input", "Script Path", "Test File")

    assert len(rows) == 3
    for script, _, test in rows:
        assert example.report("-i", script, code=0)["script_path"] == test


def test_every_option_of_the_table_is_taken(example: Application, document: Document) -> None:
    example.write({"/context.json": "{}"})
    spellings = {spelling for flag in FLAGS for spelling in flag.spellings}

    for flag, _, _, usage in document.table("Flag", "Description", "Default", "Example"):
        assert flag in spellings
        if flag != "-r":  # a reporter needs an output file, which the table leaves out
            assert example.run("-i", "scripts.expense.setup", *shlex.split(usage)).code == 0, usage
    assert json.loads((example.root / "report.json").read_text("utf-8"))["type"] == "script_test"


def test_every_assertion_of_the_document_is_known(document: Document) -> None:
    assert [method.partition("(")[0] for method, _ in document.table("Method", "Description")] == list(ASSERTIONS)


def test_the_practices_run(example: Application, document: Document) -> None:
    untyped = re.compile(r"^function Test\w+\(t, ctx\)", re.M)
    practices = [block.text for block in document.blocks if untyped.search(block.text)]
    assert len(practices) == 4
    results: dict[str, str] = {}
    for practice in practices:
        # an ellipsis is no statement
        example.write({"/assistants/expense/src/setup_test.ts": practice.replace("{ ... }", "{}")})
        report = example.report("-i", "scripts.expense.setup", code=0)
        results |= {record["name"]: record["status"] for record in report["results"]}
    assert results == dict.fromkeys(
        (
            "TestSetupCreatesDatabase",
            "TestSetupInitializesCache",
            "TestSetup",
            "TestFeatureA",
            "TestSetupWithMissingConfig",
            "TestWithGlobalState",
        ),
        "passed",
    )
