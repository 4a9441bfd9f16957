"""Finds out which value was not a function. The engine only reports that some value was not, and a position.

The position of a call is the last one that the engine recorded before the call. That may be the position of a name, of
an operand, or of another call, even of one in the arguments. So the position belongs to the call there, or to a call
around it whose other arguments record no position. All of these are candidates. If the code is ambiguous, there are
none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from scripttest.values import Value

MOST = 50_000
"""Characters of a top-level declaration that are read up to a place."""
LONGEST = 60
"""Characters of a callee that are shown."""
_SCAN = (
    r"\s+|//[^\n]*|/\*(?:.|\n)*?\*/"
    r"|(?P<literal>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\$]|\\.|\$(?!\{))*`|\d[\w.]*)"
    r"|(?P<template>`(?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\})*`)"
    r"|(?P<name>[A-Za-z_$][\w$]*)|(?P<sign>\?\.|=>|\.\.\.|.)"
)
_REGEXP = r"/(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*"
_BEFORE_REGEXP = set("(,=:[!&|?{};+-*%<>~^") | {"=>", "return", "yield", "typeof", "case", ""}
_CONSTANTS = {"true", "false", "null", "this"}
_KEYWORDS = {"if", "for", "while", "switch", "catch", "return", "typeof", "void", "in", "of", "yield", "await", "new"}
_KEYWORDS |= {"async", "function", "delete", "throw", "case", "else", "do", "instanceof", "with", "super", "import"}
_PAIRS = {")": "(", "]": "[", "}": "{"}


class Token(Value):
    """A word, sign or literal of code."""

    text: str
    start: int
    """Its offset."""
    kind: str
    """`literal`, `template`, `name` or `sign`."""


class _Doubt(Exception):  # noqa: N818
    """The code is of a kind that is not followed."""


def callees(code: str, place: int) -> list[str]:
    """The callees of the calls that the engine may mean by a place in code that esbuild printed, inner ones first."""
    start = max((match.start() for match in re.compile(r"^\S", re.MULTILINE).finditer(code, 0, place + 1)), default=0)
    if place - start > MOST:
        return []
    try:
        return _Finder(code, start, place).candidates()
    except _Doubt:
        return []


def tokens(code: str, start: int) -> Iterator[Token]:
    """The tokens of code that esbuild printed, from an offset where a statement begins."""
    scan, regexp = re.compile(_SCAN), re.compile(_REGEXP)
    before = ""
    while start < len(code):
        match = (code[start] == "/" and before in _BEFORE_REGEXP and regexp.match(code, start)) or None
        if match and not match[0].startswith(("//", "/*")):
            yield Token(text=match[0], start=start, kind="literal")
            before = match[0]
        else:
            match = scan.match(code, start)
            assert match is not None
            if match.lastgroup:
                yield Token(text=match[0], start=start, kind=match.lastgroup)
                before = match[0]
        start = match.end()


class _Finder:
    def __init__(self, code: str, start: int, place: int) -> None:
        self._code = code
        self._tokens: list[Token] = []
        self._partner: dict[int, int] = {}
        self._source = tokens(code, start)
        self._open: list[int] = []
        while not self._tokens or self._tokens[-1].start < place:
            self._token(len(self._tokens))
        if self._tokens[-1].start != place:
            raise _Doubt

    def candidates(self) -> list[str]:
        """The callees, each once."""
        first = last = len(self._tokens) - 1
        token = self._tokens[first]
        if token.kind == "sign" or token.text in _KEYWORDS:
            raise _Doubt
        while self._token(last + 1).text in (".", "?.", "["):
            last = self._closing(last + 1) if self._token(last + 1).text == "[" else last + 2
        if self._token(last + 1).text.startswith("`"):
            raise _Doubt
        called = self._token(last + 1).text == "(" and (last == first or self._is_new(first) or self._ends_index(last))
        return list(dict.fromkeys(self._called(last + 1) if called else self._around(last + 1)))

    def _called(self, opening: int) -> Iterator[str]:
        """The callee of a call, and of those around it."""
        yield self._callee(opening - 1)
        yield from self._around(self._closing(opening) + 1)

    def _around(self, at: int) -> Iterator[str]:
        """The callees of the calls whose arguments end after what is before a token."""
        while True:
            token = self._token(at)
            if token.text in (")", "]"):
                opening = self._partner[at]
                if self._is_arrow(opening, at):
                    return
                if self._ends_expression(opening - 1):
                    if token.text == ")":
                        yield self._callee(opening - 1)
                elif self._tokens[opening - 1].text in _KEYWORDS - {"return", "yield", "await", "void"}:
                    return
            elif token.text == "(" and self._ends_expression(at - 1):
                closing = self._closing(at)
                if any(other.kind == "name" for other in self._tokens[at + 1 : closing]):
                    return
                yield self._callee(at - 1)
                at = closing
            elif token.text == "(":
                raise _Doubt
            elif self._notes(at):
                return
            at += 1

    def _notes(self, at: int) -> bool:
        """Whether the engine notes the place of a token, or of an operator's operand."""
        token = self._tokens[at]
        if token.kind == "sign":
            return token.text not in {",", ":", "}", "[", "{", "..."}
        return token.kind == "name" and token.text not in _CONSTANTS and self._token(at + 1).text != ":"

    def _is_new(self, first: int) -> bool:
        return self._tokens[first - 1].text == "new"

    def _ends_index(self, last: int) -> bool:
        return self._tokens[last].text == "]"

    def _is_arrow(self, opening: int, closing: int) -> bool:
        """Whether what is last in brackets is the body of a function, which runs at another time."""
        at = closing - 1
        while at > opening and self._tokens[at].text != ",":
            if self._tokens[at].text == "=>":
                return True
            at = self._partner.get(at, at) - 1
        return False

    def _callee(self, last: int) -> str:
        """The source of the expression that ends with a token."""
        first = last
        while True:
            token = self._tokens[first]
            if token.text in _PAIRS:
                first = self._partner[first]
                if token.text != "}" and first and self._ends_expression(first - 1):
                    first -= 1
                    continue
            if first > 1 and self._tokens[first - 1].text in (".", "?."):
                first -= 2
                continue
            if self._ends_expression(first - 1):
                raise _Doubt
            end = self._tokens[last]
            text = re.sub(r"\s*\n\s*", "", self._code[self._tokens[first].start : end.start + len(end.text)])
            return text if len(text) <= LONGEST else f"...{text[3 - LONGEST :]}"

    def _ends_expression(self, at: int) -> bool:
        if at < 0:
            return False
        token = self._tokens[at]
        if token.kind == "name":
            return token.text not in _KEYWORDS or (at > 0 and self._tokens[at - 1].text in (".", "?."))
        return token.text in (")", "]")

    def _token(self, at: int) -> Token:
        while at >= len(self._tokens):
            token = next(self._source, None)
            if token is None or token.text == "`" or token.kind == "template":
                raise _Doubt
            index = len(self._tokens)
            if token.text in _PAIRS.values() and token.kind == "sign":
                self._open.append(index)
            elif token.text in _PAIRS and token.kind == "sign":
                if not self._open or self._tokens[self._open[-1]].text != _PAIRS[token.text]:
                    raise _Doubt
                opening = self._open.pop()
                self._partner[opening], self._partner[index] = index, opening
            self._tokens.append(token)
        return self._tokens[at]

    def _closing(self, opening: int) -> int:
        at = opening
        while opening not in self._partner:
            at += 1
            self._token(at)
        return self._partner[opening]
