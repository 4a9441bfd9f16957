"""The tools that an agent offers to its model, and the calls that the model makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from runner.agents.mcp.base import Item, Server, ToolError, text_in, value_of
from runner.agents.mcp.servers import Servers
from runner.assertions.base import ToolUse
from runner.errors import ConfigurationError, did_you_mean, sentences
from scripttest.values import Value

MAX_TOOLS = 20
"""Most tools that a model is offered, as in Yao."""
_UNNAMED = re.compile(r"[^A-Za-z0-9_-]")
MAX_NAME = 64
"""Longest tool name that model providers take."""
SHOWN_SAMPLES = 3
"""Most examples of a tool that a model is shown."""


class ServerChoice(Value):
    """An item of `mcp.servers`."""

    server: str
    """Id of the server."""
    tools: tuple[str, ...] = ()
    """The tools to offer; empty: all."""


class OfferedTool(Value):
    """A tool that a model is offered."""

    server: Server
    tool: Item


class ToolRun(Value):
    """A tool call of the model that was made."""

    use: ToolUse
    retryable: bool = False
    """Whether the model could correct the failed call if it gets the error."""


class ToolBox:
    """The tools that one agent offers to its model; made by `open_toolbox`."""

    def __init__(
        self,
        tools: Iterable[OfferedTool],
        warnings: Iterable[str] = (),
        absent: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`absent`: ids of undefined servers, each with the error of a call."""
        self._absent = {_UNNAMED.sub("_", server): problem for server, problem in absent.items()}
        given, found = list(tools), [*warnings]
        if len(given) > MAX_TOOLS:
            left_out = ", ".join(f"{one.server.id}.{one.tool['name']}" for one in given[MAX_TOOLS:])
            found.append(f"Only {MAX_TOOLS} of {len(given)} MCP tools are offered; left out: {left_out}")
        self.offered: dict[str, OfferedTool] = {}
        """By the names that models know."""
        for one in given[:MAX_TOOLS]:
            self.offered[_unique(one.server.id, one.tool["name"], self.offered)] = one
        self.warnings = tuple(found)
        """What is odd about the choice, a sentence each."""

    def tools(self, undescribed: str = "") -> list[dict[str, Any]]:
        """`{name, description, parameters}` of each tool, as models are told, one of which may be `undescribed`; name
        is `<server id>__<tool>` with what is neither a letter, a digit nor a hyphen written `_`."""
        return [
            {
                "name": name,
                "description": "" if name == undescribed else one.tool["description"],
                "parameters": one.tool["inputSchema"],
            }
            for name, one in self.offered.items()
        ]

    def samples_message(self) -> str | None:
        """Text of the system message that shows examples of the tools, or None when none has any. Raises
        ConfigurationError for a broken file of examples."""
        from bindings.processes.formats import encode_json

        blocks = []
        for name, one in self.offered.items():
            for sample in one.server.samples("tool", one.tool["name"])[:SHOWN_SAMPLES]:
                about = ": ".join(filter(None, [sample.get("name"), sample.get("description")]))
                lines = [f"{name}" + (f" ({about})" if about else "")]
                lines.append(f"arguments: {encode_json(sample['input'], escape_html=False)}")
                if "output" in sample:
                    lines.append(f"result: {encode_json(sample['output'], escape_html=False)}")
                blocks.append("\n".join(lines))
        return "\n\n".join(["Example calls of your tools:", *blocks]) if blocks else None

    async def run(self, name: str, arguments: str, context: Any) -> ToolRun:
        """Makes a call that the model asks for. Every problem is in the answer; only cancellation is raised. `name`:
        as the model knows it. `arguments`: JSON text as the model wrote it; broken JSON is repaired. `context`:
        passed to the process behind the tool."""
        parsed, problem = _parsed(arguments)
        found = self.offered.get(name)
        if found is None:
            server, _, tool = name.partition("__")
            if absent := self._absent.get(server):
                return _failed(ToolUse(name=tool, server=server, arguments=parsed), absent, False)
            hint = did_you_mean(name, self.offered) or f"There are: {', '.join(self.offered) or 'none'}"
            return _failed(ToolUse(name=name, server="", arguments=parsed), f'there is no tool "{name}". {hint}')
        use = ToolUse(name=found.tool["name"], server=found.server.id, arguments=parsed)
        if problem is not None:
            return _failed(use, f'Cannot read the arguments of tool "{name}": {problem}')
        try:
            answer = await found.server.call_tool(use.name, parsed, context)
        except ToolError as error:
            return _failed(use, error.message, error.retryable)
        if answer["isError"]:
            text = text_in(answer).removeprefix(f"Error executing tool {use.name}: ")
            return _failed(use, text or "the tool failed without saying why")
        return ToolRun(use=use.replace(result=value_of(answer)))


