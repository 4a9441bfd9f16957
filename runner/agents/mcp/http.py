"""HTTP requests for MCP servers that always end with an answer.

If one request fails, the SDK's clients end the whole connection with all its running calls. If a server answers with
something other than the protocol, or its stream of events breaks off, they wait forever. So this module answers failed
requests with an error of the call. It also limits how much a server may send at once, as for stdio."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from runner.assertions.results import shorten
from runner.assertions.values import parsed
from runner.connectors.http import AnswerTooLarge, EventReader, HttpError, Proxies
from runner.connectors.httpx_requests import errors_of, transport_for
from runner.security.keys import Credential

FAILED = -32050
"""Code of the JSON-RPC errors that are made here."""
SECONDS = 30.0
"""Time to connect and to send. An answer may take as long as the caller waits."""
NO_REPLY = "that is not part of the protocol"
_SHOWN = 300

Failed = Callable[[int | str | None, str, bool], None]
"""Hears of a request that failed: its id, why, and whether that is because the server does not know the session."""


def client(
    url: str, credential: Credential | None, variables: Mapping[str, str], longest: int, failed: Failed
) -> httpx.AsyncClient:
    """Makes the client for the SDK.

    Args:
        url: the server's; the SDK asks no other host
        credential: sent with each request to its origin
        variables: the environment, with the proxies
        longest: most bytes of an answer, and of a line in a stream of events
        failed: called with failures"""
    parts = urlsplit(url)
    proxy = Proxies.from_variables(variables).find(parts.scheme, parts.netloc.rpartition("@")[2])
    return httpx.AsyncClient(
        headers={"accept-encoding": "identity"},
        timeout=httpx.Timeout(SECONDS, read=None),
        transport=_Answering(transport_for(proxy), credential, longest, failed),
    )


class _Answering(httpx.AsyncBaseTransport):
    """Answers every POST."""

    def __init__(
        self, transport: httpx.AsyncBaseTransport, credential: Credential | None, longest: int, failed: Failed
    ) -> None:
        self._transport = transport
        self._credential = credential
        self._longest = longest
        self._failed = failed

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.netloc.decode("ascii")
        id = _request_id(request.method, await request.aread())
        if self._credential is not None:
            request = _with_headers(request, self._credential.headers_for(str(request.url)))
        try:
            with errors_of(host):
                response = await self._transport.handle_async_request(request)
            kind = response.headers.get("content-type", "").lower()
            if response.status_code == 200 and kind.startswith("text/event-stream"):
                response.stream = _Events(response.stream, host, self._longest, id)
            elif request.method == "POST" and (id is not None or response.status_code >= 400):
                return await self._whole(request, response, host, id)
            return response
        except HttpError as error:
            if request.method != "POST":
                raise
            return self._error(id, str(error))

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def _whole(self, request: httpx.Request, response: httpx.Response, host: str, id: Any) -> httpx.Response:
        """The answer with its body, if that is an answer to the request, else an error of the call."""
        try:
            body = b""
            assert isinstance(response.stream, AsyncIterable)
            with errors_of(host):
                async for chunk in response.stream:
                    body += chunk
                    if len(body) > self._longest:
                        raise AnswerTooLarge(f"the response from {host} is larger than {self._longest >> 20} MB")
        finally:
            await response.aclose()
        begin, more = body[: 8 * _SHOWN], "…" if len(body) > 8 * _SHOWN else ""
        shown = quoted(begin.decode(errors="replace") + more)
        if response.status_code >= 400:
            session_ended = response.status_code == 404 and "mcp-session-id" in request.headers
            return self._error(id, f"{_status(response)}: {shown}".removesuffix(": "), session_ended)
        if response.status_code == 200 and not _is_reply(body, id):
            kind = response.headers.get("content-type", "").partition(";")[0] or "no content-type"
            return self._error(id, f"it answered {kind} {NO_REPLY}: {shown}")
        return httpx.Response(response.status_code, headers=response.headers, content=body)

    def _error(self, id: Any, why: str, session_ended: bool = False) -> httpx.Response:
        self._failed(id, why, session_ended)
        return httpx.Response(202) if id is None else httpx.Response(200, json=_error(id, why))


class _Events(httpx.AsyncByteStream):
    """A stream of events. When it ends too early, or brings a reply that the SDK cannot take, its last event is an
    error of the call that it answers, if any."""

    def __init__(self, stream: Any, host: str, longest: int, id: Any) -> None:
        self._stream = stream
        self._host = host
        self._longest = longest
        self._id = id

    async def __aiter__(self) -> AsyncIterator[bytes]:
        resumable, length = False, 0
        why = "the server closed the response too early"
        events = EventReader()
        try:
            with errors_of(self._host):
                async for chunk in self._stream:
                    end = chunk.rfind(b"\n")
                    length = len(chunk) - end - 1 if end >= 0 else length + len(chunk)
                    if length > self._longest:
                        raise AnswerTooLarge(f"the response from {self._host} is larger than {self._longest >> 20} MB")
                    resumable = resumable or chunk.startswith(b"id:") or b"\nid:" in chunk
                    wrong = None if self._id is None else self._wrong_reply(events.feed(chunk))
                    if wrong is not None:
                        resumable, why = False, f"it sent text/event-stream {NO_REPLY}: {quoted(wrong)}"
                        break
                    yield chunk
        except HttpError as error:
            if self._id is None or (resumable and not isinstance(error, AnswerTooLarge)):
                raise  # the SDK asks for the rest, by the id of the last event
            resumable, why = False, str(error)
        if not resumable and self._id is not None:
            yield b"\n\nevent: message\ndata: " + json.dumps(_error(self._id, why)).encode() + b"\n\n"

    def _wrong_reply(self, events: list[str]) -> str | None:
        """A reply among these events that is none to the request; None if there is no such reply."""
        replies = [data for data in events if reply_in(data) is not None]
        return next((data for data in replies if not _is_reply(data.encode("utf-8", "replace"), self._id)), None)

    async def aclose(self) -> None:
        await self._stream.aclose()


def _with_headers(request: httpx.Request, headers: Mapping[str, str]) -> httpx.Request:
    """Another request: whoever follows a redirect copies the headers of the one that it knows."""
    sent = httpx.Headers(request.headers)
    sent.update(headers)
    return httpx.Request(
        request.method, request.url, headers=sent, stream=request.stream, extensions=request.extensions
    )


def quoted(text: str) -> str:
    """The beginning and the end of what a server sent, in a line."""
    return shorten(" ".join(text.split()), _SHOWN)


def reply_in(text: str) -> dict[str, Any] | None:
    """The reply that a text is, which the SDK may be unable to take; None if it is something else."""
    message = parsed(text)
    is_reply = isinstance(message, dict) and "method" not in message and bool({"id", "result", "error"} & {*message})
    return message if is_reply else None


def reason(error: BaseException) -> str:
    """Why something failed, in a line."""
    if isinstance(error, httpx.HTTPStatusError):
        return _status(error.response)
    return str(error).partition("\n")[0] or type(error).__name__


def _status(response: httpx.Response) -> str:
    return f"it answered HTTP {response.status_code} {response.reason_phrase}".rstrip()


def _is_reply(body: bytes, id: Any) -> bool:
    """Whether the SDK can take a body as the reply to a request; it would wait on for another one."""
    try:
        reply = json.loads(body)
        if b"\\ud" in body.lower():
            json.dumps(reply, ensure_ascii=False).encode()  # half of a pair of surrogates is no text
    except (ValueError, RecursionError):
        return False
    if not isinstance(reply, dict) or str(reply.get("id")) != str(id):
        return False
    error = reply.get("error")
    failed = isinstance(error, dict) and type(error.get("code")) is int and isinstance(error.get("message"), str)
    return failed or isinstance(reply.get("result"), dict)


def _request_id(method: str, body: bytes) -> Any:
    if method != "POST":
        return None
    message = json.loads(body)
    return message.get("id") if "method" in message else None


def _error(id: Any, why: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": FAILED, "message": why}}
