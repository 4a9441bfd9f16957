"""Any host that speaks OpenAI's chat API (platform.openai.com/docs/api-reference/chat).

Requests are streamed. Token limits go out as `max_completion_tokens`; a host that knows `max_tokens` only gets it by
`extra_body`. Options of the file stand behind those of the request, `extra_body` before both.
"""

from __future__ import annotations

import json
from typing import Any

from runner.connectors.base import Completion, Message, ModelRequest, Usage
from runner.connectors.capabilities import capabilities_of
from runner.connectors.faults import BROKEN_OFF, ProviderError, reported
from runner.connectors.parts import content_parts, data_of, url_of
from runner.connectors.provider import HttpConnector
from runner.connectors.streamed_calls import StreamedCalls
from runner.connectors.usage import Figures, merged, shown

_MESSAGE_FIELDS = ("role", "content", "name", "tool_call_id", "tool_calls", "refusal", "reasoning_content")
_OWN_PARAMETERS = ("model", "stream", "tools", "max_tokens")
_NO_TEMPERATURE = ("temperature", "top_p")


class OpenAIConnector(HttpConnector):
    """`type: openai`."""

    default_host = "https://api.openai.com"
    path = "chat/completions"

    def write(self, request: ModelRequest) -> dict[str, Any]:
        """The body of a chat completion request."""
        can = capabilities_of(self.options, self.model)
        parameters = {name: value for name, value in request.parameters.items() if value is not None}
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [self._message(m, can.vision) for m in request.messages],
        }
        if "temperature" in self.options:
            body["temperature"] = self.options["temperature"]
        body |= {name: value for name, value in parameters.items() if name not in _OWN_PARAMETERS}
        limit = parameters.get("max_tokens", self.options.get("max_tokens"))
        if limit is not None:
            body.setdefault("max_completion_tokens", limit)
        if not can.temperature:
            for name in _NO_TEMPERATURE:
                body.pop(name, None)
        tools = [*parameters.get("tools", ()), *({"type": "function", "function": dict(t)} for t in request.tools)]
        if tools and can.tool_calls:
            body["tools"] = tools
        else:
            body.pop("tool_choice", None)
            body.pop("parallel_tool_calls", None)
        if self.streams(request):
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if "thinking" in self.options:
            body["thinking"] = self.options["thinking"]
        return {**body, **self.options.get("extra_body", {})}

    def answer(self) -> OpenAIAnswer:
        """An answer in pieces or whole."""
        return OpenAIAnswer()

    def _message(self, message: Message, vision: bool) -> Message:
        written = {name: message[name] for name in _MESSAGE_FIELDS if name in message}
        if not isinstance(message.get("content"), str | None):
            parts = [self._part(part) for part in content_parts(message) if vision or part.get("type") != "image_url"]
            written["content"] = parts or ""
        if message.get("tool_calls"):
            written["tool_calls"] = [_tool_call(call) for call in message["tool_calls"]]
        return written

    def _part(self, part: dict[str, Any]) -> dict[str, Any]:
        if part.get("type") == "image_url" and isinstance(part.get("image_url"), str):
            return {"type": "image_url", "image_url": {"url": part["image_url"]}}
        if part.get("type") != "file" or "url" not in part.get("file", {}):
            return part
        name = part["file"].get("filename", "file")
        data = data_of(url_of(part, "file"))
        if data is None:
            raise self.faults.final(
                f'cannot send the file "{name}": the chat API takes files by content, not by address',
                "Attach it as file://<path>",
            )
        if data.is_text:
            return {"type": "text", "text": f"File {name}:\n{data.text()}"}
        return {"type": "file", "file": {"filename": name, "file_data": part["file"]["url"]}}


