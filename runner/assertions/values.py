"""How JSON values are compared by assertions: equality, kinds, texts, parts; and how two differ: as values, so that the
order of keys, blanks, and whether the answer is a text make no difference, or only in the form of their texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import combinations

from runner.assertions.base import CutAnswer, NotEvaluated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.assertions.base import Evidence

Holds = Callable[["Any", "Any"], bool]
"""Whether a check of an expected value holds of an actual one."""
KINDS = ("string", "number", "boolean", "array", "object", "null")
REGEX = "regex:"
"""Start of an expected text that is a pattern."""
COMPARED = ("equals", "json_path")
"""Types of assertions that compare a value with another one."""
CONTEXT = 3
"""Equal lines around a difference."""
LINE_LIMIT = 400
"""Characters of a line of a difference."""
MOST_LINES = 400
"""Lines of a difference."""
LONGEST = 200_000
"""Characters of both values up to which a difference is looked for."""
_MOST_KEPT = 1_000_000
"""Longest text whose JSON is kept for the next assertion, in characters."""


def equal(first: Any, second: Any) -> bool:
    """Whether two JSON values are the same: 1 is 1.0, a boolean is never a number, the order of keys is free."""
    return first == second and _alike(first, second)


def kind_of(value: Any) -> str:
    """One of `KINDS`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (int, float)):
        return "number"
    return "array" if isinstance(value, list) else "object"


def value_text(value: Any) -> str:
    """A string as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def parsed(text: str, otherwise: Any = None) -> Any:
    """The value of a text that is JSON as a whole; `otherwise` for any other text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return otherwise


def json_of(text: str, *, yaml: bool = True) -> Any:
    """The JSON value in a text (`runner.reading.answer_text.extract_json`), or None."""
    return (_kept if len(text) <= _MOST_KEPT else _extract)(text, yaml)


def json_in(evidence: Evidence, *, yaml: bool = True) -> Any:
    """The JSON value that an output is or holds, or None. An output that is not whole holds one only if all of its text
    is JSON: raises CutAnswer otherwise."""
    output = evidence.output
    if not isinstance(output, str) or not evidence.cut:
        return json_of(output, yaml=yaml) if isinstance(output, str) else output
    from bindings.processes.formats import decode_json
    from runner.reading.answer_text import behind_thinking

    try:
        return decode_json(behind_thinking(output))
    except (ValueError, RecursionError) as error:
        raise CutAnswer(f"the answer was {evidence.cut}") from error


