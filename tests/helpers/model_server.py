"""A local server that plays a model's provider: OpenAI's and Anthropic's protocols, streamed and not, and every way to fail.

    with ModelServer() as server:
        server.plan(status(429, "slow down", {"retry-after": "2"}), says("hello"))
        ...                              # calls to server.url
        server.requests[0].body["model"]

Each request takes the next planned behaviour; when none is left, the default, which answers `echo: <last user text>`.
Behaviours that answer follow the request: path `/v1/messages` or `/v1/chat/completions`, `stream` or not. It runs on a
thread of its own, so that tests in this process, commands and benchmarks can call it.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple

from command import PATIENCE, eventually


class Request(NamedTuple):
    """What the server was asked."""

    method: str
    path: str
    headers: dict[str, str]
    """By lower-case name."""
    body: Any
    """Parsed JSON, else text."""
    connection: int
    """Number of the connection, from 1."""

    @property
    def last_text(self) -> str:
        """Text of the last user message."""
        for message in reversed(self.body.get("messages", [])):
            if message.get("role") == "user":
                content = message["content"]
                return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
        return ""


class Exchange:
    """One request and the way to answer it."""

    def __init__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        self.request = request
        self.ended = False
        self._writer = writer

    async def write(self, data: bytes) -> None:
        """Bytes as they are."""
        self._writer.write(data)
        await self._writer.drain()

    async def head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} Status", *(f"{name}: {value}" for name, value in headers.items())]
        await self.write("\r\n".join([*lines, "", ""]).encode())

    async def respond(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """A whole response."""
        fields = {"content-type": "application/json", **(headers or {}), "content-length": str(len(body))}
        await self.head(status, fields)
        await self.write(body)

    async def start_stream(self) -> None:
        await self.head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})

    async def chunk(self, data: bytes) -> None:
        await self.write(b"%x\r\n%s\r\n" % (len(data), data))

    async def end_stream(self) -> None:
        await self.write(b"0\r\n\r\n")

    def close(self) -> None:
        """Ends the connection after what was written."""
        self.ended = True

    def reset(self) -> None:
        """Ends the connection the hard way."""
        self.ended = True
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


Behaviour = Callable[[Exchange], Awaitable[None]]


class ModelServer:
    """Serves until `with` ends."""

    def __init__(self, default: Behaviour | None = None) -> None:
        self.default: Behaviour = default or echo()
        self.requests: list[Request] = []
        self.connections = 0
        self.hang_ups = threading.Semaphore(0)
        """Released for every caller that goes away before its answer is complete."""
        self.arrivals = threading.Semaphore(0)
        """Released for every request."""
        self._planned: list[Behaviour] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def plan(self, *behaviours: Behaviour) -> None:
        """What the next requests meet, in order."""
        self._planned += behaviours

    def saw_hang_up(self) -> bool:
        """Waits until a caller has closed its connection before the answer was complete."""
        return self.hang_ups.acquire(timeout=PATIENCE)

    def wait_for_quiet(self) -> None:
        """Waits until everything that was sent has been read, and all callers have closed their connections."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as last:
            last.shutdown(socket.SHUT_WR)
            last.recv(1)  # connections are accepted in their order
        eventually(lambda: not self._tasks, "all callers go away")

    def __enter__(self) -> ModelServer:
        self._thread.start()
        starting = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=1024), self._loop
        )
        self._server = starting.result(PATIENCE)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    async def _stop(self) -> None:
        await settle()  # a connection that is accepted while the server closes is lost unclosed
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()
        await settle()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self._writers.add(writer)
        self.connections += 1
        try:
            await self._serve(reader, writer, self.connections)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        while True:
            request = await _read_request(reader, number)
            self.requests.append(request)
            self.arrivals.release()
            behaviour = self._planned.pop(0) if self._planned else self.default
            exchange = Exchange(request, writer)
            if not await self._answer(behaviour, exchange, reader) or exchange.ended:
                return

    async def _answer(self, behaviour: Behaviour, exchange: Exchange, reader: asyncio.StreamReader) -> bool:
        """Whether the caller stayed to the end."""
        answering = asyncio.ensure_future(behaviour(exchange))
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done() and not answering.exception():
                return True
            self.hang_ups.release()
            return False
        finally:
            for task in (answering, leaving):
                task.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)


async def settle() -> None:
    """Lets the loop close the sockets that were given up."""
    for _ in range(10):
        await asyncio.sleep(0)


async def _read_request(reader: asyncio.StreamReader, number: int) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    try:
        parsed: Any = json.loads(body)
    except ValueError:
        parsed = body.decode("utf-8", "replace")
    return Request(method=method, path=path, headers=headers, body=parsed, connection=number)


def echo(delay: float = 0.0) -> Behaviour:
    """Answers `echo: <last user text>` after so many seconds."""

    async def behave(exchange: Exchange) -> None:
        await says(f"echo: {exchange.request.last_text}", delay=delay)(exchange)

    return behave


def says(
    text: str = "",
    *,
    tool_calls: Iterable[tuple[str, str, str]] = (),
    reasoning: str = "",
    finish: str | None = None,
    delay: float = 0.0,
    cut_after: int | None = None,
    reset_after: int | None = None,
    hold_after: int | None = None,
) -> Behaviour:
    """An answer in the protocol that was asked for.

    Args:
        text: Content.
        tool_calls: Id, name and arguments (JSON text) of each.
        reasoning: What comes before the content.
        finish: Finish reason; by default `stop` or `tool_calls`.
        delay: Seconds before the answer.
        cut_after: Ends a stream after so many events, without its end.
        reset_after: As cut_after, with a reset of the connection.
        hold_after: Falls silent after so many events, forever.
    """
    calls = list(tool_calls)

    async def behave(exchange: Exchange) -> None:
        if delay:
            await asyncio.sleep(delay)
        protocol = _anthropic if exchange.request.path.endswith("/messages") else _openai
        whole, events = protocol(exchange.request.body.get("model", ""), text, calls, reasoning, finish)
        if not exchange.request.body.get("stream"):
            await exchange.respond(200, json.dumps(whole).encode())
            return
        await exchange.start_stream()
        for number, event in enumerate(events):
            if number == cut_after:
                return exchange.close()
            if number == reset_after:
                return exchange.reset()
            if number == hold_after:
                await asyncio.Event().wait()
            await exchange.chunk(event)
        await exchange.end_stream()

    return behave


