"""The permissions of scripts: which folders, hosts and environment variables they may use.

Scripts are untrusted. They may read what belongs to the application and write in its `data/` folder. They may use no
network and no environment variable unless the user allows it. Each path of a script is checked by `rooted.Rooted` and
`Volume.refusal`, each address by `Policy.addresses`. All refusals are `ProcessError` with code 403.

`HostCall` is what a host function, `(args, call) -> result`, may ask of the run. `args` are the JSON values that the
script passed; the result is a JSON value or `bytes`. A `Uint8Array` of the script arrives as `bytes`, and `bytes` reach
the script as a `Uint8Array`. The function runs on its own thread and may block. It raises `ProcessError` for errors
that the script gets as an `Exception`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from bindings.errors import ProcessError
from scripttest.typing_names import Json
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Address, IPv6Network

    from bindings.world import World


_NOTHING: Mapping[str, str] = MappingProxyType({})
_DEFAULT_PORTS = {"http": 80, "https": 443}
VOLUMES = {"data": "data", "system": "data", "app": "", "dsl": "", "script": "scripts", "seed": "seeds"}
"""Name of a volume → its folder in the application. Only `data` and its old name `system` can be written."""
SPECIAL = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
    203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    168.63.129.16/32
    2001::/23 2001:db8::/32 2620:4f:8000::/48 3fff::/20
"""
"""The registries of special purposes, and what Azure tells its machines at 168.63.129.16; the metadata addresses of
other clouds are link-local, shared or private ones."""
_UNICAST = 0b001
"""The first three bits of IPv6 addresses that are given out."""
_ISATAP = (bytes.fromhex("00005efe"), bytes.fromhex("02005efe"))
"""The bits before the IPv4 address in an interface identifier of ISATAP."""


class Volume(Value):
    """A folder of an application that scripts see as the root of a file system: `new FS("data")`, `fs.data.ReadFile`.
    Scripts may read what belongs to the application."""

    name: str
    """One of `VOLUMES`."""
    application: Path
    """Absolute path of its root."""

    @property
    def root(self) -> Path:
        """Absolute; need not exist."""
        return self.application / VOLUMES[self.name]

    @property
    def writable(self) -> bool:
        """Whether scripts may write in it, and read all of it."""
        return VOLUMES[self.name] == "data"

    def refusal(self, parts: tuple[str, ...], is_folder: bool = False) -> str | None:
        """Why scripts may not touch a file or folder, as the end of a sentence; None if they may. `parts`: of its
        path from the root of the volume, links resolved."""
        if self.writable:
            return None
        import os

        from scripttest import belongings_of, parts_below

        root = os.path.realpath(self.application)
        above = parts_below(os.path.realpath(self.root), root) or ()
        return belongings_of(root).refused((*above, *parts), is_folder)

    def is_open(self, parts: tuple[str, ...], is_folder: bool = False) -> bool:
        """Whether scripts may touch a file or folder; as `refusal`."""
        return self.refusal(parts, is_folder) is None


class Policy(Value):
    """The permissions of a run. The default allows the application's folders and nothing else."""

    allow_net: tuple[str, ...] | None = None
    """Hosts that scripts may reach, as `host` (any port) or `host:port`; `("*",)` is every host, None is no network.
    Each is one in which `host_problem` finds nothing wrong."""
    allow_exec: tuple[str, ...] = ()
    """Names of the programs that `ctx.computer.Exec` may run, in a jail."""
    written: set[tuple[int, int]] = set()  # noqa: RUF012
    """The files that the scripts of the run have written as a whole: device and number of each."""
    environment: Mapping[str, str] = _NOTHING
    """The environment variables that scripts may see. Names that are not here look like missing ones."""
    keep_secret: Callable[[str, str], None] = lambda name, value: None
    """Called with values that no report may show, such as `Authorization` headers that scripts send."""

    def check_host(self, url: str) -> None:
        """Checks by name whether scripts may reach the host of an address. `url`: absolute `http` or `https`
        address, as the HTTP library will use it. Raises ProcessError: code 403; the message names the host, and says
        how to allow it."""
        self._is_named(*_address(url))

    def addresses(self, url: str) -> list[str]:
        """The IP addresses at which scripts may reach a URL. A connection must use one of these.

        A host that the user has named may have any address. If every host is allowed (`*`), an address that is not
        public (loopback, private, link-local and the like) is refused unless the user has named it. Returns at least
        one address, in the order of the resolver. Raises ProcessError: code 403, if the host or all its addresses
        are refused; OSError: the name cannot be resolved."""
        import socket

        host, port = _address(url)
        is_named = self._is_named(host, port)
        found = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        kept = [
            one
            for one in dict.fromkeys(found)
            if is_named or is_public(one) or self._is_named(one.partition("%")[0], port)
        ]
        if not kept:
            at = f"{found[0]}, an" if found[0] != host else "an"
            raise ProcessError(
                f'Cannot reach "{host}": it is {at} address that is not public; allow it with --allow-net={host}',
                403,
                missing=True,
            )
        return kept

    def _is_named(self, host: str, port: int) -> bool:
        """Whether the user has named a host or an address; if not, and not all may be reached, raises ProcessError."""
        if any(_matches(entry, host, port) for entry in self.allow_net or ()):
            return True
        if "*" in (self.allow_net or ()):
            return False
        why = "scripts have no network" if self.allow_net is None else "this host is not allowed"
        if any(_plain(_parts(entry)[0]) == host for entry in self.allow_net or ()):
            host, why = f"[{host}]:{port}" if ":" in host else f"{host}:{port}", "this port is not allowed"
        raise ProcessError(f'Cannot reach "{host}": {why}; allow it with --allow-net={host}', 403, missing=True)


