"""How large a JSON Schema may be, which is looked at before anything else is done with one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scripttest.typing_names import Json

MAX_PARTS = 300_000
"""Most values of a schema: objects, lists, texts, numbers and the like, at any depth."""


def too_large(schema: Json) -> str | None:
    """Says that a schema is larger than may be, or None. Takes some milliseconds for the largest."""
    found = 0
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        inside = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        found += len(inside)
        if found > MAX_PARTS:
            return f"it has more than {MAX_PARTS} values; use a smaller one"
        waiting += inside
    return None
