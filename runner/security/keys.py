"""Keys: the secret variables of a command, and the credentials that are made from them.

When the command starts, its secret variables are removed from its environment and kept only here. So no process that is
started inherits them, and no prompt, report or script can read them. A credential belongs to one origin. It is added
only to requests to that origin, immediately before they are sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping

from runner.security.secrets import is_secret
from scripttest.values import Value

_DEFAULT_PORTS = {"http": 80, "https": 443}


class Keys(Mapping[str, str]):
    """Secret variables: name → value. It prints names only."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        """Takes a copy of them."""
        self._values = dict(values or {})

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Keys({', '.join(sorted(self._values))})"


def take_keys(environment: MutableMapping[str, str]) -> Keys:
    """Removes the secret variables from an environment, and gives them."""
    listed = dict(environment)
    return Keys({name: environment.pop(name) for name in listed if is_secret(name, listed)})


class Credential(Value):
    """Headers that authenticate, and the origin that they are for."""

    url: str
    """An address there, with `http` or `https`."""
    headers: Mapping[str, str]
    """By lower-case name."""

    def headers_for(self, url: str) -> Mapping[str, str]:
        """What a request for this address is given: nothing when it goes to another origin."""
        return self.headers if _origin(url) == _origin(self.url) else {}

    def __repr__(self) -> str:
        return f"Credential(url={self.url!r})"


def _origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port. Raises ValueError when the port is not a number."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or _DEFAULT_PORTS.get(parts.scheme)
