"""An application with a real MCP server, for tests."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from command import PATIENCE
from mcp_application import SERVERS, program, use, write

from runner.agents.mcp.servers import Servers


class Surroundings:
    """An application with one server `s`, and the services that it talks to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.mark = uuid.uuid4().hex
        self._services: list[tuple[subprocess.Popen[bytes], socket.socket]] = []

    def stdio(self, name: str, *arguments: str, **more: Any) -> None:
        write(self.root, {"mcps/s.mcp.yao": {**program(name, *arguments, mark=self.mark), **more}})

    def service(self, transport: str, **more: Any) -> None:
        """Starts the server of `servers/tools.py` behind a socket that listens already."""
        listening = socket.create_server(("127.0.0.1", 0))
        self._start(transport, listening)
        port = listening.getsockname()[1]
        endpoint = "mcp" if transport == "http" else "sse"
        definition = {"transport": transport, "url": f"http://127.0.0.1:{port}", "endpoint": endpoint, **more}
        write(self.root, {"mcps/s.mcp.yao": definition})

    def restart(self, transport: str) -> None:
        """Starts the service again, behind the same socket."""
        process, listening = self._services[-1]
        process.kill()
        process.wait()
        self._start(transport, listening)

    def stop(self) -> None:
        """Ends the service; its address answers no more."""
        process, listening = self._services.pop()
        process.kill()
        process.wait()
        listening.close()

    def start(self, transport: str) -> None:
        if transport == "stdio":
            self.stdio("tools", "stdio")
        else:
            self.service(transport)

    def use(self, action: Any, variables: Any = None) -> Any:
        async def bounded(servers: Servers) -> Any:
            async with asyncio.timeout(PATIENCE):
                return await action(servers)

        return use(self.root, bounded, variables=variables)

    def close(self) -> None:
        for process, listening in self._services:
            process.kill()
            process.wait()
            listening.close()

    def _start(self, transport: str, listening: socket.socket) -> None:
        number = listening.fileno()
        command = [sys.executable, str(SERVERS / "tools.py"), transport, str(number)]
        process = subprocess.Popen(command, pass_fds=[number], stderr=subprocess.DEVNULL)
        self._services = [(old, other) for old, other in self._services if other is not listening]
        self._services.append((process, listening))
