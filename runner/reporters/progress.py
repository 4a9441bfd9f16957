"""The live line at the bottom of a terminal; it appears only when a run takes longer than a blink."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from runner.events import Event, RunEnd
from runner.execution import Execution
from runner.options import in_words

if TYPE_CHECKING:
    from rich.live import Live

DELAY = 0.4
"""Seconds before it appears; until then nothing of it is loaded."""
MEASURED = 5
"""Tests that have to end before the pace is told."""


class Progress:
    """A reporter that shows what is running, and the way in which other reporters write to the terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._live: Live | None = None
        self._run = Execution()
        self._began = time.monotonic()
        self._closed = False
        self._due = False
        """Whether the line is to be seen, unless it is paused."""
        self._held: list[str] | None = None
        """While paused: what is to be written afterwards."""
        self._timer = threading.Timer(DELAY, self._appear)
        self._timer.daemon = True
        self._timer.start()

    def write(self, text: str) -> None:
        """Writes text above the live line."""
        with self._lock:
            if self._held is not None:
                self._held.append(text)
            elif self._live is None:
                self._stream.write(text)
                self._stream.flush()
            else:
                from rich.text import Text

                self._live.console.print(Text.from_ansi(text), end="", soft_wrap=True, highlight=False)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leaves the terminal to somebody else: the line is away, and what is written waits."""
        with self._lock:
            self._held = []
            self._hide()
        try:
            yield
        finally:
            with self._lock:
                texts, self._held = self._held, None
                if self._due and not self._closed:
                    self._show()
            for text in texts:
                self.write(text)

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Remembers the state, which the display reads on its own clock; the end of the run takes the line away."""
        self._run = so_far
        if isinstance(event, RunEnd):
            self.close()

    def close(self) -> None:
        """Takes the line away."""
        self._timer.cancel()
        with self._lock:
            self._closed = True
            self._hide()

    def _appear(self) -> None:
        with self._lock:
            self._due = True
            if not self._closed and self._held is None:
                self._show()

    def _show(self) -> None:
        from rich.console import Console
        from rich.live import Live

        console = Console(file=self._stream, force_terminal=True)
        self._live = Live(get_renderable=self._line, console=console, refresh_per_second=8, transient=True)
        self._live.start()

    def _hide(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _line(self) -> str:
        from rich.markup import escape

        run = self._run
        counts = run.counts
        listed = sum(start.selected for start in list(run.listed.values()))
        turns = dict(run.turns)
        running = [name + (f" turn {turns[key]}" if key in turns else "") for key, name in list(run.running.items())]
        names = escape(", ".join(running[:3])) + (" ..." if len(running) > 3 else "")
        failed = f", [red]{counts.failed} failed[/red]" if counts.failed else ""
        failed += f", [red]{counts.errors} broke[/red]" if counts.errors else ""
        return f"{counts.total} of {listed} done{failed}{self._pace(listed)}  [dim]{names}[/dim]"

    def _pace(self, listed: int) -> str:
        """How fast it goes, what is left of it, what it took: once there is enough to tell."""
        run = self._run
        done, seconds = run.counts.total, time.monotonic() - self._began
        text = ""
        if done >= MEASURED and seconds >= 1:
            rate = done / seconds
            pace = f"{rate:.0f} a second" if rate >= 1 else f"{60 * rate:.0f} a minute"
            text = f", {pace}, {in_words(math.ceil((listed - done) / rate))} left"
        if run.tokens:
            cost = f" (${run.cost:.4f})" if run.cost is not None else ""
            text += f", {run.tokens} tokens{cost}"
        return text