def within(value: Any) -> Iterator[Any]:
    """The value and all values in it, at any depth."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        yield item
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)


def is_part(expected: Any, actual: Any, *, as_text: bool = False) -> bool:
    """Whether the actual value has what is expected: an object at least these fields, an array these items, anything
    else the same value; `regex:` texts are searched for in the text of the actual value. `as_text`: an expected text
    is also compared with the text of a value that is none. Raises NotEvaluated for a pattern that cannot be used."""
    if isinstance(expected, str):
        if expected == actual or (as_text and not isinstance(actual, str) and expected == value_text(actual)):
            return True
        return expected.startswith(REGEX) and _matches(expected.removeprefix(REGEX), value_text(actual))
    if isinstance(expected, (dict, list)) and isinstance(actual, str):
        actual = json_of(actual, yaml=False)
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            key in actual and is_part(item, actual[key], as_text=as_text) for key, item in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(actual, list)
            and len(expected) == len(actual)
            and all(is_part(item, found, as_text=as_text) for item, found in zip(expected, actual, strict=True))
        )
    return equal(expected, actual)


def problem_with_patterns(name: str, value: Any) -> str | None:
    """What is wrong with the first `regex:` text in a value of an assertion of the type `name` that cannot be used."""
    from bindings import PatternError, compile

    for item in within(value):
        if isinstance(item, str) and item.startswith(REGEX):
            try:
                compile(item.removeprefix(REGEX))
            except PatternError as error:
                return f'"{name}": {error}'
    return None


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
    """Lines that begin with `- ` (expected), `+ ` (actual) or two blanks; None if they are not objects or lists."""
    values = comparable(expected, actual)
    if values is None:
        return None
    before, after = (json.dumps(value, indent=2, ensure_ascii=False) for value in values)
    if before == after or len(before) + len(after) > LONGEST:
        return None
    return line_difference(before, after)


def line_difference(before: str, after: str) -> str:
    """The lines of two texts that differ, with `CONTEXT` lines around them; `...` where others are left out."""
    from difflib import SequenceMatcher

    olds, news = before.split("\n"), after.split("\n")
    lines: list[str] = []
    at = 0
    for group in SequenceMatcher(None, olds, news).get_grouped_opcodes(CONTEXT):
        lines += ["  ..."] if group[0][1] > at else []
        for kind, start, end, other, other_end in group:
            if kind == "equal":
                lines += (f"  {_shown(line)}" for line in olds[start:end])
            else:
                lines += _changed(olds[start:end], news[other:other_end])
        at = group[-1][2]
    lines += ["  ..."] if at < len(olds) else []
    more = len(lines) - MOST_LINES
    return "\n".join(lines if more <= 0 else [*lines[:MOST_LINES], f"  ... {more} more lines"])


def _changed(olds: list[str], news: list[str]) -> list[str]:
    """Lines of one side with their signs; each two that stand opposite are cut around what differs."""
    from runner.look_alikes import lines_apart

    pairs = [lines_apart(old, new, LINE_LIMIT) for old, new in zip(olds, news, strict=False)]
    removed = [*(old for old, _ in pairs), *map(_shown, olds[len(pairs) :])]
    added = [*(new for _, new in pairs), *map(_shown, news[len(pairs) :])]
    return [*(f"- {line}" for line in removed), *(f"+ {line}" for line in added)]


def _shown(line: str) -> str:
    from runner.look_alikes import visible

    more = len(line) - LINE_LIMIT
    return visible(line if more <= 0 else f"{line[:LINE_LIMIT]} ... {more} more characters")


def form_only(expected: Any, actual: Any, holds: Holds, spaces: Callable[[str], str] | None = None) -> str:
    """What alone keeps a check from holding, where that is the form of texts: `only spaces differ`; else empty.

    Args:
        expected: JSON value, or a pattern.
        actual: JSON value, whose texts are looked at.
        holds: the check.
        spaces: takes the spaces out of the expected text; by default all of them."""
    if len(value_text(expected)) + len(value_text(actual)) > LONGEST:
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


def _alike(first: Any, second: Any) -> bool:
    """Whether values that Python finds equal have booleans in the same places."""
    if isinstance(first, dict):
        return all(_alike(item, second[key]) for key, item in first.items())
    if isinstance(first, list):
        return all(map(_alike, first, second))
    return isinstance(first, bool) == isinstance(second, bool)


def _extract(text: str, yaml: bool) -> Any:
    from runner.reading.answer_text import extract_json

    return extract_json(text, yaml=yaml)


def _matches(pattern: str, text: str) -> bool:
    from bindings import PatternError, compile

    try:
        return compile(pattern).search(text)
    except PatternError as error:
        raise NotEvaluated(str(error)) from error


def _composed(text: str) -> str:
    from unicodedata import normalize

    return text if text.isascii() else normalize("NFKC", text)


def _ordered(text: str) -> str:
    """A text that is JSON, or the fields of an object, with its keys in order, and as many spaces as it has. What is
    lost when it is read is no matter of the order: the form of a number, a key that is there twice."""
    for before, after in (("", ""), ("{", "}")):
        try:
            value = json.loads(f"{before}{text}{after}")
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, (dict, list)):
            return text
        compact = value_text(_formed(value, _ordered))
        if sorted(without_spaces(compact)) != sorted(without_spaces(f"{before}{text}{after}")):
            return text
        more = sum(map(str.isspace, text)) - sum(map(str.isspace, compact))
        return compact[len(before) : len(compact) - len(after)] + " " * more
    return text


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


_kept = lru_cache(maxsize=4)(_extract)
_FORMS: dict[Callable[[str], str], str] = {
    without_spaces: "spaces",
    _ordered: "the order of keys",
    _composed: "the normal form of Unicode",
}
