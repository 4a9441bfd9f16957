"""The environment variables that an application names: those in its `.env` file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def named_variables(root: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """Name → value for every name in `<root>/.env`; the value among `variables` wins over the file's."""
    try:
        lines = (root / ".env").read_text("utf-8-sig", "replace").splitlines()
    except OSError:
        return {}
    named = {}
    for line in lines:
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        name = name.strip()
        if equals and name and not name.startswith("#"):
            named[name] = variables.get(name, _unquoted(value.strip()))
    return named


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value.partition(" #")[0].rstrip()
