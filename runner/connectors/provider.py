"""What connectors over HTTP share: calls with limits and retries."""

from __future__ import annotations

import json
import re
from asyncio import CancelledError
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

from runner.amounts import Estimate
from runner.connectors.base import Completion, Connector, ConnectorError, ModelRequest, Usage
from runner.connectors.definition import Definition
from runner.connectors.faults import BROKEN_OFF, NO_CREDIT, UNPAID, Faults, ProviderError, message_in
from runner.connectors.http import (
    CannotConnect,
    ConnectionLost,
    ConnectTimeout,
    EventReader,
    HttpError,
    HttpTimeout,
    LocalLimit,
    endpoint_of,
)
from runner.connectors.http_client import READ_SECONDS, HttpClient
from runner.connectors.http_connection import Response
from runner.connectors.limits import (
    LONGEST_WAIT,
    RETRIES,
    Circuit,
    GlobalLimit,
    has_time,
    retry_after,
    with_retries,
)
from runner.connectors.usage import Answering, Timing, UsageReader, short_json
from runner.security.keys import Credential

_BEFORE_JSON = BOM_UTF8 + b" \t\r\n"
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_MISSHAPEN = (AttributeError, KeyError, TypeError, ValueError)
"""What reading JSON raises that has another shape than expected."""
Listener = Callable[[str], None]
CACHE_WRITES = (1.25, 2.0)
"""What a token costs that is written to the cache for five minutes, and for an hour, as a factor of the price of an
input token: docs.anthropic.com/en/docs/build-with-claude/prompt-caching."""


class Answer:
    """Puts an answer together, of the events of a stream or of one piece."""

    reason_name = "finish_reason"
    """What the host calls the reason why an answer ends."""

    def __init__(self) -> None:
        self._id = self._model = ""
        self._reason: Any = None
        self._said_usage: Any = None

    def feed(self, event: dict[str, Any]) -> str:
        """Takes an event of a stream; gives the piece of content in it. Raises ProviderError."""
        raise NotImplementedError

    def whole(self, value: dict[str, Any]) -> None:
        """Takes an answer that came in one piece. Raises ProviderError."""
        raise NotImplementedError

    @property
    def complete(self) -> bool:
        """Whether the stream said that it had reached its end."""
        return self._reason is not None

    @property
    def has_message(self) -> bool:
        """Whether the answer says anything at all: a content, though it may be empty, a refusal, or a call of a tool.
        For when it has ended."""
        return True

    def completion(self) -> Completion:
        """The completion that was received; its warnings do not name the connector."""
        figures, reason = UsageReader(self._said_usage), self._reason
        usage, odd = self._usage(figures), tuple[str, ...]()
        if not isinstance(reason, str | None):
            odd = (f"gave a {self.reason_name} that is not a string: {short_json(reason)}",)
            reason = None
        return Completion(
            **self._said(),
            finish_reason=reason or "",
            usage=usage,
            model=self._model,
            id=self._id,
            warnings=(*figures.warnings, *odd),
        )

    def _name(self, said: dict[str, Any]) -> None:
        """Takes the id of the answer and the name of the model, where they are said first."""
        self._id = self._id or str(said.get("id") or "")
        self._model = self._model or str(said.get("model") or "")

    def _said(self) -> dict[str, Any]:
        """`content`, `reasoning`, `refusal` and `tool_calls` of the completion, as far as there are any."""
        raise NotImplementedError

    def _usage(self, figures: UsageReader) -> Usage:
        """The usage, by the figures of the host."""
        raise NotImplementedError


