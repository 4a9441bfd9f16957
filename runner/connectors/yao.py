"""An assistant on a running Yao server, called through its chat API.

Yao's own documents (openapi/chat/README.md, agent/context) describe it as OpenAI's API below a base path that the
server configures: `/v1`, or `/api/__yao/openapi/v1`. So `options.host` is the server (`/v1/chat/completions` is added)
or, with a slash at its end, the base path (`chat/completions` is added). The assistant is sent in the header
`X-Yao-Assistant`, in `assistant_id` and, for old servers, in `model`. `metadata.chat_id` of the call is sent in
`X-Yao-Chat`. The server is told to keep no history, because every request has the whole conversation.

Answers may be OpenAI's chunks, or Yao's own messages (`{type: "text", props: {content}}`)."""

from __future__ import annotations

from typing import Any

from runner.connectors.base import ModelRequest
from runner.connectors.faults import ProviderError
from runner.connectors.openai import OpenAIAnswer, OpenAIConnector

_SILENT = ("event", "loading")
"""Types of messages that say nothing to the user; what has no text otherwise, such as an image, does."""


class YaoAnswer(OpenAIAnswer):
    """Puts chunks or messages together."""

    def __init__(self) -> None:
        super().__init__()
        self._awaiting: bool | None = None
        self._hint: str | None = None

    def feed(self, event: dict[str, Any]) -> str:
        """Takes a chunk or a message, and returns the piece of content in it. Raises ProviderError."""
        self._look_for_declaration(event)
        if "type" not in event or "choices" in event:
            return super().feed(event)
        props = event.get("props") or {}
        text = props.get("content")
        match event["type"]:
            case "text":
                return super().feed({"choices": [{"delta": {"content": text}}]})
            case "thinking":
                return super().feed({"choices": [{"delta": {"reasoning": text}}]})
            case "error":
                raise ProviderError(str(props.get("message") or event.get("error") or "unknown error"), None)
            case "event" if props.get("event") == "stream_end":
                return super().feed({"choices": [{"delta": {}, "finish_reason": "stop"}]})
            case kind if kind not in _SILENT:
                self._has_content = True
        return ""

    def whole(self, value: dict[str, Any]) -> None:
        """Takes a completion."""
        self._look_for_declaration(value)
        super().whole(value)

    def _said(self) -> dict[str, Any]:
        return {**super()._said(), "awaiting_input": self._awaiting, "input_hint": self._hint}

    def _look_for_declaration(self, event: dict[str, Any]) -> None:
        choices = [choice for choice in event.get("choices") or () if isinstance(choice, dict)]
        inner = [choice.get(kind) for choice in choices for kind in ("delta", "message")]
        for place in (event, event.get("props"), event.get("metadata"), *choices, *inner):
            if isinstance(place, dict) and isinstance(place.get("awaiting_input"), bool):
                self._awaiting = place["awaiting_input"]
                self._hint = str(place["input_hint"]) if place.get("input_hint") else self._hint


class YaoConnector(OpenAIConnector):
    """`type: yao`."""

    answer = YaoAnswer
    needs = "host"
    example = 'For example: "https://yao.example.com"'

    def headers(self, request: ModelRequest) -> dict[str, str]:
        """The assistant, the chat, and that OpenAI's form is wanted."""
        headers = {"x-yao-assistant": self._assistant(request), "x-yao-accept": "standard"}
        if chat := request.metadata.get("chat_id"):
            headers["x-yao-chat"] = str(chat)
        return headers

    def write(self, request: ModelRequest) -> dict[str, Any]:
        """The body of a chat request; tools are the server's own."""
        assistant = self._assistant(request)
        body = super().write(request.replace(tools=()))
        body.pop("stream_options", None)
        body |= {"model": f"{assistant}-yao_{assistant}", "assistant_id": assistant}
        body["skip"] = {"history": True, "trace": True}
        if request.metadata:
            body["metadata"] = dict(request.metadata)
        if chat := request.metadata.get("chat_id"):
            body["chat_id"] = str(chat)
        return body

    def _assistant(self, request: ModelRequest) -> str:
        assistant = self.options.get("assistant") or self.model or request.agent
        if not assistant:
            raise self.faults.final(
                "no assistant is named", f"Set options.assistant in {self.definition.where} to its id"
            )
        return str(assistant)
