"""Finds values of which a shortened text shows only the beginning or the end, `abc...` or `… xyz`.

Who shortens a text does not know the secrets, and may cut through one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

LEAST = 6
"""Characters of a value that are told apart from other text."""
_MARK = r"(?:…|\.\.\.)"
_BEFORE_MARK = re.compile(rf"[\"'`]? ?{_MARK}")
_AFTER_MARK = re.compile(rf"{_MARK} ?[\"'`]?")
_AROUND = 5
"""Characters of the longest mark, with what stands between it and the text."""


class CutValues:
    """Hides values that are cut."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """`names`: value → its name."""
        self._names = names
        self._heads: dict[str, list[str]] = {}
        self._tails: dict[str, list[str]] = {}
        for value in names:
            if len(value) > LEAST:
                self._heads.setdefault(value[:LEAST], []).append(value)
                self._tails.setdefault(value[-LEAST:], []).append(value)
        self._ends = (*{**self._heads, **self._tails},)

    def hide(self, text: str) -> str:
        """The text with `***NAME***` in place of what is left of a cut value."""
        if "…" not in text and "..." not in text:
            return text
        done, pieces = 0, []
        for start, end, name in self._found(text):
            if start >= done:
                pieces += [text[done:start], f"***{name}***"]
                done = end
        return "".join([*pieces, text[done:]])

    def _found(self, text: str) -> Iterator[tuple[int, int, str]]:
        ends = [re.escape(end) for end in self._ends if end in text]
        for match in re.finditer(f"(?=({'|'.join(ends)}))", text) if ends else ():
            start, end = match.span(1)
            for value in self._heads.get(match[1], ()):
                mark = _BEFORE_MARK.search(text, end, start + len(value) + _AROUND)
                if mark and value.startswith(text[start : mark.start()]):
                    yield start, mark.start(), self._names[value]
            for value in self._tails.get(match[1], ()):
                marks = [*_AFTER_MARK.finditer(text, max(0, end - len(value) - _AROUND), start)]
                if marks and value.endswith(text[marks[-1].end() : end]):
                    yield marks[-1].end(), end, self._names[value]
