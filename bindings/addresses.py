"""Decides which IP addresses are public Internet addresses.

`ipaddress` is not used, because its answers differ between versions of Python. An IPv4 address is public unless it is
in IANA's registry of special-purpose addresses. An IPv6 address is public if it is in the range that IANA has allocated
for unicast (2000::/3) and has no special purpose. If an IPv6 address contains an IPv4 address, that one decides.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Address, IPv6Network

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
