"""The interface of connectors. Each connector gives access to one model.

Messages have the format of OpenAI's chat API, whatever the provider: `{role, content, name?, tool_call_id?,
tool_calls?}`. The content is a text or a list of parts: `{type: "text", text}`, `{type: "image_url", image_url: {url,
detail}}`, `{type: "input_audio", input_audio: {data, format}}`, `{type: "file", file: {url, filename}}`. URLs may be
`data:` URLs. A connector converts them to the format of its provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from scripttest import TestKey
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.connectors.http import Endpoint


Message = dict[str, Any]

_MEANT = {
    "stop": "stop end_turn stop_sequence pause_turn eos",
    "tool_calls": "tool_calls tool_use function_call",
    "length": "length max_tokens max_output_tokens model_length model_context_window_exceeded",
    "content_filter": "content_filter content_filtered guardrail_intervened safety recitation prohibited_content"
    " blocklist spii sensitive",
    "refusal": "refusal",
    "error": "error abort insufficient_system_resource malformed_function_call",
}
ENDINGS = {said: meant for meant, words in _MEANT.items() for said in words.split()}
"""Finish reason of a host, in lower case → what it means, in one word; others mean what they say."""
CUTS = {
    "length": "cut at its token limit",
    "content_filter": "stopped by a content filter",
    "refusal": "refused by the model",
}
"""How an answer ended → what was done to it, if it is not whole."""


class Origin(Value):
    """The case or script test on whose behalf a model is asked; recordings are stored under it."""

    suite: str = ""
    """Id of the suite; empty outside of runs."""
    case: str = ""
    """Id of the case or name of the test; `@hooks` and `@generate` for what belongs to a whole suite."""
    run: int = 1
    """Which run of the case, from 1."""
    of_suite: bool = False
    """Whether it belongs to a whole suite, and to no case: hooks around all cases, generators."""

    @property
    def key(self) -> TestKey:
        """The run of the case."""
        return TestKey(suite=self.suite, test=self.case, run=self.run)


class ToolCall(Value):
    """A call that the model asks for."""

    id: str
    name: str
    """The name that the model knows: `<server>__<tool>`."""
    arguments: str
    """JSON text as the model wrote it; it may be broken."""
    extra_content: str = ""
    """JSON text of what the host wants to get back with the call: Gemini refuses one without the signature of its
    thoughts (ai.google.dev/gemini-api/docs/thought-signatures)."""


class Usage(Value):
    """The tokens and the cost of a call, as the provider reports them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """How many of the input tokens came from the provider's cache."""
    written_tokens: int = 0
    """How many of the input tokens were written to the provider's cache."""
    written_for_an_hour: int = 0
    """How many of these stay there for an hour, and not for five minutes."""
    cost: float | None = None
    """US dollars, an `Estimate` if a price was not known; None when neither the provider nor the connector file says
    a price."""
    unknown: bool = False
    """Whether the tokens are not known: the provider did not say, or said what cannot be. They are 0 then."""

    def plus(self, other: Usage) -> Usage:
        """The sum of two."""
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            written_for_an_hour=self.written_for_an_hour + other.written_for_an_hour,
            cost=sum(costs) if costs else None,
            unknown=self.unknown or other.unknown,
        )


class ModelRequest(Value):
    """One request to a model."""

    messages: list[Message]
    parameters: Mapping[str, Any] = {}
    """temperature, max_tokens, max_completion_tokens, top_p, stop, seed, response_format, tool_choice ..., as in
    `package.yao`'s `options` and Yao's `ctx.llm` options."""
    chosen: Mapping[str, Any] = {}
    """Those of the parameters that the case sets."""
    tools: tuple[Mapping[str, Any], ...] = ()
    """`{name, description, parameters}`; `parameters` is a JSON Schema."""
    on_chunk: Callable[[str], None] | None = None
    """Hears the pieces of the content as they arrive."""
    agent: str = ""
    """Id of the agent that asks; empty for `ctx.llm`."""
    folder: Path | None = None
    """Folder of that agent."""
    turn: int = 1
    """How many times the user has spoken in this chat."""
    metadata: Mapping[str, Any] = {}
    """`ctx.metadata` of the call."""
    embeds: bool = False
    """Whether the embeddings of the texts of its messages, whose role is `input`, are asked for; the content of the
    completion is then JSON, a list of vectors."""


class Completion(Value):
    """The answer of a model."""

    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = ""
    """As the host said it; empty if it did not."""
    usage: Usage = Usage(unknown=True)
    model: str = ""
    id: str = ""
    reasoning: str = ""
    """Reasoning text, where the provider gives it."""
    returned: str = ""
    """JSON of fields that the provider wants back beside the calls of tools, and may refuse them without:
    `reasoning_content` (api-docs.deepseek.com/guides/thinking_mode) and `reasoning_details`
    (openrouter.ai/docs/guides/best-practices/reasoning-tokens)."""
    refusal: str | None = None
    awaiting_input: bool | None = None
    """Whether the answer was declared to wait for the user (`scripted` and `yao` can say so); None: not declared."""
    input_hint: str | None = None
    warnings: tuple[str, ...] = ()
    """What is odd about the answer and does not make it unusable: the connector and what it said."""

    @property
    def ending(self) -> str:
        """`finish_reason` in the words of OpenAI's API, whatever the host: `stop`, `tool_calls`, `length`,
        `content_filter`, `refusal`, `error`, or a word of the host's own."""
        said = self.finish_reason
        meant = ENDINGS.get(said.lower(), said) or "stop"
        if meant == "stop":
            return "tool_calls" if self.tool_calls else "refusal" if self.refusal and not self.content else meant
        return meant

    @property
    def cut(self) -> str:
        """What was done to an answer that is not whole: `cut at its token limit`; empty if nothing says so."""
        return CUTS.get(self.ending, "")


