"""Values and texts that hypothesis makes up for several properties."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

MARKS = "{}[]\",:#/\\'\n\r\t \0-|>&*!%@`$<=_.?\ufeff\u2028\u2029\x85\x7f\u0130ßé中😀"
"""Letters that mean something to some reader, or are more than one byte, unit or line to some."""
letters = st.one_of(st.sampled_from(MARKS), st.characters(codec="utf-8"), st.characters(max_codepoint=127))
texts = st.one_of(
    st.text(letters, max_size=12),
    st.sampled_from(
        ["", "yes", "null", "~", "1", "1e3", "0x1f", "NaN", "x-a", "__proto__", "constructor", "$bytes", "$ctx"]
    ),
)
whole_numbers = st.one_of(
    st.integers(-10, 10),
    st.sampled_from([2**31, -(2**31) - 1, 2**32, 2**53, 2**53 + 1, -(2**53) - 1, 2**63, 2**64, 10**30]),
)
floats = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.1, 1.0, 1e300, 5e-324, 1.7976931348623157e308])
)


def json_values(texts: st.SearchStrategy[str] = texts, leaves: int = 12) -> st.SearchStrategy[Any]:
    """Any JSON value of at most so many leaves."""
    scalars = st.one_of(st.none(), st.booleans(), whole_numbers, floats, texts)
    return st.recursive(
        scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
        max_leaves=leaves,
    )


def alike(first: Any, second: Any) -> bool:
    """Whether two JSON values are the same, types of numbers and the sign of zero included."""
    return repr(first) == repr(second) if not isinstance(first, dict | list) else _alike_inside(first, second)


def _alike_inside(first: Any, second: Any) -> bool:
    if type(first) is not type(second) or len(first) != len(second):
        return False
    if isinstance(first, dict):
        return all(key in second and alike(item, second[key]) for key, item in first.items())
    return all(map(alike, first, second))
