"""The terminal: the live line at its bottom, and text that fits into its width.

The live line appears only when a run takes longer than a blink. It may take a share of the processor time that the run
takes, and no more: where that is used up, or nothing happens, it is drawn less often.

| line | what happens to it where it is too long |
|---|---|
| a rule | it is cut |
| the name of a suite or a test with its verdict, a place | where a word has no room in a line, the middle is left out |
| the line of a benchmark, for other programs | nothing |
| code with its line number | its end is left out |
| a command after a colon (behind `Hint:` a sentence begins) | it continues after a backslash, between two arguments |
| anything else | it continues in the next line, with its indent |

Right-to-left text is between the isolates of Unicode's bidirectional algorithm: without them, a name in Hebrew would
move the digits around it."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TextIO
from unicodedata import bidirectional, category

from runner.amounts import dollars, in_words
from runner.cells import letter_width, width
from runner.record.events import Event, RunEnd
from runner.record.fold import Execution
from runner.reporters.console.style import WIDTH, Style, count
from runner.security.terminal import OWN, own

DELAY = 0.4
"""Seconds before it appears."""
REFRESH = 0.125
"""Seconds between two drawings, at least."""
SLOWEST = 30.0
"""Seconds between two looks at a run in which nothing happens."""
SHARE = 0.015
"""Drawing the line again may take this share of the command's processor time."""
MARGIN = 8
"""Columns before the words of a line, at most."""
LEAST = 20
"""Columns that are kept for what is running, where there are so many."""
MEASURED = 5
"""How many tests must end before the pace is shown."""
_START, _CLEAR_REST = own("\r"), own("\x1b[K")
CLEAR = _START + _CLEAR_REST
"""Clears the last line."""

MORE = "…"
_PIECE = re.compile(f"{OWN}|.", re.DOTALL)
_CODES = re.compile(OWN)
_RULE = re.compile("[═─]+")
_NAMED = re.compile(r"\s*(?:[►✓✗○ℹ] |(?:Script Test|Script|at|called from):? )")
_MEASURED = re.compile(r"Benchmark\S* *\t")
_CODE = re.compile(r"\s*(?:>\s*)?\d*\s+\| ")
_COMMAND = re.compile(r"(\s*(?!(?:Hint|Next|Error|Warning): yao-test )[^\n]*?: )(yao-test .*)", re.DOTALL)
_ARGUMENT = re.compile(r"(?:'[^']*'|\"[^\"]*\"|[^\s'\"])+")
_FROM_RIGHT = ("R", "AL")
_ISOLATE, _END = "\u2068", "\u2069"


