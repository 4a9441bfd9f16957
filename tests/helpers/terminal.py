"""The command on a pseudo-terminal that stays open: what it shows, and keys for it."""

from __future__ import annotations

import codecs
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from command import PATIENCE, Application, take_terminal
from forks import Forked

CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
BEGUN = re.compile(r"\x1b(\[[0-9;?]*)?\Z")
"""A code of which the rest has not been read yet."""


class Terminal:
    """A command that runs; `output` is all that it has shown, without colours."""

    def __init__(self, application: Application, *arguments: str, **variables: str) -> None:
        self.application = application
        self._leader, follower = pty.openpty()
        environment = {**application.environment, "TERM": "xterm", "COLUMNS": "100", "LINES": "40", **variables}
        self.process = self._start(
            *arguments, stdin=follower, stdout=follower, stderr=follower, env=environment, takes_terminal=True
        )
        os.close(follower)
        self.output = ""
        self._seen = 0
        self._begun = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def _start(self, *arguments: str, **options: Any) -> subprocess.Popen[bytes] | Forked:
        return self.application.start(*arguments, **options)

    def press(self, keys: str) -> None:
        """Types keys."""
        os.write(self._leader, keys.encode())

    def wait(self, pattern: str) -> str:
        """Waits until a pattern is shown after all that was waited for before; what is shown up to its end."""
        end = time.monotonic() + PATIENCE
        while True:
            if match := re.search(pattern, self.output[self._seen :], re.M):
                shown = self.output[self._seen : self._seen + match.end()]
                self._seen += match.end()
                return shown
            if time.monotonic() > end or not self._read(1.0):
                raise AssertionError(f"never shown: {pattern}\n--- since then:\n{self.output[self._seen :]}")

    def insist(self, keys: str, pattern: str) -> str:
        """Types keys as a person does who sees nothing happen: again each second until the pattern is shown. For
        Ctrl-C at a prompt: readline forgets an interrupt that comes while it handles the key before."""
        end = time.monotonic() + PATIENCE
        while True:
            self.press(keys)
            again = time.monotonic() + 1
            while time.monotonic() < again and self._read(0.1):
                if re.search(pattern, self.output[self._seen :], re.M):
                    return self.wait(pattern)
            if time.monotonic() > end:
                raise AssertionError(f"never shown: {pattern}\n--- since then:\n{self.output[self._seen :]}")

    def is_idle(self, pattern: str, seconds: float) -> bool:
        """Whether what is shown ends with a pattern, and nothing more comes for some seconds."""
        end, shown = time.monotonic() + seconds, self.output
        while time.monotonic() < end and self.output == shown:
            self._read(0.1)
        return self.output == shown and re.search(rf"(?:{pattern})\Z", shown) is not None

    @property
    def echoes(self) -> bool:
        """Whether the terminal shows what is typed, as it does before and after."""
        import termios

        return bool(termios.tcgetattr(self._leader)[3] & termios.ECHO)

    def ends(self) -> int:
        """Waits for the end of the command; its exit code."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self._read(1.0):
            pass
        return self.process.wait(PATIENCE)

    def hang_up(self) -> None:
        """Takes the terminal away."""
        os.close(self._leader)
        self._leader = -1

    def close(self) -> None:
        """Ends it."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)
        if self._leader >= 0:
            os.close(self._leader)

    def _read(self, seconds: float) -> bool:
        if self._leader < 0:
            return False
        if not select.select([self._leader], [], [], seconds)[0]:
            return self.process.poll() is None
        try:
            piece = os.read(self._leader, 65536)
        except OSError:
            return False
        text = self._begun + self._decoder.decode(piece)
        cut = BEGUN.search(text)
        end = cut.start() if cut else len(text)
        self._begun = text[end:]
        self.output += CODES.sub("", text[:end])
        return bool(piece)


class Shell(Terminal):
    """A bash at a terminal, which finds the command as `yao-test`."""

    def __init__(self, application: Application, folder: Path) -> None:
        """`folder` gets the command."""
        command = folder / "yao-test"
        root = shlex.quote(str(Path(__file__).parents[2]))
        command.write_text(f'#!/bin/sh\nPYTHONPATH={root} exec {shlex.quote(sys.executable)} -m runner "$@"\n')
        command.chmod(0o755)
        # a dumb terminal: nothing but what is typed and shown
        super().__init__(application, PATH=f"{folder}:/usr/bin:/bin", TERM="dumb", PS1="$ ", NO_COLOR="1")

    def _start(self, *arguments: str, takes_terminal: bool = True, **options: Any) -> subprocess.Popen[bytes]:
        bash = ["bash", "--norc", "--noprofile", "-i"]
        folder, attach = self.application.root, take_terminal if takes_terminal else None
        return subprocess.Popen(bash, cwd=folder, start_new_session=True, preexec_fn=attach, **options)


@contextmanager
def on_open_terminal(application: Application, *arguments: str, **variables: str) -> Iterator[Terminal]:
    """Starts the command, and ends it if need be. Its temporary files go with it, unless the application has a folder
    for them."""
    with TemporaryDirectory(prefix="apart-") as folder:
        own = {} if application.temporary else {"TMPDIR": folder}
        terminal = Terminal(application, *arguments, **own, **variables)
        try:
            yield terminal
        finally:
            terminal.close()
