"""Finds MCP servers by their ids, in the files `*.mcp.yao` of an application.

| file | id |
| --- | --- |
| `mcps/a/b.mcp.yao` | `a.b` |
| `assistants/<agent>/mcps/b.mcp.yao` | `agents.<agent id>.b` |

Their tools are described in `mcps/mapping/<file>/`, beside them. A string that is exactly `$ENV.NAME` stands for an
environment variable.

The processes `mcp.*`, which `ctx.mcp` and `new MCP(id)` of scripts call, ask them:

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

Lists are always complete: a cursor is accepted and ignored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.agents.mcp.base import Item, Server, ToolError
from runner.application.application import Application
from runner.application.documents import read_json
from runner.errors import ConfigurationError, MissingError, RunnerError, did_you_mean, sentences
from runner.security.files import files_below
from scripttest import install_command
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.mcp.process import CallProcess
    from runner.connectors.http import Endpoint


SUFFIXES = (".mcp.yao", ".mcp.json", ".mcp.jsonc")
TRANSPORTS = ("process", "stdio", "sse", "http")
PROCESSES = (
    *("info", "listtools", "calltool", "listresources", "readresource", "listprompts", "getprompt"),
    *("listsamples", "getsample"),
)
"""The processes of the table, in lower case."""


class ServerFile(Value):
    """Where a server is defined."""

    path: Path
    mapping: Path
    """Folder of the files that describe its tools; it need not exist."""


class Servers:
    """The MCP servers of one application, for one run and one event loop. A server is made on first use. `root`:
    folder of the application. `variables`: the environment, with the application's `.env` file. `call_process`:
    calls the process behind a tool."""

    def __init__(self, root: Path, variables: Mapping[str, str], call_process: CallProcess) -> None:
        self._root = root
        self._variables = variables
        self._call_process = call_process
        self._files: dict[str, ServerFile] | None = None
        self._servers: dict[str, Server] = {}

    def ids(self) -> list[str]:
        """Ids of all servers of the application, sorted."""
        return sorted(self._found())

    def server(self, id: str) -> Server:
        """The server of an id. Raises ConfigurationError when there is none, or when its files cannot be used."""
        if id not in self._servers:
            file = self._found().get(id)
            if file is None:
                raise self._unknown(id)
            self._servers[id] = self._make(id, file)
        return self._servers[id]

    def endpoint(self, id: str) -> Endpoint | None:
        """Where a server is reached over HTTP; None for one that was not used, or is reached in another way."""
        return self._servers[id].endpoint if id in self._servers else None

    async def answer(self, process: str, args: list[Any], context: Any) -> Any:
        """The answer to a process `mcp.*`, a JSON value. Raises ProcessError: unknown servers, tools and processes have
        code 404, bad arguments code 400; a tool that fails is an answer with `isError`."""
        from bindings import ProcessError

        if _method(process) not in PROCESSES:
            raise ProcessError(f'Process "{process}" does not exist', 404, missing=True)
        if not args or not isinstance(args[0], str):
            raise ProcessError(f"Cannot call {process}: the MCP server id is missing", 400)
        try:
            return await _answer(self.server(args[0]), process, args[1:], context)
        except RunnerError as error:
            code = error.code if isinstance(error, ToolError) else 404
            raise ProcessError(
                sentences(error.message, error.hint), code, error.missing, error.infrastructure
            ) from error

    async def close(self) -> None:
        """Ends all connections and processes, and waits until they have ended."""
        import asyncio

        await asyncio.gather(*[server.close() for server in self._servers.values()])

    def _make(self, id: str, file: ServerFile) -> Server:
        definition = read_json(file.path, "MCP server")
        if not isinstance(definition, dict):
            raise ConfigurationError(f"Cannot read MCP server {file.path}: it is not an object")
        transport = definition.get("transport") or definition.get("type") or "process"
        if transport not in TRANSPORTS:
            raise ConfigurationError(
                f'Cannot read MCP server {file.path}: unknown transport "{transport}"',
                did_you_mean(str(transport), TRANSPORTS) or f"Transports are {', '.join(TRANSPORTS)}",
            )
        shown = _shown(definition)
        definition = _substituted(definition, self._variables, file.path)
        if transport == "process":
            from runner.agents.mcp.process import ProcessServer

            return ProcessServer(id, definition, file.path, file.mapping, self._call_process)
        try:
            from runner.agents.mcp.client import RemoteServer
        except ModuleNotFoundError as error:
            raise MissingError(
                f"Cannot use MCP server {id} ({file.path}): transport {transport} needs the package {error.name}",
                f"Install it with: {install_command('mcp', str(error.name))}",
            ) from error
        return RemoteServer(id, transport, definition, shown, file.path, self._root, self._variables)

    def _unknown(self, id: str) -> ConfigurationError:
        known = self.ids()
        listed = f"; there are {', '.join(known[:20])}" if known else "; the application has no MCP servers"
        hint = did_you_mean(id, known) or next(
            (f'Did you mean "{one}"?' for one in known if one.endswith(f".{id}")), None
        )
        return MissingError(f"Cannot find MCP server {id}{listed}", hint)

    def _found(self) -> dict[str, ServerFile]:
        if self._files is None:
            self._files = server_files(Application(self._root))
        return self._files


def server_files(application: Application) -> dict[str, ServerFile]:
    """Where the servers of an application are defined, by id."""
    files = dict(_files(application.root / "mcps", "", application.root))
    for agent in application.agents():
        files.update(_files(agent.folder / "mcps", f"agents.{agent.id}.", application.root))
    return files


def _files(folder: Path, prefix: str, root: Path) -> Iterator[tuple[str, ServerFile]]:
    for path in files_below(folder, root=root):
        suffix = next((suffix for suffix in SUFFIXES if path.endswith(suffix)), None)
        if suffix is not None:
            name = path[len(str(folder)) + 1 :].removesuffix(suffix)
            yield (
                prefix + name.replace(".", "_").replace("/", "."),
                ServerFile(path=Path(path), mapping=folder / "mapping" / name),
            )


def _shown(definition: dict[str, Any]) -> str:
    """The command or address of a real server, before variables are filled in, for messages."""
    if "url" in definition:
        return str(definition["url"]).partition("?")[0]
    arguments = definition.get("arguments") or definition.get("args")
    return " ".join(map(str, [definition.get("command"), *(arguments if isinstance(arguments, list) else [])]))


def _substituted(value: Any, variables: Mapping[str, str], path: Path) -> Any:
    if isinstance(value, dict):
        return {key: _substituted(item, variables, path) for key, item in value.items()}
    if isinstance(value, list):
        return [_substituted(item, variables, path) for item in value]
    if isinstance(value, str) and value.startswith("$ENV."):
        name = value.removeprefix("$ENV.")
        if not variables.get(name):
            raise MissingError(
                f"Cannot read MCP server {path}: the environment variable {name} is not set",
                "Set it, or add it to the application's .env file",
            )
        return variables[name]
    return value


async def _answer(server: Server, name: str, args: list[Any], context: Any) -> Item:
    """What a server answers to a process, whose further arguments these are. Raises ToolError."""

    def fault(why: str, code: int = 400) -> ToolError:
        return ToolError(f"Cannot call {name}: {why}", code)

    def text(value: Any, what: str) -> str:
        if not isinstance(value, str) or not value:
            raise fault(f"{what} is missing")
        return value

    def arguments() -> Item:
        if second is not None and not isinstance(second, dict):
            raise fault("the arguments are not an object")
        return second or {}

    first, second, third = [*args, None, None, None][:3]
    match _method(name):
        case "info":
            fields = ("id", "label", "description", "transport")
            return {field: getattr(server, field) for field in fields}
        case "listtools":
            return {"tools": await server.list_tools()}
        case "calltool":
            return await server.call_tool(text(first, "the name of a tool"), arguments(), context)
        case "listresources":
            return {"resources": await server.list_resources()}
        case "readresource":
            return await server.read_resource(text(first, "the URI of a resource"), context)
        case "listprompts":
            return {"prompts": await server.list_prompts()}
        case "getprompt":
            return await server.get_prompt(text(first, "the name of a prompt"), arguments(), context)
    if first not in ("tool", "resource"):
        raise fault('samples belong to a "tool" or a "resource"')
    of = text(second, "the name of a tool or resource")
    samples = server.samples(first, of)
    if _method(name) == "listsamples":
        return {"samples": samples, "total": len(samples)}
    if type(third) is not int or not 0 <= third < len(samples):
        raise fault(f"MCP server {server.id} has {len(samples)} samples of {of}, none with index {third}", 404)
    return samples[third]


def _method(process: str) -> str:
    return process.lower().removeprefix("mcp.")
