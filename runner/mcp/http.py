"""HTTP requests for MCP servers that always end as an answer.

The SDK's transports take a failing request for the end of the whole connection, or, when an event stream breaks off,
wait for an answer that cannot come. So a request that fails is answered here, with a JSON-RPC error of its own.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx

LOST = -32050
"""Code of the JSON-RPC errors that are made here."""
SECONDS = 30.0
"""Time to connect and to send. An answer may take as long as the caller waits."""
_SHOWN = 300


class Client(httpx.AsyncClient):
    """Answers every POST.

    Args:
        headers: sent with each request
        fail: for the transport `sse`, where answers come another way: called with the reason of a failure
    """

    def __init__(self, headers: dict[str, str], fail: Callable[[str], None] | None = None) -> None:
        super().__init__(headers={"accept-encoding": "identity", **headers}, timeout=httpx.Timeout(SECONDS, read=None))
        self._fail = fail

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Sends a request; see httpx."""
        if request.method != "POST":
            return await super().send(request, **options)
        try:
            response = await super().send(request, **options)
        except httpx.HTTPError as error:
            return self._answer(request, reason(error))
        session_ended = response.status_code == 404 and "mcp-session-id" in request.headers
        if response.status_code >= 400 and not session_ended:
            return self._answer(request, await _refusal(response))
        if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            assert isinstance(response.stream, httpx.AsyncByteStream)
            response.stream = _Stream(response.stream, _request_id(request))
        return response

    def _answer(self, request: httpx.Request, why: str) -> httpx.Response:
        if self._fail is not None:
            self._fail(why)
        id = _request_id(request)
        if id is None:
            return httpx.Response(202, request=request)
        return httpx.Response(200, request=request, json=_error(id, why))


class _Stream(httpx.AsyncByteStream):
    """An event stream whose early end is an answer, unless the SDK can take it up again by the id of an event."""

    def __init__(self, inner: httpx.AsyncByteStream, id: Any) -> None:
        self._inner = inner
        self._id = id

    async def __aiter__(self) -> AsyncIterator[bytes]:
        resumable = False
        why = "the server ended its answer too early"
        try:
            async for chunk in self._inner:
                resumable = resumable or chunk.startswith(b"id:") or b"\nid:" in chunk
                yield chunk
        except httpx.HTTPError as error:
            if resumable:
                raise
            why = reason(error)
        if not resumable and self._id is not None:
            yield b"\n\nevent: message\ndata: " + json.dumps(_error(self._id, why)).encode() + b"\n\n"

    async def aclose(self) -> None:
        await self._inner.aclose()


def reason(error: BaseException) -> str:
    """Why a request failed, without the address and what may be in it."""
    if isinstance(error, httpx.HTTPStatusError):
        return f"it answered HTTP {error.response.status_code} {error.response.reason_phrase}".rstrip()
    if isinstance(error, httpx.TimeoutException):
        return f"no connection within {SECONDS:g} s"
    return str(error).partition("\n")[0] or type(error).__name__


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
    status = f"it answered HTTP {response.status_code} {response.reason_phrase}".rstrip()
    return f"{status}: {text}" if text else status


def _request_id(request: httpx.Request) -> Any:
    try:
        message = json.loads(request.content)
    except (ValueError, httpx.RequestNotRead):
        return None
    return message.get("id") if isinstance(message, dict) and "method" in message else None


def _error(id: Any, why: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": LOST, "message": why}}
