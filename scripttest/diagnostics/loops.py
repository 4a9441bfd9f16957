"""Finds the loop in which code was stopped. The engine only reports the last position that it recorded.

It records positions of calls and of few other things, but not when a loop begins its next round. So the position is in
the loop or before it. If the function has recorded none, it is the first column of the line where the function begins.
If several loops are possible, one without an end condition is chosen.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from scripttest.diagnostics.callees import Token, tokens
from scripttest.values import Value

MOST = 200_000
"""Characters of a top-level declaration that are read."""
_PAIRS = {")": "(", "]": "[", "}": "{"}
_HEADS = {"if", "for", "while", "switch", "catch", "with"}
"""Words before brackets that no function's parameters are in."""
_NO_CALLEES = _HEADS | {
    "return",
    "typeof",
    "void",
    "in",
    "of",
    "yield",
    "await",
    "case",
    "else",
    "do",
    "throw",
    "function",
}


class _Span(Value):
    """Tokens from the first to the last; a function's body begins at `body`."""

    first: int
    last: int
    body: int


def loop_at(code: str, place: int, is_call: bool, top_level: bool = False) -> int | None:
    """The offset of the loop that was running; None if there is no loop around or after the position. Generators are
    not considered: the code that reads from them may be what does not end.

    Args:
        code: the whole script, as esbuild printed it.
        place: offset that the engine recorded last.
        is_call: whether a call was running at this place, so that the loop must be around it.
        top_level: whether the code was outside functions.
    """
    found = _declaration(code, place, top_level)
    return _Reader(code, found).loop(place, is_call) if found else None


def last_return(code: str, place: int) -> int | None:
    """The offset of the last `return` of the function that begins at a place, in code that esbuild printed."""
    found = _declaration(code, place)
    return _Reader(code, found).last_return() if found else None


def _declaration(code: str, place: int, top_level: bool = False) -> list[Token] | None:
    """The tokens of the top-level declaration that a place is in, or of the code from there on; None where they cannot
    be told."""
    start = max((match.start() for match in re.compile(r"^\S", re.MULTILINE).finditer(code, 0, place + 1)), default=0)
    end = None if top_level else re.compile(r"^[^\s})\]]", re.MULTILINE).search(code, start + 1)
    if (end.start() if end else len(code)) - start > MOST:
        return None
    found = list(tokens(code[: end.start()] if end else code, start))
    return None if any(token.text == "`" for token in found) else found


