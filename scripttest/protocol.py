"""The messages between the supervisor and a worker, as frames of text.

A frame is a header line, `<kind> <length> <length>...`, and its parts in UTF-8, one after another:

| from | kind | parts | meaning |
| --- | --- | --- | --- |
| supervisor | module | boot JSON, nested boot JSON, context JSON, (line, code) pairs | the next module |
| supervisor | discover | prefixes, names | evaluate it, and list functions with such prefixes or names |
| supervisor | base | base text | the last script of the module without its functions, see `slicing` |
| supervisor | switch | mutant, place, (rounds, ms)... | what is on in the next `run`, bounds of its tests |
| supervisor | run | for each test: index, plan JSON, pieces | run these in order, each in a new realm |
| supervisor | invoke | boot JSON, nested boot JSON, context JSON, function, arguments | call a function |
| supervisor | tell | JSON, see `bindings/src/realm/story.ts` | how scripts with a recorder tell what they do |
| supervisor | spare | | the worker is idle and will get similar work: free old realms and make new ones |
| supervisor | reply | number, JSON or code | the answer to the `call` or `library` with this number |
| supervisor | back | number, name, JSON arguments | ask the realm of the test, while it waits for `reply` |
| supervisor | expired | work/number | as on the lifeline, for a worker that waits for `reply`: see `Alarm` in `realm` |
| worker | tests | (name, source) pairs | the answer to `discover` |
| worker | broken | failure JSON | the module could not be evaluated |
| worker | start | index; nothing for a function | the first test of `run`, or the function of `invoke`, begins |
| worker | log | level, JSON text | one line that the running test printed |
| worker | failed | name of the test or subtest, JSON | a failure, which `result` will have too, if it comes |
| worker | call | number, process name, JSON arguments, world | a host call; the worker waits for `reply` |
| worker | backed | number, JSON envelope, world | the answer to the `back` with this number |
| worker | library | number, script id | asks for the code of another script; the worker waits for `reply` |
| worker | reached | rounds, mutants, endless, values | where mutants were reached in the test whose `result` follows |
| worker | story | JSON of `Story.lines` | what scripts told until the `result`, `broken` or `returned` that follows |
| worker | result | index, outcome JSON, next index or nothing | a test has ended; the next one, if any, begins |
| worker | returned | JSON | the result of `invoke` |

`world` is JSON of `WorldState` in `bindings/src/mocks/world-state.ts`: the mocks, clock and seed of the test. It is
empty if the test has none of these.

All texts are made by `JSON.stringify` or by the compiler, so they never contain half of a surrogate pair."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


HEADER_LIMIT = 4 * 1024 * 1024
"""Greatest length of a header in bytes; that of a module with 200 000 functions is shorter."""
SHOWN = 60
"""At most this many bytes of an invalid header are shown in an error."""

Frame = tuple[str, list[str]]
"""The kind and the parts of a message."""


class MessageError(Exception):
    """A worker has sent something that no worker sends, or not then."""


def encode(kind: str, *parts: str) -> bytes:
    """The bytes of one frame."""
    blobs = [part.encode() for part in parts]
    header = " ".join([kind, *[str(len(blob)) for blob in blobs]])
    return b"".join([header.encode(), b"\n", *blobs])


class FrameReader:
    """Cuts a byte stream into frames."""

    def __init__(self, limit: int | None = None) -> None:
        """`limit` is how many bytes the parts of one frame may have; None: the sender is trusted."""
        self._limit = limit
        self._buffer = bytearray()
        self._missing = 0

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are complete once `data` has arrived. Raises MessageError when the stream is not frames, or
        a frame is longer than the limit: nothing can be read from it any more."""
        buffer = self._buffer
        buffer += data
        if len(buffer) < self._missing:
            return
        start = 0
        self._missing = 0
        while (end := buffer.find(b"\n", start)) >= 0:
            kind, lengths = _header(bytes(buffer[start:end]))
            size = sum(lengths)
            if self._limit is not None and size > self._limit:
                raise MessageError(f"a message of {size} bytes, and {self._limit} are the most")
            if len(buffer) < end + 1 + size:
                self._missing = end + 1 + size - start
                break
            start = end + 1
            parts = []
            try:
                for length in lengths:
                    parts.append(buffer[start : start + length].decode())
                    start += length
            except UnicodeDecodeError as error:
                raise MessageError(str(error)) from error
            yield kind, parts
        else:
            if self._limit is not None and len(buffer) - start > HEADER_LIMIT:
                raise MessageError(f"a message without a header in its first {HEADER_LIMIT} bytes")
        del buffer[:start]


def _header(line: bytes) -> tuple[str, list[int]]:
    """The kind of a frame and the lengths of its parts. Raises MessageError."""
    kind, *sizes = line.split(b" ")
    if not kind.isalpha() or (sizes and not (b"".join(sizes).isdigit() and all(sizes))):
        raise MessageError(f"a header of another form: {line[:SHOWN].decode(errors='backslashreplace')!r}")
    try:
        return kind.decode(), [int(size) for size in sizes]
    except ValueError as error:
        raise MessageError(str(error)) from error
