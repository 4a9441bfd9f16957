"""Any host that speaks OpenAI's API: its chat (platform.openai.com/docs/api-reference/chat), and its embeddings, see
`embeddings.py`.

Requests are streamed. Token limits go out as `max_completion_tokens`; a host that knows `max_tokens` only gets it by
`extra_body`. Options of the file stand behind those of the request, `extra_body` before both."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from runner.connectors.base import (
    Completion,
    Message,
    ModelRequest,
    ToolCall,
    Usage,
    add_details,
    content_parts,
    data_url,
    part_url,
)
from runner.connectors.definition import Capabilities, capabilities_of
from runner.connectors.embeddings import OpenAIEmbeddings
from runner.connectors.faults import BROKEN_OFF, ProviderError, reported
from runner.connectors.provider import Answer, HttpConnector, joined
from runner.connectors.usage import UsageReader, merged

_MESSAGE_FIELDS = (
    "role",
    "content",
    "name",
    "tool_call_id",
    "tool_calls",
    "refusal",
    "reasoning_content",
    "reasoning_details",
)
_OWN_PARAMETERS = ("model", "stream", "tools", "max_tokens")
_NO_TEMPERATURE = ("temperature", "top_p")


class OpenAIAnswer(Answer):
    """Puts chunks together, or takes a whole completion.

    The API has `content` as a text, which may be empty, or as null beside a refusal or tool calls."""

    def __init__(self) -> None:
        super().__init__()
        self._content: list[str] = []
        self._has_content = False
        self._reasoning: list[str] = []
        self._returned: dict[str, Any] = {}
        self._refusal: list[str] = []
        self._calls = StreamedCalls()

    @property
    def has_message(self) -> bool:
        """Whether there is a content, a refusal, or a call of a tool. The empty content before tool calls that never
        came is none."""
        if self._calls.are_named or any(self._refusal):
            return True
        called = self._reason in ("tool_calls", "function_call")
        return self._has_content and (any(self._content) or not called)

    def feed(self, event: dict[str, Any]) -> str:
        """Takes a chunk; gives the piece of content in it."""
        return self._take(event, "delta")

    def whole(self, value: dict[str, Any]) -> None:
        """Takes a completion. Raises ProviderError."""
        self._take(value, "message")
        if not value.get("choices"):
            raise ProviderError("the response has no choices", None)

    def _said(self) -> dict[str, Any]:
        calls, reasoning = self._calls.finished(), joined(self._reasoning)
        if "reasoning_content" in self._returned:
            self._returned["reasoning_content"] = reasoning
        return {
            "content": joined(self._content),
            "tool_calls": calls,
            "reasoning": reasoning,
            "returned": json.dumps(self._returned) if calls and self._returned else "",
            "refusal": "".join(self._refusal) or None,
        }

    def _usage(self, figures: UsageReader) -> Usage:
        asked, answered = figures.count("prompt_tokens"), figures.count("completion_tokens")
        thought = figures.count("completion_tokens_details.reasoning_tokens") or 0
        total = figures.count("total_tokens") or 0
        if asked is not None and answered is not None:  # some hosts count it beside the answer, or in the total alone
            answered = max(answered + (thought if thought > answered else 0), total - asked)
        return figures.usage(
            input_tokens=asked,
            output_tokens=answered,
            cached_tokens=figures.count(
                "prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens"
            ),
            cost=figures.amount("cost"),
            written_tokens=figures.count(
                "prompt_tokens_details.cache_write_tokens",
                "prompt_tokens_details.cache_creation_tokens",
                "cache_creation_input_tokens",
            ),
        )

    def _take(self, event: dict[str, Any], kind: str) -> str:
        if error := event.get("error") or (event if event.get("object") == "error" else None):
            raise reported(error)
        if not (self._id and self._model):
            self._name(event)
        self._said_usage = merged(self._said_usage, event.get("usage"))
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
                self._reason = choice["finish_reason"]
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
        if isinstance(thoughts[0], str):
            self._returned["reasoning_content"] = ""
        if details := piece.get("reasoning_details"):
            add_details(self._returned.setdefault("reasoning_details", []), details)
        self._reasoning.append(next((text for text in thoughts if isinstance(text, str) and text), ""))
        self._refusal.append(_text(piece.get("refusal") or ""))
        calls = piece.get("tool_calls") or ()
        if piece.get("function_call"):  # the API's older form of a single call
            calls = [*calls, {"index": 0, "function": piece["function_call"]}]
        if calls:
            self._calls.take(calls)
        return content or ""

    def _text_in(self, part: Any) -> str | None:
        """The text of a part of the content; None when it has none."""
        if isinstance(part, str):
            return part
        if part.get("refusal"):
            self._refusal.append(_text(part["refusal"]))
        return None if part.get("text") is None else _text(part["text"])


class StreamedCalls:
    """Puts calls of tools together out of the pieces in which hosts of OpenAI's chat API send them.

    The API numbers calls by `index` and sends id and name once. Hosts leave the number out, give it to several calls,
    or repeat ids and names, so that a number alone says nothing:

    | a piece | belongs to |
    | --- | --- |
    | with the id of a call | that call |
    | with a new id and a name | another call |
    | without an id | the newest call with its index, the newest of all if it has none |
    | with a name, though the arguments of its call are complete, or have begun under another name | another call |
    | with a name, second in a list, for the call of the first | another call |

    A name without arguments, after a whole call of that name, may repeat it or begin another one: what comes next
    decides."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    @property
    def are_named(self) -> bool:
        """Whether there is a call with a name."""
        return any(call.name for call in self._calls)

    def take(self, entries: Sequence[dict[str, Any]]) -> None:
        """Takes the calls, or pieces of calls, of one event."""
        touched: list[_Call] = []
        for place, entry in enumerate(entries):
            piece = _Piece(entry, place if len(entries) > 1 else None)
            call = self._call_of(piece)
            again = call in touched
            if call is None or call.is_over_at(piece, again):
                call = _Call(piece.index, before=None if again else call)
                self._calls.append(call)
            call.add(piece)
            touched.append(call)

    def finished(self) -> tuple[ToolCall, ...]:
        """The calls, in the order in which they began; each has an id of its own."""
        made: dict[str, ToolCall] = {}
        for number, call in enumerate(call for call in self._calls if not call.is_repetition):
            id = call.id if call.id and call.id not in made else f"call_{number}"
            made[id] = ToolCall(id=id, name=call.name, arguments=call.arguments, extra_content=call.extra)
        return tuple(made.values())

    def _call_of(self, piece: _Piece) -> _Call | None:
        """The call that a piece is of, by its id and number; None: there is none yet."""
        if same := [call for call in self._calls if piece.id and call.id == piece.id]:
            return same[-1]
        there = self._calls
        if piece.index is not None:
            there = [call for call in self._calls if call.index == piece.index]
            if not there and not piece.name:
                there = [call for call in self._calls if call.index is None]
        found = there[-1] if there else None
        if found and piece.id and piece.name and (found.id or found.name not in ("", piece.name)):
            return None
        return found


