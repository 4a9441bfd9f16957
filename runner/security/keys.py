"""Keys: the secret variables of a command, and the credentials that are made from them; and which variables and values
are secret.

When the command starts, its secret variables are removed from its environment and kept only here. So no process that is
started inherits them, and no prompt, report or script can read them. A credential belongs to one origin. It is added
only to requests to that origin, immediately before they are sent."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, MutableMapping
from functools import lru_cache

from scripttest.values import Value

LIST = "YAO_TEST_SECRETS"
"""The variable that names further secret variables, separated by commas."""
_WORDS_OF_NAMES = "keys? tokens? secrets? passw(?:or)?ds? pwd passphrase credentials? cookies? auth authorization"
_HEADERS = r"OTEL_EXPORTER_OTLP_(?:\w+_)?HEADERS"
"""Variables with headers: `name=value,name=value`, percent-encoded."""
SECRET_NAMES = rf"(?i)(?:{_WORDS_OF_NAMES.replace(' ', '|')})(?=$|[_\d-])"
_STEMS = ("key", "token", "secret", "pass", "pwd", "credential", "cookie", "auth")
"""One of them is in all that matches, which takes longer to compile than a test to run."""
_WORDS = frozenset(
    """
    password passwd secret secrets changeme default example localhost production development staging testing
    enabled disabled public private unknown nothing foobar string number boolean object function passed failed skipped
    assistant system scripted content message default_key
    """.split()
)
_IN_ADDRESS = r"(?<=[\w+.-])://(?:[^/@\s:]*:([^/@\s]+)|([^/@\s:]{16,}))@"
"""A password, or a user that is as long as a token."""
_IN_QUERY = r"[?&;]([\w.-]+)=([^&;#\s\"']+)"
_FLAG = r"--?([\w-]+)"
JSON_PAIR = r'"([\w.-]+)"\s*:\s*"((?:[^"\\]|\\.)*)"'
SHORTEST = 6
"""Characters of the shortest value that is hidden."""
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


class Credential(Value):
    """Headers that authenticate, and the origin that they are for."""

    url: str
    """An address there, with `http` or `https`."""
    headers: Mapping[str, str]
    """By lower-case name."""

    def headers_for(self, url: str) -> Mapping[str, str]:
        """What a request for this address is given: nothing when it goes to another origin."""
        return self.headers if url == self.url or _origin(url) == _origin(self.url) else {}

    def __repr__(self) -> str:
        return f"Credential(url={self.url!r})"


def take_keys(environment: MutableMapping[str, str]) -> Keys:
    """Removes the secret variables from an environment, and gives them."""
    listed = dict(environment)
    return Keys({name: environment.pop(name) for name in listed if is_secret(name, listed)})


def is_secret(name: str, variables: Mapping[str, str]) -> bool:
    """Whether one of these variables is secret: by its name, because `YAO_TEST_SECRETS` lists it, or because its value
    is an address with a password or a key in it."""
    return any(map(worth_hiding, secrets_of(name, variables)))


def is_named_secret(name: str, variables: Mapping[str, str]) -> bool:
    """Whether one of these variables is secret by its name, or because `YAO_TEST_SECRETS` lists it."""
    if LIST in variables and name in map(str.strip, variables[LIST].split(",")):
        return True
    if name in ("PWD", "OLDPWD"):
        return False
    plain = name.casefold()
    return (any(stem in plain for stem in _STEMS) and bool(re.search(SECRET_NAMES, name))) or _has_headers(name)


def secrets_of(name: str, variables: Mapping[str, str]) -> Iterator[str]:
    """What is secret in one of these variables: its value, and in headers that of each; of one whose name says nothing
    of it, the credentials in an address."""
    value = variables[name]
    if not is_named_secret(name, variables):
        yield from secrets_in_address(value) if "://" in value else ()
        return
    found = [value]
    if _has_headers(name):
        from urllib.parse import unquote

        for header in value.split(","):
            one = header.partition("=")[2].strip()
            found += dict.fromkeys((one, unquote(one)))
    yield from (one for one in found if not is_path(one))


def is_path(value: str) -> bool:
    """Whether a value names a file or folder that is there, such as the socket of an SSH agent."""
    return value.startswith(("/", "~")) and os.path.exists(os.path.expanduser(value))


def worth_hiding(value: str) -> bool:
    """Whether a value is neither short, a short number, nor a common word."""
    if len(value) < SHORTEST or value.casefold() in _WORDS or value.startswith("$ENV."):
        return False
    return not value.isdecimal() or len(value) > 9


def secret_parts(value: str) -> Iterator[str]:
    """A value as it is and without what surrounds the secret in it."""
    value = value.strip()
    yield value
    scheme, _, rest = value.partition(" ")
    if scheme.casefold() in ("bearer", "basic", "token", "digest") and rest.strip():
        yield rest.strip()
        if scheme.casefold() == "basic":
            yield from _password_of(rest.strip())
    yield from secrets_in_address(value)
    if "\n" in value:
        yield from (line.strip() for line in value.split("\n") if len(line) > 15 and not line.startswith("-----"))
    if value.startswith("{"):
        for name, raw in re.findall(JSON_PAIR, value):
            if re.search(SECRET_NAMES, name):
                yield from secret_parts(unescaped(raw))


def secrets_in_address(value: str) -> Iterator[str]:
    """The credentials in an address: a password before its host, keys in its query; as written, and decoded."""
    from urllib.parse import unquote

    found = [match[1] or match[2] for match in re.finditer(_IN_ADDRESS, value)]
    found += [match[2] for match in re.finditer(_IN_QUERY, value) if re.search(SECRET_NAMES, match[1])]
    for part in found:
        yield from dict.fromkeys((part, unquote(part)))


def secrets_in_arguments(text: str) -> Iterator[tuple[str, str]]:
    """Flags with such names among the arguments of a command, in JSON: `"--token", "x"` and `"--token=x"`."""
    for name, raw in re.findall(rf'"{_FLAG}(?=(?:"\s*,\s*"|=)((?:[^"\\]|\\.)*)")', text):
        value = unescaped(raw)
        if re.search(SECRET_NAMES, name) and not value.startswith(("$ENV.", "-")):
            yield name, value


def unescaped(raw: str) -> str:
    """The text that stands in JSON between quotation marks; what is no JSON as it is."""
    try:
        return str(json.loads(f'"{raw}"'))
    except ValueError:
        return raw


@lru_cache(maxsize=64)
def _origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port. Raises ValueError when the port is not a number."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or _DEFAULT_PORTS.get(parts.scheme)


def _has_headers(name: str) -> bool:
    return name.startswith("OTEL_") and re.fullmatch(_HEADERS, name) is not None


def _password_of(text: str) -> Iterator[str]:
    from base64 import b64decode

    try:
        yield b64decode(text).decode().partition(":")[2]
    except ValueError:
        return
