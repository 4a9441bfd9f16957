"""The content of a `*.conn.yao` file, checked, with environment variables filled in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.application.documents import read_json
from runner.costs import PRICES
from runner.errors import ConfigurationError
from scripttest.values import Value

_NUMBER = (int, float)
_FIELDS: dict[str, tuple[tuple[type, ...], str]] = {
    "host": ((str,), "a text"),
    "proxy": ((str,), "a text"),
    "key": ((str,), "a text"),
    "model": ((str,), "a text"),
    "version": ((str,), "a text"),
    "assistant": ((str,), "a text"),
    "auth_mode": ((str,), "a text"),
    "temperature": (_NUMBER, "a number"),
    "max_tokens": ((int,), "a whole number"),
    "capabilities": ((dict,), "an object"),
    "extra_body": ((dict,), "an object"),
    "price": ((dict,), "an object"),
    "streaming": ((bool,), "true or false"),
    "stream": ((bool,), "true or false"),
    "max_concurrency": ((int,), "a whole number above 0"),
    "requests_per_minute": (_NUMBER, "a number above 0"),
    "tokens_per_minute": (_NUMBER, "a number above 0"),
    "retries": ((int,), "a whole number from 0"),
    "timeout": (_NUMBER, "a number of seconds above 0"),
}
"""Option → what it must be. Options that are not listed are free."""
_POSITIVE = ("max_concurrency", "requests_per_minute", "tokens_per_minute", "timeout")
AUTH_MODES = ("bearer", "api-key", "x-api-key")


class Definition(Value):
    """One connector as its file describes it."""

    id: str
    """Such as `openai.gpt4`."""
    where: str
    """The file, below the application root."""
    type: str
    options: Mapping[str, Any]
    """As in the file, `$ENV.NAME` replaced by values."""
    sources: Mapping[str, str]
    """Option → name of the environment variable that its value comes from."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secrets, which must appear in no output."""
        key = self.options.get("key", "")
        return (key,) if len(key) > 3 else ()

    def redact(self, text: str) -> str:
        """The text with secrets replaced by `***`."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def read_definition(
    id: str, path: Path, root: Path, variables: Mapping[str, str], replayed: bool = False
) -> Definition:
    """Reads and checks a connector file; one that is `replayed` does without variables that are not set. Raises
    ConfigurationError; messages name variables and never contain values."""
    where = path.relative_to(root).as_posix()
    content = read_json(path, "connector file")
    subject = f'Cannot use connector "{id}" from {where}'
    if not isinstance(content, dict):
        raise ConfigurationError(f"{subject}: it must hold an object")
    kind = content.get("type")
    if not isinstance(kind, str):
        raise ConfigurationError(f"{subject}: type must be a text", 'Such as {"type": "openai", "options": {...}}')
    options = content.get("options", {})
    if not isinstance(options, dict):
        raise ConfigurationError(f"{subject}: options must be an object")
    options = dict(options)
    if "auth_mode" in content:
        options.setdefault("auth_mode", content["auth_mode"])
    if replayed:
        options = {option: value for option, value in options.items() if not _is_missing(value, variables)}
    sources = _fill_in(options, variables, subject, where)
    _check(options, subject)
    return Definition(id=id, where=where, type=kind, options=options, sources=sources)


def read_type(path: Path) -> str | None:
    """The type that a connector file names, if it can be read."""
    try:
        content = read_json(path, "connector file")
    except ConfigurationError:
        return None
    kind = content.get("type") if isinstance(content, dict) else None
    return kind if isinstance(kind, str) else None


def _fill_in(options: dict[str, Any], variables: Mapping[str, str], subject: str, where: str) -> dict[str, str]:
    sources = {}
    for option, value in options.items():
        if not isinstance(value, str) or not value.startswith("$ENV."):
            continue
        name = value.removeprefix("$ENV.")
        given = variables.get(name)
        if given is None or (not given.strip() and option in ("key", "model")):
            state = "not set" if given is None else "empty"
            raise ConfigurationError(
                f"{subject}: the environment variable {name}, which options.{option} names, is {state}",
                f"Set {name} in the environment or in .env, edit {where}, or test offline with -c scripted",
            )
        options[option] = given.strip()
        sources[option] = name
    return sources


def _is_missing(value: Any, variables: Mapping[str, str]) -> bool:
    """Whether an option names a variable that is not set, or is empty."""
    return (
        isinstance(value, str)
        and value.startswith("$ENV.")
        and not variables.get(value.removeprefix("$ENV."), "").strip()
    )


def _check(options: dict[str, Any], subject: str) -> None:
    for option, (types, description) in _FIELDS.items():
        if option not in options:
            continue
        value = options[option]
        wrong_kind = not isinstance(value, types) or (isinstance(value, bool) and bool not in types)
        if wrong_kind or (option in _POSITIVE and value <= 0) or (option == "retries" and value < 0):
            raise ConfigurationError(f"{subject}: options.{option} must be {description}")
    host = options.get("host") or options.get("proxy") or ""
    if host and not _is_address(host):
        raise ConfigurationError(
            f"{subject}: options.host must be an address", 'Such as "https://api.example.com", with http:// or https://'
        )
    if options.get("auth_mode", "bearer") not in AUTH_MODES:
        raise ConfigurationError(f"{subject}: auth_mode must be one of {', '.join(AUTH_MODES)}")
    if not options.get("key", "").isprintable() or not options.get("key", "").isascii():
        raise ConfigurationError(f"{subject}: options.key holds characters that no key has, such as a line break")
    for name, price in options.get("price", {}).items():
        is_number = isinstance(price, _NUMBER) and not isinstance(price, bool)
        if name not in PRICES or not is_number or price < 0:
            raise ConfigurationError(
                f"{subject}: options.price.{name} cannot be used",
                f"Prices are numbers from 0 up, US dollars for a million tokens: {', '.join(PRICES)}",
            )


def _is_address(host: str) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(host)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and host.isascii()
    except ValueError:
        return False