async def open_toolbox(servers: Servers, items: Any, where: str, *, may_lack: bool = False) -> ToolBox:
    """The tools of the servers in `mcp.servers` of a package, or in `mcp_servers` of a Create hook. `items`: `"id"`,
    `{"server_id": "id", "tools": [...]}`, `{"id": [tools]}` or `{"id": {"tools": [...]}}`; a list. `where`: the
    place of the list, for messages. `may_lack`: if true, an undefined server is a warning, and becomes an error only
    when it is called. Raises ConfigurationError: an item is wrong, a server is unknown, or a file cannot be read;
    ToolError: a server does not start or does not answer."""
    import asyncio

    choices = read_choices(items, where)
    absent = {choice.server: "" for choice in choices if may_lack and choice.server not in servers.ids()}
    for name in absent:
        try:
            servers.server(name)
        except ConfigurationError as error:
            absent[name] = sentences(error.message, error.hint)
    choices = [choice for choice in choices if choice.server not in absent]
    chosen = [servers.server(choice.server) for choice in choices]
    listed = await asyncio.gather(*[server.list_tools() for server in chosen])
    tools: dict[tuple[str, str], OfferedTool] = {}
    warnings = dict.fromkeys(f"{problem}; {where} names it" for problem in absent.values())
    for choice, server, available in zip(choices, chosen, listed, strict=True):
        warnings |= dict.fromkeys(server.warnings)
        names = [tool["name"] for tool in available]
        for name in choice.tools:
            if name not in names:
                hint = did_you_mean(name, names)
                text = f'MCP server {server.id} has no tool "{name}", which {where} names'
                warnings[sentences(text, hint)] = None
        for tool in available:
            if not choice.tools or tool["name"] in choice.tools:
                tools[server.id, tool["name"]] = OfferedTool(server=server, tool=tool)
    return ToolBox(tools.values(), warnings, absent)


def read_choices(items: Any, where: str) -> list[ServerChoice]:
    """The items of a list of servers, in their order. Raises ConfigurationError for one that cannot be read."""
    if items is None:
        return []
    if not isinstance(items, list):
        raise ConfigurationError(f"Cannot read the MCP servers of {where}: it is not a list")
    return [_choice(item, f"MCP server {number} of {where}") for number, item in enumerate(items, 1)]


def _choice(item: Any, what: str) -> ServerChoice:
    if isinstance(item, str) and item:
        return ServerChoice(server=item)
    if isinstance(item, dict):
        if isinstance(item.get("server_id"), str):
            return ServerChoice(server=item["server_id"], tools=_names(item.get("tools"), what))
        if len(item) == 1:
            ((server, chosen),) = item.items()
            tools = chosen.get("tools") if isinstance(chosen, dict) else chosen
            return ServerChoice(server=server, tools=_names(tools, what))
    raise ConfigurationError(
        f"Cannot read {what}: no server is named", 'Write it as "id", or as {"server_id": "id", "tools": ["name"]}'
    )


def _names(names: Any, what: str) -> tuple[str, ...]:
    if names is None:
        return ()
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigurationError(f'Cannot read {what}: "tools" must be a list of names')
    return tuple(names)


def _unique(server: str, tool: str, taken: dict[str, Any]) -> str:
    name = _UNNAMED.sub("_", f"{server}__{tool}")
    number, unique = 1, name[:MAX_NAME]
    while unique in taken:
        number += 1
        unique = f"{name[: MAX_NAME - len(str(number)) - 1]}_{number}"
    return unique


def _parsed(text: str) -> tuple[Any, str | None]:
    """The arguments, or the text itself and what is wrong with it. An empty text means no arguments."""
    from bindings.processes.formats import decode_json, repair

    if not text.strip():
        return {}, None
    try:
        try:
            value = decode_json(text)
        except ValueError:
            value = repair(text)
    except (ValueError, RecursionError) as error:
        return text, f"invalid JSON: {error}"
    return value, None if isinstance(value, dict) else "not an object"


def _failed(use: ToolUse, error: str, retryable: bool = True) -> ToolRun:
    return ToolRun(use=use.replace(error=error), retryable=retryable)
