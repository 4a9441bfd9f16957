"""What calls over HTTP share, of models and of MCP servers: where a server is and whose it is, the proxy on the way to
it, the errors of calls, and server-sent events (WHATWG HTML, section 9.2).

`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` name proxies. `NO_PROXY` is a list with commas: `*` for every
host, networks such as `10.0.0.0/8`, or names of hosts, which include their subdomains, with or without a leading `.` or
`*.`, and a `:port`.

HttpError
├── CannotConnect      nobody answers there, unknown name, untrusted certificate, or a proxy refuses
├── LocalLimit         this machine has no more files, ports or memory
├── ConnectionLost     the other side closed the connection before the answer was complete
├── HttpTimeout        nothing came for too long
│   └── ConnectTimeout connecting took too long
├── BadProtocol        what was sent or received is not HTTP
└── AnswerTooLarge     the body is larger than the limit"""

from __future__ import annotations

import errno
import os
import re
import socket
import ssl
from codecs import BOM_UTF8
from collections.abc import Mapping
from functools import cache
from urllib.parse import urlsplit

from runner.errors import ConfigurationError
from scripttest.values import Value

IDLE_SECONDS = 3.0
"""Servers commonly drop a connection after 5 idle seconds; one that they may be dropping is not used again."""
CLOSED_EARLY = "it was closed before the response was complete"
NO_SUCH_HOST = "there is no host with that name"
_LOCAL = {errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOBUFS, errno.ENOMEM}
PORTS = {"http": 80, "https": 443}
_HOSTS = {
    "anthropic.com": "anthropic",
    "amazonaws.com": "aws.bedrock",
    "cohere.ai": "cohere",
    "cohere.com": "cohere",
    "deepseek.com": "deepseek",
    "generativelanguage.googleapis.com": "gcp.gemini",
    "aiplatform.googleapis.com": "gcp.vertex_ai",
    "googleapis.com": "gcp.gen_ai",
    "groq.com": "groq",
    "mistral.ai": "mistral_ai",
    "openai.azure.com": "azure.ai.openai",
    "azure.com": "azure.ai.inference",
    "perplexity.ai": "perplexity",
    "x.ai": "x_ai",
}
"""End of a host's name → who has it; the first that fits decides."""


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


def not_connected(host: str, error: Exception) -> HttpError:
    """The error of a call for what the system or the TLS library raised while connecting."""
    begin = f"cannot connect to {host}: "
    match error:
        case TimeoutError():
            return ConnectTimeout(f"no connection to {host} in time")
        case ssl.SSLCertVerificationError():
            return CannotConnect(
                f"{begin}its certificate cannot be trusted: {error.verify_message.rstrip('.')}", lasting=True
            )
        case UnicodeError() | socket.gaierror(errno=socket.EAI_NONAME):  # a name too long for DNS is a UnicodeError
            return CannotConnect(begin + NO_SUCH_HOST, lasting=True)
        case ssl.SSLError(reason="WRONG_VERSION_NUMBER"):
            return CannotConnect(f"{begin}it does not speak TLS: its address may be http:// instead", lasting=True)
        case ssl.SSLError(reason=str(reason)):
            return CannotConnect(begin + reason.replace("_", " ").lower())
        case socket.gaierror():
            return CannotConnect(begin + (error.strerror or str(error)))
    # asyncio joins what failed at several addresses in one text
    found = re.findall(r"\[Errno (\d+)\]", str(error)) or [getattr(error, "errno", None) or 0]
    number = next((int(number) for number in found if int(number) in _LOCAL), int(found[-1]))
    if number in _LOCAL:
        return LocalLimit(f"{begin}this machine has reached a limit: {os.strerror(number)}")
    return CannotConnect(begin + (os.strerror(number) if number else str(error) or "it was closed"))


def why_lost(error: Exception | None) -> str:
    """The reason why a connection ended, in the words of the system or of TLS."""
    match error:
        case ssl.SSLError(reason=str(reason)):
            return reason.replace("_", " ").lower()
        case OSError(errno=int(number)):
            return os.strerror(number)
    return str(error or "") or CLOSED_EARLY


class Endpoint(Value):
    """The place of a server. Names and passwords of its address are not in it."""

    address: str
    """The name of the host, or its IP address."""
    port: int