class Progress:
    """A reporter that shows what is running. Other reporters write to the terminal through it."""

    def __init__(self, stream: TextIO, style: Style, columns: Callable[[], int | None]) -> None:
        """`columns` tells how wide the terminal is."""
        self._stream = stream
        self._columns = columns
        self._style = style
        self._lock = threading.Lock()
        self._run = Execution()
        self._began = time.monotonic()
        self._shown = ""
        """The line on the terminal."""
        self._within = False
        """Whether the last text has not ended its line, so that no progress line can be below it."""
        self._held: list[str] | None = None
        """While paused: what is to be written afterwards."""
        self._news = False
        """Whether something has happened since the line was drawn."""
        self._asleep = False
        """Whether new events are reason enough to draw the line again."""
        self._closed = False
        self._wake = threading.Event()
        threading.Thread(target=self._work, name="progress", daemon=True).start()

    def write(self, text: str) -> None:
        """Writes text above the live line."""
        with self._lock:
            if self._held is not None:
                self._held.append(text)
                return
            self._within = not text.endswith("\n")
            if self._shown:
                below = "" if self._within else self._shown
                text, self._shown = f"{CLEAR}{text}{below}", below
            self._stream.write(text)
            self._stream.flush()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leaves the terminal to another program: clears the line, and delays output."""
        with self._lock:
            self._held = []
            self._hide()
        try:
            yield
        finally:
            with self._lock:
                texts, self._held = self._held, None
            for text in texts:
                self.write(text)

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Remembers the state, which the display reads on its own clock; the end of the run takes the line away."""
        self._run = so_far
        self._news = True
        if self._asleep:
            self._asleep = False
            self._wake.set()
        if isinstance(event, RunEnd):
            self.close()

    def close(self) -> None:
        """Takes the line away."""
        with self._lock:
            self._closed = True
            self._hide()
        self._wake.set()

    def _work(self) -> None:
        pause = DELAY
        while True:
            self._wake.wait(pause)
            self._asleep = False
            self._wake.clear()
            news, self._news = self._news, False
            if not self._shown or time.thread_time() < SHARE * time.process_time():
                try:
                    if news or self._run.counts.total >= MEASURED:  # else nothing on it can have changed
                        self._draw()
                except (OSError, ValueError):  # the terminal is closed; the writer of results reports it
                    return
                pause = REFRESH if news else min(2 * pause, SLOWEST)
                self._asleep = pause > REFRESH
            else:
                pause = min(2 * pause, SLOWEST)
                self._news = news
            if self._closed:
                return

    def _draw(self) -> None:
        with self._lock:
            if self._closed or self._within or self._held is not None:
                return
            line = self._line()
            if line != self._shown:
                self._stream.write(f"{_START}{line}{_CLEAR_REST}")
                self._stream.flush()
                self._shown = line

    def _hide(self) -> None:
        if self._shown:
            self._shown = ""
            self._stream.write(CLEAR)
            self._stream.flush()

    def _line(self) -> str:
        run = self._run
        counts = run.counts
        listed = sum(start.selected for start in list(run.listed.values()))
        parts = [(f"{counts.total} of {listed} done", "")]
        parts += [(f", {counts.failed} failed", "red")] if counts.failed else []
        parts += [(f", {count(counts.errors, 'error')}", "red")] if counts.errors else []
        columns = self._columns() or WIDTH
        room = columns - 1 - sum(width(text) for text, _ in parts)
        for text in self._pace(listed):
            if room - width(text) >= LEAST:
                parts.append((text, ""))
                room -= width(text)
        parts.append((f"  {shortened(self._names(), max(0, room - 2))}", "dim"))
        line, room = "", columns - 1
        for text, color in parts:
            text, room = cut(text, room)
            text = isolated(text)
            line += self._style.paint(text, color) if color and text else text
        return line

    def _names(self) -> str:
        turns = dict(self._run.turns)
        running = list(self._run.running.items())
        names = [visible(name) + (f" turn {turns[place]}" if place in turns else "") for place, name in running[:3]]
        return ", ".join(names) + (" ..." if len(running) > 3 else "")

    def _pace(self, listed: int) -> list[str]:
        """What is left of it, how fast it goes, what it took: once there is enough to tell; what matters most first."""
        run = self._run
        done, seconds = run.counts.total, time.monotonic() - self._began
        texts = []
        if done >= MEASURED and seconds >= 1:
            rate = done / seconds
            pace = f"{rate:.0f} a second" if rate >= 1 else f"{60 * rate:.0f} a minute"
            texts = [f", {pace}", f", {in_words(math.ceil((listed - done) / rate))} left"]
        if run.counts.tokens:
            cost = f" ({dollars(run.counts.cost)})" if run.counts.cost is not None else ""
            texts.append(f", {run.counts.tokens} tokens{cost}")
        return texts


def fitted(text: str, columns: int) -> str:
    """A text of whole lines for a terminal."""
    return "\n".join(isolated(part) for line in text.split("\n") for part in _line(line, columns).split("\n"))


def isolated(text: str) -> str:
    """A line in which each run of right-to-left words is isolated from the text around it."""
    if text.isascii() or _ISOLATE in text or not any(map(_is_from_right, text)):
        return text
    return re.sub(rf"({_CODES.pattern})|[^\x1b]+", lambda match: match[1] or _isolated_words(match[0]), text)


def visible(text: str) -> str:
    """A text with blanks in place of what cannot be seen."""
    return text if text.isprintable() else "".join(letter if letter.isprintable() else " " for letter in text)


