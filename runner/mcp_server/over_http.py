"""The server over HTTP, at one address of this machine, for whoever has the token."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from runner.view.server import ADDRESS, Guard, config_of, listening

REFUSED = "This needs the token that yao-test mcp printed: Authorization: Bearer TOKEN\n"


class Listening:
    """A server that listens as soon as it is created."""

    def __init__(self, server: Server[Any, Any], token: str, port: int) -> None:
        """`port` is 0 for any. Raises ConfigurationError when it is in use."""
        self._sessions = StreamableHTTPSessionManager(server)
        self._socket = listening(port)
        port = int(self._socket.getsockname()[1])
        self.address = f"http://{ADDRESS}:{port}/mcp"
        guarded = Guard(self._sessions.handle_request, f"Bearer {token}", port, header=b"authorization", said=REFUSED)
        self._server = _Server(config_of(guarded))

    async def serve(self) -> None:
        """Answers until the process ends."""
        async with self._sessions.run():
            await self._server.serve(sockets=[self._socket])


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves signals to the command."""
        yield
