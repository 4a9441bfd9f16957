"""How a JSON answer differs from what was expected: as values, so that the order of keys, blanks, and whether the
answer is a text make no difference."""

from __future__ import annotations

import json

from runner.assertions.values import equal, json_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COMPARED = ("equals", "json_path")
"""Types of assertions that compare a value with another one."""
CONTEXT = 3
"""Equal lines around a difference."""
LONGEST = 200_000
"""Characters of both values up to which a difference is looked for."""


def comparable(expected: Any, actual: Any) -> tuple[Any, Any] | None:
    """Two values that differ, when both are objects or lists, or texts that hold such: the second one in the order of
    the first, with its form of equal numbers. None for all else."""
    first, second = (json_of(value, yaml=False) if isinstance(value, str) else value for value in (expected, actual))
    if isinstance(expected, str) and isinstance(actual, str) and (first is None or second is None):
        return None
    for kind in (dict, list):
        if isinstance(first, kind) and isinstance(second, kind):
            return first, _as(first, second)
    return None


def difference(expected: Any, actual: Any) -> str | None:
    """Lines that begin with `-` (expected), `+` (actual) or a space; None if they are not objects or lists."""
    values = comparable(expected, actual)
    if values is None:
        return None
    before, after = (json.dumps(value, indent=2, ensure_ascii=False) for value in values)
    if before == after or len(before) + len(after) > LONGEST:
        return None
    from difflib import unified_diff

    lines = unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=CONTEXT)
    return "\n".join(line if not line.startswith("@@") else "..." for line in list(lines)[3:])


def _as(expected: Any, actual: Any) -> Any:
    """A value with what is equal in it written as in another one."""
    if equal(expected, actual):
        return expected
    if isinstance(expected, dict) and isinstance(actual, dict):
        keys = [*(key for key in expected if key in actual), *(key for key in actual if key not in expected)]
        return {key: _as(expected[key], actual[key]) if key in expected else actual[key] for key in keys}
    if isinstance(expected, list) and isinstance(actual, list):
        return [_as(*pair) for pair in zip(expected, actual, strict=False)] + actual[len(expected) :]
    return actual
