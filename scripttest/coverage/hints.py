"""Comments that exclude code from the figures, as in Istanbul:

/* istanbul ignore file */    the whole file
/* istanbul ignore next */    the next statement, function, method or arm of a branch
/* istanbul ignore if */      the first arm of the next `if`
/* istanbul ignore else */    the other arm of the next `if`, even if it is not written
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from scripttest.values import Value

FILE, NEXT, IF, ELSE = "file", "next", "if", "else"
_TOKEN = re.compile(
    r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/""", re.DOTALL
)
_HINT = re.compile(r"\s*istanbul\s+ignore\s+(if|else|next|file)(?=\W|$)")
_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)


class Hint(Value):
    """One comment."""

    kind: str
    """`file`, `next`, `if` or `else`."""
    at: int
    """The offset in the source at which the excluded code begins, in characters."""


def hints_in(source: str) -> Iterator[Hint]:
    """The hints of a source, in order; a text that looks like one is none."""
    if "istanbul" not in source:
        return
    for token in _TOKEN.finditer(source):
        hint = _HINT.match(token["line"] or token["block"] or "")
        if hint is not None:
            space = _SPACE.match(source, token.end())
            assert space is not None
            yield Hint(kind=hint[1], at=space.end())