class _Piece:
    """One entry of a list of calls."""

    def __init__(self, entry: dict[str, Any], place: int | None) -> None:
        function = entry.get("function") or {}
        arguments = function.get("arguments")
        self.id = "" if entry.get("id") is None else str(entry["id"])
        self.name = function.get("name") or ""
        if not isinstance(self.name, str):
            raise TypeError(f"{self.name!r} is not a string")
        self.arguments = (
            arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False) if arguments else ""
        )
        self.extra = json.dumps(entry["extra_content"]) if entry.get("extra_content") else ""
        index = entry.get("index")
        self.index: int | str | None = place if index is None else index


class _Call:
    """A call that is coming in."""

    def __init__(self, index: int | str | None, before: _Call | None) -> None:
        """`before` is the call that was over when it began."""
        self.index = index
        self._before = before
        self.id = self.name = self.arguments = self.extra = ""

    def is_over_at(self, piece: _Piece, again: bool) -> bool:
        """Whether a piece for it begins another call; `again`: the same event has had one for it before."""
        if not piece.name:
            return False
        is_whole = self._is_whole
        if again and (is_whole or not self.arguments):
            return True
        if piece.name != self.name:
            return bool(self.arguments)
        return is_whole and self.arguments not in ("{}", piece.arguments)

    @property
    def is_repetition(self) -> bool:
        """Whether it only says again that there was another call."""
        before = self._before
        if before is None or self.arguments.strip():
            return False
        return self.name == before.name and self.id in ("", before.id)

    def add(self, piece: _Piece) -> None:
        """Takes a piece. A name that is repeated, and arguments that are, say nothing new."""
        self.id = self.id or piece.id
        self.extra = self.extra or piece.extra
        if piece.name != self.name:
            self.name += piece.name
        if self.arguments == "{}" and piece.arguments:  # some hosts open each call with them
            self.arguments = piece.arguments
        elif not (piece.name and self._is_whole):
            self.arguments += piece.arguments

    @property
    def _is_whole(self) -> bool:
        if not self.arguments.rstrip().endswith("}"):
            return False
        try:
            json.loads(self.arguments)
        except (ValueError, RecursionError):
            return False
        return True


class OpenAIConnector(HttpConnector):
    """`type: openai`."""

    default_host = "https://api.openai.com"
    path = "chat/completions"
    answer: type[Answer] = OpenAIAnswer

    async def complete(self, request: ModelRequest) -> Completion:
        """Asks the model; see `Connector`. Embeddings are asked for at another address."""
        return await (self._embeddings.complete(request) if request.embeds else super().complete(request))

    def forget_outage(self) -> None:
        """Lets the next call try the host again; see `Connector`."""
        super().forget_outage()
        self._embeddings.forget_outage()

    @cached_property
    def _embeddings(self) -> HttpConnector:
        return OpenAIEmbeddings(self.definition, self._client, self._timing, self._global_limit)

    @cached_property
    def _can(self) -> Capabilities:
        return capabilities_of(self.options, self.model)

    def write(self, request: ModelRequest) -> dict[str, Any]:
        """The body of a chat completion request."""
        can = self._can
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
        data = data_url(part_url(part, "file"))
        if data is None:
            raise self.faults.final(
                f'cannot send the file "{name}": the chat API accepts files by content, not by URL',
                "Attach it as file://<path>",
            )
        if data.is_text:
            return {"type": "text", "text": f"File {name}:\n{data.text()}"}
        return {"type": "file", "file": {"filename": name, "file_data": part["file"]["url"]}}


def _tool_call(call: dict[str, Any]) -> dict[str, Any]:
    function = dict(call.get("function") or {})
    if not isinstance(function.get("arguments", ""), str):
        function["arguments"] = json.dumps(function["arguments"], ensure_ascii=False)
    return {"type": "function", **call, "function": function}


def _text(value: Any) -> str:
    """Raises TypeError when it is none."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value
