"""Frames: what a stream of bytes is cut into, and what it may not be."""

from __future__ import annotations

import random

import pytest
from table_tests import each

from scripttest.protocol import HEADER_LIMIT, FrameReader, MessageError, encode

FRAMES = [
    ("start", ["0"]),
    ("log", ["info", '"größe 😀\\n"']),
    ("tests", []),
    ("call", ["1", "fs.data.ReadFile", '["' + "x" * 70_000 + '"]']),
    ("result", ["0", "{}\n{}", ""]),
]


@each("seed", range(20))
def test_frames_arrive_whole_however_the_stream_is_cut(seed: int) -> None:
    stream = b"".join(encode(kind, *parts) for kind, parts in FRAMES)
    numbers = random.Random(seed)
    cuts = sorted(numbers.randrange(len(stream)) for _ in range(numbers.choice([0, 1, 5, 200])))
    reader = FrameReader(1_000_000)
    heard = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        heard += list(reader.feed(stream[start:end]))
    assert heard == FRAMES


@each(
    "header",
    [
        b"log -5 5\n",
        b"log +5\n",
        b"log 1_0\n",
        b"log  5\n",
        b"log 5 \n",
        b"log 1.5\n",
        b"log \xd9\xa3\n",
        b"log " + b"9" * 5000 + b"\n",
        b"\n",
        b" 5\n",
        b"-5 5\n",
        b"l\xff 5\n",
        b"log\t5\n",
    ],
)
def test_a_header_of_another_form_is_refused(header: bytes) -> None:
    with pytest.raises(MessageError, match=r"header of another form|integer string conversion|message of"):
        list(FrameReader(1000).feed(header + b"12345"))


@pytest.mark.parametrize("sizes", ["1001", "500 501", "999999999999999999", "1 " * 1001])
def test_a_frame_above_the_limit_is_refused_before_it_arrives(sizes: str) -> None:
    with pytest.raises(MessageError, match="and 1000 are the most"):
        list(FrameReader(1000).feed(f"log {sizes.strip()}\n".encode()))


def test_a_frame_at_the_limit_arrives() -> None:
    assert list(FrameReader(1000).feed(encode("log", "x" * 400, "y" * 600))) == [("log", ["x" * 400, "y" * 600])]


def test_a_stream_without_a_header_is_not_kept() -> None:
    reader = FrameReader(1000)
    with pytest.raises(MessageError, match="without a header"):
        for _ in range(HEADER_LIMIT // 65536 + 2):
            list(reader.feed(b"x" * 65536))


def test_parts_that_are_no_text_are_refused() -> None:
    with pytest.raises(MessageError, match="utf-8"):
        list(FrameReader(1000).feed(b"log 2\n\xff\xfe"))
