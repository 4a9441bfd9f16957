"""Which addresses `--allow-net=*` reaches: those of the public Internet."""

from __future__ import annotations

import pytest
from table_tests import each

from bindings.policy import is_public

NOT_PUBLIC = {
    "this network": "0.0.0.0 0.1.2.3",
    "private": "10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1",
    "shared": "100.64.0.1 100.127.255.255",
    "loopback": "127.0.0.1 127.255.255.254 ::1",
    "link-local": "169.254.0.1 fe80::1 fe80::1%eth0 febf::1",
    "protocols": "192.0.0.1 192.0.0.8 192.0.0.9 192.0.0.170 192.0.0.255 2001:1::1 2001:2::1 2001:20::1 2001:1ff::1",
    "documents": "192.0.2.1 198.51.100.1 203.0.113.255 2001:db8::1 3fff::1 3fff:fff:ffff::1",
    "sinks and relays": "192.31.196.1 192.52.193.1 192.88.99.1 192.175.48.1 2620:4f:8000::1",
    "benchmarks": "198.18.0.1 198.19.255.255",
    "groups": "224.0.0.1 239.255.255.255 ff02::1 ff0e::1",
    "reserved": "240.0.0.1 255.255.255.255 :: 100::1 4000::1 5f00::1 8000::1 e000::1",
    "sites": "fec0::1 fec0:ffff::1 feff::1 fc00::1 fd12:3456::1",
    "metadata of clouds": "169.254.169.254 169.254.170.2 169.254.169.123 169.254.42.42 169.254.0.23 100.100.100.200 "
    "192.0.0.192 168.63.129.16 fd00:ec2::254 fd00:42::42 fd20:ce::254",
    "mapped": "::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:168.63.129.16",
    "compatible and translated": "::127.0.0.1 ::8.8.8.8 ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8",
    "NAT64": "64:ff9b::10.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::8.8.8.8 64:ff9b:1::1 64:ff9b:1:ffff::1",
    "6to4": "2002:7f00:1:: 2002:a00:1::1 2002:a9fe:a9fe::1",
    "Teredo": "2001:0:7f00:1:0:0:f7f7:f7f7 2001:0:808:808:0:0:80ff:fffe 2001:0:808:808:0:0:f5ff:fffe",
    "ISATAP": "2606:4700::5efe:10.0.0.1 2606:4700::200:5efe:127.0.0.1",
}
PUBLIC = """
    1.1.1.1 8.8.8.8 93.184.216.34 100.63.255.255 100.128.0.1 172.15.255.255 172.32.0.1 192.0.1.1 192.167.255.255 198.17.1.1
    198.20.0.1 223.255.255.255 168.63.129.15 2606:4700:4700::1111 2a00:1450:4001:81b::200e 2001:4860:4860::8888 2001:200::1
    3ffe::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1 2001:0:808:808:0:0:f7f7:f7f7 2606:4700::5efe:8.8.8.8
""".split()


@each(("kind", "address"), [(kind, one) for kind, text in NOT_PUBLIC.items() for one in text.split()])
def test_an_address_of_a_special_purpose_is_not_public(kind: str, address: str) -> None:
    assert not is_public(address), kind


@each("address", PUBLIC)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


@each("text", ["", "example.com", "1.2.3", "1.2.3.4.5", "12345::"])
def test_what_is_no_address_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="does not appear to be"):
        is_public(text)
