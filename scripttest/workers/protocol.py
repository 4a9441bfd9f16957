"""The messages between a supervisor and its worker: frames of text.

A frame is a header line, `<kind> <length> <length>...`, and the parts it announces, UTF-8, one after another:

| from | kind | parts | meaning |
| --- | --- | --- | --- |
| supervisor | module | boot JSON, nested boot JSON, context JSON, (line, code) pairs | the module that comes next |
| supervisor | discover | names | evaluate it and list its test functions, and those of these names |
| supervisor | plan | base text | the last script of the module without its functions, see `slicing` |
| supervisor | run | per test: index, plan JSON, pieces | run these in order, each in a realm of its own |
| supervisor | invoke | boot JSON, nested boot JSON, context JSON, function, arguments | call a function |
| supervisor | reply | number, JSON or code | the answer to the `call` or `library` of that number |
| supervisor | expired | work/time | what stands on the lifeline too, for a worker that waits for `reply`: see `alarm` |
| worker | tests | (name, source) pairs | what `discover` asked for |
| worker | broken | failure JSON | the module could not be evaluated |
| worker | start | index, if of a test | the first test of `run` begins, or what `invoke` calls |
| worker | log | level, JSON text | one captured line of the running test |
| worker | failed | name of the test or subtest, JSON | a failure that `result` will have too, if it comes |
| worker | call | number, process name, JSON arguments | a host call; the worker waits for `reply` |
| worker | library | number, script id | asks for the code of another script; the worker waits for `reply` |
| worker | result | index, outcome JSON, index or nothing | a test has ended, and the next one begins, if there is one |
| worker | returned | JSON | what `invoke` came to |

Only text made by `JSON.stringify` or by the compiler crosses, so a part never holds a lone surrogate.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

Frame = tuple[str, list[str]]
"""Kind and parts."""


def encode(kind: str, *parts: str) -> bytes:
    """The bytes of one frame."""
    blobs = [part.encode() for part in parts]
    header = " ".join([kind, *[str(len(blob)) for blob in blobs]])
    return b"".join([header.encode(), b"\n", *blobs])


class FrameReader:
    """Cuts a byte stream into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._missing = 0

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are complete once `data` has arrived. Raises ValueError when the stream is not frames."""
        buffer = self._buffer
        buffer += data
        if len(buffer) < self._missing:
            return
        start = 0
        self._missing = 0
        while (end := buffer.find(b"\n", start)) >= 0:
            kind, *sizes = buffer[start:end].decode().split(" ")
            lengths = [int(size) for size in sizes]
            if len(buffer) < end + 1 + sum(lengths):
                self._missing = end + 1 + sum(lengths) - start
                break
            start = end + 1
            parts = []
            for length in lengths:
                parts.append(buffer[start : start + length].decode())
                start += length
            yield kind, parts
        del buffer[:start]