class HttpConnector(Connector):
    """Base of the connectors that speak HTTP; each says how to write a request and how to read an answer."""

    default_host = ""
    default_auth = "bearer"
    path = ""
    """Below `/v1/`."""
    answer: type[Answer]
    """What puts its answers together."""
    needs = "model"
    """The option that its file must have."""
    example = "Set the model to use"
    """What to write there."""

    def __init__(self, definition: Definition, client: HttpClient, timing: Timing, limit: GlobalLimit) -> None:
        """Opens nothing yet; `limit` is shared by all connectors. Raises ConfigurationError when the proxy on the way
        cannot be used."""
        options = definition.options
        self.id = definition.id
        self.definition = definition
        self.options = options
        self.model: str = options.get("model", "")
        self._client = client
        self._timing = timing
        self._global_limit = limit
        host = options.get("host") or options.get("proxy") or self.default_host
        self._url = f"{host}{self.path}" if host.endswith("/") else f"{host}/v1/{self.path}"
        self.endpoint = endpoint_of(self._url)
        self._credential = Credential(url=self._url, headers=self._auth())
        client.check(self._url)
        self._host = urlsplit(self._url).netloc.rpartition("@")[2]
        self.faults = Faults(definition, self._host)
        """Makes its errors."""
        self._limits = limit.limits(definition.id, options, timing)
        self._circuit = Circuit(definition.id, timing)
        self._shortest: float | None = None
        """Seconds of the quickest answer so far."""

    async def complete(self, request: ModelRequest) -> Completion:
        """Asks the model. Raises ConnectorError.

        If a stream breaks off and the call is made again, `on_chunk` gets the new answer from the position up to which
        it had the first one. Only the content of the completion is reliable."""
        body = self.write(request)
        payload = _compact(body).encode("utf-8", "replace")
        headers = {
            "content-type": "application/json",
            "accept-encoding": "identity",
            "user-agent": "yao-test",
            **self.headers(request),
        }
        listener = ResumableListener(request.on_chunk or (lambda _: None))

        call = object()

        async def attempt() -> Completion:
            await self._limits.again()
            self._circuit.check()
            await self._limits.turn()
            async with self._global_limit.one():
                self._circuit.begin()
                listener.restart()
                with Answering():
                    return await self._attempt(call, headers, payload, listener)

        async with self._limits:
            retries = self.options.get("retries", RETRIES)
            return await with_retries(attempt, retries, self._timing, lambda: self._shortest or 0.0)

    def forget_outage(self) -> None:
        """Lets the next call try the host again, if it was down."""
        self._circuit.reached()

    def write(self, request: ModelRequest) -> dict[str, Any]:
        """The body of the request. Raises ConnectorError when the provider has no form for a part of it."""
        raise NotImplementedError

    def headers(self, request: ModelRequest) -> dict[str, str]:
        """Headers in addition to those that every request has."""
        return {}

    def streams(self, request: ModelRequest) -> bool:
        """Whether to ask for a stream."""
        options = self.options
        capable = options.get("capabilities", {}).get("streaming", True)
        wanted = request.parameters.get("stream", options.get("streaming", options.get("stream", capable)))
        return wanted is not False

    def priced(self, usage: Usage) -> Usage:
        """The usage with its cost, when the connector file names prices and the provider does not."""
        price = self.options.get("price")
        if usage.cost is not None or usage.unknown or not price:
            return usage
        input = price.get("input", 0)
        fresh = max(0, usage.input_tokens - usage.cached_tokens - usage.written_tokens) * input
        cost = fresh + usage.cached_tokens * price.get("cached", input) + usage.output_tokens * price.get("output", 0)
        if "cache_write" in price:
            return usage.replace(cost=(cost + usage.written_tokens * price["cache_write"]) / 1e6)
        hour = min(usage.written_for_an_hour, usage.written_tokens)
        written = ((usage.written_tokens - hour) * CACHE_WRITES[0] + hour * CACHE_WRITES[1]) * input
        return usage.replace(cost=Estimate((cost + written) / 1e6) if written else cost / 1e6)

    def _auth(self) -> dict[str, str]:
        key = self.options.get("key")
        if not key:
            return {}
        mode = self.options.get("auth_mode", self.default_auth)
        if mode == "bearer" and "@" in urlsplit(self._url).netloc:
            return {}  # the address has a login of its own, for the same header
        return {"authorization": f"Bearer {key}"} if mode == "bearer" else {mode: key}

    async def _attempt(
        self, call: object, headers: dict[str, str], payload: bytes, listener: ResumableListener
    ) -> Completion:
        """Makes a call once; the bounds, and what is known of the host, learn from how it ends."""
        began = self._timing.monotonic()
        try:
            completion = await self._exchange(headers, payload, listener)
        except CancelledError:
            if not listener.is_answered and not has_time(0.0, self._timing):
                self._circuit.unreachable(call, began, self.faults.silent())
            raise
        except ConnectorError as error:
            no_answer = CannotConnect | (ConnectTimeout if listener.is_answered else HttpTimeout)
            if error.retryable and isinstance(error.__cause__, no_answer):
                error.unreached = True
                self._circuit.unreachable(call, began, error)
                error.retryable = not self._circuit.is_open
            elif not isinstance(error.__cause__, LocalLimit):
                self._circuit.reached()
            if error.status == 429:
                asked = error.retry_after
                self._limits.refused(began, asked if asked and asked <= LONGEST_WAIT else None)
            raise
        self._circuit.reached()
        self._limits.answered(completion.usage.input_tokens + completion.usage.output_tokens)
        seconds = self._timing.monotonic() - began
        self._shortest = seconds if self._shortest is None else min(seconds, self._shortest)
        return completion

    async def _exchange(self, headers: dict[str, str], payload: bytes, listener: ResumableListener) -> Completion:
        """Sends a request and reads its answer."""
        answer = self.answer()
        seconds = float(self.options.get("timeout", READ_SECONDS))
        try:
            with closing(await self._client.post(self._url, headers, payload, seconds, self._credential)) as response:
                listener.is_answered = True
                if response.status != 200:
                    raise await self._refusal(response)
                if "text/event-stream" in response.headers.get("content-type", "").lower():
                    await self._read_stream(response, answer, listener)
                else:
                    self._take(await response.read(), answer, listener)
        except HttpError as error:
            raise self.faults.failed(error) from error
        except ProviderError as error:
            raise self.faults.answered(error.status, str(error), "answered with an error") from error
        completion = answer.completion()
        if completion.ending == "error":
            what = f"ended its response with finish_reason {completion.finish_reason}"
            raise self.faults.answered(BROKEN_OFF, "", what)
        usage = self.priced(completion.usage)
        if not answer.has_message:
            raise self.faults.mute(completion.replace(usage=usage))
        if usage is completion.usage and completion.model and not completion.warnings:
            return completion
        warnings = tuple(f"{self.id} {warning}" for warning in completion.warnings)
        return completion.replace(usage=usage, model=completion.model or self.model, warnings=warnings)

    async def _read_stream(self, response: Response, answer: Answer, listener: Listener) -> None:
        events, body, first = EventReader(), list[bytes](), b""
        async for chunk in response:
            first = first or chunk.lstrip(_BEFORE_JSON)[:1]
            if first == b"{":  # no event begins so: it is JSON, whatever it is called
                body.append(chunk)
            elif self._feed(events.feed(chunk), answer, listener):
                await response.drain()
                return
        if body:
            self._take(b"".join(body), answer, listener)
        else:
            self._end(events.end(), answer, listener)

    def _take(self, body: bytes, answer: Answer, listener: Listener) -> None:
        """Takes a body that is not called a stream, but may be one."""
        text = body.decode("utf-8-sig", "replace").strip()
        if text.startswith(("data:", "event:", "id:", "retry:", ":")):
            events = EventReader()
            if not self._feed(events.feed(body), answer, listener):
                self._end(events.end(), answer, listener)
            return
        lines = text.split("\n")
        if len(lines) > 1 and all(map(_is_json, filter(None, lines))):
            self._end([line for line in lines if line], answer, listener)
            return
        value = self._object(text)
        try:
            answer.whole(value)
            content = answer.completion().content
        except _MISSHAPEN as error:
            raise self._misshapen(text) from error
        listener(content)

    def _end(self, events: list[str], answer: Answer, listener: Listener) -> None:
        """Takes the event with which a stream ended, unless it was cut in the middle of it."""
        whole = [data for data in events if data.strip() in ("", "[DONE]") or _is_json(data)]
        if not self._feed(whole, answer, listener) and not answer.complete:
            raise ConnectionLost(f"the stream of {self._host} ended before the response was complete")

    def _feed(self, events: list[str], answer: Answer, listener: Listener) -> bool:
        """Whether the end was reached."""
        for data in events:
            data = data.strip()
            if data == "[DONE]":
                return True
            if not data:
                continue
            event = self._object(data)
            try:
                piece = answer.feed(event)
            except _MISSHAPEN as error:
                raise self._misshapen(data) from error
            if piece:
                listener(piece)
        return False

    def _misshapen(self, text: str) -> ConnectorError:
        return self.faults.unreadable("JSON of an unexpected shape", text)

    def _object(self, text: str) -> dict[str, Any]:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.faults.no_json(text) from error
        if not isinstance(value, dict):
            raise self.faults.unreadable("JSON that is not an object", text)
        return value

    async def _refusal(self, response: Response) -> ConnectorError:
        body = (await response.read()).decode("utf-8-sig", "replace")
        status = UNPAID if any(words in body for words in NO_CREDIT) else response.status
        error = self.faults.answered(status, message_in(body), f"answered {response.status}")
        if error.retryable:
            error.retry_after = retry_after(response.headers, self._timing)
        return error


class ResumableListener:
    """Hears an answer that may begin again, and passes on what goes beyond what was heard before."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._heard = 0
        self._position = 0
        self.is_answered = False
        """Whether the host has begun to answer."""

    def restart(self) -> None:
        """The answer begins again."""
        self._position, self.is_answered = 0, False

    def __call__(self, text: str) -> None:
        """The next piece of the answer."""
        known = max(0, self._heard - self._position)
        self._position += len(text)
        if len(text) > known:
            self._heard = self._position
            self._listener(text[known:])


def joined(pieces: Iterable[str]) -> str:
    """The text that came in pieces; a host may have cut between the halves of a surrogate pair."""
    text = "".join(pieces)
    is_cut = not text.isascii() and re.search("[\ud800-\udbff][\udc00-\udfff]", text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") if is_cut else text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
