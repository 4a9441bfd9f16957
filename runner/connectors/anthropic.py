"""Anthropic's messages API (docs.anthropic.com/en/api/messages, streaming: .../messages-streaming).

System messages go into `system`. Results of tools become parts of a user message. Neighbouring messages of one role are
joined, so that user and assistant alternate. Parameters that the API does not have (`seed`, `n`, `response_format`,
penalties) are left out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from runner.connectors.base import (
    Message,
    ModelRequest,
    ToolCall,
    Usage,
    content_parts,
    data_url,
    message_text,
    part_url,
)
from runner.connectors.definition import capabilities_of
from runner.connectors.faults import ProviderError, reported
from runner.connectors.provider import Answer, HttpConnector, joined
from runner.connectors.usage import UsageReader, merged

VERSION = "2023-06-01"
MAX_TOKENS = 4096
_SAME_NAME = ("temperature", "top_p", "top_k", "thinking", "service_tier")
_DELTAS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "thinking"),
    "input_json_delta": ("partial_json", "tool_use"),
}
"""Type of a delta → its field that carries the piece, and the type of its block."""
_THOUGHTS = "thinking"
"""Under which blocks of thinking are kept beside the first call of an answer."""
_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
"""The fields that sum up to the input tokens: read from the cache, written to it, and all others."""
_LIFETIMES = ("cache_creation.ephemeral_5m_input_tokens", "cache_creation.ephemeral_1h_input_tokens")
"""The fields that say how long what was written to the cache stays there."""


class AnthropicAnswer(Answer):
    """Puts events together, or takes a whole message.

    The API may end a turn with an empty list of content. Then there is no answer, so it does not count as a message."""

    reason_name = "stop_reason"
    complete = False

    def __init__(self) -> None:
        super().__init__()
        self._blocks: list[_Block] = []

    @property
    def has_message(self) -> bool:
        """Whether there is a text, though it may be empty, or a call of a tool."""
        return any(
            block.said.get("name") if block.type == "tool_use" else block.pieces and block.type == "text"
            for block in self._blocks
        )

    def feed(self, event: dict[str, Any]) -> str:
        """Takes an event; gives the piece of content in it. Unknown events are not errors, as the API demands."""
        match event.get("type"):
            case "message":
                self.whole(event)
                self.complete = True
                return self._text("text")
            case "message_start":
                self._note(event.get("message") or {})
            case "content_block_start":
                return self._start(event.get("index", 0), event.get("content_block") or {})
            case "content_block_delta":
                return self._add(event.get("index", 0), event.get("delta") or {})
            case "message_delta":
                self._note(event, (event.get("delta") or {}).get("stop_reason"))
            case "message_stop":
                self.complete = True
            case "error":
                raise reported(event.get("error"))
        return ""

    def whole(self, value: dict[str, Any]) -> None:
        """Takes a message. Raises ProviderError."""
        if value.get("type") == "error" or value.get("error"):
            raise reported(value.get("error"))
        if not isinstance(value.get("content"), list):
            raise ProviderError("the response has no content", None)
        self._note(value, value.get("stop_reason"))
        for index, block in enumerate(value["content"]):
            self._start(index, block)

    def _said(self) -> dict[str, Any]:
        thoughts = [block.thought() for block in self._blocks if block.type.endswith("thinking")]
        calls = [block.call(index) for index, block in enumerate(self._blocks) if block.type == "tool_use"]
        if thoughts and calls:
            calls[0] = calls[0].replace(extra_content=json.dumps({_THOUGHTS: thoughts}))
        return {"content": self._text("text"), "tool_calls": tuple(calls), "reasoning": self._text("thinking")}

    def _usage(self, figures: UsageReader) -> Usage:
        fresh, cached, written = map(figures.count, _INPUT)
        five, hour = map(figures.count, _LIFETIMES)
        if five is not None or hour is not None:
            written = max(written or 0, (five or 0) + (hour or 0))
        read = [tokens for tokens in (fresh, cached, written) if tokens is not None]
        return figures.usage(
            input_tokens=sum(read) if read else None,
            output_tokens=figures.count("output_tokens"),
            cached_tokens=cached,
            written_tokens=written,
            written_for_an_hour=hour,
        )

    def _note(self, said: dict[str, Any], reason: Any = None) -> None:
        """Takes what is said of the whole message."""
        self._name(said)
        self._said_usage = merged(self._said_usage, said.get("usage"), together=_INPUT)
        self._reason = self._reason if reason in (None, "") else reason

    def _start(self, index: Any, said: dict[str, Any]) -> str:
        block = _Block(index, said)
        self._blocks.append(block)
        return block.add(said.get(block.type))

    def _add(self, index: Any, delta: dict[str, Any]) -> str:
        """Takes a piece for the newest block of its number, among those of its type if there are some."""
        field, type = _DELTAS.get(str(delta.get("type")), ("", "text"))
        there = [block for block in self._blocks if block.index == index]
        if not there:
            self._start(index, {"type": type})
            there = self._blocks
        block = next((block for block in reversed(there) if block.type.endswith(type)), there[-1])
        if field == "signature":
            block.said = {**block.said, field: delta.get(field)}
            return ""
        return block.add(delta.get(field))

    def _text(self, type: str) -> str:
        return joined(piece for block in self._blocks if block.type == type for piece in block.pieces)


class _Block:
    """A block of content that is coming in."""

    def __init__(self, index: Any, said: dict[str, Any]) -> None:
        self.index = index
        self.said = said
        self.type = str(said.get("type"))
        self.pieces: list[str] = []

    def add(self, text: Any) -> str:
        """Takes a piece; gives it back if it is of the content."""
        if text is None:
            return ""
        if not isinstance(text, str):
            raise TypeError(f"{text!r} is not a string")
        self.pieces.append(text)
        return text if self.type == "text" else ""

    def thought(self) -> dict[str, Any]:
        """The block of thinking that it is, which the API wants back before the calls, with its signature."""
        return {**self.said, "thinking": "".join(self.pieces)} if self.type == "thinking" else self.said

    def call(self, number: int) -> ToolCall:
        """The call of a tool that it is."""
        arguments = "".join(self.pieces) or json.dumps(self.said.get("input") or {}, ensure_ascii=False)
        return ToolCall(
            id=str(self.said.get("id") or f"call_{number}"), name=str(self.said.get("name") or ""), arguments=arguments
        )


class AnthropicConnector(HttpConnector):
    """`type: anthropic`."""

    default_host = "https://api.anthropic.com"
    default_auth = "x-api-key"
    path = "messages"
    answer = AnthropicAnswer

    def headers(self, request: ModelRequest) -> dict[str, str]:
        """The version of the API."""
        return {"anthropic-version": str(self.options.get("version") or VERSION)}

    def write(self, request: ModelRequest) -> dict[str, Any]:
        """The body of a messages request."""
        can = capabilities_of(self.options, self.model)
        given = {**self.options, **{name: value for name, value in request.parameters.items() if value is not None}}
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": given.get("max_completion_tokens") or given.get("max_tokens") or MAX_TOKENS,
            "messages": self._messages(request.messages, can.vision),
        }
        system = [
            message_text(message) for message in request.messages if message.get("role") in ("system", "developer")
        ]
        if any(system):
            body["system"] = "\n\n".join(filter(None, system))
        body |= {name: given[name] for name in _SAME_NAME if name in given}
        if not can.temperature:
            body.pop("temperature", None)
        if stop := given.get("stop"):
            body["stop_sequences"] = [stop] if isinstance(stop, str) else stop
        if "user" in given:
            body["metadata"] = {"user_id": str(given["user"])}
        tools = [*map(_tool, request.parameters.get("tools") or ()), *map(_tool, request.tools)]
        if tools and can.tool_calls:
            body["tools"] = tools
            if choice := _tool_choice(given):
                body["tool_choice"] = choice
        if self.streams(request):
            body["stream"] = True
        return {**body, **self.options.get("extra_body", {})}

    def _messages(self, messages: Iterable[Message], vision: bool) -> list[Message]:
        written: list[Message] = []
        for message in messages:
            role = message.get("role", "user")
            if role in ("system", "developer"):
                continue
            if role == "tool":
                id, text = message.get("tool_call_id", ""), message_text(message)
                blocks = [{"type": "tool_result", "tool_use_id": id, "content": text}]
            else:
                blocks = self._blocks(message, vision)
            role = "assistant" if role == "assistant" else "user"
            if not blocks:
                continue
            if written and written[-1]["role"] == role:
                written[-1]["content"] += blocks
            else:
                written.append({"role": role, "content": blocks})
        return written

    def _blocks(self, message: Message, vision: bool) -> list[dict[str, Any]]:
        blocks = [self._block(part) for part in content_parts(message) if vision or part.get("type") != "image_url"]
        calls = message.get("tool_calls") or ()
        thoughts = [thought for call in calls for thought in (call.get("extra_content") or {}).get(_THOUGHTS) or ()]
        blocks = [*thoughts, *blocks, *map(_tool_use, calls)]
        return [block for block in blocks if block.get("text") != ""]

    def _block(self, part: dict[str, Any]) -> dict[str, Any]:
        match part.get("type"):
            case "image_url":
                return {"type": "image", "source": _source(part_url(part, "image_url"))}
            case "file":
                return _document(part)
            case "input_audio":
                raise self.faults.final("cannot send audio: the messages API accepts text, images and documents")
        return part


def _source(url: str) -> dict[str, Any]:
    data = data_url(url)
    return {"type": "base64", "media_type": data.mime, "data": data.base64} if data else {"type": "url", "url": url}


def _document(part: dict[str, Any]) -> dict[str, Any]:
    url = part_url(part, "file")
    data = data_url(url)
    if data and data.mime.startswith("image/"):
        return {"type": "image", "source": _source(url)}
    source = (
        {"type": "text", "media_type": "text/plain", "data": data.text()} if data and data.is_text else _source(url)
    )
    block: dict[str, Any] = {"type": "document", "source": source}
    if name := part["file"].get("filename"):
        block["title"] = name
    return block


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    tool = tool.get("function", tool)
    if "input_schema" in tool:
        return dict(tool)
    written = {"name": tool["name"], "input_schema": tool.get("parameters") or {"type": "object", "properties": {}}}
    return written | ({"description": tool["description"]} if tool.get("description") else {})


def _tool_choice(given: Mapping[str, Any]) -> dict[str, Any] | None:
    choice = given.get("tool_choice")
    match choice:
        case "auto" | "none":
            written = {"type": choice}
        case "required" | "any":
            written = {"type": "any"}
        case {"function": {"name": name}}:
            written = {"type": "tool", "name": name}
        case dict():
            written = dict(choice)
        case _:
            written = {}
    if given.get("parallel_tool_calls") is False and choice != "none":
        written = {"type": "auto", **written, "disable_parallel_tool_use": True}
    return written or None


def _tool_use(call: dict[str, Any]) -> dict[str, Any]:
    function = call.get("function") or {}
    arguments = function.get("arguments") or {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            arguments = {"arguments": arguments}  # broken, but this API takes objects only
    if not isinstance(arguments, dict):
        arguments = {"arguments": arguments}
    return {"type": "tool_use", "id": call.get("id", ""), "name": function.get("name", ""), "input": arguments}
