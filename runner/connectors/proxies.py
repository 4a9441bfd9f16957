"""Which proxy to use for what, as `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` say.

`NO_PROXY` is a list with commas: `*` for every host, or names of hosts, which include their subdomains, with or
without a leading dot and a `:port`.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from runner.errors import ConfigurationError
from scripttest.values import Value


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
                f"Cannot use the proxy for {host}: proxies of kind {kind} are not supported",
                f"Name an http:// proxy in {scheme}_PROXY, or add the host to NO_PROXY",
            )
        if not _is_address(url):
            raise ConfigurationError(
                f"Cannot use the proxy for {host}: {scheme}_PROXY or ALL_PROXY is not an address",
                "Such as http://proxy.example.com:3128",
            )
        return url

    def _is_direct(self, host: str) -> bool:
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        for item in self.direct:
            suffix = item.lstrip(".")
            if item == "*" or any(one == suffix or one.endswith(f".{suffix}") for one in (host, name)):
                return True
        return False


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0 and url.isascii()
    except ValueError:
        return False