def cut(text: str, room: int) -> tuple[str, int]:
    """As much of a text as fits into this many columns, and what is left of them."""
    if text.isascii():
        return text[:room], max(0, room - len(text))
    for place, letter in enumerate(text):
        room -= letter_width(letter)
        if room < 0:
            return text[:place], 0
    return text, room


def shortened(text: str, room: int) -> str:
    """A text, perhaps in colours, that loses its middle where it has no room."""
    if width(_CODES.sub("", text)) <= room:
        return text
    pieces = _PIECE.findall(text)
    tail_room = room // 2
    head_room = room - tail_room - 1
    head = tail = 0
    while (head_room := head_room - letter_width(pieces[head])) >= 0:
        head += 1
    while (tail_room := tail_room - letter_width(pieces[-1 - tail])) >= 0:
        tail += 1
    middle = pieces[head : len(pieces) - tail]
    kept = [piece for piece in middle if _CODES.fullmatch(piece)]
    while tail and category(pieces[-tail]) in ("Mn", "Me"):  # of a character that was removed
        tail -= 1
    return "".join([*pieces[:head], MORE, *kept, *(pieces[-tail:] if tail else [])])


def _line(line: str, columns: int) -> str:
    if len(line) <= columns and line.isascii():
        return line
    plain = _CODES.sub("", line)
    if width(plain) <= columns or _MEASURED.match(plain):
        return line
    if _RULE.fullmatch(plain):
        return plain[:columns]
    if _NAMED.match(plain) and max(map(width, plain.split())) > columns - MARGIN:
        return shortened(line, columns)
    if _CODE.match(plain):
        return cut(plain, columns - 1)[0] + MORE
    if command := _COMMAND.fullmatch(plain):
        return _command(command[1], command[2], columns)
    return wrapped(line, columns)


def _command(head: str, command: str, columns: int) -> str:
    indent = " " * (len(head) - len(head.lstrip()) + 2)
    *lines, begin = wrapped(head.rstrip(), columns).split("\n")
    line = begin
    for argument in _ARGUMENT.findall(command):
        if width(f"{line} {argument} \\") > columns and line.strip():
            lines.append(f"{line} \\" if line != begin else line)
            line = indent + argument
        else:
            line = f"{line} {argument}"
    return "\n".join([*lines, line])


def wrapped(line: str, columns: int, more: int = 2) -> str:
    """A line that continues, where it is too long, in lines with this many blanks more before them."""
    plain = _CODES.sub("", line)
    indent = " " * min(len(plain) - len(plain.lstrip(" ")) + more, columns // 3)
    out, room = "", columns
    for blanks, word in re.findall("( *)([^ ]*)", line):
        needed = width(_CODES.sub("", word))
        if len(blanks) + needed <= room:
            out += blanks + word
            room -= len(blanks) + needed
        elif out and needed <= columns - len(indent):
            out += f"\n{indent}{word}"
            room = columns - len(indent) - needed
        else:  # longer than a line: a path or a list is parted behind a slash or a comma
            out += blanks[:room]
            room -= len(blanks[:room])
            for part in re.findall("[^/,]+[/,]*|[/,]+", word):
                if room < width(_CODES.sub("", part)) <= columns - len(indent):
                    out, room = f"{out}\n{indent}", columns - len(indent)
                for piece in _PIECE.findall(part):
                    if letter_width(piece) > room:
                        out, room = f"{out}\n{indent}", columns - len(indent)
                    out += piece
                    room -= letter_width(piece)
    return out


@lru_cache(1000)
def _is_from_right(letter: str) -> bool:
    return bidirectional(letter) in _FROM_RIGHT and letter.isprintable()


def _isolated_words(text: str) -> str:
    words = text.split(" ")
    found = [place for place, word in enumerate(words) if any(map(_is_from_right, word))]
    for place in found:
        word = words[place]
        letters = [at for at, letter in enumerate(word) if letter.isalnum()]
        start, end = letters[0], letters[-1] + 1
        words[place] = f"{word[:start]}{_ISOLATE}{word[start:end]}{_END}{word[end:]}"
    return " ".join(words).replace(f"{_END} {_ISOLATE}", " ")
