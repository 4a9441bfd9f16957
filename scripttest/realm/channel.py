"""The worker's end of the pipes to the supervisor: it reads and writes frames, and waits for the answers to
questions."""

from __future__ import annotations

import os

from scripttest.workers.protocol import FrameReader, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scripttest.workers.protocol import Frame

_CHUNK = 1 << 16


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
