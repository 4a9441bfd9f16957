"""A model server for benchmarks: answers every chat request with the same words after a fixed delay, at little cost.

python tests/bench/slow_model.py MILLISECONDS [SIZE]     prints its port, and serves until its standard input ends; so
                                                         many letters are added to the answer
"""

from __future__ import annotations

import asyncio
import json
import sys

_ANSWER = {"id": "1", "model": "bench", "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
_CHOICE = {"index": 0, "message": {"role": "assistant", "content": "the limit is 60"}, "finish_reason": "stop"}
_DELTAS = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "the limit "}}]},
    {"choices": [{"index": 0, "delta": {"content": "is 60"}, "finish_reason": "stop"}]},
    {"choices": []},
]


def _response(kind: str, body: bytes) -> bytes:
    return f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


PIECE = 1000
"""Letters of a piece of a long answer."""


def _events(size: int) -> bytes:
    more = [{"choices": [{"index": 0, "delta": {"content": "abcdefghi " * (PIECE // 10)}}]}] * (size // PIECE)
    deltas = [_DELTAS[0], *more, *_DELTAS[1:]]
    return b"".join(b"data: %s\n\n" % json.dumps(_ANSWER | delta).encode() for delta in deltas) + b"data: [DONE]\n\n"


PLAIN = _response("application/json", json.dumps(_ANSWER | {"choices": [_CHOICE]}).encode())


class Model(asyncio.Protocol):
    """One connection."""

    delay = 0.0
    streamed = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), 0)
            if len(self._buffer) < end + 4 + length:
                return
            body = self._buffer[end + 4 : end + 4 + length]
            self._buffer = self._buffer[end + 4 + length :]
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        answer = Model.streamed if b'"stream":true' in body.replace(b" ", b"") else PLAIN
        if Model.delay:
            asyncio.get_running_loop().call_later(Model.delay, self._transport.write, answer)
        else:
            self._transport.write(answer)


async def main(milliseconds: float, size: int) -> None:
    Model.delay = milliseconds / 1000
    Model.streamed = _response("text/event-stream", _events(size))
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Model, "127.0.0.1", 0, backlog=1000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]), int((sys.argv[2:] or ["0"])[0])))
