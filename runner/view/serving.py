"""Serves the pages on the loopback address, until somebody ends it. The one place that knows uvicorn."""

from __future__ import annotations

import secrets
import socket

import uvicorn

from runner.errors import ConfigurationError
from runner.view.page_actions import PageActions
from runner.view.server import Ending, server_of

ADDRESS = "127.0.0.1"
GRACE = 1
"""Seconds that running requests have when the server ends."""


class Serving:
    """A server that listens as soon as it is created."""

    def __init__(self, actions: PageActions, port: int) -> None:
        """`port` is 0 for any. Raises ConfigurationError when it is in use."""
        self._socket = _listening(port)
        self.port = int(self._socket.getsockname()[1])
        token = secrets.token_urlsafe(32)
        self.link = f"http://{ADDRESS}:{self.port}/#token={token}"
        """The address of the first page. A browser does not send the part after `#`."""
        self._ending = Ending()
        config = uvicorn.Config(
            server_of(actions, token, self.port, self._ending),
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=GRACE,
        )
        self._server = _Server(config, self._ending)

    def run(self) -> None:
        """Answers until it is ended. Raises KeyboardInterrupt for Ctrl-C, when it has ended."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def end(self) -> None:
        """Ends it soon; from any thread."""
        self._server.should_exit = True


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ending: Ending) -> None:
        super().__init__(config)
        self._ending = ending

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends the streams, then the server."""
        self._ending.is_near = True
        await super().shutdown(sockets)


def _listening(port: int) -> socket.socket:
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((ADDRESS, port))
        opened.listen()
    except OSError as error:
        opened.close()
        raise ConfigurationError(
            f"Cannot listen at {ADDRESS}:{port}: {error.strerror}", "Name another port with --port, or none"
        ) from error
    return opened
