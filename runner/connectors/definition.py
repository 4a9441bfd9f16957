"""A connector as its `*.conn.yao` file describes it, checked, with environment variables filled in; and what its model
can do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.amounts import PRICES
from runner.application.documents import read_json
from runner.connectors.http import is_http_address
from runner.errors import ConfigurationError
from scripttest.values import Value

_NUMBER = (int, float)
_FIELDS: dict[str, tuple[tuple[type, ...], str]] = {
    **dict.fromkeys("host proxy key model version assistant auth_mode".split(), ((str,), "a string")),
    "embedding": ((str,), "the id of a connector"),
    "temperature": (_NUMBER, "a number"),
    "max_tokens": ((int,), "a whole number"),
    **dict.fromkeys(("capabilities", "extra_body", "price"), ((dict,), "an object")),
    **dict.fromkeys(("streaming", "stream"), ((bool,), "true or false")),
    "max_concurrency": ((int,), "a whole number above 0"),
    **dict.fromkeys(("requests_per_minute", "tokens_per_minute"), (_NUMBER, "a number above 0")),
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

    def redact(self, text: str) -> str:
        """The text with `***` instead of the key, which must appear in no output."""
        key = self.options.get("key", "")
        return text.replace(key, "***") if len(key) > 3 else text


def read_definition(
    id: str, path: Path, root: Path, variables: Mapping[str, str], replayed: bool = False
) -> Definition:
    """Reads and checks a connector file; one that is `replayed` does without variables that are not set. Raises
    ConfigurationError; messages name variables and never contain values."""
    where = path.relative_to(root).as_posix()
    content = read_json(path, "connector file")
    subject = f'Cannot use connector "{id}" from {where}'
    if not isinstance(content, dict):
        raise ConfigurationError(f"{subject}: it must contain an object")
    kind = content.get("type")
    if not isinstance(kind, str):
        raise ConfigurationError(
            f"{subject}: type must be a string", 'For example: {"type": "openai", "options": {...}}'
        )
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
    if host and not is_http_address(host):
        raise ConfigurationError(
            f"{subject}: options.host must be a URL", 'For example: "https://api.example.com", with http:// or https://'
        )
    if options.get("auth_mode", "bearer") not in AUTH_MODES:
        raise ConfigurationError(f"{subject}: auth_mode must be one of {', '.join(AUTH_MODES)}")
    if not options.get("key", "").isprintable() or not options.get("key", "").isascii():
        raise ConfigurationError(
            f"{subject}: options.key contains characters that keys cannot have, such as a line break"
        )
    for name, price in options.get("price", {}).items():
        is_number = isinstance(price, _NUMBER) and not isinstance(price, bool)
        if name not in PRICES or not is_number or price < 0:
            raise ConfigurationError(
                f"{subject}: options.price.{name} cannot be used",
                f"Prices are numbers of at least 0, US dollars per million tokens: {', '.join(PRICES)}",
            )


class Capabilities(Value):
    """The capabilities of a model. What it does not accept is left out of requests to it."""

    vision: bool = True
    tool_calls: bool = True
    temperature: bool = True


_BY_NAME: tuple[tuple[str, Capabilities], ...] = (
    ("gpt-3.5", Capabilities(vision=False)),
    ("gpt-4o", Capabilities()),
    ("gpt-4.", Capabilities()),
    ("gpt-4-turbo", Capabilities()),
    ("gpt-4-vision", Capabilities()),
    ("gpt-4", Capabilities(vision=False)),
    ("gpt-5", Capabilities(temperature=False)),
    ("o1-mini", Capabilities(vision=False, tool_calls=False, temperature=False)),
    ("o3-mini", Capabilities(vision=False, temperature=False)),
    ("o1", Capabilities(temperature=False)),
    ("o3", Capabilities(temperature=False)),
    ("o4", Capabilities(temperature=False)),
    ("deepseek", Capabilities(vision=False)),
    ("qwen", Capabilities(vision=False)),
)
"""Start of a model's name, after a prefix such as `openai/` → what it can do; the first that fits counts."""


def capabilities_of(options: Mapping[str, Any], model: str) -> Capabilities:
    """The capabilities of a connector's model.

    In `capabilities` of the connector file what is not named is not there, as in Yao. Without them the name decides;
    a model of an unknown name gets everything, so that nothing disappears from a request without a word."""
    given = options.get("capabilities")
    if isinstance(given, dict):
        return Capabilities(
            vision=bool(given.get("vision")),
            tool_calls=bool(given.get("tool_calls")),
            temperature=given.get("temperature_adjustable") is not False,
        )
    name = model.lower().rpartition("/")[2]
    if name.startswith("qwen") and ("-vl" in name or "omni" in name):
        return Capabilities()
    return next((found for start, found in _BY_NAME if name.startswith(start)), Capabilities())
