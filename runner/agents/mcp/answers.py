"""The processes `mcp.*`, which `ctx.mcp` and `new MCP(id)` of scripts call.

| process | arguments | answer |
| --- | --- | --- |
| `mcp.Info` | server | `{id, label, description, transport}` |
| `mcp.ListTools` | server | `{tools: [{name, description, inputSchema, outputSchema?}]}` |
| `mcp.CallTool` | server, tool, arguments? | `{content: [{type, text} ...], isError}` |
| `mcp.ListResources` | server | `{resources: [{uri, name, description?, mimeType?}]}` |
| `mcp.ReadResource` | server, uri | `{contents: [{uri, mimeType?, text}]}` |
| `mcp.ListPrompts` | server | `{prompts: [{name, description?, arguments?}]}` |
| `mcp.GetPrompt` | server, name, arguments? | `{description?, messages: [{role, content}]}` |
| `mcp.ListSamples` | server, `tool` or `resource`, name | `{samples: [{name, input, output?, index ...}], total}` |
| `mcp.GetSample` | server, `tool` or `resource`, name, index | one of the samples |

Lists are always complete: a cursor is accepted and ignored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from runner.agents.mcp.base import Item, Server, Tool, ToolError
from runner.agents.mcp.servers import Servers
from runner.errors import RunnerError, sentences

if TYPE_CHECKING:
    from bindings import World

Answer = Callable[[str, list[Any], Any], Awaitable[Any]]
"""(process name, arguments, context) → JSON value; raises `bindings.ProcessError`."""


def processes(servers: Servers) -> Answer:
    """The functions that answer the processes `mcp.*`. Unknown servers, tools and processes are ProcessErrors of
    code 404, bad arguments of code 400; a tool that fails is an answer with `isError`."""

    async def answer(name: str, args: list[Any], context: Any) -> Any:
        from bindings import ProcessError

        method = _METHODS.get(name.lower().removeprefix("mcp."))
        if method is None:
            raise ProcessError(f'Process "{name}" does not exist', 404, missing=True)
        if not args or not isinstance(args[0], str):
            raise ProcessError(f"Cannot call {name}: the id of an MCP server is missing", 400)
        try:
            return await method(servers.server(args[0]), [*args[1:], None, None, None], context)
        except _ArgumentError as error:
            raise ProcessError(f"Cannot call {name}: {error}", error.code) from error
        except RunnerError as error:
            code = error.code if isinstance(error, ToolError) else 404
            raise ProcessError(
                sentences(error.message, error.hint), code, error.missing, error.infrastructure
            ) from error

    return answer


async def ask_tool(servers: Servers, server: str, tool: str, arguments: Item, context: Any, world: World) -> str:
    """The text that a tool answers. What does not exist is in the ledger of the test. Raises ProcessError, also
    when the tool fails."""
    from bindings import ProcessError

    try:
        found = await processes(servers)("mcp.CallTool", [server, tool, arguments], context)
    except ProcessError as error:
        if error.missing:
            world.ledger.note_missing(f"mcp.{server}.{tool}", error.message)
        raise
    text = "\n".join(part["text"] for part in found["content"] if part.get("type") == "text")
    if found["isError"]:
        raise ProcessError(f"{tool} of {server} failed: {text}", 500)
    return text


class _ArgumentError(Exception):
    def __init__(self, reason: str, code: int = 400) -> None:
        super().__init__(reason)
        self.code = code


async def _info(server: Server, args: list[Any], context: Any) -> Item:
    return {
        "id": server.id,
        "label": server.label,
        "description": server.description,
        "transport": server.transport,
    }


async def _list_tools(server: Server, args: list[Any], context: Any) -> Item:
    return {"tools": [_tool(tool) for tool in await server.list_tools()]}


async def _call_tool(server: Server, args: list[Any], context: Any) -> Item:
    answer = await server.call_tool(_text(args[0], "the name of a tool"), _object(args[1]), context)
    structured = {} if answer.structured is None else {"structuredContent": answer.structured}
    return {"content": answer.content, "isError": answer.is_error, **structured}


async def _list_resources(server: Server, args: list[Any], context: Any) -> Item:
    return {"resources": await server.list_resources()}


async def _read_resource(server: Server, args: list[Any], context: Any) -> Item:
    return await server.read_resource(_text(args[0], "the URI of a resource"), context)


async def _list_prompts(server: Server, args: list[Any], context: Any) -> Item:
    return {"prompts": await server.list_prompts()}


async def _get_prompt(server: Server, args: list[Any], context: Any) -> Item:
    return await server.get_prompt(_text(args[0], "the name of a prompt"), _object(args[1]), context)


async def _list_samples(server: Server, args: list[Any], context: Any) -> Item:
    samples = server.samples(_kind(args[0]), _text(args[1], "the name of a tool or resource"))
    return {"samples": samples, "total": len(samples)}


async def _get_sample(server: Server, args: list[Any], context: Any) -> Item:
    name = _text(args[1], "the name of a tool or resource")
    samples = server.samples(_kind(args[0]), name)
    if type(args[2]) is not int or not 0 <= args[2] < len(samples):
        reason = f"MCP server {server.id} has {len(samples)} samples of {name}, none with index {args[2]}"
        raise _ArgumentError(reason, 404)
    return samples[args[2]]


_METHODS: dict[str, Callable[[Server, list[Any], Any], Awaitable[Item]]] = {
    "info": _info,
    "listtools": _list_tools,
    "calltool": _call_tool,
    "listresources": _list_resources,
    "readresource": _read_resource,
    "listprompts": _list_prompts,
    "getprompt": _get_prompt,
    "listsamples": _list_samples,
    "getsample": _get_sample,
}


def _tool(tool: Tool) -> Item:
    described = {"name": tool.name, "description": tool.description, "inputSchema": tool.schema}
    return described if tool.output is None else {**described, "outputSchema": tool.output}


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise _ArgumentError(f"{what} is missing")
    return value


def _object(value: Any) -> Item:
    if value is not None and not isinstance(value, dict):
        raise _ArgumentError("the arguments are not an object")
    return value or {}


def _kind(value: Any) -> str:
    if value not in ("tool", "resource"):
        raise _ArgumentError('samples are of a "tool" or a "resource"')
    return str(value)
