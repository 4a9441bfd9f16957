"""Any host that speaks OpenAI's chat API (platform.openai.com/docs/api-reference/chat).

Requests are streamed. Token limits go out as `max_completion_tokens`; a host that knows `max_tokens` only gets it by
`extra_body`. Options of the file stand behind those of the request, `extra_body` before both.
"""

from __future__ import annotations

import json
from typing import Any

from runner.connectors.base import Completion, Message, ModelRequest, ToolCall, Usage
from runner.connectors.capabilities import capabilities_of
from runner.connectors.parts import content_parts, data_of, url_of
from runner.connectors.provider import HttpConnector, ProviderError
from runner.connectors.usage import Figures, shown

_MESSAGE_FIELDS = ("role", "content", "name", "tool_call_id", "tool_calls", "refusal", "reasoning_content")
_OWN_PARAMETERS = ("model", "stream", "tools", "max_tokens")
_NO_TEMPERATURE = ("temperature", "top_p")
_FINISH_REASONS = {"function_call": "tool_calls", "max_tokens": "length", "end_turn": "stop", "eos": "stop"}


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
        self._calls: dict[int, _Call] = {}
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
        if any(call.name for call in self._calls.values()) or any(self._refusal):
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
        calls = tuple(call.finished(index) for index, call in self._calls.items())
        usage, warnings = _usage(self._usage)
        reason = self._finish_reason
        if reason is not None and not isinstance(reason, str):
            warnings = (*warnings, f"gave a finish_reason that is not a text: {shown(reason)}")
            reason = None
        reason = reason or "stop"
        if calls and reason == "stop":
            reason = "tool_calls"
        return Completion(
            content="".join(self._content),
            tool_calls=calls,
            finish_reason=_FINISH_REASONS.get(reason, reason),
            usage=usage,
            model=self._model,
            id=self._id,
            reasoning="".join(self._reasoning),
            refusal="".join(self._refusal) or None,
            warnings=warnings,
        )

    def _take(self, event: dict[str, Any], kind: str) -> str:
        if event.get("error"):
            raise _reported(event["error"])
        self._id = self._id or str(event.get("id") or "")
        self._model = self._model or str(event.get("model") or "")
        if event.get("usage") is not None:
            self._usage = event["usage"]
        heard = ""
        for choice in event.get("choices") or ():
            if choice.get("index"):
                continue  # of several answers, the first
            heard += self._take_piece(choice.get(kind) or choice.get("message") or {})
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
        for call in piece.get("tool_calls") or ():
            self._take_call(call)
        if piece.get("function_call"):  # the API's older form of a single call
            self._take_call({"index": 0, "function": piece["function_call"]})
        return content or ""

    def _text_in(self, part: Any) -> str | None:
        """The text of a part of the content; None when it has none."""
        if isinstance(part, str):
            return part
        if part.get("refusal"):
            self._refusal.append(_text(part["refusal"]))
        return None if part.get("text") is None else _text(part["text"])

    def _take_call(self, piece: dict[str, Any]) -> None:
        call = self._calls.setdefault(self._index(piece), _Call())
        function = piece.get("function") or {}
        call.id = call.id or str(piece.get("id") or "")
        call.name += function.get("name") or ""
        arguments = function.get("arguments") or ""
        call.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)

    def _index(self, piece: dict[str, Any]) -> int:
        if isinstance(piece.get("index"), int):
            return int(piece["index"])
        if not piece.get("id"):  # some hosts leave the number out
            return max(self._calls, default=0)
        same = [index for index, call in self._calls.items() if call.id == piece["id"]]
        return same[0] if same else len(self._calls)


class _Call:
    """A tool call that is coming in."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments = ""

    def finished(self, index: int) -> ToolCall:
        return ToolCall(id=self.id or f"call_{index}", name=self.name, arguments=self.arguments)


def _tool_call(call: dict[str, Any]) -> dict[str, Any]:
    function = dict(call.get("function") or {})
    if not isinstance(function.get("arguments", ""), str):
        function["arguments"] = json.dumps(function["arguments"], ensure_ascii=False)
    return {"type": "function", **call, "function": function}


def _usage(said: Any) -> tuple[Usage, tuple[str, ...]]:
    """The tokens and cost of the call, and warnings about them."""
    figures = Figures(said)
    usage = figures.usage(
        figures.count("prompt_tokens"),
        figures.count("completion_tokens"),
        figures.count("prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens"),
        figures.amount("cost"),
    )
    return usage, figures.warnings


def _reported(error: Any) -> ProviderError:
    if not isinstance(error, dict):
        return ProviderError(str(error), None)
    kind = str(error.get("type") or "")
    code = error.get("status") or error.get("code")
    if isinstance(code, str):
        code = int(code) if code.isdigit() else 429 if code == "rate_limit_exceeded" else None
    if not isinstance(code, int):
        code = {"server_error": 500, "overloaded_error": 503, "rate_limit_error": 429}.get(kind)
    return ProviderError(str(error.get("message") or kind or error), code)


def _text(value: Any) -> str:
    """Raises TypeError when it is none."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value
