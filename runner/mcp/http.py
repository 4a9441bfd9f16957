"""HTTP requests for MCP servers that always end as an answer.

The SDK's clients end the whole connection, with all calls under way, when one request fails; and when a server answers
with something else than the protocol, or its stream of events breaks off, they wait for an answer that cannot come. So
what fails is answered here, with an error of the call. What a server may send at once is bounded, as for stdio.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from typing import Any

import httpx

from bindings.processes.http import trusted_authorities
from runner.http import AnswerTooLarge, HttpError, Routes, errors_of
from runner.proxies import Proxies

FAILED = -32050
"""Code of the JSON-RPC errors that are made here."""
SECONDS = 30.0
"""Time to connect and to send. An answer may take as long as the caller waits."""
_SHOWN = 300

Failed = Callable[[int | str | None, str, bool], None]
"""Hears of a request that failed: its id, why, and whether that is because the server does not know the session."""


def client(headers: Mapping[str, str], variables: Mapping[str, str], longest: int, failed: Failed) -> httpx.AsyncClient:
    """The client to give to the SDK.

    Args:
        headers: sent with each request
        variables: the environment, with the proxies
        longest: bytes of the largest answer, and of the longest line in a stream of events
        failed: hears of failures
    """
    routes = Routes(Proxies.from_variables(variables), trusted_authorities)
    return httpx.AsyncClient(
        headers={"accept-encoding": "identity", **headers},
        timeout=httpx.Timeout(SECONDS, read=None),
        transport=_Answering(routes, longest, failed),
    )


class _Answering(httpx.AsyncBaseTransport):
    """Answers every POST."""

    def __init__(self, routes: Routes, longest: int, failed: Failed) -> None:
        self._routes = routes
        self._longest = longest
        self._failed = failed

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.netloc.decode("ascii")
        if request.method != "POST":
            with errors_of(host):
                return await self._routes.handle_async_request(request)
        id = _request_id(request)
        try:
            with errors_of(host):
                response = await self._routes.handle_async_request(request)
        except HttpError as error:
            return self._answer(request, id, str(error))
        response.request = request
        kind = response.headers.get("content-type", "").lower()
        if response.status_code >= 400:
            ended = response.status_code == 404 and "mcp-session-id" in request.headers
            return self._answer(request, id, await _refusal(response), ended)
        if id is None or response.status_code != 200:
            return response
        body = _Body(response, host, self._longest, id)
        if kind.startswith("text/event-stream"):
            response.stream = body
            return response
        try:
            content = await body.json()
        except (HttpError, ValueError) as error:
            return self._answer(request, id, str(error))
        return httpx.Response(200, headers={"content-type": "application/json"}, content=content)

    async def aclose(self) -> None:
        await self._routes.aclose()

    def _answer(self, request: httpx.Request, id: Any, why: str, session_ended: bool = False) -> httpx.Response:
        self._failed(id, why, session_ended)
        return httpx.Response(202) if id is None else httpx.Response(200, json=_error(id, why))


class _Body(httpx.AsyncByteStream):
    """The answer to a request: a stream of events whose early end is an error of the call, or one JSON text."""

    def __init__(self, response: httpx.Response, host: str, longest: int, id: Any) -> None:
        self._response = response
        self._inner = response.stream
        self._host = host
        self._longest = longest
        self._id = id

    async def json(self) -> bytes:
        """The JSON text. Raises HttpError, and ValueError when it is none."""
        kind = self._response.headers.get("content-type", "").partition(";")[0] or "no content-type"
        body = b""
        try:
            async for chunk in self._chunks():
                body += chunk
                self._check(len(body))
        finally:
            await self.aclose()
        try:
            if isinstance(json.loads(body), dict):
                return body
        except (ValueError, RecursionError):
            pass
        shown = " ".join(body[:_SHOWN].decode(errors="replace").split())
        raise ValueError(f"it answered {kind} that is not of the protocol: {shown}")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        resumable = False
        why = "the server ended its answer too early"
        length = 0
        try:
            async for chunk in self._chunks():
                end = chunk.rfind(b"\n")
                length = len(chunk) - end - 1 if end >= 0 else length + len(chunk)
                self._check(length)
                resumable = resumable or chunk.startswith(b"id:") or b"\nid:" in chunk
                yield chunk
        except HttpError as error:
            if resumable and not isinstance(error, AnswerTooLarge):
                raise  # the SDK asks for the rest, by the id of the last event
            resumable, why = False, str(error)
        if not resumable:
            yield b"\n\nevent: message\ndata: " + json.dumps(_error(self._id, why)).encode() + b"\n\n"

    async def aclose(self) -> None:
        assert isinstance(self._inner, httpx.AsyncByteStream)
        await self._inner.aclose()

    async def _chunks(self) -> AsyncIterator[bytes]:
        assert isinstance(self._inner, AsyncIterable)
        with errors_of(self._host):
            async for chunk in self._inner:
                yield chunk

    def _check(self, length: int) -> None:
        if length > self._longest:
            raise AnswerTooLarge(f"the answer of {self._host} exceeds {self._longest} bytes")


async def _refusal(response: httpx.Response) -> str:
    body = b""
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > _SHOWN:
                break
    except httpx.HTTPError:
        pass  # the status says enough
    await response.aclose()
    text = " ".join(body[:_SHOWN].decode(errors="replace").split())
    status = _status(response)
    return f"{status}: {text}" if text else status


def reason(error: BaseException) -> str:
    """Why something failed, in a line."""
    if isinstance(error, httpx.HTTPStatusError):
        return _status(error.response)
    return str(error).partition("\n")[0] or type(error).__name__


def _status(response: httpx.Response) -> str:
    return f"it answered HTTP {response.status_code} {response.reason_phrase}".rstrip()


def _request_id(request: httpx.Request) -> Any:
    try:
        message = json.loads(request.content)
    except (ValueError, httpx.RequestNotRead):
        return None
    return message.get("id") if isinstance(message, dict) and "method" in message else None


def _error(id: Any, why: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": FAILED, "message": why}}
