"""Attachments in results: what is said of them in the place of their content, which may be megabytes of base64."""

from __future__ import annotations

import re
from typing import Any

SHORTEST = 256
"""Characters of base64 that are left out; fewer are shown."""

_DATA = re.compile(rf"(;base64,)([\w+/=\r\n-]{{{SHORTEST},}})")


def without_content(value: Any) -> Any:
    """A JSON value in which `data:image/png;base64,… (12 KB)` stands for the content of a `data:` url, also within a
    text, and `… (12 KB)` for the data of an `input_audio` part."""
    if isinstance(value, str):
        return _DATA.sub(lambda found: found[1] + _size(found[2]), value) if ";base64," in value else value
    if isinstance(value, dict):
        return {key: _audio(item) if key == "input_audio" else without_content(item) for key, item in value.items()}
    return list(map(without_content, value)) if isinstance(value, list | tuple) else value


def _audio(part: Any) -> Any:
    data = part.get("data") if isinstance(part, dict) else None
    if isinstance(data, str) and len(data) >= SHORTEST:
        return {**part, "data": _size(data)}
    return without_content(part)


def _size(data: str) -> str:
    """How much base64 stands for."""
    count = len(data) * 3 // 4 - data[-2:].count("=")
    for unit, size in (("MB", 1_000_000), ("KB", 1000)):
        if count >= size:
            return f"… ({count / size:.3g} {unit})"
    return f"… ({count} bytes)"
