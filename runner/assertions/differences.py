"""How an answer differs from what was expected: JSON as values, so that the order of keys, blanks, and whether the
answer is a text make no difference; and whether it is only the form of texts that differs."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations

from runner.assertions.values import equal, json_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Holds = Callable[["Any", "Any"], bool]
"""Whether a check of an expected value holds of an actual one."""
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


def form_only(expected: Any, actual: Any, holds: Holds, spaces: Callable[[str], str] | None = None) -> str:
    """What alone keeps a check from holding, where that is the form of texts: `only spaces differ`; else empty.

    Args:
        expected: JSON value, or a pattern.
        actual: JSON value, whose texts are looked at.
        holds: the check.
        spaces: takes the spaces out of the expected text; by default all of them.
    """
    if len(_whole(expected)) + len(_whole(actual)) > LONGEST:
        return ""
    for number in range(1, len(_FORMS) + 1):
        for forms in combinations(_FORMS, number):
            wanted, found = expected, actual
            for form in forms:
                own = spaces if spaces is not None and form is without_spaces else form
                wanted, found = _formed(wanted, own), _formed(found, form)
            if holds(wanted, found):
                verb = "differs" if number == 1 and forms[0] is not without_spaces else "differ"
                return f"only {' and '.join(_FORMS[form] for form in forms)} {verb}"
    return ""


def without_spaces(text: str) -> str:
    """A text without its spaces, tabs and line ends."""
    return "".join(text.split())


def _composed(text: str) -> str:
    from unicodedata import normalize

    return text if text.isascii() else normalize("NFKC", text)


def _ordered(text: str) -> str:
    """A text that is JSON, or the fields of an object, with its keys in order, and as many spaces as it has."""
    for before, after in (("", ""), ("{", "}")):
        try:
            value = json.loads(f"{before}{text}{after}")
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, (dict, list)):
            return text
        compact = _whole(_formed(value, _ordered))
        more = sum(map(str.isspace, text)) - sum(map(str.isspace, compact))
        return compact[len(before) : len(compact) - len(after)] + " " * more
    return text


_FORMS: dict[Callable[[str], str], str] = {
    without_spaces: "spaces",
    _ordered: "the order of keys",
    _composed: "the normal form of Unicode",
}


def _formed(value: Any, form: Callable[[str], str]) -> Any:
    """A JSON value with another form of its texts and keys."""
    if isinstance(value, str):
        return form(value)
    if isinstance(value, dict):
        items = sorted(value.items()) if form is _ordered else value.items()
        return {form(key): _formed(item, form) for key, item in items}
    if isinstance(value, list):
        return [_formed(item, form) for item in value]
    return value


def _whole(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


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