def in_pieces(behaviour: Behaviour, size: int = 3) -> Behaviour:
    """The same, where each event of a stream comes in pieces of so many bytes."""

    async def behave(exchange: Exchange) -> None:
        chunk = exchange.chunk

        async def cut(data: bytes) -> None:
            for start in range(0, len(data), size):
                await chunk(data[start : start + size])

        exchange.chunk = cut  # type: ignore[method-assign]
        await behaviour(exchange)

    return behave


def sends(*events: Any, done: bool = True) -> Behaviour:
    """A stream of these events: values, or texts that are sent as they are."""

    async def behave(exchange: Exchange) -> None:
        await exchange.start_stream()
        for event in events:
            await exchange.chunk(event.encode() if isinstance(event, str) else _event(event))
        if done:
            await exchange.chunk(b"data: [DONE]\n\n")
        await exchange.end_stream()

    return behave


def status(code: int, message: str = "", headers: Mapping[str, str] | None = None) -> Behaviour:
    """A refusal in the form that both protocols share."""
    return body(code, {"error": {"message": message, "type": "error"}}, headers)


def body(code: int, content: Any, headers: Mapping[str, str] | None = None) -> Behaviour:
    """A response with this content: a value, or text that is sent as it is."""

    async def behave(exchange: Exchange) -> None:
        data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
        await exchange.respond(code, data, headers)

    return behave


def completes(choice: Any, usage: Any = None) -> Behaviour:
    """A completion in OpenAI's form, in one piece, with this choice and, unless it is None, this usage."""
    return body(200, {"model": "m", "choices": [choice], **({} if usage is None else {"usage": usage})})


def raw(data: bytes, reset: bool = False) -> Behaviour:
    """These bytes instead of a response, then the end of the connection."""

    async def behave(exchange: Exchange) -> None:
        await exchange.write(data)
        exchange.reset() if reset else exchange.close()

    return behave


def silence() -> Behaviour:
    """No answer, ever."""

    async def behave(exchange: Exchange) -> None:
        await asyncio.Event().wait()

    return behave


def large(size: int) -> Behaviour:
    """A completion whose content has so many characters, in one piece."""
    return says("x" * size)


def _event(value: Any, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()


def _pieces(text: str) -> list[str]:
    half = (len(text) + 1) // 2
    return [piece for piece in (text[:half], text[half:]) if piece]


def _openai(
    model: str, text: str, calls: list[tuple[str, str, str]], reasoning: str, finish: str | None
) -> tuple[Any, list[bytes]]:
    finish = finish or ("tool_calls" if calls else "stop")
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4}}
    functions = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    message = {"role": "assistant", "content": text or None, "reasoning_content": reasoning, "tool_calls": functions}
    shared = {"id": "chatcmpl-1", "model": model}
    choice = {"index": 0, "message": {key: value for key, value in message.items() if value}, "finish_reason": finish}
    whole = {**shared, "object": "chat.completion", "choices": [choice], "usage": usage}

    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in _pieces(reasoning)]
    deltas += [{"content": piece} for piece in _pieces(text)]
    for index, (id, name, arguments) in enumerate(calls):
        start = {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
        deltas.append({"tool_calls": [start]})
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": p}}]} for p in _pieces(arguments)]
    chunks: list[Any] = [{**shared, "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    chunks.append({**shared, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    chunks.append({**shared, "choices": [], "usage": usage})
    return whole, [*map(_event, chunks), b"data: [DONE]\n\n"]


def _anthropic(
    model: str, text: str, calls: list[tuple[str, str, str]], reasoning: str, finish: str | None
) -> tuple[Any, list[bytes]]:
    finish = finish or ("tool_use" if calls else "end_turn")
    usage = {"input_tokens": 5, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 4, "output_tokens": 7}
    content: list[dict[str, Any]] = []
    deltas: list[list[dict[str, Any]]] = []
    if reasoning:
        content.append({"type": "thinking", "thinking": reasoning, "signature": "s"})
        thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(reasoning)]
        deltas.append([*thoughts, {"type": "signature_delta", "signature": "s"}])
    if text:
        content.append({"type": "text", "text": text})
        deltas.append([{"type": "text_delta", "text": piece} for piece in _pieces(text)])
    for id, name, arguments in calls:
        content.append({"type": "tool_use", "id": id, "name": name, "input": json.loads(arguments)})
        deltas.append([{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(arguments)])
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model}
    whole = {**message, "content": content, "stop_reason": finish, "usage": usage}

    start = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    empty = {"thinking": {"thinking": "", "signature": ""}, "text": {"text": ""}, "tool_use": {"input": {}}}
    for index, (block, pieces) in enumerate(zip(content, deltas, strict=True)):
        opened = {**block, **empty[block["type"]]}
        events.append({"type": "content_block_start", "index": index, "content_block": opened})
        events += [{"type": "content_block_delta", "index": index, "delta": piece} for piece in pieces]
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": finish}, "usage": {"output_tokens": 7}})
    events.append({"type": "message_stop"})
    return whole, [_event(event, event["type"]) for event in events]
