"""The script section of seed 004: every example works as it is written, by the real command.

Two applications of the same forms: the one in `tests/apps/seed_004`, and one made of the blocks of a document, which is
`examples.md` beside that application, and the design document itself where it is at hand.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command import Application, given_time

from runner.cli.options import FLAGS

ROOT = Path(__file__).parents[2]
APP = ROOT / "tests/apps/seed_004"
DESIGN = ROOT.parent / "shared/seeds/004_4cbeb602588a8fab.txt"
DOCUMENTS = [path for path in (APP / "examples.md", DESIGN) if path.is_file()]
DOUBLE = "═" * 79
SINGLE = "─" * 79
HEADER = f"""\
{DOUBLE}
  Script Test: scripts.expense.setup
{DOUBLE}
  Script: expense/src/setup_test.ts
  Tests: 6 functions
  User: test-user
  Team: test-team
{SINGLE}
  Running Tests
{SINGLE}
"""


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


def without_times(output: str) -> str:
    """Console output with every duration written 0ms."""
    return re.sub(r"\((\d+ms|\d+\.\d\ds)", "(0ms", output)


@pytest.fixture
def own(tmp_path: Path) -> Application:
    """A copy of the application in this repository."""
    home = tmp_path / "home"
    home.mkdir()
    shutil.copytree(APP, tmp_path / "app")
    return Application(tmp_path / "app", home)


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


def shown(own: Application, *arguments: str) -> dict[str, Any]:
    """The context that `TestContextIsShown` saw."""
    record = own.report("-i", "scripts.expense.tools", "--run", "TestContextIsShown", *arguments, code=0)
    (line,) = record["results"][0]["logs"]
    seen: dict[str, Any] = json.loads(line)
    return seen


# The application of our own


def test_a_module_that_passes_prints_the_layout_of_the_seed_and_nothing_else(own: Application) -> None:
    run = own.run("-i", "scripts.expense.setup")

    tests = "".join(
        f"► [{name}] ...\n  ✓ PASSED (0ms)\n\n"
        for name in (
            "TestSystemReady",
            "TestSystemReadyWithInvalidContext",
            "TestSetupWithMockData",
            "TestFeatureA",
            "TestSetupWithMissingConfig",
            "TestWithGlobalState",
        )
    )
    summary = f"{DOUBLE}\n  Summary: 6 passed, 0 failed, 0 skipped (0ms)\n{DOUBLE}\n"
    assert (run.code, without_times(run.stdout), run.stderr) == (0, HEADER + tests + summary, "")


def test_functions_that_do_not_start_with_test_are_no_tests(own: Application) -> None:
    names = [record["name"] for record in own.report("-i", "scripts.expense.setup")["results"]]

    assert "createMockData" not in names
    assert "testLowerCase" not in names


def test_helpers_of_the_application_are_imported_by_their_alias(own: Application) -> None:
    assert own.report("-i", "scripts.expense.tools")["summary"] | {"duration_ms": 0} == {
        "total": 3,
        "passed": 3,
        "failed": 0,
        "skipped": 0,
        "duration_ms": 0,
    }


def test_the_context_of_a_test_has_the_defaults_of_the_seed(own: Application) -> None:
    assert shown(own) == {
        "User": {"ID": "test-user"},
        "Team": {"ID": "test-team"},
        "Locale": "en-us",
        "Client": {"Type": "test", "IP": "127.0.0.1"},
        "Metadata": {},
        "ChatID": "script-test-TestContextIsShown",
        "AssistantID": "expense",
        "authorized": {"sub": "test-user", "user_id": "test-user", "team_id": "test-team", "tenant_id": "test-team"},
        "client": {"type": "test", "user_agent": "yao-agent-test/1.0", "ip": "127.0.0.1"},
        "referer": "test",
    }


def test_user_and_team_of_the_command_line_reach_the_header_the_context_and_the_report(own: Application) -> None:
    arguments = ("-i", "scripts.expense.tools", "-u", "admin", "-t", "ops-team")

    assert "  User: admin\n  Team: ops-team\n" in own.run(*arguments).stdout
    context = shown(own, *arguments[2:])
    assert (context["User"], context["Team"]) == ({"ID": "admin"}, {"ID": "ops-team"})
    assert own.report(*arguments)["environment"] == {"user_id": "admin", "team_id": "ops-team", "locale": "en-us"}


def test_the_context_file_wins_over_user_and_team(own: Application) -> None:
    context = "assistants/expense/tests/context.json"
    arguments = ("--ctx", context, "-u", "admin", "-t", "ops-team")

    seen = shown(own, *arguments)
    given = json.loads((own.root / context).read_text("utf-8"))
    assert seen == {
        "User": {"ID": "olga"},
        "Team": {"ID": "treasury"},
        "Locale": "zh-cn",
        "Client": {"Type": "mobile", "IP": "10.1.2.3"},
        "Metadata": given["metadata"],
        "ChatID": "script-test-TestContextIsShown",
        "AssistantID": "expense",
        "authorized": given["authorized"],
        "client": given["client"],
        "referer": "https://example.com/inbox",
    }
    run = own.run("-i", "scripts.expense.tools", *arguments)
    assert "  User: olga\n  Team: treasury\n" in run.stdout


def test_a_context_file_that_names_no_user_leaves_the_one_of_the_command_line(own: Application) -> None:
    own.write({"/part.json": '{"authorized": {"team_id": "treasury"}, "metadata": {"a": 1}}'})

    context = shown(own, "--ctx", "part.json", "-u", "admin", "-t", "ops-team")

    assert (context["User"], context["Team"]) == ({"ID": "admin"}, {"ID": "treasury"})
    assert context["Metadata"] == {"a": 1}


@pytest.mark.parametrize(
    ("pattern", "tests"),
    [
        ("TestSystemReady", ["TestSystemReady", "TestSystemReadyWithInvalidContext"]),
        ("^TestSystemReady$", ["TestSystemReady"]),
        ("TestSystem.*", ["TestSystemReady", "TestSystemReadyWithInvalidContext"]),
        ("With(Mock|Global)", ["TestSetupWithMockData", "TestWithGlobalState"]),
        ("(?i)featurea", ["TestFeatureA"]),
    ],
)
@pytest.mark.parametrize("flag", ["--run", "-run"])
def test_run_picks_tests_as_go_test_does(own: Application, flag: str, pattern: str, tests: list[str]) -> None:
    report = own.report("-i", "scripts.expense.setup", flag, pattern, code=0)

    assert [record["name"] for record in report["results"]] == tests
    assert report["summary"]["total"] == len(tests)


def test_a_pattern_that_picks_nothing_is_an_error(own: Application) -> None:
    run = own.run("-i", "scripts.expense.setup", "--run", ".*Error.*")

    assert (run.code, run.stderr.splitlines()[0]) == (2, "Error: No test and no case matches --run .*Error.*")


def test_timeout_bounds_each_test_and_the_next_one_runs(own: Application) -> None:
    own.write(
        {
            "/assistants/expense/src/slow_test.ts": """\
                function TestEndless(t) { while (true); }
                async function TestWaits(t) { await new Promise((done) => setTimeout(done, 60_000)); }
                function TestNext(t) { t.assert.True(true); }
            """
        }
    )
    results = given_time(
        lambda time: own.results("-i", "scripts.expense.slow", "--timeout", time, code=1), 0.3, "TestNext"
    )

    assert [
        (name, record["status"], re.sub(r"[\d.]+", "N", record.get("error") or "")) for name, record in results.items()
    ] == [
        ("TestEndless", "failed", "timeout after Ns"),
        ("TestWaits", "failed", "timeout after Ns"),
        ("TestNext", "passed", ""),
    ]


def test_fail_fast_stops_at_the_first_failure(own: Application) -> None:
    own.write(
        {
            "/assistants/expense/src/order_test.ts": """\
                function TestFirst(t) { t.assert.True(true); }
                function TestSecond(t) { t.assert.True(false); }
                function TestThird(t) { t.assert.True(true); }
            """
        }
    )
    everything = own.report("-i", "scripts.expense.order", code=1)
    stopped = own.report("-i", "scripts.expense.order", "--fail-fast", code=1)

    assert [record["status"] for record in everything["results"]] == ["passed", "failed", "passed"]
    assert [record["name"] for record in stopped["results"]] == ["TestFirst", "TestSecond"]


def test_without_an_output_flag_no_file_is_written(own: Application) -> None:
    before = own.listing()
    assert own.run("-i", "scripts.expense.setup").code == 0
    assert own.listing() == before


def test_skip_fail_fatal_log_and_error_do_what_the_table_says(own: Application) -> None:
    own.write(
        {
            "/assistants/expense/src/control_test.ts": """\
                function TestLog(t) { t.log("one", { two: 2 }); t.log(t.name, t.failed); }
                function TestError(t) { t.error("went wrong:", 3); t.log("and on", t.failed); }
                function TestSkip(t) { t.skip("not today"); t.log("never"); }
                function TestFail(t) { t.fail("no good"); t.log("and on", t.failed); }
                function TestFatal(t) { t.fatal("no use"); t.log("never"); }
            """
        }
    )
    results = own.report("-i", "scripts.expense.control", code=1)["results"]

    ends = [(record["status"], record.get("error") or record.get("skip_reason"), record["logs"]) for record in results]
    assert ends == [
        ("passed", None, ["one {two: 2}", "TestLog false"]),
        ("failed", "went wrong: 3", ["[error] went wrong: 3", "and on true"]),
        ("skipped", "not today", []),
        ("failed", "no good", ["and on true"]),
        ("failed", "no use", []),
    ]


def test_skips_alone_pass_and_are_counted(own: Application) -> None:
    own.write({"/assistants/expense/src/later_test.ts": 'function TestLater(t) { t.skip("not yet"); }'})

    run = own.run("-i", "scripts.expense.later")

    assert run.code == 0
    assert "► [TestLater] ...\n  ○ SKIPPED (0ms)\n    └─ not yet\n" in without_times(run.stdout)
    assert "  Summary: 0 passed, 0 failed, 1 skipped (0ms)\n" in without_times(run.stdout)


ASSERTIONS = {
    "True": ("1 === 1", "1 === 2"),
    "False": ("1 === 2", "1 === 1"),
    "Equal": ("{ a: [1] }, { a: [1] }", "{ a: [1] }, { a: [2] }"),
    "NotEqual": ("[1, 2], [2, 1]", "[1, 2], [1, 2]"),
    "Nil": ("undefined", "0"),
    "NotNil": ("0", "null"),
    "Contains": ('"expense", "pens"', '"expense", "pencil"'),
    "NotContains": ('"expense", "pencil"', '"expense", "pens"'),
    "Len": ("[1, 2], 2", '"abc", 2'),
    "Greater": ("2, 1", "2, 2"),
    "GreaterOrEqual": ("2, 2", "1, 2"),
    "Less": ("1, 2", "2, 2"),
    "LessOrEqual": ("2, 2", "2, 1"),
    "Error": ('new Error("late")', "null"),
    "NoError": ("undefined", 'new Error("late")'),
    "Panic": ('() => { throw new Error("late"); }', "() => 1"),
    "NoPanic": ("() => 1", '() => { throw new Error("late"); }'),
    "Match": ('"A-1042", "(?i)a-\\\\d+"', '"A-1042", "^\\\\d"'),
    "NotMatch": ('"A-1042", "^\\\\d"', '"A-1042", "(?i)a-\\\\d+"'),
    "JSONPath": ('{ a: [{ b: 1 }] }, "$.a[0].b", 1', '{ a: [{ b: 1 }] }, "a[0].b", 2'),
    "Type": ('[1], "array"', '[1], "object"'),
}
"""Arguments that hold and arguments that do not, of every assertion in the table of the seed."""


def test_every_assertion_of_the_table_passes_and_fails(own: Application) -> None:
    source = "".join(
        f"function Test{name}Holds(t) {{ t.assert.{name}({holds}, 'the message'); }}\n"
        f"function Test{name}Fails(t) {{ t.assert.{name}({fails}, 'the message'); }}\n"
        for name, (holds, fails) in ASSERTIONS.items()
    )
    own.write({"/assistants/expense/src/table_test.ts": source})

    found = [
        (record["name"], record["status"], record.get("error"), record.get("assertion", {}).get("type"))
        for record in own.report("-i", "scripts.expense.table", code=1)["results"]
    ]

    expected: list[tuple[str, str, str | None, str | None]] = []
    for name in ASSERTIONS:
        expected.append((f"Test{name}Holds", "passed", None, None))
        expected.append((f"Test{name}Fails", "failed", "assertion failed: the message", name))
    assert found == expected


# The blocks of a document


def test_the_example_file_runs_as_it_stands(example: Application) -> None:
    report = example.report("-i", "scripts.expense.setup", code=0)

    assert [(record["name"], record["status"]) for record in report["results"]] == [
        ("TestSystemReady", "passed"),
        ("TestSystemReadyWithInvalidContext", "passed"),
        ("TestSetupWithMockData", "passed"),
    ]


def test_the_console_shows_the_printed_layout(broken: Application, document: Document) -> None:
    run = broken.run("-i", "scripts.expense.setup")

    tests, failures, rest = run.stdout.partition(f"{DOUBLE}\n  Failures\n{DOUBLE}\n")
    summary = "".join(rest.splitlines(keepends=True)[-3:])
    assert failures
    assert without_times(tests + summary) == without_times(document.block("Script Test: scripts.expense.setup"))
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
    assert report["metadata"].keys() == printed["metadata"].keys()
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