class Connector(Protocol):
    """Sends requests to one model. One instance serves a whole run, on one event loop. What is not overridden does
    nothing."""

    id: str
    endpoint: Endpoint | None
    """Where the model is reached; None: nowhere outside."""

    async def complete(self, request: ModelRequest) -> Completion:
        """Asks the model. Cancelling it closes the connection. Raises ConnectorError."""

    def forget_outage(self) -> None:
        """Lets the next call try the host again, if it was down."""
        return None


class ConnectorError(Exception):
    """A model call failed; the message names the host and its answer, and never contains a key."""

    unreached = False
    """Whether the host was not reached: there was no connection to it, or it never began to answer."""
    retry_after: float | None = None
    """Seconds after which the host wants to be asked again, if it says so."""
    answer: Completion | None = None
    """The answer without a message, which has to be paid, too."""

    def __init__(
        self, message: str, status: int | None = None, retryable: bool = False, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        """HTTP status, if there was an answer."""
        self.retryable = retryable
        """Whether trying again could help: 429, 5xx, a lost connection."""
        self.hint = hint


def add_details(details: list[dict[str, Any]], more: Iterable[dict[str, Any]]) -> None:
    """Adds pieces of `reasoning_details` to those so far; neighbouring pieces of a text become one."""
    for piece in more:
        last = details[-1] if details else {}
        if all(piece.get(name) == last.get(name) for name in ("type", "index")) and "text" in piece and "text" in last:
            said = {name: value for name, value in piece.items() if value is not None}
            last |= {**said, "text": (last["text"] or "") + (piece["text"] or "")}
        else:
            details.append(dict(piece))


_SHOWN = 40
"""Characters that an error quotes of a file."""


class DataUrl(Value):
    """The content of a `data:` url."""

    mime: str
    base64: str

    @property
    def is_text(self) -> bool:
        """Whether it is text, source code and JSON included."""
        kind = self.mime.partition(";")[0]
        return kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml"))

    def text(self) -> str:
        """The content as text. Raises ConnectorError when it is not base64."""
        import base64

        try:
            return base64.b64decode(self.base64).decode("utf-8", "replace")
        except ValueError as error:
            said = f'cannot send a file of {self.mime}: "{self.base64[:_SHOWN]}" is not base64'
            raise ConnectorError(said, hint="Attach it as file://<path>") from error


_TEXTS = {f"application/{kind}" for kind in "json xml yaml x-yaml javascript typescript x-sh sql toml".split()}


def data_url(url: str) -> DataUrl | None:
    """The content of a `data:` url; None for other urls."""
    if not url.startswith("data:"):
        return None
    head, _, body = url[5:].partition(",")
    if head.endswith(";base64"):
        return DataUrl(mime=head.removesuffix(";base64") or "text/plain", base64=body)
    import base64
    from urllib.parse import unquote_to_bytes

    return DataUrl(mime=head or "text/plain", base64=base64.b64encode(unquote_to_bytes(body)).decode())


def content_parts(message: Message) -> list[dict[str, Any]]:
    """The content of a message as a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if isinstance(content, dict):
        return [content]
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in content or []]


def message_text(message: Message) -> str:
    """The text of a message's content, its parts joined by newlines."""
    return "\n".join(str(part.get("text") or "") for part in content_parts(message) if part.get("type") == "text")


def part_url(part: dict[str, Any], kind: str) -> str:
    """The url of an `image_url` or `file` part, which is `{url}` or, of an image, the url itself."""
    value = part.get(kind)
    return str(value.get("url", "")) if isinstance(value, dict) else str(value or "")


class ClosedModels:
    """Why real models are not asked in a run, and on whose behalf they would have been."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        """For people."""
        self.wanted: set[TestKey] = set()
        """Runs of tests and cases that came to a real model."""


class ModelAnswer(Value):
    """The answer to a request, from the model or from a store."""

    completion: Completion
    chunks: tuple[str, ...]
    """The pieces in which the text came."""
    journaled: bool = False
    """Whether the run that this one continues has stored it, and paid for it."""


async def ask(connector: Connector, request: ModelRequest) -> ModelAnswer:
    """The answer of a model; listeners get its pieces as they arrive. Raises ConnectorError."""
    chunks: list[str] = []

    def hear(chunk: str) -> None:
        chunks.append(chunk)
        if request.on_chunk is not None:
            request.on_chunk(chunk)

    completion = await connector.complete(request.replace(on_chunk=hear))
    return ModelAnswer(completion=completion, chunks=tuple(chunks))


def say(chunks: Iterable[str], request: ModelRequest) -> None:
    """Sends the pieces of a stored answer to the listener."""
    if request.on_chunk is not None:
        for chunk in chunks:
            request.on_chunk(chunk)
