"""What a terminal shows: no line is longer than it is wide, and names in any script stay readable."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from unicodedata import category, east_asian_width

import pytest
from agent_files import lines
from command import Application, make_application
from terminal import Terminal

from runner.cells import width
from runner.reporters.console.terminal import cut, fitted, isolated, shortened
from runner.security.terminal import own

RED, PLAIN = own("\x1b[31m"), own("\x1b[0m")
LONG = "a-case-with-a-name-that-tells-a-whole-story-and-does-not-come-to-its-end"
CASES = [LONG, "一个名字很长的用例" * 5, "בדיקה-ארוכה של עברית 12", "👩‍🚀🎉 emoji " * 4, "e\u0301" * 30]
FILES = {
    "/assistants/demo/package.yao": '{"connector": "scripted"}',
    "/assistants/demo/prompts.yml": "- {role: system, content: Hi}\n",
    "/assistants/demo/replies.yml": "- reply: Hello\n",
    "/assistants/demo/tests/cases_with_a_name_that_is_longer_than_some_terminals.jsonl": "".join(
        f'{{"id": "{id}", "input": "Hi", "assert": {{"type": "equals", "value": "{id} is not what it says"}}}}\n'
        for id in CASES
    ),
    "a_module_with_a_name_that_is_longer_than_some_terminals_test.ts": (
        f"export function Test{'VeryLong' * 12}(t) {{\n"
        "  t.assert.Equal({ text: '" + "word " * 30 + "' }, { text: 'אבג', wide: '" + "宽" * 40 + "' });\n}\n"
        "export function TestShort(t) { console.log('" + "x" * 300 + "'); t.fail('because ' + 'y'.repeat(120)); }\n"
    ),
}


def columns(line: str) -> int:
    return sum(
        0 if category(letter) in ("Mn", "Cf") else 2 if east_asian_width(letter) in "WF" else 1 for letter in line
    )


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Application:
    return make_application(tmp_path_factory.mktemp("wide"), FILES)


@pytest.mark.parametrize("wide", [40, 80, 200])
def test_no_line_is_longer_than_the_terminal(here: Application, wide: int) -> None:
    with closing(Terminal(here, "-i", "assistants", "-v", COLUMNS=str(wide))) as terminal:
        assert terminal.ends() == 1
        live = re.compile(r"\d+ of \d+ done[^\n═─✗✓►]*")  # was there, and is taken away
        lines = live.sub("", terminal.output).split("\n")

    arguments = re.compile(r"\s*('[^']*'|\S+)( \\)?")  # one that is longer stays whole, to be copied
    assert [line for line in lines if columns(line) > wide and not arguments.fullmatch(line)] == []
    assert any("\u2068בדיקה-ארוכה של עברית\u2069 12" in line for line in lines) or wide == 40, terminal.output
    if wide == 40:
        assert any(re.search(r"► \[TestVery\w*…\w+Long\] \.\.\.$", line) for line in lines), terminal.output
        assert "═" * 40 in lines
    command = re.search(r"Rerun: ?((?:.*\\\n)*.*)", terminal.output)
    assert command
    assert command[1].replace("\\\n", " ").split()[:2] == ["yao-test", "-i"]


def test_what_is_not_a_terminal_gets_whole_lines(here: Application) -> None:
    run = here.run("-i", "assistants", "-v")

    assert "═" * 79 in run.stdout
    assert "\u2068" not in run.stdout
    assert f"[{LONG}]" in run.stdout


def test_a_text_loses_its_middle_and_keeps_its_colours() -> None:
    assert shortened(f"{RED}abcdefghij{PLAIN}", 7) == f"{RED}abc…hij{PLAIN}"
    assert [width(shortened("试" * 20 + "e\u0301" * 20, room)) for room in range(4, 20)] == pytest.approx(
        list(range(4, 20)), abs=1
    )
    assert shortened("short", 5) == "short"


def test_words_go_on_below_their_indent() -> None:
    assert fitted(f"  {RED}aaa bbb ccc{PLAIN}", 9) == f"  {RED}aaa bbb\n   ccc{PLAIN}"
    assert fitted("x" * 10, 4) == "xxxx\n xxx\n xxx"
    assert fitted("> 12 | const a = 1;\n     | ^", 10) == "> 12 | co…\n     | ^"
    assert fitted("  Rerun: yao-test -i scripts.demo.a --run '^Test A$'", 30) == (
        "  Rerun: yao-test -i \\\n    scripts.demo.a --run \\\n    '^Test A$'"
    )
    assert fitted("Hint: Type: yao-test -i a-b --run c", 30) == "Hint: Type: yao-test -i a-b \\\n  --run c"
    said = "yao-test watch reruns tests; yao-test view shows runs"
    assert [fitted(f"{label}: {said}", 40) for label in ("Next", "Hint")] == [
        f"{label}: {said.replace('; ', ';' + chr(10) + '  ')}" for label in ("Next", "Hint")
    ]


def test_only_what_is_written_from_right_to_left_is_isolated() -> None:
    assert isolated("✓ [שלום עולם] 3 passed") == "✓ [\u2068שלום עולם\u2069] 3 passed"
    assert isolated("plain é 一") == "plain é 一"
    assert isolated(f"{RED}12-שלום{PLAIN} 3") == f"{RED}\u206812-שלום\u2069{PLAIN} 3"
    assert cut("试试", 3) == ("试", 0)


NAMES = ["plain", "\x1b[31mred", "一个名字", "line\nbreak", "tab\tstop", "e\u0301e\u0301", "👩‍🚀 emoji"]


def table_in(output: str, head: str, column: str) -> set[int]:
    """Where the values of this column begin in the table with this head."""
    assert head in output, output
    lines = output[output.index(head) + len(head) :].splitlines()[1 : len(NAMES) + 1]
    return {columns(line[: line.index(column)]) for line in lines}


def test_columns_stand_below_each_other_whatever_the_names(tmp_path: Path) -> None:
    cases = [
        {"id": name, "input": "Hi", "tags": [name], "assert": {"type": "contains", "value": "H"}} for name in NAMES
    ]
    here = make_application(tmp_path, {**FILES, "/.yao-test/.keep": "", "/c.jsonl": lines(*cases)})
    here.write({"/.git/objects/.keep": "", "/.git/HEAD": "ref: refs/heads/main\n", "/.git/refs/heads/main": "1" * 40})
    inputs = ("-i", "c.jsonl", "-n", "demo")

    repeated = here.run(*inputs, "--runs", "2").stdout
    assert len(table_in(repeated, "  Test ", " 2/2 ")) == 1
    assert len(table_in(repeated, "  Part", " 100%")) == 1
    assert len(table_in(here.run("history").stdout, "  Test ", " 100.0% ")) == 1
    for name in ("一", "é", "main", "a", "b", "c"):
        here.write({"/.git/HEAD": f"ref: refs/heads/{name}\n", f"/.git/refs/heads/{name}": "1" * 40})
        assert here.run(*inputs, "-q").code == 0
    assert len(table_in(here.run("store", "list").stdout, "  Run ", " 1111111 ")) == 1

    here.write({"/yao-test.toml": 'user = "一个名字"\nlocale = "en-us"\n'})
    shown = here.run("config").stdout.splitlines()
    assert len({columns(line[: line.index("yao-test.toml")]) for line in shown}) == 1
