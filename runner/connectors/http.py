"""What a call over HTTP gives, whichever library makes it: an answer whose body is read as it arrives, or an error.

HttpError
├── CannotConnect      nobody answers there, unknown name, untrusted certificate, or a proxy refuses
├── LocalLimit         this machine has no more files, ports or memory
├── ConnectionLost     the other side closed the connection before the answer was complete
├── HttpTimeout        nothing came for too long
│   └── ConnectTimeout connecting took too long
├── BadProtocol        what was sent or received is not HTTP
└── AnswerTooLarge     the body is larger than the limit
"""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Protocol

from scripttest.values import Value

IDLE_SECONDS = 3.0
"""Servers commonly drop a connection after 5 idle seconds; one that they may be dropping is not used again."""
CLOSED_EARLY = "it was closed before the answer was complete"
NO_SUCH_HOST = "there is no host of that name"
_LOCAL = {errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOBUFS, errno.ENOMEM}


class HttpError(Exception):
    """A call that failed below the level of HTTP status codes; the message names host and reason."""

    def __init__(self, message: str, lasting: bool = False) -> None:
        super().__init__(message)
        self.lasting = lasting
        """Whether the next call will meet the same: an untrusted certificate, an unknown name, a proxy's refusal."""


class CannotConnect(HttpError):  # noqa: N818
    """There is no connection to the host."""


class LocalLimit(HttpError):  # noqa: N818
    """There is no connection for a reason that lies with this machine: nothing is known of the host."""


class ConnectionLost(HttpError):  # noqa: N818
    """The connection ended before the answer did."""


class HttpTimeout(HttpError):  # noqa: N818
    """The host sent nothing for too long."""


class ConnectTimeout(HttpTimeout):
    """There was no connection in time."""


class BadProtocol(HttpError):  # noqa: N818
    """The request or the answer is not valid HTTP."""


class AnswerTooLarge(HttpError):  # noqa: N818
    """The body of the answer is larger than the limit."""


class Answer(Value):
    """An answer whose head has come."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    chunks: AsyncIterator[bytes]
    """The pieces of the body as they arrive. Raises HttpError."""
    close: Callable[[], Awaitable[None]]
    """Gives the connection back if the body has been read, else closes it."""


class Sender(Protocol):
    """Sends POSTs by one library. For one event loop."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, proxy: str | None) -> Answer:
        """The answer to a POST, through a proxy if one is given. When it is cancelled, the connection is closed. Raises
        HttpError."""
        ...

    async def close(self) -> None:
        """Closes idle connections."""
        ...


def not_connected(host: str, number: int) -> HttpError:
    """The error for an error number of the operating system while connecting."""
    if number in _LOCAL:
        return LocalLimit(f"cannot connect to {host}: this machine is at a limit: {os.strerror(number)}")
    return CannotConnect(f"cannot connect to {host}: {os.strerror(number)}")
