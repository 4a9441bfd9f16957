"""The live line, on a real pseudo-terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from contextlib import closing
from typing import Any
from unicodedata import combining, east_asian_width

import pytest
from agent_files import agent, case_file
from command import MakeApplication, make_application, take_terminal
from terminal import Terminal

PATIENCE = 30
DRAWN = "import os, runner.reporters.console.terminal as progress; progress.SHARE = 2; from runner.commands.main import main; os._exit(main())"
SLOW = "- reply: { text: done, delay: 600ms }"


@pytest.fixture
def app(tmp_path_factory: pytest.TempPathFactory) -> MakeApplication:
    return lambda files: make_application(tmp_path_factory.mktemp("live"), files)


def seen(application: MakeApplication, files: dict[str, str], *arguments: str) -> str:
    """What a terminal of 100 columns gets of a run that may draw whatever time that takes."""
    here = application(files)
    leader, follower = pty.openpty()
    environment = {**here.environment, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(
        [sys.executable, "-c", DRAWN, *arguments], cwd=here.root, stdout=follower, stderr=follower, env=environment
    )
    os.close(follower)
    output = b""
    end = time.monotonic() + PATIENCE
    try:
        while time.monotonic() < end:
            if not select.select([leader], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(leader, 65536)
            except OSError:
                break
            if not piece:
                break
            output += piece
    finally:
        os.close(leader)
        process.kill()
        process.wait()
    return output.decode()


def screen(shown: str) -> tuple[list[str], list[str]]:
    """The lines on a terminal at the end, and each line that was overwritten."""
    lines, column, overwritten = [""], 0, []
    for piece in re.findall(r"\x1b\[K|\x1b\[[\d;]*m|\r\n|\r|\n|[^\x1b\r\n]+", shown):
        if piece == "\x1b[K":
            overwritten += [lines[-1]] if column < len(lines[-1]) else []
            lines[-1] = lines[-1][:column]
        elif piece == "\r":
            column = 0
        elif piece.endswith("\n"):
            lines.append("")
            column = 0
        elif not piece.startswith("\x1b"):
            overwritten += [lines[-1]] if column < len(lines[-1]) else []
            lines[-1] = lines[-1][:column] + piece + lines[-1][column + len(piece) :]
            column += len(piece)
    return lines, overwritten


def without_times(lines: list[str]) -> list[str]:
    return [re.sub(r"[\d.]+m?s\b", "N", line) for line in lines]


def test_the_line_leaves_nothing_behind(app: MakeApplication) -> None:
    cases = [
        {"id": f"T{number}", "input": "Hi", "assertions": [{"type": "contains", "value": "no"}]} for number in range(4)
    ]
    slow = agent(replies="- reply: { text: done, delay: 300ms }", cases=cases)

    lines, overwritten = screen(seen(app, slow, "-i", case_file()))
    assert lines.pop(-2).startswith("Next: ")  # only people are told

    plain = app(agent(replies="- reply: done", cases=cases)).run("-i", case_file())
    assert plain.code == 1
    assert without_times(lines) == without_times(plain.stdout.split("\n"))
    assert any(line.startswith("1 of 4 done, 1 failed") for line in overwritten)


ODD = {
    "wide letters": "试" * 90,
    "combining letters": "e\u0301" * 200,
    "what moves the cursor": "a\x1b[2Jb\r\nc\td\u202ee" * 20,
    "emoji": "👩‍🚀" * 60,
}


@pytest.mark.parametrize("name", ODD.values(), ids=ODD)
def test_the_line_is_never_wider_than_the_terminal(app: MakeApplication, name: str) -> None:
    files = agent(replies=SLOW, cases=[{"id": name, "turns": [{"input": "one"}, {"input": "two"}]}])

    shown = seen(app, files, "-i", case_file(), "--no-color")

    drawn = re.findall(r"\r(0 of 1 done[^\r]*?)\x1b\[K", shown)
    assert all(line.isprintable() for line in drawn)
    widths = [
        sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in line)
        for line in drawn
    ]
    assert 90 < max(widths) < 100


class Drawn(Terminal):
    """The command at a terminal, which may draw whatever time that takes."""

    def _start(self, *arguments: str, takes_terminal: bool = True, **options: Any) -> subprocess.Popen[bytes]:
        drawn = [sys.executable, "-c", DRAWN, *arguments]
        folder, attach = self.application.root, take_terminal if takes_terminal else None
        return subprocess.Popen(drawn, cwd=folder, start_new_session=True, preexec_fn=attach, **options)


def test_the_line_shows_the_turn_that_a_long_case_is_in(app: MakeApplication) -> None:
    """Each turn lasts until it was seen."""
    hook = """export function Create(ctx, messages) {
      while (!Process("fs.data.Exists", messages[messages.length - 1].content)) Process("utils.time.Sleep", 20);
    }"""
    cases = [{"id": id, "turns": [{"input": f"{id} {turn}"} for turn in (1, 2, 3)]} for id in ("T[003]", "T004")]
    here = app({**agent(cases=cases), "/data/.keep": "", "/assistants/demo/src/index.ts": hook})

    with closing(Drawn(here, "-i", case_file())) as terminal:
        for begin, id in ((r"0 of 2 done  ", "T[003]"), (r"1 of 2 done,.* [1-9]\d* tokens  ", "T004")):
            for turn in (1, 2, 3):
                terminal.wait(rf"{begin}{re.escape(id)} turn {turn}")
                here.write({f"/data/{id} {turn}": ""})
        assert terminal.ends() == 0


def test_the_line_tells_the_pace_and_what_is_left(app: MakeApplication) -> None:
    slow = "- reply: { text: Yes, delay: 250ms, usage: { input_tokens: 3, output_tokens: 1, cost: 0.5 } }"
    files = agent(replies=slow, cases=[{"id": f"T{number}", "input": "Hi"} for number in range(12)])

    shown = seen(app, files, "-i", case_file())

    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    lines = re.findall(
        r"(\d+) of 12 done, [1-9]\d* a (?:second|minute), \d+m?s left, (\d+) tokens \(\$([\d.]+)\)  T", plain
    )
    assert lines, plain
    for done, tokens, cost in lines:  # a test may end while the line is made
        assert {int(tokens) / 4, float(cost) / 0.5} <= {int(done), int(done) + 1}


def test_a_terminal_says_that_cases_are_generated_and_forgets_it(app: MakeApplication) -> None:
    files = agent() | agent("maker", replies='- reply: { json: [{ id: G1, input: "Hi" }], delay: 50ms }')

    shown = seen(app, files, "-i", "agents:maker?count=1", "-n", "demo")

    assert shown.startswith("Generating cases with agents:maker ...\r\x1b[K")
    assert "ℹ Input: agents:maker?count=1 (1 test case)" in shown
