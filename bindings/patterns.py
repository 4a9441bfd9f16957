"""Go's regular expressions (RE2 syntax), answered within a time bound by the library `regex`.

`go_syntax` writes a pattern for it. `regex` backtracks where RE2 does not, hence the bound; the interpreter lock is
released while it searches.
"""

from __future__ import annotations

from typing import Any

from bindings.go_syntax import PatternError, for_regex


class PatternTimeout(PatternError):  # noqa: N818
    """A search that took longer than its bound."""

    def __init__(self, pattern: str, seconds: float) -> None:
        super().__init__(
            f"the search took longer than {seconds:g} s; the usual cause is a repetition in a repetition, like `(a+)+`",
            pattern,
            None,
        )
        self.seconds = seconds


class Pattern:
    """A pattern that Go accepts. It is compiled for its first search: many are never searched for."""

    def __init__(self, source: str, translated: str, names: dict[str, int]) -> None:
        self.source = source
        self._translated = translated
        self._names = names
        self._program: Any = None

    def search(self, text: str, seconds: float = 1.0) -> bool:
        """True when the pattern matches somewhere in the text.

        Raises:
            PatternTimeout: no answer within the given time.
        """
        return self._search(text, seconds) is not None

    def groups(self, text: str, seconds: float = 1.0) -> dict[str, str | None] | None:
        """The groups of the first match, by number (`"0"` is the whole match) and by name. A group that did not take
        part is None. If nothing matches, the result is None.

        Raises:
            PatternTimeout: the time limit is over.
        """
        match = self._search(text, seconds)
        if match is None:
            return None
        found = {str(number): match[number] for number in range(len(match.groups()) + 1)}
        return found | {name: match[number] for name, number in self._names.items()}

    def _search(self, text: str, seconds: float) -> Any:
        if self._program is None:
            self._program = self._compiled()
        try:
            return self._program.search(text, timeout=seconds, concurrent=True)
        except TimeoutError as error:
            raise PatternTimeout(self.source, seconds) from error

    def _compiled(self) -> Any:
        import regex

        try:
            return regex.compile(self._translated, regex.VERSION0)
        except (regex.error, RecursionError, OverflowError) as error:
            raise PatternError(f"not supported ({error})", self.source, None) from error


def compile(pattern: str) -> Pattern:
    """Reads a pattern, as for `--run`: it is searched for, not anchored. A search raises PatternError too, for one that
    the library does not take.

    Raises:
        PatternError: Go would not accept it, or it is too long or too deep.
    """
    known = _compiled.get(pattern)
    if known is None:
        translated, names = for_regex(pattern)
        if len(_compiled) >= 500:
            _compiled.clear()
        known = _compiled[pattern] = Pattern(pattern, translated, names)
    return known


def search(pattern: str, text: str, seconds: float = 1.0) -> bool:
    """`compile(pattern).search(text, seconds)`."""
    return compile(pattern).search(text, seconds)


_compiled: dict[str, Pattern] = {}
