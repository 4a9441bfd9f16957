"""An application with a real MCP server, for tests."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from command import PATIENCE
from forks import fork_server
from mcp_application import SERVERS, program, use, write

from runner.agents.mcp.servers import Servers


class Service:
    """The server of `servers/tools.py`, behind a socket that listens already."""

    def __init__(self, transport: str) -> None:
        self.transport = transport
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._start()

    @property
    def definition(self) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        return {"transport": self.transport, "url": url, "endpoint": "mcp" if self.transport == "http" else "sse"}

    def restart(self) -> None:
        """Starts it again, behind the same socket."""
        self._end()
        self._start()

    def close(self) -> None:
        """Ends it; its address answers no more."""
        self._end()
        self._socket.close()

    def _start(self) -> None:
        words = [str(SERVERS / "tools.py"), self.transport, "0"]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = fork_server("the SDK of MCP").start(
            words, SERVERS, os.environ, program="file", stdin=self._socket.fileno(), **silent
        )

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()


class Surroundings:
    """An application with one server `s`, and the service that it talks to.

    Args:
        shared: services that tests share which leave them alive: each takes a second of the processor to start.
    """

    def __init__(self, root: Path, shared: Callable[[str], Service]) -> None:
        self.root = root
        self.mark = uuid.uuid4().hex
        self._shared = shared
        self._own: Service | None = None

    def stdio(self, name: str, *arguments: str, **more: Any) -> None:
        write(self.root, {"mcps/s.mcp.yao": {**program(name, *arguments, mark=self.mark), **more}})

    def service(self, transport: str, **more: Any) -> None:
        """Starts a service of this test."""
        self._own = Service(transport)
        write(self.root, {"mcps/s.mcp.yao": {**self._own.definition, **more}})

    def restart(self) -> None:
        """Ends that service and starts it again, behind the same socket."""
        assert self._own is not None
        self._own.restart()

    def close(self) -> None:
        """Ends that service, if there is one; its address answers no more."""
        if self._own is not None:
            self._own.close()
            self._own = None

    def start(self, transport: str, **more: Any) -> None:
        """Has a server that the test may only ask."""
        if transport == "stdio":
            self.stdio("tools", "stdio", **more)
        else:
            write(self.root, {"mcps/s.mcp.yao": {**self._shared(transport).definition, **more}})

    def use(self, action: Any, variables: Any = None) -> Any:
        async def bounded(servers: Servers) -> Any:
            async with asyncio.timeout(PATIENCE):
                return await action(servers)

        return use(self.root, bounded, variables=variables)
