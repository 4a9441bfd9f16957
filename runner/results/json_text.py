r"""Makes texts and numbers that every reader of a report accepts, the same in each format.

| value | in reports |
| --- | --- |
| half of a surrogate pair, which UTF-8 cannot represent | the six characters `\ud800`, as on the console |
| a number that JSON cannot represent, such as `1e400` | a text: `"Infinity"` |
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONE = "[\ud800-\udfff]"
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False)


def json_line(value: Any) -> str:
    """A JSON value in one line that every reader accepts."""
    try:
        text = _encoder.encode(value)
    except ValueError:
        return json_line(plain(value))
    return without_halves(text)


def without_halves(text: str) -> str:
    """JSON text without halves of surrogate pairs, which UTF-8 cannot encode."""
    return text if text.isascii() else re.sub(_LONE, _spelled, text)


def is_utf8(text: str) -> bool:
    """Whether UTF-8 can encode a text."""
    return text.isascii() or not re.search(_LONE, text)


def plain(value: Any) -> Any:
    """A JSON value that every reader accepts."""
    return json.loads(without_halves(json.dumps(value, ensure_ascii=False)), parse_constant=str)


def _spelled(half: re.Match[str]) -> str:
    return f"\\\\u{ord(half[0]):04x}"


def utf8(text: str) -> bytes:
    """A text in the form in which it is written to a file."""
    return text.encode("utf-8", "backslashreplace")
