"""The fields of objects in `replies.yml` and `runner.yml`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from runner.errors import ConfigurationError, did_you_mean


def fields_in(value: Any, what: str, known: Collection[str]) -> dict[str, Any]:
    """The fields of an object. Raises ConfigurationError when it is none, or has a field that is not `known`."""
    if not isinstance(value, dict):
        raise ConfigurationError(f"{what} must be an object", f"Its fields are {', '.join(known)}")
    for name in value:
        if name not in known:
            hint = did_you_mean(str(name), known) or f"There are {', '.join(known)}"
            raise ConfigurationError(f'unknown field "{name}" in {what}', hint)
    return value
