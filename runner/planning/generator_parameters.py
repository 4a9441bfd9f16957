"""The parameters of a generator of cases, which an input has after its `?`."""

from __future__ import annotations

import re

from runner.errors import ConfigurationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEFAULT_COUNT = 5
"""How many cases are asked for when the parameters do not say it."""
_TARGET = ("target_agent", "target_description", "target_tools")
"""What a generator gets besides its parameters."""
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(\.\d{1,15})?")


def parameters(query: str, where: str) -> dict[str, Any]:
    """Reads `count=10&focus=edge-cases`. Numbers, `true` and `false` become numbers and booleans, everything else stays
    text. Raises ConfigurationError, whose message names `where`."""
    from urllib.parse import parse_qsl

    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError as error:
        raise ConfigurationError(f"Cannot read {where}: its parameters are not name=value&name=value") from error
    values = {name: _typed(value) for name, value in pairs}
    for name in values:
        if name in _TARGET:
            raise ConfigurationError(f'Cannot use {where}: "{name}" is set with -n, and cannot be a parameter')
    count = values.get("count", DEFAULT_COUNT)
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise ConfigurationError(f"Cannot use {where}: count must be a whole number from 1 up")
    return values


def _typed(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    return float(text) if number[1] else int(text)
