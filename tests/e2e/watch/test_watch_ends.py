"""How `--watch` ends: by keys, signals and the end of its terminal. Nothing is left, and the terminal is as before."""

from __future__ import annotations

import signal
from contextlib import closing
from pathlib import Path

import pytest
from command import Application, eventually
from faults import leaves_nothing
from terminal import Terminal, on_open_terminal
from watching import WAITING


def test_a_third_signal_leaves_the_terminal_as_before_too(here: Application) -> None:
    here.write(
        {"a_test.ts": 'export function TestA(t) { Process("fs.data.WriteFile", "begun", "yes"); for (;;) {} }\n'}
    )
    here.write({"/data/.keep": ""})
    with leaves_nothing(here) as sessions, on_open_terminal(here, "--watch", "-i", "scripts.demo.a") as terminal:
        sessions.append(terminal.process.pid)
        eventually((here.root / "data/begun").exists, "the test begins")
        assert not terminal.echoes
        for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGCONT):  # three at once
            terminal.process.send_signal(number)
        assert terminal.ends() in (129, 130, 143)
        assert "Summary" not in terminal.output
        assert terminal.echoes


ENDS = {
    "q": (lambda terminal: terminal.press("q"), 0),
    "Ctrl-C": (lambda terminal: terminal.press("\x03"), 130),
    "SIGINT": (lambda terminal: terminal.process.send_signal(signal.SIGINT), 130),
    "SIGTERM": (lambda terminal: terminal.process.send_signal(signal.SIGTERM), 143),
    "a terminal that goes": (lambda terminal: terminal.hang_up(), 129),
}


@pytest.mark.parametrize("name", ENDS)
def test_nothing_is_left_and_the_terminal_is_as_before_however_it_ends(here: Application, name: str) -> None:
    end, code = ENDS[name]
    with leaves_nothing(here) as sessions, on_open_terminal(here, "--watch", "-i", "scripts.demo.a") as terminal:
        sessions.append(terminal.process.pid)
        terminal.wait(WAITING)
        assert not terminal.echoes
        end(terminal)
        assert terminal.ends() == code, terminal.output
        assert name == "a terminal that goes" or terminal.echoes


def test_the_answers_of_a_killed_process_are_removed_by_the_next(here: Application, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()

    def opened() -> closing[Terminal]:
        return closing(Terminal(here, "--watch", "-i", "scripts.demo.a", TMPDIR=str(folder)))

    with opened() as terminal:
        terminal.wait(WAITING)
        (living,) = folder.glob("yao-test-watch-*")
        with opened() as other:
            other.wait(WAITING)
        (killed,) = set(folder.glob("yao-test-watch-*")) - {living}
        with opened() as third:
            third.wait(WAITING)
            assert (living.exists(), killed.exists()) == (True, False)
