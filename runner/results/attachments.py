"""Attachments in results: their content, which may be megabytes of base64, is replaced by a short description."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHORTEST = 32
"""Base64 with at least this many characters is replaced; shorter base64 is shown."""
BINARY = frozenset(("audio", "input_audio", "base64"))
"""Types of parts whose `data` is base64."""

_BASE64 = r"[\w+/=\r\n-]*"
_DATA = rf"(;base64,)([\w+/=\r\n-]{{{SHORTEST},}})"


def without_content(value: Any) -> Any:
    """A JSON value in which `data:image/png;base64,… (12 KB)` replaces the content of a `data:` URL, also within a
    text, and `… (12 KB)` for the data of a part that holds it as `data`, such as `input_audio`."""
    if isinstance(value, str):
        return re.sub(_DATA, lambda found: found[1] + _size(found[2]), value) if ";base64," in value else value
    if isinstance(value, dict):
        cleaned = {key: without_content(item) for key, item in value.items()}
        audio = value.get("input_audio")
        if isinstance(audio, dict) and _is_long(audio.get("data")):
            cleaned["input_audio"] = {**audio, "data": _size(audio["data"])}
        kind = value.get("type")
        if isinstance(kind, str) and kind in BINARY and _is_long(value.get("data")):
            cleaned["data"] = _size(value["data"])
        return cleaned
    return list(map(without_content, value)) if isinstance(value, list | tuple) else value


def _is_long(data: Any) -> bool:
    return isinstance(data, str) and len(data) >= SHORTEST and re.fullmatch(_BASE64, data) is not None


def sizes(attachments: Any) -> list[str]:
    """A description of the attachments in a record, such as `pic.png (image/png, 3008 bytes)`."""
    lines = []
    for one in attachments if isinstance(attachments, list) else ():
        facts = [str(one.get("media_type") or one.get("type"))]
        facts += [f"{one['size']} bytes"] if "size" in one else []
        name = one.get("name") or one.get("source") or one.get("type")
        lines.append(f"{name} ({', '.join(facts)})")
    return lines


def _size(data: str) -> str:
    """The size of the data that some base64 encodes, in words."""
    count = len(data) * 3 // 4 - data[-2:].count("=")
    for unit, size in (("MB", 1_000_000), ("KB", 1000)):
        if count >= size:
            return f"… ({count / size:.3g} {unit})"
    return f"… ({count} bytes)"
