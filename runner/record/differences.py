"""What a failed check compared, as lines: the same on the console, in Markdown, on the HTML page, in JUnit and in
annotations. Values that should be equal are a unified diff; other values are named, unless the message has them."""

from __future__ import annotations

import re
from types import SimpleNamespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.assertions.base import AssertionResult
    from scripttest import Failure
    from scripttest.typing_names import Record

HEAD = "- expected + actual"
"""The line above a diff."""
SHOWN = 1000
"""Characters of a value that is named."""
AROUND = 400
"""Characters of a value of one line in a diff: of a longer one those around the difference."""
SIDES = ("expected", "actual")
EQUATIONS = {"equals", "json_path", "Equal", "JSONPath", "True", "False", "Nil"}
"""Types of checks whose two values should be equal."""
_PLAIN = re.compile(r"-?[\w.+]+")
"""A number, a boolean and the like, as printed."""


def compared(check: Failure | AssertionResult) -> list[str]:
    """`HEAD` and a diff; `expected: ...` and `actual: ...` of values that need not be equal, or are numbers; empty when
    there is nothing more to say."""
    if diff := difference_of(check):
        return [HEAD, *diff.split("\n")]
    message = check.message or ""
    ours = message.startswith("Expected ")
    return [f"{side}: {text}" for side, text in values_of(check, SHOWN) if not (ours and _has(message, text))]


def difference_of(check: Failure | AssertionResult) -> str:
    """Lines that begin with `- ` (expected), `+ ` (actual) or two blanks; empty where the values need not be equal, or
    where one is missing."""
    if own := getattr(check, "diff", None):
        return str(own)
    given = _given(check)
    if check.type not in EQUATIONS or len(given) < len(SIDES) or check.expected == check.actual:
        return ""
    from runner.assertions.values import difference, line_difference

    if (lines := difference(check.expected, check.actual)) is not None:
        return lines
    expected, actual = check.expected, check.actual
    if isinstance(expected, str) and isinstance(actual, str) and ("\n" in expected or "\n" in actual):
        return line_difference(expected, actual)
    if isinstance(expected, list) and check.type == "json_path":  # one of several
        return ""
    pair = [getattr(check, f"{side}_text", None) for side in SIDES]
    if None in pair or check.type in ("equals", "json_path"):
        from runner.look_alikes import printed

        pair = list(printed(expected, actual, AROUND))
    if all(map(_PLAIN.fullmatch, map(str, pair))):  # as the layout of seed 004 has numbers
        return ""
    return "\n".join(f"{sign} {line}" for sign, text in zip("-+", pair, strict=True) for line in str(text).split("\n"))


def difference_in(check: Record) -> str:
    """The same of a check in a report: `{type, expected?, actual?, expected_text?, actual_text?, diff?}`."""
    known: Any = SimpleNamespace(**{"expected": None, "actual": None, **check})
    return difference_of(known)


def values_of(check: Failure | AssertionResult, limit: int = 0) -> list[tuple[str, str]]:
    """The values that a check has, as `(side, text)`; two never read the same. `limit` bounds each text."""
    from runner.look_alikes import sides

    given = _given(check)
    if len(given) == len(SIDES):
        if check.expected != check.actual:
            return list(zip(SIDES, sides(check.expected, check.actual, limit), strict=True))
        texts = [str(getattr(check, f"{side}_text", "")) for side in SIDES]
        return list(zip(SIDES, texts, strict=True)) if texts[0] != texts[1] else []
    return [(side, sides(getattr(check, side), None, limit)[0]) for side in given]


def _given(check: Failure | AssertionResult) -> list[str]:
    texts = hasattr(check, "expected_text")
    return [side for side in SIDES if getattr(check, f"{side}_text" if texts else side) is not None]


def _has(message: str, text: str) -> bool:
    """Whether a message has a value, as it is or as JSON."""
    import json

    forms = (text, json.dumps(text, ensure_ascii=False)[1:-1])
    return any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", message) for form in forms if form)
