"""Finds MCP servers by their ids, in the files `*.mcp.yao` of an application.

| file | id |
| --- | --- |
| `mcps/a/b.mcp.yao` | `a.b` |
| `assistants/<agent>/mcps/b.mcp.yao` | `agents.<agent id>.b` |

Their tools are described in `mcps/mapping/<file>/`, beside them. A string that is exactly `$ENV.NAME` stands for an
environment variable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.application.application import Application
from runner.application.documents import read_json
from runner.errors import ConfigurationError, MissingError, did_you_mean
from runner.security.walk import files_below
from scripttest import install_command
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.mcp.base import Server
    from runner.agents.mcp.process import CallProcess
    from runner.connectors.wire import Endpoint

SUFFIXES = (".mcp.yao", ".mcp.json", ".mcp.jsonc")
TRANSPORTS = ("process", "stdio", "sse", "http")


class ServerFile(Value):
    """Where a server is defined."""

    path: Path
    mapping: Path
    """Folder of the files that describe its tools; it need not exist."""


class Servers:
    """The MCP servers of one application, for one run and one event loop. A server is made on first use.

    Args:
        root: folder of the application
        variables: the environment, with the application's `.env` file
        call_process: calls the process behind a tool
    """

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
                "Set it, or write it into the .env file of the application",
            )
        return variables[name]
    return value
