"""Reads the keys of a terminal, one at a time, on its own thread."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

ESCAPE = "\x1b"


class Keys:
    """Within it, the terminal gives single keys and shows none of them."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """`tell` is called with each key; with an empty text if the terminal was closed."""
        self._tell = tell
        self._descriptor = sys.stdin.fileno()

    def __enter__(self) -> Keys:
        import termios
        import tty

        self._before = termios.tcgetattr(self._descriptor)
        tty.setcbreak(self._descriptor, termios.TCSANOW)  # a key that was pressed before counts too
        threading.Thread(target=self._work, name="keys", daemon=True).start()
        return self

    def restore_at_once(self) -> None:
        """Gives the terminal back as it was, without waiting for what it has yet to show."""
        import termios

        self._restore(termios.TCSANOW)

    def __exit__(self, *_: object) -> None:
        import termios

        self._restore(termios.TCSADRAIN)

    def _restore(self, when: int) -> None:
        import termios

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
