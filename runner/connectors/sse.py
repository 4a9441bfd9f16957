"""Server-sent events (WHATWG HTML, section 9.2): the data of each event, out of bytes as they arrive."""

from __future__ import annotations

from codecs import BOM_UTF8


class EventReader:
    """Takes pieces of a stream, cut anywhere, and gives the data of the events that they complete."""

    def __init__(self) -> None:
        self._begun = False
        self._rest: list[bytes] = []
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[str]:
        """The data of the events that end in this piece, its lines joined by newlines."""
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._rest.append(chunk)
            return []
        text = b"".join([*self._rest, chunk[:end]])
        self._rest = [chunk[end:]]
        return self._events(text)

    def end(self) -> list[str]:
        """The data of a last event that no blank line ends."""
        return self._events(b"".join(self._rest) + b"\n\n")

    def _events(self, text: bytes) -> list[str]:
        if not self._begun:
            self._begun, text = True, text.removeprefix(BOM_UTF8)
        events = []
        for line in text.splitlines():
            if line.startswith(b"data"):
                field, _, value = line.partition(b":")
                if field == b"data":
                    self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))
            elif not line and self._data:
                events.append("\n".join(self._data))
                self._data = []
        return events