class _Reader:
    def __init__(self, code: str, found: list[Token]) -> None:
        self._code = code
        self._tokens = found
        self._partner: dict[int, int] = {}
        opened: list[int] = []
        for at, token in enumerate(found):
            if token.kind != "sign":
                continue
            if token.text in _PAIRS.values():
                opened.append(at)
            elif token.text in _PAIRS and opened:
                self._partner[at] = opened.pop()
                self._partner[self._partner[at]] = at
        self._functions = [span for at in range(len(found)) if (span := self._function(at))]
        self._loops = [span for at in range(len(found)) if (span := self._loop(at))]

    def loop(self, place: int, is_call: bool) -> int | None:
        """See `loop_at`."""
        at = bisect_left([token.start for token in self._tokens], place)
        around = [span for span in self._functions if span.first <= at <= span.last]
        function = around[-1] if around else _Span(first=-1, last=len(self._tokens), body=-1)
        if not is_call and (place == 0 or self._code[place - 1] == "\n"):
            end = self._code.find("\n", place) % (len(self._code) + 1)
            begun = [span for span in self._functions if place <= self._tokens[span.body].start < end]
            found = (self._of(span, span.body, is_call) for span in begun)
            if (of_begun := next((start for start in found if start is not None), None)) is not None:
                return of_begun
        return self._of(function, at, is_call)

    def last_return(self) -> int | None:
        """See above."""
        if not self._functions:
            return None
        function = min(self._functions, key=lambda span: span.first)
        inner = [span for span in self._functions if function.body < span.body and span.last < function.last]
        found = [
            token.start
            for at, token in enumerate(self._tokens[: function.last])
            if at > function.body
            and (token.text, token.kind) == ("return", "name")
            and self._tokens[at - 1].text != "."
            and not any(span.first <= at <= span.last for span in inner)
        ]
        return found[-1] if found else None

    def _of(self, function: _Span, at: int, is_call: bool) -> int | None:
        """The offset of a function's loop, from the token of a place in it."""
        inner = [span for span in self._functions if function.body < span.body and span.last < function.last]
        loops = [
            loop
            for loop in self._loops
            if function.body < loop.first <= function.last
            and not any(span.first <= loop.first <= span.last for span in inner)
            and not self._yields(loop, inner)
        ]
        holding = [loop for loop in loops if loop.first <= at <= loop.last]
        endless = [loop for loop in holding if self._is_endless(loop)]
        last = holding[-1].last if holding else function.last
        if not is_call:
            begin = max(at, function.body)
            after = next((loop for loop in loops if begin <= loop.first <= last), None)
            if after and not self._calls(self._over(begin), after.first) and (not endless or self._is_endless(after)):
                return self._tokens[after.first].start
            after = next((loop for loop in loops if holding and not endless and loop.first > last), None)
            if (
                after
                and self._is_endless(after)
                and not self._calls(last, after.first)
                and not self._calls(after.first, after.last)
            ):
                return self._tokens[after.first].start
        around = endless or holding
        return self._tokens[around[-1].first].start if around else None

    def _is_endless(self, loop: _Span) -> bool:
        """Whether a loop says that it has no end."""
        words = [token.text for token in self._tokens[loop.first : loop.last + 1]]
        head = "".join(words[:6])
        if words[0] == "do":
            head = "".join(token.text for token in self._tokens[loop.last + 1 : loop.last + 5])
        return head.startswith(("for(;;)", "while(true)", "while(1)")) and not {"break", "return", "throw"} & set(words)

    def _yields(self, loop: _Span, inner: list[_Span]) -> bool:
        return any(
            self._tokens[at].text == "yield" and not any(span.first <= at <= span.last for span in inner)
            for at in range(loop.first, loop.last + 1)
        )

    def _over(self, at: int) -> int:
        """The end of the statement that a token is in."""
        while at < len(self._tokens) and self._tokens[at].text not in (";", "{", "}"):
            at = self._partner.get(at, at) + 1 if self._tokens[at].text in "([" else at + 1
        return at

    def _calls(self, first: int, last: int) -> bool:
        """Whether there is a call among tokens."""
        for at in range(first + 1, last):
            before = self._tokens[at - 1]
            callee = (before.kind == "name" and before.text not in _NO_CALLEES) or before.text in (")", "]")
            if self._tokens[at].text == "(" and self._tokens[at].kind == "sign" and callee:
                return True
        return False

    def _function(self, at: int) -> _Span | None:
        """The function whose body begins with a token."""
        if self._tokens[at].text != "{" or self._tokens[at].kind != "sign" or not at or at not in self._partner:
            return None
        before = at - 1
        arrow = self._tokens[before].text == "=>"
        if arrow:
            before -= 1
        first = self._partner.get(before, before) if self._tokens[before].text == ")" else before
        if not arrow:
            if self._tokens[before].text != ")" or self._tokens[first - 1].text in _HEADS:
                return None
            while (first > 0 and self._tokens[first - 1].text in ("*", "function")) or self._is_name(first - 1):
                first -= 1
        return _Span(first=first, last=self._partner[at], body=at)

    def _is_name(self, at: int) -> bool:
        return at >= 0 and self._tokens[at].kind == "name" and self._tokens[at].text not in _NO_CALLEES - {"function"}

    def _loop(self, at: int) -> _Span | None:
        """The loop that begins with a token."""
        token = self._tokens[at]
        if (
            token.kind != "name"
            or token.text not in ("for", "while", "do")
            or self._tokens[at - 1 if at else 0].text == "."
        ):
            return None
        if token.text == "do":
            return _Span(first=at, last=self._ending(at + 1), body=at)
        if at + 1 not in self._partner or (token.text == "while" and self._ends_do(at)):
            return None
        return _Span(first=at, last=self._ending(self._partner[at + 1] + 1), body=at)

    def _ends_do(self, at: int) -> bool:
        """Whether `while` is the end of a `do` loop."""
        if not at or self._tokens[at - 1].text not in ("}", ";"):
            return False
        opening = self._partner.get(at - 1, 0)
        return opening > 0 and self._tokens[opening - 1].text == "do"

    def _ending(self, at: int) -> int:
        """The last token of the statement that begins with a token."""
        if at < len(self._tokens) and self._tokens[at].text == "{" and at in self._partner:
            return self._partner[at]
        return min(self._over(at), len(self._tokens) - 1)