def endpoint_of(url: str) -> Endpoint | None:
    """The endpoint of an address; None if it is none of HTTP."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    return Endpoint(address=parts.hostname, port=port) if parts.hostname else None


@cache
def vendor_of(type: str, host: str) -> str:
    """The vendor of a connector's model, by its host, else its type: many hosts offer the API of another vendor. In the
    words of OpenTelemetry: `gen_ai.provider.name` (opentelemetry.io/docs/specs/semconv/registry/attributes/gen-ai)."""
    name = urlsplit(host).hostname or ""
    return next((vendor for end, vendor in _HOSTS.items() if f".{name}".endswith(f".{end}")), type)


class Proxies(Value):
    """The proxies of a run."""

    urls: Mapping[str, str] = {}
    """`http`, `https`, `all` → URL of the proxy for such addresses."""
    direct: tuple[str, ...] = ()
    """Hosts that are reached without one, lower case."""

    @classmethod
    def from_variables(cls, variables: Mapping[str, str]) -> Proxies:
        """The proxies that environment variables set; a lower-case name wins over an upper-case one."""
        values = {
            name: variables.get(f"{name}_proxy") or variables.get(f"{name.upper()}_PROXY") or ""
            for name in ("http", "https", "all", "no")
        }
        direct = tuple(item.strip().lower() for item in values.pop("no").split(",") if item.strip())
        return cls(urls={name: url for name, url in values.items() if url}, direct=direct)

    def find(self, scheme: str, host: str) -> str | None:
        """URL of the proxy on the way to a host (`name` or `name:port`), if there is one. Raises ConfigurationError."""
        url = self.urls.get(scheme) or self.urls.get("all")
        if not url or self._is_direct(host.lower()):
            return None
        url = url if "://" in url else f"http://{url}"
        scheme = scheme.upper()
        if not url.startswith(("http://", "https://")):
            kind = url.partition(":")[0]
            raise ConfigurationError(
                f"Cannot use the proxy for {host}: {kind} proxies are not supported",
                f"Name an http:// proxy in {scheme}_PROXY, or add the host to NO_PROXY",
            )
        if not is_http_address(url):
            raise ConfigurationError(
                f"Cannot use the proxy for {host}: {scheme}_PROXY or ALL_PROXY is not a URL",
                "For example: http://proxy.example.com:3128",
            )
        return url

    def _is_direct(self, host: str) -> bool:
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        name = name.strip("[]")
        for item in self.direct:
            suffix = item.removeprefix("*").removeprefix(".")
            if item == "*" or any(one == suffix or one.endswith(f".{suffix}") for one in (host, name)):
                return True
            if "/" in item and _is_in(name, item):
                return True
        return False


def _is_in(name: str, network: str) -> bool:
    from ipaddress import ip_address, ip_network

    try:
        return ip_address(name) in ip_network(network, strict=False)
    except ValueError:
        return False


def is_http_address(url: str) -> bool:
    """Whether a text is an address that begins with http:// or https://."""
    try:
        parts = urlsplit(url)
        return parts.scheme in PORTS and bool(parts.hostname) and parts.port != 0 and url.isascii()
    except ValueError:
        return False


class EventReader:
    """Takes pieces of a stream, cut anywhere, and gives the data of the events that they complete."""

    def __init__(self) -> None:
        self._begun = False
        self._rest: list[bytes] = []
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[str]:
        """The data of the events that end in this piece, its lines joined by newlines."""
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._rest.append(chunk)
            return []
        text = b"".join([*self._rest, chunk[:end]])
        self._rest = [chunk[end:]]
        return self._events(text)

    def end(self) -> list[str]:
        """The data of a last event that no blank line ends."""
        return self._events(b"".join(self._rest) + b"\n\n")

    def _events(self, text: bytes) -> list[str]:
        if not self._begun:
            self._begun, text = True, text.removeprefix(BOM_UTF8)
        events = []
        for line in text.splitlines():
            if line.startswith(b"data"):
                field, _, value = line.partition(b":")
                if field == b"data":
                    self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))
            elif not line and self._data:
                events.append("\n".join(self._data))
                self._data = []
        return events
