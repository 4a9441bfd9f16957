"""The terminal of `--watch`: its messages, its questions, and its keys."""

from __future__ import annotations

import os
import sys
import termios
import threading
import tty
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from runner.errors import RunnerError
from runner.reporters.console.style import Style
from runner.reporters.console.terminal import CLEAR
from runner.watch.changes import Inbox, Pressed, SavedFile

ESCAPE = "\x1b"
HELP = """\
  a      run all tests
  f      run failed tests
  u      update snapshots of failed tests
  p      only matching files
  t      only matching tests
  Esc    clear both filters
  Enter  rerun
  q      quit
"""


class Screen:
    """The terminal of a watched run."""

    def __init__(self, stream: TextIO, style: Style) -> None:
        self._stream = stream
        self._style = style

    def say(self, text: str) -> None:
        """A line about what happens."""
        self._write(self._style.paint(f"{text}\n", "cyan"))

    def explain(self, error: RunnerError) -> None:
        """Prints an error and its hint."""
        hint = f"Hint: {error.hint}\n" if error.hint else ""
        self._write(self._style.paint(f"Error: {error.message}\n", "red") + hint)

    def show_keys(self) -> None:
        """Prints the list of keys."""
        self._write(HELP)

    def wait(self, files: str, names: str | None) -> None:
        """The line below a verdict; `files` and `names` are the patterns of `p` and `t`."""
        filters = [f"files {files}"] if files else []
        filters += [f"tests {names}"] if names else []
        only = f" ({', '.join(filters)})" if filters else ""
        self._write(self._style.paint(f"Waiting for changes{only}: h for help, q to quit\n", "dim"))

    def ask(self, question: str, inbox: Inbox) -> str | None:
        """A line that the user types; None if the user cancels. Meanwhile, changes stay in the inbox."""
        text, waiting = "", []
        self._write(question)
        while True:
            message = inbox.next()
            if isinstance(message, SavedFile):
                waiting.append(message)
                continue
            key = message.key if isinstance(message, Pressed) else ""
            if key in ("\n", "", ESCAPE):
                break
            text = text[:-1] if key in ("\x7f", "\b") else text + key
            self._write(f"{CLEAR}{question}{text}")
        self._write("\n")
        inbox.put(waiting)
        return text if key == "\n" else None

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class Keys:
    """Within it, the terminal gives single keys and shows none of them."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """`tell` is called with each key; with an empty text if the terminal was closed."""
        self._tell = tell
        self._descriptor = sys.stdin.fileno()

    def __enter__(self) -> Keys:
        self._before = termios.tcgetattr(self._descriptor)
        tty.setcbreak(self._descriptor, termios.TCSANOW)  # a key that was pressed before counts too
        threading.Thread(target=self._work, name="keys", daemon=True).start()
        return self

    def restore_at_once(self) -> None:
        """Gives the terminal back as it was, without waiting for what it has yet to show."""
        self._restore(termios.TCSANOW)

    def __exit__(self, *_: object) -> None:
        self._restore(termios.TCSADRAIN)

    def _restore(self, when: int) -> None:
        with suppress(termios.error):  # the terminal was closed
            termios.tcsetattr(self._descriptor, when, self._before)

    def _work(self) -> None:
        while True:
            try:
                pressed = os.read(self._descriptor, 64)
            except OSError:
                pressed = b""
            if not pressed:
                self._tell("")
                return
            text = pressed.decode(errors="replace")
            if text.startswith(ESCAPE) and len(text) > 1:  # an arrow or the like
                continue
            for key in text:
                self._tell("\n" if key == "\r" else key)