class OpenAIAnswer:
    """Puts chunks together, or takes a whole completion.

    The API has `content` as a text, which may be empty, or as null beside a refusal or tool calls.
    """

    def __init__(self) -> None:
        self._content: list[str] = []
        self._has_content = False
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls = StreamedCalls()
        self._usage: Any = None
        self._id = ""
        self._model = ""
        self._finish_reason: Any = None

    @property
    def complete(self) -> bool:
        """Whether a finish reason came."""
        return self._finish_reason is not None

    @property
    def has_message(self) -> bool:
        """Whether there is a content, a refusal, or a call of a tool. The empty content before tool calls that never
        came is none."""
        if self._calls.are_named or any(self._refusal):
            return True
        called = self._finish_reason in ("tool_calls", "function_call")
        return self._has_content and (any(self._content) or not called)

    def feed(self, event: dict[str, Any]) -> str:
        """Takes a chunk; gives the piece of content in it."""
        return self._take(event, "delta")

    def whole(self, value: dict[str, Any]) -> None:
        """Takes a completion. Raises ProviderError."""
        self._take(value, "message")
        if not value.get("choices"):
            raise ProviderError("there is no choice in the answer", None)

    def completion(self) -> Completion:
        """The completion that was received."""
        usage, warnings = _usage(self._usage)
        reason = self._finish_reason
        if reason is not None and not isinstance(reason, str):
            warnings = (*warnings, f"gave a finish_reason that is not a text: {shown(reason)}")
            reason = None
        return Completion(
            content="".join(self._content),
            tool_calls=self._calls.finished(),
            finish_reason=reason or "",
            usage=usage,
            model=self._model,
            id=self._id,
            reasoning="".join(self._reasoning),
            refusal="".join(self._refusal) or None,
            warnings=warnings,
        )

    def _take(self, event: dict[str, Any], kind: str) -> str:
        if error := event.get("error") or (event if event.get("object") == "error" else None):
            raise reported(error)
        self._id = self._id or str(event.get("id") or "")
        self._model = self._model or str(event.get("model") or "")
        self._usage = merged(self._usage, event.get("usage"))
        heard = ""
        for choice in event.get("choices") or ():
            if choice.get("index"):
                continue  # of several answers, the first
            piece = choice.get(kind) or {}
            if not piece and not self.has_message:  # some hosts send one whole message as a stream, or the reverse
                piece = choice.get("message") or choice.get("delta") or {}
            if error := choice.get("error") or piece.get("error"):
                raise reported(error, BROKEN_OFF)
            heard += self._take_piece(piece)
            if choice.get("finish_reason") not in (None, ""):
                self._finish_reason = choice["finish_reason"]
        return heard

    def _take_piece(self, piece: dict[str, Any]) -> str:
        content = piece.get("content")
        if isinstance(content, list):
            texts = [text for part in content if (text := self._text_in(part)) is not None]
            content = "".join(texts) if texts else None
        if content is not None:
            self._has_content = True
            self._content.append(_text(content))
        thoughts = (piece.get("reasoning_content"), piece.get("reasoning"))
        self._reasoning.append(next((text for text in thoughts if isinstance(text, str) and text), ""))
        self._refusal.append(_text(piece.get("refusal") or ""))
        calls = piece.get("tool_calls") or ()
        if piece.get("function_call"):  # the API's older form of a single call
            calls = [*calls, {"index": 0, "function": piece["function_call"]}]
        self._calls.take(calls)
        return content or ""

    def _text_in(self, part: Any) -> str | None:
        """The text of a part of the content; None when it has none."""
        if isinstance(part, str):
            return part
        if part.get("refusal"):
            self._refusal.append(_text(part["refusal"]))
        return None if part.get("text") is None else _text(part["text"])


def _tool_call(call: dict[str, Any]) -> dict[str, Any]:
    function = dict(call.get("function") or {})
    if not isinstance(function.get("arguments", ""), str):
        function["arguments"] = json.dumps(function["arguments"], ensure_ascii=False)
    return {"type": "function", **call, "function": function}


def _usage(said: Any) -> tuple[Usage, tuple[str, ...]]:
    """The tokens and cost of the call, and warnings about them."""
    figures = Figures(said)
    asked, answered = figures.count("prompt_tokens"), figures.count("completion_tokens")
    thought = figures.count("completion_tokens_details.reasoning_tokens") or 0
    total = (asked or 0) + (answered or 0) + thought
    if answered is not None and (thought > answered or figures.count("total_tokens") == total):
        answered += thought  # some hosts count it beside the answer
    usage = figures.usage(
        asked,
        answered,
        figures.count("prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens"),
        figures.amount("cost"),
        written=figures.count(
            "prompt_tokens_details.cache_write_tokens",
            "prompt_tokens_details.cache_creation_tokens",
            "cache_creation_input_tokens",
        ),
    )
    return usage, figures.warnings


def _text(value: Any) -> str:
    """Raises TypeError when it is none."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value
