"""JSON that people write, read without pydantic's core where it can be: to load that takes a tenth of a run of one case
(`tests/bench/first_case.py`). Where there is something wrong with a text, or unusual in it, the core decides, and says
what."""

from __future__ import annotations

import json
import re
import sys
from typing import Any, NoReturn

LONGEST = 100_000
"""Characters of JSON that are read here at the most."""
_DEEPEST = 200
"""Brackets that are nested deeper may be so more deeply than pydantic allows."""


_PAIR = re.compile(r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}")
"""A character in two escapes."""


class DoubtError(ValueError):
    """It is for pydantic to decide."""


def json_of(text: str) -> Any:
    """The value of a JSON text without NaN and Infinity. Raises ValueError, with what pydantic says."""
    if "pydantic_core" not in sys.modules:
        try:
            return plain_json(text)
        except (ValueError, RecursionError):
            pass
    from pydantic_core import from_json

    return from_json(text, allow_inf_nan=False)


def plain_json(text: str) -> Any:
    """The same for a short text that has nothing unusual in it, such as a key twice. Raises ValueError and
    RecursionError."""
    if len(text) > LONGEST or (text.count("[") + text.count("{") > _DEEPEST and _depth(text) > _DEEPEST):
        raise DoubtError
    if "\\u" in text and "\\ud" in _PAIR.sub("", text.lower()):
        raise DoubtError
    if not text.isascii():
        text.encode()  # raises UnicodeEncodeError for half of a pair
    return _DECODER.decode(text)


def _depth(text: str) -> int:
    """How deep the brackets of a JSON text are nested."""
    depth = deepest = 0
    for bracket in re.findall(r"[][{}]", re.sub(r'"[^"\\]*(?:\\.[^"\\]*)*"', "", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(depth, deepest)
    return deepest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise DoubtError
    return value


def _doubtful(_: str) -> NoReturn:
    raise DoubtError


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_doubtful)
