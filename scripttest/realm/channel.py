"""The worker's end of the pipes to the supervisor: it reads and writes frames, and waits for the answers to questions;
what scripts print, and failures of realms that cannot report them, on their way there.

Reports are written without the json module, whose import takes longer than the start of a worker."""

from __future__ import annotations

import os

from scripttest.protocol import FrameReader, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scripttest.protocol import Frame


_CHUNK = 1 << 16
MOST = 1_000_000
"""Characters that go out at once, and that are kept of the others at the most."""
MOST_LINES = 10_000
LAST_LINES = 200
"""Lines that are kept of the others, and more if they have fewer characters than `LAST`."""
LAST = 64 * 1024
MOST_NOTED = 200
"""Failures of a test that are kept and sent."""


class Channel:
    """Reads and writes frames. Used by the thread that runs scripts only."""

    def __init__(self, incoming: int, outgoing: int, meanwhile: Callable[[str, list[str]], bool]) -> None:
        """`meanwhile` is called with frames that arrive while an answer is awaited, other than answers. It returns
        whether to stop waiting."""
        self._incoming = incoming
        self._outgoing = outgoing
        self._meanwhile = meanwhile
        self.frames = self._read()
        """The frames that arrive, until the supervisor closes its end."""
        self._asked = 0
        """How many questions were sent."""
        self._open: set[str] = set()
        """Numbers of the questions that wait for an answer; there are several when a realm is asked a question while it
        waits."""
        self._answers: dict[str, list[str]] = {}
        """Answers that arrived before they were needed."""

    def send(self, kind: str, *parts: str) -> None:
        """Writes one frame."""
        data = memoryview(encode(kind, *parts))
        while data:
            data = data[os.write(self._outgoing, data) :]

    def ask(self, kind: str, *parts: str) -> list[str] | None:
        """Sends a question and waits for the answer; None when it stopped waiting."""
        self._asked += 1
        number = str(self._asked)
        self._open.add(number)
        self.send(kind, number, *parts)
        try:
            while number not in self._answers:
                kind, answer = next(self.frames, ("", []))
                if kind == "reply":
                    if answer[0] in self._open:  # others were given up
                        self._answers[answer[0]] = answer[1:]
                elif not kind or self._meanwhile(kind, answer):
                    return None
            return self._answers.pop(number)
        finally:
            self._open.discard(number)

    def _read(self) -> Iterator[Frame]:
        reader = FrameReader()
        while data := os.read(self._incoming, _CHUNK):
            yield from reader.feed(data)


class Output:
    """What comes of one piece of work before its end. Of the lines that scripts print, the first go out at once; of the
    others the last ones are kept, which come before a failure, and go out when the work ends."""

    def __init__(self, send: Callable[..., None]) -> None:
        """`send` takes `"log"`, a level, and a text as JSON."""
        self._send = send
        self._size = self._lines = 0
        self._last: list[tuple[str, str]] = []
        self._kept = self._dropped = 0
        """Characters that are kept; lines that are not."""
        self.noted: list[str] = []
        """Failures of the running test, as JSON, for the case that its realm cannot report them."""

    def fail(self, test: str, record: str) -> None:
        """Takes a failure of a test or subtest, as JSON."""
        if len(self.noted) < MOST_NOTED:
            self.noted.append(record)
            self._send("failed", test, record)

    def add(self, level: str, text: str) -> None:
        """Takes a line, whose text is JSON."""
        self._size += len(text)
        self._lines += 1
        if self._size <= MOST and self._lines <= MOST_LINES:
            self._send("log", level, text)
            return
        self._last.append((level, text))
        self._kept += len(text)
        while self._kept > MOST or (len(self._last) > LAST_LINES and self._kept - len(self._last[0][1]) >= LAST):
            self._kept -= len(self._last.pop(0)[1])
            self._dropped += 1

    def end(self) -> None:
        """Sends what was kept. The next line belongs to other work."""
        if self._dropped:
            self._send("log", "warn", f'"output truncated: {self._dropped} lines are left out"')
        for level, text in self._last:
            self._send("log", level, text)
        self._last.clear()
        self._size = self._lines = self._kept = self._dropped = 0


def failure_envelope(message: str, code: int = 500, stack: str = "") -> str:
    """`{"error": {"message", "code", "stack"}}`."""
    text, trace = ("".join(map(_escaped, text)) for text in (message, stack))
    return f'{{"error":{{"message":"{text}","code":{code},"stack":"{trace}"}}}}'


def broken_outcome(reason: str, kind: str, stack: str, noted: list[str]) -> str:
    """The outcome of a test whose realm cannot say what failed; `noted` is JSON of the failures before that."""
    message, trace = ("".join(map(_escaped, text)) for text in (reason, stack))
    stopped = str(kind == "timeout").lower()
    failure = f'{{"kind":"{kind}","message":"{message}","stack":"{trace}","stopped":{stopped}}}'
    return f'{{"status":"failed","failures":[{",".join([*noted, failure])}],"steps":[]}}'


def _escaped(letter: str) -> str:
    if " " <= letter <= "~" and letter not in '"\\':
        return letter
    code = ord(letter)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