def _address(url: str) -> tuple[str, int]:
    from urllib.parse import urlsplit

    if any(character <= " " or character in "\\\x7f" for character in url):
        raise ProcessError("a URL cannot contain spaces, backslashes or control characters", 403)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ProcessError(f'"{url}" is not an address: {error}', 403) from error
    if parts.scheme not in _DEFAULT_PORTS or not host:
        raise ProcessError(f'Cannot reach "{url}": scripts can only reach http:// and https:// URLs', 403)
    return _plain(host), port or _DEFAULT_PORTS[parts.scheme]


def host_problem(entry: str) -> str | None:
    """Why an entry of `allow_net` can allow no host, as the end of a sentence; None if it can."""
    host, port = _parts(entry)
    if entry == "*":
        return None
    if "/" in entry:
        return "a host must not include a scheme or a path"
    if "*" in entry:
        return "wildcards are not supported, except * alone"
    if port is not None and not (re.fullmatch("[0-9]{1,5}", port) and 0 < int(port) < 65536):
        return "its port must be a number from 1 to 65535"
    return None if _is_name(host) or _is_ipv6(host) else "it must be host or host:port"


def _matches(entry: str, host: str, port: int) -> bool:
    entry_host, entry_port = _parts(entry)
    return _plain(entry_host) == host and (entry_port is None or int(entry_port) == port)


def _parts(entry: str) -> tuple[str, str | None]:
    """The host of an entry and its port, if it has one. A bare IPv6 address has none."""
    found = re.fullmatch(r"(\[.*\]|[^:]+)(?::([^:]*))?", entry)
    return (found[1], found[2]) if found else (entry, None)


def _is_name(host: str) -> bool:
    try:
        return bool(re.fullmatch(r"\w[\w.-]*", host) and host.encode("idna"))
    except UnicodeError:
        return False


def _is_ipv6(host: str) -> bool:
    from ipaddress import IPv6Address

    try:
        return bool(IPv6Address(host[1:-1] if host.startswith("[") else host))
    except ValueError:
        return False


def _plain(host: str) -> str:
    host = host.strip("[]").rstrip(".").lower()
    try:
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        return host


def is_public(address: str) -> bool:
    """Whether an IP address, with or without a zone (`fe80::1%eth0`), is one of the public Internet. Raises ValueError
    when it is not an address."""
    from ipaddress import IPv6Address, ip_address

    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        inner = _inside(ip)
        if inner:
            return all(map(is_public, inner))
        if ip.packed[0] >> 5 != _UNICAST:
            return False
    return not any(ip in network for network in _special(ip.version))


def _inside(ip: IPv6Address) -> list[str]:
    """The IPv4 addresses that an IPv6 address leads to: mapped, NAT64, 6to4, Teredo (server and client), ISATAP."""
    packed = ip.packed
    if ip.teredo:
        return [str(one) for one in ip.teredo]
    if ip.sixtofour:
        return [str(ip.sixtofour)]
    nat64 = packed[:12] == bytes.fromhex("0064ff9b0000000000000000")
    if ip.ipv4_mapped or nat64 or (packed[8:12] in _ISATAP and packed[0] >> 5 == _UNICAST):
        return [".".join(map(str, packed[12:]))]
    return []


@cache
def _special(version: int) -> list[IPv4Network | IPv6Network]:
    from ipaddress import ip_network

    networks = map(ip_network, SPECIAL.split())
    return [network for network in networks if network.version == version]


class HostCall(Value):
    """The surroundings of one call."""

    app_root: Path
    """Absolute path of the application."""
    policy: Policy
    """Folders, hosts and environment names that scripts may touch."""
    locale: str
    """Locale of the running context, such as `en-us`."""
    authorized: Mapping[str, Json]
    """The `authorized` block of the running context."""
    world: World
    """What belongs to the test: its session, clock, random numbers, and what is open for it."""
    scratch: Callable[[], str] = lambda: "/tmp"
    """The folder for what is temporary, made when it is asked for: a path in the volume `data`. Raises OSError."""


HostFunction = Callable[[list[Json], HostCall], Json]
