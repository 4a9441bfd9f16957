"""What an MCP server is, whatever carries its messages.

Items are JSON objects as in the Model Context Protocol: tools `{name, description, inputSchema, outputSchema?}`,
resources `{uri, name, description?, mimeType?}`, prompts `{name, description?, arguments?}`, content `{type: "text",
text}`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

from runner.assertions.values import parsed
from runner.errors import RunnerError

if TYPE_CHECKING:
    from runner.connectors.http import Endpoint

Item = dict[str, Any]


class ToolError(RunnerError):
    """A tool, resource or prompt could not be used: it was not reached, or the arguments are wrong.

    If the tool itself reports an error, that is not a ToolError but an answer with `isError`."""

    server = ""
    """The id of the server that is missing."""

    def __init__(self, message: str, code: int, hint: str | None = None, infrastructure: bool = False) -> None:
        """`infrastructure` if the server failed, and not the request."""
        super().__init__(message, hint)
        self.infrastructure = infrastructure
        self.code = code
        """As in HTTP: 400 bad arguments, 404 no such tool, resource or prompt, 502 the server failed, 504 too slow."""

    @property
    def retryable(self) -> bool:
        """Whether the model could do better when it gets the error."""
        return self.code < 500


def no_such_tool(server: str, name: str, hint: str | None) -> ToolError:
    """The error of a call of a tool that a server does not have: only a mock could answer it."""
    error = ToolError(f'Cannot call tool "{name}" of MCP server {server}: there is no such tool', 404, hint)
    error.missing = True
    return error


class Server(Protocol):
    """One MCP server, used from one event loop. Everything but `close` raises ToolError."""

    id: str
    label: str
    description: str
    transport: str
    """process, stdio, sse or http."""
    endpoint: Endpoint | None = None
    """Where it is reached; None: not over HTTP."""
    warnings: tuple[str, ...] = ()
    """What is odd in its files, a sentence each."""

    def __init__(self, id: str, definition: Item) -> None:
        self.id = id
        self.label = str(definition.get("label") or definition.get("name") or id)
        self.description = str(definition.get("description") or "")

    async def list_tools(self) -> list[Item]:
        """Its tools, in its order."""

    async def call_tool(self, name: str, arguments: Item, context: Any) -> Item:
        """Calls a tool: `{content: [...], isError, structuredContent?}`. `context` reaches the process behind it, as it
        is. Cancelling it ends the wait, and tells a real server."""

    async def list_resources(self) -> list[Item]:
        """Its resources, those with a URI template included."""

    async def read_resource(self, uri: str, context: Any) -> Item:
        """`{contents: [{uri, mimeType?, text} or {uri, mimeType?, blob}]}`."""

    async def list_prompts(self) -> list[Item]:
        """Its prompts."""

    async def get_prompt(self, name: str, arguments: Item, context: Any = None) -> Item:
        """`{description?, messages: [{role, content}]}`, with the arguments filled in."""

    def samples(self, kind: str, name: str) -> list[Item]:
        """Examples of a `tool` or `resource`: `{name, description?, input, output?, index}`, index from 0; empty
        when it has none."""
        return []

    async def close(self) -> None:
        """Ends connections and processes, and waits until they have ended. The server may be used again."""
        return None


async def validate(value: Any, schema: Item, what: str, code: int = 400, lenient: bool = False) -> None:
    """Checks a value with a schema. Raises a ToolError that begins with `what` and lists what is wrong, by paths.
    Schema and value come from anybody and may take seconds to check, so this does not block the event loop. `code`:
    code of the error. `lenient`: accept everything if the schema itself cannot be used."""
    from bindings.processes.schemas import misfit

    found = await asyncio.to_thread(misfit, value, schema)
    if found is not None and not (lenient and found.unusable):
        raise ToolError(f"{what}: {found.text}", code)


def text_content(text: str) -> Item:
    """A content item that is a text."""
    return {"type": "text", "text": text}


def value_of(answer: Item) -> Any:
    """The JSON value that a tool answered: one text is parsed if it is JSON, else it is the text; several contents are
    a list; without any it is the structured content."""
    values = [_parsed(item) for item in answer["content"]]
    if not values:
        return answer.get("structuredContent")
    return values[0] if len(values) == 1 else values


def text_in(answer: Item) -> str:
    """The texts that a tool answered, a line each."""
    return "\n".join(item["text"] for item in answer["content"] if isinstance(item.get("text"), str))


def _parsed(item: Item) -> Any:
    text = item.get("text")
    return parsed(text, text) if item.get("type") == "text" and isinstance(text, str) else item
