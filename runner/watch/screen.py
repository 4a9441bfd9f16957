"""Prints the messages of `--watch` at the terminal, and asks its questions."""

from __future__ import annotations

from typing import TextIO

from runner.errors import RunnerError
from runner.reporters.console.progress import CLEAR
from runner.reporters.console.style import Style
from runner.watch.inbox import Inbox, Pressed, Saved
from runner.watch.keys import ESCAPE

HELP = """\
  a      run all tests
  f      run what failed
  u      update the snapshots of what failed
  p      only files whose names match
  t      only tests whose names match
  Esc    without those two
  Enter  run the same again
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
            if isinstance(message, Saved):
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
